"""Events: where a function of the state passes through zero, and the time at which it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.errors import InputError, format_value
from freeflyer.sim.errors import EventError
from freeflyer.sim.state import State
from freeflyer.tolerances import TIME_ACCURACY

MOST_EVALUATIONS = 60  # evaluations of an event for it


@dataclass(frozen=True, eq=False)
class Event:
    """`value(state)` passes through zero: upwards (direction 1), downwards (-1) or either way (0). NaN: not defined in that state.

    terminal: the simulation ends there. action(state) -> freeflyer.sim.Change or None. start(state) -> Change or None is called
    once, where the simulation begins. Values are evaluated after every dt: one that returns within a dt, or begins at zero, has
    not passed.

        ff.sim.Event("apex", lambda state: state.v[2], direction=-1)
    """

    name: str
    value: Callable[[State], Any]
    direction: int = 0
    terminal: bool = False
    action: Callable[[State], Any] | None = None
    start: Callable[[State], Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"an event needs a name, got {format_value(self.name)}")
        if not callable(self.value) or not all(f is None or callable(f) for f in (self.action, self.start)):
            raise InputError(f"value, action and start of event {self.name!r} must be functions of the state")
        if isinstance(self.direction, bool) or not isinstance(self.direction, int) or abs(self.direction) > 1:
            raise InputError(f"direction of event {self.name!r} must be -1, 0 or 1, got {format_value(self.direction)}")
        if not isinstance(self.terminal, bool):
            raise InputError(f"terminal of event {self.name!r} must be True or False, got {format_value(self.terminal)}")

    def evaluate(self, state: State) -> float:
        """The value as a number. Errors: InputError for what is none."""
        value = self.value(state)
        try:
            if not isinstance(value, bool | np.bool_ | str | bytes):
                return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
        raise InputError(f"value of event {self.name!r} must be a number that passes through zero, got {format_value(value)}")

    def is_crossed(self, before: float, after: float) -> bool:
        """Whether values before and after lie on two sides of zero, in the direction that counts."""
        down, up = before > 0.0 >= after, before < 0.0 <= after
        return (down and self.direction <= 0) or (up and self.direction >= 0)


@dataclass(frozen=True, eq=False)
class Occurrence:
    """An event that took place at t (s), at q (nq,) and v (nv,); v_after (nv,): the velocity from then on; holding: the names of
    the constraints from then on."""

    name: str
    t: float
    q: np.ndarray
    v: np.ndarray
    v_after: np.ndarray
    holding: tuple[str, ...] = ()


def check_events(events: Any) -> tuple[Event, ...]:
    """The events as a tuple; InputError for others, and for names that are there twice."""
    given = (events,) if isinstance(events, Event) else tuple(events) if isinstance(events, Sequence) else (events,)
    for event in given:
        if not isinstance(event, Event):
            raise InputError(f"events must list freeflyer.sim.Event values, got {format_value(event)}")
    names = [event.name for event in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two events are named {twice!r}: give one another name", name=twice)
    return given


def locate(event: Event, before: float, state_at: Callable[[float], State], h: float) -> float:
    """The fraction of a step h at which the event takes place, just past zero: by Brent's method, re-integrating from the start."""
    from scipy.optimize import brentq

    values = {0.0: before}

    def value(x: float) -> float:
        if x not in values:
            values[x] = event.evaluate(state_at(x * h))
            if np.isnan(values[x]):
                raise EventError(
                    f"event {event.name!r} is not defined (NaN) in the middle of a step in which it passes zero: take a shorter "
                    "dt, or let its value stay a number", event=event.name,
                )  # fmt: skip
        return values[x]

    root = brentq(value, 0.0, 1.0, xtol=TIME_ACCURACY, rtol=4.0 * np.finfo(float).eps, maxiter=MOST_EVALUATIONS, disp=False)
    past = [x for x, y in values.items() if x >= root and event.is_crossed(before, y)]
    return min(past, default=1.0)
