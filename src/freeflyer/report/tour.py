"""A short tour of one robot through the pipeline: what the demo shows in a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.checks.laws import random_states
from freeflyer.analysis.timing.results import time_interleaved
from freeflyer.dynamics.centroidal import center_of_mass, centroidal_momentum, centroidal_momentum_matrix
from freeflyer.dynamics.equations import forward_dynamics, inverse_dynamics
from freeflyer.model.configuration import neutral
from freeflyer.model.model import Model

BATCH = 4096


@dataclass(frozen=True)
class Tour:
    """Sizes, where the robot's centre of mass is (m, neutral), residuals (relative) and times (us)."""

    robot: str
    nq: int
    nv: int
    mass: float
    com: np.ndarray
    round_trip: float
    momentum: float
    inverse_dynamics_call: float
    inverse_dynamics_batch: float
    forward_dynamics_batch: float
    batch_size: int


def tour(model: Model, batch: int = BATCH) -> Tour:
    """Neutral posture, inverse and forward dynamics of a batch and back, momentum by two ways, times."""
    x = random_states(model, batch, spread=0.5)
    tau = inverse_dynamics(model, x.q, x.v, x.a)
    returned = forward_dynamics(model, x.q, x.v, tau)
    q, v, a = x.q[0].copy(), x.v[0].copy(), x.a[0].copy()
    by_matrix = centroidal_momentum_matrix(model, q) @ v
    momentum = centroidal_momentum(model, q, v)
    (call,) = time_interleaved([lambda: inverse_dynamics(model, q, v, a)], 5, 1e-3)
    inverse, forward = time_interleaved(
        [lambda: inverse_dynamics(model, x.q, x.v, x.a), lambda: forward_dynamics(model, x.q, x.v, tau)], 5, 2e-3
    )
    return Tour(
        robot=model.name, nq=model.nq, nv=model.nv, mass=float(model.mass),
        com=center_of_mass(model, neutral(model)),
        round_trip=float(np.max(np.abs(returned - x.a)) / np.max(np.abs(x.a))),
        momentum=float(np.max(np.abs(by_matrix - momentum)) / max(np.max(np.abs(momentum)), 1e-12)),
        inverse_dynamics_call=call, inverse_dynamics_batch=inverse / batch, forward_dynamics_batch=forward / batch,
        batch_size=batch,
    )  # fmt: skip
