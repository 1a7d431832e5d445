"""Feet: the frames and points by which a robot may touch the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.model.model import Model
from freeflyer.model.public import public


@dataclass(frozen=True, eq=False)
class Foot:
    """A rigid foot: the name of a frame, and points (c, 3) of its sole in that frame's axes, m."""

    frame: str
    points: np.ndarray


@public
def feet_of(model: Model) -> tuple[Foot, ...]:
    """Feet by their names: a frame `..._sole` with the frames `..._sole_*` of its corners. Errors: InputError if there are none."""
    model = model.tree
    found = []
    for name in model.frame_names:
        corners = [n for n in model.frame_names if n.startswith(f"{name}_")] if name.endswith("_sole") else []
        if corners:
            X = np.linalg.inv(frame_pose(model, model.neutral, name))
            found.append(Foot(name, np.array([(X @ frame_pose(model, model.neutral, n))[:3, 3] for n in corners])))
    if not found:
        raise InputError(
            f"{model.name!r} has no frames named '..._sole' with corners '..._sole_*': say what its feet are, "
            "feet=[Foot(frame, points), ...]",
            robot=model.name,
        )
    return tuple(found)


def checked_feet(model: Model, feet: Sequence[Foot] | None) -> tuple[Foot, ...]:
    """The feet given, or those of the model; their frames exist and their points are (c, 3)."""
    chosen = feet_of(model) if feet is None else tuple(feet)
    if not chosen:
        raise InputError("no foot is given: nothing touches the ground")
    for foot in chosen:
        model.frame(foot.frame)
        points = np.asarray(foot.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.isfinite(points).all():
            raise InputError(f"the points of foot {foot.frame!r} must be finite numbers of shape (c, 3), got {points.shape}")
    return chosen


def point_basis(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(U (3c, k), T (6, k)): an orthonormal basis of the point forces that make wrenches, and these wrenches.

    Forces U y make the wrench T y at the frame's origin with the least sum of squares: |U y| = |y|.
    """
    S = np.hstack([np.vstack([np.eye(3), _cross(p)]) for p in points])
    _, values, rows = np.linalg.svd(S, full_matrices=False)
    U = rows[values > 1e-9 * values[0]].T
    return U, S @ U


def _cross(p: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
