"""Twists [linear; angular] (..., 6) in m/s and rad/s: change of frame, of expression, cross product.

The velocity of a frame B in the world W is written in one of three ways, `expressed=`:

    body    velocity of B's origin and angular velocity, both along B's axes
    mixed   the same two vectors, along the world's axes
    world   velocity of the body's point that passes the world's origin, and angular velocity, along the world's axes
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _vector as vec, se3
from freeflyer.spatial._expression import EXPRESSIONS, relative_transform

__all__ = [
    "EXPRESSIONS", "change_expression", "change_frame", "change_rate_expression", "classical_acceleration", "cross",
    "expression_matrix",
]  # fmt: skip


def change_frame(X_AB: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """The same motion (..., 6), given at B's origin along B's axes, at A's origin along A's axes: Ad(X_AB) twist."""
    X, V = ck.arrays(("X_AB", X_AB, ck.MATRIX4), ("twist", twist, ck.TWIST))
    return vec.multiply(se3.adjoint(X), V)


def expression_matrix(X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """The matrix (..., 6, 6) that turns B's twist, or a Jacobian, expressed as `source` into `target`."""
    return se3.adjoint(relative_transform(ck.pose("X_WB", ck.array("X_WB", X_WB, ck.MATRIX4)), source, target))


def change_expression(twist: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """B's twist (..., 6), given as `source`, expressed as `target`: "body", "mixed" or "world"."""
    V, X = ck.arrays(("twist", twist, ck.TWIST), ("X_WB", X_WB, ck.MATRIX4))
    return vec.multiply(expression_matrix(X, source, target), V)


def change_rate_expression(rate: ArrayLike, twist: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """The time derivative (..., 6) of B's twist expressed as `target`, from that of its twist expressed as `source`.

    Body and world rates are one motion in two frames. The mixed rate is another: its linear part is the
    acceleration of B's origin, because the world's axes do not turn with the body. `twist` is expressed as `source`.
    """
    A, V, X = ck.arrays(("rate", rate, ck.TWIST), ("twist", twist, ck.TWIST), ("X_WB", X_WB, ck.MATRIX4))
    A, V = (vec.multiply(expression_matrix(X, source, "body"), x) for x in (A, V))
    if source == "mixed":
        A = A - _turning(V)
    if target == "mixed":
        A = A + _turning(V)
    return vec.multiply(expression_matrix(X, "body", target), A)


def classical_acceleration(rate: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """Acceleration (..., 6) of the frame's origin and angular acceleration, along the body's axes, from the body twist
    and its time derivative: [linear rate + angular x linear; angular rate]."""
    A, V = ck.arrays(("rate", rate, ck.TWIST), ("twist", twist, ck.TWIST))
    return A + _turning(V)


def cross(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """a x b (..., 6) = ad(a) b: the rate of the twist b, constant in a frame that moves with the twist a."""
    a, b = ck.arrays(("a", a, ck.TWIST), ("b", b, ck.TWIST))
    v, w, p, r = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return np.concatenate([vec.cross(w, p) + vec.cross(v, r), vec.cross(w, r)], axis=-1)


def _turning(V: np.ndarray) -> np.ndarray:
    turning = vec.cross(V[..., 3:], V[..., :3])
    return np.concatenate([turning, np.zeros_like(turning)], axis=-1)
