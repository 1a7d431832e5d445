"""One step in time on the configuration manifold, under forces that are held over the step.

Each scheme is written once, over q (+) dv, sums and accelerations a(q, v, c) alone, c the fraction of the step at which they are
evaluated: on arrays it steps, on dual values (`Dual`) it gives the step's exact derivative (`linearization`).
Steps of trees and closed robots are compiled, several in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.errors import InputError, LinkageError
from freeflyer.kernels import entries as E
from freeflyer.kernels.compiler.calls.running import handle, with_table
from freeflyer.kernels.entry import Entry
from freeflyer.kernels.sim.layout import SAMPLES
from freeflyer.kernels.sim.smooth import EXPLICIT, RK4, SEMI_IMPLICIT
from freeflyer.model import Model, choice, frozen_array

NUMBERS = {"semi-implicit": SEMI_IMPLICIT, "explicit": EXPLICIT, "rk4": RK4}


class Samples(NamedTuple):
    """A model with a number of steps, for compiled code."""

    topology: np.ndarray
    handle: Any


class States(NamedTuple):
    """States (..., count, nq), (..., count, nv) after 1, 2, ... steps, and the wrenches (..., count, 6) of constraints by name
    where each step begins."""

    q: np.ndarray
    v: np.ndarray
    forces: Mapping[str, np.ndarray]


class Steps(NamedTuple):
    """Steps of one model by one scheme."""

    model: Model
    entry: Entry
    scheme: int
    gravity: tuple[float, ...] | None

    def advance(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, dt: ArrayLike, count: int) -> States | None:
        """States after steps under held forces; None if one cannot be taken: steps one by one tell why. dt: (...) of robots."""
        given, settings = _free_samples(self.model, count, self.gravity), np.asarray(dt, float)[..., None]
        found = run_steps(self.entry, self.model, given, (q, v, tau, settings), self.scheme)
        return None if found is None else States(found[0], found[1], {})


def run_steps(entry: Entry, model: Model, given: Samples, inputs: tuple[Any, ...], scheme: int) -> Any:
    """The outputs of an entry of steps; None if one cannot be taken. inputs: q, v, tau, settings."""
    found = entry.call(given.handle, *inputs, scheme, None)
    if found is None:
        try:
            found = evaluate(entry, model, inputs, ("q", "v", "tau", "dt"), (scheme,), frames=given)  # type: ignore[arg-type]
        except (InputError, LinkageError):
            return None
    return found


def compiled_steps(model: Model, integrator: str, gravity: Sequence[float] | np.ndarray | None = None) -> Steps | None:
    """None for what has no compiled steps: other integrators, and moves that are extrapolated (see integrators.moves_of)."""
    extrapolated = integrator == "rk4" and model.reduction is not None and model.reduction.has_partial_joints
    if integrator not in NUMBERS or extrapolated:
        return None
    entry = E.CLOSED_STEPS if model.reduction else E.SHARED_STEPS if model.shared_coordinates else E.TREE_STEPS
    return Steps(model, entry, NUMBERS[integrator], None if gravity is None else tuple(map(float, gravity)))


def make_samples(model: Model, parameters: np.ndarray, kind: int, table: Any, gravity: tuple[float, ...] | None) -> Samples:
    """The model with a table behind its topology; parameters: the model's, and what follows; another gravity if that is given."""
    if gravity is not None:
        parameters = np.concatenate([gravity, parameters[3:]])
    topology, parameters = frozen_array(with_table(model.topology, kind, np.array(table))), frozen_array(parameters)
    return Samples(topology, handle(topology, parameters))


@lru_cache(maxsize=64)
def _free_samples(model: Model, count: int, gravity: tuple[float, ...] | None) -> Samples:
    return make_samples(model, model.parameters, SAMPLES, (count, 0, 0, 0, 1), gravity)


Integrator = Literal["semi-implicit", "explicit", "rk4"]
Acceleration = Callable[[Any, Any, float], Any]
Plus = Callable[[Any, Any], Any]


def explicit(a: Acceleration, plus: Plus, q: Any, v: Any, h: float) -> tuple[Any, Any]:
    return plus(q, h * v), v + h * a(q, v, 0.0)


def semi_implicit(a: Acceleration, plus: Plus, q: Any, v: Any, h: float) -> tuple[Any, Any]:
    v_next = v + h * a(q, v, 0.0)
    return plus(q, h * v_next), v_next


def rk4(a: Acceleration, plus: Plus, q: Any, v: Any, h: float) -> tuple[Any, Any]:
    v1, a1 = v, a(q, v, 0.0)
    q2, v2 = plus(q, 0.5 * h * v1), v + 0.5 * h * a1
    a2 = a(q2, v2, 0.5)
    q3, v3 = plus(q, 0.5 * h * v2), v + 0.5 * h * a2
    a3 = a(q3, v3, 0.5)
    q4, v4 = plus(q2, h * (v3 - 0.5 * v1)), v + h * a3
    a4 = a(q4, v4, 1.0)
    half = plus(q, h / 12.0 * (3.0 * v1 + 2.0 * v2 + 2.0 * v3 - v4))
    end = plus(half, h / 12.0 * (-v1 + 2.0 * v2 + 2.0 * v3 + 3.0 * v4))
    return end, v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)


def flow(plus: Plus, minus: Plus) -> Plus:
    """q moved by s / h for a time h, to order 4, where q (+) s is of order 2: of one, two and three parts, extrapolated."""

    def moved(q: Any, s: Any) -> Any:
        two, three = 0.5 * s, (1.0 / 3.0) * s
        q1, q2, q3 = plus(q, s), plus(plus(q, two), two), plus(plus(plus(q, three), three), three)
        return plus(q3, (1.0 / 12.0) * minus(q3, q1) + (-4.0 / 3.0) * minus(q3, q2))

    return moved


Scheme = Callable[[Acceleration, Plus, Any, Any, float], tuple[Any, Any]]
SCHEMES: dict[str, Scheme] = {"semi-implicit": semi_implicit, "explicit": explicit, "rk4": rk4}


def moves_of(model: Model, scheme: Scheme, plus: Plus, minus: Plus) -> Plus:
    """q (+) s as the scheme needs it. Sums of independent coordinates are no motion at constant velocities where a ball joint is
    independent in part of its coordinates: the spin of a rod between two balls would be of order 2."""
    spins = scheme is rk4 and model.reduction is not None and model.reduction.has_partial_joints
    return flow(plus, minus) if spins else plus


def steps_of(model: Model, scheme: Scheme) -> Plus:
    """q (+) s of arrays, as the scheme needs it."""
    return moves_of(model, scheme, partial(integrate, model), partial(difference, model))


def scheme_of(integrator: object) -> Scheme:
    return SCHEMES[choice("integrator", integrator, SCHEMES)]
