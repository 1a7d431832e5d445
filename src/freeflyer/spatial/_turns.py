"""Rotation vectors of matrices that are known to be rotations, without the checks of what users pass."""

from __future__ import annotations

import numpy as np

from freeflyer.spatial import quaternion
from freeflyer.tolerances import NEAR_HALF_A_TURN


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """log(from_matrix(R)) (..., 3) of rotation matrices that are known to be such, in a tenth of the time."""
    w = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    sine, cosine = np.sqrt((w * w).sum(axis=-1)), 0.5 * (R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2] - 1.0)
    if (cosine < NEAR_HALF_A_TURN).any():  # where the antisymmetric part vanishes
        return quaternion.log(quaternion.from_matrix(R))
    factor = np.where(sine > 1e-9, np.arctan2(sine, cosine) / np.maximum(sine, 1e-9), 1.0)
    return np.asarray(w * factor[..., None])
