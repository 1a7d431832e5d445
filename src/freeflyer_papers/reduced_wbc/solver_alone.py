"""OSQP alone: its own times for setup and solution of a cycle's programs, without Python, qpsolvers and the terms of the state.

The programs are recorded from the cycles, solved by daqp. OSQP gets them as it takes them: lower <= A x <= upper, rows of two sides
as one. qpsolvers would split those in two, and build sparse matrices in every call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csc_matrix

from freeflyer.analysis.timing.standing import sway
from freeflyer.errors import SolverError
from freeflyer.optimization import hierarchy
from freeflyer.optimization.problem import QuadraticProgram, quadratic_program
from freeflyer.optimization.quadratic import solve_qp, solvers
from freeflyer_papers.reduced_wbc import two_programs
from freeflyer_papers.reduced_wbc.cycles import METHODS, Way
from freeflyer_papers.reduced_wbc.stances import Stance

TOLERANCES = (1e-3, 1e-4)  # absolute and relative; the first is OSQP's default
STATES = 20
REPEATS = 3  # of each program, the least time counts: OSQP's clock does not stop while others have the processor
MOST_ITERATIONS = 20000
RECORDED = Way("daqp, level by level", "daqp")


@dataclass(frozen=True)
class SolverTiming:
    """OSQP alone for one method at one tolerance: sums over the programs of a cycle, means over states. Times in us; unsolved:
    programs of all states that OSQP did not solve to the tolerance."""

    support: str
    joints: int
    method: str
    tolerance: float
    states: int
    programs: float
    iterations: float
    setup: float
    solve: float
    unsolved: int

    @property
    def total(self) -> float:
        """us: setup and solution."""
        return self.setup + self.solve


def solver_times(st: Stance) -> tuple[SolverTiming, ...]:
    """Both methods at both tolerances, on programs of a sway about the posture; none if OSQP is not installed."""
    if "osqp" not in solvers():
        return ()
    q, v = sway(st.problem.constraints, st.q, STATES)
    recorded: dict[str, list[list[QuadraticProgram]]] = {method: [] for method in METHODS}
    for method, cycle in METHODS.items():
        for k in range(STATES):
            with recording() as programs:
                cycle(st.problem, q[k], v[k], RECORDED)
            recorded[method].append(programs)
    return tuple([_timing(st, method, tol, states) for tol in TOLERANCES for method, states in recorded.items()])


@contextmanager
def recording() -> Iterator[list[QuadraticProgram]]:
    """The programs of all hierarchies that are solved within; those of an attempt that fails are left out."""
    programs: list[QuadraticProgram] = []

    def program(H: Any, g: Any, A: Any, lower: Any, upper: Any, **options: Any) -> Any:
        programs.append(quadratic_program(H, g, A, lower, upper))
        return solve_qp(H, g, A, lower, upper, **options)

    def levels(*given: Any, **options: Any) -> Any:
        before = len(programs)
        try:
            return hierarchy.solve_hierarchy(*given, **options)
        except SolverError:
            del programs[before:]
            raise

    with patch.object(hierarchy, "solve_qp", program), patch.object(two_programs, "solve_hierarchy", levels):
        yield programs


def solve_by_osqp(p: QuadraticProgram, tolerance: float) -> Any:
    """OSQP's answer to a program: x, and info with its own times."""
    import osqp

    solver = osqp.OSQP()
    solver.setup(
        csc_matrix(np.triu(p.H)), p.g, csc_matrix(p.rows()), p.lower, p.upper, eps_abs=tolerance, eps_rel=tolerance,
        max_iter=MOST_ITERATIONS, verbose=False,
    )  # fmt: skip
    return solver.solve(raise_error=False)


def _timing(st: Stance, method: str, tolerance: float, states: list[list[QuadraticProgram]]) -> SolverTiming:
    found = [[[solve_by_osqp(p, tolerance).info for _ in range(REPEATS)] for p in programs] for programs in states]

    def mean(field: str) -> float:
        return fmean(sum(min(getattr(info, field) for info in repeats) for repeats in programs) for programs in found)

    return SolverTiming(
        st.support, st.problem.model.nv - 6, method, tolerance, len(states), fmean(len(programs) for programs in states),
        mean("iter"), 1e6 * mean("setup_time"), 1e6 * mean("solve_time"),
        sum(repeats[0].status != "solved" for programs in found for repeats in programs),
    )  # fmt: skip
