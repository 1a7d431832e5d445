"""A simulated robot at one time, as events see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freeflyer.constraints.sets import ConstraintSet
from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.model import Model
from freeflyer.sim.equations import Equations


@dataclass(frozen=True, eq=False)
class State:
    """t (s), q (nq,), v (nv,). law(t, q, v): the generalised forces that act. Computed at first access: tau (nv,) of that
    law, a (nv,), forces (name -> (6,) of the constraints, as constrained_dynamics gives them)."""

    equations: Equations
    t: float
    q: np.ndarray
    v: np.ndarray
    law: Callable[[float, np.ndarray, np.ndarray], np.ndarray]

    @property
    def model(self) -> Model:
        return self.equations.model

    @property
    def constraints(self) -> ConstraintSet | None:
        """The set that holds at this time."""
        return self.equations.constraints

    @cached_property
    def tau(self) -> np.ndarray:
        return self.law(self.t, self.q, self.v)

    @property
    def a(self) -> np.ndarray:
        return self._solution[0]

    @property
    def forces(self) -> Mapping[str, np.ndarray]:
        return self._solution[1]

    def pose(self, frame: str) -> np.ndarray:
        """frame_pose (4, 4) of a frame, computed once."""
        if frame not in self._poses:
            self._poses[frame] = frame_pose(self.model, self.q, frame)
        return self._poses[frame]

    @cached_property
    def _poses(self) -> dict[str, np.ndarray]:
        return {}

    @cached_property
    def _solution(self) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        return self.equations.solve(self.t, self.q, self.v, self.tau)
