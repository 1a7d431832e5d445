"""Why a program has no answer: proven to have none, stopped at a limit, or lost in rounding.

Proofs (contradicting rows; a direction of unbounded decrease) are problems of least squares with signs, min |E y - f| with y >= 0
(Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23): a residual that is not zero is the one proof, else y is the
other. A proof is checked before it counts."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import (
    InfeasibleError as InfeasibleError, MissingSolverError as MissingSolverError, NotConvergedError as NotConvergedError,
    NumericalError as NumericalError, SolverError as SolverError, UnboundedError as UnboundedError)
from freeflyer.optimization.problem import Attempt, QuadraticProgram, Residuals, residuals
from freeflyer.optimization.second_attempts import equilibrate
from freeflyer.tolerances import CERTIFICATE_ZERO_RATIO, MULTIPLIER_ROUNDING


def infeasibility(C: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray | None:
    """Multipliers y (rows,) with y^T C = 0 and sum of upper y+ - lower y- < 0 (Farkas), or None: not proven."""
    above, below = np.flatnonzero(np.isfinite(upper)), np.flatnonzero(np.isfinite(lower))
    size = np.maximum(np.abs(C).max(axis=1, initial=0.0), 1e-300)
    rows = np.concatenate((C[above], -C[below])) / np.concatenate((size[above], size[below]))[:, None]
    limits = np.concatenate((upper[above] / size[above], -lower[below] / size[below]))
    if not len(rows):
        return None
    scale = max(float(np.abs(limits).max()), 1e-300)
    E = np.vstack((rows.T, limits / scale))
    f = np.zeros(len(E))
    f[-1] = -1.0
    units = _units(E)
    weights = _signed_least_squares(E / units[:, None], f / units)
    if weights is None:
        return None
    y = np.zeros(len(C))
    np.add.at(y, above, weights[: len(above)] / size[above])
    np.add.at(y, below, -weights[len(above) :] / size[below])
    y[np.abs(y) * size <= MULTIPLIER_ROUNDING * (np.abs(y) * size).max()] = 0.0
    return y if proves_infeasible(C, lower, upper, y) else None


def proves_infeasible(C: np.ndarray, lower: np.ndarray, upper: np.ndarray, y: np.ndarray) -> bool:
    """Whether no x with lower <= C x <= upper exists, for |x_1| + ... + |x_n| <= 1 / CERTIFICATE_ZERO_RATIO at least."""
    used = y != 0.0
    limit = np.where(y[used] > 0.0, upper[used], lower[used])
    if not (used.any() and np.isfinite(limit).all()):
        return False
    apart = -float(y[used] @ limit)  # 0 <= -apart would follow
    rounding = CERTIFICATE_ZERO_RATIO * float(np.abs(y[used]) @ np.abs(limit))
    return apart > rounding and bool((np.abs(y[used] @ C[used]) <= CERTIFICATE_ZERO_RATIO * apart).all())


def descent(p: QuadraticProgram, C: np.ndarray) -> np.ndarray | None:
    """A ray d (n,) with H d = 0, g^T d < 0, along which no limit of the rows C is met; or None: not proven."""
    above, below = np.isfinite(p.upper), np.isfinite(p.lower)
    if not p.g.any():
        return None
    rows = np.concatenate((p.H, -p.H, C[above], -C[below]))
    size = np.abs(rows).max(axis=1, initial=0.0)
    rows = rows[size > 0.0] / size[size > 0.0, None]
    E, f = rows.T, -p.g / np.abs(p.g).max()
    units = _units(np.column_stack((E, f)))
    weights = _signed_least_squares(E / units[:, None], f / units) if len(rows) else np.zeros(0)
    if weights is None:
        return None
    d = (f - E @ weights) / units**2
    d = d / max(float(np.abs(d).max(initial=0.0)), 1e-300)
    return d if proves_unbounded(p, C, d) else None


def proves_unbounded(p: QuadraticProgram, C: np.ndarray, d: np.ndarray) -> bool:
    """Whether d is a direction of descent that no row and no curvature ends; d has entries up to 1."""
    moves, size = C @ d, CERTIFICATE_ZERO_RATIO * np.maximum(np.abs(C).max(axis=1, initial=0.0), 1e-300)
    kept = (np.isinf(p.upper) | (moves <= size)) & (np.isinf(p.lower) | (moves >= -size))
    curved = np.abs(p.H @ d).max(initial=0.0) > CERTIFICATE_ZERO_RATIO * np.abs(p.H).max(initial=0.0)
    return bool(kept.all() and not curved and p.g @ d < -CERTIFICATE_ZERO_RATIO * np.abs(p.g).max())


def _units(E: np.ndarray) -> np.ndarray:
    """The largest entry of each equation; 1 for those of zeros."""
    units = np.abs(E).max(axis=1, initial=0.0)
    return np.where(units > 0.0, units, 1.0)


def _signed_least_squares(E: np.ndarray, f: np.ndarray) -> np.ndarray | None:
    """y >= 0 that minimises |E y - f|; None where none is found."""
    from scipy.optimize import nnls  # 0.5 s to import

    try:
        y = np.asarray(nnls(E, f)[0])
    except RuntimeError:  # its limit of iterations
        return None
    used = y > 0.0
    if used.any():  # the rounding of its normal equations is taken away
        step = np.linalg.lstsq(E[:, used], f - E[:, used] @ y[used], rcond=None)[0]
        y[used] = np.maximum(y[used] + step, 0.0)
    return y


LISTED = 8  # rows in a sentence


def failure(p: QuadraticProgram, found: Attempt, solver: str, limits: str) -> SolverError:
    """The error of an attempt that gave no answer. `limits`: those that the caller set, in words; at these nothing is proven."""
    facts = {"solver": solver, "status": found.status, "iterations": found.iterations}
    if (p.lower > p.upper).any():
        row = int(np.argmax(p.lower > p.upper))
        only = np.eye(len(p.lower))[row]
        text = f"its lower limit {p.lower[row]:.6g} lies above its upper limit {p.upper[row]:.6g}"
        return InfeasibleError(f"no x satisfies {_rows(p, only)}: {text}", certificate=None, **_conflict(p, only), **facts)
    left = _known_residuals(p, found)
    x = None if left is None else found.x
    if found.outcome == "limit" and limits:
        return NotConvergedError(
            f"{solver} stopped at {limits} ({found.status}) before it was done and {_words(left)}: allow more, or begin "
            "with warm=", x=x, residuals=left, **facts)  # fmt: skip
    scaled = equilibrate(p)
    C = scaled.program.rows()
    y = infeasibility(C, scaled.program.lower, scaled.program.upper)
    if y is not None:
        y = y * scaled.rows
        return InfeasibleError(f"no x satisfies {_rows(p, y)} together (proven by multipliers; {solver}: {found.status})",
            certificate=y, **_conflict(p, y), **facts)  # fmt: skip
    d = descent(scaled.program, C)
    if d is not None:
        d = d * scaled.columns / np.abs(d * scaled.columns).max()
        most = int(np.abs(d).argmax())
        return UnboundedError(
            f"the objective decreases without end along a direction in which H has no curvature and no limit is met, most of it "
            f"variable {most}: give these variables a cost or bounds ({solver}: {found.status})", ray=d, **facts)  # fmt: skip
    if found.outcome == "limit":
        return NotConvergedError(
            f"{solver} did not converge in {found.iterations} iterations ({found.status}) and {_words(left)}: allow more "
            "by iterations=, or take another solver", x=x, residuals=left, **facts)  # fmt: skip
    return NumericalError(
        f"{solver} ends with {found.status!r} and {_words(left)}, and nothing proves that there is no answer: scale "
        "variables and rows to similar sizes, raise tolerance=, or take another solver", x=x, residuals=left, **facts)  # fmt: skip


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
