"""Residuals of a quadratic program as sums of squares, by compiled code: the look that every answer gets."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from freeflyer.kernels.calls.running import bare_topology, handle, state
from freeflyer.kernels.entries import PROGRAM_RESIDUALS
from freeflyer.kernels.entry import OK
from freeflyer.kernels.model.program_layout import PROGRAMS
from freeflyer.model.frozen import frozen_array
from freeflyer.optimization.problem import QuadraticProgram


@lru_cache(maxsize=256)
def program_handle(variables: int, limits: int, rows: int) -> Any:
    """What compiled code knows programs of this size by: a topology of no robot, and its table."""
    table = [variables, limits, variables * variables, rows * variables, rows]
    return handle(frozen_array(bare_topology(PROGRAMS, table, variables)), frozen_array(np.zeros(8)))


def squared_residuals(p: QuadraticProgram, x: np.ndarray, y: np.ndarray) -> list[float] | None:
    """Sums (5,) of x (n,) and its multipliers y (b + m,): see kernels/optimization/residuals.py. None where numbers are not
    finite or limits cross."""
    H, g, A, lower, upper = p
    program = program_handle(len(g), len(upper), len(A))
    sums = PROGRAM_RESIDUALS.call(program, g, H.ravel(), A.ravel(), lower, upper, x, y, None)
    if sums is None:
        sums = np.empty(5)
        status, _ = state(PROGRAM_RESIDUALS, program, *(np.array(x, float).ravel() for x in (g, H, A, lower, upper, x, y)), sums)
        if status != OK:
            return None
    found: list[float] = sums.tolist()
    return found
