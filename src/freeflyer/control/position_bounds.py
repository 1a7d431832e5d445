"""Position limits of joints as rows of a step of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freeflyer.control.limits import Contacts, Limit
from freeflyer.control.state import Piece
from freeflyer.errors import InputError
from freeflyer.kernels.control.layout import POSITIONS
from freeflyer.model.model import Model
from freeflyer.tolerances import IK_LIMIT_GAP


@dataclass(frozen=True, eq=False)
class PositionBounds(Limit):
    """Position limits (m,) of joints of one coordinate: names, entries of q and of the tree's v, ends."""

    names: tuple[str, ...]
    at: np.ndarray
    coordinates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @staticmethod
    @lru_cache(maxsize=64)
    def of(model: Model, limits: bool) -> PositionBounds:
        """Those of all joints that have some."""
        tree = model.tree
        bounded = np.isfinite(tree.position_lower) | np.isfinite(tree.position_upper)
        joints = [j for j in tree.joints if j.nq == j.nv == 1 and bounded[j.iv]] if limits else []
        at, iv = np.array([j.iq for j in joints], int), np.array([j.iv for j in joints], int)
        return PositionBounds(tuple([j.name for j in joints]), at, iv, tree.position_lower[iv], tree.position_upper[iv])

    def piece(self, model: Model, columns: np.ndarray, contacts: Contacts) -> Piece:
        """A row for each joint: how it follows the model's velocities, how far it may go."""
        places = [int(x) for pair in zip(self.at, self.coordinates) for x in pair]
        return Piece("contacts", self.name, POSITIONS, len(self.names), places, constants=[*self.lower, *self.upper])

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

    def active(self, q: np.ndarray) -> tuple[str, ...]:
        """Joints that stand at a limit."""
        x = q[self.at]
        near = (x < self.lower + IK_LIMIT_GAP) | (x > self.upper - IK_LIMIT_GAP)
        return tuple(name for name, at in zip(self.names, near) if at)
