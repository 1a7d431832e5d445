"""Whole-body control problems: tasks, contacts and limits of one robot, solved for torques at each state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.problem_data import ProblemData
from freeflyer.control.solving import FORMULATIONS, ControlSolution, asked_of, solve_problem
from freeflyer.control.tasks import Task
from freeflyer.dynamics.frames import Expressed, expression
from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import choice, one_row, true_or_false
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.optimization.quadratic import check_solver

Formulation = Literal["full", "reduced", "three-step"]


@public
@dataclass(frozen=True, eq=False, repr=False)
class WholeBodyProblem(ProblemData):
    """Problem of whole-body control: tasks by levels, contacts, limits, and the objective below them all.

    Each level is as strict as the ones above allow. The order is dynamics and torque limits; contacts, cones, limits of
    accelerations and forces; tasks. Below them is the sum that `print(problem)` shows, strict or weighted. Problems are values, so
    another target is another task in another problem (`dataclasses.replace`).

    Args:
        tasks: Met by their levels, a lower number first.
        contacts: Held and rolling contacts. Contacts only push and slide beyond their friction, so forces stay in `cones` about
            their normals.
        limits: Of torques, accelerations, joints, normal forces; none holds that is not given.
        friction: Coefficient of contacts that name none.
        bilateral: Names of contacts whose forces are free: grasps, feet that stick.
        acceleration_weight: Weight of the acceleration energy a^T M a / 2, reduced whole-body control paper, eq. (27), in the
            objective below all tasks; positive.
        force_weight: Weight of the sum of squares of the contacts' point forces over 2, 1/N^2 times the unit of the energy;
            positive.
        contact_damping: float, 1/s: contacts that move are slowed, J a + Jdot v = -contact_damping J v.
        compressed: Joints of the branches that the reduced formulation compresses; by default all that no contact needs.

    Attributes:
        constraints: Constraints of the contacts.
        frames: Frames of the tasks.
        cones: Cones of the contacts that only push.
        contact_places: The first row of each contact.
        normals: Of surfaces and rolling bodies the normal (3,) in their first three rows; those of points and lines turn with the
            robot.
        programs: Rows in tables, as far as they have been asked for.
        driven, free: Velocities with and without motors, the former in the order of `model.actuated`.
        force_metric: (k, k) array; F^T force_metric F is the sum of squares of the point forces that forces F (k,) in the contacts'
            rows stand for.

    Raises:
        InputError: For open loops, actuated joints without velocities of their own, tasks and limits that are none, names given
            twice, weights that are not positive.
        UnknownNameError: For frames that the model does not have, and names in `bilateral` that are no contacts.

    Examples:
        A humanoid squats: its centre of mass goes down, its feet stay.

        >>> model = ff.robots.humanoid(33)
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> tasks = [
        ...     ff.control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.05]),
        ...     ff.control.FrameOrientationTask("pelvis", np.eye(3)),
        ...     ff.control.PostureTask(q, level=2),
        ... ]
        >>> feet = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
        >>> problem = ff.control.WholeBodyProblem(model, tasks, feet, limits=[ff.control.TorqueLimits()])
        >>> solution = problem.solve(q, v)
        >>> solution.status, solution.tau.shape, solution.levels[2].met
        ('solved', (33,), True)
    """

    @public
    def solve(
        self, q: ArrayLike, v: ArrayLike, *, formulation: Formulation = "full", solver: str = ACTIVE_SET, weighted: bool = False,
        external: Any = None, expressed: Expressed = "body", warm: ControlSolution | None = None,
    ) -> ControlSolution:  # fmt: skip
        """Torques, accelerations and contact forces at one state.

        Args:
            q: (nq,) array, configuration; of a closed model with closed loops.
            v: (nv,) array, velocity, m/s and rad/s.
            formulation: "full", "reduced" or "three-step". Unknown accelerations: all velocities of the model; those of the
                contacts' chains and the centroidal accelerations of the others, then these (all at once if limits are active, or if
                branches cannot do what is left to them); those of all joints of a closed linkage, "Kangaroo" (25)-(29).
            solver: As in freeflyer.optimization.solve_hierarchy.
            weighted: All tasks are one level, below dynamics, contacts and limits. Tasks that contradict each other share it by
                their weights alone: the sum of weighted squares of their missed accelerations is least. Else levels are strict.
            warm: Of the cycle before: a first guess of active limits, and what is used if the solver fails.
        Returns: ControlSolution. Levels that cannot be met are no errors: see `levels`, `status`, `reason`. Torques are finite.

        Raises:
            InputError: For states that are not finite or of wrong shape, and unknown formulations.
            MissingSolverError: For a solver that is not installed.
        """
        expression(expressed)  # refuses other words
        choice("formulation", formulation, FORMULATIONS)
        true_or_false("weighted", weighted)
        if solver != ACTIVE_SET:
            check_solver(solver)
        if warm is not None and (not isinstance(warm, ControlSolution) or len(warm.tau) != len(self.driven)):
            raise InputError(f"warm must be the solution of an earlier cycle of this robot, got {format_value(warm)}")
        q, v = _state_row(self.model, "q", q, "q"), _state_row(self.model, "v", v, "u")
        return solve_problem(self, q, v, formulation, solver, weighted, external, expressed, warm)

    @public
    def controller(
        self, *, formulation: Formulation = "full", solver: str = ACTIVE_SET, weighted: bool = False,
        targets: Callable[[float], Sequence[Task]] | None = None, keep: bool = False,
    ) -> Controller:  # fmt: skip
        """Controller whose `tau(q, v)` (nv,) solves the problem at each state: an input of simulations.

        Args:
            formulation, solver, weighted: As in `solve`.
            targets: t (s) -> tasks, in the problem's place; evaluated by `tau_at(t, q, v)`, which simulations call.
            keep: Whether the controller keeps the solutions of all cycles.
        Returns: Controller. Its attribute `solution` is that of the last cycle.
        Raises: InputError for unknown formulations and targets that are no function.
        """
        choice("formulation", formulation, FORMULATIONS)
        if targets is not None and not callable(targets):
            raise InputError(f"targets must be a function t -> tasks, got {format_value(targets)}")
        return Controller(self, formulation, solver, weighted, targets, keep)

    def __repr__(self) -> str:
        counts = f"{len(self.tasks)} tasks, {len(self.constraints.names)} contacts, {len(self.limits)} limits"
        return f"WholeBodyProblem({self.model.name!r}, {counts})"

    def __str__(self) -> str:
        """The levels of the full formulation, row by row, at the neutral posture."""
        model = self.model
        program, _ = asked_of(self, model.neutral, np.zeros(model.nv), "full")
        rows, before = [], ""
        for piece in program.pieces:
            kind = "equations" if piece.equations else "inequalities"
            rows.append((piece.level if piece.level != before else "", piece.name, str(piece.rows), kind))
            before = piece.level
        head = (
            f"{model.name}: {len(self.driven)} motors, {model.nv} velocities, {len(self.force_metric)} contact "
            f"forces, {program.unknowns} unknowns"
        )
        below = (
            f"below all tasks, weighted ones too: {self.acceleration_weight:g} a^T M a / 2 + {self.force_weight:g} "
            "|point forces|^2 / 2 is minimised in what they leave free, with no share in any task"
        )
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}} {d}" for a, b, c, d in rows]
        return "\n".join([head, *lines, below])


@dataclass(eq=False)
class Controller:
    """Torques of a problem at one state after the other, each cycle beginning with the answer of the one before.

    Made by `WholeBodyProblem.controller`. It is an input of `sim.simulate` and `sim.simulate_in_mujoco`. Each controller keeps its
    own last cycle, so that several, and threads, may share a problem.

    Args:
        problem: Another one may take its place between two cycles, as `problem.with_tasks(...)`.
        formulation, solver, weighted: As in WholeBodyProblem.solve.
        targets: t (s) -> tasks, which take the place of the problem's at each cycle of `tau_at`.
        keep: Whether all cycles are kept in `cycles`.

    Attributes:
        solution: Solution of the last cycle: met tasks, active limits, and time.
        cycles: Of all, if they are kept.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> feet = [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
        >>> problem = ff.control.WholeBodyProblem(model, [ff.control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0,
        ...     0.01])], feet)
        >>> controller = problem.controller()
        >>> run = ff.sim.simulate(model, q, v, controller, dt=2e-3, duration=0.5, constraints=problem.constraints)
        >>> moved = ff.center_of_mass(model, run.q[-1]) - ff.center_of_mass(model, q)
        >>> bool(abs(moved[2] + 0.01) < 1e-3), controller.solution.status
        (True, 'solved')
    """

    problem: WholeBodyProblem
    formulation: Formulation
    solver: str
    weighted: bool
    targets: Callable[[float], Sequence[Task]] | None = None
    keep: bool = False
    solution: ControlSolution | None = field(default=None, init=False)
    cycles: list[ControlSolution] = field(default_factory=list, init=False, repr=False)

    def tau(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Generalised forces (nv,) of the motors at the state q (nq,), v (nv,), N and N m. Errors: as WholeBodyProblem.solve."""
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


def _state_row(model: Model, name: str, x: ArrayLike, letter: str) -> np.ndarray:
    """x as one row of float64; its numbers are checked where the terms of the state are computed."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64:
        return x
    return one_row(model, name, x, letter)
