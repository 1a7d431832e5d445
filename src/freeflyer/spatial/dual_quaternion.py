"""Dual quaternions as arrays (..., 8): [primary x, y, z, w; dual x, y, z, w]. Leading axes broadcast.

A unit one is a pose: r + eps p r / 2, with r the unit quaternion and p the position as a pure quaternion; x_AC = x_AB
x_BC. A pure one (both w zero) is a twist, angular velocity in the primary and linear velocity in the dual part, or a
wrench, force in the primary and torque in the dual part: in both, the part that does not depend on the point of
reference comes first. Numbers in brackets are the equations of "Dynamics of Mobile Manipulators using Dual Quaternion
Algebra", which writes x_AB with A above and B below, and whose vec8 puts each w first: `to_vec8`, `from_vec8`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, _series as series, quaternion, se3
from freeflyer.spatial._vector import cross as cross3, dot

__all__ = [
    "adjoint", "adjoint_rate", "check_unit", "conjugate", "cross", "dual_conjugate", "exp", "from_pose",
    "from_position_quaternion", "from_twist", "from_vec6", "from_vec8", "from_wrench", "full_conjugate",
    "hamilton_left", "hamilton_right", "log", "multiply", "norm", "normalize", "power", "rate_from_twist", "sclerp",
    "to_pose", "to_position_quaternion", "to_twist", "to_vec6", "to_vec8", "to_wrench", "twist_from_rate",
]  # fmt: skip

_IMAGINARY = np.array([-1.0, -1.0, -1.0, 1.0])
_CONJUGATE = np.concatenate([_IMAGINARY, _IMAGINARY])
_DUAL = np.repeat([1.0, -1.0], 4)
_PURE = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])
_PURE6 = ck.Layout((6,), "[primary x, y, z; dual x, y, z]")
_VEC8 = np.array([3, 0, 1, 2, 7, 4, 5, 6])  # entry i of vec8 is entry _VEC8[i] of ours
_VEC6 = np.array([0, 1, 2, 4, 5, 6])  # the entries of a pure one that are not zero


def multiply(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """a b (..., 8), with eps^2 = 0. Any dual quaternions."""
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    return _product(a, b)


def conjugate(h: ArrayLike) -> np.ndarray:
    """h* (..., 8): the imaginary units change sign in both parts; the inverse of a unit one. (a b)* = b* a*."""
    return _any("h", h) * _CONJUGATE


def dual_conjugate(h: ArrayLike) -> np.ndarray:
    """primary - eps dual (..., 8). Of a b it is the product of those of a and of b, in the same order."""
    return _any("h", h) * _DUAL


def full_conjugate(h: ArrayLike) -> np.ndarray:
    """Both at once (..., 8), primary* - eps dual*: points 1 + eps p transform by x (1 + eps p) x^full."""
    return _any("h", h) * (_CONJUGATE * _DUAL)


def norm(h: ArrayLike) -> np.ndarray:
    """The dual number sqrt(h h*) (..., 2) as [primary, dual]: [1, 0] for a unit one; the primary part is not zero."""
    h = _any("h", h)
    n = np.asarray(np.sqrt(dot(h[..., :4], h[..., :4])))
    if (n == 0.0).any():
        raise InputError("h has a zero primary part: its norm has no derivative; expected a nonzero primary part.")
    return np.stack([n, dot(h[..., :4], h[..., 4:]) / n], axis=-1)


def normalize(h: ArrayLike) -> np.ndarray:
    """h / norm(h) (..., 8), a unit dual quaternion; the primary part must not be zero."""
    h = _any("h", h)
    n = norm(h)
    r = h[..., :4] / n[..., :1]
    return np.concatenate([r, (h[..., 4:] - n[..., 1:] * r) / n[..., :1]], axis=-1)


def check_unit(x: ArrayLike, name: str = "x") -> np.ndarray:
    """`x` (..., 8) unchanged, if its primary part has norm 1 and its dual part is orthogonal to it, within 1e-6.

    `name` is what the InputError calls it.
    """
    x = _any(name, x)
    r, d = x[..., :4], x[..., 4:]
    ck.check_unit(f"the primary part of {name}", r)
    scale = np.maximum(1.0, np.abs(d).max(axis=-1))
    ck.vanishing(f"primary . dual of {name}", np.abs(dot(r, d)), scale, "0; call dual_quaternion.normalize first")
    return x


def from_position_quaternion(position: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The unit dual quaternion (..., 8) of `position` (..., 3) in m and the unit quaternion `q` (..., 4)."""
    p, q = ck.arrays(("position", position, ck.POINT), ("q", q, ck.QUATERNION))
    r = ck.unit_quaternion("q", q)
    dual = 0.5 * quaternion.multiply(_assemble(p, p)[..., :4], r)
    return np.concatenate([np.broadcast_to(r, dual.shape), dual], axis=-1)


def to_position_quaternion(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(position (..., 3), unit quaternion (..., 4)) of a unit dual quaternion."""
    x = _unit("x", x)
    r = x[..., :4]
    return 2.0 * quaternion.multiply(x[..., 4:], r * _IMAGINARY)[..., :3], r.copy()


def from_pose(X: ArrayLike) -> np.ndarray:
    """The unit dual quaternion (..., 8) with primary w >= 0 of the pose matrix `X` (..., 4, 4)."""
    return from_position_quaternion(*se3.to_position_quaternion(X))


def to_pose(x: ArrayLike) -> np.ndarray:
    """The pose matrix (..., 4, 4); x and -x give the same."""
    return se3.from_position_quaternion(*to_position_quaternion(x))


def exp(h: ArrayLike) -> np.ndarray:
    """The sum of h^n / n! (..., 8) of a pure `h`: the pose after one second at the constant twist 2 h."""
    h = _pure("h", h)
    u, d = h[..., :3], h[..., 4:7]
    x = series.squared_angle(u)
    s, turn = series.sinc(x)[..., None], dot(u, d)[..., None]
    dual = s * d + 2.0 * turn * series.sinc_slope(x)[..., None] * u
    return np.concatenate([s * u, np.cos(np.sqrt(x))[..., None], dual, -s * turn], axis=-1)


def log(x: ArrayLike) -> np.ndarray:
    """The pure h (..., 8) of the shorter way: exp(log(x)) is x or -x, its primary part at most pi / 2 long."""
    p, r = to_position_quaternion(x)
    w = quaternion.log(r)
    turned = cross3(w, p)
    linear = p - 0.5 * turned + series.cotc(series.squared_angle(w))[..., None] * cross3(w, turned)
    return 0.5 * _assemble(w, linear)


def sclerp(x0: ArrayLike, x1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """x0 exp(t log(x0* x1)) (..., 8): the screw from `x0` (t = 0) to the pose `x1` (t = 1), the shorter way."""
    a, b, s = ck.arrays(("x0", x0, ck.DUAL_QUATERNION), ("x1", x1, ck.DUAL_QUATERNION), ("t", t, ck.SCALAR))
    a, b = _unit("x0", a), _unit("x1", b)
    return _product(a, exp(s[..., None] * log(_product(a * _CONJUGATE, b))))


def adjoint(x: ArrayLike, h: ArrayLike) -> np.ndarray:
    """Ad(x) h = x h x* (..., 8), (3): a twist or wrench `h` given in B, in A, for the pose x = x_AB."""
    x, h = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("h", h, ck.DUAL_QUATERNION))
    return _adjoint(_unit("x", x), _pure("h", h))


def cross(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """(a b - b a) / 2 (..., 8), (8): l x s + eps (l x s' + l' x s) of pure dual quaternions."""
    a, b = ck.arrays(("a", a, ck.DUAL_QUATERNION), ("b", b, ck.DUAL_QUATERNION))
    return _cross(_pure("a", a), _pure("b", b))


def rate_from_twist(x: ArrayLike, twist: ArrayLike, expressed: str) -> np.ndarray:
    """The time derivative (..., 8) of the pose x_WB, (4): twist x / 2 ("world") or x twist / 2 ("body")."""
    x, xi = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("twist", twist, ck.DUAL_QUATERNION))
    x, xi = _unit("x", x), _pure("twist", xi)
    return 0.5 * (_product(xi, x) if _in_world(expressed) else _product(x, xi))


def twist_from_rate(x: ArrayLike, rate: ArrayLike, expressed: str) -> np.ndarray:
    """The twist (..., 8) of the pose x_WB from its time derivative, (4): 2 rate x* ("world") or 2 x* rate ("body").

    The rate must keep x a unit dual quaternion: rate x* is pure.
    """
    x, dx = ck.arrays(("x", x, ck.DUAL_QUATERNION), ("rate", rate, ck.DUAL_QUATERNION))
    inverse = _unit("x", x) * _CONJUGATE
    return _pure("the twist of rate", 2.0 * (_product(dx, inverse) if _in_world(expressed) else _product(inverse, dx)))


def adjoint_rate(x: ArrayLike, twist: ArrayLike, h: ArrayLike, rate: ArrayLike) -> np.ndarray:
    """The time derivative (..., 8) of Ad(x) h, lemma (9): Ad(x) rate + twist x (Ad(x) h).

    `twist` is that of x expressed in the world, `rate` the time derivative of `h`.
    """
    names = (("x", x), ("twist", twist), ("h", h), ("rate", rate))
    x, xi, h, dh = ck.arrays(*((name, value, ck.DUAL_QUATERNION) for name, value in names))
    x = _unit("x", x)
    return _adjoint(x, _pure("rate", dh)) + _cross(_pure("twist", xi), _adjoint(x, _pure("h", h)))


def hamilton_left(h: ArrayLike) -> np.ndarray:
    """The matrix (..., 8, 8) with hamilton_left(a) @ b = a b, in our order of entries. Linear in `h`."""
    return np.einsum("...i,ijk->...kj", _any("h", h), _TABLE)


def hamilton_right(h: ArrayLike) -> np.ndarray:
    """The matrix (..., 8, 8) with hamilton_right(b) @ a = a b, in our order of entries. Linear in `h`."""
    return np.einsum("...j,ijk->...ki", _any("h", h), _TABLE)


def to_vec8(h: ArrayLike) -> np.ndarray:
    """The paper's vec8 (..., 8): [primary w, x, y, z; dual w, x, y, z]."""
    return _any("h", h)[..., _VEC8]


def from_vec8(entries: ArrayLike) -> np.ndarray:
    """The dual quaternion (..., 8) of the paper's vec8."""
    return _any("entries", entries)[..., np.argsort(_VEC8)]


def to_vec6(h: ArrayLike) -> np.ndarray:
    """The entries (..., 6) of a pure one that are not zero: [primary x, y, z; dual x, y, z]."""
    return _pure("h", h)[..., _VEC6]


def from_vec6(entries: ArrayLike) -> np.ndarray:
    """The pure dual quaternion (..., 8) of [primary x, y, z; dual x, y, z]."""
    e = ck.array("entries", entries, _PURE6)
    return _assemble(e[..., :3], e[..., 3:])


def from_twist(twist: ArrayLike) -> np.ndarray:
    """angular + eps linear (..., 8) of a twist [linear; angular]; body or world, the expression stays."""
    V = ck.array("twist", twist, ck.TWIST)
    return _assemble(V[..., 3:], V[..., :3])


def to_twist(h: ArrayLike) -> np.ndarray:
    """[linear; angular] (..., 6) of a pure dual quaternion that is a twist."""
    h = _pure("h", h)
    return np.concatenate([h[..., 4:7], h[..., :3]], axis=-1)


def from_wrench(wrench: ArrayLike) -> np.ndarray:
    """force + eps torque (..., 8) of a wrench [force; torque]."""
    F = ck.array("wrench", wrench, ck.WRENCH)
    return _assemble(F[..., :3], F[..., 3:])


def to_wrench(h: ArrayLike) -> np.ndarray:
    """[force; torque] (..., 6) of a pure dual quaternion that is a wrench."""
    return to_vec6(h)


def power(wrench: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """force . linear + torque . angular (...) in W: each primary part meets the other's dual part."""
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
