"""Residuals of a quadratic program as sums of squares, by compiled code: the look that every answer gets."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from freeflyer.kernels.entries import PROGRAM_RESIDUALS
from freeflyer.kernels.model.program_layout import PROGRAMS
from freeflyer.optimization.compiled import Sizes, call, sizes_table
from freeflyer.optimization.problem import QuadraticProgram


@lru_cache(maxsize=256)
def program_sizes(variables: int, limits: int, rows: int) -> Sizes:
    return sizes_table(PROGRAMS, [variables, limits, variables * variables, rows * variables, rows], max(variables, limits) + 8)


def squared_residuals(p: QuadraticProgram, x: np.ndarray, y: np.ndarray) -> list[float] | None:
    """Sums (5,) of x (n,) and its multipliers y (b + m,): see kernels/optimization/residuals.py. None where numbers are not finite
    or limits cross."""
    H, g, A, lower, upper = p
    sums = call(PROGRAM_RESIDUALS, program_sizes(len(g), len(upper), len(A)), g, H.ravel(), A.ravel(), lower, upper, x, y)
    return None if sums is None else sums[0].tolist()
