"""Other solvers by qpsolvers, whose problems have one-sided rows: G x <= h, A x = b, lb <= x <= ub."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import qpsolvers

from freeflyer.errors import InputError, MissingSolverError, format_value
from freeflyer.optimization.problem import Attempt, QuadraticProgram, Solution
from freeflyer.tolerances import SOLVER_TOLERANCE_SHARE

PACKAGES = {"osqp": "osqp", "proxqp": "proxsuite", "piqp": "piqp"}
STARTS = ("osqp", "proxqp")  # solvers that take a first x
CERTIFICATE_OPTIONS = {"osqp": {"eps_prim_inf": 1e-9, "eps_dual_inf": 1e-9}}  # with 1e-4, its own, feasible programs are refused
RETRY_OPTIONS = {"proxqp": {"primal_infeasibility_solving": True, "max_iter": 1000}}  # takes no program for infeasible
MAX_ITERATIONS = {"osqp": 20000, "proxqp": 100, "piqp": 250}


def available() -> tuple[str, ...]:
    """Names of the solvers that qpsolvers finds installed, but for daqp."""
    return tuple(sorted(set(qpsolvers.available_solvers) - {"daqp"}))


def check_installed(solver: str) -> None:
    """MissingSolverError for a solver that is not installed."""
    if solver in available():
        return
    names = ("active-set", "daqp", *available())
    listed, package = f"installed here: {', '.join(names)}", PACKAGES.get(solver)
    if package is None:
        text = f"no solver is named {format_value(solver)}; {listed}; "
        text += f"{', '.join(PACKAGES)} come with pip install 'freeflyer[solvers]'"
    else:
        text = f"solver {solver!r} is not installed: pip install {package}; {listed}"
    raise MissingSolverError(text, solver=solver, available=names, package=package)


def attempt(p: QuadraticProgram, solver: str, tolerance: float, iterations: int | None, seconds: float | None,
            warm: Solution | None, more: Mapping[str, Any] = MappingProxyType({})) -> Attempt:
    """One solution by `qpsolvers.solve_problem`, its multipliers as those of two-sided rows."""
    check_installed(solver)
    split = _Split(p)
    options = _options(solver, SOLVER_TOLERANCE_SHARE * tolerance, iterations, seconds) | dict(more)
    if warm is not None and solver in STARTS and len(warm.x) == len(p.g):
        options["initvals"] = warm.x
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error describes the outcome
            found = qpsolvers.solve_problem(split.problem, solver, **options)
    except (qpsolvers.exceptions.QPError, ValueError, RuntimeError, ArithmeticError) as error:
        return Attempt(np.full(len(p.g), np.nan), np.zeros(len(p.lower)), "failed", str(error), 0)
    info = found.extras.get("info")
    status = str(getattr(info, "status", "")).rsplit(".", 1)[-1].replace("_", " ").lower()
    limited = any(word in status for word in ("max", "limit", "inaccurate", "closest"))
    outcome = "solved" if found.found else "limit" if limited else "failed"
    x = np.full(len(p.g), np.nan) if found.x is None else np.asarray(found.x, dtype=float)
    return Attempt(x, split.multipliers(found), outcome, status or outcome, int(getattr(info, "iter", 0) or 0))


def attempt_again(p: QuadraticProgram, solver: str, tolerance: float, iterations: int | None, seconds: float | None) -> Attempt:
    """Another attempt where the first one failed and nothing proves that there is no solution."""
    return attempt(p, solver, tolerance, iterations, seconds, None, RETRY_OPTIONS.get(solver, {}))


class _Split:
    """The program with one-sided rows. Variables whose two bounds are the same become equalities, which all solvers take."""

    def __init__(self, p: QuadraticProgram) -> None:
        C, b = p.rows(), p.bounded
        same = p.lower == p.upper
        rows = np.arange(len(C)) >= b
        self.equal = np.flatnonzero(same)
        self.above = np.flatnonzero(rows & ~same & (p.upper < np.inf))
        self.below = np.flatnonzero(rows & ~same & (p.lower > -np.inf))
        self.count, self.b = len(C), b
        inequal = np.concatenate((C[self.above], -C[self.below]))
        limits = np.concatenate((p.upper[self.above], -p.lower[self.below]))
        low, high = np.where(same[:b], -np.inf, p.lower[:b]), np.where(same[:b], np.inf, p.upper[:b])
        self.problem = qpsolvers.Problem(p.H, p.g, inequal if len(inequal) else None, limits if len(inequal) else None,
            C[self.equal] if len(self.equal) else None, p.upper[self.equal] if len(self.equal) else None,
            low if b else None, high if b else None)  # fmt: skip

    def multipliers(self, found: Any) -> np.ndarray:
        """Multipliers (b + m,) of the two-sided rows; those of a row's two sides add up."""
        y = np.zeros(self.count)
        if found.z_box is not None and len(found.z_box):
            y[: self.b] = found.z_box
        if found.z is not None and len(found.z):
            np.add.at(y, self.above, found.z[: len(self.above)])
            np.add.at(y, self.below, -found.z[len(self.above) :])
        if found.y is not None and len(found.y):
            y[self.equal] += found.y
        return y


def _options(solver: str, accuracy: float, iterations: int | None, seconds: float | None) -> dict[str, Any]:
    """Accuracy and limits as a solver's own options. Those of other solvers keep their defaults."""
    if solver not in PACKAGES:
        if iterations is not None or seconds is not None:
            raise InputError(f"iterations and seconds cannot be limited for {solver}, only for daqp, {', '.join(PACKAGES)}")
        return {}
    options: dict[str, Any] = {"eps_abs": accuracy, "eps_rel": 0.0, "max_iter": iterations or MAX_ITERATIONS[solver]}
    options |= CERTIFICATE_OPTIONS.get(solver, {})
    if seconds is not None:
        if solver != "osqp":
            raise InputError(f"{solver} has no limit of time: limit iterations, or take daqp or osqp", solver=solver)
        options["time_limit"] = seconds
    return options
