"""Convex quadratic programs, by several solvers; every answer is checked before it is returned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InfeasibleError, InputError, UnboundedError, format_value
from freeflyer.model.inputs import finite_array, number, positive, whole_number
from freeflyer.model.public import public
from freeflyer.optimization import dual_solvers
from freeflyer.optimization.failures import failure
from freeflyer.optimization.problem import (
    Attempt, QuadraticProgram, Solution, limit_violations, quadratic_program, refuse_numbers, residuals, squared_residuals)
from freeflyer.optimization.second_attempts import descend, equilibrate, polish
from freeflyer.tolerances import ACTIVE_RATIOS, DOUBTFUL_SIZE, MAX_POLISHING_MOVE, QUICK_SHARE, UNDECIDABLE_SIZE

ACTIVE_SET, DAQP = "active-set", "daqp"


@public
def solve_qp(H: ArrayLike, g: ArrayLike, A: ArrayLike | None = None, lower: ArrayLike | None = None, upper: ArrayLike | None = None,
             x_lower: ArrayLike | None = None, x_upper: ArrayLike | None = None, *, solver: str = ACTIVE_SET,
             warm: Solution | None = None, tolerance: float = 1e-8, iterations: int | None = None, seconds: float | None = None,
             feasible: ArrayLike | None = None) -> Solution:  # fmt: skip
    """Minimum x of 1/2 x^T H x + g^T x so that lower <= A x <= upper and x_lower <= x <= x_upper.

    Args:
        H: (n, n) array, symmetric positive semidefinite.
        g: (n,) array.
        A: (m, n) array.
        lower, upper: (m,) array, limits of the rows: equal for equalities, infinite where there is none.
        x_lower, x_upper: (n,) array, bounds of x, likewise.
        solver: "active-set": a dual method by compiled code. "daqp", "osqp", "proxqp", "piqp" or another one that qpsolvers finds.
        warm: Solution of a problem of the same shapes. Its active limits (active-set, daqp) or x (osqp, proxqp) are the first
            guess; the answer does not depend on it.
        tolerance: Largest relative residual (Residuals), between 1e-14 and 0.1.
        iterations: Limit for the solver: active-set, daqp, osqp, proxqp and piqp.
        seconds: Limit for the solver, s: daqp and osqp.
        feasible: (n,) array, a point within all limits. If the solver fails, a primal active-set method continues from there.
            It solves programs in which many limits hold at once and depend on each other. Solution.solver is then
            "active-set".

    Raises:
        InfeasibleError, UnboundedError: For a program without an answer; both are proven.
        NotConvergedError: If the solver stops at its limit.
        NumericalError: Where nothing is proven and the solver's answer does not keep the tolerance.
        MissingSolverError: For a solver that is not installed.
        InputError: For wrong shapes, numbers that are not finite, an H that is not symmetric positive semidefinite, and limits that
            the solver does not know.

    Examples:
        Without bounds the minimum is at (3, 0.5); the multiplier of the active bound is the negative slope there:

        >>> s = ff.optimization.solve_qp(np.eye(2), [-3.0, -0.5], x_upper=[1.0, 1.0])
        >>> np.round(s.x, 6), np.round(s.bound_multipliers, 6), s.active
        (array([1. , 0.5]), array([2., 0.]), array([1, 0]))
    """
    p = quadratic_program(H, g, A, lower, upper, x_lower, x_upper)
    number("tolerance", tolerance, 1e-14, 0.1)
    if iterations is not None:
        whole_number("iterations", iterations, 1)
    if seconds is not None:
        positive("seconds", seconds)
    start = None if feasible is None else finite_array("feasible", feasible)
    if start is not None and start.shape != p.g.shape:
        raise InputError(f"feasible has shape {start.shape}, expected {p.g.shape}", shape=start.shape)
    found = _attempt(p, solver, tolerance, iterations, seconds, warm)
    close = quick_check(p, found, tolerance, solver) if found.outcome == "solved" else None
    return close or _answer(p, found, tolerance, solver, iterations, seconds, start)


def quick_check(p: QuadraticProgram, found: Attempt, tolerance: float, solver: str) -> Solution | None:
    """The solution if its residuals, as sums of squares, are far below the tolerance; None: look closer."""
    sums = squared_residuals(p, found.x, found.dual)
    if sums is None:
        return None
    limits, stationarity, values, sizes, value = sums
    close = (QUICK_SHARE * tolerance) ** 2
    if not (limits <= close * max(1.0, values) and stationarity <= close * sizes):
        return None
    accuracy = max(limits, stationarity / sizes if sizes else 0.0) ** 0.5
    return Solution(found.x, value, found.dual, len(p.A), accuracy, found.iterations, False, solver)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # answers with such numbers keep no tolerance
def _answer(p: QuadraticProgram, found: Attempt, tolerance: float, solver: str, iterations: int | None, seconds: float | None,
            start: np.ndarray | None) -> Solution:  # fmt: skip
    """An attempt that quick_check refuses: checked entry by entry, polished, solved from a feasible start, solved again, or refused
    with an error."""
    refuse_numbers(p)
    given = [f"{iterations} iterations"] if iterations else []
    limits = " and ".join(given + ([f"{seconds:g} s"] if seconds else []))
    if found.outcome == "limit" and limits:
        raise failure(p, found, solver, limits)
    answer = _accept(p, found, tolerance, solver, MAX_POLISHING_MOVE) if found.outcome == "solved" else None
    beyond = np.inf if start is None else limit_violations(p.rows(), p.lower, p.upper, start)[0].max(initial=0.0)
    if answer is None and start is not None and beyond <= tolerance:
        answer = _accept(p, descend(p, start), tolerance, ACTIVE_SET, np.inf)
    if answer is not None:
        return answer
    error = failure(p, found, solver, "")
    if isinstance(error, InfeasibleError | UnboundedError):
        raise error
    scaled = equilibrate(p)
    further = _further(scaled.program, solver, tolerance, iterations, seconds)
    for again in chain((found,), map(scaled.unscale, further)):
        answer = _accept(p, again, tolerance, solver, np.inf)
        if answer is not None and np.abs(answer.x / scaled.columns).max(initial=0.0) <= UNDECIDABLE_SIZE:
            return answer
    raise error


def _accept(p: QuadraticProgram, found: Attempt, tolerance: float, solver: str, furthest: float) -> Solution | None:
    """The attempt, as it is or polished, if its residuals keep the tolerance. Polishing may move x by `furthest` of its size:
    unbounded and infeasible programs end far out, where each limit is exceeded by a small part of its row's terms."""
    if found.outcome == "failed" or not (np.isfinite(found.x).all() and np.isfinite(found.dual).all()):
        return None
    size = max(1.0, float(np.abs(found.x).max(initial=0.0)))
    if size > DOUBTFUL_SIZE and np.isfinite(furthest):
        return None
    if not (p.H.any() or p.g.any()):  # any feasible x is a minimum: multipliers are rounding
        found = found._replace(dual=np.zeros(len(found.dual)))
    first = [(found.x, found.dual)] if found.outcome == "solved" else []
    guesses = chain(first, (polish(p, found.x, found.dual, active) for active in ACTIVE_RATIOS))
    best, least = None, tolerance
    for k, (x, y) in enumerate(guesses):
        worst = max(residuals(p, x, y))
        if worst <= least and np.abs(x - found.x).max(initial=0.0) <= furthest * size:
            value = float(0.5 * x @ p.H @ x + p.g @ x)
            again = k > 0 or found.outcome != "solved"
            best, least = Solution(x, value, y, len(p.A), worst, found.iterations, again, solver), worst
        if least <= QUICK_SHARE * tolerance:
            break
    return best


def _attempt(p: QuadraticProgram, solver: str, tolerance: float, iterations: int | None, seconds: float | None,
             warm: Solution | None) -> Attempt:
    if solver == ACTIVE_SET:
        if seconds is not None:
            raise InputError(f"{solver} has no limit of time: limit iterations, or take daqp or osqp", solver=solver)
        return dual_solvers.by_active_set(p, iterations, warm)
    if solver == DAQP:
        return dual_solvers.by_daqp(p, tolerance, iterations, seconds, warm)
    check_solver(solver)
    from freeflyer.optimization import qpsolvers_solver  # qpsolvers takes 0.5 s to import

    refuse_numbers(p)  # most of them check nothing
    return qpsolvers_solver.attempt(p, solver, tolerance, iterations, seconds, warm)


def _further(p: QuadraticProgram, solver: str, tolerance: float, iterations: int | None,
             seconds: float | None) -> Iterator[Attempt]:
    if solver == ACTIVE_SET:
        yield dual_solvers.by_active_set(p, iterations, None)
    if solver in (ACTIVE_SET, DAQP):
        yield from dual_solvers.again_by_daqp(p, iterations, seconds)
    else:
        from freeflyer.optimization import qpsolvers_solver

        yield qpsolvers_solver.attempt_again(p, solver, tolerance, iterations, seconds)


def check_solver(solver: str) -> None:
    """MissingSolverError for a solver that is not installed; InputError for anything that is no name."""
    if not isinstance(solver, str):
        raise InputError(f"solver must be the name of a solver, such as 'active-set' or 'daqp', got {format_value(solver)}")
    if solver not in (ACTIVE_SET, DAQP):
        from freeflyer.optimization import qpsolvers_solver

        qpsolvers_solver.check_installed(solver)


def nearest(point: ArrayLike, A: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, solver: str = ACTIVE_SET,
            warm: Solution | None = None) -> Solution:
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
    wish = finite_array("point", point)
    if wish.ndim != 1:
        raise InputError(f"point has shape {wish.shape}, expected (n,)", name="point", shape=wish.shape)
    return solve_qp(np.eye(len(wish)), -wish, A, lower, upper, solver=solver, warm=warm)


def solvers() -> tuple[str, ...]:
    """Names of the solvers that are installed, the default first.

    Returns: tuple of str for `solver=` of solve_qp.

    Examples:
        >>> ff.optimization.solvers()[:2]
        ('active-set', 'daqp')
    """
    from freeflyer.optimization import qpsolvers_solver

    return (ACTIVE_SET, DAQP, *qpsolvers_solver.available())
