"""Quadratic programs of whole-body control: `solve_qp` by each installed solver, beside the solver called as its own
documentation does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.analysis.timing.results import Call, time_interleaved
from freeflyer.optimization import solve_qp, solvers
from freeflyer.optimization.dual_solvers import by_active_set
from freeflyer.optimization.problem import quadratic_program
from freeflyer.optimization.quadratic import ACTIVE_SET
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

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

        return (lambda: daqp.solve(H, g, A, upper, lower, primal_tol=ACCURACY),
            lambda: daqp.solve(H, g, A, upper, lower, primal_tol=ACCURACY, dual_start=first.dual))  # fmt: skip
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
    return (lambda: qpsolvers.solve_problem(problem, solver, **options),
        lambda: qpsolvers.solve_problem(problem, solver, initvals=first.x, **options))  # fmt: skip


@dataclass(frozen=True)
class SolverTiming:
    """One solver on one quadratic program: us a call of the bare solver and of ours, cold and warm; the solver's iterations."""

    solver: str
    variables: int
    rows: int
    bare: float | None
    call: float
    bare_warm: float | None
    warm: float
    iterations: int

    @property
    def overhead(self) -> float | None:
        """What conversion and checks add to a cold call, us."""
        return None if self.bare is None else self.call - self.bare


def solvers_table(timings: tuple[SolverTiming, ...]) -> Table:
    rows = [(t.solver, str(t.variables), str(t.rows), *map(us, (t.bare, t.call, t.overhead, t.bare_warm, t.warm)),
        str(t.iterations)) for t in timings]  # fmt: skip
    columns = ("solver", "variables", "rows", "bare", "solve_qp", "more", "bare, warm", "solve_qp, warm", "iterations")
    title = "quadratic programs: us a call, and what conversion and checks add"
    note = "bare: daqp.solve, or qpsolvers.solve_problem for the others; warm: begun with the solution"
    return Table(title, columns, rows, range(1, len(columns)), note)
