"""Tasks of frames: position, orientation, pose, in world axes at the frame's origin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.tasks import Task, known_frame, shaped
from freeflyer.dynamics.frames import frame_bias_acceleration, frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.model.model import Model
from freeflyer.spatial import quaternion
from freeflyer.tolerances import UNIT_TOLERANCE


@dataclass(frozen=True, eq=False)
class FrameTask(Task):
    """What the three tasks of a frame have in common: a frame, a target, rows of the frame's mixed twist."""

    frame: str
    target: ArrayLike

    @property
    def name(self) -> str:
        """Its kind, and the frame."""
        return f"{type(self).__name__}({self.frame!r})"

    rows = slice(0, 6)

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Rows of the frame's Jacobian in mixed expression."""
        return frame_jacobian(model, q, known_frame(model, self.frame), "mixed")[self.rows]

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Rows of the frame's Jdot v in mixed expression."""
        return frame_bias_acceleration(model, q, v, known_frame(model, self.frame), "mixed")[self.rows]


@dataclass(frozen=True, eq=False)
class FramePositionTask(FrameTask):
    """Task: the origin of a frame at a place in the world.

    Parameters
    ----------
    frame : str
        A link or site.
    target : (3,) array
        Position in the world, m.
    level, weight, stiffness, damping, velocity, acceleration
        As in Task; the rows are world axes.

    Examples
    --------
    >>> model = ff.robots.chain(6)
    >>> task = ff.control.FramePositionTask("tip", [0.2, 0.1, 0.3])
    >>> np.round(task.error(model, model.neutral), 3)     # the chain hangs down, 0.7 m
    array([-0.2, -0.1, -1. ])
    """

    rows = slice(0, 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", shaped(self.name, "target", self.target, (3,)))

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Position beyond the target (3,), m, world axes."""
        return frame_pose(model, q, known_frame(model, self.frame))[:3, 3] - np.asarray(self.target)


@dataclass(frozen=True, eq=False)
class FrameOrientationTask(FrameTask):
    """Task: the axes of a frame along those of a rotation.

    Parameters
    ----------
    frame : str
        A link or site.
    target : (3, 3) array
        Rotation from the frame's axes to the world's.
    level, weight, stiffness, damping, velocity, acceleration
        As in Task; the rows are world axes.

    Examples
    --------
    >>> model = ff.robots.chain(6)
    >>> quarter = ff.spatial.quaternion.to_matrix(ff.spatial.quaternion.exp([0.0, 0.0, np.pi / 2]))
    >>> task = ff.control.FrameOrientationTask("tip", quarter)
    >>> np.round(task.error(model, model.neutral), 4) + 0.0
    array([ 0.    ,  0.    , -1.5708])
    """

    rows = slice(3, 6)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", _rotation(self.name, shaped(self.name, "target", self.target, (3, 3))))

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Rotation vector (3,) from the target's axes to the frame's, rad, world axes."""
        return _turn(frame_pose(model, q, known_frame(model, self.frame))[:3, :3], np.asarray(self.target))


@dataclass(frozen=True, eq=False)
class FramePoseTask(FrameTask):
    """Task: a frame at a pose in the world.

    Parameters
    ----------
    frame : str
        A link or site.
    target : (4, 4) array
        Pose of the frame in the world.
    level, weight, stiffness, damping, velocity, acceleration
        As in Task; three rows of position, m, then three of rotation, rad, in world axes.

    Examples
    --------
    >>> model = ff.robots.chain(6)
    >>> X = ff.frame_pose(model, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "tip")
    >>> found = ff.control.inverse_kinematics(model, [ff.control.FramePoseTask("tip", X)], 0.3 * np.ones(6))
    >>> found.converged, bool(np.allclose(ff.frame_pose(model, found.q, "tip"), X, atol=1e-8))
    (True, True)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        X = shaped(self.name, "target", self.target, (4, 4))
        if not np.array_equal(X[3], (0.0, 0.0, 0.0, 1.0)):
            raise InputError(f"target of {self.name} is no pose: its last row is {X[3].tolist()}, expected [0, 0, 0, 1]")
        _rotation(self.name, X[:3, :3])
        object.__setattr__(self, "target", X)

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Position (3), m, and rotation vector (3), rad, beyond the target, world axes."""
        X, target = frame_pose(model, q, known_frame(model, self.frame)), np.asarray(self.target)
        return np.concatenate([X[:3, 3] - target[:3, 3], _turn(X[:3, :3], target[:3, :3])])


def _turn(R: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Rotation vector of R target^T: turning by it leads from the target to R."""
    return quaternion.log(quaternion.from_matrix(R @ target.T))


def _rotation(name: str, R: np.ndarray) -> np.ndarray:
    if np.abs(R.T @ R - np.eye(3)).max() > UNIT_TOLERANCE or np.linalg.det(R) < 0.0:
        raise InputError(f"target of {name} has no rotation in it: R'R must be 1 and det R 1, got {R.tolist()}", task=name)
    return R
