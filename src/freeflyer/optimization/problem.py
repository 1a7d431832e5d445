"""A convex quadratic program, what is wrong with arguments that describe none, what a solver found, and how well that satisfies
the conditions of optimality."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from freeflyer.errors import InputError
from freeflyer.kernels.entries import PROGRAM_RESIDUALS
from freeflyer.kernels.model.layout import PROGRAMS
from freeflyer.model.inputs import real_array
from freeflyer.optimization.compiled import Sizes, call, sizes_table
from freeflyer.tolerances import HESSIAN_ROUNDING, SMALL_EQUATION_RATIO

FLOAT = np.dtype(np.float64)


class QuadraticProgram(NamedTuple):
    """min 1/2 x^T H x + g^T x so that lower <= (x; A x) <= upper.

    H (n, n), g (n,), A (m, n). lower, upper (b + m,): limits of the first b variables (b is n or 0), then of the rows of A."""

    H: np.ndarray
    g: np.ndarray
    A: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def bounded(self) -> int:
        """b: how many variables have bounds."""
        return len(self.lower) - len(self.A)

    def rows(self) -> np.ndarray:
        """All rows (b + m, n), those of the bounds first."""
        return np.concatenate((np.eye(len(self.g))[: self.bounded], self.A))

    def unsolved(self, outcome: str, status: str, iterations: int = 0) -> Attempt:
        """The result of a solver that returns neither x nor multipliers."""
        return Attempt(np.full(len(self.g), np.nan), np.full(len(self.lower), np.nan), outcome, status, iterations)


def quadratic_program(H: Any, g: Any, A: Any = None, lower: Any = None, upper: Any = None, x_lower: Any = None,
                      x_upper: Any = None) -> QuadraticProgram:
    """Arguments as arrays of the right shapes. Numbers are looked at where an answer fails (`refuse_numbers`)."""
    if x_lower is None and x_upper is None and _plain(H, g, A, lower, upper):
        return QuadraticProgram(H, g, A, lower, upper)
    H, g = real_array("H", H), real_array("g", g)
    n = g.size
    _shape("g", g, (n,), "a row of numbers")
    _shape("H", H, (n, n), "one row and column for each entry of g")
    A = np.zeros((0, n)) if A is None else real_array("A", A)
    m = len(np.atleast_1d(A))
    _shape("A", A, (m, n), "one column for each entry of g")
    lower = _limit("lower", lower, m, -np.inf, "one entry for each row of A")
    upper = _limit("upper", upper, m, np.inf, "one entry for each row of A")
    if x_lower is None and x_upper is None:
        return QuadraticProgram(H, g, A, lower, upper)
    below = _limit("x_lower", x_lower, n, -np.inf, "one entry for each entry of g")
    above = _limit("x_upper", x_upper, n, np.inf, "one entry for each entry of g")
    return QuadraticProgram(H, g, A, np.concatenate((below, lower)), np.concatenate((above, upper)))


def _plain(H: Any, g: Any, A: Any, lower: Any, upper: Any) -> bool:
    """Whether all are arrays of float64 whose shapes fit."""
    if not (type(H) is type(g) is type(A) is type(lower) is type(upper) is np.ndarray):
        return False
    if not (H.dtype is g.dtype is A.dtype is lower.dtype is upper.dtype is FLOAT):
        return False
    n, m = g.shape, lower.shape
    return len(n) == len(m) == 1 and H.shape == n + n and A.shape == m + n and upper.shape == m


def refuse_numbers(p: QuadraticProgram) -> None:
    """InputError for numbers that are not finite, limits that cross, a matrix H that is not symmetric positive semidefinite."""
    for name, x in (("H", p.H), ("g", p.g), ("A", p.A)):
        if not np.isfinite(x).all():
            raise InputError(f"{name} holds {x[~np.isfinite(x)][0]}: all its entries must be finite", argument=name)
    for name, x, open_end in (("lower", p.lower, np.inf), ("upper", p.upper, -np.inf)):
        wrong = np.flatnonzero(np.isnan(x) | (x == open_end))
        if len(wrong):
            i = int(wrong[0])
            raise InputError(f"{_where(p, i)} has the {name} limit {x[i]}: give a number, or {-open_end} for none", argument=name)
    size = float(np.abs(p.H).max(initial=0.0))
    if size and (gap := float(np.abs(p.H - p.H.T).max())) > HESSIAN_ROUNDING * size:
        raise InputError(f"H must be symmetric; H - H^T has an entry of {gap:.3g}: give (H + H^T) / 2", gap=gap)
    if size and (least := float(np.linalg.eigvalsh(p.H)[0])) < -HESSIAN_ROUNDING * size * len(p.g):
        raise InputError(f"H must be positive semidefinite; it has the eigenvalue {least:.3g}", eigenvalue=least)


def _where(p: QuadraticProgram, i: int) -> str:
    return f"variable {i}" if i < p.bounded else f"row {i - p.bounded} of A"


def _limit(name: str, x: Any, count: int, absent: float, reason: str) -> np.ndarray:
    if x is None:
        return np.full(count, absent)
    x = real_array(name, x)
    _shape(name, x, (count,), reason)
    return np.asarray(x)


def _shape(name: str, x: np.ndarray, shape: tuple[int, ...], reason: str) -> None:
    if x.shape != shape:
        raise InputError(f"{name} must have shape {shape}, {reason}; got {x.shape}", argument=name, shape=x.shape)


class Solution(NamedTuple):
    """Minimum of a quadratic program, checked.

    Attributes:
        x: (n,) array.
        value: 1/2 x^T H x + g^T x.
        dual: (b + m,) array; multipliers of the bounds (b is n or 0), then of the rows, positive where an upper limit holds x,
            negative where a lower one does: H x + g + A^T multipliers + bound_multipliers = 0.
        rows: int, m.
        accuracy: Largest relative residual, at most the tolerance.
        iterations: Number of iterations of the solver.
        polished: Whether it was solved again with its active limits as equalities.

    Examples:
        >>> H, g, A = np.diag([1.0, 2.0]), np.array([-3.0, 1.0]), np.array([[1.0, 1.0]])
        >>> s = ff.optimization.solve_qp(H, g, A, [1.0], [1.0])
        >>> np.round(s.x, 6), np.round(s.multipliers, 6), bool(np.allclose(H @ s.x + g + A.T @ s.multipliers, 0.0))
        (array([ 2., -1.]), array([1.]), True)
    """

    x: np.ndarray
    value: float
    dual: np.ndarray
    rows: int
    accuracy: float
    iterations: int
    polished: bool
    solver: str

    @property
    def multipliers(self) -> np.ndarray:
        """Multipliers (m,) of the rows of A."""
        return self.dual[len(self.dual) - self.rows :]

    @property
    def bound_multipliers(self) -> np.ndarray:
        """Multipliers (n,) of the bounds of x; zeros where none were given."""
        bounds = self.dual[: len(self.dual) - self.rows]
        return bounds if len(bounds) else np.zeros(len(self.x))

    @property
    def active(self) -> np.ndarray:
        """Which limits hold x (b + m,), those of the bounds first: 1 an upper limit, -1 a lower one, 0 none."""
        return np.sign(self.dual).astype(int)


class Attempt(NamedTuple):
    """The result of a solver. outcome: "solved", "limit" (of iterations or time) or "failed"; status: the solver's own. x and dual
    are NaN where the solver returns none."""

    x: np.ndarray
    dual: np.ndarray
    outcome: str
    status: str
    iterations: int


class Residuals(NamedTuple):
    """Relative residuals of the conditions of optimality (Karush, Kuhn and Tucker), the largest of each kind.

    lower <= C x <= upper,   H x + g + C^T y = 0,   y_i > 0 only at the upper limit of row i, y_i < 0 only at the lower one

    with C the rows of the bounds and of A. They are sufficient, for the program is convex. Each entry of a residual is compared
    with the size of its summed terms, so it is a backward error. The answer is exact for data that differ by so much, for any units
    of the variables and rows (Oettli and Prager, Numerische Mathematik 6, 1964).

    Attributes:
        primal: By how much a limit is exceeded, over the size of the row's terms, or over a row's largest entry where x is that
            small.
        dual: Residual of stationarity, over the size of its terms.
        complementarity: For a multiplier that is not zero, the distance from its limit or the stationarity residual without the
            multiplier, whichever is less.

    Examples:
        A badly scaled program without limits: where the solver ends, stationarity misses the whole slope.

        >>> try:
        ...     ff.optimization.solve_qp(np.diag([1.0, 1e-14]), [0.0, 1.0], solver="daqp")
        ... except ff.optimization.NumericalError as error:
        ...     print([round(x, 3) for x in error.data["residuals"]])
        [0.0, 1.0, 0.0]
    """

    primal: float
    dual: float
    complementarity: float


def residuals(p: QuadraticProgram, x: np.ndarray, y: np.ndarray) -> Residuals:
    """Residuals of x (n,) and multipliers y (b + m,); infinite where numbers are not finite or limits cross."""
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (p.lower <= p.upper).all()):
        return Residuals(np.inf, np.inf, np.inf)
    C = p.rows()
    passed, scale = limit_violations(C, p.lower, p.upper, x)
    sizes = np.abs(p.H) @ np.abs(x) + np.abs(p.g) + np.abs(y) @ np.abs(C)
    sizes = np.maximum(sizes, np.abs(p.H).max(axis=1, initial=0.0))
    sizes = np.maximum(sizes, SMALL_EQUATION_RATIO * sizes.max(initial=0.0))
    missing = np.abs(p.H @ x + p.g + y @ C)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(y > 0.0, p.upper - C @ x, C @ x - p.lower) / scale
        without = np.abs(y) / (sizes / np.abs(C)).min(axis=1, initial=np.inf)
    held = np.where(y != 0.0, np.minimum(np.abs(away), without), 0.0)
    return Residuals(_largest(passed), _largest(_relative(missing, sizes)), _largest(held))


def limit_violations(C: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how much C x exceeds each limit, relative, and the sizes that it is relative to."""
    value, terms, least = C @ x, np.abs(C) @ np.abs(x), np.abs(C).max(axis=1, initial=0.0)
    above, below = value - upper, lower - value
    limit = np.where(above > below, upper, lower)
    limit = np.where(np.isfinite(limit), limit, 0.0)
    scale = np.maximum(terms + np.abs(limit), least)
    return _relative(np.maximum(np.maximum(above, below), 0.0), scale), scale


def _relative(x: np.ndarray, size: np.ndarray) -> np.ndarray:
    return np.where(x > 0.0, x / np.where(size > 0.0, size, 1e-300), np.where(np.isnan(x), np.inf, 0.0))


def _largest(x: np.ndarray) -> float:
    return float(x.max(initial=0.0))


@lru_cache(maxsize=256)
def program_sizes(variables: int, limits: int, rows: int) -> Sizes:
    return sizes_table(PROGRAMS, [variables, limits, variables * variables, rows * variables, rows], max(variables, limits) + 8)


def squared_residuals(p: QuadraticProgram, x: np.ndarray, y: np.ndarray) -> list[float] | None:
    """Sums (5,) of x (n,) and its multipliers y (b + m,): see kernels/optimization/residuals.py. None where numbers are not finite
    or limits cross."""
    H, g, A, lower, upper = p
    sums = call(PROGRAM_RESIDUALS, program_sizes(len(g), len(upper), len(A)), g, H.ravel(), A.ravel(), lower, upper, x, y)
    return None if sums is None else sums[0].tolist()
