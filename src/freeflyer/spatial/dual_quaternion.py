"""Dual quaternions as arrays (..., 8): [primary x, y, z, w; dual x, y, z, w]. Leading axes broadcast.

A unit one is a pose: r + eps p r / 2, with r the unit quaternion and p the position as a pure quaternion; x_AC = x_AB x_BC. A pure
one (both w zero) is a twist, angular velocity in the primary and linear velocity in the dual part, or a wrench, force in the
primary and torque in the dual part: in both, the part that does not depend on the point of reference comes first. Numbers in
brackets are the equations of "Dynamics of Mobile Manipulators using Dual Quaternion Algebra", which writes x_AB with A above and B
below, and whose vec8 puts each w first: `to_vec8`, `from_vec8`. So does the library DQ Robotics, whose twists and wrenches have our
parts in our order (its vec6 is `to_vec6`), whose xi in x' = xi x / 2 is "world" here, and whose log and exp are `decomposed_log`
and `decomposed_exp`.

InputError: for others than unit ones (`check_unit`) and pure ones (both w zero within 1e-6, times the largest entry if that is
above 1) where these are needed, wrong shapes, NaN and infinities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, _series as series, quaternion, se3
from freeflyer.spatial._series import cross as cross3, dot

__all__ = [
    "ScrewParameters", "adjoint", "adjoint_rate", "check_unit", "conjugate", "cross", "decomposed_exp", "decomposed_log",
    "dual_conjugate", "exp", "from_pose", "from_position_quaternion", "from_screw_parameters", "from_twist", "from_vec6",
    "from_vec8", "from_wrench", "full_conjugate", "hamilton_left", "hamilton_right", "inner", "log", "multiply", "norm",
    "normalize", "power", "rate_from_twist", "sclerp", "screw_parameters", "to_pose", "to_position_quaternion", "to_twist",
    "to_vec6", "to_vec8", "to_wrench", "twist_from_rate",
]  # fmt: skip

MIN_SCREW_ANGLE = 1e-100  # rad and m: less is no turn, and no shift
ROUNDING = 16.0 * np.finfo(float).eps  # of a shift: less across the line is none
_IMAGINARY = np.array([-1.0, -1.0, -1.0, 1.0])
_CONJUGATE = np.concatenate([_IMAGINARY, _IMAGINARY])
_DUAL = np.repeat([1.0, -1.0], 4)
_PURE = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])
_PURE6 = ck.Layout((6,), "[primary x, y, z; dual x, y, z]")
_VEC8 = np.array([3, 0, 1, 2, 7, 4, 5, 6])  # entry i of vec8 is entry _VEC8[i] of ours
_VEC6 = np.array([0, 1, 2, 4, 5, 6])  # the entries of a pure one that are not zero


def multiply(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Product a b, with eps^2 = 0; (..., 8).

    Args:
        a, b: (..., 8) array, any dual quaternions.

    Examples:
        >>> x = ff.spatial.dual_quaternion.from_position_quaternion([1, 2, 3], [0, 0, 0, 1])
        >>> p, q = ff.spatial.dual_quaternion.to_position_quaternion(ff.spatial.dual_quaternion.multiply(x, x))
        >>> p.tolist()  # poses one after the other
        [2.0, 4.0, 6.0]
    """
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    return _product(a, b)


def conjugate(h: ArrayLike) -> np.ndarray:
    """Conjugate h*: the imaginary units change sign in both parts; the inverse of a unit one. (a b)* = b* a*; (..., 8).

    Args:
        h: (..., 8) array, any dual quaternion.

    Examples:
        >>> ff.spatial.dual_quaternion.conjugate([1, 2, 3, 4, 5, 6, 7, 8]).tolist()
        [-1.0, -2.0, -3.0, 4.0, -5.0, -6.0, -7.0, 8.0]
    """
    return _any("h", h) * _CONJUGATE


def dual_conjugate(h: ArrayLike) -> np.ndarray:
    """Dual conjugate primary - eps dual; of a b it is the product of those of a and of b, in the same order; (..., 8).

    Args:
        h: (..., 8) array, any dual quaternion.

    Examples:
        >>> ff.spatial.dual_quaternion.dual_conjugate([1, 2, 3, 4, 5, 6, 7, 8]).tolist()
        [1.0, 2.0, 3.0, 4.0, -5.0, -6.0, -7.0, -8.0]
    """
    return _any("h", h) * _DUAL


def full_conjugate(h: ArrayLike) -> np.ndarray:
    """Both conjugates at once, primary* - eps dual*: points 1 + eps p transform by x (1 + eps p) x^full; (..., 8).

    Args:
        h: (..., 8) array, any dual quaternion.

    Examples:
        >>> ff.spatial.dual_quaternion.full_conjugate([1, 2, 3, 4, 5, 6, 7, 8]).tolist()
        [-1.0, -2.0, -3.0, 4.0, 5.0, 6.0, 7.0, -8.0]
    """
    return _any("h", h) * (_CONJUGATE * _DUAL)


def norm(h: ArrayLike) -> np.ndarray:
    """Norm, the dual number sqrt(h h*); 1 + 0 eps for a unit dual quaternion; (..., 2), [primary, dual].

    Args:
        h: (..., 8) array; its primary part is not zero.
    Raises: InputError for a zero primary part.

    Examples:
        >>> ff.spatial.dual_quaternion.norm([0, 0, 3, 4, 0, 0, 5, 0]).tolist()
        [5.0, 3.0]
    """
    h = _any("h", h)
    n = np.asarray(np.sqrt(dot(h[..., :4], h[..., :4])))
    if (n == 0.0).any():
        raise InputError("h has a zero primary part: its norm has no derivative; expected a nonzero primary part.")
    return np.stack([n, dot(h[..., :4], h[..., 4:]) / n], axis=-1)


def normalize(h: ArrayLike) -> np.ndarray:
    """Unit dual quaternion h / norm(h), (..., 8).

    Args:
        h: (..., 8) array; its primary part is not zero.
    Raises: InputError for a zero primary part.

    Examples:
        >>> ff.spatial.dual_quaternion.normalize([0, 0, 0, 2, 1, 0, 0, 3]).tolist()
        [0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0]
    """
    h = _any("h", h)
    n = norm(h)
    r = h[..., :4] / n[..., :1]
    return np.concatenate([r, (h[..., 4:] - n[..., 1:] * r) / n[..., :1]], axis=-1)


def check_unit(x: ArrayLike, name: str = "x") -> np.ndarray:
    """Dual quaternions unchanged, if every primary part has norm 1 and the dual part is orthogonal to it.

    Args:
        x: (..., 8) array.
        name: Name of `x` in the error.
    Returns: (..., 8) array, `x`, as float64.
    Raises: InputError for a norm that is not 1 within 1e-6, or primary . dual beyond 1e-6 (times the largest entry of the dual
    part, if above 1).

    Examples:
        >>> ff.spatial.dual_quaternion.check_unit([0, 0, 0, 1, 1, 2, 3, 0]).tolist()
        [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.0]
        >>> ff.spatial.dual_quaternion.check_unit([0, 0, 0, 2, 1, 2, 3, 0], "x_AB")
        Traceback (most recent call last):
        freeflyer.errors.InputError: the primary part of x_AB has norm 2; expected 1 within 1e-06...
    """
    x = _any(name, x)
    r, d = x[..., :4], x[..., 4:]
    ck.check_unit(f"the primary part of {name}", r)
    scale = np.maximum(1.0, np.abs(d).max(axis=-1))
    ck.vanishing(f"primary . dual of {name}", np.abs(dot(r, d)), scale, "0; call dual_quaternion.normalize first")
    return x


def from_position_quaternion(position: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Unit dual quaternion of a position and a unit quaternion, (..., 8).

    Args:
        position: (..., 3) array, m.

    Examples:
        >>> ff.spatial.dual_quaternion.from_position_quaternion([2, 4, 6], [0, 0, 0, 1]).tolist()  # half the position
        [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.0]
    """
    p, q = ck.arrays(("position", position, ck.POINT), ("q", q, ck.QUATERNION))
    r = ck.unit_quaternion("q", q)
    dual = 0.5 * quaternion.multiply(_assemble(p, p)[..., :4], r)
    return np.concatenate([np.broadcast_to(r, dual.shape), dual], axis=-1)


def to_position_quaternion(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Position and unit quaternion of a unit dual quaternion.

    Returns:
        position: (..., 3) array, m.
        q: (..., 4) array, x, y, z, w.

    Examples:
        >>> p, q = ff.spatial.dual_quaternion.to_position_quaternion([0, 0, 0, 1, 1, 2, 3, 0])
        >>> p.tolist(), q.tolist()
        ([2.0, 4.0, 6.0], [0.0, 0.0, 0.0, 1.0])
    """
    x = _unit("x", x)
    r = x[..., :4]
    return 2.0 * quaternion.multiply(x[..., 4:], r * _IMAGINARY)[..., :3], r.copy()


def from_pose(X: ArrayLike) -> np.ndarray:
    """Unit dual quaternion with primary w >= 0 of a pose matrix, (..., 8).

    Examples:
        >>> X = ff.spatial.se3.from_position_rotation([2, 4, 6], np.eye(3))
        >>> ff.spatial.dual_quaternion.from_pose(X).tolist()
        [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.0]
    """
    return from_position_quaternion(*se3.to_position_quaternion(X))


def to_pose(x: ArrayLike) -> np.ndarray:
    """Pose matrix of a unit dual quaternion; x and -x give the same; (..., 4, 4).

    Examples:
        >>> ff.spatial.dual_quaternion.to_pose([0, 0, 0, 1, 1, 2, 3, 0])[:3].tolist()
        [[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 4.0], [0.0, 0.0, 1.0, 6.0]]
    """
    return se3.from_position_quaternion(*to_position_quaternion(x))


def exp(h: ArrayLike) -> np.ndarray:
    """Exponential, the sum of h^n / n!: the pose after one second at the constant twist 2 h, from the identity; (..., 8), unit.

    Args:
        h: (..., 8) array, pure; rad/s and m/s.

    Examples:
        >>> h = 0.5 * ff.spatial.dual_quaternion.from_twist([2, 4, 6, 0, 0, 0])
        >>> x = ff.spatial.dual_quaternion.exp(h)
        >>> ff.spatial.dual_quaternion.to_position_quaternion(x)[0].tolist()
        [2.0, 4.0, 6.0]
    """
    h = _pure("h", h)
    u, d = h[..., :3], h[..., 4:7]
    x = series.squared_angle(u)
    s, turn = series.sinc(x)[..., None], dot(u, d)[..., None]
    dual = s * d + 2.0 * turn * series.sinc_slope(x)[..., None] * u
    return np.concatenate([s * u, np.cos(np.sqrt(x))[..., None], dual, -s * turn], axis=-1)


def log(x: ArrayLike) -> np.ndarray:
    """Logarithm of the shorter way: exp(log(x)) is x or -x.

    Returns: (..., 8) array, pure, half a twist (rad/s and m/s over one second); its primary part is at most pi / 2 long.

    Examples:
        >>> h = ff.spatial.dual_quaternion.from_twist([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> x = ff.spatial.dual_quaternion.exp(h)
        >>> np.round(ff.spatial.dual_quaternion.to_twist(ff.spatial.dual_quaternion.log(x)), 6).tolist()
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    """
    p, r = to_position_quaternion(x)
    w = quaternion.log(r)
    turned = cross3(w, p)
    linear = p - 0.5 * turned + series.cotc(series.squared_angle(w))[..., None] * cross3(w, turned)
    return 0.5 * _assemble(w, linear)


class ScrewParameters(NamedTuple):
    """The screw of a displacement: a turn about a line and a shift along it, cos(t / 2) + s sin(t / 2) with dual t and s.

    Attributes:
        angle: (...) array, real part of t, 0 to pi; rad.
        translation: (...) array, dual part of t: the shift along the line; m.
        direction: (..., 3) array, primary part of s: the line's unit direction.
        moment: (..., 3) array, dual part of s: point x direction, for any point of the line; m.

    Examples:
        >>> x = ff.spatial.dual_quaternion.from_position_quaternion([2, 0, 5], [0, 0, 1, 0])  # half a turn about z
        >>> s = ff.spatial.dual_quaternion.screw_parameters(x)
        >>> bool(np.allclose(np.cross(s.direction, s.moment), [1, 0, 0])), float(s.translation)  # the point nearest to the origin
        (True, 5.0)
    """

    angle: np.ndarray
    translation: np.ndarray
    direction: np.ndarray
    moment: np.ndarray


def screw_parameters(x: ArrayLike) -> ScrewParameters:
    """Screw of a pose, the shorter way.

    x and -x are one pose, with the same screw; at half a turn both directions of the line are right.

    Returns: ScrewParameters of a pose that does not turn (angle below 1e-100 rad): angle and moment 0, the direction of its shift;
    of the identity the direction z. A screw that hardly turns has a line far away, so its moment is large, but its pose is right.

    Examples:
        >>> x = ff.spatial.dual_quaternion.from_position_quaternion([0, 0, 3], [0, 0, 0, 1])
        >>> s = ff.spatial.dual_quaternion.screw_parameters(x)
        >>> float(s.angle), float(s.translation), s.direction.tolist()
        (0.0, 3.0, [0.0, 0.0, 1.0])
    """
    h = 2.0 * log(x)
    w, v = h[..., :3], h[..., 4:7]
    angle = np.linalg.norm(w, axis=-1)
    turns = angle >= MIN_SCREW_ANGLE
    axis = np.where(turns[..., None], w, v)
    length = np.linalg.norm(axis, axis=-1)
    still = length < MIN_SCREW_ANGLE
    axis = np.where(still[..., None], [0.0, 0.0, 1.0], axis)
    direction = axis / np.where(still, 1.0, length)[..., None]
    translation = dot(direction, v)
    across = v - translation[..., None] * direction
    rounded = np.linalg.norm(across, axis=-1) <= ROUNDING * np.linalg.norm(v, axis=-1)
    across = np.where(rounded[..., None], 0.0, across)  # divided by a small angle, rounding would be a line far away
    across = across - dot(direction, across)[..., None] * direction
    moment = np.where(turns[..., None], across / np.where(turns, angle, 1.0)[..., None], 0.0)
    return ScrewParameters(np.where(turns, angle, 0.0), np.asarray(translation), direction, moment)


def from_screw_parameters(angle: ArrayLike, translation: ArrayLike, direction: ArrayLike, moment: ArrayLike) -> np.ndarray:
    """Pose of a screw: exp((angle + eps translation) (direction + eps moment) / 2); (..., 8), unit.

    Args:
        angle, translation: (...) array, rad; m. Any.
        direction: (..., 3) array of unit length.
        moment: (..., 3) array, point x direction, for any point of the line; m.
    Raises: InputError for a direction whose norm is not 1 within 1e-6, and for a moment that is not at a right angle to it.

    Examples:
        >>> x = ff.spatial.dual_quaternion.from_screw_parameters(np.pi, 5.0, [0, 0, 1], [0, -1, 0])  # about z through (1, 0, 0)
        >>> bool(np.allclose(ff.spatial.dual_quaternion.to_position_quaternion(x)[0], [2, 0, 5]))
        True
    """
    t, d, l, m = ck.arrays(
        ("angle", angle, ck.SCALAR), ("translation", translation, ck.SCALAR), ("direction", direction, ck.POINT),
        ("moment", moment, ck.POINT),
    )  # fmt: skip
    l = l / ck.check_unit("direction", l)[..., None]
    scale = np.maximum(1.0, np.abs(m).max(axis=-1))
    ck.vanishing("moment . direction", np.abs(dot(l, m)), scale, "0: the moment of a line is point x direction")
    t, d = t[..., None], d[..., None]
    return exp(0.5 * _assemble(t * l, d * l + t * m))


def decomposed_log(x: ArrayLike) -> np.ndarray:
    """Half the rotation vector and half the position, w / 2 + eps p / 2, the log of DQ Robotics.

    It is no logarithm of the group, and half of it no half of the way: for that, `log` and `sclerp`.

    Returns: (..., 8) array, pure. x and -x differ: the angle is that of x itself, 0 to 2 pi.

    Examples:
        >>> x = ff.spatial.dual_quaternion.from_position_quaternion([2, 4, 6], [0, 0, 0, 1])
        >>> ff.spatial.dual_quaternion.decomposed_log(x).tolist()
        [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0]
    """
    p, r = to_position_quaternion(x)
    sine = np.linalg.norm(r[..., :3], axis=-1)
    half = np.arctan2(sine, r[..., 3])
    axis = np.where((sine > 0.0)[..., None], r[..., :3] / np.where(sine > 0.0, sine, 1.0)[..., None], [0.0, 0.0, 1.0])
    w = half[..., None] * axis  # -1 is a whole turn about z, as in DQ Robotics
    return _assemble(w, 0.5 * p)


def decomposed_exp(h: ArrayLike) -> np.ndarray:
    """Pose r + eps d r of h = u + eps d, r = cos |u| + sin |u| u / |u|: the inverse of `decomposed_log`; (..., 8), unit.

    Args:
        h: (..., 8) array, pure; half a rotation vector and half a position, rad and m.

    Examples:
        >>> x = ff.spatial.dual_quaternion.decomposed_exp([0, 0, 0, 0, 1, 2, 3, 0])
        >>> ff.spatial.dual_quaternion.to_position_quaternion(x)[0].tolist()
        [2.0, 4.0, 6.0]
    """
    h = _pure("h", h)
    return from_position_quaternion(2.0 * h[..., 4:7], quaternion.exp(2.0 * h[..., :3]))


def sclerp(x0: ArrayLike, x1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Pose x0 exp(t log(x0* x1)): the screw from `x0` (t = 0) to the pose `x1` (t = 1), the shorter way.

    Args:
        x0, x1: (..., 8) array, unit.
        t: (...) array, any number; outside 0 to 1 the screw goes on.
    Returns: (..., 8) array, unit; at t = 1 it is x1 or -x1.

    Examples:
        >>> x0, x1 = [0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 2, 3, 0]
        >>> x = ff.spatial.dual_quaternion.sclerp(x0, x1, 0.5)
        >>> ff.spatial.dual_quaternion.to_position_quaternion(x)[0].tolist()  # half of 2, 4, 6 m
        [1.0, 2.0, 3.0]
    """
    a, b, s = ck.arrays(("x0", x0, ck.DUAL_QUATERNION), ("x1", x1, ck.DUAL_QUATERNION), ("t", t, ck.SCALAR))
    a, b = _unit("x0", a), _unit("x1", b)
    return _product(a, exp(s[..., None] * log(_product(a * _CONJUGATE, b))))


def adjoint(x: ArrayLike, h: ArrayLike) -> np.ndarray:
    """Adjoint Ad(x) h = x h x*: a twist or wrench `h` given in B, in A, for the pose x = x_AB.

    Args:
        h: (..., 8) array, pure.
    Returns: (..., 8) array, pure, in the units of `h`.
    Source: Equation (3) of the paper that the module names.

    Examples:
        >>> x = ff.spatial.dual_quaternion.from_position_quaternion([0, 2, 0], [0, 0, 0, 1])
        >>> h = ff.spatial.dual_quaternion.adjoint(x, ff.spatial.dual_quaternion.from_twist([0, 0, 0, 0, 0, 3]))
        >>> ff.spatial.dual_quaternion.to_twist(h).tolist()  # as se3.adjoint
        [6.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    """
    x, h = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("h", h, ck.DUAL_QUATERNION))
    return _adjoint(_unit("x", x), _pure("h", h))


def cross(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Cross product (a b - b a) / 2 of pure dual quaternions a = l + eps l' and b = s + eps s': l x s + eps (l x s' + l' x s).

    Args:
        a, b: (..., 8) array, pure.
    Returns: (..., 8) array, pure.
    Source: Equation (8) of the paper that the module names.

    Examples:
        >>> a = ff.spatial.dual_quaternion.from_twist([0, 0, 0, 0, 0, 3])
        >>> b = ff.spatial.dual_quaternion.from_twist([2, 0, 0, 0, 0, 0])
        >>> ff.spatial.dual_quaternion.to_twist(ff.spatial.dual_quaternion.cross(a, b)).tolist()  # as twist.cross
        [0.0, 6.0, 0.0, 0.0, 0.0, 0.0]
    """
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    return _cross(_pure("a", a), _pure("b", b))


def inner(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Inner product -(a b + b a) / 2 of pure dual quaternions a = l + eps l' and b = s + eps s': l . s + eps (l . s' + l' . s).

    Args:
        a, b: (..., 8) array, pure.
    Returns: (..., 2) array, [primary, dual]. Of a wrench and an axis: force along it, torque about it; of a wrench and a twist, the
    dual part is power.
    Source: Equation (30) of the paper that the module names.

    Examples:
        >>> wrench = ff.spatial.dual_quaternion.from_wrench([1, 2, 3, 4, 5, 6])
        >>> ff.spatial.dual_quaternion.inner(wrench, [0, 0, 1, 0, 0, 0, 0, 0]).tolist()  # along and about z
        [3.0, 6.0]
    """
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    a, b = _pure("a", a), _pure("b", b)
    return np.stack([dot(a[..., :4], b[..., :4]), dot(a[..., :4], b[..., 4:]) + dot(a[..., 4:], b[..., :4])], axis=-1)


def rate_from_twist(x: ArrayLike, twist: ArrayLike, expressed: str) -> np.ndarray:
    """Time derivative of the pose x_WB: twist x / 2 ("world") or x twist / 2 ("body"); (..., 8), 1/s and m/s.

    Args:
        x: (..., 8) array, unit, x_WB.
        twist: (..., 8) array, pure, rad/s and m/s.
        expressed: "body" or "world", of the twist.
    Raises: InputError for another expression.
    Source: Equation (4) of the paper that the module names.

    Examples:
        >>> twist = ff.spatial.dual_quaternion.from_twist([2, 4, 6, 0, 0, 0])
        >>> ff.spatial.dual_quaternion.rate_from_twist([0, 0, 0, 1, 0, 0, 0, 0], twist, "body").tolist()
        [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0]
    """
    x, xi = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("twist", twist, ck.DUAL_QUATERNION))
    x, xi = _unit("x", x), _pure("twist", xi)
    return 0.5 * (_product(xi, x) if _in_world(expressed) else _product(x, xi))


def twist_from_rate(x: ArrayLike, rate: ArrayLike, expressed: str) -> np.ndarray:
    """Twist of the pose x_WB from its time derivative: 2 rate x* ("world") or 2 x* rate ("body"); (..., 8), pure, rad/s and m/s.

    Args:
        x: (..., 8) array, unit, x_WB.
        rate: (..., 8) array, 1/s and m/s; it must keep x a unit dual quaternion, so rate x* is pure.
        expressed: "body" or "world", of the twist.
    Raises: InputError for another expression, and for a rate that does not keep x a unit dual quaternion.
    Source: Equation (4) of the paper that the module names.

    Examples:
        >>> h = ff.spatial.dual_quaternion.twist_from_rate([0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 2, 3, 0], "body")
        >>> ff.spatial.dual_quaternion.to_twist(h)[:3].tolist()
        [2.0, 4.0, 6.0]
    """
    x, dx = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("rate", rate, ck.DUAL_QUATERNION))
    inverse = _unit("x", x) * _CONJUGATE
    return _pure("the twist of rate", 2.0 * (_product(dx, inverse) if _in_world(expressed) else _product(inverse, dx)))


def adjoint_rate(x: ArrayLike, twist: ArrayLike, h: ArrayLike, rate: ArrayLike) -> np.ndarray:
    """Time derivative of Ad(x) h: Ad(x) rate + twist x (Ad(x) h); (..., 8), pure, in the units of `rate`.

    Lemma (9) of the paper that the module names.

    Args:
        twist: (..., 8) array of x, expressed in the world; pure, rad/s and m/s.
        h: (..., 8) array, pure.
        rate: (..., 8) array, time derivative of `h`, pure.

    Examples:
        >>> x = [0, 0, 0, 1, 0, 0, 0, 0]
        >>> twist = ff.spatial.dual_quaternion.from_twist([0, 0, 0, 0, 0, 3])
        >>> force = ff.spatial.dual_quaternion.from_wrench([2, 0, 0, 0, 0, 0])  # constant in the body, which turns
        >>> rate = ff.spatial.dual_quaternion.adjoint_rate(x, twist, force, np.zeros(8))
        >>> ff.spatial.dual_quaternion.to_wrench(rate).tolist()  # 6 N/s along y
        [0.0, 6.0, 0.0, 0.0, 0.0, 0.0]
    """
    names = (("x", x), ("twist", twist), ("h", h), ("rate", rate))
    x, xi, h, dh = ck.arrays(*((name, value, ck.DUAL_QUATERNION) for name, value in names))
    x = _unit("x", x)
    return _adjoint(x, _pure("rate", dh)) + _cross(_pure("twist", xi), _adjoint(x, _pure("h", h)))


def hamilton_left(h: ArrayLike) -> np.ndarray:
    """Matrix with hamilton_left(a) @ b = a b, in the module's order of entries; linear in `h`; (..., 8, 8).

    Args:
        h: (..., 8) array, any dual quaternion.

    Examples:
        >>> a, b = np.arange(8.0), np.arange(8.0, 16.0)
        >>> bool(np.allclose(ff.spatial.dual_quaternion.hamilton_left(a) @ b, ff.spatial.dual_quaternion.multiply(a, b)))
        True
    """
    return np.einsum("...i,ijk->...kj", _any("h", h), _TABLE)


def hamilton_right(h: ArrayLike) -> np.ndarray:
    """Matrix with hamilton_right(b) @ a = a b, in the module's order of entries; linear in `h`; (..., 8, 8).

    Args:
        h: (..., 8) array, any dual quaternion.

    Examples:
        >>> a, b = np.arange(8.0), np.arange(8.0, 16.0)
        >>> bool(np.allclose(ff.spatial.dual_quaternion.hamilton_right(b) @ a, ff.spatial.dual_quaternion.multiply(a, b)))
        True
    """
    return np.einsum("...j,ijk->...ki", _any("h", h), _TABLE)


def to_vec8(h: ArrayLike) -> np.ndarray:
    """Entries in the order of the paper's vec8: [primary w, x, y, z; dual w, x, y, z]; (..., 8).

    Args:
        h: (..., 8) array, any dual quaternion.

    Examples:
        >>> ff.spatial.dual_quaternion.to_vec8([1, 2, 3, 4, 5, 6, 7, 8]).tolist()
        [4.0, 1.0, 2.0, 3.0, 8.0, 5.0, 6.0, 7.0]
    """
    return _any("h", h)[..., _VEC8]


def from_vec8(entries: ArrayLike) -> np.ndarray:
    """Dual quaternion of the paper's vec8, (..., 8).

    Args:
        entries: (..., 8) array, [primary w, x, y, z; dual w, x, y, z].

    Examples:
        >>> ff.spatial.dual_quaternion.from_vec8([4, 1, 2, 3, 8, 5, 6, 7]).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    return _any("entries", entries)[..., np.argsort(_VEC8)]


def to_vec6(h: ArrayLike) -> np.ndarray:
    """Entries of a pure dual quaternion that are not zero: [primary x, y, z; dual x, y, z]; (..., 6).

    Args:
        h: (..., 8) array, pure.

    Examples:
        >>> ff.spatial.dual_quaternion.to_vec6([1, 2, 3, 0, 4, 5, 6, 0]).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    return _pure("h", h)[..., _VEC6]


def from_vec6(entries: ArrayLike) -> np.ndarray:
    """Pure dual quaternion of [primary x, y, z; dual x, y, z]; (..., 8).

    Args:
        entries: (..., 6) array.

    Examples:
        >>> ff.spatial.dual_quaternion.from_vec6([1, 2, 3, 4, 5, 6]).tolist()
        [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]
    """
    e = ck.array("entries", entries, _PURE6)
    return _assemble(e[..., :3], e[..., 3:])


def from_twist(twist: ArrayLike) -> np.ndarray:
    """Pure dual quaternion angular + eps linear of a twist; body or world, the expression stays; (..., 8), rad/s and m/s.

    Examples:
        >>> ff.spatial.dual_quaternion.from_twist([1, 2, 3, 4, 5, 6]).tolist()
        [4.0, 5.0, 6.0, 0.0, 1.0, 2.0, 3.0, 0.0]
    """
    V = ck.array("twist", twist, ck.TWIST)
    return _assemble(V[..., 3:], V[..., :3])


def to_twist(h: ArrayLike) -> np.ndarray:
    """Twist [linear; angular] of a pure dual quaternion; (..., 6), m/s and rad/s.

    Args:
        h: (..., 8) array, pure, angular + eps linear, rad/s and m/s.

    Examples:
        >>> ff.spatial.dual_quaternion.to_twist([4, 5, 6, 0, 1, 2, 3, 0]).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    h = _pure("h", h)
    return np.concatenate([h[..., 4:7], h[..., :3]], axis=-1)


def from_wrench(wrench: ArrayLike) -> np.ndarray:
    """Pure dual quaternion force + eps torque of a wrench, (..., 8), N and N m.

    Examples:
        >>> ff.spatial.dual_quaternion.from_wrench([1, 2, 3, 4, 5, 6]).tolist()
        [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]
    """
    F = ck.array("wrench", wrench, ck.WRENCH)
    return _assemble(F[..., :3], F[..., 3:])


def to_wrench(h: ArrayLike) -> np.ndarray:
    """Wrench [force; torque] of a pure dual quaternion; (..., 6), N and N m.

    Args:
        h: (..., 8) array, pure, force + eps torque, N and N m.

    Examples:
        >>> ff.spatial.dual_quaternion.to_wrench([1, 2, 3, 0, 4, 5, 6, 0]).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    return to_vec6(h)


def power(wrench: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """Power force . linear + torque . angular: each primary part times the other's dual part; (...), W.

    Args:
        wrench: (..., 8) array, pure, force + eps torque, N and N m.
        twist: (..., 8) array, pure, angular + eps linear, rad/s and m/s; at the same frame and along the same axes.

    Examples:
        >>> wrench = ff.spatial.dual_quaternion.from_wrench([10, 0, 0, 0, 0, 4])
        >>> twist = ff.spatial.dual_quaternion.from_twist([2, 0, 0, 0, 0, 3])
        >>> float(ff.spatial.dual_quaternion.power(wrench, twist))  # 20 W of the force, 12 W of the torque
        32.0
    """
    f, v = ck.arrays(("wrench", wrench, ck.DUAL_QUATERNION), ("twist", twist, ck.DUAL_QUATERNION))
    f, v = _pure("wrench", f), _pure("twist", v)
    return np.asarray(dot(f[..., :4], v[..., 4:]) + dot(f[..., 4:], v[..., :4]))


def _any(name: str, h: ArrayLike) -> np.ndarray:
    return ck.array(name, h, ck.DUAL_QUATERNION)


def _unit(name: str, x: ArrayLike) -> np.ndarray:
    return normalize(check_unit(x, name))


def _pure(name: str, h: ArrayLike) -> np.ndarray:
    h = _any(name, h)
    scale = np.maximum(1.0, np.abs(h).max(axis=-1))
    ck.vanishing(f"the real part of {name}", np.abs(h[..., [3, 7]]).max(axis=-1), scale, "0 in the entries 3 and 7")
    return h * _PURE


def _in_world(expressed: str) -> bool:
    if expressed not in ("body", "world"):
        text = f"expressed is {expressed!r}; a dual quaternion's twist is expressed in 'body' or 'world'"
        raise InputError(f"{text}. Convert a mixed one with twist.change_expression.", expressed=expressed)
    return expressed == "world"


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    p, q = a[..., :4], b[..., :4]
    dual = quaternion.multiply(p, b[..., 4:]) + quaternion.multiply(a[..., 4:], q)
    return np.concatenate([quaternion.multiply(p, q), dual], axis=-1)


def _adjoint(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    return _product(_product(x, h), x * _CONJUGATE) * _PURE


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    l, m, s, t = a[..., :3], a[..., 4:7], b[..., :3], b[..., 4:7]
    return _assemble(cross3(l, s), cross3(l, t) + cross3(m, s))


def _assemble(primary: np.ndarray, dual: np.ndarray) -> np.ndarray:
    out = np.zeros((*np.broadcast_shapes(primary.shape, dual.shape)[:-1], 8))
    out[..., :3], out[..., 4:7] = primary, dual
    return out


_TABLE = _product(np.eye(8)[:, None], np.eye(8)[None])  # (i, j): the product of basis elements i and j
