"""From a good guess of the active limits to full accuracy: they become equalities, and the equations are solved."""

from __future__ import annotations

import numpy as np

from freeflyer.optimization.problem import QuadraticProgram
from freeflyer.tolerances import POLISHING_RANK_RATIO


def polish(p: QuadraticProgram, x: np.ndarray, y: np.ndarray, active: float) -> tuple[np.ndarray, np.ndarray]:
    """x and multipliers y corrected by the least step that makes limits with multipliers above `active` hold exactly.

    H dx + C^T dy = -(H x + g + C^T y),  C dx = limits - C x  of the rows C that hold; their number may be more than what is
    independent, and H may be singular: then the shortest correction is taken."""
    C = p.rows()
    weight = np.abs(y) * np.abs(C).max(axis=1, initial=0.0)
    fixed = p.lower == p.upper
    held = fixed | (weight > active * max(float(weight.max(initial=0.0)), float(np.abs(p.g).max(initial=0.0)), 1e-300))
    limit = np.where(y > 0.0, p.upper, p.lower)
    held &= np.isfinite(limit)
    size = np.maximum(np.abs(C[held]).max(axis=1, initial=0.0), 1e-300)
    J, limits = C[held] / size[:, None], limit[held] / size
    n, k = len(x), len(J)
    scale = float(np.abs(p.H).max(initial=0.0)) or float(np.abs(p.g).max(initial=0.0)) or 1.0
    K = np.zeros((n + k, n + k))
    K[:n, :n] = p.H / scale
    K[:n, n:] = J.T
    K[n:, :n] = J
    z = np.where(held, y, 0.0)
    for _ in range(2):  # the second time takes away the rounding of the first
        right = np.concatenate((-(p.H @ x + p.g + z @ C) / scale, limits - J @ x))
        step = np.linalg.lstsq(K, right, rcond=POLISHING_RANK_RATIO)[0]
        x = x + step[:n]
        z[held] += step[n:] * scale / size
    return x, z
