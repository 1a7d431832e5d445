"""Changes by actions of events: checked and applied."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet, check_set
from freeflyer.errors import FreeflyerError, InputError, format_value
from freeflyer.model.inputs import finite_row
from freeflyer.sim.events import Event
from freeflyer.sim.state import EventState, anchor
from freeflyer.tolerances import VELOCITY_TOLERANCE

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


def apply_event(event: Event, state: EventState) -> EventState:
    """The state after the event's action. Errors: InputError, with the event's name, for a change that cannot be made."""
    change = None if event.action is None else event.action(state)
    return state if change is None else apply_change(f"the action of event {event.name!r}", change, state)


def apply_change(what: str, change: Any, state: EventState) -> EventState:
    """The state after a Change; `what` made it."""
    if not isinstance(change, Change):
        raise InputError(f"{what} must return a freeflyer.sim.Change or None, got {format_value(change)}")
    try:
        q = state.q if change.q is None else _check_row(state, "q", change.q, "q")
        v = state.v if change.v is None else _check_row(state, "v", change.v, "u")
        equations = state.equations
        if change.constraints is not KEEP:
            equations = equations.with_constraints(_check_held(change.constraints, state, q))
    except FreeflyerError as error:
        raise InputError(f"{what} returns an invalid change: {error}", t=state.t) from None
    held = equations.constraints
    if held is not None:
        rate = np.abs(held.jacobian(q) @ v)
        if rate.max(initial=0.0) > VELOCITY_TOLERANCE * max(1.0, float(np.abs(v).max(initial=0.0))):
            raise InputError(
                f"{what} gives v that violates the constraints: row {held.row_names[int(rate.argmax())]!r} by {rate.max():.3g}. "
                "Give the velocity after the impact, freeflyer.impact(...).v", t=state.t,
            )  # fmt: skip
    return replace(state, equations=equations, q=q, v=v)


def _check_row(state: EventState, name: str, x: Any, letter: str) -> np.ndarray:
    found = np.array(finite_row(state.model, name, x, letter))
    if found.ndim > 1:
        raise InputError(f"{name} must have one axis, got shape {found.shape}")
    found.flags.writeable = False
    return found


def _check_held(constraints: Any, state: EventState, q: np.ndarray) -> ConstraintSet | None:
    if constraints is None:
        return None
    if not isinstance(constraints, ConstraintSet):
        raise InputError(f"constraints must be a ConstraintSet or None, got {format_value(constraints)}")
    check_set(state.model, constraints)
    return anchor(constraints, q)
