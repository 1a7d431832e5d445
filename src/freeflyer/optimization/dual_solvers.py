"""Dual active-set methods: that of Goldfarb and Idnani by compiled code (kernels/optimization/dual_method.py), the default of
solve_qp, and daqp (Arnstrom, Bemporad and Axehill, IEEE TAC 67(8), 2022)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from daqp import solve

from freeflyer.kernels.entries import SOLVE_PROGRAM
from freeflyer.optimization.compiled import call
from freeflyer.optimization.problem import Attempt, QuadraticProgram, Solution, program_sizes
from freeflyer.tolerances import PROXIMAL_STEP, SOLVER_TOLERANCE_SHARE

OUTCOMES = (
    ("solved", "optimal"), ("failed", "infeasible"), ("limit", "iteration limit"), ("failed", "not convex"),
    ("failed", "unbounded"))  # fmt: skip
FIRST_CHANGES, CHANGES = 100, 10  # allowed: these and so many for each limit
# of daqp, tried where rows depend on each other, which it would report as infeasible; polishing makes up for them
LOOSER_TOLERANCES = (1e-9, 1e-7, 1e-6, 1e-5)
FLAGS = {
    1: ("solved", "optimal"), 2: ("solved", "optimal"), -1: ("failed", "infeasible"), -2: ("failed", "cycling"),
    -3: ("failed", "unbounded"), -4: ("limit", "iteration limit"), -5: ("failed", "not convex"),
    -6: ("failed", "more rows hold at the start than are independent"), -7: ("limit", "time limit"), -8: ("failed", "unsupported"),
}  # fmt: skip
MAX_ITERATIONS = 10000  # iterations, daqp's own default
CLOSE_ITERATIONS = 1000  # iterations with short proximal steps, which far from the origin are too short for rounding to end
UNBOUNDED, ITERATION_LIMIT = -3, -4


def by_active_set(p: QuadraticProgram, iterations: int | None, warm: Solution | None) -> Attempt:
    """One solution; `warm` gives the limits that are held at first, and is ignored if its size differs."""
    H, g, A, lower, upper = p
    count = len(lower)
    guess = warm.dual if warm is not None and len(warm.dual) == count else np.zeros(count)
    most = np.array([float(iterations or FIRST_CHANGES + CHANGES * count)])
    found = call(SOLVE_PROGRAM, program_sizes(len(g), count, len(A)), g, H.ravel(), A.ravel(), lower, upper, guess, most)
    if found is None:
        return p.unsolved("failed", "refused numbers")
    x, dual, verdict = found
    outcome, status = OUTCOMES[int(verdict[1])]
    if outcome != "solved":
        return p.unsolved(outcome, status, int(verdict[0]))
    return Attempt(x, dual, outcome, status, int(verdict[0]))


def by_daqp(p: QuadraticProgram, tolerance: float, iterations: int | None, seconds: float | None, warm: Solution | None) -> Attempt:
    """One solution by daqp.solve; `warm` gives the first active set, and is ignored where its size differs.

    Without a solution daqp leaves the memory of the multipliers as it found it, and that of x as well, or fills it with numbers of
    a transformed problem; only of unbounded programs it returns its last iterate. What it does not return is NaN here."""
    H, g, A, lower, upper = [x if x.flags.writeable else x.copy() for x in p]  # daqp takes no others
    given: dict[str, Any] = {"primal_tol": SOLVER_TOLERANCE_SHARE * tolerance, "time_limit": seconds or 0.0}
    if warm is not None and len(warm.dual) == len(lower):
        given["dual_start"] = warm.dual
    # where H is singular, daqp adds a proximal term and repeats until steps are shorter than eta_prox: its own 1e-5 is not enough
    x, _, flag, info = solve(H, g, A, upper, lower, iter_limit=iterations or CLOSE_ITERATIONS, eta_prox=PROXIMAL_STEP, **given)
    if flag == ITERATION_LIMIT and iterations is None:
        x, _, flag, info = solve(H, g, A, upper, lower, iter_limit=MAX_ITERATIONS, **given)
    if flag < 0 and flag not in (-4, -7) and "dual_start" in given:
        return by_daqp(p, tolerance, iterations, seconds, None)
    outcome, status = FLAGS.get(flag, ("failed", f"exit flag {flag}"))
    if flag > 0:
        return Attempt(x, info["lam"], outcome, status, info["iterations"])
    failed = p.unsolved(outcome, status, info["iterations"])
    return failed._replace(x=x) if flag == UNBOUNDED else failed


def again_by_daqp(p: QuadraticProgram, iterations: int | None, seconds: float | None) -> Iterator[Attempt]:
    """Further attempts where the first one failed and nothing proves that there is no solution."""
    return (by_daqp(p, accuracy / SOLVER_TOLERANCE_SHARE, iterations, seconds, None) for accuracy in LOOSER_TOLERANCES)
