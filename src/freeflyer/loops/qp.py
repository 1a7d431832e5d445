"""The one quadratic program that limits need, solved by daqp: the point nearest to a wish within linear bounds."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import FreeflyerError


class InfeasibleError(FreeflyerError, ValueError):
    """Bounds that no step satisfies."""


def nearest(wish: np.ndarray, A: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The x (k,) nearest to `wish` with lower <= A x <= upper, A (c, k); rows may be unbounded (infinite)."""
    import daqp

    bounded = np.isfinite(lower) | np.isfinite(upper)
    rows = np.ascontiguousarray(A[bounded], dtype=np.float64)
    high = np.where(np.isfinite(upper[bounded]), upper[bounded], 1e30)
    low = np.where(np.isfinite(lower[bounded]), lower[bounded], -1e30)
    flag = -1
    if (low <= high).all():
        x, _, flag, _ = daqp.solve(
            np.eye(len(wish)), -np.asarray(wish, float), rows, high, low, np.zeros(len(high), np.int32)
        )
    if flag < 1:
        raise InfeasibleError(
            f"no motor step keeps the limits (daqp ends with {flag}): the posture is outside of them", flag=flag
        )
    found: np.ndarray = np.array(x)
    return found
