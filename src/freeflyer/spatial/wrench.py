"""Wrenches [force; torque] (..., 6) in N and N m: change of frame, of expression, cross product, power.

A wrench on a frame B is written as "body", "mixed" or "world" like a twist: `change_expression`. Its power with the twist of the
same expression is the same in all three. Leading axes broadcast; poses are checked as in `se3`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _series as series, se3

__all__ = ["change_expression", "cross", "power"]


def change_expression(wrench: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """Wrench on B, given as `source`, expressed as `target`; (..., 6), N and N m."""
    F, X = ck.arrays(("wrench", wrench, ck.WRENCH), ("X_WB", X_WB, ck.MATRIX4))
    return series.multiply(se3.coadjoint(se3.relative_transform(ck.pose("X_WB", X), source, target)), F)


def cross(twist: ArrayLike, wrench: ArrayLike) -> np.ndarray:
    """Cross product -ad(twist)^T wrench (..., 6): the rate of a wrench or momentum, constant in a frame that moves with `twist`."""
    V, F = ck.arrays(("twist", twist, ck.TWIST), ("wrench", wrench, ck.WRENCH))
    v, w, f, n = V[..., :3], V[..., 3:], F[..., :3], F[..., 3:]
    return np.concatenate([series.cross(w, f), series.cross(w, n) + series.cross(v, f)], axis=-1)


def power(wrench: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """Power force . linear + torque . angular; (...), W."""
    F, V = ck.arrays(("wrench", wrench, ck.WRENCH), ("twist", twist, ck.TWIST))
    return np.asarray(series.dot(F, V))
