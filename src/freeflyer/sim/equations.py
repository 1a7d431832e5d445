"""The equations that a simulation integrates: of a tree or a closed robot, free or under a constraint set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.contacts.projection import project_configuration, project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics.equations import forward_dynamics
from freeflyer.dynamics.frames import Expressed
from freeflyer.dynamics.loads import Wrenches
from freeflyer.model.model import Model

Loads = Wrenches | Callable[[float, np.ndarray, np.ndarray], Wrenches]
NO_FORCES: Mapping[str, np.ndarray] = {}


@dataclass(frozen=True, eq=False)
class Equations:
    """constraints: the set that holds now, or None. external: wrenches, or a function (t, q, v) that gives them."""

    model: Model
    constraints: ConstraintSet | None = None
    external: Loads = None
    expressed: Expressed = "body"
    gravity: ArrayLike | None = None

    def accelerations(self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """(..., nv)."""
        return self.solve(t, q, v, tau)[0]

    def solve(self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Accelerations, and the wrenches {name: (..., 6)} of the constraints, in their frames' axes."""
        loads: Any = {"external": self.external(t, q, v) if callable(self.external) else self.external}
        loads |= {"expressed": self.expressed, "gravity": self.gravity}
        if self.constraints is None:
            return forward_dynamics(self.model, q, v, tau, **loads), NO_FORCES
        found = constrained_dynamics(self.model, q, v, tau, constraints=self.constraints, **loads)
        return found.a, found.forces

    def project(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest state that the constraints admit: the drift of a step is removed."""
        if self.constraints is None or not self.constraints.names:
            return q, v
        if self.without_rolling.names:
            q = project_configuration(self.model, q, constraints=self.without_rolling)
        return q, project_velocity(self.model, q, v, constraints=self.constraints)

    def with_constraints(self, constraints: ConstraintSet | None) -> Equations:
        """The same, another set holding."""
        return replace(self, constraints=constraints)

    @cached_property
    def without_rolling(self) -> ConstraintSet:
        """The set without what rolls, which holds velocities alone."""
        assert self.constraints is not None
        return replace(self.constraints, rolling=())


def anchor(constraints: ConstraintSet, q: np.ndarray) -> ConstraintSet:
    """The set, held at q where it is held nowhere yet."""
    held = constraints.anchored(q)
    contacts = tuple([new if c.at is None else c for c, new in zip(constraints.contacts, held.contacts)])
    return replace(constraints, contacts=contacts, posture=held.posture if constraints.posture is None else constraints.posture)
