"""A simulated robot at one time, as events see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.model import Model
from freeflyer.sim.equations import Equations


@dataclass(frozen=True, eq=False)
class EventState:
    """State of a simulated robot at one time, as events get it.

    Attributes:
        equations: Model, constraints, external wrenches and gravity.
        t: Time, s.
        q: (nq,) array, configuration, m and rad.
        v: (nv,) array, velocity, m/s and rad/s.
        law: law(t, q, v), the generalised forces that act, N and N m.
        model: Of the equations.
        constraints: The set that holds at this time.
        tau: (nv,) array, forces of the law, N and N m; computed at first access, as a and forces.
        a: (nv,) array, acceleration, m/s^2 and rad/s^2.
        forces: Wrenches (6,) of the constraints by name, as constrained_dynamics gives them.

    Examples:
        The joint's largest acceleration (rad/s^2), where its rate passes zero:

        >>> rates = []
        >>> turn = ff.sim.Event("turn", lambda state: state.v[0], action=lambda state: rates.append(float(state.a[0])))
        >>> run = ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], dt=0.01, duration=0.5, events=turn)
        >>> print(f"{rates[0]:.2f}")
        59.46
    """

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
