"""A problem at one state: formulated, solved, its answer checked; what is done where a solver fails."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly, assemble
from freeflyer.control.condensed import solve_condensed
from freeflyer.control.coordinates import actuated_coordinates
from freeflyer.control.levels import program_of
from freeflyer.control.lexicographic import Found, solve_strictly, solve_weighted
from freeflyer.control.motions import Motion, loop_multipliers, motion_of_all_joints, own_motion
from freeflyer.control.reduced import second_part, split_motion, with_centroidal
from freeflyer.control.results import Outcome, relaxed
from freeflyer.control.rows import Program
from freeflyer.control.solution import ControlSolution
from freeflyer.dynamics.frames import Expressed
from freeflyer.optimization.errors import MissingSolverError, SolverError
from freeflyer.tolerances import CONTROL_DAMPING_TIME, CONTROL_TOLERANCE

if TYPE_CHECKING:
    from freeflyer.control.problem import Problem


class Answer(NamedTuple):
    """What a formulation found: accelerations of the model, forces in the contacts' rows, torques of the motors; from what."""

    a: np.ndarray
    F: np.ndarray
    tau: np.ndarray
    outcome: Outcome
    iterations: int
    limits: tuple[int, ...] = ()
    reason: str = ""


class Method(NamedTuple):
    """How programs are solved: the solver, whether levels are strict, inequalities of the first attempt."""

    solver: str
    strict: bool
    start: tuple[int, ...]

    def solve(self, program: Program) -> Found:
        """Of a program of levels. Errors: SolverError."""
        return (solve_strictly if self.strict else solve_weighted)(program, solver=self.solver, start=self.start)


def full(s: Assembly, method: Method) -> Answer:
    """All accelerations of the model at once."""
    return _solve_motion(s, own_motion(s), method)


def three_step(s: Assembly, method: Method) -> Answer:
    """Accelerations of all joints and contact forces; then the loops' multipliers; then the torques."""
    return _solve_motion(s, motion_of_all_joints(s), method)


def reduced(s: Assembly, method: Method) -> Answer:
    """The contacts' chains with centroidal accelerations of the others; then these."""
    m, chains = own_motion(s), s.problem.chains
    if not chains.branches:
        return _solve_motion(s, m, method)
    split = split_motion(s, m, chains)
    p, u = chains.kept, chains.unconstrained
    part, iterations = split.first, 0
    for again in (True, False):
        one = _solve_motion(s, part, method)
        alpha, F = one.outcome.alpha, one.F
        a_p, target = alpha[: len(p)], alpha[len(p) :]
        rest = second_part(s, m, chains, split, a_p, target, one.tau)
        two = _solve_motion(s, rest, method)
        iterations += one.iterations + two.iterations
        reached = split.branches.A @ two.a
        if np.abs(reached - target).max() <= CONTROL_TOLERANCE * (1.0 + np.abs(split.branches.A) @ np.abs(two.a)).max():
            break
        if again:
            part = with_centroidal(split.first, reached)
    a = np.empty(len(m.h))
    a[p], a[u] = a_p, two.a
    return Answer(a, F, m.forces(a, F)[m.driven], Outcome(s, m, a, F), iterations, (), one.reason)


FORMULATIONS: dict[str, Callable[[Assembly, Method], Answer]] = {
    "full": full, "reduced": reduced, "three-step": three_step, "projected": full,
}  # fmt: skip


def _solve_motion(s: Assembly, m: Motion, method: Method) -> Answer:
    short = solve_condensed(s, m, method.solver, method.strict)
    if short is not None:
        return _answer(s, m, short.alpha, short.F, short.forces, short.iterations)
    found = method.solve(program_of(s, m))
    n = m.inertia.shape[1]
    alpha, F = found.x[:n], found.x[n:]
    answer = _answer(s, m, alpha, F, m.forces(alpha, F), found.iterations)
    reason = relaxed(answer.outcome.levels()) if found.way == "level by level" else ""
    return answer._replace(limits=found.limits, reason=reason)


def _answer(s: Assembly, m: Motion, alpha: np.ndarray, F: np.ndarray, forces: np.ndarray, iterations: int) -> Answer:
    if m.tree is not None:
        forces = loop_multipliers(s, m, alpha, F)[1]
    return Answer(m.model_accelerations(alpha), F, forces[m.driven], Outcome(s, m, alpha, F), iterations)


def solve_problem(problem: Problem, q: np.ndarray, v: np.ndarray, formulation: str, solver: str, strict: bool, external: Any,
                  expressed: Expressed, warm: ControlSolution | None) -> ControlSolution:  # fmt: skip
    """The solution of a problem at a state; see Problem.solve."""
    begin = perf_counter()
    s = assemble(problem, q, v, external, expressed)
    ready = perf_counter()
    method = Method(solver, strict, () if warm is None else warm.limits)
    reason, answer, kept = "", None, s
    while answer is None:
        try:
            found = FORMULATIONS[formulation](kept, method)
            if np.isfinite(found.tau.sum() + found.a.sum()):
                answer = found
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
    status = "fewer levels" if kept is not s else "relaxed" if answer.reason else "solved"
    forces = _item_forces(s, answer.F)
    end = perf_counter()
    times = {"terms": ready - begin, "solver": end - ready, "total": end - begin}
    return ControlSolution(
        answer.tau, answer.a, forces, status, reason or answer.reason, times, answer.iterations,
        formulation, answer.limits, answer.outcome,
    )  # fmt: skip


def _item_forces(s: Assembly, F: np.ndarray) -> dict[str, np.ndarray]:
    """The wrench of each contact, in its frame's axes."""
    unit, places, found = s.unit, s.problem.contact_places, {}
    at = len(F) - len(unit)  # locked coordinates go first
    ends = [*list(places.values())[1:], len(F)]
    for (name, first), end in zip(places.items(), ends):
        found[name] = F[first:end] @ unit[first - at : end - at]
    return found


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
    return ControlSolution(tau, np.zeros(problem.model.nv), none, status, reason, times, 0, formulation)
