"""A short free fall: without torques the total energy of a robot stays, and an integrator of order 4 shows how well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.dynamics.closed import velocity_map
from freeflyer.dynamics.equations import kinetic_energy, potential_energy
from freeflyer.dynamics.manifold import integrate
from freeflyer.linkages.closing import close_loops
from freeflyer.model.configuration import neutral
from freeflyer.model.inputs import LARGEST_SEED, whole_number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.sim.simulating import simulate

DURATION = 0.4  # s
FEWEST_STEPS = 20  # the coarsest run; each finer one halves the step
RUNS = 5


@dataclass(frozen=True)
class Fall:
    """One run of a free fall.

    Attributes:
        dt: float, s.
        time: (steps + 1,) array, s.
        drift: (steps + 1,) array, |energy - initial energy| over the largest kinetic energy; NaN from the time on at which the
            state became non-finite: the step was too long for this robot.
    """

    dt: float
    time: np.ndarray
    drift: np.ndarray

    @property
    def worst(self) -> float:
        return float(np.max(self.drift)) if np.all(np.isfinite(self.drift)) else float("inf")


@dataclass(frozen=True)
class FallStudy:
    """Runs of the same free fall with ever shorter steps.

    Attributes:
        duration: float, s.
        runs: Longest step first: dt (s), time (s) and drift, |energy - initial energy| over the largest kinetic energy.

    Examples:
        >>> study = ff.analysis.free_fall(ff.robots.space_manipulator())
        >>> [run.dt for run in study.runs]  # s
        [0.02, 0.01, 0.005, 0.0025, 0.00125]
        >>> print(f"energy drifts by dt^{study.order:.0f}")
        energy drifts by dt^4
    """

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
    """Free fall of a robot without torques, at five step sizes, with the error of its total energy.

    The start is random: each coordinate 0.2 rad or m off neutral, at 0.5 rad/s or m/s (standard deviations). A robot with loops
    falls with them closed, from its assembled posture, its fastest joint at 0.5 rad/s or m/s. The steps are those of freeflyer.sim
    with integrator="rk4": order 4 on rotations, too.

    Args:
        seed: Of the random start.
    Returns: FallStudy over 0.4 s, in 20 to 320 steps.
    Raises: InputError for a negative seed; FreeflyerError where the mass matrix is singular, and where the loops cannot be closed.

    Examples:
        >>> study = ff.analysis.free_fall(ff.robots.chain(3))
        >>> [bool(finer.worst < coarser.worst / 16) for coarser, finer in zip(study.runs[:3], study.runs[1:3])]  # order 4 or more
        [True, True]
    """
    rng, model = np.random.default_rng(whole_number("seed", seed, 0, LARGEST_SEED)), close_loops(model)
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
