"""Noise and delay of the state that a controller gets, the same in every run with the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError, format_value
from freeflyer.linkages.closure import closed_posture
from freeflyer.model.inputs import LARGEST_SEED, finite_array, number, whole_number
from freeflyer.model.model import Model
from freeflyer.tolerances import MAX_DELAY


@dataclass(frozen=True)
class Sensing:
    """Noise and delay of the state that a controller gets, the same in every run with the same seed.

    Args:
        position_noise: float or (nv,) array, standard deviation, m and rad; positions are turned and moved along the tangent space.
        velocity_noise: float or (nv,) array, standard deviation, m/s and rad/s.
        delay: Age of the state, s; a multiple of the simulation's dt. Before it has passed, the first state is given.
        seed: Seed of the noise, 0 or more.
    Raises: InputError for negative numbers, and for a delay of more than 1e6 s.

    Examples:
        With a delay of two samples the controller gets at sample 5 the velocity of sample 3:

        >>> given = []
        >>> damper = lambda t, q, v: given.append(v[0]) or -0.1 * v
        >>> sensing = ff.sim.Sensing(delay=0.02)
        >>> run = ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], damper, dt=0.01, duration=0.1, sensing=sensing)
        >>> run.v[:, 0].tolist().index(given[5])
        3
    """

    position_noise: Any = 0.0
    velocity_noise: Any = 0.0
    delay: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("position_noise", "velocity_noise"):
            x = finite_array(name, getattr(self, name))
            if x.ndim > 1 or (x < 0).any():
                raise InputError(f"{name} must be a number or (nv,) numbers of 0 or more, got {format_value(getattr(self, name))}")
            object.__setattr__(self, name, float(x) if x.ndim == 0 else tuple(x.tolist()))
        number("delay", self.delay, 0.0, MAX_DELAY)
        whole_number("seed", self.seed, 0, LARGEST_SEED)

    def measure(self, model: Model, states: Sequence[tuple[np.ndarray, np.ndarray]], dt: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) that the controller gets at the last of these samples, dt (s) apart."""
        k = len(states) - 1
        q, v = states[max(0, k - round(self.delay / dt))]
        if self.position_noise == 0.0 and self.velocity_noise == 0.0:
            return q, v
        noise = np.random.default_rng((self.seed, k)).standard_normal((2, *v.shape))
        q = closed_posture(model, q)  # MuJoCo's loops give way
        return integrate(model, q, noise[0] * self.position_noise), v + noise[1] * self.velocity_noise


def check_sensing(model: Model, sensing: object, dt: float) -> Sensing | None:
    """InputError for what is no Sensing, or one of another number of coordinates, or with a delay that is no multiple of dt (s)."""
    if sensing is None:
        return None
    if not isinstance(sensing, Sensing):
        raise InputError(f"sensing must be a freeflyer.sim.Sensing, got {format_value(sensing)}")
    if abs(sensing.delay / dt - round(sensing.delay / dt)) > 1e-6:
        raise InputError(f"delay must be a multiple of dt = {dt:g} s, got {sensing.delay:g}: the controller gets samples")
    for name in ("position_noise", "velocity_noise"):
        x = getattr(sensing, name)
        if isinstance(x, tuple) and len(x) != model.nv:
            raise InputError(f"{name} has {len(x)} numbers, the model has {model.nv} velocity coordinates")
    return sensing
