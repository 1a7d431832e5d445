"""A short free fall: without torques the total energy of a robot stays, and an integrator of order 4 shows how well.

The steps are those of freeflyer.sim with integrator="rk4": order 4 on rotations, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.constraints.closed import close_loops, velocity_map
from freeflyer.dynamics.equations import kinetic_energy, potential_energy
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.configuration import neutral
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.sim.simulating import simulate

DURATION = 0.4  # s
FEWEST_STEPS = 20  # the coarsest run; each finer one halves the step
RUNS = 5


@dataclass(frozen=True)
class Fall:
    """One run: `drift` (steps + 1,) is |energy - initial energy| over the largest kinetic energy, at `time` (s).

    It is NaN from the time on at which the state became non-finite: the step was too long for this robot.
    """

    dt: float
    time: np.ndarray
    drift: np.ndarray

    @property
    def worst(self) -> float:
        return float(np.max(self.drift)) if np.all(np.isfinite(self.drift)) else float("inf")


@dataclass(frozen=True)
class FallStudy:
    """The same fall with ever shorter steps, longest first, and the order by which the drift falls."""

    duration: float
    runs: tuple[Fall, ...]

    @property
    def order(self) -> float:
        """Slope of log(drift) over log(step), fitted to the runs above rounding; NaN where fewer than two are."""
        usable = [(r.dt, r.worst) for r in self.runs if np.isfinite(r.worst) and r.worst > 1e-13]
        if len(usable) < 2:
            return float("nan")
        steps, drifts = np.log(np.array(usable)).T
        return float(np.polyfit(steps, drifts, 1)[0])


@public
def free_fall(model: Model, *, seed: int = 0) -> FallStudy:
    """Let the robot fall from rest-like motion (0.5 rad/s per joint, random) with no torque, at five step sizes.

    A robot with loops falls with them closed, from its assembled posture, its fastest joint at 0.5 rad/s or m/s.
    Raises FreeflyerError where the mass matrix is singular, and where the loops cannot be closed.
    """
    rng, model = np.random.default_rng(seed), close_loops(model)
    if model.reduction:
        q, v = neutral(model), rng.standard_normal(model.nv)
        v *= 0.5 / np.abs(velocity_map(model, q) @ v).max()
    else:
        q = integrate(model, neutral(model), 0.2 * rng.standard_normal(model.nv))
        v = 0.5 * rng.standard_normal(model.nv)
    counts = [FEWEST_STEPS * 2**i for i in range(RUNS)]
    with np.errstate(all="ignore"):
        return FallStudy(DURATION, tuple(_fall(model, q, v, DURATION, n) for n in counts))


def _fall(model: Model, q: np.ndarray, v: np.ndarray, duration: float, steps: int) -> Fall:
    h = duration / steps
    run = simulate(model, q, v, dt=h, duration=duration, integrator="rk4")
    kinetic = kinetic_energy(model, run.q, run.v)
    energy = kinetic + potential_energy(model, run.q)
    drift = np.full(steps + 1, np.nan)
    drift[: len(energy)] = np.abs(energy - energy[0]) / max(float(kinetic.max()), 1e-12)
    return Fall(h, np.linspace(0.0, duration, steps + 1), drift)
