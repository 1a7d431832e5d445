"""Robots put on the floor: points of their feet in the world, and the base at the height at which they touch it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import contact_points
from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.model import Model


def points_at(foot: Contact, X: np.ndarray) -> np.ndarray:
    """Points (..., c, 3) of a foot whose frame is at X (..., 4, 4), m."""
    return np.asarray(contact_points(foot) @ np.swapaxes(X[..., :3, :3], -1, -2) + X[..., None, :3, 3])


def foot_points(model: Model, q: ArrayLike, feet: Sequence[Contact]) -> np.ndarray:
    """Points (..., c, 3) of all feet in the world at q (..., nq), m."""
    return np.concatenate([points_at(foot, frame_pose(model, q, foot.frame)) for foot in feet], axis=-2)


def put_on_floor(model: Model, q: np.ndarray, feet: Sequence[Contact], height: Callable[[np.ndarray], Any] = np.min) -> np.ndarray:
    """A copy of q (nq,), its floating base lowered by the height (m) of the feet's points: that of the lowest, or their mean."""
    found, base = q.copy(), next(j for j in model.tree.joints if j.kind == "free")
    found[base.iq + 2] -= height(foot_points(model, q, feet)[:, 2])
    return found
