"""Random states to evaluate a robot at: postures near neutral or anywhere, velocities of human size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import FreeflyerError
from freeflyer.linkages.closed.closing import velocity_map
from freeflyer.model.configuration import neutral, random_configuration
from freeflyer.model.inputs import LARGEST_SEED, whole_number
from freeflyer.model.model import Model
from freeflyer.tolerances import MAX_RANDOM_SPEED, MIN_PERTURBATION, UNBOUNDED_POSITION


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


def random_states(model: Model, count: int, seed: int = 0, spread: float | None = None) -> States:
    """Random states, the same for the same seed.

    Postures are those of `ff.random_configuration`; with `spread` they lie around neutral, that many radians off (standard
    deviation). In a closed model no joint moves faster than MAX_RANDOM_SPEED. Errors: InputError for less than one state, and for a
    negative seed."""
    count, rng = whole_number("count", count, 1), np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED))
    v, a, tau = (rng.standard_normal((count, model.nv)) for _ in range(3))
    if spread is None:
        q = np.stack([random_configuration(model, rng) for _ in range(count)])
        q = np.where(np.abs(q) > UNBOUNDED_POSITION, np.fmod(q, UNBOUNDED_POSITION), q)
    else:
        q = _perturb_neutral(model, spread * rng.standard_normal((count, model.nv)))
    if model.reduction:
        v /= np.maximum(1.0, np.abs(np.einsum("bij,bj->bi", velocity_map(model, q), v)).max(axis=1) / MAX_RANDOM_SPEED)[:, None]
    return States(q, v, a, tau)


def _perturb_neutral(model: Model, step: np.ndarray) -> np.ndarray:
    """The neutral posture moved by a step or several; by shorter ones, where loops do not let it go so far."""
    try:
        return integrate(model, neutral(model), step)
    except FreeflyerError:
        if not model.reduction or np.abs(step).max() < MIN_PERTURBATION:
            raise
        return _perturb_neutral(model, 0.5 * step) if step.ndim == 1 else np.stack([_perturb_neutral(model, s) for s in step])
