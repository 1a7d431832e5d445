"""Attempts after a failed solver: a primal active-set method from a feasible point (Nocedal and Wright, Algorithm 16.3), equations
of the active limits, and units in which entries are of similar size (Ruiz, RAL-TR-2001-034)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.optimization.problem import Attempt, QuadraticProgram
from freeflyer.tolerances import (
    DESCENT_CURVATURE_RATIO, DESCENT_RATE_RATIO, DESCENT_STEP, DESCENT_TIE, DESCENT_ZERO, POLISHING_RANK_RATIO)

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
            room, at, moving = np.full(len(C), np.inf), C @ x, np.abs(rate) > DESCENT_RATE_RATIO * longest
            room[moving] = np.maximum(np.where(rate > 0.0, upper - at, lower - at)[moving] / rate[moving], 0.0)
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


ROUNDS = 8


class Scaled(NamedTuple):
    """The program of z = x / columns, its objective divided by `cost`, its rows (bounds, too) by 1 / rows."""

    program: QuadraticProgram
    columns: np.ndarray
    rows: np.ndarray
    cost: float

    def unscale(self, found: Attempt) -> Attempt:
        """The attempt in the units of the program that was scaled."""
        return found._replace(x=found.x * self.columns, dual=found.dual * self.rows * self.cost)


def equilibrate(p: QuadraticProgram) -> Scaled:
    """Rows and columns of [H C^T; C 0] scaled until their largest entries are about 1; the bounds are rows of it."""
    n, k = len(p.g), len(p.lower)
    K = np.zeros((n + k, n + k))
    K[:n, :n], K[n:, :n] = p.H, p.rows()
    K[:n, n:] = K[n:, :n].T
    size = float(np.abs(p.H).max(initial=0.0))
    K[:n, :n] /= size or 1.0
    d = np.ones(n + k)
    for _ in range(ROUNDS):
        most = np.abs(K).max(axis=1)
        s = 1.0 / np.sqrt(np.where(most > 0.0, most, 1.0))
        K = s[:, None] * K * s
        d *= s
    columns, rows = d[:n], d[n:]
    g = p.g * columns / (size or 1.0)
    cost = float(np.abs(g).max(initial=0.0)) or 1.0
    H = K[:n, :n] / cost
    program = QuadraticProgram((H + H.T) / 2.0, g / cost, np.ascontiguousarray(K[n:, :n]), p.lower * rows, p.upper * rows)
    return Scaled(program, columns, rows, cost * (size or 1.0))
