"""Contacts that open and close on planes, a level floor as a rule: a constraint set that follows the signs of forces and gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.constrained_dynamics import impact
from freeflyer.contacts import ConstraintSet, Contact, contact_points, express_at, normal_forces, surface_points
from freeflyer.dynamics.frames import frame_acceleration, frame_pose, frame_velocity
from freeflyer.errors import EventError, InputError, format_value
from freeflyer.model import Model, number
from freeflyer.sim.events import Change, Event
from freeflyer.sim.state import EventState
from freeflyer.tolerances import NEGLIGIBLE_CONTACT, TILT_HEIGHT, TOUCH_GAP


def unilateral_events(stance: ConstraintSet, *, height: float = 0.0) -> tuple[Event, ...]:
    """Events by which the contacts of a set open and close on the planes that they touch, for freeflyer.sim.simulate.

    A contact opens where its normal force passes zero; it closes, with a plastic impact, where the lowest of its points reaches the
    plane. The active contacts after an event are found by exchanging one at a time (RBDA (2008), chapter 11). Active contacts may
    not pull, and touching ones may not move into the plane. Contacts that hold do not slide. A surface or line that lands tilted
    ends the run (`Run.failure`); give its corners as points. At the start of a run, the same exchange opens and closes contacts
    (the occurrence "start"). A contact that is open and begins below the plane is an InputError.

    Args:
        stance: The contacts. Those that hold at the start are given to `simulate` as constraints=: stance, stance - "foot", or
            ConstraintSet(model) for none.
        height: Height of each contact's plane, the points p with normal p = height, m; the normal is the contact's.
    Returns: tuple of Event, "foot opens" and "foot closes" of each contact; for contacts with friction also "foot slips", where the
    force leaves the friction cone, which is recorded only.
    Raises: InputError for an object that is not a set, for a set without contacts, and for a height that is not a number.

    Examples:
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
    floor = number("height", height)
    events: list[Event] = []
    for contact in stance.contacts:
        opened = partial(_open, stance, floor, contact)
        force, gap = partial(_normal_force, contact), partial(_open_gap, contact, floor)
        begins = None if events else partial(_start, stance, floor)
        events.append(Event(f"{contact.name} opens", force, -1, action=opened, start=begins, leading=True))
        closed = partial(_close, stance, floor)
        events.append(Event(f"{contact.name} closes", gap, -1, action=closed, leading=True))
        if contact.friction is not None:
            events.append(Event(f"{contact.name} slips", partial(_friction_margin, contact), -1, leading=True))
    return tuple(events)


def _force(state: EventState, contact: Contact) -> np.ndarray:
    """(3,), in the contact's axes; NaN while it is open."""
    if contact.name not in state.holding:
        return np.full(3, np.nan)
    return express_at(state.pose(contact.frame), state.forces[contact.name], "contact", contact.normal)[..., :3]


def _normal_force(contact: Contact, state: EventState) -> Any:
    """N; NaN while the contact is open."""
    return _force(state, contact)[..., 2]


def _friction_margin(contact: Contact, state: EventState) -> Any:
    """The friction that is left, N; NaN while the contact is open."""
    f = _force(state, contact)
    assert contact.friction is not None
    return contact.friction * f[..., 2] - np.linalg.norm(f[..., :2], axis=-1)


def _heights(contact: Contact, floor: float, state: EventState) -> np.ndarray:
    """(..., c): of the contact's points above the plane, m."""
    X = state.pose(contact.frame)
    points = X[..., None, :3, 3] + surface_points(state.model.tree, contact) @ np.swapaxes(X[..., :3, :3], -1, -2)
    return np.asarray(points @ contact.normal - floor)


def _open_gap(contact: Contact, floor: float, state: EventState) -> Any:
    """m; NaN while the contact holds."""
    return np.nan if contact.name in state.holding else _heights(contact, floor, state).min(axis=-1)


def _approach(contact: Contact, floor: float, state: EventState, v: np.ndarray) -> float:
    """The velocity (m/s) of the fastest of the contact's lowest points towards the plane."""
    heights = _heights(contact, floor, state)
    low = surface_points(state.model.tree, contact)[heights <= heights.min() + TOUCH_GAP]
    V = frame_velocity(state.model, state.q, v, contact.frame, "mixed")
    arms = low @ state.pose(contact.frame)[:3, :3].T
    return -float(((V[:3] + np.cross(V[3:], arms)) @ contact.normal).min())


def _sinking(contact: Contact, floor: float, state: EventState) -> float:
    """The acceleration (m/s^2) of the same points towards the plane."""
    heights = _heights(contact, floor, state)
    R = state.pose(contact.frame)[:3, :3]
    low = surface_points(state.model.tree, contact)[heights <= heights.min() + TOUCH_GAP]
    V = frame_velocity(state.model, state.q, state.v, contact.frame)
    A = frame_acceleration(state.model, state.q, state.v, state.a, contact.frame)
    rates = A[:3] + np.cross(A[3:], low)
    velocities = V[:3] + np.cross(V[3:], low)
    return -float(((rates + np.cross(V[3:], velocities)) @ R.T @ contact.normal).min())


def _make_set(stance: ConstraintSet, state: EventState, names: set[str]) -> ConstraintSet:
    """What else holds, and of the stance's contacts those named, held where they are."""
    others = [] if state.constraints is None else [c for c in state.constraints.contacts if c.name not in stance.item_names]
    chosen = (*others, *(c.held_at(None) for c in stance.contacts if c.name in names))
    base = stance if state.constraints is None else state.constraints
    return replace(base, contacts=chosen).anchored(state.q)


def _holding(stance: ConstraintSet, state: EventState) -> set[str]:
    return {c.name for c in stance.contacts if c.name in state.holding}


def _touching(stance: ConstraintSet, floor: float, state: EventState, holding: set[str]) -> list[Contact]:
    return [c for c in stance.contacts if c.name not in holding and _heights(c, floor, state).min() <= TOUCH_GAP]


def _open(stance: ConstraintSet, floor: float, contact: Contact, state: EventState) -> Change:
    return Change(constraints=_consistent_set(stance, floor, state, _holding(stance, state) - {contact.name}))


def _start(stance: ConstraintSet, floor: float, state: EventState) -> Change | None:
    """Where a simulation begins: contacts that pull open, those that touch close if they approach. Errors: InputError for an open
    contact below the plane, and on a ground."""
    if state.ground is not None:
        raise InputError("unilateral_events open and close the contacts of a constraint set; on a ground contacts open and close "
                         "without events: leave out ground= and contacts=, or these events")
    holding = _holding(stance, state)
    for contact in stance.contacts:
        if contact.name not in holding and (height := float(_heights(contact, floor, state).min())) < -TOUCH_GAP:
            raise InputError(
                f"contact {contact.name!r} is open and begins {-height:.3g} m below the plane: lift the robot, or let it hold "
                "(constraints=)", name=contact.name)  # fmt: skip
    if any(_approach(c, floor, state, state.v) > NEGLIGIBLE_CONTACT for c in _touching(stance, floor, state, holding)):
        return _close(stance, floor, state)
    settled = _consistent_set(stance, floor, state, holding)
    same = {c.name for c in settled.contacts if c.name in stance.item_names} == holding
    return None if same else Change(constraints=settled)


def _close(stance: ConstraintSet, floor: float, state: EventState) -> Change:
    """The impact: those that approach take hold, but for those that would be pulled."""
    holding = _holding(stance, state)
    landing = [c for c in _touching(stance, floor, state, holding) if _approach(c, floor, state, state.v) > 0.0]
    for contact in landing:
        if (tilt := float(np.ptp(_heights(contact, floor, state)))) > TILT_HEIGHT:
            raise EventError(
                f"contact {contact.name!r} lands tilted, a point of it {tilt:.2g} m above the plane: give its corners as points "
                "(freeflyer.contacts.point), which close one after the other", name=contact.name, t=state.t)  # fmt: skip

    def solve(names: set[str]) -> tuple[Mapping[str, np.ndarray], np.ndarray]:
        found = impact(state.model, state.q, state.v, constraints=_make_set(stance, state, names))
        return found.impulses, found.v

    def approach(contact: Contact, v: np.ndarray) -> float:
        return _approach(contact, floor, state, v)

    size = state.model.mass * max(NEGLIGIBLE_CONTACT, float(np.abs(state.v).max(initial=0.0)))
    begin = holding | {c.name for c in landing}
    names, v = _exchange(stance, floor, state, begin, solve, approach, NEGLIGIBLE_CONTACT * size, NEGLIGIBLE_CONTACT)
    after = replace(state, v=v, equations=replace(state.equations, constraints=_make_set(stance, state, names)))
    return Change(v=v, constraints=_consistent_set(stance, floor, after, names))


def _consistent_set(stance: ConstraintSet, floor: float, state: EventState, holding: set[str]) -> ConstraintSet:
    """The set with which no contact pulls and none that touches is pressed into the plane."""

    def solve(names: set[str]) -> tuple[Mapping[str, np.ndarray], EventState]:
        there = replace(state, equations=replace(state.equations, constraints=_make_set(stance, state, names)))
        return there.forces, there

    def approach(contact: Contact, there: EventState) -> float:
        return -np.inf if abs(_approach(contact, floor, there, there.v)) > NEGLIGIBLE_CONTACT else _sinking(contact, floor, there)

    weight = state.model.mass * 9.81
    names, _ = _exchange(stance, floor, state, holding, solve, approach, NEGLIGIBLE_CONTACT * weight, NEGLIGIBLE_CONTACT * 9.81)
    return _make_set(stance, state, names)


def _exchange(stance: ConstraintSet, floor: float, state: EventState, names: set[str], solve: Callable[[set[str]], tuple[Any, Any]],
               approach: Callable[[Contact, Any], float], pull: float, motion: float) -> tuple[set[str], Any]:  # fmt: skip
    """(contacts that hold, what else was solved): one contact at a time leaves that pulls by more than `pull`, or joins that
    touches and moves in by more than `motion`. EventError where that does not end."""
    tried: set[frozenset[str]] = set()
    while frozenset(names) not in tried:
        tried.add(frozenset(names))
        forces, more = solve(names)
        normal = normal_forces(state.model, state.q, forces, [c for c in stance.contacts if c.name in names])
        worst = min(normal, key=lambda name: normal[name], default=None)
        if worst is not None and normal[worst] < -pull:
            names = names - {worst}
            continue
        open_ones = {c.name: approach(c, more) for c in _touching(stance, floor, state, names)}
        fastest = max(open_ones, key=lambda name: open_ones[name], default=None)
        if fastest is None or open_ones[fastest] <= motion:
            return names, more
        names = names | {fastest}
    raise EventError(f"at {state.t:.9g} s no choice of contacts keeps all that touch from pulling and from sinking in "
        f"({', '.join(sorted(names))}): contacts that do not slide cannot follow this motion", t=state.t)  # fmt: skip


def points_at(foot: Contact, X: np.ndarray) -> np.ndarray:
    """Points (..., c, 3) of a foot whose frame is at X (..., 4, 4), m."""
    return np.asarray(contact_points(foot) @ np.swapaxes(X[..., :3, :3], -1, -2) + X[..., None, :3, 3])


def foot_points(model: Model, q: ArrayLike, feet: Sequence[Contact]) -> np.ndarray:
    """Points (..., c, 3) of all feet in the world at q (..., nq), m."""
    return np.concatenate([points_at(foot, frame_pose(model, q, foot.frame)) for foot in feet], axis=-2)


def put_on_floor(model: Model, q: np.ndarray, feet: Sequence[Contact], height: Callable[[np.ndarray], Any] = np.min) -> np.ndarray:
    """A copy of q (nq,), its floating base lowered by the height (m) of the feet's points: that of the lowest, or their mean."""
    found, base = q.copy(), next(j for j in model.tree.joints if j.kind == "free")
    found[base.iq + 2] -= height(foot_points(model, q, feet)[:, 2])
    return found
