"""Solutions of programs: by the compiled active set; if its rounds run out, as one quadratic program if all levels can be met at
once, else level by level, as by other solvers."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from freeflyer.control.rows import HARD, Program, Rows, hold
from freeflyer.optimization.active_set import solve_levels
from freeflyer.optimization.errors import SolverError
from freeflyer.optimization.hierarchy import ACTIVE_SET, FALLBACK, Level, solve_hierarchy
from freeflyer.optimization.quadratic import solve_qp
from freeflyer.tolerances import CONTROL_TOLERANCE, DEPENDENT_DIRECTION_RATIO

MAX_ROUNDS = 50  # of adding rows that were violated
CASCADE_TOLERANCES = (1e-11, 1e-8, 1e-6)  # of programs level by level, the later ones where the first fails


class Found(NamedTuple):
    """x (n,) of a program; held: rows that hold x (optimization.active_set), None by other solvers; rounds or iterations; whether
    x is optimal, or the rounds ran out at limits that meet in one point."""

    x: np.ndarray
    held: np.ndarray | None
    iterations: int
    optimal: bool = True


def solve_strictly(p: Program, *, solver: str = ACTIVE_SET, held: np.ndarray | None = None,
                   start: np.ndarray | None = None) -> Found:  # fmt: skip
    """The lexicographic optimum of a program. held: rows that are held at first; start: a point near x. Errors: SolverError."""
    levels = [Level(*_joined(level.rows)) for level in p.levels if level.rows]
    if solver == ACTIVE_SET and levels:
        A, lower, upper, weights = (np.concatenate(part) for part in zip(*levels))
        ends = tuple(np.cumsum([len(level.lower) for level in levels]).tolist())
        guess = held if held is not None and len(held) == len(A) else None
        near = start if start is not None and len(start) == len(p.g) else None
        found = solve_levels(A, lower, upper, weights, ends, p.H, p.g, guess, near)
        if found is not None and (found.optimal or hold(p.levels[:HARD], found.x)):
            return Found(found.x, found.held, found.rounds, found.optimal)
        together = _solve_together(p, A, lower, upper)
        if together is not None:
            return together
    return _cascade(p, levels, FALLBACK if solver == ACTIVE_SET else solver)


def _solve_together(p: Program, A: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Found | None:
    """The minimum of the regularisation subject to all rows, or None if they contradict each other.

    In y = L^T x the equations leave y0 + N z free. Of the inequalities the program gets only those that it was found to violate.
    """
    L, equal = np.linalg.cholesky(p.H), lower == upper
    rows = solve_triangular(L, A.T, lower=True).T
    E, e, C, low, high = rows[equal], upper[equal], rows[~equal], lower[~equal], upper[~equal]
    Q, R, order = qr(E.T, pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    rank = int((size > DEPENDENT_DIRECTION_RATIO * size.max(initial=0.0)).sum())
    y0 = Q[:, :rank] @ solve_triangular(R[:rank, :rank].T, e[order[:rank]], lower=True, check_finite=False)
    room = CONTROL_TOLERANCE * (1.0 + np.abs(E) @ np.abs(y0) + np.abs(e))
    if rank < len(E) and (np.abs(E @ y0 - e) > room).any():
        return None
    N, at = Q[:, rank:], C @ y0
    free, target, iterations = C @ N, -N.T @ solve_triangular(L, p.g, lower=True), 0
    z, chosen = target, np.zeros(len(C), bool)
    for _ in range(MAX_ROUNDS):
        if chosen.any():
            try:
                step = solve_qp(np.eye(len(z)), -target, free[chosen], (low - at)[chosen], (high - at)[chosen], solver=FALLBACK)
            except SolverError:
                return None
            z, iterations = step.x, iterations + step.iterations
        room = CONTROL_TOLERANCE * (1.0 + np.abs(C) @ np.abs(y0 + N @ z))
        beyond = ~chosen & ((at + free @ z < low - room) | (at + free @ z > high + room))
        if not beyond.any():
            return Found(solve_triangular(L, y0 + N @ z, lower=True, trans=1), None, iterations)
        chosen |= beyond
    return None


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
