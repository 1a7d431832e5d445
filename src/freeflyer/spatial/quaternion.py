"""Unit quaternions x, y, z, w as rotations; q and -q are the same rotation. Leading axes broadcast.

A quaternion q_AB turns coordinates in frame B into coordinates in frame A, as the matrix R_AB does; q_AC = q_AB q_BC. Functions
that need a unit quaternion accept it within 1e-6 and use it normalised. InputError: for other norms, wrong shapes, NaN and
infinities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, _series as series
from freeflyer.tolerances import NEAR_HALF_A_TURN

__all__ = [
    "conjugate", "exp", "from_axis_angle", "from_matrix", "from_rpy", "from_wxyz", "log", "multiply", "normalize",
    "random", "rotate", "slerp", "to_matrix", "to_rpy", "to_wxyz"]


def normalize(q: ArrayLike) -> np.ndarray:
    """Unit quaternion q / |q|, (..., 4), of any but a zero one (InputError)."""
    q = ck.array("q", q, ck.QUATERNION)
    scale = np.abs(q).max(axis=-1, keepdims=True)  # first, so that no square over- or underflows
    if (scale == 0.0).any():
        raise InputError("q holds a zero quaternion, which has no direction; expected at least one nonzero entry.")
    scaled = q / scale
    return scaled / np.sqrt(series.dot(scaled, scaled))[..., None]


def multiply(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Hamilton product a b, of any norms: first b turns, then a; (..., 4)."""
    a, b = ck.arrays(("a", a, ck.QUATERNION), ("b", b, ck.QUATERNION))
    return _product(a, b)


def conjugate(q: ArrayLike) -> np.ndarray:
    """Conjugate (-x, -y, -z, w), the inverse of a unit quaternion; (..., 4)."""
    return ck.array("q", q, ck.QUATERNION) * _CONJUGATE


def rotate(q: ArrayLike, vector: ArrayLike) -> np.ndarray:
    """Vector turned by a unit quaternion: q v q*, to_matrix(q) @ v; (..., 3), in the unit of `vector`."""
    q, v = ck.arrays(("q", q, ck.QUATERNION), ("vector", vector, ck.POINT))
    q = ck.unit_quaternion("q", q)
    u = q[..., :3]
    t = 2.0 * series.cross(u, v)
    return v + q[..., 3:] * t + series.cross(u, t)


def to_matrix(q: ArrayLike) -> np.ndarray:
    """Rotation matrix of a unit quaternion, (..., 3, 3)."""
    return rotation_matrix(ck.unit_quaternion("q", ck.array("q", q, ck.QUATERNION)))


def from_matrix(R: ArrayLike) -> np.ndarray:
    """Quaternion with w >= 0 of a rotation matrix, (..., 4).

    R determines 4 q q^T; the column with the largest diagonal entry is 4 q_i q with |q_i| >= 1/2, so that nothing cancels at any
    angle."""
    R = ck.rotation("R", ck.array("R", R, ck.MATRIX3))
    K = np.empty((*R.shape[:-2], 4, 4))
    d0, d1, d2 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    K[..., 0, 0], K[..., 1, 1] = 1.0 + d0 - d1 - d2, 1.0 - d0 + d1 - d2
    K[..., 2, 2], K[..., 3, 3] = 1.0 - d0 - d1 + d2, 1.0 + d0 + d1 + d2
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        K[..., i, j] = K[..., j, i] = R[..., i, j] + R[..., j, i]
        K[..., k, 3] = K[..., 3, k] = R[..., j, i] - R[..., i, j]
    best = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(K, best[..., None, None], axis=-1)[..., 0]
    return _upper(q / np.sqrt(series.dot(q, q))[..., None])


def exp(rotation_vector: ArrayLike) -> np.ndarray:
    """Quaternion of a turn about `rotation_vector` by its length, (..., 4)."""
    w = ck.array("rotation_vector", rotation_vector, ck.ROTATION_VECTOR)
    x = 0.25 * series.squared_angle(w)
    return np.concatenate([0.5 * series.sinc(x)[..., None] * w, np.cos(np.sqrt(x))[..., None]], axis=-1)


def log(q: ArrayLike) -> np.ndarray:
    """Rotation vector, at most pi long, of the shorter way of q and -q; exp(log(q)) is q or -q; (..., 3), axis times angle, rad.

    atan2 of both half-angle parts keeps all digits from zero to pi. At exactly pi the axis of `q` itself is kept."""
    q = _upper(ck.unit_quaternion("q", ck.array("q", q, ck.QUATERNION)))
    u, w = q[..., :3], q[..., 3]
    s = series.norm(u)
    ratio = np.divide(np.arctan2(s, w), s, out=np.ones_like(s), where=s > 0.0)
    return 2.0 * ratio[..., None] * u


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> np.ndarray:
    """Quaternion of a turn by `angle` about `axis`, (..., 4)."""
    a, t = ck.arrays(("axis", axis, ck.POINT), ("angle", angle, ck.SCALAR))
    length = series.norm(a)[..., None]
    if (length == 0.0).any():
        raise InputError("axis holds a zero vector, which has no direction; expected at least one nonzero entry.")
    half = 0.5 * t[..., None]
    u = np.sin(half) * (a / length)
    return np.concatenate([u, np.broadcast_to(np.cos(half), (*u.shape[:-1], 1))], axis=-1)


def from_rpy(rpy: ArrayLike) -> np.ndarray:
    """Quaternion of URDF's angles, Rz(yaw) Ry(pitch) Rx(roll): turns about fixed axes x, then y, then z; (..., 4)."""
    half = 0.5 * ck.array("rpy", rpy, ck.RPY)
    (sr, sp, sy), (cr, cp, cy) = np.moveaxis(np.sin(half), -1, 0), np.moveaxis(np.cos(half), -1, 0)
    x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
    z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
    return np.stack([x, y, z, w], axis=-1)


def to_rpy(q: ArrayLike) -> np.ndarray:
    """Roll, pitch, yaw of URDF; (..., 3), rad; pitch in [-pi/2, pi/2], the others in [-pi, pi].

    Half sum and half difference of yaw and roll are computed apart, so from_rpy(to_rpy(q)) is exact to rounding through gimbal
    lock too. At pitch = +-pi/2 only one of them is determined; the other is taken as zero."""
    x, y, z, w = np.moveaxis(ck.unit_quaternion("q", ck.array("q", q, ck.QUATERNION)), -1, 0)
    half_difference, half_sum = np.arctan2(z - x, w + y), np.arctan2(x + z, w - y)
    pitch = 2.0 * np.arctan2(np.hypot(w + y, z - x), np.hypot(w - y, x + z)) - 0.5 * np.pi
    roll, yaw = half_sum - half_difference, half_sum + half_difference
    turn = 2.0 * np.pi
    return np.stack([roll - turn * np.round(roll / turn), pitch, yaw - turn * np.round(yaw / turn)], axis=-1)


def slerp(q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> np.ndarray:
    """Rotation between `q0` (t = 0) and `q1` or -q1 (t = 1), the shorter way at constant angular velocity; (..., 4)."""
    a, b, s = ck.arrays(("q0", q0, ck.QUATERNION), ("q1", q1, ck.QUATERNION), ("t", t, ck.SCALAR))
    a, b = ck.unit_quaternion("q0", a), ck.unit_quaternion("q1", b)
    return _product(a, exp(s[..., None] * log(_product(a * _CONJUGATE, b))))


def from_wxyz(q: ArrayLike) -> np.ndarray:
    """Quaternion in the order x, y, z, w from the order w, x, y, z (MuJoCo, Drake); (..., 4)."""
    return np.roll(ck.array("q", q, ck.QUATERNION_WXYZ), -1, axis=-1)


def to_wxyz(q: ArrayLike) -> np.ndarray:
    """Quaternion in the order w, x, y, z from the order x, y, z, w; (..., 4), w, x, y, z."""
    return np.roll(ck.array("q", q, ck.QUATERNION), 1, axis=-1)


def random(rng: np.random.Generator, shape: int | tuple[int, ...] = ()) -> np.ndarray:
    """Random rotations, uniform over SO(3); (*shape, 4), unit quaternions."""
    lead = ck.leading_shape("shape", shape)
    return normalize(ck.generator(rng).standard_normal((*lead, 4)))


_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    u, v, s, t = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    return np.concatenate([s * v + t * u + series.cross(u, v), s * t - series.dot(u, v)[..., None]], axis=-1)


def _upper(q: np.ndarray) -> np.ndarray:
    """The one of q and -q with w >= 0."""
    return np.where(q[..., 3:] < 0.0, -q, q)


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """R (..., 3, 3) of quaternions (..., 4) that are known to be unit ones: numbers of one are quicker than arrays."""
    x, y, z, w = q.tolist() if q.ndim == 1 else np.moveaxis(q, -1, 0)
    R = np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)]])
    return R if q.ndim == 1 else np.moveaxis(R, (0, 1), (-2, -1))


def turned_back(q: np.ndarray, vector: np.ndarray) -> tuple[float, float, float]:
    """R^T vector of one unit quaternion (4,): numbers are quicker than arrays."""
    (x, y, z, w), (a, b, c) = q.tolist(), vector.tolist()
    s, t, u = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return a + w * s + t * z - u * y, b + w * t + u * x - s * z, c + w * u + s * y - t * x


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """log(from_matrix(R)) (..., 3) of rotation matrices that are known to be such, in a tenth of the time."""
    w = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine, cosine = np.sqrt((w * w).sum(axis=-1)), 0.5 * (R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2] - 1.0)
    if (cosine < NEAR_HALF_A_TURN).any():  # where the antisymmetric part vanishes
        return log(from_matrix(R))
    factor = np.where(sine > 1e-9, np.arctan2(sine, cosine) / np.maximum(sine, 1e-9), 1.0)
    return np.asarray(w * factor[..., None])
