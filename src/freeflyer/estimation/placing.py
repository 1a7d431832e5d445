"""The pose of the base from fixed soles: the known points of the soles, taken as one body, fitted to their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.estimation.stance import sole_points
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.rotations import quaternion


@public
def base_over_soles(model: Model, q: np.ndarray, feet: Sequence[Contact], ground: np.ndarray) -> tuple[np.ndarray, float]:
    """(q, misfit): the base (free) put where the soles' points (c, 3) best lie on `ground` (c, 3), least squares; the largest
    distance that is left, m. Joints stay. Errors: InputError for other numbers of points, or points on one line."""
    model = model.tree
    here = sole_points(model, q, feet)
    if ground.shape != here.shape:
        raise InputError(f"ground has shape {ground.shape}, expected {here.shape}: a place for each point of the feet")
    a, b = here.mean(axis=0), ground.mean(axis=0)
    U, sizes, V = np.linalg.svd((here - a).T @ (ground - b))
    if not sizes[1] > 1e-12:
        raise InputError("the points of the feet lie on one line: they do not determine the base's orientation")
    R = (U * [1.0, 1.0, np.sign(np.linalg.det(U @ V))] @ V).T
    X = frame_pose(model, q, model.joints[0].child)
    x = q.copy()
    x[:3] = R @ (X[:3, 3] - a) + b
    x[3:7] = quaternion(R @ X[:3, :3])[[1, 2, 3, 0]]
    return x, float(np.linalg.norm((here - a) @ R.T + b - ground, axis=1).max())
