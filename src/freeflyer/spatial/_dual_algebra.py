"""Products and conjugates of dual quaternions, checks of arguments; pure ones: twists, wrenches, their products and rates, and
other orders of the numbers. See dual_quaternion.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, quaternion
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
    if expressed not in ("body", "world"):
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
