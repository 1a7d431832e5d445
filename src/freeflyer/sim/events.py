"""Events: where a function of the state passes through zero, the time at which it does, and the changes that their actions make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freeflyer.contacts import ConstraintSet
from freeflyer.errors import EventError, FreeflyerError, InputError, format_value
from freeflyer.model import choice, frozen_array, instance, one_row, refuse_repeated, true_or_false
from freeflyer.sim.state import EventState
from freeflyer.tolerances import TIME_ACCURACY, VELOCITY_TOLERANCE

MOST_EVALUATIONS = 60  # evaluations of an event for it
START = "start"  # name of the occurrence of a change where a simulation begins


@dataclass(frozen=True, eq=False)
class Event:
    """Event of a simulation: a function of the state passes through zero.

    Values are evaluated after every dt. After an event they are also evaluated at times that begin at a millionth of the rest of
    the dt and double. A value that returns in between, or begins at zero, has not passed. The time is found by Brent's method, to
    1e-12 of the step.

    Args:
        name: Name of its occurrences.
        value: value(state), a number; `state` is a freeflyer.sim.EventState. NaN: not defined in it.
        direction: 0, 1 or -1, passages that count: either way, upwards, downwards.
        terminal: Whether the simulation ends there.
        action: action(state), a freeflyer.sim.Change or None, called where the event takes place.
        start: start(state), a Change or None, called once, where the simulation begins.
        leading: Whether value also takes states with a leading axis, and gives an array. Steps under constant inputs are then
            taken, and looked at, many at once.
    Raises: InputError for an empty name, and for values of other types.

    Examples:
        The lowest points of a pendulum, half a period (s) apart:

        >>> lowest = ff.sim.Event("lowest", lambda state: state.q[0])
        >>> run = ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], dt=0.01, duration=1.0, events=lowest)
        >>> [round(event.t, 4) for event in run.events]
        [0.1433, 0.4298, 0.7164]
    """

    name: str
    value: Callable[[EventState], Any]
    direction: int = 0
    terminal: bool = False
    action: Callable[[EventState], Any] | None = None
    start: Callable[[EventState], Any] | None = None
    leading: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"an event needs a name, got {format_value(self.name)}")
        if not callable(self.value) or not all(f is None or callable(f) for f in (self.action, self.start)):
            raise InputError(f"value, action and start of event {format_value(self.name)} must be functions of the state")
        choice(f"direction of event {format_value(self.name)}", self.direction, (-1, 0, 1))
        true_or_false(f"terminal of event {format_value(self.name)}", self.terminal)
        true_or_false(f"leading of event {format_value(self.name)}", self.leading)

    def evaluate(self, state: EventState) -> float:
        """The value as a number. Errors: InputError for anything else."""
        value = self.value(state)
        try:
            if not isinstance(value, bool | np.bool_ | str | bytes):
                return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
        name, got = format_value(self.name), format_value(value)
        raise InputError(f"value of event {name} must be a number that passes through zero, got {got}")

    def is_crossed(self, before: Any, after: Any) -> Any:
        """Whether values before and after lie on two sides of zero, in the direction that counts."""
        down, up = (before > 0.0) & (after <= 0.0), (before < 0.0) & (after >= 0.0)
        return down | up if self.direction == 0 else up if self.direction > 0 else down


@dataclass(frozen=True, eq=False)
class Occurrence:
    """Occurrence of an event in a run: its time and the state there.

    Attributes:
        name: The event's name; "start" for a change where the simulation began.
        t: Time, s.
        q: (nq,) array, configuration before the event's action, m and rad.
        v, v_after: (nv,) array, velocity before the action and from then on, m/s and rad/s.
        holding: Names of the constraints that hold from then on.
        robot: Place of the robot in the leading axes of a batch.

    Examples:
        >>> wall = ff.sim.Event("wall", lambda state: state.q[0], -1, action=lambda state: ff.sim.Change(v=-0.5 * state.v))
        >>> run = ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], dt=0.01, duration=0.2, events=wall)
        >>> hit = run.events[0]
        >>> print(f"{hit.name} at {hit.t:.3f} s: {hit.v[0]:.2f} becomes {hit.v_after[0]:.2f} rad/s")
        wall at 0.143 s: -5.51 becomes 2.76 rad/s
    """

    name: str
    t: float
    q: np.ndarray
    v: np.ndarray
    v_after: np.ndarray
    holding: tuple[str, ...] = ()
    robot: tuple[int, ...] = ()


def check_events(events: Any) -> tuple[Event, ...]:
    """The events as a tuple; InputError for others, and for names that are there twice."""
    given = (events,) if isinstance(events, Event) else tuple(events) if isinstance(events, Sequence) else (events,)
    for event in given:
        instance("each of events", event, Event)
    refuse_repeated("events", [event.name for event in given])
    return given


def quiet_steps(events: Sequence[Event], later: EventState, before: Sequence[float]) -> tuple[int, list[float]]:
    """How many of the states `later` (n, nq) are before the first event, and the values at the last of these. before: values where
    they begin."""
    count = len(later.q)
    table = np.array([[x, *np.broadcast_to(event.value(later), count)] for event, x in zip(events, before)])
    passed = np.array([event.is_crossed(x[:-1], x[1:]) for event, x in zip(events, table)]).any(axis=0)
    quiet = int(passed.argmax()) if passed.any() else count
    return quiet, table[:, quiet].tolist()


def locate(event: Event, before: float, state_at: Callable[[float], EventState], h: float) -> float:
    """The fraction of a step h at which the event takes place, just past zero: by Brent's method, re-integrating from the start."""
    from scipy.optimize import brentq

    values = {0.0: before}

    def value(x: float) -> float:
        if x not in values:
            values[x] = event.evaluate(state_at(x * h))
            if np.isnan(values[x]):
                raise EventError(
                    f"event {event.name!r} is not defined (NaN) in the middle of a step in which it passes zero: take a shorter "
                    "dt, or let its value stay a number", event=event.name)  # fmt: skip
        return values[x]

    root = brentq(value, 0.0, 1.0, xtol=TIME_ACCURACY, rtol=4.0 * np.finfo(float).eps, maxiter=MOST_EVALUATIONS, disp=False)
    past = [x for x, y in values.items() if x >= root and event.is_crossed(before, y)]
    return min(past, default=1.0)


KEEP: Any = object()


@dataclass(frozen=True, eq=False)
class Change:
    """Change of a simulated robot's state or constraints, made by an event. Values that are not given stay.

    Args:
        q: (nq,) array, configuration, m and rad.
        v: (nv,) array, velocity, m/s and rad/s. It must keep the constraints that hold from then on; freeflyer.impact gives such a
            velocity.
        constraints: The set that holds from then on, its contacts and locks where the robot is, if not elsewhere already; None: no
            set.

    Examples:
        A pendulum that a wall at the angle zero turns back without loss:

        >>> model = ff.robots.chain(1)
        >>> wall = ff.sim.Event("wall", lambda state: state.q[0], -1, action=lambda state: ff.sim.Change(v=-state.v))
        >>> run = ff.sim.simulate(model, [0.5], [0.0], dt=0.01, duration=1.0, events=wall)
        >>> len(run.events), bool(run.q.min() > 0.0)
        (3, True)
    """

    q: Any = None
    v: Any = None
    constraints: ConstraintSet | None = KEEP


def apply_change(what: str, function: Callable[[EventState], Any] | None, state: EventState) -> EventState:
    """The state after the Change that a function of it returns, or the state itself. Errors: InputError, that `what` returns a
    change that cannot be made."""
    change = None if function is None else function(state)
    if change is None:
        return state
    if not isinstance(change, Change):
        raise InputError(f"{what} must return a freeflyer.sim.Change or None, got {format_value(change)}")
    try:
        q = state.q if change.q is None else frozen_array(one_row(state.model, "q", change.q, "q"))
        v = state.v if change.v is None else frozen_array(one_row(state.model, "v", change.v, "u"))
        equations = state.equations if change.constraints is KEEP else state.equations.under(change.constraints, q)
    except FreeflyerError as error:
        raise InputError(f"{what} returns an invalid change: {error}", t=state.t) from None
    held = equations.constraints
    if held is not None:
        rate = np.abs(held.jacobian(q) @ v)
        if rate.max(initial=0.0) > VELOCITY_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0))):
            raise InputError(
                f"{what} gives v that violates the constraints: row {held.row_names[int(rate.argmax())]!r} by {rate.max():.3g}. "
                "Give the velocity after the impact, freeflyer.impact(...).v", t=state.t)  # fmt: skip
    ground = state.ground and state.ground.under(equations)
    return replace(state, equations=equations, q=q, v=v, ground=ground)
