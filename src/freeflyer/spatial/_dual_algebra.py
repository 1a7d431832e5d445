"""Sums, products and conjugates of dual quaternions, and checks of arguments; see dual_quaternion.py."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, quaternion
from freeflyer.spatial._series import cross as cross3, dot

IMAGINARY = np.array([-1.0, -1.0, -1.0, 1.0])
CONJUGATE = np.concatenate([IMAGINARY, IMAGINARY])
DUAL = np.repeat([1.0, -1.0], 4)
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


def full_conjugate(h: ArrayLike) -> np.ndarray:
    """Both conjugates at once, primary* - eps dual*: points 1 + eps p transform by x (1 + eps p) x^full; (..., 8)."""
    return checked("h", h) * (CONJUGATE * DUAL)


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
    """Dual quaternions unchanged, (..., 8), if every primary part has norm 1 and the dual part is orthogonal to it.

    Args:
        name: Name of `x` in the error.
    Raises: InputError for norms off 1 by 1e-6, or primary . dual beyond 1e-6 (times the dual part's largest entry, if above 1).

    Examples:
        >>> ff.spatial.dual_quaternion.check_unit([0, 0, 0, 2, 1, 2, 3, 0], "x_AB")
        Traceback (most recent call last):
        freeflyer.errors.InputError: the primary part of x_AB has norm 2; expected 1 within 1e-06...
    """
    x = checked(name, x)
    r, d = x[..., :4], x[..., 4:]
    ck.check_unit(f"the primary part of {name}", r)
    scale = np.maximum(1.0, np.abs(d).max(axis=-1))
    ck.vanishing(f"primary . dual of {name}", np.abs(dot(r, d)), scale, "0; call dual_quaternion.normalize first")
    return x


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
