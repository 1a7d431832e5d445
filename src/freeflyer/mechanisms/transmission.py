"""What a linkage makes of its motors' motion and force: curves of joints along a path, force at a frame (papers/000, IV-A).

Without losses and inertia, a motor that pushes with force f while a frame is held by a force F along `direction` does no work
in sum: f dl = F dx. So F = f / (dx/dl), dx/dl being read off the closed linkage with all other motors at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.partition import partition
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.mechanisms.following import Path
from freeflyer.mechanisms.maps import motion_map
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import DEAD_POINT_RATIO


@dataclass(frozen=True)
class Curve:
    """A joint's position y (n,) over a motor's x (n,), and the straight line y = slope x + offset that fits it best.

    deviation: the largest distance of the curve from the line; slopes (n,): dy/dx from the linkage, not from differences.
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

    position (n,): the motor's. height (n,): the frame's along `direction` in the model's world, m. ratio (n,): force at the
    frame over force at the motor. force (n,): N. At a dead point of the linkage ratio and force are infinite.
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
    """How a joint follows the driver of a path, while the released motors follow."""
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
    """Force (N) at `frame` along `direction` (3,), world axes, while the path's driver pushes with `force` (N or Nm).

    Errors: UnknownNameError; InputError for a direction without length or a force that is no finite number.
    """
    model = model.tree
    along = np.asarray(direction, float)
    length = np.linalg.norm(along) if along.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0.0):
        raise InputError(
            f"direction must be three finite numbers, not all zero; got {direction!r}", direction=direction
        )
    if not np.isfinite(force):
        raise InputError(f"force must be a finite number (N); got {force!r}", force=force)
    along = along / length
    split, driver = partition(model), model.joint(path.driver)
    q = path.q[path.reached]
    column = np.flatnonzero(split.independent == driver.iv)
    G = motion_map(model, split, q)[..., column[0]]
    rate = np.einsum("i,nij,nj->n", along, frame_jacobian(model, q, frame, expressed="mixed")[:, :3], G)
    ratio = np.where(np.abs(rate) > DEAD_POINT_RATIO, 1.0 / np.where(rate == 0.0, 1.0, rate), np.inf)
    height = frame_pose(model, q, frame)[:, :3, 3] @ along
    return ForceCurve(path.driver, frame, float(force), path.values[path.reached], height, ratio, ratio * force)
