"""Plans of walking: footsteps are phases in which the same feet hold, and the motion of the feet that swing; gaits."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact
from freeflyer.control.references import PoseReference, Reference, RotationReference, TargetMotion, WaypointReference
from freeflyer.control.support import check_held, middle_of, support_polygon
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.model import SMALLEST, Record, finite_array, frozen_array, number, positive, public, set_fields, shaped, whole_number
from freeflyer.spatial import se3

GRAVITY = 9.81  # m/s^2
GAITS: dict[int, dict[str, tuple[float, float, tuple[float, ...]]]] = {  # by the number of feet: period in sqrt(height / gravity)
    2: {"walk": (5.0, 0.625, (0.0, 0.5))},
    4: {"crawl": (12.0, 0.85, (0.25, 0.75, 0.0, 0.5)), "trot": (2.7, 0.55, (0.0, 0.5, 0.5, 0.0))},
}


@dataclass(frozen=True, eq=False)
class SupportPhase(Record):
    """Phase in which the same feet hold.

    Attributes:
        begin, end: float, s.
        feet: Those on the ground, at their poses.
        swings: The motion of each foot in the air: it leaves and meets the ground without velocity and acceleration."""

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
        begins: (k,) array, when each step begins, s."""

    stand: np.ndarray
    steps: tuple[PoseReference, ...]
    begins: np.ndarray

    def at(self, t: np.ndarray) -> TargetMotion:
        current = np.searchsorted(self.begins, t, side="right")  # how many steps have begun
        still = np.zeros((*t.shape, 6))
        found = TargetMotion(np.broadcast_to(self.stand, (*t.shape, 4, 4)) + 0.0, still, still.copy())
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
        begin, end: float, s."""

    phases: tuple[SupportPhase, ...]

    @property
    def begin(self) -> float:
        return self.phases[0].begin

    @property
    def end(self) -> float:
        return self.phases[-1].end

    def phase(self, t: float) -> SupportPhase:
        """The phase at the time t (s); the first one before the plan begins, the last one after it ends."""
        return self.phases[max(0, bisect(self.phases, t, key=attrgetter("begin")) - 1)]

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
    """Plan of footsteps straight forward, which ends with the feet side by side; width, height and orientation of the feet stay.

    Args:
        feet: Both feet on the ground, as freeflyer.contacts.anchored_feet gives them; the first one steps first.
        step_length: Distance from foot to foot, m; negative for backward steps.
        steps: 2 or more; the first and the last bring their foot one step length on, the others two.
        step_duration, double_support: Duration of a single and a double support, s, and the share of the latter, from 0 to 1.
        rest_duration: Duration of the first and the last double support, s.
        clearance: Height of the swing foot half-way, above both its places, m.
        forward: (3,) array, in world axes; its horizontal part counts. By default the mean of the x axes of the feet's frames.
        begin: float, s."""
    standing = check_held(feet)
    if len(standing) != 2 or standing[0].name == standing[1].name:
        raise InputError(f"walking takes two feet with names of their own, got {[foot.name for foot in standing]}: choose two")
    length, height = number("step_length", step_length), number("clearance", clearance, 0.0)
    start, rest, period = number("begin", begin), positive("rest_duration", rest_duration), positive("step_duration", step_duration)
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
        moves = {name: swing(np.asarray(held[name].at), X, lift, land, clearance) for name, X in places.items()}
        phases.append(SupportPhase(lift, land, tuple([foot for name, foot in held.items() if name not in moves]), moves))
        held |= {name: held[name].held_at(X) for name, X in places.items()}
        t = land
    return (*phases, SupportPhase(t, t + rest, tuple(held.values())))


def swing(a: np.ndarray, b: np.ndarray, begin: float, end: float, clearance: float) -> PoseReference:
    """Motion of a foot from pose to pose (4, 4), half-way `clearance` above the higher one."""
    above = 0.5 * (a[:3, 3] + b[:3, 3])
    above[2] = max(a[2, 3], b[2, 3]) + clearance
    path = WaypointReference([begin, 0.5 * (begin + end), end], [a[:3, 3], above, b[:3, 3]])
    return PoseReference(path, RotationReference(a[:3, :3], b[:3, :3], end - begin, begin))


def heading(feet: Sequence[Contact], forward: ArrayLike | None = None) -> np.ndarray:
    """Horizontal unit vector (3,): forward, or the mean of the x axes of the feet."""
    direction = np.sum([np.asarray(foot.at)[:3, 0] for foot in feet], axis=0)
    if forward is not None:
        direction = shaped("forward", forward, (3,), ", a vector in world axes")
    flat = direction * (1.0, 1.0, 0.0)
    size = float(np.linalg.norm(flat))
    if not size > 1e-6 * max(1.0, float(np.linalg.norm(direction))):
        raise InputError(f"forward must have a horizontal part, got {format_value(direction.tolist())}: give forward=(x, y, 0)")
    return flat / size


@dataclass(frozen=True, eq=False)
class Gait(Record):
    """Gait: a periodic schedule of feet on the ground.

    Args:
        period: In which each foot makes one step, s.
        duty: Share of the period in which a foot is on the ground, between 0 and 1.
        phases: When each foot leaves the ground, as a share of the period: by pairs from front to rear, the left foot first."""

    period: float
    duty: float
    phases: Sequence[float]

    def __post_init__(self) -> None:
        phases = finite_array("phases", self.phases)
        if phases.ndim != 1 or len(phases) < 2 or not ((phases >= 0.0) & (phases < 1.0)).all():
            raise InputError(f"phases must be shares of the period from 0 to 1, one of each foot, got {format_value(self.phases)}")
        period, duty = positive("period", self.period), number("duty", self.duty, 0.0, 1.0)
        starts = np.unique(phases)
        least = 1.0 - float(np.diff([*starts, starts[0] + 1.0]).min())
        if not max(0.0, least) < duty < 1.0 or len(starts) < 2:
            why = f"so that the feet that swing land before the next ones leave the ground, got {duty:g}"
            raise InputError(f"duty must be above {least:.3g} and below 1 {why} with the phases {format_value(self.phases)}")
        set_fields(self, period=period, duty=duty, phases=tuple(phases.tolist()))

    @staticmethod
    def named(name: str, height: float, feet: int = 4, *, gravity: float = GRAVITY) -> Gait:
        """Gait "crawl" (one foot after the other) or "trot" (two at a time, across) of four feet, "walk" of two, its period that
        of a pendulum of the robot's size: the centre of mass at this height (m) under gravity (m/s^2). Errors: InputError."""
        known = GAITS.get(whole_number("feet", feet, 1))
        if known is None:
            raise InputError(f"gaits are known of two and of four feet, got {format_value(feet)}: give one, freeflyer.control.Gait")
        if not isinstance(name, str) or name not in known:
            raise unknown_name("gait", name, known, f"They are those of {feet} feet.")
        period, duty, phases = known[name]
        return Gait(period * float(np.sqrt(positive("height", height) / positive("gravity", gravity))), duty, phases)


@public
def gait_footsteps(feet: Sequence[Contact], gait: Gait, *, speed: float = 0.0, lateral: float = 0.0, turning: float = 0.0,
                   cycles: int = 10, rest_duration: float = 1.0, clearance: float = 0.05, forward: ArrayLike | None = None,
                   begin: float = 0.0) -> FootstepPlan:  # fmt: skip
    """Plan of footsteps of a gait, which ends with the feet as they stood at first.

    Footholds: docs/walking.md; Raibert, "Legged robots that balance", MIT Press, 1986.

    Args:
        feet: All on the ground, as freeflyer.contacts.anchored_feet gives them.
        gait: Gait with a phase for each foot.
        speed, lateral, turning: Forward and to the left, m/s, and about the vertical, positive to the left, rad/s.
        cycles: Steps of each foot, 1 or more; the robot gains and loses speed in the first and the last.
        rest_duration, clearance, forward, begin: See walk_forward."""
    standing = check_held(feet)
    if not isinstance(gait, Gait) or len(gait.phases) != len(standing):
        raise InputError(f"gait must be a freeflyer.control.Gait of {len(standing)} phases, one per foot, got {format_value(gait)}")
    rates = np.array([number(n, x) for n, x in (("speed", speed), ("lateral", lateral), ("turning", turning))])
    height, start, rest = number("clearance", clearance, 0.0), number("begin", begin), positive("rest_duration", rest_duration)
    count, ahead = whole_number("cycles", cycles, 1), heading(standing, forward)
    names = [foot.name for foot in _by_place(standing, ahead)]
    poses = {foot.name: np.asarray(foot.at) for foot in standing}
    middle = np.mean([middle_of(foot) for foot in standing], axis=0)
    period, stance, starts = gait.period, gait.duty * gait.period, sorted(set(gait.phases))
    air = period - stance
    first, last = start + rest + starts[-1] * period - 0.5 * stance, start + rest + (count - 1) * period + air + 0.5 * stance
    swings = []
    for k in range(count):
        for phase in starts:
            lift = start + rest + (k + phase) * period
            until = lift + air + 0.5 * stance if k + 1 < count else np.inf
            X = _moved(rates, _moving_time(until, first, last, min(period, last - first)), ahead, middle)
            swings.append((lift, lift + air, {name: X @ poses[name] for name, own in zip(names, gait.phases) if own == phase}))
    return FootstepPlan(support_phases(standing, start, rest, swings, height))


def _by_place(feet: Sequence[Contact], ahead: np.ndarray) -> list[Contact]:
    """The feet by pairs from front to rear, the left one first."""
    place = {foot.name: middle_of(foot) for foot in feet}
    left = np.array([-ahead[1], ahead[0], 0.0])
    rows = sorted(feet, key=lambda foot: -float(place[foot.name] @ ahead)) if len(feet) > 2 else list(feet)
    return [foot for k in range(0, len(rows), 2) for foot in sorted(rows[k : k + 2], key=lambda f: -float(place[f.name] @ left))]


def _moving_time(t: float, first: float, last: float, ramp: float) -> float:
    """Integral up to t (s) of a share that rises from 0 to 1 about the time `first` and falls about `last`, within `ramp` each."""
    def risen(since: float) -> float:
        u = np.clip(since / ramp + 0.5, 0.0, 1.0)
        return float(0.5 * ramp * u**2 + max(0.0, since - 0.5 * ramp))

    return risen(t - first) - risen(t - last) if np.isfinite(t) else last - first


def _moved(rates: np.ndarray, time: float, ahead: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Displacement (4, 4) of the world by a motion with constant speeds (forward, left) and turning rate for a time (s)."""
    left = np.array([-ahead[1], ahead[0], 0.0])
    X = se3.exp(time * np.array([*(rates[0] * ahead + rates[1] * left), 0.0, 0.0, rates[2]]))
    X[:3, 3] += middle - X[:3, :3] @ middle
    return X
