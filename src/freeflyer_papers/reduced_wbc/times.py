"""Table 3 and Fig 5: times of both methods along a motion, and the identity of each cycle: the base rows of the dynamics vanish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csc_matrix

from freeflyer.analysis.timing.results import no_collection
from freeflyer.analysis.timing.robots import sway
from freeflyer.control.inputs import base_coordinates
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.errors import SolverError
from freeflyer.optimization import hierarchy
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.optimization.problem import QuadraticProgram, quadratic_program
from freeflyer.optimization.quadratic import solve_qp, solvers
from freeflyer.progress import Progress
from freeflyer_papers.reduced_wbc import two_programs
from freeflyer_papers.reduced_wbc.cycles import METHODS, WAYS, Cycle, Way
from freeflyer_papers.reduced_wbc.robot import Stance, robot, stance

CYCLES = 100  # of Table 3
CYCLES_OF_SIZES = 30  # of each robot of Fig 5
SIZES = (20, 25, 30, 35, 40, 45)
FIRST = 3  # cycles that do not count: caches, compiled functions


@dataclass(frozen=True)
class Timing:
    """One method, solved in one way: mean and largest us of a cycle; means of its parts, as in Cycle; quadratic programs a cycle;
    `again`: cycles in which LQP 1 was solved twice; `base`: the largest base row of M a + h - J^T F over the weight."""

    support: str
    joints: int
    method: str
    way: str
    cycles: int
    mean: float
    largest: float
    terms: float
    dynamics: float
    first: float
    second: float
    programs: float
    again: int
    base: float

    @property
    def solving(self) -> float:
        """us of LQP 1 and LQP 2, or of the conventional program."""
        return self.first + self.second


def times(st: Stance, count: int) -> tuple[Timing, ...]:
    """Both methods in each way whose solver is installed, at so many states of a sway about the posture, the methods in turn; the
    thread's own time, as others may use the machine."""
    q, v = sway(st.problem.constraints, st.q, count)
    found: list[Timing] = []
    for way in [way for way in WAYS if way.solver in (ACTIVE_SET, *solvers())]:  # not in turn: after another solver caches are cold
        cycles: dict[str, list[Cycle]] = {method: [] for method in METHODS}
        with no_collection():
            for k in [*range(min(FIRST, count)), *range(count)]:
                for method, cycle in METHODS.items():
                    cycles[method].append(cycle(st.problem, q[k], v[k], way))
        for method, every in cycles.items():
            kept = every[-count:]
            worst = max(base_residual(st.problem, *x) for x in zip(q, v, kept))
            found.append(_timing(st, method, way.name, kept, worst))
    return tuple(found)


def sizes(progress: Progress) -> tuple[tuple[Timing, ...], tuple[SolverTiming, ...]]:
    """Our humanoid in double support with more and more joints, all of which no contact needs: cycles, and OSQP alone."""
    found: list[Timing] = []
    alone: list[SolverTiming] = []
    for k, joints in enumerate(SIZES):
        progress(k / len(SIZES), f"Fig 5: {joints} joints")
        st = stance(robot(None, joints), "double", orientation=False)
        found += times(st, CYCLES_OF_SIZES)
        alone += solver_times(st)
    return tuple(found), tuple(alone)


def saving(timings: Sequence[Timing | SolverTiming], field: str) -> float:
    """Share of the conventional method's time that the reduced one saves; of one robot, and one way or tolerance."""
    by = {t.method: getattr(t, field) for t in timings}
    return 1.0 - by["reduced"] / by["conventional"]


def base_residual(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, cycle: Cycle) -> float:
    """The largest base row of M a + h - J^T F over the weight; inverse dynamics knows nothing of how a and F were found."""
    model = problem.model
    left = inverse_dynamics(model, q, v, cycle.a) - problem.constraints.jacobian(q).T @ cycle.F
    weight = model.mass * float(np.linalg.norm(model.gravity))
    return float(np.abs(left[base_coordinates(model)]).max() / weight)


def _timing(st: Stance, method: str, way: str, cycles: list[Cycle], base: float) -> Timing:
    terms, dynamics, first, second = (1e6 * fmean(c.seconds[k] for c in cycles) for k in range(4))
    return Timing(st.support, st.problem.model.nv - 6, method, way, len(cycles), terms + dynamics + first + second,
        1e6 * max(c.total for c in cycles), terms, dynamics, first, second, fmean(c.programs for c in cycles),
        sum(c.again for c in cycles), base)  # fmt: skip


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
    return tuple([_solver_timing(st, method, tol, states) for tol in TOLERANCES for method, states in recorded.items()])


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
    solver.setup(csc_matrix(np.triu(p.H)), p.g, csc_matrix(p.rows()), p.lower, p.upper, eps_abs=tolerance, eps_rel=tolerance,
        max_iter=MOST_ITERATIONS, verbose=False)  # fmt: skip
    return solver.solve(raise_error=False)


def _solver_timing(st: Stance, method: str, tolerance: float, states: list[list[QuadraticProgram]]) -> SolverTiming:
    found = [[[solve_by_osqp(p, tolerance).info for _ in range(REPEATS)] for p in programs] for programs in states]

    def mean(field: str) -> float:
        return fmean(sum(min(getattr(info, field) for info in repeats) for repeats in programs) for programs in found)

    return SolverTiming(st.support, st.problem.model.nv - 6, method, tolerance, len(states),
        fmean(len(programs) for programs in states), mean("iter"), 1e6 * mean("setup_time"), 1e6 * mean("solve_time"),
        sum(repeats[0].status != "solved" for programs in found for repeats in programs))  # fmt: skip
