"""Footsteps: phases in which the same feet hold, and the motion of the feet that swing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.control.checks import shaped
from freeflyer.control.references import PoseReference, Reference, RotationReference, TargetMotion, WaypointReference
from freeflyer.control.support import check_held, support_polygon
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.model.frozen import Record, frozen_array
from freeflyer.model.inputs import SMALLEST, number, positive, whole_number


@dataclass(frozen=True, eq=False)
class SupportPhase(Record):
    """Phase in which the same feet hold.

    Attributes:
        begin, end: float, s.
        feet: Those on the ground, at their poses.
        swings: The motion of each foot in the air: it leaves and meets the ground without velocity and acceleration.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> feet = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model))
        >>> single = ff.control.walk_forward(feet, step_length=0.3, steps=4).phases[1]
        >>> list(single.swings), [foot.name for foot in single.feet], single.polygon.shape
        (['left_sole'], ['right_sole'], (4, 2))
    """

    begin: float
    end: float
    feet: tuple[Contact, ...]
    swings: Mapping[str, PoseReference] = field(default_factory=dict)

    @cached_property
    def polygon(self) -> np.ndarray:
        """Support polygon (m, 2), corners counter-clockwise, m."""
        return frozen_array(support_polygon(self.feet))


@dataclass(frozen=True, eq=False)
class FootReference(Reference):
    """Reference of a foot's pose over all its steps.

    Args:
        stand: (4, 4) array, its pose before the first step.
        steps: Steps in order of time.
        begins: (k,) array, when each step begins, s.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> feet = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model))
        >>> foot = ff.control.walk_forward(feet, step_length=0.3, steps=4).foot("left_sole")
        >>> foot([0.0, 100.0]).target[:, 0, 3].round(3) + 0.0
        array([0. , 0.9])
    """

    stand: np.ndarray
    steps: tuple[PoseReference, ...]
    begins: np.ndarray

    def at(self, t: np.ndarray) -> TargetMotion:
        """As in Reference."""
        current = np.searchsorted(self.begins, t, side="right")  # how many steps have begun
        found = TargetMotion(
            np.broadcast_to(self.stand, (*t.shape, 4, 4)) + 0.0, np.zeros((*t.shape, 6)), np.zeros((*t.shape, 6))
        )  # fmt: skip
        for k, step in enumerate(self.steps, 1):
            if (moves := current == k).any():
                for whole, part in zip(found, step(t[moves])):
                    whole[moves] = part
        return found


@dataclass(frozen=True, eq=False)
class FootstepPlan(Record):
    """Plan of footsteps; made by walk_forward and gait_footsteps.

    Attributes:
        phases: In order, without gaps; between two in which feet swing, as at both ends, all feet hold.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> feet = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model))
        >>> plan = ff.control.walk_forward(feet, step_length=0.3, steps=2, step_duration=1.0, double_support=0.2, rest_duration=1.5)
        >>> [(round(x.begin, 2), round(x.end, 2), *x.swings) for x in plan.phases]
        [(0.0, 1.5), (1.5, 2.3, 'left_sole'), (2.3, 2.5), (2.5, 3.3, 'right_sole'), (3.3, 4.8)]
    """

    phases: tuple[SupportPhase, ...]

    @property
    def begin(self) -> float:
        """s."""
        return self.phases[0].begin

    @property
    def end(self) -> float:
        """s."""
        return self.phases[-1].end

    def phase(self, t: float) -> SupportPhase:
        """The phase at the time t (s); the first one before the plan begins, the last one after it ends."""
        begins = [phase.begin for phase in self.phases]
        return self.phases[max(0, int(np.searchsorted(begins, t, side="right")) - 1)]

    def foot(self, name: str) -> FootReference:
        """Reference of a foot's pose at all times. Errors: UnknownNameError."""
        first = {foot.name: foot for foot in self.phases[0].feet}
        if name not in first:
            raise unknown_name("foot", name, first)
        steps = [(x.begin, x.swings[name]) for x in self.phases if name in x.swings]
        return FootReference(np.asarray(first[name].at), tuple(x for _, x in steps), np.array([t for t, _ in steps]))


def walk_forward(feet: Sequence[Contact], step_length: float, steps: int, *, step_duration: float = 0.8,
                 double_support: float = 0.25, rest_duration: float = 1.0, clearance: float = 0.05,
                 forward: ArrayLike | None = None, begin: float = 0.0) -> FootstepPlan:  # fmt: skip
    """Plan of footsteps straight forward, which ends with the feet side by side.

    Feet are displaced only along `forward`, and their width, height and orientation stay. The swing foot goes by the curve of
    minimum jerk through a point above the middle of its way (WaypointReference).

    Args:
        feet: Both feet on the ground, as freeflyer.contacts.anchored_feet gives them; the first one steps first.
        step_length: From foot to foot, m; negative: backward. The first and the last step bring their foot one step length on, the
            others two.
        steps: 2 or more.
        step_duration: Duration of a single and a double support, s.
        double_support: Its share of the step duration, between 0 and 1.
        rest_duration: Of the first and the last double support, in which the weight goes to the first foot and back to the middle,
            s.
        clearance: Height of the swing foot half-way, above both its places, m.
        forward: (3,) array, in world axes; its horizontal part counts. By default the mean of the x axes of the feet's frames.
        begin: float, s.
    Raises: InputError for other than two feet, and bad numbers.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> feet = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model))
        >>> plan = ff.control.walk_forward(feet, step_length=0.3, steps=6)
        >>> [foot.at[:2, 3].round(3).tolist() for foot in plan.phases[-1].feet]
        [[1.5, 0.1], [1.5, -0.1]]
    """
    standing = check_held(feet)
    if len(standing) != 2 or standing[0].name == standing[1].name:
        raise InputError(f"walking takes two feet with names of their own, got {[foot.name for foot in standing]}: choose two")
    length, height = number("step_length", step_length), number("clearance", clearance)
    start, rest = number("begin", begin), positive("rest_duration", rest_duration)
    period = positive("step_duration", step_duration)
    double = period * number("double_support", double_support, SMALLEST, 0.999)
    count, forwards = whole_number("steps", steps, 2), heading(standing, forward)
    places, swings = [np.array(foot.at) for foot in standing], []
    for k in range(count):
        foot, lift = k % 2, start + rest + k * period
        ahead = (places[1 - foot] - places[foot])[:3, 3] @ forwards + (length if k + 1 < count else 0.0)
        places[foot] = places[foot] + np.outer([*(ahead * forwards), 0.0], [0.0, 0.0, 0.0, 1.0])
        swings.append((lift, lift + period - double, {standing[foot].name: places[foot]}))
    return FootstepPlan(support_phases(standing, start, rest, swings, height))


def support_phases(feet: Sequence[Contact], begin: float, rest: float,
                   swings: Sequence[tuple[float, float, Mapping[str, np.ndarray]]],
                   clearance: float) -> tuple[SupportPhase, ...]:  # fmt: skip
    """Phases from `begin` (s) to a rest (s) after the last of the swings, which are (lift, land, poses to land at by foot)."""
    held, t, phases = {foot.name: foot for foot in feet}, begin, []
    for lift, land, places in swings:
        phases.append(SupportPhase(t, lift, tuple(held.values())))
        moves = {name: swing(held[name].at, X, lift, land, clearance) for name, X in places.items()}
        phases.append(SupportPhase(lift, land, tuple([foot for name, foot in held.items() if name not in moves]), moves))
        held |= {name: held[name].held_at(X) for name, X in places.items()}
        t = land
    return (*phases, SupportPhase(t, t + rest, tuple(held.values())))


def swing(lift: ArrayLike | None, land: np.ndarray, begin: float, end: float, clearance: float) -> PoseReference:
    """Motion of a foot from pose to pose (4, 4), half-way `clearance` above the higher one."""
    a, b = np.asarray(lift), land
    above = 0.5 * (a[:3, 3] + b[:3, 3])
    above[2] = max(a[2, 3], b[2, 3]) + clearance
    path = WaypointReference([begin, 0.5 * (begin + end), end], [a[:3, 3], above, b[:3, 3]])
    return PoseReference(path, RotationReference(a[:3, :3], b[:3, :3], end - begin, begin))


def heading(feet: Sequence[Contact], forward: ArrayLike | None = None) -> np.ndarray:
    """Horizontal unit vector (3,): forward, or the mean of the x axes of the feet."""
    if forward is None:
        direction = np.sum([np.asarray(foot.at)[:3, 0] for foot in feet], axis=0)
    else:
        direction = shaped("forward", forward, 3, more=", a vector in world axes")
    flat = direction * (1.0, 1.0, 0.0)
    size = float(np.linalg.norm(flat))
    if not size > 1e-6 * max(1.0, float(np.linalg.norm(direction))):
        raise InputError(f"forward must have a horizontal part, got {format_value(direction.tolist())}: give forward=(x, y, 0)")
    return flat / size
