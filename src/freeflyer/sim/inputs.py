"""Inputs of a simulated robot: functions of time and state, or controllers, as one function (t, q, v) -> tau; noise and delay.

A function is a continuous force law (a spring, a drag): it is evaluated at every stage of the integrator, which so keeps its order.
A controller is sampled once every dt, and its forces are held in between."""

from __future__ import annotations

from collections import deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import InputError, format_value
from freeflyer.linkages.closure import closed_posture
from freeflyer.model import LARGEST_SEED, Model, finite_array, finite_row, instance, number, true_or_false, whole_number
from freeflyer.tolerances import MAX_DELAY

Forces = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Place = slice | int  # of the first leading axis: robots beside each other, or a single one without that axis


class InputLaw(namedtuple("InputLaw", "tau held constant", defaults=(False,))):
    """tau(t, q, v) (..., nv); held: whether it is sampled once every dt and held in between; constant: whether it never changes."""


def make_input_law(model: Model, inputs: Any, hold: bool | None) -> InputLaw:
    """The law of None (no forces), of a function (t, q, v) -> tau, of an object with tau(q, v) or tau_at(t, q, v), of fixed
    forces (nv,), or of a table (t, tau)."""
    if hold is not None:
        true_or_false("hold", hold)
    if isinstance(inputs, InputLaw):  # of ours
        return inputs
    if inputs is None:
        zero = model._zero
        return InputLaw(lambda t, q, v: zero, True, constant=True)
    if callable(getattr(inputs, "tau_at", None)):
        return _check_function(model, inputs.tau_at, "tau_at(t, q, v) of the controller", True, hold)
    if callable(getattr(inputs, "tau", None)):
        return _check_function(model, lambda t, q, v: inputs.tau(q, v), "tau(q, v) of the controller", True, hold)
    if callable(inputs):
        return _check_function(model, inputs, "inputs(t, q, v)", False, hold)
    if is_table(inputs):
        return _check_function(model, _table(model, *inputs), "the table of inputs", True, hold)
    try:
        fixed = finite_row(model, "inputs", inputs, "u")
    except InputError as error:
        raise InputError(
            f"inputs must be a function (t, q, v) -> tau, an object with tau(q, v) such as a Regulator, forces (nv,), or a table "
            f"(t (k,), tau (k, nv)); got {format_value(inputs)} ({error})") from None
    return _check_function(model, lambda t, q, v: fixed, "inputs", True, hold)._replace(held=True, constant=True)


def is_table(inputs: Any) -> bool:
    """Whether inputs are times and the forces from each on."""
    return isinstance(inputs, tuple | list) and len(inputs) == 2 and _axes(inputs[0]) == 1 and _axes(inputs[1]) > 1


def _axes(x: Any) -> int:
    try:
        return np.ndim(x)
    except ValueError:  # rows of different lengths
        return -1


def _table(model: Model, times: Any, forces: Any) -> Forces:
    """The forces of the last time that has come."""
    t, tau = finite_array("times of the table of inputs", times), finite_row(model, "forces of the table of inputs", forces, "u")
    if len(t) != len(tau) or (np.diff(t) <= 0.0).any() or t[0] > 0.0:
        raise InputError(f"a table of inputs is (t (k,), tau (k, ..., nv)), t from 0 on and rising; got t {format_value(times)}, "
                         f"tau of shape {tau.shape}")  # fmt: skip
    rounding = 1e-9 * float(np.diff(t).min(initial=1.0))
    return lambda now, q, v: tau[np.searchsorted(t, now + rounding, "right") - 1]


def _check_function(model: Model, tau: Callable[..., Any], what: str, sampled: bool, hold: bool | None) -> InputLaw:
    """The function with its results checked and copied: a controller may overwrite its array later."""

    def checked(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = np.array(finite_row(model, what, tau(t, q, v), "u"))
        if found.ndim > v.ndim or found.shape[:-1] not in ((), v.shape[:-1]):
            raise InputError(
                f"{what} gives shape {found.shape} for velocities of shape {v.shape}: give forces of that shape, or (nv,)")
        return found

    return InputLaw(checked, sampled if hold is None else hold)


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

    def measure(self, model: Model, q: np.ndarray, v: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) that the controller gets at sample k, of a state whose age is the delay."""
        if self.position_noise == 0.0 and self.velocity_noise == 0.0:
            return q, v
        noise = self._noise(k, v.shape)
        q = closed_posture(model, q)  # MuJoCo's loops give way
        return integrate(model, q, noise[0] * self.position_noise), v + noise[1] * self.velocity_noise

    def _noise(self, k: int, shape: tuple[int, ...]) -> np.ndarray:
        return np.random.default_rng((self.seed, k)).standard_normal((2, *shape))


@dataclass(frozen=True)
class PartSensing(Sensing):
    """Sensing of a part of a batch with the noise that it has in the whole one. lead: axes of that; places: taken of the first
    axis, one after the other."""

    lead: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()

    def _noise(self, k: int, shape: tuple[int, ...]) -> np.ndarray:
        found = super()._noise(k, (*self.lead, shape[-1]))
        for place in self.places:
            found = found[:, place]
        return found


class Senses:
    """The measured state of a controller, sample after sample."""

    def __init__(self, model: Model, sensing: Sensing | None, dt: float) -> None:
        self.model, self.sensing = model, sensing
        self.states: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=1 if sensing is None else 1 + round(sensing.delay / dt))

    def see(self, k: int, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) as sensed at sample k, with the state there."""
        self.states.append((q, v))
        return (q, v) if self.sensing is None else self.sensing.measure(self.model, *self.states[0], k)


def check_sensing(model: Model, sensing: object, dt: float) -> Sensing | None:
    """InputError for anything but a Sensing of this number of coordinates, with a delay that is a multiple of dt (s)."""
    if sensing is None:
        return None
    sensing = instance("sensing", sensing, Sensing)
    if abs(sensing.delay / dt - round(sensing.delay / dt)) > 1e-6:
        raise InputError(f"delay must be a multiple of dt = {dt:g} s, got {sensing.delay:g}: the controller gets samples")
    for name in ("position_noise", "velocity_noise"):
        x = getattr(sensing, name)
        if isinstance(x, tuple) and len(x) != model.nv:
            raise InputError(f"{name} has {len(x)} numbers, the model has {model.nv} velocity coordinates")
    return sensing
