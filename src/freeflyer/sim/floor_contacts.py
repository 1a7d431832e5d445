"""Contacts that open and close on a level floor, or on any plane: a constraint set that follows the signs of forces and gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.impacts import impact
from freeflyer.constraints.set_tables import surface_points
from freeflyer.constraints.sets import ConstraintSet
from freeflyer.contacts.description import Contact
from freeflyer.dynamics.frames import frame_velocity
from freeflyer.dynamics.motion_derivatives import frame_acceleration
from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import real_array
from freeflyer.sim.changes import Change
from freeflyer.sim.errors import EventError
from freeflyer.sim.events import Event
from freeflyer.sim.state import State
from freeflyer.tolerances import NEGLIGIBLE_CONTACT, TILT_HEIGHT, TOUCH_GAP


@dataclass(frozen=True, eq=False)
class Plane:
    """The points p with normal . p = height; normal (3,) of unit length, in world axes."""

    normal: np.ndarray
    height: float


def unilateral_events(stance: ConstraintSet, *, height: float = 0.0, normal: ArrayLike = (0.0, 0.0, 1.0)) -> tuple[Event, ...]:
    """Events by which the contacts of a set open and close on a plane, for freeflyer.sim.simulate.

    Parameters
    ----------
    stance : ConstraintSet
        The contacts. Those that hold at the start are given to `simulate` as constraints=: stance, stance - "foot", or
        ConstraintSet(model) for none.
    height : float, optional
        Of the plane normal . p = height, m.
    normal : (3,) array, optional
        Of the plane, world axes; of any length.

    Returns
    -------
    tuple of Event
        "foot opens" and "foot closes" of each contact; for contacts with friction also "foot slips", where the force leaves the
        friction cone, which is recorded only.

    Raises
    ------
    InputError
        For what is no set, for a set without contacts, and for what is no plane.

    Notes
    -----
    A contact opens where its normal force passes zero; it closes, with a plastic impact, where the lowest of its points reaches the
    plane. Which contacts hold after an event is found by exchanging one at a time (RBDA (2008), chapter 11): of those that hold
    none may pull, of those that touch none may move into the plane. Contacts that hold do not slide. A surface or line that lands
    tilted ends the run (`Run.failure`): give its corners as points. Where a run begins, the same exchange opens and closes contacts
    (the occurrence "start"); a contact that is open and begins below the plane is an InputError.

    Examples
    --------
    Two links of 0.5 kg fall upright by 0.05 m, then stand on the tip: its force is the weight.

    >>> model = ff.robots.chain(1, base="free")
    >>> q = np.array([0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0, 0.0])
    >>> stance = ff.ConstraintSet(model, contacts=[ff.contacts.point("tip")])
    >>> run = ff.sim.simulate(model, q, np.zeros(7), dt=0.01, duration=0.2, constraints=ff.ConstraintSet(model),
    ...                       events=ff.sim.unilateral_events(stance))
    >>> print(f"{run.events[0].name} at {run.events[0].t:.3f} s, then holds {run.forces['tip'][-1, 2]:.2f} N")
    tip closes at 0.101 s, then holds 9.81 N
    """
    if not isinstance(stance, ConstraintSet) or not stance.contacts:
        raise InputError(f"stance must be a ConstraintSet with contacts that open and close, got {format_value(stance)}")
    n, h = real_array("normal", normal), real_array("height", height)
    if n.shape != (3,) or not np.linalg.norm(n) > 1e-9 or not np.isfinite(n).all() or h.shape != () or not np.isfinite(h):
        raise InputError(f"the plane has a normal (3,) and a height in m, got {format_value(normal)} and {format_value(height)}")
    plane = Plane(n / np.linalg.norm(n), float(h))
    events: list[Event] = []
    for contact in stance.contacts:
        opened = partial(_open, stance, plane, contact)
        force, gap = partial(_normal_force, contact, plane), partial(_open_gap, contact, plane)
        begins = None if events else partial(_start, stance, plane)
        events.append(Event(f"{contact.name} opens", force, -1, action=opened, start=begins))
        closed = partial(_close, stance, plane)
        events.append(Event(f"{contact.name} closes", gap, -1, action=closed))
        if contact.friction is not None:
            events.append(Event(f"{contact.name} slips", partial(_friction_margin, contact, plane), -1))
    return tuple(events)


def _holds(state: State, contact: Contact) -> bool:
    return state.constraints is not None and contact.name in state.constraints.names


def _force(state: State, contact: Contact) -> np.ndarray:
    """(3,), world axes."""
    return np.asarray(state.pose(contact.frame)[:3, :3] @ state.forces[contact.name][:3])


def _normal_force(contact: Contact, plane: Plane, state: State) -> float:
    """N; NaN while the contact is open."""
    return float(plane.normal @ _force(state, contact)) if _holds(state, contact) else np.nan


def _friction_margin(contact: Contact, plane: Plane, state: State) -> float:
    """The friction that is left, N; NaN while the contact is open."""
    if not _holds(state, contact):
        return np.nan
    f = _force(state, contact)
    pressing = plane.normal @ f
    assert contact.friction is not None
    return float(contact.friction * pressing - np.linalg.norm(f - pressing * plane.normal))


def _heights(contact: Contact, plane: Plane, state: State) -> np.ndarray:
    """(c,): of the contact's points above the plane, m."""
    X = state.pose(contact.frame)
    points = X[:3, 3] + surface_points(state.model.tree, contact) @ X[:3, :3].T
    return np.asarray(points @ plane.normal - plane.height)


def _open_gap(contact: Contact, plane: Plane, state: State) -> float:
    """m; NaN while the contact holds."""
    return np.nan if _holds(state, contact) else float(_heights(contact, plane, state).min())


def _approach(contact: Contact, plane: Plane, state: State, v: np.ndarray) -> float:
    """The velocity (m/s) of the fastest of the contact's lowest points towards the plane."""
    heights = _heights(contact, plane, state)
    low = surface_points(state.model.tree, contact)[heights <= heights.min() + TOUCH_GAP]
    V = frame_velocity(state.model, state.q, v, contact.frame, "mixed")
    arms = low @ state.pose(contact.frame)[:3, :3].T
    return -float(((V[:3] + np.cross(V[3:], arms)) @ plane.normal).min())


def _sinking(contact: Contact, plane: Plane, state: State) -> float:
    """The acceleration (m/s^2) of the same points towards the plane."""
    heights = _heights(contact, plane, state)
    R = state.pose(contact.frame)[:3, :3]
    low = surface_points(state.model.tree, contact)[heights <= heights.min() + TOUCH_GAP]
    V = frame_velocity(state.model, state.q, state.v, contact.frame)
    A = frame_acceleration(state.model, state.q, state.v, state.a, contact.frame)
    rates = A[:3] + np.cross(A[3:], low)
    velocities = V[:3] + np.cross(V[3:], low)
    return -float(((rates + np.cross(V[3:], velocities)) @ R.T @ plane.normal).min())


def _make_set(stance: ConstraintSet, state: State, names: set[str]) -> ConstraintSet:
    """What else holds, and of the stance's contacts those named, held where they are."""
    others = [] if state.constraints is None else [c for c in state.constraints.contacts if c.name not in stance.item_names]
    chosen = (*others, *(c.held_at(None) for c in stance.contacts if c.name in names))
    base = stance if state.constraints is None else state.constraints
    return replace(base, contacts=chosen).anchored(state.q)


def _holding(stance: ConstraintSet, state: State) -> set[str]:
    return {c.name for c in stance.contacts if _holds(state, c)}


def _touching(stance: ConstraintSet, plane: Plane, state: State, holding: set[str]) -> list[Contact]:
    return [c for c in stance.contacts if c.name not in holding and _heights(c, plane, state).min() <= TOUCH_GAP]


def _open(stance: ConstraintSet, plane: Plane, contact: Contact, state: State) -> Change:
    return Change(constraints=_consistent_set(stance, plane, state, _holding(stance, state) - {contact.name}))


def _start(stance: ConstraintSet, plane: Plane, state: State) -> Change | None:
    """Where a simulation begins: contacts that pull open, those that touch close if they approach. Errors: InputError for an open
    contact below the plane."""
    holding = _holding(stance, state)
    for contact in stance.contacts:
        if contact.name not in holding and (height := float(_heights(contact, plane, state).min())) < -TOUCH_GAP:
            raise InputError(
                f"contact {contact.name!r} is open and begins {-height:.3g} m below the plane: lift the robot, or let it hold "
                "(constraints=)", name=contact.name,
            )  # fmt: skip
    if any(_approach(c, plane, state, state.v) > NEGLIGIBLE_CONTACT for c in _touching(stance, plane, state, holding)):
        return _close(stance, plane, state)
    settled = _consistent_set(stance, plane, state, holding)
    same = {c.name for c in settled.contacts if c.name in stance.item_names} == holding
    return None if same else Change(constraints=settled)


def _close(stance: ConstraintSet, plane: Plane, state: State) -> Change:
    """The impact: those that approach take hold, but for those that would be pulled."""
    holding = _holding(stance, state)
    landing = [c for c in _touching(stance, plane, state, holding) if _approach(c, plane, state, state.v) > 0.0]
    for contact in landing:
        if (tilt := float(np.ptp(_heights(contact, plane, state)))) > TILT_HEIGHT:
            raise EventError(
                f"contact {contact.name!r} lands tilted, a point of it {tilt:.2g} m above the plane: give its corners as points "
                "(freeflyer.contacts.point), which close one after the other", name=contact.name, t=state.t,
            )  # fmt: skip

    def solve(names: set[str]) -> tuple[Mapping[str, np.ndarray], np.ndarray]:
        found = impact(state.model, state.q, state.v, constraints=_make_set(stance, state, names))
        return found.impulses, found.v

    def approach(contact: Contact, v: np.ndarray) -> float:
        return _approach(contact, plane, state, v)

    size = state.model.mass * max(NEGLIGIBLE_CONTACT, float(np.abs(state.v).max(initial=0.0)))
    begin = holding | {c.name for c in landing}
    names, v = _exchange(stance, plane, state, begin, solve, approach, NEGLIGIBLE_CONTACT * size, NEGLIGIBLE_CONTACT)
    after = replace(state, v=v, equations=state.equations.with_constraints(_make_set(stance, state, names)))
    return Change(v=v, constraints=_consistent_set(stance, plane, after, names))


def _consistent_set(stance: ConstraintSet, plane: Plane, state: State, holding: set[str]) -> ConstraintSet:
    """The set with which no contact pulls and none that touches is pressed into the plane."""

    def solve(names: set[str]) -> tuple[Mapping[str, np.ndarray], State]:
        there = replace(state, equations=state.equations.with_constraints(_make_set(stance, state, names)))
        return there.forces, there

    def approach(contact: Contact, there: State) -> float:
        return -np.inf if abs(_approach(contact, plane, there, there.v)) > NEGLIGIBLE_CONTACT else _sinking(contact, plane, there)

    weight = state.model.mass * 9.81
    names, _ = _exchange(stance, plane, state, holding, solve, approach, NEGLIGIBLE_CONTACT * weight, NEGLIGIBLE_CONTACT * 9.81)
    return _make_set(stance, state, names)


def _exchange(stance: ConstraintSet, plane: Plane, state: State, names: set[str], solve: Callable[[set[str]], tuple[Any, Any]],
               approach: Callable[[Contact, Any], float], pull: float, motion: float) -> tuple[set[str], Any]:  # fmt: skip
    """(contacts that hold, what else was solved): one contact at a time leaves that pulls by more than `pull`, or joins that
    touches and moves in by more than `motion`. EventError where that does not end."""
    tried: set[frozenset[str]] = set()
    while frozenset(names) not in tried:
        tried.add(frozenset(names))
        forces, more = solve(names)
        normal = {
            c.name: float(plane.normal @ state.pose(c.frame)[:3, :3] @ forces[c.name][:3])
            for c in stance.contacts if c.name in names
        }  # fmt: skip
        worst = min(normal, key=lambda name: normal[name], default=None)
        if worst is not None and normal[worst] < -pull:
            names = names - {worst}
            continue
        open_ones = {c.name: approach(c, more) for c in _touching(stance, plane, state, names)}
        fastest = max(open_ones, key=lambda name: open_ones[name], default=None)
        if fastest is None or open_ones[fastest] <= motion:
            return names, more
        names = names | {fastest}
    raise EventError(
        f"at {state.t:.9g} s no choice of contacts keeps all that touch from pulling and from sinking in "
        f"({', '.join(sorted(names))}): contacts that do not slide cannot follow this motion", t=state.t,
    )  # fmt: skip
