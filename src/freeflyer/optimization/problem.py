"""A convex quadratic program, what is wrong with arguments that describe none, and what a solver found."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from freeflyer.errors import InputError
from freeflyer.tolerances import HESSIAN_ROUNDING

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


def quadratic_program(
    H: Any, g: Any, A: Any = None, lower: Any = None, upper: Any = None, x_lower: Any = None, x_upper: Any = None
) -> QuadraticProgram:
    """Arguments as arrays of the right shapes. Numbers are looked at where an answer fails (`refuse_numbers`)."""
    if x_lower is None and x_upper is None and _plain(H, g, A, lower, upper):
        return QuadraticProgram(H, g, A, lower, upper)
    H, g = _array("H", H, 2), _array("g", g, 1)
    n = len(g)
    _shape("H", H, (n, n), "one row and column for each entry of g")
    A = np.zeros((0, n)) if A is None else _array("A", A, 2)
    m = len(A)
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


def first_crossed_row(p: QuadraticProgram) -> int | None:
    """The first row whose lower limit lies above its upper one."""
    wrong = np.flatnonzero(p.lower > p.upper)
    return int(wrong[0]) if len(wrong) else None


def _where(p: QuadraticProgram, i: int) -> str:
    return f"variable {i}" if i < p.bounded else f"row {i - p.bounded} of A"


def _array(name: str, x: Any, axes: int) -> np.ndarray:
    if type(x) is np.ndarray and x.dtype is FLOAT and x.ndim == axes:
        return x
    try:
        array = np.asarray(x)
        given = array
        if array.dtype.kind in "biuf" and array.ndim == axes:
            return array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, got {type(x).__name__}", argument=name) from None
    kind = f"shape {given.shape}" if given.dtype.kind in "biuf" else f"entries of type {given.dtype}"
    raise InputError(f"{name} must be an array of real numbers with {axes} axes, got {kind}", argument=name)


def _limit(name: str, x: Any, count: int, absent: float, reason: str) -> np.ndarray:
    if x is None:
        return np.full(count, absent)
    x = _array(name, x, 1)
    if len(x) != count:
        _shape(name, x, (count,), reason)
    return x


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
