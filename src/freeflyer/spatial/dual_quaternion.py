"""Dual quaternions as arrays (..., 8): [primary x, y, z, w; dual x, y, z, w]. Leading axes broadcast.

A unit one is a pose: r + eps p r / 2, with r the unit quaternion and p the position as a pure quaternion; x_AC = x_AB x_BC. A
pure one (both w zero) is a twist, angular velocity in the primary and linear velocity in the dual part, or a wrench, force in the
primary and torque in the dual part: in both, the part that does not depend on the point of reference comes first. Numbers in
brackets are the equations of "Dynamics of Mobile Manipulators using Dual Quaternion Algebra", which writes x_AB with A above and
B below, and whose vec8 puts each w first: `to_vec8`, `from_vec8`. So does the library DQ Robotics, whose twists and wrenches have
our parts in our order (its vec6 is `to_vec6`), whose xi in x' = xi x / 2 is "world" here, and whose log and exp are
`decomposed_log` and `decomposed_exp`.

InputError: for others than unit ones (within 1e-6) and pure ones (both w zero within 1e-6, times the largest entry if that is
above 1) where these are needed, wrong shapes, NaN and infinities."""

from __future__ import annotations

from typing import NamedTuple
import numpy as np
from numpy.typing import ArrayLike
from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, _series as series, quaternion, se3
from freeflyer.spatial._series import cross as cross3, dot

IMAGINARY = np.array([-1.0, -1.0, -1.0, 1.0])
CONJUGATE = np.concatenate([IMAGINARY, IMAGINARY])
DUAL = np.repeat([1.0, -1.0], 4)
PURE6 = ck.Layout((6,), "[primary x, y, z; dual x, y, z]")
VEC8 = np.array([3, 0, 1, 2, 7, 4, 5, 6])  # entry i of vec8 is entry VEC8[i] of ours
VEC6 = np.array([0, 1, 2, 4, 5, 6])  # the entries of a pure one that are not zero
PURE = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])


def multiply(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Product a b, with eps^2 = 0: of poses first b, then a; (..., 8)."""
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    return product(a, b)


def conjugate(h: ArrayLike) -> np.ndarray:
    """Conjugate h*: the imaginary units change sign in both parts; the inverse of a unit one. (a b)* = b* a*; (..., 8)."""
    return checked("h", h) * CONJUGATE


def dual_conjugate(h: ArrayLike) -> np.ndarray:
    """Dual conjugate primary - eps dual; of a b it is the product of those of a and of b, in the same order; (..., 8)."""
    return checked("h", h) * DUAL


def norm(h: ArrayLike) -> np.ndarray:
    """Norm, the dual number sqrt(h h*); 1 + 0 eps for a unit one; (..., 2), [primary, dual]. InputError for a zero primary part."""
    h = checked("h", h)
    n = np.asarray(np.sqrt(dot(h[..., :4], h[..., :4])))
    if (n == 0.0).any():
        raise InputError("h has a zero primary part: its norm has no derivative; expected a nonzero primary part.")
    return np.stack([n, dot(h[..., :4], h[..., 4:]) / n], axis=-1)


def normalize(h: ArrayLike) -> np.ndarray:
    """Unit dual quaternion h / norm(h), (..., 8). InputError for a zero primary part."""
    h = checked("h", h)
    n = norm(h)
    r = h[..., :4] / n[..., :1]
    return np.concatenate([r, (h[..., 4:] - n[..., 1:] * r) / n[..., :1]], axis=-1)


def check_unit(x: ArrayLike, name: str = "x") -> np.ndarray:
    """Dual quaternions unchanged; InputError for primary parts off length 1, or dual parts not orthogonal to them, by 1e-6."""
    x = checked(name, x)
    r, d = x[..., :4], x[..., 4:]
    ck.check_unit(f"the primary part of {name}", r)
    scale = np.maximum(1.0, np.abs(d).max(axis=-1))
    ck.vanishing(f"primary . dual of {name}", np.abs(dot(r, d)), scale, "0; call dual_quaternion.normalize first")
    return x


def cross(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Cross product (a b - b a) / 2 of pure ones a = l + eps l' and b = s + eps s': l x s + eps (l x s' + l' x s); (..., 8), pure.

    Source: equation (8)."""
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    return cross_parts(pure("a", a), pure("b", b))


def inner(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Inner product -(a b + b a) / 2 of pure dual quaternions a = l + eps l' and b = s + eps s': l . s + eps (l . s' + l' . s).

    Returns: (..., 2) array, [primary, dual]. Of a wrench and an axis: force along it, torque about it; of a wrench and a twist,
    the dual part is power.
    Source: equation (30)."""
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    a, b = pure("a", a), pure("b", b)
    return np.stack([dot(a[..., :4], b[..., :4]), dot(a[..., :4], b[..., 4:]) + dot(a[..., 4:], b[..., :4])], axis=-1)


def rate_from_twist(x: ArrayLike, twist: ArrayLike, expressed: str) -> np.ndarray:
    """Time derivative of the pose x_WB: twist x / 2 ("world") or x twist / 2 ("body"); (..., 8), 1/s and m/s.

    Source: equation (4)."""
    x, xi = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("twist", twist, ck.DUAL_QUATERNION))
    x, xi = unit("x", x), pure("twist", xi)
    return 0.5 * (product(xi, x) if in_world(expressed) else product(x, xi))


def adjoint_rate(x: ArrayLike, twist: ArrayLike, h: ArrayLike, rate: ArrayLike) -> np.ndarray:
    """Time derivative of Ad(x) h: Ad(x) rate + twist x (Ad(x) h); `h` and `rate` pure; (..., 8), pure, in the units of `rate`.

    Source: lemma (9)."""
    names = (("x", x), ("twist", twist), ("h", h), ("rate", rate))
    x, xi, h, dh = ck.arrays(*((name, value, ck.DUAL_QUATERNION) for name, value in names))
    x = unit("x", x)
    return transformed(x, pure("rate", dh)) + cross_parts(pure("twist", xi), transformed(x, pure("h", h)))


def hamilton_left(h: ArrayLike) -> np.ndarray:
    """Matrix with hamilton_left(a) @ b = a b, in the module's order of entries; linear in `h`; (..., 8, 8)."""
    return np.einsum("...i,ijk->...kj", checked("h", h), TABLE)


def hamilton_right(h: ArrayLike) -> np.ndarray:
    """Matrix with hamilton_right(b) @ a = a b, in the module's order of entries; linear in `h`; (..., 8, 8)."""
    return np.einsum("...j,ijk->...ki", checked("h", h), TABLE)


def to_vec8(h: ArrayLike) -> np.ndarray:
    """Entries in the order of the paper's vec8: [primary w, x, y, z; dual w, x, y, z]; (..., 8)."""
    return checked("h", h)[..., VEC8]


def from_vec8(entries: ArrayLike) -> np.ndarray:
    """Dual quaternion of the paper's vec8, (..., 8).

    Args:
        entries: (..., 8) array, [primary w, x, y, z; dual w, x, y, z]."""
    return checked("entries", entries)[..., np.argsort(VEC8)]


def to_vec6(h: ArrayLike) -> np.ndarray:
    """Entries of a pure dual quaternion that are not zero: [primary x, y, z; dual x, y, z]; (..., 6)."""
    return pure("h", h)[..., VEC6]


def from_vec6(entries: ArrayLike) -> np.ndarray:
    """Pure dual quaternion of [primary x, y, z; dual x, y, z]; (..., 8)."""
    e = ck.array("entries", entries, PURE6)
    return assemble(e[..., :3], e[..., 3:])


def from_twist(twist: ArrayLike) -> np.ndarray:
    """Pure dual quaternion angular + eps linear of a twist; body or world, the expression stays; (..., 8), rad/s and m/s."""
    V = ck.array("twist", twist, ck.TWIST)
    return assemble(V[..., 3:], V[..., :3])


def to_twist(h: ArrayLike) -> np.ndarray:
    """Twist [linear; angular] of a pure dual quaternion; (..., 6), m/s and rad/s."""
    h = pure("h", h)
    return np.concatenate([h[..., 4:7], h[..., :3]], axis=-1)


def from_wrench(wrench: ArrayLike) -> np.ndarray:
    """Pure dual quaternion force + eps torque of a wrench, (..., 8), N and N m."""
    F = ck.array("wrench", wrench, ck.WRENCH)
    return assemble(F[..., :3], F[..., 3:])


def power(wrench: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """Power force . linear + torque . angular: each primary part times the other's dual part; (...), W."""
    f, v = ck.arrays(("wrench", wrench, ck.DUAL_QUATERNION), ("twist", twist, ck.DUAL_QUATERNION))
    f, v = pure("wrench", f), pure("twist", v)
    return np.asarray(dot(f[..., :4], v[..., 4:]) + dot(f[..., 4:], v[..., :4]))


def checked(name: str, h: ArrayLike) -> np.ndarray:
    return ck.array(name, h, ck.DUAL_QUATERNION)


def unit(name: str, x: ArrayLike) -> np.ndarray:
    return normalize(check_unit(x, name))


def pure(name: str, h: ArrayLike) -> np.ndarray:
    h = checked(name, h)
    scale = np.maximum(1.0, np.abs(h).max(axis=-1))
    ck.vanishing(f"the real part of {name}", np.abs(h[..., [3, 7]]).max(axis=-1), scale, "0 in the entries 3 and 7")
    return h * PURE


def in_world(expressed: str) -> bool:
    if not isinstance(expressed, str) or expressed not in ("body", "world"):
        text = f"expressed is {expressed!r}; a dual quaternion's twist is expressed in 'body' or 'world'"
        raise InputError(f"{text}. Convert a mixed one with twist.change_expression.", expressed=expressed)
    return expressed == "world"


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    p, q = a[..., :4], b[..., :4]
    dual = quaternion.multiply(p, b[..., 4:]) + quaternion.multiply(a[..., 4:], q)
    return np.concatenate([quaternion.multiply(p, q), dual], axis=-1)


def transformed(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    return product(product(x, h), x * CONJUGATE) * PURE


def cross_parts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    l, m, s, t = a[..., :3], a[..., 4:7], b[..., :3], b[..., 4:7]
    return assemble(cross3(l, s), cross3(l, t) + cross3(m, s))


def assemble(primary: np.ndarray, dual: np.ndarray) -> np.ndarray:
    out = np.zeros((*np.broadcast_shapes(primary.shape, dual.shape)[:-1], 8))
    out[..., :3], out[..., 4:7] = primary, dual
    return out


TABLE = product(np.eye(8)[:, None], np.eye(8)[None])  # (i, j): the product of basis elements i and j

__all__ = [
    "adjoint", "adjoint_rate", "conjugate", "cross", "decomposed_exp", "decomposed_log", "dual_conjugate", "exp",
    "from_pose", "from_position_quaternion", "from_screw_parameters", "from_twist", "from_vec6", "from_vec8",
    "from_wrench", "hamilton_left", "hamilton_right", "inner", "log", "multiply", "norm", "normalize", "power",
    "rate_from_twist", "sclerp", "screw_parameters", "to_pose", "to_position_quaternion", "to_twist", "to_vec6",
    "to_vec8"]

MIN_SCREW_ANGLE = 1e-100  # rad and m: less is no turn, and no shift
ROUNDING = 16.0 * np.finfo(float).eps  # of a shift: less across the line is none


def from_position_quaternion(position: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Unit dual quaternion of a position and a unit quaternion, (..., 8)."""
    p, q = ck.arrays(("position", position, ck.POINT), ("q", q, ck.QUATERNION))
    r = ck.unit_quaternion("q", q)
    dual = 0.5 * quaternion.multiply(assemble(p, p)[..., :4], r)
    return np.concatenate([np.broadcast_to(r, dual.shape), dual], axis=-1)


def to_position_quaternion(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Position (..., 3), m, and unit quaternion (..., 4) of a unit dual quaternion."""
    x = unit("x", x)
    r = x[..., :4]
    return 2.0 * quaternion.multiply(x[..., 4:], r * IMAGINARY)[..., :3], r.copy()


def from_pose(X: ArrayLike) -> np.ndarray:
    """Unit dual quaternion with primary w >= 0 of a pose matrix, (..., 8)."""
    return from_position_quaternion(*se3.to_position_quaternion(X))


def to_pose(x: ArrayLike) -> np.ndarray:
    """Pose matrix of a unit dual quaternion; x and -x give the same; (..., 4, 4)."""
    return se3.from_position_quaternion(*to_position_quaternion(x))


def exp(h: ArrayLike) -> np.ndarray:
    """Exponential, the sum of h^n / n!: the pose after one second at the constant twist 2 h, from the identity; (..., 8), unit."""
    h = pure("h", h)
    u, d = h[..., :3], h[..., 4:7]
    x = series.squared_angle(u)
    s, turn = series.sinc(x)[..., None], dot(u, d)[..., None]
    dual = s * d + 2.0 * turn * series.sinc_slope(x)[..., None] * u
    return np.concatenate([s * u, np.cos(np.sqrt(x))[..., None], dual, -s * turn], axis=-1)


def log(x: ArrayLike) -> np.ndarray:
    """Logarithm of the shorter way: exp(log(x)) is x or -x.

    Returns: (..., 8) array, pure, half a twist (rad/s and m/s over one second); its primary part is at most pi / 2 long."""
    p, r = to_position_quaternion(x)
    w = quaternion.log(r)
    turned = cross3(w, p)
    linear = p - 0.5 * turned + series.cotc(series.squared_angle(w))[..., None] * cross3(w, turned)
    return 0.5 * assemble(w, linear)


class ScrewParameters(NamedTuple):
    """The screw of a displacement: a turn about a line and a shift along it, cos(t / 2) + s sin(t / 2) with dual t and s.

    Attributes:
        angle, translation: (...) array, real part of t, 0 to pi, rad; dual part of t: the shift along the line, m.
        direction, moment: (..., 3) array, primary part of s: the line's unit direction; dual part: point x direction, for any
            point of the line, m."""

    angle: np.ndarray
    translation: np.ndarray
    direction: np.ndarray
    moment: np.ndarray


def screw_parameters(x: ArrayLike) -> ScrewParameters:
    """Screw of a pose, the shorter way; (...) and (..., 3).

    x and -x are one pose, with the same screw; at half a turn both directions of the line are right. A pose that does not turn
    (angle below 1e-100 rad) has angle and moment 0, and the direction of its shift; the identity the direction z. A screw that
    hardly turns has a line far away, so its moment is large, but its pose is right."""
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
        translation: (...) array, m.
        direction, moment: (..., 3) array, of unit length; point x direction, for any point of the line, m."""
    t, d, l, m = ck.arrays(("angle", angle, ck.SCALAR), ("translation", translation, ck.SCALAR), ("direction", direction, ck.POINT),
        ("moment", moment, ck.POINT))
    l = l / ck.check_unit("direction", l)[..., None]
    scale = np.maximum(1.0, np.abs(m).max(axis=-1))
    ck.vanishing("moment . direction", np.abs(dot(l, m)), scale, "0: the moment of a line is point x direction")
    t, d = t[..., None], d[..., None]
    return exp(0.5 * assemble(t * l, d * l + t * m))


def decomposed_log(x: ArrayLike) -> np.ndarray:
    """Half the rotation vector and half the position, w / 2 + eps p / 2, the log of DQ Robotics; (..., 8), pure.

    It is no logarithm of the group, and half of it no half of the way: for that, `log` and `sclerp`. x and -x differ: the angle
    is that of x itself, 0 to 2 pi."""
    p, r = to_position_quaternion(x)
    sine = np.linalg.norm(r[..., :3], axis=-1)
    half = np.arctan2(sine, r[..., 3])
    axis = np.where((sine > 0.0)[..., None], r[..., :3] / np.where(sine > 0.0, sine, 1.0)[..., None], [0.0, 0.0, 1.0])
    w = half[..., None] * axis  # -1 is a whole turn about z, as in DQ Robotics
    return assemble(w, 0.5 * p)


def decomposed_exp(h: ArrayLike) -> np.ndarray:
    """Pose r + eps d r of h = u + eps d, r = cos |u| + sin |u| u / |u|: the inverse of `decomposed_log`; (..., 8), unit."""
    h = pure("h", h)
    return from_position_quaternion(2.0 * h[..., 4:7], quaternion.exp(2.0 * h[..., :3]))


def sclerp(x0: ArrayLike, x1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Pose x0 exp(t log(x0* x1)): the screw from `x0` (t = 0) to `x1` (t = 1; or -x1), the shorter way; (..., 8), unit."""
    a, b, s = ck.arrays(("x0", x0, ck.DUAL_QUATERNION), ("x1", x1, ck.DUAL_QUATERNION), ("t", t, ck.SCALAR))
    a, b = unit("x0", a), unit("x1", b)
    return product(a, exp(s[..., None] * log(product(a * CONJUGATE, b))))


def adjoint(x: ArrayLike, h: ArrayLike) -> np.ndarray:
    """Adjoint Ad(x) h = x h x*: a twist or wrench `h` given in B, in A, for the pose x = x_AB; (..., 8), pure, in the units of `h`.

    Source: equation (3)."""
    x, h = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("h", h, ck.DUAL_QUATERNION))
    return transformed(unit("x", x), pure("h", h))
