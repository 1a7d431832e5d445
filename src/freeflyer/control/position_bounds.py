"""Position limits of joints as rows of a step of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.constraints.closed import velocity_map
from freeflyer.errors import InputError
from freeflyer.model.model import Model
from freeflyer.tolerances import IK_LIMIT_GAP


@dataclass(frozen=True)
class PositionBounds:
    """Position limits of joints of one coordinate: names, entries of q and of the tree's v, ends."""

    model: Model
    names: tuple[str, ...]
    at: np.ndarray
    rates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    own: np.ndarray
    none: np.ndarray

    @staticmethod
    def of(model: Model, limits: bool) -> PositionBounds:
        """Those of all joints that have some."""
        tree = model.tree
        low, high = tree.position_lower, tree.position_upper
        places = [(j.name, j.iq, j.iv) for j in tree.joints if j.nq == j.nv == 1]
        places = [p for p in places if limits and (np.isfinite(low[p[2]]) or np.isfinite(high[p[2]]))]
        rates = np.array([v for _, _, v in places], int)
        names, at = tuple(name for name, _, _ in places), np.array([i for _, i, _ in places], int)
        return PositionBounds(model, names, at, rates, low[rates], high[rates], np.eye(tree.nv)[rates], np.zeros(len(rates)))

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
        """(A, lower, upper) of a step that moves no joint beyond its limits, as far as it is straight."""
        x = q[self.at]
        return self._directions(q), self.lower - x, self.upper - x

    def _directions(self, q: np.ndarray) -> np.ndarray:
        """How joints with limits follow the model's velocities (m, nv)."""
        return self.own if self.model.reduction is None else velocity_map(self.model, q)[self.rates]

    def active(self, q: np.ndarray) -> tuple[str, ...]:
        """Joints that stand at a limit."""
        x = q[self.at]
        near = (x < self.lower + IK_LIMIT_GAP) | (x > self.upper - IK_LIMIT_GAP)
        return tuple(name for name, at in zip(self.names, near) if at)
