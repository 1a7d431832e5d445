"""Whole-body control problems: tasks, contacts and limits of one robot, solved for torques at each state by one compiled call
(docs/whole_body_control.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from freeflyer.contacts import ConstraintSet, ContactExpressed, wrenches_in
from freeflyer.control.limits import TorqueLimits
from freeflyer.control.program import Given, ProblemData, Program, given_limit, make_program
from freeflyer.control.tasks import HARD, StateTerms, Task
from freeflyer.dynamics import Expressed, expression, inverse_dynamics, mass_matrix
from freeflyer.errors import InputError, MissingSolverError, SolverError, format_value
from freeflyer.kernels.control.layout import BY_ROUNDS, CONTRADICTED, IN_TWO_PARTS, N_FACTS, RAN_OUT, ROUNDS, WAY
from freeflyer.kernels.entries import CONTROL_CYCLE, CONTROL_PROGRAM
from freeflyer.model import choice, explain, finite_row, one_row, public, true_or_false
from freeflyer.optimization.compiled import call
from freeflyer.optimization.hierarchy import ACTIVE_SET, FALLBACK, Level, solve_hierarchy
from freeflyer.optimization.quadratic import check_solver
from freeflyer.shown import notebook_html
from freeflyer.text import short_repr
from freeflyer.tolerances import CONTROL_DAMPING_TIME, CONTROL_MET_TOLERANCE

Formulation = Literal["full", "reduced", "three-step"]
FORMULATIONS = ("full", "reduced", "three-step")
FLOAT64 = np.dtype(np.float64)
MAX_PROGRAMS = 32  # that a problem and those with other tasks keep
TOLERANCES = (1e-11, 1e-8, 1e-6)  # of programs level by level, the later ones if the first fails
STOPPED = "the rounds of the active set ran out: dynamics, contacts and limits hold, tasks may be met less well than they could be"


@dataclass(frozen=True, eq=False)
class LevelResult:
    """One level of a solution.

    Attributes:
        met: Whether all its rows hold.
        residuals: For each task, contact or limit of the level, by how much its rows are violated (m,).
        active: Limits and cones of the level that hold the solution back."""

    name: str
    met: bool
    residuals: Mapping[str, np.ndarray]
    active: tuple[str, ...]
    __repr__ = short_repr


@dataclass(eq=False)  # not frozen: made in every cycle, in half the time
class ControlSolution:
    """Solution of a whole-body control problem at one state.

    Attributes:
        tau: (n,) array, torques and forces of the motors, N m and N, in the order of `model.actuated`.
        a: (nv,) array, accelerations, m/s^2 and rad/s^2.
        wrench_rows: (contacts, 6) array, `forces` of the contacts in their order.
        status: "solved", "relaxed", "stopped", "last solution" or "damping"; see docs/whole_body_control.md.
        reason: Why it is not "solved"; empty if it is.
        seconds: Time from the state to the torques.
        iterations: Rounds of the solver; 0 if no limit was active.
        formulation: "full" if the reduced one could not be taken.
        held: (m,) array or None, the next first guess: -1, 1 for rows at their lower, upper limit, 2 for equations that hold.
        q: (nq,) array or None, the configuration.
        asked: The program, its inputs, and its unknowns, from which `levels` is made on request."""

    tau: np.ndarray
    a: np.ndarray
    wrench_rows: np.ndarray
    status: str
    reason: str
    seconds: float
    iterations: int
    formulation: str
    held: np.ndarray | None = None
    constraints: ConstraintSet | None = None
    q: np.ndarray | None = None
    asked: tuple[Program, tuple[np.ndarray, ...], np.ndarray] | None = None
    __repr__, _repr_html_ = short_repr, notebook_html

    @cached_property
    def forces(self) -> dict[str, np.ndarray]:
        """For each contact the wrench (6,) [force; torque] on the robot, in its frame's axes at its origin, N and N m."""
        return {} if self.constraints is None else dict(zip(self.constraints.item_names, self.wrench_rows))

    def wrenches(self, expressed: ContactExpressed = "body") -> dict[str, np.ndarray]:
        """`forces` in axes of "body", "mixed", "world" as in inverse_dynamics, or "contact", whose z is the normal."""
        return {} if self.q is None else wrenches_in(self.constraints, self.q, self.forces, expressed)

    @cached_property
    def levels(self) -> tuple[LevelResult, ...]:
        """Dynamics, contacts, then the levels of the tasks: met and remaining errors, active limits."""
        if self.asked is None:
            return ()
        program, given, x = self.asked
        rows = call(CONTROL_PROGRAM, program.sizes, *given)
        assert rows is not None  # they were found before
        return _results(program, rows[0], rows[1], rows[2], x)

    def __getstate__(self) -> dict[str, Any]:  # without the handle of compiled code
        return {**vars(self), "levels": self.levels, "asked": None}


@public
@dataclass(frozen=True, eq=False, repr=False)
class WholeBodyProblem(ProblemData):
    """Problem of whole-body control: tasks by levels, contacts, limits, and the objective below them all.

    docs/whole_body_control.md has an example, and the order of levels. Another target is another task in another problem
    (`with_tasks`, `dataclasses.replace`).

    Args:
        tasks: Met by their levels, a lower number first.
        contacts: Held and rolling contacts, which only push, within the cones of their friction.
        limits: Of torques, accelerations, joints, normal forces; none holds that is not given.
        friction: Coefficient of contacts that name none.
        bilateral: Names of contacts whose forces are free: grasps, feet that stick.
        acceleration_weight: Positive weight of a^T M a / 2 in the objective, reduced whole-body control paper, eq. (27).
        force_weight: Positive weight of the sum of squares of the contacts' point forces over 2.
        contact_damping: float, 1/s: contacts that move are slowed, J a + Jdot v = -contact_damping J v.
        compressed: Joints of the branches that the reduced formulation compresses; by default all that no contact needs.

    Attributes:
        constraints, cones: Constraints of the contacts, and cones of those that only push.
        normals: By name of surfaces and rolling bodies the normal (3,) in their first rows; others turn with the robot.
        driven, free: (n,) array, velocities with motors in the order of `model.actuated`, and those without.
        force_metric: (k, k) array S; F^T S F is the sum of squares of the point forces that stand behind forces F in the rows."""

    def solve(self, q: ArrayLike, v: ArrayLike, *, formulation: Formulation = "full", solver: str = ACTIVE_SET,
              weighted: bool = False, external: Any = None, expressed: Expressed = "body",
              warm: ControlSolution | None = None) -> ControlSolution:  # fmt: skip
        """Torques, accelerations and contact forces at one state q (nq,), v (nv,).

        Levels that cannot be met are no errors: see `levels`, `status`, `reason` of the solution. Torques are finite.

        Args:
            formulation: "full", "reduced" or "three-step".
            solver: As in freeflyer.optimization.solve_hierarchy.
            weighted: All tasks are one level and share it by their weights, as squares of missed accelerations.
            warm: Solution of the cycle before: a first guess of active limits, and the answer if the solver fails."""
        try:
            if not (formulation in FORMULATIONS and solver == ACTIVE_SET and type(weighted) is bool and expressed == "body"):
                expression(expressed)  # refuses other words
                check_way(formulation, solver, weighted)
            if warm is not None and (not isinstance(warm, ControlSolution) or len(warm.tau) != len(self.driven)):
                raise InputError(f"warm must be the solution of an earlier cycle of this robot, got {format_value(warm)}")
            if not (type(q) is np.ndarray and type(v) is np.ndarray and q.ndim == v.ndim == 1 and q.dtype is v.dtype is FLOAT64):
                q, v = one_row(self.model, "q", q, "q"), one_row(self.model, "v", v, "u")
            return solve_state(self, q, v, formulation, solver, weighted, warm, external, expressed)  # which checks numbers
        except Exception as error:
            explain(error, WholeBodyProblem.solve, locals())
            raise

    @public
    def controller(self, *, formulation: Formulation = "full", solver: str = ACTIVE_SET, weighted: bool = False,
                   targets: Callable[[float], Sequence[Task]] | None = None, keep: bool = False) -> Controller:  # fmt: skip
        """Controller whose `tau(q, v)` (nv,) solves the problem at each state: an input of simulations. See Controller."""
        choice("formulation", formulation, FORMULATIONS)
        if targets is not None and not callable(targets):
            raise InputError(f"targets must be a function t -> tasks, got {format_value(targets)}")
        return Controller(self, formulation, solver, weighted, targets, keep)

    def __repr__(self) -> str:
        counts = f"{len(self.tasks)} tasks, {len(self.constraints.names)} contacts, {len(self.limits)} limits"
        return f"WholeBodyProblem({self.model.name!r}, {counts})"

    def __str__(self) -> str:
        """The levels of the full formulation, row by row, at the neutral posture."""
        model, rows, before = self.model, [], ""
        program, _ = asked_of(self, model.neutral, np.zeros(model.nv), "full")
        for piece in program.pieces:
            kind = "equations" if piece.equations else "inequalities"
            rows.append((piece.level if piece.level != before else "", piece.name, str(piece.rows), kind))
            before = piece.level
        head = (
            f"{model.name}: {len(self.driven)} motors, {model.nv} velocities, {len(self.force_metric)} contact "
            f"forces, {program.unknowns} unknowns")
        below = (
            f"below all tasks, weighted ones too: {self.acceleration_weight:g} a^T M a / 2 + {self.force_weight:g} "
            "|point forces|^2 / 2 is minimised in what they leave free, with no share in any task")
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        return "\n".join([head, *(f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}} {d}" for a, b, c, d in rows), below])


@dataclass(eq=False)
class Controller:
    """Torques of a problem at one state after the other; made by `WholeBodyProblem.controller`, an input of simulations.

    Args:
        problem: Another one may take its place between two cycles, as `problem.with_tasks(...)`.
        targets: t (s) -> tasks, which take the place of the problem's at each cycle of `tau_at`.
        keep: Whether all cycles are kept in `cycles`."""

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
        problem = self.problem  # with the solution local, too: another thread may call at the same time
        found = self.solution = problem.solve(
            q, v, formulation=self.formulation, solver=self.solver, weighted=self.weighted, warm=self.solution)  # fmt: skip
        if self.keep:
            self.cycles.append(found)
        tau = np.zeros(problem.model.nv)
        tau[problem.driven] = found.tau
        return tau

    def tau_at(self, t: float, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """As `tau`, with the targets of the time t (s)."""
        if self.targets is not None:
            self.problem = self.problem.with_tasks(self.targets(t))
        return self.tau(q, v)


def _results(program: Program, A: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray) -> tuple[LevelResult, ...]:
    """How far x (n,) keeps the rows lower <= A x <= upper of a program, and which limits hold it back."""
    value, size = A @ x, CONTROL_MET_TOLERANCE * (1.0 + np.abs(A) @ np.abs(x))
    violation = value - np.clip(value, lower, upper)
    near = (value >= upper - size) | (value <= lower + size)
    found = {name: LevelResult(name, True, {}, ()) for name in (*HARD, *dict.fromkeys(p.level for p in program.pieces))}
    for piece, end in zip(program.pieces, accumulate(p.rows for p in program.pieces)):
        rows, level = slice(end - piece.rows, end), found[piece.level]
        met = level.met and bool((np.abs(violation[rows]) <= size[rows]).all())
        active = [f"{piece.name}: {x}" for x, at in zip(piece.labels, near[rows]) if at] or [piece.name] * bool(near[rows].any())
        alike = sum(name == piece.name or name.startswith(f"{piece.name} (") for name in level.residuals)
        residuals = {**level.residuals, f"{piece.name} ({alike + 1})" if alike else piece.name: violation[rows]}
        found[piece.level] = LevelResult(level.name, met, residuals, level.active + (() if piece.equations else tuple(active)))
    return tuple(found.values())


def program_for(problem: ProblemData, formulation: str, weighted: bool, given: Sequence[Given]) -> Program:
    """The program of a problem, kept; see `make_program`."""
    key = formulation, weighted, problem.task_keys, *given
    program = problem.programs.get(key)
    if program is None:
        if len(problem.programs) >= MAX_PROGRAMS:
            problem.programs.clear()
        program = problem.programs[key] = make_program(problem, formulation, weighted, given)
    return program


def asked_of(problem: ProblemData, q: np.ndarray, v: np.ndarray, formulation: str = "full", *,
             weighted: bool = False) -> tuple[Program, np.ndarray]:  # fmt: skip
    """The program of a problem, and its numbers at a state, which are kept in `known_numbers` if all states have the same."""
    program = problem.known_programs.get((formulation, weighted))
    rows: list[np.ndarray] = []
    own: Iterator[np.ndarray] = iter(())
    if program is None and (problem.limits_of_users or problem.tasks_of_users):
        at = StateTerms.of(problem.model, q, v, problem.frames)
        limits, equations = [limit.rows(at) for limit in problem.limits_of_users], [x.equations(at) for x in problem.tasks_of_users]
        given = [given_limit(problem, limit, r) for limit, r in zip(problem.limits_of_users, limits)]
        given += [(np.asarray(w, float).tobytes(), len(b), ()) for _, b, w in equations]
        own = iter([np.concatenate([J.ravel(), b, b]) for J, b, _ in equations])
        rows = [np.concatenate([np.ravel(r.A), r.lower, r.upper]) for r in sorted(limits, key=lambda r: r.space != "torque")]
        program = program_for(problem, formulation, weighted, given)
    elif program is None:
        program = problem.known_programs[formulation, weighted] = program_for(problem, formulation, weighted, ())
    rows += [task.numbers(n) if task.compiled else next(own) for task, n in zip(problem.tasks_in_order, program.counts)]
    found = program, np.concatenate(rows) if rows else np.zeros(0)
    if (formulation, weighted) in problem.known_programs:
        problem.known_numbers[formulation, weighted] = found
    return found


def check_way(formulation: Formulation, solver: str, weighted: bool) -> None:
    """InputError for a formulation or a solver that does not exist."""
    choice("formulation", formulation, FORMULATIONS)
    true_or_false("weighted", weighted)
    if solver != ACTIVE_SET:
        check_solver(solver)


def solve_state(problem: ProblemData, q: np.ndarray, v: np.ndarray, formulation: str, solver: str, weighted: bool,
                warm: ControlSolution | None, external: Any = None, expressed: Expressed = "body") -> ControlSolution:  # fmt: skip
    """As WholeBodyProblem.solve, of arguments that need no checks."""
    begin, found, reason = perf_counter(), None, ""
    asked = problem.known_numbers.get((formulation, weighted))
    program, numbers = asked_of(problem, q, v, formulation, weighted=weighted) if asked is None else asked
    loads = rest = problem.model._zero
    if external is not None:  # generalised forces (nv,) that wrenches ask of the motors
        h = inverse_dynamics(problem.model, q, v, rest, external=external, expressed=expressed)
        if h.ndim > 1:
            raise InputError(f"external holds wrenches of {h.shape[:-1]} states, expected one wrench (6,) on each frame")
        loads = np.asarray(h - inverse_dynamics(problem.model, q, v, rest))
    given = q, v, loads, numbers
    if solver == ACTIVE_SET:
        guess, start = program.nothing, program.nowhere
        if warm is not None and warm.asked is not None and warm.asked[0] is program:
            guess, start = guess if warm.held is None else warm.held, warm.asked[2]
        found = CONTROL_CYCLE.call(program.sizes.handle, q, v, loads, numbers, program.weights, guess, start, None)
        if found is None:  # the general call takes other arrays, and 2 us more
            found = call(CONTROL_CYCLE, program.sizes, *given, program.weights, guess, start)
        if found is not None and found[5].item(RAN_OUT) and found[5].item(CONTRADICTED):
            found = None
    if found is None:
        try:
            found = _by_solver(problem, program, given, FALLBACK if solver == ACTIVE_SET else solver)
        except MissingSolverError:
            raise
        except SolverError as error:
            reason = str(error)
    if found is None:
        return _fall_back(problem, q, v, formulation, reason or "the terms of the state are not finite", warm, begin)
    tau, a, _, x, held, facts, wrenches = found
    facts, status, kept = facts.tolist(), "solved", q.copy()
    if facts[RAN_OUT]:
        status, reason = "stopped", STOPPED
    if formulation == "reduced" and facts[WAY] != IN_TWO_PARTS:
        formulation = "full"
    active = bool(facts[ROUNDS]) and bool((np.abs(held) == 1.0).any())
    solution = ControlSolution(
        tau, a, wrenches, status, reason, 0.0, int(facts[ROUNDS]), formulation,
        held if active else None, problem.constraints, kept, (program, (kept, v.copy(), loads, numbers), x))  # fmt: skip
    if facts[CONTRADICTED]:
        solution.status, solution.reason = "relaxed", ""
        if unmet := [level for level in solution.levels[: len(HARD)] if not level.met]:
            size, name = max((float(np.abs(r).max(initial=0.0)), name) for level in unmet for name, r in level.residuals.items())
            solution.reason = f"{' and '.join(level.name for level in unmet)} cannot all hold: {name} by {size:.3g}"
    solution.seconds = perf_counter() - begin
    return solution


def _by_solver(problem: ProblemData, program: Program, given: tuple[np.ndarray, ...], solver: str) -> tuple[np.ndarray, ...] | None:
    """The outputs of a cycle, level by level by a solver of quadratic programs. Errors: SolverError."""
    rows = call(CONTROL_PROGRAM, program.sizes, *given)
    if rows is None or not all(np.isfinite(x).all() for x in (rows[0], *rows[3:])):
        return None
    A, lower, upper, H, g, motors, h, unit = rows
    parts = [slice(i, k) for i, k in pairwise((0, *program.ends)) if k > i]
    levels = [Level(A[rows], lower[rows], upper[rows], program.weights[rows]) for rows in parts]
    L = np.linalg.cholesky(H)
    b = -solve_triangular(L, g, lower=True)
    levels.append(Level(L.T, b, b))
    *first, last = TOLERANCES[solver != FALLBACK :]
    found = None
    for tolerance in first:
        with suppress(SolverError):
            found = solve_hierarchy(levels, solver=solver, tolerance=tolerance)
            break
    found = found or solve_hierarchy(levels, solver=solver, tolerance=last)
    x, facts = found.x, np.zeros(N_FACTS)
    facts[[WAY, ROUNDS]] = BY_ROUNDS, found.iterations
    room = CONTROL_MET_TOLERANCE * (1.0 + np.abs(A) @ np.abs(x))
    facts[CONTRADICTED] = not ((A @ x >= lower - room) & (A @ x <= upper + room))[: program.hard].all()
    F, alpha = x[program.alpha :], x[: program.alpha]
    own = F[len(F) - len(unit) :, None] * unit
    wrenches = np.array([own[i:k].sum(axis=0) for i, k in problem.contact_rows]).reshape(-1, 6)
    return motors @ x + h, alpha[program.columns], F, x, np.zeros(len(A)), facts, wrenches


def _fall_back(problem: ProblemData, q: np.ndarray, v: np.ndarray, formulation: str, reason: str, warm: ControlSolution | None,
               begin: float) -> ControlSolution:  # fmt: skip
    """The torques of the last solution, or damping: each joint is slowed as its own inertia would be in CONTROL_DAMPING_TIME.
    InputError for states that are not finite."""
    model, driven = problem.model, problem.driven
    for name, x, letter in (("q", q, "q"), ("v", v, "u")):
        finite_row(model, name, x, letter)
    if warm is not None:
        tau, status = warm.tau, "last solution"
    else:
        M = mass_matrix(model, q)  # refuses states that have none
        tau, status = -np.diag(M)[driven] * v[driven] / CONTROL_DAMPING_TIME, "damping"
        for limit in problem.limits:
            if type(limit) is TorqueLimits:
                tau = np.clip(tau, *limit.bounds(model))
    none = np.zeros((len(problem.constraints.item_names), 6))
    return ControlSolution(
        tau, np.zeros(model.nv), none, status, reason, perf_counter() - begin, 0, formulation, None, problem.constraints, q.copy()
    )
