"""The point nearest to another one within linear limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.optimization.quadratic import solve_qp
from freeflyer.optimization.solution import Solution


def nearest(
    point: ArrayLike, A: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, solver: str = "daqp", warm: Solution | None = None
) -> Solution:
    """The x (n,) that minimises |x - point| so that lower <= A x <= upper, A (m, n); limits may be infinite.

        nearest([2.0, 0.0], np.eye(2), [-1.0, -1.0], [1.0, 1.0]).x        # (1, 0)

    `value` is that of 1/2 x^T x - point^T x. Errors: as of solve_qp; InfeasibleError where the limits leave no x.
    """
    wish = np.asarray(point, dtype=float)
    return solve_qp(np.eye(len(wish)), -wish, A, lower, upper, solver=solver, warm=warm)
