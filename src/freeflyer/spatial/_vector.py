"""3-vectors with leading axes; np.cross and einsum cost several times as much on a single vector."""

from __future__ import annotations

import numpy as np


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a . b (...,)."""
    return np.sum(a * b, axis=-1)


def norm(a: np.ndarray) -> np.ndarray:
    """|a| (...,) of 3-vectors, without over- or underflow of the squares."""
    return np.asarray(np.hypot(np.hypot(a[..., 0], a[..., 1]), a[..., 2]))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b (..., 3)."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def skew(a: np.ndarray) -> np.ndarray:
    """The matrix (..., 3, 3) with skew(a) @ b = a x b."""
    out = np.zeros((*a.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2] = -a[..., 2], a[..., 1]
    out[..., 1, 0], out[..., 1, 2] = a[..., 2], -a[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -a[..., 1], a[..., 0]
    return out


def multiply(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A (..., m, n) on vectors b (..., n)."""
    return (A @ b[..., None])[..., 0]


def blocks(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """[[A, B], [C, D]] (..., 6, 6) of blocks (..., 3, 3) that broadcast together."""
    batch = np.broadcast_shapes(A.shape, B.shape, C.shape, D.shape)[:-2]
    out = np.empty((*batch, 6, 6))
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, :3], out[..., 3:, 3:] = A, B, C, D
    return out
