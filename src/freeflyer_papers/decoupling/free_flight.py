"""Momentum in ten seconds of free flight, in frames in which it is and is not conserved: (3.60)-(3.62)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer import decoupling, robots
from freeflyer.dynamics.manifold import integrate
from freeflyer.sim.simulating import simulate

DURATION, STEP, BOUND = 10.0, 0.01, 1e-9


@dataclass(frozen=True)
class Flight:
    """Largest change of the momentum in a frame over the flight, relative to its norm, and the change of it in time."""

    robot: str
    frame: str
    conserved: bool
    change: float
    t: tuple[float, ...]
    changes: tuple[float, ...]


def flights() -> tuple[Flight, ...]:
    """The space manipulator, its joints driven, without external forces."""
    model = robots.make("space_manipulator")
    rng = np.random.default_rng(5)
    q = integrate(model, model.neutral, np.concatenate([np.zeros(6), 0.5 * rng.standard_normal(model.nv - 6)]))
    v = 0.05 * rng.standard_normal(model.nv)
    torques = np.concatenate([np.zeros(6), 2.0 * rng.standard_normal(model.nv - 6)])

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return torques * np.cos(2.0 * t) - np.concatenate([np.zeros(6), v[6:]])

    run = simulate(model, q, v, push, dt=STEP, duration=DURATION, integrator="dop853", rtol=1e-12, atol=1e-13)
    found = decoupling.constants_of_motion(model, run.q, run.v)
    made = []
    for k, name in enumerate(found.frames):
        h = found.momenta[:, k]
        changes = np.linalg.norm(h - h[0], axis=-1) / np.linalg.norm(h[0])
        thin = slice(None, None, 10)
        made.append(Flight(
            model.name, name, bool(found.conserved[1:, k].all()), float(changes.max()), tuple(run.t[thin].tolist()),
            tuple(changes[thin].tolist()),
        ))  # fmt: skip
    return tuple(made)
