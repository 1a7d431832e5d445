"""A robot as lines from link to link, to draw where it stands."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.description import WORLD
from freeflyer.model.model import Model

MIN_LINE_LENGTH = 0.01  # m: shorter lines are left out


def bones(model: Model, q: np.ndarray) -> np.ndarray:
    """(n, 2, 3): from each link's parent to it, and between the ends of loops' bars, in the world at q (nq,), m."""
    at = {x.name: frame_pose(model, q, x.name)[:3, 3] for x in model.description.links}
    lines = [(at[j.parent], at[j.child]) for j in model.description.joints if j.parent != WORLD]
    sites = {s.name: s.link for s in model.description.sites}
    for loop in model.description.loops:
        for frame in (loop.frame_a, loop.frame_b):
            lines.append((at[sites.get(frame, frame)], frame_pose(model, q, frame)[:3, 3]))
    return np.array([line for line in lines if np.linalg.norm(line[1] - line[0]) > MIN_LINE_LENGTH])
