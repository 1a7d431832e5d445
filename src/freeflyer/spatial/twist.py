"""Twists [linear; angular] (..., 6) in m/s and rad/s: change of frame, of expression, cross product.

The velocity of a frame B in the world W is written in one of three ways, "body", "mixed" or "world": `change_expression`. Leading
axes broadcast; poses are checked as in `se3`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _series as series, se3
from freeflyer.spatial.se3 import EXPRESSIONS, relative_transform

__all__ = ["EXPRESSIONS", "change_expression", "change_rate_expression", "classical_acceleration", "cross"]


def change_expression(twist: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """Twist of B, given as `source`, expressed as `target`; (..., 6), m/s and rad/s."""
    V, X = ck.arrays(("twist", twist, ck.TWIST), ("X_WB", X_WB, ck.MATRIX4))
    return series.multiply(_matrix(X, source, target), V)


def change_rate_expression(rate: ArrayLike, twist: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """Time derivative (..., 6) of B's twist expressed as `target`, from that of its twist expressed as `source`.

    Body and world rates are one motion in two frames. The mixed rate differs. Its linear part is the acceleration of B's origin,
    because the world's axes do not turn with the body."""
    A, V, X = ck.arrays(("rate", rate, ck.TWIST), ("twist", twist, ck.TWIST), ("X_WB", X_WB, ck.MATRIX4))
    A, V = (series.multiply(_matrix(X, source, "body"), x) for x in (A, V))
    if source == "mixed":
        A = A - _turning(V)
    if target == "mixed":
        A = A + _turning(V)
    return series.multiply(_matrix(X, "body", target), A)


def classical_acceleration(rate: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """Acceleration of the frame's origin and angular acceleration, [linear rate + angular x linear; angular rate]; (..., 6)."""
    A, V = ck.arrays(("rate", rate, ck.TWIST), ("twist", twist, ck.TWIST))
    return A + _turning(V)


def cross(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Cross product a x b = ad(a) b: the rate of the twist b, constant in a frame that moves with the twist a; (..., 6)."""
    a, b = ck.arrays(("a", a, ck.TWIST), ("b", b, ck.TWIST))
    v, w, p, r = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return np.concatenate([series.cross(w, p) + series.cross(v, r), series.cross(w, r)], axis=-1)


def _matrix(X_WB: np.ndarray, source: str, target: str) -> np.ndarray:
    """Adjoint (..., 6, 6) that turns B's twist expressed as `source` into `target`."""
    return se3.adjoint(relative_transform(ck.pose("X_WB", X_WB), source, target))


def _turning(V: np.ndarray) -> np.ndarray:
    turning = series.cross(V[..., 3:], V[..., :3])
    return np.concatenate([turning, np.zeros_like(turning)], axis=-1)
