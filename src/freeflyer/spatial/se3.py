"""Poses of rigid bodies, SE(3): homogeneous matrices X_AB (4, 4) that turn points in B into points in A.

Twists are [linear; angular]. Leading axes broadcast. Poses are checked (rotation orthogonal within 1e-6, last row
0 0 0 1) and InputError with the reason.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.spatial import _check as ck, _series as series, _vector as vec, quaternion

__all__ = [
    "act", "ad", "adjoint", "coadjoint", "compose", "exp", "from_position_quaternion", "from_position_rotation", "hat",
    "interpolate", "inverse", "left_jacobian", "left_jacobian_inverse", "log", "right_jacobian",
    "right_jacobian_inverse", "skew", "to_position_quaternion", "vee",
]  # fmt: skip


def skew(vector: ArrayLike) -> np.ndarray:
    """The matrix (..., 3, 3) with skew(a) @ b = a x b."""
    return vec.skew(ck.array("vector", vector, ck.POINT))


def hat(twist: ArrayLike) -> np.ndarray:
    """The element (..., 4, 4) of se(3) of a twist: [[skew(angular), linear], [0, 0]]."""
    xi = ck.array("twist", twist, ck.TWIST)
    out = np.zeros((*xi.shape[:-1], 4, 4))
    out[..., :3, :3], out[..., :3, 3] = vec.skew(xi[..., 3:]), xi[..., :3]
    return out


def vee(matrix: ArrayLike) -> np.ndarray:
    """The twist (..., 6) of an element of se(3); undoes `hat`."""
    M = ck.array("matrix", matrix, ck.MATRIX4)
    S = M[..., :3, :3]
    error = np.maximum(np.abs(S + np.swapaxes(S, -1, -2)).max(axis=(-2, -1)), np.abs(M[..., 3, :]).max(axis=-1))
    ck.vanishing("matrix", error, np.abs(M).max(axis=(-2, -1)), "an element of se(3): skew block, last row zero")
    W = 0.5 * (S - np.swapaxes(S, -1, -2))
    return np.concatenate([M[..., :3, 3], np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)], axis=-1)


def from_position_rotation(position: ArrayLike, rotation: ArrayLike) -> np.ndarray:
    """The pose (..., 4, 4) of `position` (..., 3) in m and the rotation matrix (..., 3, 3)."""
    p, R = ck.arrays(("position", position, ck.POINT), ("rotation", rotation, ck.MATRIX3))
    return _pose(ck.rotation("rotation", R), p)


def from_position_quaternion(position: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The pose (..., 4, 4) of `position` (..., 3) in m and the unit quaternion x, y, z, w (..., 4)."""
    p, q = ck.arrays(("position", position, ck.POINT), ("q", q, ck.QUATERNION))
    return _pose(quaternion.to_matrix(q), p)


def to_position_quaternion(X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(position (..., 3), unit quaternion x, y, z, w (..., 4) with w >= 0) of poses."""
    R, p = _parts(_check_pose(X))
    return p.copy(), quaternion.from_matrix(R)


def compose(*poses: ArrayLike) -> np.ndarray:
    """X_AB X_BC ... (..., 4, 4); the identity for none."""
    checked = ck.arrays(*((f"pose {i}", X, ck.MATRIX4) for i, X in enumerate(poses)))
    return reduce(np.matmul, (ck.pose(f"pose {i}", X) for i, X in enumerate(checked)), np.eye(4))


def inverse(X: ArrayLike) -> np.ndarray:
    """X_BA (..., 4, 4) of X_AB."""
    R, p = _parts(_check_pose(X))
    Rt = np.swapaxes(R, -1, -2)
    return _pose(Rt, -vec.multiply(Rt, p))


def act(X: ArrayLike, point: ArrayLike) -> np.ndarray:
    """Points (..., 3) in B, given in A by the pose X_AB: R p_B + p."""
    X, x = ck.arrays(("X", X, ck.MATRIX4), ("point", point, ck.POINT))
    R, p = _parts(ck.pose("X", X))
    return vec.multiply(R, x) + p


def adjoint(X: ArrayLike) -> np.ndarray:
    """Ad (..., 6, 6) = [[R, skew(p) R], [0, R]]: twists in B to twists in A. Ad(X Y) = Ad(X) Ad(Y)."""
    R, p = _parts(_check_pose(X))
    return vec.blocks(R, vec.skew(p) @ R, np.zeros((3, 3)), R)


def coadjoint(X: ArrayLike) -> np.ndarray:
    """Ad^-T (..., 6, 6) = [[R, 0], [skew(p) R, R]]: wrenches [force; torque] in B to wrenches in A; keeps power."""
    R, p = _parts(_check_pose(X))
    return vec.blocks(R, np.zeros((3, 3)), vec.skew(p) @ R, R)


def ad(twist: ArrayLike) -> np.ndarray:
    """The Lie bracket (..., 6, 6): ad(a) @ b = vee(hat(a) hat(b) - hat(b) hat(a))."""
    xi = ck.array("twist", twist, ck.TWIST)
    W, V = vec.skew(xi[..., 3:]), vec.skew(xi[..., :3])
    return vec.blocks(W, V, np.zeros((3, 3)), W)


def exp(twist: ArrayLike) -> np.ndarray:
    """The pose (..., 4, 4) reached by the constant body `twist` in one second, from the identity."""
    xi = ck.array("twist", twist, ck.TWIST)
    v, w = xi[..., :3], xi[..., 3:]
    x = series.squared_angle(w)
    W = vec.skew(w)
    R = np.eye(3) + _at(series.sinc(x)) * W + _at(series.cosc(x)) * (W @ W)
    return _pose(R, vec.multiply(_so3_jacobian(x, W), v))


def log(X: ArrayLike) -> np.ndarray:
    """The twist (..., 6) with the smallest angle, at most pi, with exp(log(X)) = X.

    Accurate to rounding from angle 0 to pi; at pi the axis and its opposite give the same pose, and either may come.
    """
    R, p = _parts(_check_pose(X))
    w = quaternion.log(quaternion.from_matrix(R))
    v = vec.multiply(_so3_jacobian_inverse(series.squared_angle(w), vec.skew(w)), p)
    return np.concatenate([v, w], axis=-1)


def left_jacobian(twist: ArrayLike) -> np.ndarray:
    """J (..., 6, 6): exp(xi + d) = exp(J d) exp(xi) to first order; the sum of ad(xi)^n / (n + 1)!.

    ad(xi) is skew(angular + eps linear) in dual numbers, so the blocks are SO(3)'s Jacobian and its derivative in the
    direction of the linear part.
    """
    v, w, x, W, V = _jacobian_parts(twist)
    s = _at(2.0 * vec.dot(w, v))
    Q = _at(series.cosc(x)) * V + _at(series.sinc3(x)) * (W @ V + V @ W)
    Q = Q + s * (_at(series.cosc_slope(x)) * W + _at(series.sinc3_slope(x)) * (W @ W))
    J = _so3_jacobian(x, W)
    return vec.blocks(J, Q, np.zeros((3, 3)), J)


def left_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """J^-1 (..., 6, 6): log(exp(d) exp(xi)) = xi + J^-1 d to first order; InputError at angles 2 pi, 4 pi, ..."""
    v, w, x, W, V = _jacobian_parts(twist)
    Q = _at(series.cotc(x)) * (W @ V + V @ W) + _at(2.0 * vec.dot(w, v) * series.cotc_slope(x)) * (W @ W) - 0.5 * V
    J = _so3_jacobian_inverse(x, W)
    return vec.blocks(J, Q, np.zeros((3, 3)), J)


def right_jacobian(twist: ArrayLike) -> np.ndarray:
    """J (..., 6, 6): exp(xi + d) = exp(xi) exp(J d) to first order; the left one at -xi."""
    return left_jacobian(-ck.array("twist", twist, ck.TWIST))


def right_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """J^-1 (..., 6, 6): log(exp(xi) exp(d)) = xi + J^-1 d to first order; InputError at angles 2 pi, 4 pi, ..."""
    return left_jacobian_inverse(-ck.array("twist", twist, ck.TWIST))


def interpolate(X0: ArrayLike, X1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """X0 exp(t log(X0^-1 X1)) (..., 4, 4): the screw from `X0` (t = 0) to `X1` (t = 1) at constant body twist."""
    A, B, s = ck.arrays(("X0", X0, ck.MATRIX4), ("X1", X1, ck.MATRIX4), ("t", t, ck.SCALAR))
    A = ck.pose("X0", A)
    return A @ exp(s[..., None] * log(inverse(A) @ ck.pose("X1", B)))


def _check_pose(X: ArrayLike) -> np.ndarray:
    return ck.pose("X", ck.array("X", X, ck.MATRIX4))


def _parts(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X[..., :3, :3], X[..., :3, 3]


def _pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    out = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 4, 4))
    out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = R, p, 1.0
    return out


def _at(scalar: np.ndarray) -> np.ndarray:
    return np.asarray(scalar)[..., None, None]


def _jacobian_parts(twist: ArrayLike) -> tuple[np.ndarray, ...]:
    xi = ck.array("twist", twist, ck.TWIST)
    v, w = xi[..., :3], xi[..., 3:]
    return v, w, series.squared_angle(w), vec.skew(w), vec.skew(v)


def _so3_jacobian(x: np.ndarray, W: np.ndarray) -> np.ndarray:
    return np.eye(3) + _at(series.cosc(x)) * W + _at(series.sinc3(x)) * (W @ W)


def _so3_jacobian_inverse(x: np.ndarray, W: np.ndarray) -> np.ndarray:
    return np.eye(3) - 0.5 * W + _at(series.cotc(x)) * (W @ W)
