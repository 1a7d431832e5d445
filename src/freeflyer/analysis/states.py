"""Random states to evaluate a robot at: postures near neutral or anywhere, velocities of human size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import freeflyer as ff

FAR = 100.0  # rad or m: files write "no limit" as 1e16, where an angle has no digits left for its turn


@dataclass(frozen=True)
class States:
    """`count` random states: q (count, nq), and v, a, tau (count, nv) with entries of order one (SI units)."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray

    @property
    def count(self) -> int:
        return len(self.q)


def random_states(model: Any, count: int, seed: int = 0, spread: float | None = None) -> States:
    """Random states, the same for the same seed.

    Postures are those of `ff.random_configuration`; with `spread` they lie around neutral, that many radians off
    (standard deviation).
    """
    rng = np.random.default_rng(seed)
    v, a, tau = (rng.standard_normal((count, model.nv)) for _ in range(3))
    if spread is None:
        q = np.stack([ff.random_configuration(model, rng) for _ in range(count)])
        q = np.where(np.abs(q) > FAR, np.fmod(q, FAR), q)
    else:
        steps = spread * rng.standard_normal((count, model.nv))
        q = np.stack([ff.integrate(model, ff.neutral(model), step) for step in steps])
    return States(q, v, a, tau)
