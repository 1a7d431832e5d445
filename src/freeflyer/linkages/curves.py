"""What a linkage makes of its motors' motion and force: curves of joints along a path, force at a frame (Kangaroo paper, IV-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.linkages.following import Path
from freeflyer.linkages.maps import motion_map
from freeflyer.linkages.partition import partition
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import DEAD_POINT_RATIO


@dataclass(frozen=True)
class Curve:
    """Position of a joint over that of a motor, and the straight line y = slope x + offset that fits it best.

    Attributes:
        motor, joint: Names.
        x, y: (n,) array, positions of the motor and of the joint at the n postures that the path reached, m or rad.
        slopes: (n,) array, dy/dx: from the linkage; along paths with released motors from differences of the curve.
        slope, offset: Slope and offset of the line.
        deviation: Largest distance |y - slope x - offset|, m or rad.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> path = ff.linkages.follow(leg, "left_length_motor", np.linspace(0.0, 0.15, 16))
        >>> curve = ff.linkages.transmission_curve(leg, path, "left_knee")
        >>> print(f"{curve.slope:.1f} rad/m, off a straight line by up to {np.degrees(curve.deviation):.1f} degrees")
        13.0 rad/m, off a straight line by up to 9.5 degrees
    """

    motor: str
    joint: str
    x: np.ndarray
    y: np.ndarray
    slopes: np.ndarray
    slope: float
    offset: float
    deviation: float


@dataclass(frozen=True)
class ForceCurve:
    """Force at a frame along a path, for one force at a motor.

    Attributes:
        motor, frame: Names.
        motor_force: float, N or N m.
        position: (n,) array of the motor at the n postures that the path reached, m or rad.
        height: (n,) array of the frame along `direction` in the model's world, m.
        ratio: (n,) array, force at the frame over force at the motor; infinite at a dead point of the linkage.
        force: (n,) array, N; infinite at a dead point.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> path = ff.linkages.follow(leg, "left_length_motor", np.linspace(0.0, 0.15, 16))
        >>> curve = ff.linkages.force_curve(leg, path, "left_sole", 5000.0)
        >>> print(f"least at {curve.position[curve.smallest]:.2f} m of stroke, greatest at {curve.position[curve.largest]:.2f} m")
        least at 0.15 m of stroke, greatest at 0.06 m
    """

    motor: str
    frame: str
    motor_force: float
    position: np.ndarray
    height: np.ndarray
    ratio: np.ndarray
    force: np.ndarray

    @property
    def largest(self) -> int:
        """Where along the path the force is greatest."""
        return int(np.nanargmax(np.abs(self.force)))

    @property
    def smallest(self) -> int:
        """Where along the path the force is least."""
        return int(np.nanargmin(np.abs(self.force)))


@public
def transmission_curve(model: Model, path: Path, joint: str) -> Curve:
    """Position of a joint over that of the driver along a path.

    Args:
        path: Made by follow with the same model.
        joint: Joint of one coordinate.
    Returns: Curve with the straight line that fits best.
    Raises: InputError for a joint of several coordinates, and for a path that reached fewer than two postures.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> path = ff.linkages.follow(leg, "left_length_motor", [0.0, 0.05, 0.1, 0.15])
        >>> curve = ff.linkages.transmission_curve(leg, path, "left_knee")
        >>> np.round(np.degrees(curve.y)).astype(int).tolist()
        [0, 51, 84, 120]
    """
    model = model.tree
    info, driver = model.joint(joint), model.joint(path.driver)
    if info.nv != 1:
        raise InputError(f"joint {joint!r} ({info.kind}) has {info.nv} coordinates; a curve shows one", joint=joint)
    x, y = path.values[path.reached], path.q[path.reached][:, info.iq]
    if len(x) < 2:
        raise InputError(f"a line takes two postures; the path reached {len(x)} of {len(path.values)}", reached=len(x))
    slope, offset = np.polyfit(x, y, 1)
    if path.released:
        slopes = np.gradient(y, x)
    else:
        G = motion_map(model, partition(model), path.q[path.reached])
        slopes = G[:, info.iv, np.flatnonzero(partition(model).independent == driver.iv)[0]]
    return Curve(
        path.driver, joint, x, y, slopes, float(slope), float(offset), float(np.abs(y - slope * x - offset).max())
    )


@public
def force_curve(
    model: Model, path: Path, frame: str, force: float, direction: Sequence[float] | ArrayLike = (0.0, 0.0, 1.0)
) -> ForceCurve:
    """Force at a frame along a direction while the driver of a path pushes with a given force.

    Without losses and inertia, a motor force f and a force F along `direction` that holds the frame do no work in sum, so f
    dl = F dx. So F = f / (dx/dl), dx/dl being that of the closed linkage with all other motors at rest, those that the path
    released as well. Where |dx/dl| is below 1e-6 the linkage is at a dead point.

    Args:
        path: Made by follow with the same model.
        force: Force of the driver, N or N m.
        direction: (3,) array, world axes, of any length.
    Returns: ForceCurve. Along the postures that the path reached.
    Raises: InputError for a direction without length or a force that is no finite number.

    Examples:
        >>> leg = ff.linkages.extract_limb(ff.robots.kangaroo_like(), "left_sole")
        >>> path = ff.linkages.follow(leg, "left_length_motor", [0.0, 0.05, 0.1, 0.15])
        >>> np.round(ff.linkages.force_curve(leg, path, "left_sole", 5000.0).force).astype(int).tolist()  # N
        [1299, 1355, 1272, 774]
    """
    model = model.tree
    along = np.asarray(direction, float)
    length = np.linalg.norm(along) if along.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0.0):
        raise InputError(
            f"direction must be three finite numbers, not all zero; got {format_value(direction)}", direction=direction
        )
    if not np.isfinite(force):
        raise InputError(f"force must be a finite number (N); got {format_value(force)}", force=force)
    along = along / length
    split, driver = partition(model), model.joint(path.driver)
    q = path.q[path.reached]
    column = np.flatnonzero(split.independent == driver.iv)
    G = motion_map(model, split, q)[..., column[0]]
    rate = np.einsum("i,nij,nj->n", along, frame_jacobian(model, q, frame, expressed="mixed")[:, :3], G)
    ratio = np.where(np.abs(rate) > DEAD_POINT_RATIO, 1.0 / np.where(rate == 0.0, 1.0, rate), np.inf)
    height = frame_pose(model, q, frame)[:, :3, 3] @ along
    return ForceCurve(path.driver, frame, float(force), path.values[path.reached], height, ratio, ratio * force)
