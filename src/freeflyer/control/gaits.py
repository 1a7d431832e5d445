"""Gaits: when each foot is on the ground, and the footsteps at which the robot goes with a speed and a turning rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.control.dcm import GRAVITY
from freeflyer.control.footsteps import FootstepPlan, heading, support_phases
from freeflyer.control.support import check_held, middle_of
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.model.frozen import Record
from freeflyer.model.inputs import finite_array, number, positive, whole_number
from freeflyer.model.placements import rotation_of_rpy
from freeflyer.model.public import public

GAITS: dict[int, dict[str, tuple[float, float, tuple[float, ...]]]] = {  # by the number of feet: period in sqrt(height / gravity)
    2: {"walk": (5.0, 0.625, (0.0, 0.5))},
    4: {"crawl": (12.0, 0.85, (0.25, 0.75, 0.0, 0.5)), "trot": (2.7, 0.55, (0.0, 0.5, 0.5, 0.0))},
}


@dataclass(frozen=True, eq=False)
class Gait(Record):
    """Gait: a periodic schedule of feet on the ground.

    Args:
        period: In which each foot makes one step, s.
        duty: Share of the period in which a foot is on the ground, between 0 and 1.
        phases: When each foot leaves the ground, as a share of the period, from 0 to 1: by pairs from front to rear, the left foot
            first. Feet of equal phases swing together; between two swings all feet are on the ground.

    Examples:
        >>> ff.control.Gait.named("trot", height=0.33).phases         # front left, front right, rear left, rear right
        (0.0, 0.5, 0.5, 0.0)
        >>> pace = ff.control.Gait(period=0.6, duty=0.6, phases=(0.0, 0.5, 0.0, 0.5))
    """

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
            raise InputError(
                f"duty must be above {least:.3g} and below 1 so that the feet that swing land before the next ones leave the "
                f"ground, got {duty:g} with the phases {format_value(self.phases)}"
            )  # fmt: skip
        for name, value in (("period", period), ("duty", duty), ("phases", tuple(phases.tolist()))):
            object.__setattr__(self, name, value)

    @staticmethod
    def named(name: str, height: float, feet: int = 4, *, gravity: float = GRAVITY) -> Gait:
        """Gait of a name, its period that of a pendulum of the robot's size.

        Args:
            name: "crawl" or "trot". "crawl": one foot after the other, three hold; "trot": two feet at a time, across. Two feet
                have the gait "walk".
            height: Of the centre of mass above the ground, m.
            feet: 2 or 4.
            gravity: float, m/s^2.
        Raises: InputError for other numbers of feet.
        """
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

    Each foot lands at its predicted place in the standing robot half-way through its stance, if the robot moves as commanded. This
    is half the way of the stance ahead of the hip, as in Raibert, "Legged robots that balance", MIT Press, 1986.

    Args:
        feet: All on the ground, as freeflyer.contacts.anchored_feet gives them.
        gait: Gait with a phase for each foot.
        speed, lateral: Forward and to the left, m/s.
        turning: Rate about the vertical, positive to the left, rad/s.
        cycles: Steps of each foot, 1 or more; the robot gains and loses speed in the first and the last.
        rest_duration: Before the first and after the last step, s.
        clearance: Height of a swinging foot half-way, m.
        forward: (3,) array, in world axes; its horizontal part counts. By default the mean of the x axes of the feet's frames.
        begin: float, s.
    Raises: InputError for another number of feet than the gait's, and bad numbers.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> points = [ff.contacts.point(name) for name in model.frame_names if name.endswith("_foot")]
        >>> feet = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model), points)
        >>> trot = ff.control.Gait(period=0.5, duty=0.6, phases=(0.0, 0.5, 0.5, 0.0))
        >>> plan = ff.control.gait_footsteps(feet, trot, speed=0.4, forward=[1.0, 0.0, 0.0])
        >>> list(plan.phases[1].swings)
        ['front_left_foot', 'rear_right_foot']
        >>> (plan.phases[-1].feet[0].at[:2, 3] - plan.phases[0].feet[0].at[:2, 3]).round(3)    # 0.4 m/s over 9.5 periods
        array([1.9, 0. ])
    """
    standing = check_held(feet)
    if not isinstance(gait, Gait) or len(gait.phases) != len(standing):
        raise InputError(
            f"gait must be a freeflyer.control.Gait with {len(standing)} phases, one for each foot, got {format_value(gait)}"
        )
    rates = np.array([number(n, x) for n, x in (("speed", speed), ("lateral", lateral), ("turning", turning))])
    height, start, rest = number("clearance", clearance), number("begin", begin), positive("rest_duration", rest_duration)
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
    turn = float(rates[2] * time)
    way = time * np.sinc(0.5 * turn / np.pi) * (rotation_of_rpy(0.0, 0.0, 0.5 * turn)[:2, :2] @ rates[:2])
    X = np.eye(4)
    X[:3, :3] = rotation_of_rpy(0.0, 0.0, turn)
    X[:3, 3] = middle + way[0] * ahead + way[1] * np.array([-ahead[1], ahead[0], 0.0]) - X[:3, :3] @ middle
    return X
