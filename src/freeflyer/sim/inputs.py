"""Inputs of a simulated robot: functions of time and state, or controllers, as one function (t, q, v) -> tau.

A function is a continuous force law (a spring, a drag): it is evaluated at every stage of the integrator, which so keeps its order.
A controller is sampled once every dt, and its forces are held in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model

Forces = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class InputLaw:
    """tau(t, q, v) (..., nv); held: whether it is sampled once every dt and held in between."""

    tau: Forces
    held: bool


def make_input_law(model: Model, inputs: Any, hold: bool | None) -> InputLaw:
    """The law of None (no forces), of a function (t, q, v) -> tau, of an object with tau(q, v) or tau_at(t, q, v), or of fixed
    forces (nv,)."""
    if not (hold is None or isinstance(hold, bool)):
        raise InputError(f"hold must be True, False or None, got {format_value(hold)}")
    if inputs is None:
        zero = model._zero
        return InputLaw(lambda t, q, v: zero, True)
    if callable(getattr(inputs, "tau_at", None)):
        return _check_function(model, inputs.tau_at, "tau_at(t, q, v) of the controller", True, hold)
    if callable(getattr(inputs, "tau", None)):
        return _check_function(model, lambda t, q, v: inputs.tau(q, v), "tau(q, v) of the controller", True, hold)
    if callable(inputs):
        return _check_function(model, inputs, "inputs(t, q, v)", False, hold)
    try:
        fixed = finite_row(model, "inputs", inputs, "u")
    except InputError as error:
        raise InputError(
            f"inputs must be a function (t, q, v) -> tau, an object with tau(q, v) such as a Regulator, or forces (nv,); got "
            f"{format_value(inputs)} ({error})"
        ) from None
    return _check_function(model, lambda t, q, v: fixed, "inputs", True, hold)


def _check_function(model: Model, tau: Callable[..., Any], what: str, sampled: bool, hold: bool | None) -> InputLaw:
    """The function with its results checked and copied: a controller may overwrite its array later."""

    def checked(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = np.array(finite_row(model, what, tau(t, q, v), "u"))
        if found.ndim > v.ndim or found.shape[:-1] not in ((), v.shape[:-1]):
            raise InputError(
                f"{what} gives shape {found.shape} for velocities of shape {v.shape}: give forces of that shape, or (nv,)"
            )
        return found

    return InputLaw(checked, sampled if hold is None else hold)
