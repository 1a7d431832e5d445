"""Steps in time of trees and closed robots, several in one compiled call, while forces are held."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.kernels.compiler.calls.running import handle, with_table
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.sim.layout import SAMPLES
from freeflyer.kernels.sim.smooth import EXPLICIT, RK4, SEMI_IMPLICIT
from freeflyer.model.frozen import frozen_array
from freeflyer.model.model import Model

NUMBERS = {"semi-implicit": SEMI_IMPLICIT, "explicit": EXPLICIT, "rk4": RK4}


class Samples(NamedTuple):
    """A model with a number of steps, for compiled code."""

    topology: np.ndarray
    handle: Any


class Steps(NamedTuple):
    """Steps of one model by one scheme."""

    model: Model
    entry: Entry
    scheme: int
    gravity: tuple[float, ...] | None

    def advance(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: float, count: int) -> tuple[np.ndarray, np.ndarray] | None:
        """States (..., count, nq), (..., count, nv) after 1, 2, ... steps under held forces; None if one cannot be taken: steps one
        by one tell why."""
        given, settings = _samples(self.model, count, self.gravity), np.array([dt])
        found = self.entry.call(given.handle, q, v, tau, settings, self.scheme, None)
        if found is None:
            try:
                names = "q", "v", "tau", "dt"
                inputs = q, v, tau, settings
                found = evaluate(self.entry, self.model, inputs, names, (self.scheme,), frames=given)  # type: ignore[arg-type]
            except InputError:
                return None
        return found


def compiled_steps(model: Model, integrator: str, gravity: Sequence[float] | np.ndarray | None = None) -> Steps | None:
    """None for what has no compiled steps: other integrators, and moves that are extrapolated (see integrators.moves_of)."""
    if integrator not in NUMBERS:
        return None
    entry = E.SHARED_STEPS if model.shared_coordinates else E.TREE_STEPS
    if model.reduction:
        if integrator == "rk4" and model.reduction.has_partial_joints:
            return None
        entry = E.CLOSED_STEPS
    return Steps(model, entry, NUMBERS[integrator], None if gravity is None else tuple(map(float, gravity)))


@lru_cache(maxsize=64)
def _samples(model: Model, count: int, gravity: tuple[float, ...] | None) -> Samples:
    table = np.array([count, 0, 0, 0, 1])
    topology, parameters = frozen_array(with_table(model.topology, SAMPLES, table)), model.parameters
    if gravity is not None:
        parameters = np.array(parameters)
        parameters[:3] = gravity
        parameters = frozen_array(parameters)
    return Samples(topology, handle(topology, parameters))
