"""A quadratic program in units in which its entries are of similar size (Ruiz, RAL-TR-2001-034), for a second attempt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.optimization.problem import QuadraticProgram
from freeflyer.optimization.solution import Attempt

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
