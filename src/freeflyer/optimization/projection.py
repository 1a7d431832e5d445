"""The point nearest to another one within linear limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.optimization.problem import Solution
from freeflyer.optimization.quadratic import ACTIVE_SET, solve_qp


def nearest(
    point: ArrayLike, A: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, solver: str = ACTIVE_SET, warm: Solution | None = None
) -> Solution:
    """Point x nearest to another one within linear limits: |x - point| is least so that lower <= A x <= upper.

    Args:
        point: (n,) array.
        A: (m, n) array.
        lower, upper: (m,) array; infinite where there is no limit.
        solver, warm: See solve_qp.
    Returns: Solution. Its `value` is that of 1/2 x^T x - point^T x.
    Raises: InfeasibleError where the limits leave no x; others as solve_qp.

    Examples:
        The point of the plane x + y + z = 3 nearest to (3, 3, 0):

        >>> s = ff.optimization.nearest([3.0, 3.0, 0.0], [[1.0, 1.0, 1.0]], [3.0], [3.0])
        >>> np.round(s.x, 6)
        array([ 2.,  2., -1.])
    """
    wish = np.asarray(point, dtype=float)
    return solve_qp(np.eye(len(wish)), -wish, A, lower, upper, solver=solver, warm=warm)
