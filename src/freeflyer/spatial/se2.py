"""Poses in the plane, SE(2): homogeneous matrices X_AB (3, 3) that turn points in B into points in A.

Twists are [vx, vy, omega], wrenches [fx, fy, torque]. Leading axes broadcast; poses are checked as in `se3`. In the formulas S is
the quarter turn [[0, -1], [1, 0]]."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _series as series
from freeflyer.spatial._series import multiply

__all__ = [
    "act", "ad", "adjoint", "coadjoint", "compose", "exp", "from_position_angle", "hat", "interpolate", "inverse",
    "left_jacobian", "left_jacobian_inverse", "log", "right_jacobian", "right_jacobian_inverse", "to_position_angle",
    "vee"]

_S = np.array([[0.0, -1.0], [1.0, 0.0]])
_I = np.eye(2)


def hat(twist: ArrayLike) -> np.ndarray:
    """Element of se(2) of a twist: [[omega S, v], [0, 0]]; (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    return _matrix(xi[..., 2, None, None] * _S, xi[..., :2], 0.0)


def vee(matrix: ArrayLike) -> np.ndarray:
    """Twist of an element of se(2); undoes `hat`; (..., 3), [vx, vy, omega], m/s and rad/s.

    Args:
        matrix: (..., 3, 3) array.
    Raises: InputError for a matrix whose block is not skew or whose last row is not zero, within 1e-6 of its largest entry."""
    M = ck.array("matrix", matrix, ck.MATRIX3)
    B = M[..., :2, :2]
    error = np.maximum(np.abs(B + np.swapaxes(B, -1, -2)).max(axis=(-2, -1)), np.abs(M[..., 2, :]).max(axis=-1))
    ck.vanishing("matrix", error, np.abs(M).max(axis=(-2, -1)), "an element of se(2): skew block, last row zero")
    return np.stack([M[..., 0, 2], M[..., 1, 2], 0.5 * (M[..., 1, 0] - M[..., 0, 1])], axis=-1)


def from_position_angle(position: ArrayLike, angle: ArrayLike) -> np.ndarray:
    """Planar pose of a position and an angle, (..., 3, 3)."""
    p, t = ck.arrays(("position", position, ck.POINT2), ("angle", angle, ck.SCALAR))
    return _matrix(_turn(t), p)


def to_position_angle(X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Position (..., 2), m, and angle (...) in (-pi, pi], rad, of a planar pose."""
    X = _check_pose(X)
    return X[..., :2, 2].copy(), _angle(X)


def compose(*poses: ArrayLike) -> np.ndarray:
    """Product of planar poses, X_AB X_BC ...; the identity for none; (..., 3, 3)."""
    checked = ck.arrays(*((f"pose {i}", X, ck.MATRIX3) for i, X in enumerate(poses)))
    return reduce(np.matmul, (ck.pose(f"pose {i}", X) for i, X in enumerate(checked)), np.eye(3))


def inverse(X: ArrayLike) -> np.ndarray:
    """Inverse pose X_BA of X_AB, (..., 3, 3)."""
    X = _check_pose(X)
    Rt = np.swapaxes(X[..., :2, :2], -1, -2)
    return _matrix(Rt, -multiply(Rt, X[..., :2, 2]))


def act(X: ArrayLike, point: ArrayLike) -> np.ndarray:
    """Point given in B, in A by the pose X_AB: R p_B + p; (..., 2), m, in A."""
    X, x = ck.arrays(("X", X, ck.MATRIX3), ("point", point, ck.POINT2))
    X = ck.pose("X", X)
    return multiply(X[..., :2, :2], x) + X[..., :2, 2]


def adjoint(X: ArrayLike) -> np.ndarray:
    """Adjoint (..., 3, 3), [[R, -S p], [0, 1]], of the pose X_AB: twists in B to twists in A. Ad(X Y) = Ad(X) Ad(Y)."""
    X = _check_pose(X)
    return _matrix(X[..., :2, :2], -multiply(_S, X[..., :2, 2]))


def coadjoint(X: ArrayLike) -> np.ndarray:
    """Coadjoint Ad^-T (..., 3, 3) of the pose X_AB: wrenches [fx, fy, torque] in B to wrenches in A; keeps power."""
    return np.swapaxes(adjoint(inverse(X)), -1, -2).copy()


def ad(twist: ArrayLike) -> np.ndarray:
    """Lie bracket as a matrix, [[omega S, -S v], [0, 0]]: ad(a) @ b = vee(hat(a) hat(b) - hat(b) hat(a)); (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    return _matrix(xi[..., 2, None, None] * _S, -multiply(_S, xi[..., :2]), 0.0)


def exp(twist: ArrayLike) -> np.ndarray:
    """Planar pose reached by a constant body twist in one second, from the identity; (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    return _matrix(_turn(xi[..., 2]), multiply(_so2_jacobian(xi[..., 2]), xi[..., :2]))


def log(X: ArrayLike) -> np.ndarray:
    """Twist with the angle in (-pi, pi] and exp(log(X)) = X; (..., 3), [vx, vy, omega], m/s and rad/s over one second."""
    X = _check_pose(X)
    t = _angle(X)
    return np.concatenate([multiply(_so2_jacobian_inverse(t), X[..., :2, 2]), t[..., None]], axis=-1)


def left_jacobian(twist: ArrayLike) -> np.ndarray:
    """Left Jacobian J of exp: exp(xi + d) = exp(J d) exp(xi) to first order; the sum of ad(xi)^n / (n + 1)!; (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    v, t = xi[..., :2], xi[..., 2]
    x = series.squared_angle(xi[..., 2:])
    column = (t * series.sinc3(x))[..., None] * v - series.cosc(x)[..., None] * multiply(_S, v)
    return _matrix(_so2_jacobian(t), column)


def left_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """Inverse of the left Jacobian: log(exp(d) exp(xi)) = xi + J^-1 d to first order, for angles below pi; (..., 3, 3).

    Raises: InputError at angles 2 pi, 4 pi, ..."""
    xi = ck.array("twist", twist, ck.TWIST2)
    v, t = xi[..., :2], xi[..., 2]
    column = (t * series.cotc(series.squared_angle(xi[..., 2:])))[..., None] * v + 0.5 * multiply(_S, v)
    return _matrix(_so2_jacobian_inverse(t), column)


def right_jacobian(twist: ArrayLike) -> np.ndarray:
    """Right Jacobian J of exp: exp(xi + d) = exp(xi) exp(J d) to first order; the left one at -xi; (..., 3, 3)."""
    return left_jacobian(-ck.array("twist", twist, ck.TWIST2))


def right_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """Inverse of the right Jacobian: log(exp(xi) exp(d)) = xi + J^-1 d to first order, for angles below pi; (..., 3, 3).

    Raises: InputError at angles 2 pi, 4 pi, ..."""
    return left_jacobian_inverse(-ck.array("twist", twist, ck.TWIST2))


def interpolate(X0: ArrayLike, X1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Planar pose X0 exp(t log(X0^-1 X1)): the circular arc from `X0` (t = 0) to `X1` (t = 1), constant body twist; (..., 3, 3)."""
    A, B, s = ck.arrays(("X0", X0, ck.MATRIX3), ("X1", X1, ck.MATRIX3), ("t", t, ck.SCALAR))
    A = ck.pose("X0", A)
    return A @ exp(s[..., None] * log(inverse(A) @ ck.pose("X1", B)))


def _check_pose(X: ArrayLike) -> np.ndarray:
    return ck.pose("X", ck.array("X", X, ck.MATRIX3))


def _angle(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.arctan2(X[..., 1, 0] + 0.0, X[..., 0, 0]))  # + 0.0: no -0, so a half turn is +pi


def _turn(t: np.ndarray) -> np.ndarray:
    return np.cos(t)[..., None, None] * _I + np.sin(t)[..., None, None] * _S


def _matrix(block: np.ndarray, column: np.ndarray, corner: float = 1.0) -> np.ndarray:
    out = np.zeros((*np.broadcast_shapes(block.shape[:-2], column.shape[:-1]), 3, 3))
    out[..., :2, :2], out[..., :2, 2], out[..., 2, 2] = block, column, corner
    return out


def _so2_jacobian(t: np.ndarray) -> np.ndarray:
    x = series.squared_angle(t[..., None])
    return series.sinc(x)[..., None, None] * _I + (t * series.cosc(x))[..., None, None] * _S


def _so2_jacobian_inverse(t: np.ndarray) -> np.ndarray:
    return series.half_cot(series.squared_angle(t[..., None]))[..., None, None] * _I - 0.5 * t[..., None, None] * _S
