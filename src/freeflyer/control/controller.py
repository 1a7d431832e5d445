"""Controllers: a whole-body control problem as the input of a simulation, from cycle to cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.solution import ControlSolution
from freeflyer.control.tasks import Task

if TYPE_CHECKING:
    from freeflyer.control.problem import Formulation, Problem


@dataclass(eq=False)
class Controller:
    """Torques of a problem at one state after the other, each cycle beginning with the answer of the one before.

    Made by `Problem.controller`. It is an input of `sim.simulate` and `sim.simulate_in_mujoco`. Each controller keeps its own last
    cycle, so that several, and threads, may share a problem.

    Args:
        problem: Another one may take its place between two cycles, as `problem.with_tasks(...)`.
        formulation, solver, weighted: As in Problem.solve.
        targets: t (s) -> tasks, which take the place of the problem's at each cycle of `tau_at`.
        keep: Whether all cycles are kept in `cycles`.

    Attributes:
        solution: Of the last cycle: what was met and active, and how long it took.
        cycles: Of all, if they are kept.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> feet = [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
        >>> problem = ff.control.Problem(model, [ff.control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.01])], feet)
        >>> controller = problem.controller()
        >>> run = ff.sim.simulate(model, q, v, controller, dt=2e-3, duration=0.5, constraints=problem.constraints)
        >>> moved = ff.center_of_mass(model, run.q[-1]) - ff.center_of_mass(model, q)
        >>> bool(abs(moved[2] + 0.01) < 1e-3), controller.solution.status
        (True, 'solved')
    """

    problem: Problem
    formulation: Formulation
    solver: str
    weighted: bool
    targets: Callable[[float], Sequence[Task]] | None = None
    keep: bool = False
    solution: ControlSolution | None = field(default=None, init=False)
    cycles: list[ControlSolution] = field(default_factory=list, init=False, repr=False)

    def tau(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (nv,) of the motors at the state q (nq,), v (nv,), N and N m. Errors: as Problem.solve."""
        problem = self.problem
        self.solution = problem.solve(
            q, v, formulation=self.formulation, solver=self.solver, weighted=self.weighted, warm=self.solution
        )  # fmt: skip
        if self.keep:
            self.cycles.append(self.solution)
        tau = np.zeros(problem.model.nv)
        tau[problem.driven] = self.solution.tau
        return tau

    def tau_at(self, t: float, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """As `tau`, with the targets of the time t (s)."""
        if self.targets is not None:
            self.problem = self.problem.with_tasks(self.targets(t))
        return self.tau(q, v)
