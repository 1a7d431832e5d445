"""Time of one call of the decoupled equations beside the mass and Coriolis matrices, in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from freeflyer import decoupling
from freeflyer.analysis.timing.robots import default_robots
from freeflyer.dynamics.equations import coriolis_matrix, mass_matrix
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.model import Model
from freeflyer.robots import make

BLOCKS, CALLS, BOUND = 21, 200, 2.0


@dataclass(frozen=True)
class Time:
    """Medians, us."""

    robot: str
    nv: int
    mass: float
    coriolis: float
    coriolis_hamel: float
    decoupled: float
    decoupled_passive: float

    @property
    def ratio(self) -> float:
        """decouple over mass_matrix + coriolis_matrix."""
        return self.decoupled / (self.mass + self.coriolis)


def times() -> tuple[Time, ...]:
    """TALOS, where example-robot-data is installed, and robots made by code."""
    first = next(iter(default_robots())).model
    models = [m for m in (first, make("humanoid"), make("space_manipulator")) if m.joints[0].kind == "free"]
    rng, made = np.random.default_rng(7), []
    for model in models:
        q, v = integrate(model, model.neutral, rng.standard_normal(model.nv)), rng.standard_normal(model.nv)
        calls = _calls(model, q, v)
        seconds = np.empty((BLOCKS + 1, len(calls)))
        for block in seconds:
            for k, call in enumerate(calls):
                start = perf_counter()
                for _ in range(CALLS):
                    call()
                block[k] = (perf_counter() - start) / CALLS
        made.append(Time(model.name, model.nv, *(1e6 * np.median(seconds[1:], 0)).tolist()))
    return tuple(made)


def _calls(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[Callable[[], object], ...]:
    return (
        lambda: mass_matrix(model, q), lambda: coriolis_matrix(model, q, v), lambda: coriolis_matrix(model, q, v, "hamel"),
        lambda: decoupling.decouple(model, q, v), lambda: decoupling.decouple(model, q, v, form="passive"),
    )  # fmt: skip
