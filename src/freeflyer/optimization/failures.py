"""Why a program has no answer: proven to have none, stopped at a limit, or lost in rounding."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import (
    InfeasibleError as InfeasibleError,
    MissingSolverError as MissingSolverError,
    NotConvergedError as NotConvergedError,
    NumericalError as NumericalError,
    SolverError as SolverError,
    UnboundedError as UnboundedError,
)
from freeflyer.optimization.certificates import descent, infeasibility
from freeflyer.optimization.problem import QuadraticProgram, first_crossed_row
from freeflyer.optimization.residuals import Residuals, residuals
from freeflyer.optimization.scaling import equilibrate
from freeflyer.optimization.solution import Attempt

LISTED = 8  # rows in a sentence


def failure(p: QuadraticProgram, found: Attempt, solver: str, limits: str) -> SolverError:
    """The error of an attempt that gave no answer. `limits`: those that the caller set, in words; at these nothing is proven."""
    facts = {"solver": solver, "status": found.status, "iterations": found.iterations}
    if (row := first_crossed_row(p)) is not None:
        only = np.zeros(len(p.lower))
        only[row] = 1.0
        text = f"its lower limit {p.lower[row]:.6g} lies above its upper limit {p.upper[row]:.6g}"
        return InfeasibleError(f"no x satisfies {_rows(p, only)}: {text}", certificate=None, **_conflict(p, only), **facts)
    left = _known_residuals(p, found)
    x = None if left is None else found.x
    if found.outcome == "limit" and limits:
        return NotConvergedError(
            f"{solver} stopped at {limits} ({found.status}) before it was done and {_words(left)}: allow more, or begin "
            "with warm=", x=x, residuals=left, **facts,
        )  # fmt: skip
    scaled = equilibrate(p)
    C = scaled.program.rows()
    y = infeasibility(C, scaled.program.lower, scaled.program.upper)
    if y is not None:
        y = y * scaled.rows
        return InfeasibleError(
            f"no x satisfies {_rows(p, y)} together (proven by multipliers; {solver}: {found.status})",
            certificate=y, **_conflict(p, y), **facts,
        )  # fmt: skip
    d = descent(scaled.program, C)
    if d is not None:
        d = d * scaled.columns / np.abs(d * scaled.columns).max()
        most = int(np.abs(d).argmax())
        return UnboundedError(
            f"the objective decreases without end along a direction in which H has no curvature and no limit is met, most of it "
            f"variable {most}: give these variables a cost or bounds ({solver}: {found.status})", ray=d, **facts,
        )  # fmt: skip
    if found.outcome == "limit":
        return NotConvergedError(
            f"{solver} did not converge in {found.iterations} iterations ({found.status}) and {_words(left)}: allow more "
            "by iterations=, or take another solver", x=x, residuals=left, **facts,
        )  # fmt: skip
    return NumericalError(
        f"{solver} ends with {found.status!r} and {_words(left)}, and nothing proves that there is no answer: scale "
        "variables and rows to similar sizes, raise tolerance=, or take another solver", x=x, residuals=left, **facts,
    )  # fmt: skip


def _known_residuals(p: QuadraticProgram, found: Attempt) -> Residuals | None:
    """Residuals of an attempt: None without x, those of stationarity and complementarity NaN without multipliers."""
    if np.isnan(found.x).any():
        return None
    if np.isnan(found.dual).any():
        return Residuals(residuals(p, found.x, np.zeros(len(found.dual))).primal, np.nan, np.nan)
    return residuals(p, found.x, found.dual)


def _words(r: Residuals | None) -> str:
    if r is None:
        return "returns no x"
    if np.isnan(r.dual):
        return f"returns no multipliers; its x has the relative residual {r.primal:.1e} (limits)"
    parts = f"{r.primal:.1e} (limits), {r.dual:.1e} (stationarity), {r.complementarity:.1e} (complementarity)"
    return f"its x has relative residuals {parts}"


def _conflict(p: QuadraticProgram, y: np.ndarray) -> dict[str, tuple[int, ...]]:
    at = np.flatnonzero(y)
    b = p.bounded
    return {"bounds": tuple(int(i) for i in at if i < b), "rows": tuple(int(i - b) for i in at if i >= b)}


def _rows(p: QuadraticProgram, y: np.ndarray) -> str:
    parts = []
    for name, at in _conflict(p, y).items():
        if at:
            more = f", ... ({len(at)} in all)" if len(at) > LISTED else ""
            parts.append(f"{name} {', '.join(map(str, at[:LISTED]))}{more}")
    return " and ".join(parts)
