"""Strict hierarchies: levels of rows lower <= A x <= upper, each met as well as those above it allow.

Lexicographic least squares with inequalities (Escande, Mansard and Wieber, IJRR 33(7), 2014): level k minimises the weighted sum of
squares of its violations over all x that are best for the levels above. The violations of a best x are unique; so rows that are
violated, and equalities, become equations for the levels below, the others stay inequalities. Equations are eliminated by an
orthonormal basis of what they leave free. Every level is a quadratic program whose answer is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from freeflyer.errors import InputError
from freeflyer.optimization.errors import SolverError
from freeflyer.optimization.problem import quadratic_program, refuse_numbers
from freeflyer.optimization.quadratic import solve_qp
from freeflyer.optimization.solution import Solution

DEPENDENT = 1e-9  # of the largest singular value: directions below count as left free
UNMET = 10.0  # tolerances: violations above, relative to the size of the row's terms, are violations


class Level(NamedTuple):
    """Rows of one priority: lower <= A x <= upper, A (m, n); weights (m,) of their squared violations, 1 without."""

    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray | None = None


class HierarchySolution(NamedTuple):
    """The x (n,) of a hierarchy, that of least norm where levels leave it free.

    violations: for each level A x minus the nearest value inside of its limits (m,), computed from x. met: whether a level's
    rows all hold. free: how many directions are left free below each level. steps: the programs' solutions, for `warm=`.
    """

    x: np.ndarray
    violations: tuple[np.ndarray, ...]
    met: tuple[bool, ...]
    free: tuple[int, ...]
    steps: tuple[Solution | None, ...]

    @property
    def iterations(self) -> int:
        """Iterations of all levels together."""
        return sum(s.iterations for s in self.steps if s is not None)


class _State(NamedTuple):
    """x so far; the basis N (n, r) of directions left free; inequalities lower <= C x <= upper of the levels so far."""

    x: np.ndarray
    N: np.ndarray
    C: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def solve_hierarchy(
    levels: Sequence[Any], *, warm: HierarchySolution | None = None, solver: str = "daqp", tolerance: float = 1e-8
) -> HierarchySolution:
    """The x (n,) that meets the levels in their order: the first comes first, whatever it costs those below.

    levels: `Level`s or tuples (A, lower, upper) or (A, lower, upper, weights), A (m, n), limits (m,), equal for equalities,
    infinite where there is none. warm: the solution of a hierarchy of the same shape. Levels that cannot be met are no errors:
    see `.met` and `.violations`.

        feet, posture = (J, b, b), (np.eye(n), a, a)
        h = solve_hierarchy([feet, (np.eye(n), -limit, limit), posture])

    Errors: as of solve_qp, `.data["level"]` says where; InputError for wrong shapes or limits that cross.
    """
    rows = _levels(levels)
    n = rows[0].A.shape[1]
    state = _State(np.zeros(n), np.eye(n), np.zeros((0, n)), np.zeros(0), np.zeros(0))
    steps: list[Solution | None] = []
    free = []
    for k, level in enumerate(rows):
        state, step = _descend(state, level, k, solver, tolerance, _warm(warm, k))
        steps.append(step)
        free.append(state.N.shape[1])
    z, step = _program(state, np.eye(free[-1]), state.N.T @ state.x, None, len(rows), solver, tolerance, _warm(warm, len(rows)))
    x = state.x + state.N @ z
    violations = tuple(_violation(level, x) for level in rows)
    met = tuple(not _unmet(level, x, v, tolerance).any() for level, v in zip(rows, violations))
    return HierarchySolution(x, violations, met, tuple(free), (*steps, step))


def _descend(
    s: _State, level: Level, k: int, solver: str, tolerance: float, warm: Solution | None
) -> tuple[_State, Solution | None]:
    """The state below a level: its best x, and its rows as equations or inequalities."""
    A, lower, upper, weights = level
    w = np.ones(len(A)) if weights is None else weights
    equal = lower == upper
    B, at = A @ s.N, A @ s.x
    E = B[equal] * np.sqrt(w[equal])[:, None]
    target = (upper - at)[equal] * np.sqrt(w[equal])
    z, step = _program(s, E.T @ E, -E.T @ target, _Soft(B, lower - at, upper - at, w, ~equal), k, solver, tolerance, warm)
    x = s.x + s.N @ z
    v = _violation(level, x)
    fixed = equal | _unmet(level, x, v, tolerance)
    N = _left(s.N, A[fixed])
    kept = ~fixed & (np.isfinite(lower) | np.isfinite(upper))
    below = _State(
        x, N, np.concatenate((s.C, A[kept])), np.append(s.lower, lower[kept]), np.append(s.upper, upper[kept])
    )
    return below, step


class _Soft(NamedTuple):
    """Rows of B z whose limits may be violated, with weights; `soft` says which rows are meant."""

    B: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray
    soft: np.ndarray


def _program(
    s: _State, H: np.ndarray, g: np.ndarray, rows: _Soft | None, k: int, solver: str, tolerance: float, warm: Solution | None
) -> tuple[np.ndarray, Solution | None]:
    """The step z (r,) that minimises 1/2 z^T H z + g^T z and the violations of soft rows, within the inequalities held so far.

    z = 0 keeps these: limits that x passes by rounding are moved to x.
    """
    r = s.N.shape[1]
    if r == 0:
        return np.zeros(0), None
    at = s.C @ s.x
    C, low, high = s.C @ s.N, np.minimum(s.lower - at, 0.0), np.maximum(s.upper - at, 0.0)
    if rows is None or not rows.soft.any():
        if not len(C):
            return np.asarray(np.linalg.lstsq(H, -g, rcond=DEPENDENT**2)[0]), None
        soft = 0
    else:
        B = rows.B[rows.soft]
        soft = len(B)
        C = np.block([[C, np.zeros((len(C), soft))], [B, -np.eye(soft)]])
        low, high = np.append(low, rows.lower[rows.soft]), np.append(high, rows.upper[rows.soft])
        H = np.block([[H, np.zeros((r, soft))], [np.zeros((soft, r)), np.diag(rows.weights[rows.soft])]])
        g = np.append(g, np.zeros(soft))
    try:
        step = solve_qp((H + H.T) / 2.0, g, C, low, high, solver=solver, tolerance=tolerance, warm=warm)
    except SolverError as error:
        raise type(error)(f"level {k} of the hierarchy: {error}", level=k, **error.data) from error
    return step.x[:r], step


def _violation(level: Level, x: np.ndarray) -> np.ndarray:
    value = level.A @ x
    return np.asarray(value - np.clip(value, level.lower, level.upper))


def _unmet(level: Level, x: np.ndarray, violation: np.ndarray, tolerance: float) -> np.ndarray:
    limit = np.where(violation > 0.0, level.upper, level.lower)
    size = np.abs(level.A) @ np.abs(x) + np.abs(np.where(np.isfinite(limit), limit, 0.0))
    return np.asarray(np.abs(violation) > UNMET * tolerance * np.maximum(size, np.abs(level.A).max(axis=1, initial=0.0)))


def _left(N: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Basis of the directions of N along which rows A do not change."""
    if not len(A) or not N.shape[1]:
        return N
    size = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    _, values, V = np.linalg.svd((A / size[:, None]) @ N, full_matrices=True)
    return np.asarray(N @ V[int((values > DEPENDENT).sum()) :].T)


def _warm(warm: HierarchySolution | None, k: int) -> Solution | None:
    return None if warm is None or k >= len(warm.steps) else warm.steps[k]


def _levels(levels: Sequence[Any]) -> list[Level]:
    if not len(levels):
        raise InputError("a hierarchy needs at least one level (A, lower, upper)")
    found = []
    for k, level in enumerate(levels):
        try:
            A, lower, upper, *more = level
        except (TypeError, ValueError):
            raise InputError(f"level {k} must be (A, lower, upper) or (A, lower, upper, weights)", level=k) from None
        n = np.shape(A)[1] if np.ndim(A) == 2 else 0
        if found and n != found[0].A.shape[1]:
            raise InputError(f"level {k} has {n} columns, level 0 has {found[0].A.shape[1]}: all are rows of the same x", level=k)
        try:
            p = quadratic_program(np.zeros((n, n)), np.zeros(n), A, lower, upper)
            refuse_numbers(p)
        except InputError as error:
            raise InputError(f"level {k}: {error}", level=k, **error.data) from None
        crossed = np.flatnonzero(p.lower > p.upper)
        if len(crossed):
            raise InputError(f"level {k}: the lower limit of row {crossed[0]} lies above its upper one", level=k)
        weights = None
        if more and more[0] is not None:
            weights = np.asarray(more[0], dtype=float)
            if weights.shape != (len(p.A),) or not (np.isfinite(weights) & (weights > 0.0)).all():
                raise InputError(f"level {k}: weights must be {len(p.A)} positive numbers, one for each row", level=k)
        found.append(Level(p.A, p.lower, p.upper, weights))
    return found
