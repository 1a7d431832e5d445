"""References of rotations and poses, with angular velocities and accelerations in world axes, as the tasks of frames take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.references import MinimumJerkReference, Reference, TargetMotion, check_times, minimum_jerk
from freeflyer.control.tasks import frozen_numbers
from freeflyer.errors import InputError, format_value
from freeflyer.spatial import quaternion, se3


@dataclass(frozen=True, eq=False)
class RotationReference(Reference):
    """Reference from rotation to rotation along the geodesic, at rest before and after, timed by the quintic of minimum jerk.

    The rotation is exp(share a) start, and a = log(end start^T) is the rotation vector in world axes. The axis stays, and
    angular velocity and acceleration are a times the rates of the share. Of two ways that are half a turn long one is taken.

    Args:
        start, end: (3, 3) array, rotations from the frame's axes to the world's.
        duration: float, s.
        begin: Time at which it leaves the start, s.

    Examples:
        >>> quarter = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp([0.0, 0.0, np.pi / 2]))
        >>> reference = ff.control.RotationReference(np.eye(3), quarter, duration=2.0)
        >>> reference([0.0, 1.0]).target.shape, reference(1.0).velocity.round(4)
        ((2, 3, 3), array([0.    , 0.    , 1.4726]))
    """

    start: ArrayLike
    end: ArrayLike
    duration: float
    begin: float = 0.0

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, rotation(name, getattr(self, name)))
        check_times(self, "begin", positive=("duration",))

    def at(self, t: np.ndarray) -> TargetMotion:
        """As in Reference."""
        start, end = np.asarray(self.start), np.asarray(self.end)
        turn = quaternion.log(quaternion.from_matrix(end @ start.T))
        share, rate, rate_change = (x[..., None] for x in minimum_jerk(t, self.begin, self.duration))
        R = quaternion.to_matrix(quaternion.exp(share * turn)) @ start
        return TargetMotion(R, rate * turn, rate_change * turn)


@dataclass(frozen=True, eq=False)
class PoseReference(Reference):
    """Reference of a pose: that of its position and that of its rotation together.

    Args:
        position: Reference of positions (..., 3), m.
        rotation: Reference of rotations (..., 3, 3).

    Examples:
        >>> up = ff.control.WaypointReference([0.0, 0.5, 1.0], [[0, 0, 0], [0.1, 0, 0.05], [0.2, 0, 0]])
        >>> level = ff.control.RotationReference(np.eye(3), np.eye(3), duration=1.0)
        >>> foot = ff.control.PoseReference(up, level)(0.5)
        >>> foot.target[:3, 3], foot.velocity.shape
        (array([0.1 , 0.  , 0.05]), (6,))
    """

    position: Reference
    rotation: Reference

    def __post_init__(self) -> None:
        for name, shape in (("position", (3,)), ("rotation", (3, 3))):
            part = getattr(self, name)
            if not isinstance(part, Reference):
                raise InputError(f"{name} must be a reference (freeflyer.control.WaypointReference, ...), got {format_value(part)}")
            found = np.shape(part(0.0).target)
            if found != shape:
                raise InputError(f"{name} must be a reference with targets of shape {shape}, got one of shape {found}")

    def at(self, t: np.ndarray) -> TargetMotion:
        """As in Reference."""
        p, r = self.position.at(t), self.rotation.at(t)
        return TargetMotion(
            se3.from_position_rotation(p.target, r.target), np.concatenate([p.velocity, r.velocity], axis=-1),
            np.concatenate([p.acceleration, r.acceleration], axis=-1),
        )  # fmt: skip


def move_pose(start: ArrayLike, end: ArrayLike, duration: float, begin: float = 0.0) -> PoseReference:
    """Reference from pose to pose: the position on a straight line, the rotation along the geodesic, both of minimum jerk.

    Args:
        start, end: (4, 4) array, poses in the world.
        duration: float, s.
        begin: Time at which it leaves the start, s.
    Raises: InputError for an array that is not a pose, and durations that are not positive.

    Examples:
        >>> model = ff.robots.chain(6)
        >>> X = ff.frame_pose(model, [[0.0] * 6, [0.3] * 6], "tip")
        >>> hand = ff.control.move_pose(X[0], X[1], duration=2.0)
        >>> task = ff.control.FramePoseTask("tip", **hand(0.8)._asdict())
    """
    a, b = pose("start", start), pose("end", end)
    return PoseReference(
        MinimumJerkReference(a[:3, 3], b[:3, 3], duration, begin), RotationReference(a[:3, :3], b[:3, :3], duration, begin)
    )  # fmt: skip


def rotation(name: str, R: ArrayLike) -> np.ndarray:
    """R as (3, 3), frozen; InputError where it is no rotation."""
    given = frozen_numbers(name, R)
    if given.shape != (3, 3):
        raise InputError(f"{name} has shape {given.shape}, expected (3, 3), a rotation matrix", name=name)
    try:
        quaternion.from_matrix(given)
    except InputError as error:
        raise InputError(f"{name} is not a rotation matrix: {error}", name=name) from None
    return given


def pose(name: str, X: ArrayLike) -> np.ndarray:
    """X as (4, 4), frozen; InputError where it is no pose."""
    given = frozen_numbers(name, X)
    if given.shape != (4, 4) or not np.array_equal(given[3], (0.0, 0.0, 0.0, 1.0)):
        raise InputError(f"{name} must be a pose (4, 4) with the last row 0, 0, 0, 1, got {format_value(X)}", name=name)
    rotation(f"the rotation of {name}", given[:3, :3])
    return given
