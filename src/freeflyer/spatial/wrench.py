"""Wrenches [force; torque] (..., 6) in N and N m: change of frame, of expression, cross product, power.

A wrench on a frame B is written as "body", "mixed" or "world" like a twist: `change_expression`. Its power with the twist of the
same expression is the same in all three. Leading axes broadcast; poses are checked as in `se3`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _series as series, se3
from freeflyer.spatial.se3 import relative_transform

__all__ = ["at_point", "change_expression", "change_frame", "cross", "cross_matrix", "expression_matrix", "power"]


def at_point(force: ArrayLike, point: ArrayLike) -> np.ndarray:
    """Wrench about the origin of a force that acts at a point, along the same axes; (..., 6), [force; point x force], N and N m.

    Args:
        force: (..., 3) array, N.
        point: (..., 3) array, m, from the origin.

    Examples:
        >>> ff.spatial.wrench.at_point([0, 0, 3], [0, 2, 0]).tolist()  # 3 N, 2 m away: 6 N m
        [0.0, 0.0, 3.0, 6.0, 0.0, 0.0]
    """
    f, p = ck.arrays(("force", force, ck.POINT), ("point", point, ck.POINT))
    torque = series.cross(p, f)
    return np.concatenate([np.broadcast_to(f, torque.shape), torque], axis=-1)


def change_frame(X_AB: ArrayLike, wrench: ArrayLike) -> np.ndarray:
    """Wrench given at B's origin along B's axes, at A's origin along A's axes: the same load, Ad(X_AB)^-T wrench.

    Args:
        X_AB: (..., 4, 4) array.
    Returns: (..., 6) array, N and N m.

    Examples:
        >>> X_AB = ff.spatial.se3.from_position_rotation([0, 2, 0], np.eye(3))
        >>> ff.spatial.wrench.change_frame(X_AB, [0, 0, 3, 0, 0, 0]).tolist()
        [0.0, 0.0, 3.0, 6.0, 0.0, 0.0]
    """
    X, F = ck.arrays(("X_AB", X_AB, ck.MATRIX4), ("wrench", wrench, ck.WRENCH))
    return series.multiply(se3.coadjoint(X), F)


def expression_matrix(X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """Matrix that turns the wrench on B expressed as `source` into `target`.

    Args:
        X_WB: (..., 4, 4) array.
        source, target: "body", "mixed" or "world", as in change_expression.
    Returns: (..., 6, 6) array, A coadjoint: without unit, the lower left block in m.
    Raises: InputError for another expression.

    Examples:
        >>> X_WB = ff.spatial.se3.from_position_rotation([0, 2, 0], np.eye(3))
        >>> T = ff.spatial.twist.expression_matrix(X_WB, "body", "world")
        >>> bool(np.allclose(ff.spatial.wrench.expression_matrix(X_WB, "body", "world"), np.linalg.inv(T).T))  # keeps power
        True
    """
    return se3.coadjoint(relative_transform(ck.pose("X_WB", ck.array("X_WB", X_WB, ck.MATRIX4)), source, target))


def change_expression(wrench: ArrayLike, X_WB: ArrayLike, source: str, target: str) -> np.ndarray:
    """Wrench on B, given as `source`, expressed as `target`; (..., 6), N and N m.

    Args:
        X_WB: (..., 4, 4) array.
        source, target: "body", "mixed" or "world". Along B's axes, about B's origin; along the world's axes, about B's origin;
            along the world's axes, about the world's origin.
    Raises: InputError for another expression.

    Examples:
        >>> X_WB = ff.spatial.se3.from_position_rotation([0, 2, 0], np.eye(3))
        >>> ff.spatial.wrench.change_expression([0, 0, 3, 0, 0, 0], X_WB, "body", "world").tolist()
        [0.0, 0.0, 3.0, 6.0, 0.0, 0.0]
    """
    F, X = ck.arrays(("wrench", wrench, ck.WRENCH), ("X_WB", X_WB, ck.MATRIX4))
    return series.multiply(expression_matrix(X, source, target), F)


def cross(twist: ArrayLike, wrench: ArrayLike) -> np.ndarray:
    """Cross product -ad(twist)^T wrench: the rate of a wrench or momentum, constant in a frame that moves with `twist`.

    Args:
        wrench: (..., 6) array, [force; torque], N and N m, or momentum [linear; angular], kg m/s and kg m^2/s.
    Returns: (..., 6) array, N/s and N m/s, or N and N m.

    Examples:
        >>> ff.spatial.wrench.cross([0, 0, 0, 0, 0, 3], [2, 0, 0, 0, 0, 0]).tolist()
        [0.0, 6.0, 0.0, 0.0, 0.0, 0.0]
    """
    V, F = ck.arrays(("twist", twist, ck.TWIST), ("wrench", wrench, ck.WRENCH))
    v, w, f, n = V[..., :3], V[..., 3:], F[..., :3], F[..., 3:]
    return np.concatenate([series.cross(w, f), series.cross(w, n) + series.cross(v, f)], axis=-1)


def cross_matrix(twist: ArrayLike) -> np.ndarray:
    """Matrix of `cross`, [[skew(angular), 0], [skew(linear), skew(angular)]] = -ad(twist)^T; (..., 6, 6).

    Examples:
        >>> V, F = [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]
        >>> (ff.spatial.wrench.cross_matrix(V) @ F - ff.spatial.wrench.cross(V, F)).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    V = ck.array("twist", twist, ck.TWIST)
    W = series.skew(V[..., 3:])
    return series.blocks(W, np.zeros((3, 3)), series.skew(V[..., :3]), W)


def power(wrench: ArrayLike, twist: ArrayLike) -> np.ndarray:
    """Power force . linear + torque . angular; (...), W.

    Args:
        twist: (..., 6) array, [linear; angular], m/s and rad/s, at the same frame and along the same axes.

    Examples:
        >>> float(ff.spatial.wrench.power([10, 0, 0, 0, 0, 4], [2, 0, 0, 0, 0, 3]))  # 20 W of the force, 12 W of the torque
        32.0
    """
    F, V = ck.arrays(("wrench", wrench, ck.WRENCH), ("twist", twist, ck.TWIST))
    return np.asarray(series.dot(F, V))
