"""What drives a simulated robot: functions of time and state, or controllers, as one function (t, q, v) -> tau.

A function is a law of nature (a spring, a drag): it is evaluated wherever the integrator asks, so that the integrator keeps its
order. A controller is sampled, once every dt, and its forces are held in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError, shown
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model

Forces = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Drive:
    """tau(t, q, v) (..., nv); held: whether it is sampled once every dt and held in between."""

    tau: Forces
    held: bool


def drive_of(model: Model, inputs: Any, hold: bool | None) -> Drive:
    """Of None (no forces), a function (t, q, v) -> tau, an object with tau(q, v) or tau_at(t, q, v), or fixed forces (nv,)."""
    if not (hold is None or isinstance(hold, bool)):
        raise InputError(f"hold must be True, False or None, got {shown(hold)}")
    if inputs is None:
        zero = model._zero
        return Drive(lambda t, q, v: zero, True)
    if callable(getattr(inputs, "tau_at", None)):
        return _checked(model, inputs.tau_at, "tau_at(t, q, v) of the controller", True, hold)
    if callable(getattr(inputs, "tau", None)):
        return _checked(model, lambda t, q, v: inputs.tau(q, v), "tau(q, v) of the controller", True, hold)
    if callable(inputs):
        return _checked(model, inputs, "inputs(t, q, v)", False, hold)
    try:
        fixed = finite_row(model, "inputs", inputs, "u")
    except InputError as error:
        raise InputError(
            f"inputs must be a function (t, q, v) -> tau, an object with tau(q, v) such as a Regulator, or forces (nv,); got "
            f"{shown(inputs)} ({error})"
        ) from None
    return _checked(model, lambda t, q, v: fixed, "inputs", True, hold)


def _checked(model: Model, tau: Callable[..., Any], what: str, sampled: bool, hold: bool | None) -> Drive:
    """The function, its answers checked and copied: a controller may use its array again."""

    def checked(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = np.array(finite_row(model, what, tau(t, q, v), "u"))
        if found.ndim > v.ndim or found.shape[:-1] not in ((), v.shape[:-1]):
            raise InputError(
                f"{what} gives shape {found.shape} for velocities of shape {v.shape}: give forces of that shape, or (nv,)"
            )
        return found

    return Drive(checked, sampled if hold is None else hold)
