"""A short free fall: without torques the total energy of a robot stays, and an integrator of order 4 shows how well.

The steps are those of `ff.step` with integrator="rk4": order 4 on rotations, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.model.public import public

DURATION = 0.4  # s
FEWEST_STEPS = 20  # the coarsest run; each finer one halves the step
RUNS = 5


@dataclass(frozen=True)
class Fall:
    """One run: `drift` (steps + 1,) is |energy - initial energy| over the largest kinetic energy, at `time` (s).

    It is NaN from where the motion left the numbers: the step was too long for this robot.
    """

    step: float
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
        usable = [(r.step, r.worst) for r in self.runs if np.isfinite(r.worst) and r.worst > 1e-13]
        if len(usable) < 2:
            return float("nan")
        steps, drifts = np.log(np.array(usable)).T
        return float(np.polyfit(steps, drifts, 1)[0])


@public
def free_fall(model: Any, seed: int = 0) -> FallStudy:
    """Let the robot fall from rest-like motion (0.5 rad/s per joint, random) with no torque, at five step sizes.

    A robot with loops falls with them closed, from its assembled posture, its fastest joint at 0.5 rad/s or m/s.
    Raises FreeflyerError where the mass matrix is singular, and where the loops cannot be closed.
    """
    rng, model = np.random.default_rng(seed), ff.close_loops(model)
    if model.reduction:
        q, v = ff.neutral(model), rng.standard_normal(model.nv)
        v *= 0.5 / np.abs(ff.velocity_map(model, q) @ v).max()
    else:
        q = ff.integrate(model, ff.neutral(model), 0.2 * rng.standard_normal(model.nv))
        v = 0.5 * rng.standard_normal(model.nv)
    counts = [FEWEST_STEPS * 2**i for i in range(RUNS)]
    with np.errstate(all="ignore"):
        return FallStudy(DURATION, tuple(_fall(model, q, v, DURATION, n) for n in counts))


def _fall(model: Any, q: np.ndarray, v: np.ndarray, duration: float, steps: int) -> Fall:
    h = duration / steps
    start, kinetic = _energies(model, q, v)
    energy, largest, tau = [start], kinetic, np.zeros_like(v)
    for i in range(steps):
        try:
            q, v = ff.step(model, q, v, tau, h, "rk4")
            total, kinetic = _energies(model, q, v)
        except ff.FreeflyerError:
            if i == 0:
                raise
            energy += [float("nan")] * (steps - i)
            break
        energy.append(total)
        largest = max(largest, kinetic)
    drift = np.abs(np.array(energy) - start) / max(largest, 1e-12)
    return Fall(h, np.linspace(0.0, duration, steps + 1), drift)


def _energies(model: Any, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    kinetic = float(ff.kinetic_energy(model, q, v))
    return kinetic + float(ff.potential_energy(model, q)), kinetic
