"""How well x and its multipliers satisfy the conditions of optimality: sums of squares by compiled code, or entry by entry."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from freeflyer.kernels.entries import PROGRAM_RESIDUALS
from freeflyer.kernels.model.layout import PROGRAMS
from freeflyer.optimization.compiled import Sizes, call, sizes_table
from freeflyer.optimization.problem import QuadraticProgram
from freeflyer.tolerances import SMALL_EQUATION_RATIO


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
