"""What a solver found, checked or not yet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
