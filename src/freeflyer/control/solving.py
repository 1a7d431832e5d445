"""A problem at one state: one compiled call, or another solver's answer; what is done if there is none; the solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.forces import wrenches_in
from freeflyer.contacts.wrenches import ContactExpressed
from freeflyer.control.limits import TorqueLimits
from freeflyer.control.problem_data import ProblemData
from freeflyer.control.program import Given, Program, given_limit, make_program
from freeflyer.control.tasks import HARD, StateTerms
from freeflyer.dynamics.equations import inverse_dynamics, mass_matrix
from freeflyer.dynamics.frames import Expressed
from freeflyer.errors import InputError, MissingSolverError, SolverError
from freeflyer.kernels.control.layout import BY_ROUNDS, CONTRADICTED, IN_TWO_PARTS, N_FACTS, RAN_OUT, ROUNDS, WAY
from freeflyer.kernels.entries import CONTROL_CYCLE, CONTROL_PROGRAM
from freeflyer.model.inputs import finite_row
from freeflyer.optimization.compiled import call
from freeflyer.optimization.hierarchy import ACTIVE_SET, FALLBACK, Level, solve_hierarchy
from freeflyer.text import short_repr
from freeflyer.tolerances import CONTROL_DAMPING_TIME, CONTROL_MET_TOLERANCE


@dataclass(frozen=True, eq=False)
class LevelResult:
    """One level of a solution.

    Attributes:
        met: Whether all its rows hold.
        residuals: For each task, contact or limit of the level, by how much its rows are violated (m,).
        active: Limits and cones of the level that hold the solution back.

    Examples:
        >>> model = ff.robots.chain(3)
        >>> problem = ff.control.WholeBodyProblem(model, tasks=[ff.control.PostureTask([1.0, 1.0, 1.0])])
        >>> for level in problem.solve(model.neutral, np.zeros(3)).levels:
        ...     print(level.name, level.met, list(level.residuals))
        dynamics True ['dynamics']
        contacts True []
        tasks of level 1 True ['PostureTask']
    """

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
        forces: For each contact the wrench (6,) [force; torque] on the robot, in its frame's axes at its origin, N and N m.
        status: "solved" if dynamics, contacts and limits hold, and the tasks as well as possible. "relaxed" if they contradict each
            other and are violated as little as possible, level by level. "stopped" if they hold, but the solver stopped before the
            optimum of the tasks. "last solution" and "damping" are fallbacks of the controller, for `reason`.
        reason: Why it is not "solved"; empty if it is.
        seconds: Time from the state to the torques.
        iterations: Of the solver; 0 if no limit was active.
        formulation: "full" if the reduced one could not be taken.
        held: (m,) array or None. For each row of the levels -1 or 1 if it is held at its lower or upper limit, 2 for equations. It
            is the first guess of the next cycle. None if no limit is active.
        constraints: Constraints of the contacts.
        q: (nq,) array or None, the configuration.
        asked: The program, its inputs, and its unknowns, from which `levels` is made on request.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> q, feet = ff.robots.standing_posture(model), [ff.contacts.point(x) for x in model.frame_names if x.endswith("_foot")]
        >>> com = ff.control.CenterOfMassTask(ff.center_of_mass(model, q))
        >>> solution = ff.control.WholeBodyProblem(model, tasks=[com], contacts=feet).solve(q, np.zeros(model.nv))
        >>> solution.status, solution.tau.shape, list(solution.forces)[:2]
        ('solved', (12,), ['front_left_foot', 'front_right_foot'])
    """

    tau: np.ndarray
    a: np.ndarray
    forces: Mapping[str, np.ndarray]
    status: str
    reason: str
    seconds: float
    iterations: int
    formulation: str
    held: np.ndarray | None = None
    constraints: ConstraintSet | None = None
    q: np.ndarray | None = None
    asked: tuple[Program, tuple[np.ndarray, ...], np.ndarray] | None = None

    __repr__ = short_repr

    def wrenches(self, expressed: ContactExpressed = "body") -> dict[str, np.ndarray]:
        """`forces` in axes of "body", "mixed", "world" as in inverse_dynamics, or "contact", whose z is the normal. Errors:
        InputError for other words."""
        return {} if self.q is None else wrenches_in(self.constraints, self.q, self.forces, expressed)

    @cached_property
    def levels(self) -> tuple[LevelResult, ...]:
        """Dynamics, contacts, then the levels of the tasks: what is met, what is left, which limits are active."""
        if self.asked is None:
            return ()
        program, given, x = self.asked
        rows = call(CONTROL_PROGRAM, program.sizes, *given)
        assert rows is not None  # they were found before
        return results(program, rows[0], rows[1], rows[2], x)

    def __getstate__(self) -> dict[str, Any]:  # without the handle of compiled code
        return {**vars(self), "levels": self.levels, "asked": None}


def results(program: Program, A: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray) -> tuple[LevelResult, ...]:
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


def contradiction(levels: tuple[LevelResult, ...]) -> str:
    """Which of dynamics and contacts do not hold, and the row that is violated most; empty if they do."""
    unmet = [level for level in levels[: len(HARD)] if not level.met]
    if not unmet:
        return ""
    size, name = max((float(np.abs(r).max(initial=0.0)), name) for level in unmet for name, r in level.residuals.items())
    return f"{' and '.join(level.name for level in unmet)} cannot all hold: {name} by {size:.3g}"


NOTHING = np.zeros(0)
FORMULATIONS = ("full", "reduced", "three-step")
MAX_PROGRAMS = 32  # that a problem and those with other tasks keep
TOLERANCES = (1e-11, 1e-8, 1e-6)  # of programs level by level, the later ones if the first fails
STOPPED = "the rounds of the active set ran out: dynamics, contacts and limits hold, tasks may be met less well than they could be"


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
    """The program of a problem, and the numbers that it is given at a state."""
    limits, tasks = problem.limits_of_users, problem.tasks_of_users
    known = problem.known_programs.get((formulation, weighted))
    if known is not None:
        rows = [task.numbers(count) for task, count in zip(problem.tasks_in_order, known.counts)]
        return known, np.concatenate(rows) if rows else NOTHING
    rows, given = [], list[Given]()
    own: Iterator[np.ndarray] = iter(())
    if limits or tasks:
        at = StateTerms.of(problem.model, q, v, problem.frames)
        found = [limit.rows(at) for limit in limits]
        equations = [task.equations(at) for task in tasks]
        given = [given_limit(problem, limit, r) for limit, r in zip(limits, found)]
        given += [(np.asarray(w, float).tobytes(), len(b), ()) for _, b, w in equations]
        rows = [np.concatenate([J.ravel(), b, b]) for J, b, _ in equations]
        own = iter(rows)
        rows = [np.concatenate([np.ravel(r.A), r.lower, r.upper]) for r in sorted(found, key=lambda r: r.space != "torque")]
    program = program_for(problem, formulation, weighted, given)
    if not (limits or tasks):
        problem.known_programs[formulation, weighted] = program
    for task, count in zip(problem.tasks_in_order, program.counts):
        rows.append(task.numbers(count) if task.compiled else next(own))
    return program, np.concatenate(rows) if rows else NOTHING


def solve_problem(problem: ProblemData, q: np.ndarray, v: np.ndarray, formulation: str, solver: str, weighted: bool, external: Any,
                  expressed: Expressed, warm: ControlSolution | None) -> ControlSolution:  # fmt: skip
    """The solution of a problem at a state; see WholeBodyProblem.solve."""
    begin = perf_counter()
    program, numbers = asked_of(problem, q, v, formulation, weighted=weighted)
    loads = problem.model._zero if external is None else _loads(problem, q, v, external, expressed)
    given, reason = (q, v, loads, numbers), ""
    found = None
    if solver == ACTIVE_SET:
        guess, start = program.nothing, program.nowhere
        if warm is not None and warm.asked is not None and warm.asked[0] is program:
            guess, start = guess if warm.held is None else warm.held, warm.asked[2]
        found = call(CONTROL_CYCLE, program.sizes, *given, program.weights, guess, start)
        if found is not None and found[5][RAN_OUT] and found[5][CONTRADICTED]:
            found = None
    if found is None:
        try:
            found = _by_solver(problem, program, given, FALLBACK if solver == ACTIVE_SET else solver)
        except MissingSolverError:
            raise
        except SolverError as error:
            reason = str(error)
    if found is None:
        finite_row(problem.model, "q", q, "q")
        finite_row(problem.model, "v", v, "u")
        return _fall_back(problem, q, v, formulation, reason or "the terms of the state are not finite", warm, begin)
    tau, a, _, x, held, facts, wrenches = found
    facts, status = facts.tolist(), "solved"
    if facts[RAN_OUT]:
        status, reason = "stopped", STOPPED
    if formulation == "reduced" and facts[WAY] != IN_TWO_PARTS:
        formulation = "full"
    active = bool(facts[ROUNDS]) and bool((np.abs(held) == 1.0).any())
    solution = ControlSolution(
        tau, a, dict(zip(problem.constraints.item_names, wrenches)), status, reason, 0.0, int(facts[ROUNDS]), formulation,
        held if active else None, problem.constraints, q.copy(), (program, (q.copy(), v.copy(), loads, numbers), x),
    )  # fmt: skip
    if facts[CONTRADICTED]:
        solution.status, solution.reason = "relaxed", contradiction(solution.levels)
    solution.seconds = perf_counter() - begin
    return solution


def _loads(problem: ProblemData, q: np.ndarray, v: np.ndarray, external: Any, expressed: Expressed) -> np.ndarray:
    """Generalised forces (nv,) that wrenches ask of the motors."""
    rest = np.zeros(problem.model.nv)
    h = inverse_dynamics(problem.model, q, v, rest, external=external, expressed=expressed)
    if h.ndim > 1:
        raise InputError(f"external holds wrenches of {h.shape[:-1]} states, expected one wrench (6,) on each frame")
    return np.asarray(h - inverse_dynamics(problem.model, q, v, rest))


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
    kept = (A @ x >= lower - room) & (A @ x <= upper + room)
    facts[CONTRADICTED] = not kept[: program.hard].all()
    F, alpha = x[program.alpha :], x[: program.alpha]
    places, own = problem.contact_rows, F[len(F) - len(unit) :, None] * unit
    wrenches = np.array([own[i:k].sum(axis=0) for i, k in places]).reshape(-1, 6)
    return motors @ x + h, alpha[program.columns], F, x, np.zeros(len(A)), facts, wrenches


def _fall_back(problem: ProblemData, q: np.ndarray, v: np.ndarray, formulation: str, reason: str, warm: ControlSolution | None,
               begin: float) -> ControlSolution:  # fmt: skip
    """The torques of the last solution, or damping: each joint is slowed as its own inertia would be in CONTROL_DAMPING_TIME."""
    model, driven = problem.model, problem.driven
    if warm is not None:
        tau, status = warm.tau, "last solution"
    else:
        M = mass_matrix(model, q)  # refuses states that have none
        tau, status = -np.diag(M)[driven] * v[driven] / CONTROL_DAMPING_TIME, "damping"
        for limit in problem.limits:
            if type(limit) is TorqueLimits:
                tau = np.clip(tau, *limit.bounds(model))
    none: Mapping[str, np.ndarray] = {name: np.zeros(6) for name in problem.constraints.item_names}
    return ControlSolution(
        tau, np.zeros(model.nv), none, status, reason, perf_counter() - begin, 0, formulation, None, problem.constraints, q.copy()
    )
