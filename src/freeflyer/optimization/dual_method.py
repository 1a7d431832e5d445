"""The dual method of Goldfarb and Idnani by compiled code (kernels/optimization/dual_method.py): the default of solve_qp."""

from __future__ import annotations

import numpy as np

from freeflyer.kernels.entries import SOLVE_PROGRAM
from freeflyer.optimization.compiled import call
from freeflyer.optimization.problem import Attempt, QuadraticProgram, Solution
from freeflyer.optimization.residuals import program_sizes

OUTCOMES = (
    ("solved", "optimal"), ("failed", "infeasible"), ("limit", "iteration limit"), ("failed", "not convex"),
    ("failed", "unbounded"),
)  # fmt: skip
FIRST_CHANGES, CHANGES = 100, 10  # allowed: these and so many for each limit


def attempt(p: QuadraticProgram, iterations: int | None, warm: Solution | None) -> Attempt:
    """One solution; `warm` gives the limits that are held at first, and is ignored if its size differs."""
    H, g, A, lower, upper = p
    count = len(lower)
    guess = warm.dual if warm is not None and len(warm.dual) == count else np.zeros(count)
    most = np.array([float(iterations or FIRST_CHANGES + CHANGES * count)])
    found = call(SOLVE_PROGRAM, program_sizes(len(g), count, len(A)), g, H.ravel(), A.ravel(), lower, upper, guess, most)
    if found is None:
        return Attempt(np.full(len(g), np.nan), np.full(count, np.nan), "failed", "refused numbers", 0)
    x, dual, verdict = found
    outcome, status = OUTCOMES[int(verdict[1])]
    if outcome != "solved":
        x, dual = np.full(len(g), np.nan), np.full(count, np.nan)
    return Attempt(x, dual, outcome, status, int(verdict[0]))
