"""The equations that a simulation integrates, and a simulated robot at one time, as events see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.contacts import ConstraintSet, check_set
from freeflyer.contacts.steps import anchor, compiled_steps
from freeflyer.dynamics import Expressed, Wrenches, forward_dynamics, frame_pose, load_forces
from freeflyer.model import Model
from freeflyer.sim.ground import check_each

Loads = Wrenches | Callable[[float, np.ndarray, np.ndarray], Wrenches]
NO_FORCES: Mapping[str, np.ndarray] = {}


def tree_forces(model: Model, q: np.ndarray, tau: np.ndarray, loads: Any = None, expressed: Expressed = "body") -> np.ndarray:
    """Forces (..., nv of the tree): tau (..., nv), which act on independent joints, and those of wrenches."""
    whole = tau
    if model.reduction:
        whole = np.zeros((*tau.shape[:-1], model.tree.nv))
        whole[..., model.reduction.split.independent] = tau
    return whole if loads is None else whole + load_forces(model.tree, q, loads, None, expressed)


@dataclass(frozen=True, eq=False)
class EventState:
    """State of a simulated robot at one time, as events get it.

    Attributes:
        equations: Model, constraints, external wrenches and gravity.
        t: Time, s.
        q: (nq,) array, configuration, m and rad.
        v: (nv,) array, velocity, m/s and rad/s.
        law: law(t, q, v), the generalised forces that act, N and N m.
        model: Model of the equations.
        constraints: The set that holds at this time.
        tau: (nv,) array, forces of the law, N and N m; computed at first access, as a and forces.
        a: (nv,) array, acceleration, m/s^2 and rad/s^2.
        forces: Wrenches (6,) of the constraints by name, as constrained_dynamics gives them. On a ground a and forces are means
            over the step that begins here.
        ground: How it moves on a ground, or None.

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
    ground: Any = None

    @property
    def model(self) -> Model:
        return self.equations.model

    @property
    def constraints(self) -> ConstraintSet | None:
        """The set that holds at this time."""
        return self.equations.constraints

    @property
    def holding(self) -> tuple[str, ...]:
        """Names of the constraints that hold."""
        return () if self.constraints is None else self.constraints.names

    @cached_property
    def tau(self) -> np.ndarray:
        return self.law(self.t, self.q, self.v)

    @property
    def a(self) -> np.ndarray:
        return self._solution[0] if self.ground is None else (self.ground_step.v - self.v) / self.ground.h

    @property
    def forces(self) -> Mapping[str, np.ndarray]:
        return self._solution[1] if self.ground is None else self.ground_step.forces

    def pose(self, frame: str) -> np.ndarray:
        """frame_pose (4, 4) of a frame, computed once."""
        if frame not in self._poses:
            self._poses[frame] = frame_pose(self.model, self.q, frame)
        return self._poses[frame]

    @cached_property
    def _poses(self) -> dict[str, np.ndarray]:
        return {}

    @property
    def facts(self) -> Mapping[str, np.ndarray]:
        """Those of Run.ground."""
        return {} if self.ground is None else self.ground_step.facts

    @cached_property
    def ground_step(self) -> Any:
        """The step on the ground that begins here, if no event cuts it."""
        return self.ground.step(self, self.ground.h)

    @cached_property
    def _solution(self) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        return self.equations.solve(self.t, self.q, self.v, self.tau)


@dataclass(frozen=True, eq=False)
class Equations:
    """constraints: the set that holds now, or None. external: wrenches, or a function (t, q, v) that gives them."""

    model: Model
    constraints: ConstraintSet | None = None
    external: Loads = None
    expressed: Expressed = "body"
    gravity: ArrayLike | None = None

    def solve(self, t: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Accelerations, and the wrenches {name: (..., 6)} of the constraints, in their frames' axes."""
        loads: Any = {"external": self.external(t, q, v) if callable(self.external) else self.external}
        loads |= {"expressed": self.expressed, "gravity": self.gravity}
        if self.constraints is None:
            a, forces = forward_dynamics(self.model, q, v, tau, **loads), NO_FORCES
        else:
            found = constrained_dynamics(self.model, q, v, tau, constraints=self.constraints, **loads)
            a, forces = found.a, found.forces
        check_each("external", a.shape[:-1], q.shape[:-1])
        return a, forces

    def compiled(self, integrator: str) -> Any:
        """Compiled steps under held forces, or None."""
        if self.external is not None or np.ndim(self.gravity) > 1:  # type: ignore[arg-type]
            return None
        return compiled_steps(self.model, integrator, self.gravity, self.constraints)

    def under(self, constraints: Any, q: np.ndarray) -> Equations:
        """The same under another set, or none, held at q if nowhere else. Errors: as check_set."""
        if constraints is not None:
            check_set(self.model, constraints)
            constraints = anchor(constraints, q)
        return replace(self, constraints=constraints)
