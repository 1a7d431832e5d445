"""Position limits of joints as rows of a step of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freeflyer.errors import InputError
from freeflyer.linkages.closed.closing import velocity_map
from freeflyer.model.model import Model
from freeflyer.tolerances import IK_LIMIT_GAP


@dataclass(frozen=True)
class PositionBounds:
    """Position limits (m,) of joints of one coordinate: names, entries of q and of the tree's v, ends. `rates` (m, nv): how they
    follow velocities of a tree; `free` (m,): zeros."""

    model: Model
    names: tuple[str, ...]
    at: np.ndarray
    coordinates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    rates: np.ndarray
    free: np.ndarray

    @staticmethod
    @lru_cache(maxsize=64)
    def of(model: Model, limits: bool) -> PositionBounds:
        """Those of all joints that have some."""
        tree = model.tree
        bounded = np.isfinite(tree.position_lower) | np.isfinite(tree.position_upper)
        joints = [j for j in tree.joints if j.nq == j.nv == 1 and bounded[j.iv]] if limits else []
        at, iv = np.array([j.iq for j in joints], int), np.array([j.iv for j in joints], int)
        lower, upper, rates = tree.position_lower[iv], tree.position_upper[iv], np.eye(tree.nv)[iv]
        return PositionBounds(model, tuple([j.name for j in joints]), at, iv, lower, upper, rates, np.zeros(len(iv)))

    def check(self, q: np.ndarray) -> None:
        """InputError where q is beyond a limit."""
        beyond = np.maximum(self.lower - q[self.at], q[self.at] - self.upper)
        if (beyond > IK_LIMIT_GAP).any():
            k = int(np.argmax(beyond))
            raise InputError(
                f"the start is {beyond[k]:.3g} beyond the limits of {self.names[k]!r}, {self.lower[k]:g} to {self.upper[k]:g}: "
                "start within them, or pass limits=False",
                joint=self.names[k],
            )

    def gap(self, q: np.ndarray) -> float:
        """By how much the worst joint is beyond its limits."""
        x = q[self.at]
        return float(np.maximum(self.lower - x, x - self.upper).max(initial=0.0))

    def rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(G, lower, upper) of a step: how joints with limits follow the model's velocities (m, nv), how far they may go."""
        x = q[self.at]
        G = self.rates if self.model.reduction is None else velocity_map(self.model, q)[self.coordinates]
        return G, self.lower - x, self.upper - x

    def active(self, q: np.ndarray) -> tuple[str, ...]:
        """Joints that stand at a limit."""
        x = q[self.at]
        near = (x < self.lower + IK_LIMIT_GAP) | (x > self.upper - IK_LIMIT_GAP)
        return tuple(name for name, at in zip(self.names, near) if at)
