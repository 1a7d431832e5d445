"""Control cycles in their parts, each with its time: the conventional method, and the two programs of the reduced one.

The steps are those of freeflyer.control.solving, in their order; here a clock stands between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import thread_time
from typing import NamedTuple

import numpy as np

from freeflyer.control.assembly import Assembly, assemble
from freeflyer.control.condensed import solve_condensed
from freeflyer.control.levels import program_of
from freeflyer.control.lexicographic import solve_strictly
from freeflyer.control.motions import Motion, own_motion
from freeflyer.control.problem import Problem
from freeflyer.control.reduced import second_part, split_motion, with_centroidal
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.tolerances import CONTROL_TOLERANCE


class Answer(NamedTuple):
    """Accelerations (n,), contact forces (k,); how many quadratic programs were solved, at least."""

    alpha: np.ndarray
    F: np.ndarray
    programs: int


@dataclass(frozen=True)
class Way:
    """A way of solving a part: by a solver of quadratic programs level by level, or by this library's own as Problem.solve does."""

    name: str
    solver: str

    def solve(self, s: Assembly, m: Motion) -> Answer:
        """A part of a problem. Errors: SolverError."""
        own = self.solver == ACTIVE_SET
        short = solve_condensed(s, m) if own else None
        if short is not None:
            return Answer(short.alpha, short.F, 1)
        program = program_of(s, m)
        found = solve_strictly(program, solver=self.solver)
        n, levels = m.inertia.shape[1], 1 + sum(any(len(rows.A) for rows in level.rows) for level in program.levels)
        return Answer(found.x[:n], found.x[n:], 1 if own else levels)


WAYS = (Way("OSQP by qpsolvers, level by level", "osqp"), Way("active set, this library's default", ACTIVE_SET))


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
    t = [clock()]
    s = assemble(problem, q, v, None, "body")
    t.append(clock())
    x = way.solve(s, own_motion(s))
    t.append(clock())
    return Cycle(x.alpha, x.F, (t[1] - t[0], 0.0, t[2] - t[1], 0.0), x.programs, False)


def reduced(problem: Problem, q: np.ndarray, v: np.ndarray, way: Way, clock: Callable[[], float] = thread_time) -> Cycle:
    """The contacts' chains with the centroidal accelerations of the others, then these; once more where they cannot have those."""
    t = [clock()]
    s = assemble(problem, q, v, None, "body")
    t.append(clock())
    m, chains = own_motion(s), problem.chains
    split = split_motion(s, m)
    t.append(clock())
    part, first, second, programs = split.first, 0.0, 0.0, 0
    for again in (False, True):
        start = clock()
        one = way.solve(s, part)
        middle = clock()
        a_p, target = one.alpha[: len(chains.kept)], one.alpha[len(chains.kept) :]
        rest = second_part(s, m, split, a_p, target, part.forces(one.alpha, one.F)[part.driven])
        two = way.solve(s, rest)
        reached = split.A @ two.alpha
        end = clock()
        first, second = first + middle - start, second + end - middle
        programs += one.programs + two.programs
        if np.abs(reached - target).max() <= CONTROL_TOLERANCE * (1.0 + np.abs(split.A) @ np.abs(two.alpha)).max():
            break
        if not again:
            part = with_centroidal(split.first, reached)
    a = np.empty(len(m.h))
    a[chains.kept], a[chains.unconstrained] = a_p, two.alpha
    return Cycle(a, one.F, (t[1] - t[0], t[2] - t[1], first, second), programs, part is not split.first)


METHODS: dict[str, Callable[..., Cycle]] = {"conventional": conventional, "reduced": reduced}
