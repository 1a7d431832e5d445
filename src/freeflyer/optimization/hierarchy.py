"""Strict hierarchies: levels of rows lower <= A x <= upper, each met as well as those above it allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from freeflyer.errors import InputError, SolverError, format_value
from freeflyer.model.inputs import number, real_array
from freeflyer.model.public import public
from freeflyer.optimization.compiled import solve_levels
from freeflyer.optimization.problem import quadratic_program, refuse_numbers
from freeflyer.optimization.quadratic import check_solver, solve_qp
from freeflyer.tolerances import DEPENDENT_DIRECTION_RATIO, UNMET_TOLERANCES

ACTIVE_SET, FALLBACK = "active-set", "daqp"
TINY = 1e-300
CLEARLY_INDEPENDENT = 1e-8  # the smallest eigenvalue of products of rows of length 1, by which no direction is in doubt


class Level(NamedTuple):
    """Level of a hierarchy: rows lower <= A x <= upper of one priority.

    Args:
        A: (m, n) array.
        lower, upper: (m,) array, equal for equalities, infinite where there is no limit.
        weights: (m,) array, positive weights of the squared violations; None: 1.

    Examples:
        Two equalities that contradict each other, the second of three times the weight:

        >>> level = ff.optimization.Level([[1.0], [1.0]], [0.0, 1.0], [0.0, 1.0], weights=[1.0, 3.0])
        >>> np.round(ff.optimization.solve_hierarchy([level]).x, 6)
        array([0.75])
    """

    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    weights: np.ndarray | None = None


class HierarchySolution(NamedTuple):
    """Solution of a hierarchy.

    Attributes:
        x: (n,) array of least norm where the levels leave it free.
        violations: tuple of (m,) array, for each level A x minus the nearest value inside of its limits, computed from x.
        met: For each level whether all its rows hold.
        free: How many directions are left free below each level.
        iterations: Rounds of the active set, or iterations of the programs of all levels.
        held: (m,) array or None, for `warm=`. For each row of all levels it is -1 at its lower limit, 1 at its upper one, 2 for an
            equality, 0 for others. It is None from other solvers.

    Examples:
        x + y = 1 goes before x = 3 and y = 0, which then share the error:

        >>> h = ff.optimization.solve_hierarchy([([[1.0, 1.0]], [1.0], [1.0]), (np.eye(2), [3.0, 0.0], [3.0, 0.0])])
        >>> np.round(h.x, 6), np.round(h.violations[1], 6), h.met, h.free
        (array([ 2., -1.]), array([-1., -1.]), (True, False), (1, 0))
    """

    x: np.ndarray
    violations: tuple[np.ndarray, ...]
    met: tuple[bool, ...]
    free: tuple[int, ...]
    iterations: int
    held: np.ndarray | None = None


class _State(NamedTuple):
    """x so far; the basis N (n, r) of directions left free; inequalities lower <= C x <= upper of the levels so far."""

    x: np.ndarray
    N: np.ndarray
    C: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@public
def solve_hierarchy(levels: Sequence[Any], *, warm: HierarchySolution | None = None, solver: str = ACTIVE_SET,
                    tolerance: float = 1e-8) -> HierarchySolution:
    """Solution x of a strict hierarchy: levels of rows are met in their order, an earlier one is never changed for a later one.

    Lexicographic least squares with inequalities (Escande, Mansard and Wieber, IJRR 33(7), 2014). Level k minimises the weighted
    sum of squares of its violations over all x that are best for the levels above. The violations of a best x are unique; so rows
    that are violated, and equalities, become equations for the levels below, the others stay inequalities. Equations are eliminated
    by an orthonormal basis of the freedom that they leave. Every level is a quadratic program whose answer is checked.

    Args:
        levels: Tuples are (A, lower, upper) or (A, lower, upper, weights), as the fields of Level.
        warm: The solution of a hierarchy of the same shape: its rows are held at first.
        solver: "active-set": all levels at once by compiled code. A name that solve_qp takes: a program for each level by that
            solver.
        tolerance: See solve_qp; the active set always solves to 1e-10 of a row's terms.
    Returns: HierarchySolution. Levels that cannot be met are no errors; `met` and `violations` report them.

    Raises:
        InputError: For wrong shapes, limits that cross, numbers that are not finite and weights that are not positive.
        SolverError: As solve_qp; data["level"] is the level.

    Examples:
        A contact, x + y + z = 1, goes before limits of 0.6, and these before a posture:

        >>> contact, limits = ([[1.0, 1.0, 1.0]], [1.0], [1.0]), (np.eye(3), np.full(3, -0.6), np.full(3, 0.6))
        >>> posture = (np.eye(3), [2.0, 0.0, 0.0], [2.0, 0.0, 0.0])
        >>> h = ff.optimization.solve_hierarchy([contact, limits, posture])
        >>> np.round(h.x, 6), h.met
        (array([0.6, 0.2, 0.2]), (True, True, False))
    """
    if solver != ACTIVE_SET:
        check_solver(solver)
    number("tolerance", tolerance, 1e-14, 0.1)
    rows = _levels(levels)
    found = None
    if solver == ACTIVE_SET:
        ends = tuple(np.cumsum([len(level.A) for level in rows]).tolist())
        A = np.concatenate([level.A for level in rows])
        lower, upper = np.concatenate([level.lower for level in rows]), np.concatenate([level.upper for level in rows])
        weights = np.concatenate([np.ones(len(level.A)) if level.weights is None else level.weights for level in rows])
        guess = None if warm is None or warm.held is None or len(warm.held) != len(A) else warm.held
        found = solve_levels(A, lower, upper, weights, ends, guess=guess)
    if found is not None and found.optimal:
        x, iterations, held = found.x, found.rounds, found.held
    else:
        (x, iterations), held = _cascade(rows, FALLBACK if solver == ACTIVE_SET else solver, tolerance), None
    violations = tuple([_violation(level, x) for level in rows])
    unmet = [_unmet(level, x, v, tolerance) for level, v in zip(rows, violations)]
    free = _free_directions(len(x), [level.A[(level.lower == level.upper) | missed] for level, missed in zip(rows, unmet)])
    return HierarchySolution(x, violations, tuple([not missed.any() for missed in unmet]), free, iterations, held)


def _free_directions(n: int, fixed: list[np.ndarray]) -> tuple[int, ...]:
    """How many directions the fixed rows of each level and of those above leave free."""
    unit = np.concatenate(fixed)
    unit /= np.maximum(np.linalg.norm(unit, axis=1), TINY)[:, None]
    if 0 < len(unit) <= n and np.linalg.eigvalsh(unit @ unit.T)[0] > CLEARLY_INDEPENDENT:
        return tuple((n - np.cumsum([len(A) for A in fixed])).tolist())
    N, free = np.eye(n), []
    for A in fixed:
        N = _remaining_directions(N, A)
        free.append(N.shape[1])
    return tuple(free)


def _cascade(rows: list[Level], solver: str, tolerance: float) -> tuple[np.ndarray, int]:
    """x and iterations by a quadratic program for each level, in the directions that the levels above leave free."""
    n = rows[0].A.shape[1]
    state, iterations = _State(np.zeros(n), np.eye(n), np.zeros((0, n)), np.zeros(0), np.zeros(0)), 0
    for k, level in enumerate(rows):
        state, step = _descend(state, level, k, solver, tolerance)
        iterations += step
    z, step = _program(state, np.eye(state.N.shape[1]), -state.N.T @ state.x, None, len(rows), solver, tolerance)
    return state.x + state.N @ z, iterations + step


def _descend(s: _State, level: Level, k: int, solver: str, tolerance: float) -> tuple[_State, int]:
    """The state below a level, its best x and its rows as equations or inequalities; iterations."""
    A, lower, upper, weights = level
    w = np.ones(len(A)) if weights is None else weights
    equal = lower == upper
    B, at = _restrict(A, s.N), A @ s.x
    E = B[equal] * np.sqrt(w[equal])[:, None]
    target = (upper - at)[equal] * np.sqrt(w[equal])
    soft = ~equal & B.any(axis=1)
    rows = Level(B[soft], (lower - at)[soft], (upper - at)[soft], w[soft])
    z, step = _program(s, E, target, rows, k, solver, tolerance)
    x = s.x + s.N @ z
    v = _violation(level, x)
    fixed = equal | _unmet(level, x, v, tolerance)
    N = _remaining_directions(s.N, A[fixed])
    kept = ~fixed & (np.isfinite(lower) | np.isfinite(upper))
    below = _State(x, N, np.concatenate((s.C, A[kept])), np.append(s.lower, lower[kept]), np.append(s.upper, upper[kept]))
    return below, step


def _program(s: _State, E: np.ndarray, target: np.ndarray, rows: Level | None, k: int, solver: str,
             tolerance: float) -> tuple[np.ndarray, int]:
    """The step z (r,) that minimises |E z - target|^2 and the violations of soft rows A z, within the inequalities held so far.

    Violations are variables behind z. z = 0 keeps the inequalities: limits that x passes by rounding are moved to x."""
    r, soft = s.N.shape[1], 0 if rows is None else len(rows.A)
    if not (E.any() or soft):
        return np.zeros(r), 0
    at, C = s.C @ s.x, _restrict(s.C, s.N)
    free = ~C.any(axis=1)
    low, high = np.where(free, -np.inf, np.minimum(s.lower - at, 0.0)), np.where(free, np.inf, np.maximum(s.upper - at, 0.0))
    if free.all() and not soft:
        return np.asarray(np.linalg.lstsq(E, target, rcond=DEPENDENT_DIRECTION_RATIO)[0]), 0
    H, g, feasible = E.T @ E, -E.T @ target, np.zeros(r)
    if rows is not None and soft:
        C = np.block([[C, np.zeros((len(C), soft))], [rows.A, -np.eye(soft)]])
        low, high = np.append(low, rows.lower), np.append(high, rows.upper)
        H = np.block([[H, np.zeros((r, soft))], [np.zeros((soft, r)), np.diag(np.asarray(rows.weights))]])
        g, feasible = np.append(g, np.zeros(soft)), np.append(feasible, -np.clip(0.0, rows.lower, rows.upper))
    try:
        step = solve_qp(H, g, C, low, high, solver=solver, tolerance=tolerance, feasible=feasible)
    except SolverError as error:
        raise type(error)(f"level {k} of the hierarchy: {error}", level=k, **error.data) from error
    return step.x[:r], step.iterations


def _restrict(A: np.ndarray, N: np.ndarray) -> np.ndarray:
    """A N, rows that change by rounding only set to zero."""
    B = A @ N
    B[np.linalg.norm(B, axis=1) <= DEPENDENT_DIRECTION_RATIO * np.linalg.norm(A, axis=1)] = 0.0
    return np.asarray(B)


def _violation(level: Level, x: np.ndarray) -> np.ndarray:
    value = level.A @ x
    return np.asarray(value - np.clip(value, level.lower, level.upper))


def _unmet(level: Level, x: np.ndarray, violation: np.ndarray, tolerance: float) -> np.ndarray:
    limit = np.where(violation > 0.0, level.upper, level.lower)
    size = np.abs(level.A) @ np.abs(x) + np.abs(np.where(np.isfinite(limit), limit, 0.0))
    return np.asarray(np.abs(violation) > UNMET_TOLERANCES * tolerance * np.maximum(size, np.abs(level.A).max(axis=1, initial=0.0)))


def _remaining_directions(N: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Basis of the directions of N along which rows A do not change."""
    if not len(A) or not N.shape[1]:
        return N
    size = np.maximum(np.linalg.norm(A, axis=1), TINY)
    _, values, V = np.linalg.svd((A / size[:, None]) @ N, full_matrices=True)
    return np.asarray(N @ V[int((values > DEPENDENT_DIRECTION_RATIO).sum()) :].T)


def _levels(levels: Sequence[Any]) -> list[Level]:
    if not isinstance(levels, Sequence) or not len(levels):
        raise InputError(f"levels must be a list of at least one level (A, lower, upper), got {format_value(levels)}")
    found: list[Level] = []
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
            weights = real_array(f"weights of level {k}", more[0])
            if weights.shape != (len(p.A),) or not (np.isfinite(weights) & (weights > 0.0)).all():
                raise InputError(f"level {k}: weights must be {len(p.A)} positive numbers, one for each row", level=k)
        found.append(Level(p.A, p.lower, p.upper, weights))
    return found
