"""Poses in the plane, SE(2): homogeneous matrices X_AB (3, 3) that turn points in B into points in A.

Twists are [vx, vy, omega], wrenches [fx, fy, torque]. Leading axes broadcast; poses are checked as in `se3`. In the formulas S is
the quarter turn [[0, -1], [1, 0]]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _series as series

__all__ = [
    "ad", "adjoint", "exp", "from_position_angle", "hat", "inverse", "log", "right_jacobian", "right_jacobian_inverse"]

_S = np.array([[0.0, -1.0], [1.0, 0.0]])
_I = np.eye(2)


def hat(twist: ArrayLike) -> np.ndarray:
    """Element of se(2) of a twist: [[omega S, v], [0, 0]]; (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    return _matrix(xi[..., 2, None, None] * _S, xi[..., :2], 0.0)


def from_position_angle(position: ArrayLike, angle: ArrayLike) -> np.ndarray:
    """Planar pose of a position and an angle, (..., 3, 3)."""
    p, t = ck.arrays(("position", position, ck.POINT2), ("angle", angle, ck.SCALAR))
    return _matrix(_turn(t), p)


def inverse(X: ArrayLike) -> np.ndarray:
    """Inverse pose X_BA of X_AB, (..., 3, 3)."""
    X = _check_pose(X)
    Rt = np.swapaxes(X[..., :2, :2], -1, -2)
    return _matrix(Rt, -series.multiply(Rt, X[..., :2, 2]))


def adjoint(X: ArrayLike) -> np.ndarray:
    """Adjoint (..., 3, 3), [[R, -S p], [0, 1]], of the pose X_AB: twists in B to twists in A. Ad(X Y) = Ad(X) Ad(Y)."""
    X = _check_pose(X)
    return _matrix(X[..., :2, :2], -series.multiply(_S, X[..., :2, 2]))


def ad(twist: ArrayLike) -> np.ndarray:
    """Lie bracket as a matrix, [[omega S, -S v], [0, 0]]: ad(a) @ b = vee(hat(a) hat(b) - hat(b) hat(a)); (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    return _matrix(xi[..., 2, None, None] * _S, -series.multiply(_S, xi[..., :2]), 0.0)


def exp(twist: ArrayLike) -> np.ndarray:
    """Planar pose reached by a constant body twist in one second, from the identity; (..., 3, 3)."""
    xi = ck.array("twist", twist, ck.TWIST2)
    return _matrix(_turn(xi[..., 2]), series.multiply(_so2_jacobian(xi[..., 2]), xi[..., :2]))


def log(X: ArrayLike) -> np.ndarray:
    """Twist with the angle in (-pi, pi] and exp(log(X)) = X; (..., 3), [vx, vy, omega], m/s and rad/s over one second."""
    X = _check_pose(X)
    t = np.asarray(np.arctan2(X[..., 1, 0] + 0.0, X[..., 0, 0]))  # + 0.0: no -0, so a half turn is +pi
    return np.concatenate([series.multiply(_so2_jacobian_inverse(t), X[..., :2, 2]), t[..., None]], axis=-1)


def right_jacobian(twist: ArrayLike) -> np.ndarray:
    """Right Jacobian J of exp: exp(xi + d) = exp(xi) exp(J d) to first order; (..., 3, 3)."""
    xi = -ck.array("twist", twist, ck.TWIST2)  # at which the left one is the same
    v, t = xi[..., :2], xi[..., 2]
    x = series.squared_angle(xi[..., 2:])
    column = (t * series.sinc3(x))[..., None] * v - series.cosc(x)[..., None] * series.multiply(_S, v)
    return _matrix(_so2_jacobian(t), column)


def right_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """Inverse of the right Jacobian: log(exp(xi) exp(d)) = xi + J^-1 d to first order, for angles below pi; (..., 3, 3).

    Raises: InputError at angles 2 pi, 4 pi, ..."""
    xi = -ck.array("twist", twist, ck.TWIST2)
    v, t = xi[..., :2], xi[..., 2]
    column = (t * series.cotc(series.squared_angle(xi[..., 2:])))[..., None] * v + 0.5 * series.multiply(_S, v)
    return _matrix(_so2_jacobian_inverse(t), column)


def _check_pose(X: ArrayLike) -> np.ndarray:
    return ck.pose("X", ck.array("X", X, ck.MATRIX3))


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
