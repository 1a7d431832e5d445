"""A simulated robot at one time, as events see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freeflyer.constraints.sets import ConstraintSet
from freeflyer.model.model import Model
from freeflyer.sim.equations import Equations


@dataclass(frozen=True, eq=False)
class State:
    """t (s), q (nq,), v (nv,), tau (nv,): the generalised forces that act. a (nv,), forces (name -> (6,) of the constraints, as
    constrained_dynamics gives them) are computed when they are asked for."""

    equations: Equations
    t: float
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    @property
    def model(self) -> Model:
        return self.equations.model

    @property
    def constraints(self) -> ConstraintSet | None:
        """The set that holds at this time."""
        return self.equations.constraints

    @property
    def a(self) -> np.ndarray:
        return self._solved[0]

    @property
    def forces(self) -> Mapping[str, np.ndarray]:
        return self._solved[1]

    @cached_property
    def _solved(self) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        return self.equations.solved(self.t, self.q, self.v, self.tau)
