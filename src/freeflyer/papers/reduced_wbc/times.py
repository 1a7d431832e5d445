"""Table 3 and Fig 5: times of both methods along a motion, and the identity of each cycle: the base rows of the dynamics vanish."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from freeflyer.bench.standing import sway
from freeflyer.control.coordinates import base_coordinates
from freeflyer.control.problem import Problem
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.papers.reduced_wbc.cycles import METHODS, WAYS, Cycle, call_cost
from freeflyer.papers.reduced_wbc.robot import robot
from freeflyer.papers.reduced_wbc.stances import Stance, stance
from freeflyer.progress import Progress

CYCLES = 100  # of Table 3
CYCLES_OF_SIZES = 30  # of each robot of Fig 5
SIZES = (20, 25, 30, 35, 40, 45)
FIRST = 3  # cycles that do not count: caches, compiled functions


@dataclass(frozen=True)
class Timing:
    """One method, solved in one way: mean and largest us of a cycle; means of its parts, as in Cycle; quadratic programs
    a cycle; us of the smallest one; `again`: cycles in which LQP 1 was solved twice; `base`: the largest base row of
    M a + h - J^T F over the weight."""

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
    call: float
    again: int
    base: float

    @property
    def solving(self) -> float:
        """us of LQP 1 and LQP 2, or of the conventional program."""
        return self.first + self.second

    @property
    def beyond_calls(self) -> float:
        """us of solving beyond what as many of the smallest programs take."""
        return self.solving - self.programs * self.call


def times(st: Stance, count: int) -> tuple[Timing, ...]:
    """Both methods in both ways, at so many states of a sway about the posture, in turn after each cycle; the thread's own time, as
    others may use the machine."""
    problem = st.problem
    q, v = sway(problem.constraints, st.q, count)
    pairs = [(method, way) for way in WAYS for method in METHODS]
    found: list[list[Cycle]] = [[] for _ in pairs]
    was_on = gc.isenabled()
    gc.disable()
    try:
        for k in [*range(min(FIRST, count)), *range(count)]:
            for cycles, (method, way) in zip(found, pairs):
                cycles.append(METHODS[method](problem, q[k], v[k], way))
    finally:
        if was_on:
            gc.enable()
    def worst(cycles: list[Cycle]) -> float:
        return max(base_residual(problem, *x) for x in zip(q, v, cycles))

    kept = [cycles[-count:] for cycles in found]
    calls = {way: call_cost(way.solver, count) for way in WAYS}
    return tuple([_timing(st, method, way.name, cycles, calls[way], worst(cycles)) for (method, way), cycles in zip(pairs, kept)])


def sizes(progress: Progress) -> tuple[Timing, ...]:
    """Our humanoid in double support with more and more joints, all of which no contact needs."""
    found: list[Timing] = []
    for k, joints in enumerate(SIZES):
        progress(k / len(SIZES), f"Fig 5: {joints} joints")
        found += times(stance(robot(None, joints), "double", orientation=False), CYCLES_OF_SIZES)
    return tuple(found)


def saving(timings: tuple[Timing, ...], field: str = "mean") -> float:
    """Share of the conventional method's time that the reduced one saves; of one way and robot."""
    by = {t.method: getattr(t, field) for t in timings}
    return 1.0 - by["reduced"] / by["conventional"]


def base_residual(problem: Problem, q: np.ndarray, v: np.ndarray, cycle: Cycle) -> float:
    """The largest base row of M a + h - J^T F over the weight; inverse dynamics knows nothing of how a and F were found."""
    model = problem.model
    left = inverse_dynamics(model, q, v, cycle.a) - problem.constraints.jacobian(q).T @ cycle.F
    weight = model.mass * float(np.linalg.norm(model.gravity))
    return float(np.abs(left[base_coordinates(model)]).max() / weight)


def _timing(st: Stance, method: str, way: str, cycles: list[Cycle], call: float, base: float) -> Timing:
    terms, dynamics, first, second = (1e6 * fmean(c.seconds[k] for c in cycles) for k in range(4))
    return Timing(
        st.support, st.problem.model.nv - 6, method, way, len(cycles), terms + dynamics + first + second,
        1e6 * max(c.total for c in cycles), terms, dynamics, first, second, fmean(c.programs for c in cycles),
        1e6 * call, sum(c.again for c in cycles), base,
    )  # fmt: skip
