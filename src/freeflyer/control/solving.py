"""A problem at one state: formulated, solved, its answer checked; what is done where a solver fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly, assemble
from freeflyer.control.condensed import solve_condensed
from freeflyer.control.coordinates import actuated_coordinates
from freeflyer.control.levels import program_of
from freeflyer.control.lexicographic import solve_strictly
from freeflyer.control.motions import Motion, loop_multipliers, motion_of_all_joints, own_motion
from freeflyer.control.parts import Parts
from freeflyer.control.reduced import second_part, split_motion, with_centroidal
from freeflyer.control.results import Outcome, relaxed
from freeflyer.control.rows import HARD, hold
from freeflyer.control.solution import ControlSolution
from freeflyer.control.task_rows import in_one_level
from freeflyer.dynamics.frames import Expressed
from freeflyer.optimization.errors import InfeasibleError, MissingSolverError, NumericalError, SolverError
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.tolerances import CONTROL_DAMPING_TIME, CONTROL_TOLERANCE

if TYPE_CHECKING:
    from freeflyer.control.problem import Problem


STOPPED = "the rounds of the active set ran out: dynamics, contacts and limits hold, tasks may be met less well than they could be"


class Answer(NamedTuple):
    """What a formulation found: accelerations of the model, forces in the contacts' rows, torques of the motors; from what; whether
    equations and all levels of tasks above the last one are known to be met; the formulation, where it is not the one asked for."""

    a: np.ndarray
    F: np.ndarray
    tau: np.ndarray
    outcome: Outcome
    iterations: int
    held: np.ndarray | None = None
    reason: str = ""
    all_met: bool = False
    formulation: str = ""


class Method(NamedTuple):
    """How programs are solved: the solver, whether levels are strict; rows that held the cycle before, and its unknowns."""

    solver: str
    strict: bool
    held: np.ndarray | None
    start: np.ndarray | None


def full(s: Assembly, method: Method) -> Answer:
    """All accelerations of the model at once."""
    return _solve_motion(s, own_motion(s), method)


def three_step(s: Assembly, method: Method) -> Answer:
    """Accelerations of all joints and contact forces; then the loops' multipliers; then the torques."""
    return _solve_motion(s, motion_of_all_joints(s), method)


def reduced(s: Assembly, method: Method) -> Answer:
    """The contacts' chains with centroidal accelerations of the others; then these. All at once if both parts together do not keep
    dynamics, contacts and limits, and if tasks of both must share by weights."""
    m, parts = own_motion(s), s.problem.parts
    if parts.branches:
        with suppress(NumericalError, InfeasibleError):
            found = _in_two_parts(s, m, parts, method)
            levels = () if method.strict and found.all_met else found.outcome.levels()
            if not relaxed(levels) if method.strict else all(level.met for level in levels):
                return found
    return _solve_motion(s, m, method)._replace(formulation="full")


def _in_two_parts(s: Assembly, m: Motion, parts: Parts, method: Method) -> Answer:
    split = split_motion(s, m)
    part, iterations, n = split.first, 0, len(parts.kept)
    for again in (True, False):
        one = _solve_motion(s, part, method)
        alpha = one.outcome.alpha
        a_p, target = alpha[:n], alpha[n:]
        two = _solve_motion(s, second_part(s, m, split, a_p, target, one.tau), method)
        iterations += one.iterations + two.iterations
        if two.all_met:
            break
        reached = split.A @ two.a
        if np.abs(reached - target).max() <= CONTROL_TOLERANCE * (1.0 + (np.abs(split.A) @ np.abs(two.a)).max()):
            break
        if again:
            part = with_centroidal(split.first, reached)
    a, tau = np.empty(len(m.h)), np.empty(len(m.driven))
    a[parts.kept], a[parts.loose] = a_p, two.a
    if two.all_met:
        tau[parts.ours], tau[parts.others] = one.tau, two.tau
    else:
        tau[:] = m.forces(a, one.F)[m.driven]
    return Answer(a, one.F, tau, Outcome(s, m, a, one.F), iterations, None, "", one.all_met and two.all_met)


FORMULATIONS: dict[str, Callable[[Assembly, Method], Answer]] = {
    "full": full, "reduced": reduced, "three-step": three_step, "projected": full,
}  # fmt: skip


def _solve_motion(s: Assembly, m: Motion, method: Method) -> Answer:
    asked = m if method.strict else m._replace(tasks=in_one_level(m.tasks))  # where tasks share by their weights
    if method.held is None and method.solver == ACTIVE_SET:
        short = solve_condensed(s, asked)
        if short is not None:
            return _answer(s, m, short.alpha, short.F, short.forces, 0, True)
    program = program_of(s, asked)
    found = solve_strictly(program, solver=method.solver, held=method.held, start=method.start)
    n = m.inertia.shape[1]
    alpha, F = found.x[:n], found.x[n:]
    answer = _answer(s, m, alpha, F, m.forces(alpha, F), found.iterations)
    reason = STOPPED if not found.optimal else "" if hold(program.levels[:HARD], found.x) else relaxed(answer.outcome.levels())
    active = found.held is not None and (np.abs(found.held) == 1.0).any()
    return answer._replace(held=found.held if active else None, reason=reason)


def _answer(s: Assembly, m: Motion, alpha: np.ndarray, F: np.ndarray, forces: np.ndarray, iterations: int,
            all_met: bool = False) -> Answer:  # fmt: skip
    if m.tree is not None:
        forces = loop_multipliers(s, m, alpha, F)[1]
    tau = forces[m.driven]
    return Answer(m.model_accelerations(alpha), F, tau, Outcome(s, m, alpha, F), iterations, None, "", all_met)


@np.errstate(over="ignore")  # answers that large are refused
def solve_problem(problem: Problem, q: np.ndarray, v: np.ndarray, formulation: str, solver: str, strict: bool, external: Any,
                  expressed: Expressed, warm: ControlSolution | None) -> ControlSolution:  # fmt: skip
    """The solution of a problem at a state; see Problem.solve."""
    begin = perf_counter()
    s = assemble(problem, q, v, external, expressed)
    ready = perf_counter()
    unknowns = None if warm is None or warm.outcome is None else np.concatenate([warm.outcome.alpha, warm.outcome.F])
    method = Method(solver, strict, None if warm is None else warm.held, unknowns)
    reason, answer, kept = "", None, s
    while answer is None:
        try:
            attempt = FORMULATIONS[formulation](kept, method)
            if isfinite(attempt.tau @ attempt.tau + attempt.a @ attempt.a):
                answer = attempt
                break
            reason = reason or "the solver's answer is not finite"
        except MissingSolverError:
            raise
        except SolverError as error:
            reason = reason or str(error)
        if not kept.tasks:
            break
        last = max(task.level for task in kept.tasks)
        kept = kept._replace(tasks=tuple([t for t in kept.tasks if t.level < last]))
    if answer is None:
        return _fall_back(s, formulation, reason, warm, begin, ready)
    ended = "stopped" if answer.reason is STOPPED else "relaxed" if answer.reason else "solved"
    status = ended if kept is s else "fewer levels"
    forces = _item_forces(s, answer.F)
    end = perf_counter()
    times = {"terms": ready - begin, "solver": end - ready, "total": end - begin}
    found = object.__new__(ControlSolution)  # a frozen dataclass sets its fields one by one
    found.__dict__.update(
        tau=answer.tau, a=answer.a, forces=forces, status=status, reason=reason or answer.reason, times=times,
        iterations=answer.iterations, formulation=answer.formulation or formulation, held=answer.held, outcome=answer.outcome,
        constraints=problem.constraints, q=q.copy(),
    )  # fmt: skip
    return found


def _item_forces(s: Assembly, F: np.ndarray) -> dict[str, np.ndarray]:
    """The wrench of each contact, in its frame's axes."""
    at = len(F) - len(s.unit)  # locked coordinates go first
    return {
        name: F[first:end].copy() if whole else F[first:end] @ s.unit[first - at : end - at]
        for name, first, end, whole in s.problem.wrench_rows
    }


def _fall_back(s: Assembly, formulation: str, reason: str, warm: ControlSolution | None, begin: float,
               ready: float) -> ControlSolution:  # fmt: skip
    """The torques of the last solution, or damping: each joint is slowed as its own inertia would be in CONTROL_DAMPING_TIME."""
    problem, driven = s.problem, actuated_coordinates(s.problem.model)
    if warm is not None:
        tau, status = warm.tau, "last solution"
    else:
        tau, status = -np.diag(s.M)[driven] * s.at.v[driven] / CONTROL_DAMPING_TIME, "damping"
        for rows in s.limits:
            if rows.space == "torque" and np.array_equal(rows.A, np.eye(len(tau))):
                tau = np.clip(tau, rows.lower, rows.upper)
    end = perf_counter()
    none = {name: np.zeros(6) for name in problem.constraints.item_names}
    times = {"terms": ready - begin, "solver": end - ready, "total": end - begin}
    return ControlSolution(
        tau, np.zeros(problem.model.nv), none, status, reason, times, 0, formulation, None, None, problem.constraints, s.at.q
    )
