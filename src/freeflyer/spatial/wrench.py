"""Wrenches [force; torque] (..., 6) in N and N m: change of frame, of expression, cross product, power.

A wrench on a frame B is written as `body`, `mixed` or `world` like a twist (see `twist`): along B's axes about B's
origin, along the world's axes about B's origin, or along the world's axes about the world's origin. Its power with
the twist of the same expression is the same in all three.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _vector as vec, se3
from freeflyer.spatial._expression import relative_transform

__all__ = ["at_point", "change_expression", "change_frame", "cross", "cross_matrix", "expression_matrix", "power"]


def at_point(force: ArrayLike, point: ArrayLike) -> np.ndarray:
    """The wrench (..., 6) about the origin of a `force` (..., 3) in N that acts at `point` (..., 3) in m, same axes."""
    f, p = ck.arrays(("force", force, ck.POINT), ("point", point, ck.POINT))
    torque = vec.cross(p, f)
    return np.concatenate([np.broadcast_to(f, torque.shape), torque], axis=-1)


def change_frame(X_AB: ArrayLike, wrench: ArrayLike) -> np.ndarray:
    """The same load (..., 6), given at B's origin along B's axes, at A's origin along A's axes: Ad(X_AB)^-T wrench."""
    X, F = ck.arrays(("X_AB", X_AB, ck.MATRIX4), ("wrench", wrench, ck.WRENCH))
    return vec.multiply(se3.coadjoint(X), F)


def expression_matrix(X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """The matrix (..., 6, 6) that turns the wrench on B expressed as `source` into `target`."""
    return se3.coadjoint(relative_transform(ck.pose("X_WB", ck.array("X_WB", X_WB, ck.MATRIX4)), source, target))


def change_expression(wrench: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """The wrench (..., 6) on B, given as `source`, expressed as `target`: "body", "mixed" or "world"."""
    F, X = ck.arrays(("wrench", wrench, ck.WRENCH), ("X_WB", X_WB, ck.MATRIX4))
    return vec.multiply(expression_matrix(X, source, target), F)


def cross(twist: ArrayLike, wrench: ArrayLike) -> np.ndarray:
    """-ad(twist)^T wrench (..., 6): the rate of a wrench or momentum, constant in a frame that moves with `twist`."""
    V, F = ck.arrays(("twist", twist, ck.TWIST), ("wrench", wrench, ck.WRENCH))
    v, w, f, n = V[..., :3], V[..., 3:], F[..., :3], F[..., 3:]
    return np.concatenate([vec.cross(w, f), vec.cross(w, n) + vec.cross(v, f)], axis=-1)


def cross_matrix(twist: ArrayLike) -> np.ndarray:
    """The matrix (..., 6, 6) of `cross`: [[skew(angular), 0], [skew(linear), skew(angular)]]."""
    V = ck.array("twist", twist, ck.TWIST)
    W = vec.skew(V[..., 3:])
    return vec.blocks(W, np.zeros((3, 3)), vec.skew(V[..., :3]), W)


def power(wrench: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """force . linear + torque . angular (...) in W; both at the same frame and along the same axes."""
    F, V = ck.arrays(("wrench", wrench, ck.WRENCH), ("twist", twist, ck.TWIST))
    return np.asarray(vec.dot(F, V))
