"""Solutions of programs: all levels at once if they can all be met, level by level if not."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from freeflyer.control.rows import Program, Rows
from freeflyer.optimization.errors import SolverError
from freeflyer.optimization.hierarchy import Level, solve_hierarchy
from freeflyer.optimization.quadratic import solve_qp
from freeflyer.tolerances import CONTROL_TOLERANCE, DEPENDENT_DIRECTION_RATIO

CASCADE_TOLERANCES = (1e-11, 1e-8, 1e-6)  # of programs level by level, the later ones where the first fails
MAX_ROUNDS = 50  # of adding rows that were violated


class Found(NamedTuple):
    """x (n,) of a program; way: "together" or "level by level"; limits: the inequalities that the last quadratic
    program was given, by number, for the next one; iterations of the solver."""

    x: np.ndarray
    way: str
    limits: tuple[int, ...]
    iterations: int


class _Stack(NamedTuple):
    """Equations E x = e, and inequalities lower <= C x <= upper."""

    E: np.ndarray
    e: np.ndarray
    C: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def solve_strictly(p: Program, *, solver: str, start: tuple[int, ...] = ()) -> Found:
    """The lexicographic optimum of a program.

    Where all levels can be met at once, it is the minimum of the regularisation subject to all of them: one quadratic program.
    Otherwise a cascade of programs. `start`: inequalities that the first attempt takes in. Errors: SolverError.
    """
    L = np.linalg.cholesky(p.H)
    found = solve_together(stack(p, len(p.levels)), L, p.g, solver, start)
    return _cascade(p, L, solver) if found is None else found


def solve_sequentially(p: Program, *, solver: str) -> Found:
    """The same optimum by a cascade alone: a program for each level, in the null space of the levels above. Errors: SolverError."""
    return _cascade(p, np.linalg.cholesky(p.H), solver)


def stack(p: Program, levels: int) -> _Stack:
    """All rows of the first levels: equations, and inequalities."""
    rows = [r for level in p.levels[:levels] for r in level.rows]
    n = len(p.g)
    equal = [r for r in rows if r.lower is r.upper]
    other = [r for r in rows if r.lower is not r.upper]
    E, e = _join(equal, n, "upper")
    C, upper = _join(other, n, "upper")
    lower = np.concatenate([r.lower for r in other]) if other else np.zeros(0)
    return _Stack(E, e, C, lower, upper)


def solve_together(s: _Stack, L: np.ndarray, g: np.ndarray, solver: str, start: tuple[int, ...]) -> Found | None:
    """The minimum of 1/2 |L^T x|^2 + g^T x subject to all rows, or None where they contradict each other.

    In y = L^T x the equations leave y0 + N z free, so that what is minimised is |z + N^T L^-1 g|^2 / 2. Of the inequalities the
    program gets only those that it has been found to violate.
    """
    E = solve_triangular(L, s.E.T, lower=True).T
    h = solve_triangular(L, g, lower=True)
    Q, R, order = qr(E.T, pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    rank = int((size > DEPENDENT_DIRECTION_RATIO * size.max(initial=0.0)).sum())
    y0 = Q[:, :rank] @ solve_triangular(R[:rank, :rank].T, s.e[order[:rank]], lower=True, check_finite=False)
    if rank < len(E) and not _close(E @ y0, s.e, np.abs(E) @ np.abs(y0)):
        return None
    N, C = Q[:, rank:], solve_triangular(L, s.C.T, lower=True).T
    at, free = C @ y0, C @ N
    target, iterations = -N.T @ h, 0
    chosen = np.zeros(len(C), bool)
    chosen[[k for k in start if k < len(C)]] = True
    z, wide = target, np.eye(len(target))
    for _ in range(MAX_ROUNDS):
        if chosen.any():
            try:
                step = solve_qp(wide, -target, free[chosen], (s.lower - at)[chosen], (s.upper - at)[chosen], solver=solver)
            except SolverError:
                return None
            z, iterations = step.x, iterations + step.iterations
        value = at + free @ z
        room = CONTROL_TOLERANCE * (1.0 + np.abs(C) @ np.abs(y0 + N @ z))
        beyond = ~chosen & ((value < s.lower - room) | (value > s.upper + room))
        if not beyond.any():
            x = solve_triangular(L, y0 + N @ z, lower=True, trans=1)
            return Found(x, "together", tuple(np.flatnonzero(chosen).tolist()), iterations)
        chosen |= beyond
    return None


def _cascade(p: Program, L: np.ndarray, solver: str) -> Found:
    """Level by level, the regularisation last."""
    levels = [Level(*_joined(level.rows, len(p.g))) for level in p.levels if level.rows]
    b = -solve_triangular(L, p.g, lower=True)
    *first, last = CASCADE_TOLERANCES if solver == "daqp" else CASCADE_TOLERANCES[1:]
    levels.append(Level(L.T, b, b))
    for tolerance in first:
        with suppress(SolverError):
            found = solve_hierarchy(levels, solver=solver, tolerance=tolerance)
            return Found(found.x, "level by level", (), found.iterations)
    found = solve_hierarchy(levels, solver=solver, tolerance=last)
    return Found(found.x, "level by level", (), found.iterations)


def _joined(rows: tuple[Rows, ...], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    A, upper = _join(rows, n, "upper")
    lower = np.concatenate([r.lower for r in rows])
    return A, lower, upper, np.concatenate([np.ones(len(r.A)) if r.weights is None else r.weights for r in rows])


def _join(rows: list[Rows] | tuple[Rows, ...], n: int, side: str) -> tuple[np.ndarray, np.ndarray]:
    if not rows:
        return np.zeros((0, n)), np.zeros(0)
    return np.concatenate([r.A for r in rows]), np.concatenate([getattr(r, side) for r in rows])


def _close(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> bool:
    return bool((np.abs(a - b) <= CONTROL_TOLERANCE * (1.0 + size + np.abs(b))).all())
