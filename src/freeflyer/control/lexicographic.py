"""Solutions of programs: all levels at once by the compiled active set, or level by level by a solver of quadratic programs."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from freeflyer.control.rows import HARD, Program, Rows, hold
from freeflyer.optimization.active_set import solve_levels
from freeflyer.optimization.errors import SolverError
from freeflyer.optimization.hierarchy import ACTIVE_SET, FALLBACK, Level, solve_hierarchy

CASCADE_TOLERANCES = (1e-11, 1e-8, 1e-6)  # of programs level by level, the later ones where the first fails


class Found(NamedTuple):
    """x (n,) of a program; held: rows that hold x (optimization.active_set), None by other solvers; rounds or iterations; whether
    x is optimal, or the rounds ran out at limits that meet in one point."""

    x: np.ndarray
    held: np.ndarray | None
    iterations: int
    optimal: bool = True


def solve_strictly(p: Program, *, solver: str = ACTIVE_SET, start: np.ndarray | None = None) -> Found:
    """The lexicographic optimum of a program. start: rows that are held at first. Errors: SolverError."""
    levels = [Level(*_joined(level.rows)) for level in p.levels if level.rows]
    if solver == ACTIVE_SET and levels:
        A, lower, upper, weights = (np.concatenate(part) for part in zip(*levels))
        ends = tuple(np.cumsum([len(level.lower) for level in levels]).tolist())
        guess = start if start is not None and len(start) == len(A) else None
        found = solve_levels(A, lower, upper, weights, ends, p.H, p.g, guess)
        if found is not None and (found.optimal or hold(p.levels[:HARD], found.x)):
            return Found(found.x, found.held, found.rounds, found.optimal)
    return _cascade(p, levels, FALLBACK if solver == ACTIVE_SET else solver)


def _cascade(p: Program, levels: list[Level], solver: str) -> Found:
    """Level by level, the regularisation last."""
    L = np.linalg.cholesky(p.H)
    b = -solve_triangular(L, p.g, lower=True)
    levels = [*levels, Level(L.T, b, b)]
    *first, last = CASCADE_TOLERANCES if solver == FALLBACK else CASCADE_TOLERANCES[1:]
    for tolerance in first:
        with suppress(SolverError):
            found = solve_hierarchy(levels, solver=solver, tolerance=tolerance)
            return Found(found.x, None, found.iterations)
    found = solve_hierarchy(levels, solver=solver, tolerance=last)
    return Found(found.x, None, found.iterations)


def _joined(rows: tuple[Rows, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, lower, upper, weights of rows, one after the other."""
    A, lower, upper = (np.concatenate([getattr(r, name) for r in rows]) for name in ("A", "lower", "upper"))
    return A, lower, upper, np.concatenate([np.ones(len(r.A)) if r.weights is None else r.weights for r in rows])
