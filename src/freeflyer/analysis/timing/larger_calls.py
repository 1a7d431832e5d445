"""Times of larger calls: a step of a whole simulation; quadratic programs of whole-body control, beside the bare solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.clock import Call, time_interleaved
from freeflyer.analysis.timing.results import SolverTiming, StepTiming
from freeflyer.analysis.timing.robots import BenchRobot
from freeflyer.contacts.projection import project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.errors import FreeflyerError
from freeflyer.linkages.closed.closing import close_loops
from freeflyer.model.model import Model
from freeflyer.optimization import solve_qp, solvers
from freeflyer.optimization.dual_solvers import by_active_set
from freeflyer.optimization.problem import quadratic_program
from freeflyer.optimization.quadratic import ACTIVE_SET
from freeflyer.progress import Progress
from freeflyer.sim.simulating import simulate

DT, COUNT = 1e-3, 50
INTEGRATORS = ("rk4", "semi-implicit")
# of a model, q (nq,) and v (nv,), dt, steps: its name and a call that runs them, by our integrators' names; none if it cannot
StepPeer = Callable[[Model, np.ndarray, np.ndarray, float, int], tuple[str, Mapping[str, Callable[[], object]]]]


def step_times(robots: Iterable[BenchRobot], peer: StepPeer | None, blocks: int,
               progress: Progress) -> tuple[StepTiming, ...]:  # fmt: skip
    """us a step of each integrator, on each robot; "rk4, contacts": standing on its feet, where it has some by name."""
    found = []
    for robot in robots:
        progress(0.0, f"{robot.model.name}: steps")
        model = close_loops(robot.model)
        q, v = model.neutral, 0.1 * np.random.default_rng(1).standard_normal(model.nv)
        ours: dict[str, Callable[[], object]] = {name: _run(model, q, v, None, name) for name in INTEGRATORS}
        ours |= _standing(model, q, v)
        label, peers = peer(model, q, v, DT, COUNT) if peer and not model.reduction else ("", {})
        names = list(ours)
        times = time_interleaved([*ours.values(), *(peers[name] for name in names if name in peers)], blocks, 0.03)
        taken = dict(zip([name for name in names if name in peers], times[len(names) :]))
        for name, time in zip(names, times):
            theirs = taken[name] / COUNT if name in taken else None
            found.append(StepTiming(model.name, name, time / COUNT, label if theirs else None, theirs))
    return tuple(found)


def _run(model: Model, q: np.ndarray, v: np.ndarray, held: Any, integrator: str) -> Callable[[], object]:
    return lambda: simulate(model, q, v, dt=DT, duration=DT * COUNT, constraints=held, integrator=integrator)


def _standing(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], object]]:
    try:
        stance = ConstraintSet(model, contacts.feet_by_name(model))
        return {"rk4, contacts": _run(model, q, project_velocity(model, q, v, constraints=stance), stance, "rk4")}
    except FreeflyerError:
        return {}


SIZES = ((33, 48, 6), (40, 60, 12), (80, 120, 30))  # variables, two-sided rows, of which equalities
ACCURACY = 1e-9


def solver_times(blocks: int, block_seconds: float, progress: Progress) -> tuple[SolverTiming, ...]:
    """Every installed solver on a random program of each size."""
    found = []
    for n, m, equal in SIZES:
        program = random_program(n, m, equal)
        for solver in solvers():
            progress(0.0, f"{solver}: {n} variables, {m} rows")
            found.append(_time(solver, program, blocks, block_seconds))
    return tuple(found)


def random_program(n: int, m: int, equal: int) -> tuple[np.ndarray, ...]:
    """(H, g, A, lower, upper) with a feasible point; the last third of the rows has no lower limit."""
    rng = np.random.default_rng(n)
    J = rng.standard_normal((n + 20, n))
    A = rng.standard_normal((m, n))
    value = A @ rng.standard_normal(n)
    lower, upper = value - rng.uniform(0.0, 2.0, m), value + rng.uniform(0.0, 2.0, m)
    lower[:equal] = upper[:equal] = value[:equal]
    lower[2 * m // 3 :] = -np.inf
    return J.T @ J + 1e-3 * np.eye(n), 10.0 * rng.standard_normal(n), A, lower, upper


def _time(solver: str, program: tuple[np.ndarray, ...], blocks: int, block_seconds: float) -> SolverTiming:
    first = solve_qp(*program, solver=solver)
    bare, bare_warm = _bare(solver, program, first)
    ours: list[Call] = [lambda: solve_qp(*program, solver=solver), lambda: solve_qp(*program, solver=solver, warm=first)]
    alone, alone_warm, call, warm = time_interleaved([bare, bare_warm, *ours], blocks, block_seconds)
    n, m = len(program[1]), len(program[2])
    return SolverTiming(solver, n, m, alone, call, alone_warm, warm, first.iterations)


def _bare(solver: str, program: tuple[np.ndarray, ...], first: Any) -> tuple[Call, Call]:
    """The solver as its own documentation calls it, to the same accuracy, cold and warm; for others than daqp: by qpsolvers."""
    H, g, A, lower, upper = program
    if solver == ACTIVE_SET:
        p = quadratic_program(*program)
        return lambda: by_active_set(p, None, None), lambda: by_active_set(p, None, first)
    if solver == "daqp":
        import daqp

        return (
            lambda: daqp.solve(H, g, A, upper, lower, primal_tol=ACCURACY),
            lambda: daqp.solve(H, g, A, upper, lower, primal_tol=ACCURACY, dual_start=first.dual),
        )
    import qpsolvers
    from scipy.sparse import csc_matrix

    equal, below = lower == upper, np.isfinite(lower)
    G = np.concatenate((A[~equal], -A[~equal & below]))
    h = np.concatenate((upper[~equal], -lower[~equal & below]))
    options: dict[str, Any] = {"eps_abs": ACCURACY, "eps_rel": 0.0} if solver in ("osqp", "proxqp", "piqp") else {}
    matrices = [H, G, A[equal]]
    if solver == "osqp":  # takes sparse matrices, and warns about others
        options |= {"max_iter": 20000}
        matrices = [csc_matrix(x) for x in matrices]
    problem = qpsolvers.Problem(matrices[0], g, matrices[1], h, matrices[2], upper[equal])
    return (
        lambda: qpsolvers.solve_problem(problem, solver, **options),
        lambda: qpsolvers.solve_problem(problem, solver, initvals=first.x, **options),
    )
