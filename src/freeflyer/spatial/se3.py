"""Poses of rigid bodies, SE(3): homogeneous matrices X_AB (4, 4) that turn points in B into points in A.

Twists are [linear; angular]. Leading axes broadcast. InputError, with the reason: for poses that are none (rotation orthogonal
within 1e-6 and right-handed, last row 0 0 0 1), wrong shapes, NaN and infinities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, _series as series, quaternion

__all__ = [
    "ad", "adjoint", "coadjoint", "exp", "from_position_quaternion", "from_position_rotation", "hat", "interpolate",
    "inverse", "left_jacobian", "left_jacobian_inverse", "log", "right_jacobian", "right_jacobian_inverse", "skew",
    "to_position_quaternion", "vee"]


def skew(vector: ArrayLike) -> np.ndarray:
    """Skew-symmetric matrix of a vector: skew(a) @ b = a x b; (..., 3, 3), in the unit of `vector`."""
    return series.skew(ck.array("vector", vector, ck.POINT))


def hat(twist: ArrayLike) -> np.ndarray:
    """Element of se(3) of a twist: [[skew(angular), linear], [0, 0]]; (..., 4, 4)."""
    xi = ck.array("twist", twist, ck.TWIST)
    out = np.zeros((*xi.shape[:-1], 4, 4))
    out[..., :3, :3], out[..., :3, 3] = series.skew(xi[..., 3:]), xi[..., :3]
    return out


def vee(matrix: ArrayLike) -> np.ndarray:
    """Twist of an element of se(3); undoes `hat`; (..., 6), [linear; angular], m/s and rad/s.

    Raises: InputError for a matrix whose block is not skew or whose last row is not zero, within 1e-6 of its largest entry."""
    M = ck.array("matrix", matrix, ck.MATRIX4)
    S = M[..., :3, :3]
    error = np.maximum(np.abs(S + np.swapaxes(S, -1, -2)).max(axis=(-2, -1)), np.abs(M[..., 3, :]).max(axis=-1))
    ck.vanishing("matrix", error, np.abs(M).max(axis=(-2, -1)), "an element of se(3): skew block, last row zero")
    W = 0.5 * (S - np.swapaxes(S, -1, -2))
    return np.concatenate([M[..., :3, 3], np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)], axis=-1)


def from_position_rotation(position: ArrayLike, rotation: ArrayLike) -> np.ndarray:
    """Pose of a position and a rotation matrix, (..., 4, 4)."""
    p, R = ck.arrays(("position", position, ck.POINT), ("rotation", rotation, ck.MATRIX3))
    return _pose(ck.rotation("rotation", R), p)


def from_position_quaternion(position: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Pose of a position and a unit quaternion, (..., 4, 4)."""
    p, q = ck.arrays(("position", position, ck.POINT), ("q", q, ck.QUATERNION))
    return _pose(quaternion.to_matrix(q), p)


def to_position_quaternion(X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Position (..., 3), m, and unit quaternion (..., 4), with w >= 0, of a pose."""
    R, p = _parts(X)
    return p.copy(), quaternion.from_matrix(R)


def inverse(X: ArrayLike) -> np.ndarray:
    """Inverse pose X_BA of X_AB, (..., 4, 4)."""
    R, p = _parts(X)
    Rt = np.swapaxes(R, -1, -2)
    return _pose(Rt, -series.multiply(Rt, p))


def adjoint(X: ArrayLike) -> np.ndarray:
    """Adjoint (..., 6, 6), [[R, skew(p) R], [0, R]], of the pose X_AB: twists in B to twists in A. Ad(X Y) = Ad(X) Ad(Y)."""
    R, p = _parts(X)
    return series.blocks(R, series.skew(p) @ R, np.zeros((3, 3)), R)


def coadjoint(X: ArrayLike) -> np.ndarray:
    """Coadjoint Ad^-T (..., 6, 6), [[R, 0], [skew(p) R, R]], of the pose X_AB: wrenches in B to wrenches in A; keeps power."""
    R, p = _parts(X)
    return series.blocks(R, np.zeros((3, 3)), series.skew(p) @ R, R)


def ad(twist: ArrayLike) -> np.ndarray:
    """Matrix of the Lie bracket, (..., 6, 6): ad(a) @ b = vee(hat(a) hat(b) - hat(b) hat(a))."""
    xi = ck.array("twist", twist, ck.TWIST)
    W, V = series.skew(xi[..., 3:]), series.skew(xi[..., :3])
    return series.blocks(W, V, np.zeros((3, 3)), W)


def exp(twist: ArrayLike) -> np.ndarray:
    """Pose reached by a constant body twist in one second, from the identity; (..., 4, 4).

    Examples:
        >>> X = ff.spatial.se3.exp(np.array([1, 0, 0, 0, 0, 1]) * np.pi / 2)  # a quarter of a circle of 1 m
        >>> np.round(X[:2, 3], 6).tolist()
        [1.0, 1.0]
    """
    xi = ck.array("twist", twist, ck.TWIST)
    v, w = xi[..., :3], xi[..., 3:]
    x = series.squared_angle(w)
    W = series.skew(w)
    R = np.eye(3) + _at(series.sinc(x)) * W + _at(series.cosc(x)) * (W @ W)
    return _pose(R, series.multiply(_so3_jacobian(x, W), v))


def log(X: ArrayLike) -> np.ndarray:
    """Twist (..., 6) with the smallest angle, at most pi, and exp(log(X)) = X.

    Accurate to rounding from angle 0 to pi; at pi the axis and its opposite give the same pose, and either is returned."""
    R, p = _parts(X)
    w = quaternion.log(quaternion.from_matrix(R))
    v = series.multiply(_so3_jacobian_inverse(series.squared_angle(w), series.skew(w)), p)
    return np.concatenate([v, w], axis=-1)


def left_jacobian(twist: ArrayLike) -> np.ndarray:
    """Left Jacobian J of exp: exp(xi + d) = exp(J d) exp(xi) to first order; (..., 6, 6).

    The sum of ad(xi)^n / (n + 1)!. ad(xi) is skew(angular + eps linear) in dual numbers. The blocks are therefore SO(3)'s
    Jacobian and its derivative in the direction of the linear part."""
    v, w, x, W, V = _jacobian_parts(twist)
    s = _at(2.0 * series.dot(w, v))
    Q = _at(series.cosc(x)) * V + _at(series.sinc3(x)) * (W @ V + V @ W)
    Q = Q + s * (_at(series.cosc_slope(x)) * W + _at(series.sinc3_slope(x)) * (W @ W))
    J = _so3_jacobian(x, W)
    return series.blocks(J, Q, np.zeros((3, 3)), J)


def left_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """Inverse of the left Jacobian: log(exp(d) exp(xi)) = xi + J^-1 d to first order, for angles below pi; (..., 6, 6).

    Raises: InputError at angles 2 pi, 4 pi, ..."""
    v, w, x, W, V = _jacobian_parts(twist)
    Q = _at(series.cotc(x)) * (W @ V + V @ W) + _at(2.0 * series.dot(w, v) * series.cotc_slope(x)) * (W @ W) - 0.5 * V
    J = _so3_jacobian_inverse(x, W)
    return series.blocks(J, Q, np.zeros((3, 3)), J)


def right_jacobian(twist: ArrayLike) -> np.ndarray:
    """Right Jacobian J of exp: exp(xi + d) = exp(xi) exp(J d) to first order; the left one at -xi; (..., 6, 6)."""
    return left_jacobian(-ck.array("twist", twist, ck.TWIST))


def right_jacobian_inverse(twist: ArrayLike) -> np.ndarray:
    """Inverse of the right Jacobian: log(exp(xi) exp(d)) = xi + J^-1 d to first order, for angles below pi; (..., 6, 6).

    Raises: InputError at angles 2 pi, 4 pi, ..."""
    return left_jacobian_inverse(-ck.array("twist", twist, ck.TWIST))


def interpolate(X0: ArrayLike, X1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Pose X0 exp(t log(X0^-1 X1)): the screw from `X0` (t = 0) to `X1` (t = 1) at constant body twist; (..., 4, 4)."""
    A, B, s = ck.arrays(("X0", X0, ck.MATRIX4), ("X1", X1, ck.MATRIX4), ("t", t, ck.SCALAR))
    A = ck.pose("X0", A)
    return A @ exp(s[..., None] * log(inverse(A) @ ck.pose("X1", B)))


def _parts(X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a pose, checked."""
    X = ck.pose("X", ck.array("X", X, ck.MATRIX4))
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
    return v, w, series.squared_angle(w), series.skew(w), series.skew(v)


def _so3_jacobian(x: np.ndarray, W: np.ndarray) -> np.ndarray:
    return np.eye(3) + _at(series.cosc(x)) * W + _at(series.sinc3(x)) * (W @ W)


def _so3_jacobian_inverse(x: np.ndarray, W: np.ndarray) -> np.ndarray:
    return np.eye(3) - 0.5 * W + _at(series.cotc(x)) * (W @ W)


EXPRESSIONS = ("body", "mixed", "world")


def relative_transform(X_WB: np.ndarray, source: str, target: str) -> np.ndarray:
    """X_TS (..., 4, 4) from the frame of the expression `source` to that of `target`."""
    return _frame_of_expression(X_WB, target, "target") @ inverse(_frame_of_expression(X_WB, source, "source"))


def _frame_of_expression(X_WB: np.ndarray, expression: str, role: str) -> np.ndarray:
    if not isinstance(expression, str) or expression not in EXPRESSIONS:
        text = f"{role} is {expression!r}; expected one of {', '.join(map(repr, EXPRESSIONS))}"
        raise InputError(f"{text} (body axes; body origin, world axes; world origin and axes).", **{role: expression})
    X = X_WB.copy()
    if expression != "world":
        X[..., :3, 3] = 0.0
    if expression == "body":
        X[..., :3, :3] = np.eye(3)
    return X
