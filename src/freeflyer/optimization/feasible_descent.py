"""A primal active-set method: from a feasible point down, never leaving the limits (Nocedal and Wright, Algorithm 16.3)."""

from __future__ import annotations

import numpy as np

from freeflyer.optimization.problem import QuadraticProgram
from freeflyer.optimization.solution import Attempt
from freeflyer.tolerances import DESCENT_CURVATURE_RATIO, DESCENT_RATE_RATIO, DESCENT_STEP, DESCENT_TIE, DESCENT_ZERO

MOST = 300  # changes of the active rows
MOST_IN_PLACE = 20  # changes that do not move x; from there on the first row that may change does, which ends cycles (Bland's rule)


def descend(p: QuadraticProgram, x: np.ndarray) -> Attempt:
    """The minimum from x (n,), which keeps all limits, for programs that are bounded; H may be singular.

    Slower than a dual method, but it has a point to stand on where many rows hold at once and depend on each other."""
    C = p.rows()
    size = np.linalg.norm(C, axis=1)
    some = np.flatnonzero(size > 0.0)
    C = C[some] / size[some, None]
    lower, upper = p.lower[some] / size[some], p.upper[some] / size[some]
    held = {int(k): 1.0 for k in np.flatnonzero(lower == upper)}
    still, least = 0, DESCENT_ZERO * (1.0 + np.abs(p.g).max(initial=0.0))
    for count in range(MOST):
        slope, rows = p.H @ x + p.g, np.array(list(held), int)
        d = _step(p.H, slope, C[rows])
        longest = float(np.abs(d).max(initial=0.0))
        if longest > DESCENT_STEP * (1.0 + np.abs(x).max(initial=0.0)):
            rate = C @ d
            rate[rows] = 0.0
            room = _room(C @ x, rate, lower, upper, DESCENT_RATE_RATIO * longest)
            length = min(1.0, float(room.min(initial=1.0)))
            x, still = x + length * d, still + 1 if length * longest <= DESCENT_TIE else 0
            if length < 1.0:
                ties = np.flatnonzero(room <= length + DESCENT_TIE)
                row = int(ties[0] if still > MOST_IN_PLACE else ties[np.argmax(np.abs(rate[ties]))])
                held[row] = float(np.sign(rate[row]))
            continue
        y = np.linalg.lstsq(C[rows].T, -slope, rcond=DESCENT_ZERO)[0]
        wrong = {k: -side * z for (k, side), z in zip(held.items(), y) if lower[k] < upper[k] and side * z < -least}
        if not wrong:
            dual = np.zeros(len(size))
            dual[some[rows]] = y / size[some[rows]]
            return Attempt(x, dual, "solved", "optimal", count)
        del held[min(wrong) if still > MOST_IN_PLACE else max(wrong, key=wrong.__getitem__)]
        still += 1
    return Attempt(x, np.zeros(len(size)), "failed", "cycling", MOST)


def _step(H: np.ndarray, slope: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The shortest step to the minimum along which rows do not change."""
    n, m = len(H), len(rows)
    Z = np.linalg.qr(rows.T, mode="complete")[0][:, m:] if m else np.eye(n)
    if not Z.shape[1]:
        return np.zeros(n)
    return np.asarray(Z @ np.linalg.lstsq(Z.T @ H @ Z, -Z.T @ slope, rcond=DESCENT_CURVATURE_RATIO)[0])


def _room(at: np.ndarray, rate: np.ndarray, lower: np.ndarray, upper: np.ndarray, slow: float) -> np.ndarray:
    """Steps (m,) after which rows meet their limits; infinite for those that change no faster than `slow`."""
    found = np.full(len(at), np.inf)
    moving = np.abs(rate) > slow
    found[moving] = np.maximum(np.where(rate > 0.0, upper - at, lower - at)[moving] / rate[moving], 0.0)
    return found
