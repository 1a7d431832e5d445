"""Control cycles in their parts, each with its time: the conventional method, and the two programs of the reduced one.

Here programs are made by matrices, and a clock stands between the steps; Problem.solve does all of it in one compiled call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import thread_time
from typing import NamedTuple

import numpy as np

from freeflyer.control.problem import Formulation, Problem
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.tolerances import CONTROL_TOLERANCE
from freeflyer_papers.reduced_wbc.two_programs import (
    Lqp,
    conventional_program,
    second_program,
    split_program,
    with_centroidal,
)


@dataclass(frozen=True)
class Way:
    """A way of solving a cycle: its programs by a solver of quadratic programs level by level, or all of it by Problem.solve."""

    name: str
    solver: str

    def solve(self, program: Lqp) -> tuple[np.ndarray, int]:
        """x, and how many quadratic programs were solved. Errors: SolverError."""
        return program.solve(self.solver), 1 + len(program.levels())


WAYS = (Way("OSQP by qpsolvers, level by level", "osqp"), Way("Problem.solve, compiled", ACTIVE_SET))


class Cycle(NamedTuple):
    """a (nv,), F (k,) of one cycle; seconds for the terms of the state, the reduced dynamics, the first and the second program;
    programs: quadratic programs in all; again: whether the first part was solved twice."""

    a: np.ndarray
    F: np.ndarray
    seconds: tuple[float, float, float, float]
    programs: int
    again: bool

    @property
    def total(self) -> float:
        """s."""
        return sum(self.seconds)


def conventional(problem: Problem, q: np.ndarray, v: np.ndarray, way: Way, clock: Callable[[], float] = thread_time) -> Cycle:
    """All accelerations at once."""
    if way.solver == ACTIVE_SET:
        return _compiled(problem, q, v, "full", clock)
    t, n = [clock()], problem.model.nv
    whole = conventional_program(problem, q, v)
    t.append(clock())
    x, programs = way.solve(whole)
    t.append(clock())
    return Cycle(x[:n], x[n:], (t[1] - t[0], 0.0, t[2] - t[1], 0.0), programs, False)


def reduced(problem: Problem, q: np.ndarray, v: np.ndarray, way: Way, clock: Callable[[], float] = thread_time) -> Cycle:
    """The contacts' chains with the centroidal accelerations of the others, then these; once more if they cannot have those."""
    if way.solver == ACTIVE_SET:
        return _compiled(problem, q, v, "reduced", clock)
    t = [clock()]
    whole = conventional_program(problem, q, v)
    t.append(clock())
    split = split_program(problem, q, whole)
    t.append(clock())
    p, u, k, first, second, programs, again = *_parts(problem), len(split.A), 0.0, 0.0, 0, False
    while True:
        start = clock()
        x, one = way.solve(split.first)
        middle = clock()
        y, two = way.solve(second_program(problem, whole, split, x))
        reached, end = split.A @ y, clock()
        first, second, programs = first + middle - start, second + end - middle, programs + one + two
        missed = np.abs(reached - x[len(p) : len(p) + k]).max()
        if again or missed <= CONTROL_TOLERANCE * (1.0 + (np.abs(split.A) @ np.abs(y)).max()):
            break
        split, again = with_centroidal(problem, split, reached), True
    a = np.empty(problem.model.nv)
    a[p], a[u] = x[: len(p)], y
    return Cycle(a, x[len(p) + k :], (t[1] - t[0], t[2] - t[1], first, second), programs, again)


def _compiled(problem: Problem, q: np.ndarray, v: np.ndarray, formulation: Formulation, clock: Callable[[], float]) -> Cycle:
    """A cycle of Problem.solve, whose time has no parts."""
    begin = clock()
    found = problem.solve(q, v, formulation=formulation)
    seconds = clock() - begin
    assert found.asked is not None
    F, programs = found.asked[2][len(found.a) :], 2 if found.formulation == "reduced" else 1
    return Cycle(found.a, F, (0.0, 0.0, seconds, 0.0), programs, again=False)


def _parts(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the contacts' chains, and of the others."""
    return problem.chains.kept, problem.chains.unconstrained


METHODS: dict[str, Callable[..., Cycle]] = {"conventional": conventional, "reduced": reduced}
