"""A problem at one state: one compiled call, or another solver's answer; what is done if there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from freeflyer.control.limits import TorqueLimits
from freeflyer.control.problem_data import ProblemData
from freeflyer.control.program import Given, Program, given_limit, make_program
from freeflyer.control.solution import ControlSolution, contradiction
from freeflyer.control.state import StateTerms
from freeflyer.dynamics.equations import inverse_dynamics, mass_matrix
from freeflyer.dynamics.frames import Expressed
from freeflyer.errors import InputError, MissingSolverError, SolverError
from freeflyer.kernels.control.layout import BY_ROUNDS, CONTRADICTED, IN_TWO_PARTS, N_FACTS, RAN_OUT, ROUNDS, WAY
from freeflyer.kernels.entries import CONTROL_CYCLE, CONTROL_PROGRAM
from freeflyer.model.inputs import finite_row
from freeflyer.optimization.compiled import call
from freeflyer.optimization.hierarchy import ACTIVE_SET, FALLBACK, Level, solve_hierarchy
from freeflyer.tolerances import CONTROL_DAMPING_TIME, CONTROL_MET_TOLERANCE

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
        return known, np.concatenate(rows) if rows else problem.no_numbers
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
    return program, np.concatenate(rows) if rows else problem.no_numbers


def solve_problem(problem: ProblemData, q: np.ndarray, v: np.ndarray, formulation: str, solver: str, weighted: bool, external: Any,
                  expressed: Expressed, warm: ControlSolution | None) -> ControlSolution:  # fmt: skip
    """The solution of a problem at a state; see WholeBodyProblem.solve."""
    begin = perf_counter()
    program, numbers = asked_of(problem, q, v, formulation, weighted=weighted)
    loads = problem.no_loads if external is None else _loads(problem, q, v, external, expressed)
    given, reason = (q, v, loads, numbers), ""
    known = warm is not None and warm.asked is not None and warm.asked[0] is program
    found = None
    if solver == ACTIVE_SET:
        guess = warm.held if known and warm is not None and warm.held is not None else program.nothing
        start = warm.asked[2] if known and warm is not None and warm.asked is not None else program.nowhere
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
    levels = [
        Level(A[i:k], lower[i:k], upper[i:k], program.weights[i:k]) for i, k in zip((0, *program.ends), program.ends) if k > i
    ]
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
