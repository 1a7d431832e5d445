"""References of positions, rotations and poses: functions of time that give a target with its velocity and acceleration.

They hold their first value before they begin and their last one after they end, and are twice continuously differentiable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, format_value
from freeflyer.model import SMALLEST, check_shape, finite_array, finite_copy, instance, real_array, set_fields, set_numbers
from freeflyer.spatial import _check as ck, quaternion, se3

AHEAD = 1000  # cycles
SAME_CYCLE = 1e-6  # of a cycle, for rounded times


class TargetMotion(NamedTuple):
    """Target of a task, its velocity and acceleration, at one time or several.

    Attributes:
        target: (..., n), (..., 3, 3) or (..., 4, 4) array, positions, rotations or poses, in the units of the reference.
        velocity, acceleration: (..., n) array, their rates per s and s^2. Those of rotations (n = 3) are angular, world axes.
            Poses have n = 6, linear, then angular, as the rows of FramePoseTask."""

    target: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class Reference(ABC):
    """Reference: reference(t) is the TargetMotion at the time t (...), s. Your own needs the method `at`, as in docs/walking.md."""

    @abstractmethod
    def at(self, t: np.ndarray) -> TargetMotion:
        """Target (..., n), velocity and acceleration at the times t (...), s."""

    def __call__(self, t: ArrayLike) -> TargetMotion:
        return self.at(finite_array("t", t))


class SampledReference:
    """A reference, or another named tuple of arrays, at the cycles of a control loop of period dt (s), found for AHEAD at once."""

    def __init__(self, reference: Callable[[np.ndarray], Any], dt: float) -> None:
        self.reference, self.dt, self.begin = reference, dt, np.inf

    def __call__(self, t: float) -> Any:
        k = (t - self.begin) / self.dt
        if not (-0.5 < k < AHEAD - 0.5 and abs(k - round(k)) < SAME_CYCLE):
            self.begin, k = t, 0.0
            self.found = self.reference(t + self.dt * np.arange(AHEAD))
        n = round(k)
        return self.found._make([x[n] for x in self.found])


@dataclass(frozen=True, eq=False)
class MinimumJerkReference(Reference):
    """Reference from point to point, at rest before and after: the quintic polynomial of minimum jerk.

    Flash and Hogan, "The coordination of arm movements", Journal of Neuroscience 5(7), 1985: 10 u^3 - 15 u^4 + 6 u^5.

    Args:
        start, end: (n,) array, in any unit.
        duration, begin: float, s; begin is the time at which it leaves the start."""

    start: ArrayLike
    end: ArrayLike
    duration: float
    begin: float = 0.0

    def __post_init__(self) -> None:
        _freeze_rows(self, "start", "end")
        set_numbers(self, begin=None, duration=SMALLEST)

    def at(self, t: np.ndarray) -> TargetMotion:
        start, way = np.asarray(self.start), np.asarray(self.end) - np.asarray(self.start)
        share, rate, rate_change = (x[..., None] for x in minimum_jerk(t, self.begin, self.duration))
        return TargetMotion(start + share * way, rate * way, rate_change * way)


@dataclass(frozen=True, eq=False)
class WaypointReference(Reference):
    """Reference through waypoints at given times, at rest before the first and after the last: the curve of minimum jerk.

    Args:
        times: (k,) array, increasing, s; at least two.
        waypoints: (k, n) array, in any unit."""

    times: ArrayLike
    waypoints: ArrayLike

    def __post_init__(self) -> None:
        times, points = finite_copy("times", self.times), finite_copy("waypoints", self.waypoints)
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0.0).all():
            raise InputError(f"times must be increasing, (k,) with k of 2 or more, got {format_value(self.times)}")
        if points.ndim != 2 or len(points) != len(times):
            raise InputError(f"waypoints have shape {points.shape}, expected ({len(times)}, n): a row for each of the times")
        set_fields(self, times=times, waypoints=points)

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import make_interp_spline

        still = [(k, np.zeros(np.shape(self.waypoints)[1])) for k in (1, 2)]
        return make_interp_spline(self.times, self.waypoints, k=5, bc_type=(still, still))

    def at(self, t: np.ndarray) -> TargetMotion:
        times = np.asarray(self.times)
        moves = ((t > times[0]) & (t < times[-1]))[..., None]
        within = np.clip(t, times[0], times[-1])
        velocity, acceleration = (np.where(moves, self._spline(within, k), 0.0) for k in (1, 2))
        return TargetMotion(self._spline(within), velocity, acceleration)


@dataclass(frozen=True, eq=False)
class SinusoidReference(Reference):
    """Reference that swings about a point: center + envelope amplitude sin(2 pi frequency (t - begin) + phase).

    Args:
        center, amplitude: (n,) array, in any unit.
        frequency: float, Hz.
        ramp: s in which the envelope rises from 0 to 1, as a motion of minimum jerk, and falls at the end.
        begin, end: s; it rests at the center before and after. The default goes on for ever.
        phase: float or (n,) array, rad; of a circle (0, pi/2)."""

    center: ArrayLike
    amplitude: ArrayLike
    frequency: float
    ramp: float
    begin: float = 0.0
    end: float = np.inf
    phase: ArrayLike = 0.0

    def __post_init__(self) -> None:
        _freeze_rows(self, "center", "amplitude")
        set_numbers(self, begin=None, frequency=SMALLEST, ramp=SMALLEST)
        set_fields(self, phase=(phase := finite_copy("phase", self.phase)))
        if phase.shape not in ((), np.shape(self.center)):
            raise InputError(f"phase has shape {phase.shape}, expected a number or {np.shape(self.center)}, that of center")
        end, least = real_array("end", self.end), self.begin + 2.0 * self.ramp
        if end.ndim or not end >= least:
            raise InputError(f"end must be a time of begin + 2 ramp = {least:g} s or more, got {format_value(self.end)}")

    def at(self, t: np.ndarray) -> TargetMotion:
        rises = minimum_jerk(t, self.begin, self.ramp)
        falls = minimum_jerk(-t, -self.end, self.ramp)  # the same, backwards in time
        late = t > self.begin + self.ramp
        e, de, dde = (np.where(late, fall, rise)[..., None] for rise, fall in zip(rises, (falls[0], -falls[1], falls[2])))
        w = 2.0 * np.pi * self.frequency
        angle = w * (t - self.begin)[..., None] + np.asarray(self.phase)
        a, s, c = np.asarray(self.amplitude), np.sin(angle), np.cos(angle)
        return TargetMotion(
            np.asarray(self.center) + a * e * s, a * (de * s + w * e * c), a * (dde * s + 2.0 * w * de * c - w * w * e * s)
        )  # fmt: skip


def minimum_jerk(t: Any, begin: float, duration: float) -> tuple[Any, Any, Any]:
    """Share done (...), 0 to 1, and its first and second time derivative, of the motion of minimum jerk from rest to rest."""
    u = (t - begin) / duration
    u = min(max(u, 0.0), 1.0) if isinstance(t, float) else np.clip(u, 0.0, 1.0)
    left = 1.0 - u
    share = u**3 * (10.0 + u * (6.0 * u - 15.0))
    return share, 30.0 * (u * left) ** 2 / duration, 60.0 * u * left * (left - u) / duration**2


def _freeze_rows(reference: Reference, first: str, second: str) -> None:
    """Both fields as arrays (n,) that nobody changes; InputError for other shapes."""
    a, b = (finite_copy(name, getattr(reference, name)) for name in (first, second))
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"{first} and {second} have shapes {a.shape} and {b.shape}, expected two of one shape (n,)")
    set_fields(reference, **{first: a, second: b})


@dataclass(frozen=True, eq=False)
class RotationReference(Reference):
    """Reference from rotation to rotation along the geodesic, at rest before and after, timed by the quintic of minimum jerk.

    The rotation is exp(share a) start, with the rotation vector a = log(end start^T) in world axes.

    Args:
        start, end: (3, 3) array, rotations from the frame's axes to the world's.
        duration, begin: float, s; begin is the time at which it leaves the start."""

    start: ArrayLike
    end: ArrayLike
    duration: float
    begin: float = 0.0

    def __post_init__(self) -> None:
        set_fields(self, start=_rotation("start", self.start), end=_rotation("end", self.end))
        set_numbers(self, begin=None, duration=SMALLEST)

    def at(self, t: np.ndarray) -> TargetMotion:
        start, end = np.asarray(self.start), np.asarray(self.end)
        turn = quaternion.log(quaternion.from_matrix(end @ start.T))
        share, rate, rate_change = (x[..., None] for x in minimum_jerk(t, self.begin, self.duration))
        return TargetMotion(quaternion.to_matrix(quaternion.exp(share * turn)) @ start, rate * turn, rate_change * turn)


@dataclass(frozen=True, eq=False)
class PoseReference(Reference):
    """Reference of a pose: that of its position and that of its rotation together.

    Args:
        position: Reference of positions (..., 3), m.
        rotation: Reference of rotations (..., 3, 3)."""

    position: Reference
    rotation: Reference

    def __post_init__(self) -> None:
        for name, shape in (("position", (3,)), ("rotation", (3, 3))):
            part = instance(name, getattr(self, name), Reference, "control.WaypointReference, ...")  # type: ignore[type-abstract]
            found = np.shape(part(0.0).target)
            if found != shape:
                raise InputError(f"{name} must be a reference with targets of shape {shape}, got one of shape {found}")

    def at(self, t: np.ndarray) -> TargetMotion:
        (p, *rates), (R, *turning) = self.position.at(t), self.rotation.at(t)
        return TargetMotion(se3.from_position_rotation(p, R), *(np.concatenate(x, axis=-1) for x in zip(rates, turning)))


def move_pose(start: ArrayLike, end: ArrayLike, duration: float, begin: float = 0.0) -> PoseReference:
    """Reference from pose to pose: the position on a straight line, the rotation along the geodesic, both of minimum jerk.

    Args:
        start, end: (4, 4) array, poses in the world.
        duration, begin: float, s; begin is the time at which it leaves the start."""
    given = (("start", start), ("end", end))
    a, b = (ck.pose(name, check_shape(name, finite_array(name, X), (4, 4), ", a pose")) for name, X in given)
    return PoseReference(
        MinimumJerkReference(a[:3, 3], b[:3, 3], duration, begin), RotationReference(a[:3, :3], b[:3, :3], duration, begin)
    )  # fmt: skip


def _rotation(name: str, R: ArrayLike) -> np.ndarray:
    """R as (3, 3), frozen; InputError where it is no rotation."""
    return ck.rotation(name, check_shape(name, finite_copy(name, R), (3, 3), ", a rotation matrix"))
