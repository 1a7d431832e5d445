"""Table 3 and Fig 5: times of both methods along a motion, and the identity of each cycle: the base rows of the dynamics vanish."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from freeflyer.analysis.timing.standing import sway
from freeflyer.control.inputs import base_coordinates
from freeflyer.control.problem import Problem
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.optimization.quadratic import solvers
from freeflyer.progress import Progress
from freeflyer_papers.reduced_wbc.cycles import METHODS, WAYS, Cycle
from freeflyer_papers.reduced_wbc.robot import robot
from freeflyer_papers.reduced_wbc.solver_alone import SolverTiming, solver_times
from freeflyer_papers.reduced_wbc.stances import Stance, stance

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
        was_on = gc.isenabled()
        gc.disable()
        try:
            for k in [*range(min(FIRST, count)), *range(count)]:
                for method, cycle in METHODS.items():
                    cycles[method].append(cycle(st.problem, q[k], v[k], way))
        finally:
            if was_on:
                gc.enable()
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


def base_residual(problem: Problem, q: np.ndarray, v: np.ndarray, cycle: Cycle) -> float:
    """The largest base row of M a + h - J^T F over the weight; inverse dynamics knows nothing of how a and F were found."""
    model = problem.model
    left = inverse_dynamics(model, q, v, cycle.a) - problem.constraints.jacobian(q).T @ cycle.F
    weight = model.mass * float(np.linalg.norm(model.gravity))
    return float(np.abs(left[base_coordinates(model)]).max() / weight)


def _timing(st: Stance, method: str, way: str, cycles: list[Cycle], base: float) -> Timing:
    terms, dynamics, first, second = (1e6 * fmean(c.seconds[k] for c in cycles) for k in range(4))
    return Timing(
        st.support, st.problem.model.nv - 6, method, way, len(cycles), terms + dynamics + first + second,
        1e6 * max(c.total for c in cycles), terms, dynamics, first, second, fmean(c.programs for c in cycles),
        sum(c.again for c in cycles), base,
    )  # fmt: skip
