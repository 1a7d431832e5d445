"""Proofs that a quadratic program has no solution: contradicting rows, or a direction of unbounded decrease.

Both are problems of least squares with signs, min |E y - f| with y >= 0 (Lawson and Hanson, Solving Least Squares Problems, 1974,
chapter 23): where the residual is not zero it is the one proof, where it is zero y is the other. A proof is checked before it
counts, so that it does not matter how it was found."""

from __future__ import annotations

import numpy as np

from freeflyer.optimization.problem import QuadraticProgram
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
