"""Tasks of frames (position, orientation, pose, in world axes at the frame's origin), the centre of mass, momentum and posture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import atan2, sqrt
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.inputs import joint_coordinates, velocity_places
from freeflyer.control.tasks import MOTION, Piece, Task
from freeflyer.dynamics import centroidal, difference, frame_bias_acceleration, frame_jacobian, frame_pose
from freeflyer.errors import InputError
from freeflyer.kernels.control.layout import CENTER, FRAME, MOMENTUM, POSTURE
from freeflyer.model import Model, check_shape, finite_copy, finite_row, frozen_array, set_fields, slides
from freeflyer.spatial import quaternion
from freeflyer.tolerances import UNIT_TOLERANCE

UNIT = frozen_array(np.eye(3))
TURNS = np.arange(6) > 2  # rows of a mixed twist
NEARLY_TURNED = -0.9  # cosine of a turn
SMALL_TURN = 1e-4  # rad: below it the series of asin to the third order is exact to rounding


@dataclass(frozen=True, eq=False)
class FrameTask(Task):
    """Base of the three tasks of a frame: a frame, a target, rows of the frame's mixed twist."""

    frame: str
    target: ArrayLike
    part = slice(0, 6)

    @property
    def name(self) -> str:
        return f"{type(self).__name__}({self.frame!r})"

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    @abstractmethod
    def error_at(self, X: np.ndarray) -> np.ndarray:
        """Error (m,) at the pose X (4, 4) of the frame."""

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        return self.error_at(frame_pose(model, q, self.frame))

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        return frame_jacobian(model, q, self.frame, "mixed")[self.part]

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return frame_bias_acceleration(model, q, v, self.frame, "mixed")[self.part]

    def angles(self, model: Model) -> np.ndarray:
        return TURNS[self.part]


@dataclass(frozen=True, eq=False)
class FramePositionTask(FrameTask):
    """Task: the origin of a frame at a place in the world. Its rows are world axes, m.

    Args:
        target: (3,) array, position in the world, m."""

    part = slice(0, 3)
    kind, target_shape = (FRAME, 0, 3), (3,)

    def error_at(self, X: np.ndarray) -> np.ndarray:
        return X[..., :3, 3] - np.asarray(self.target)


@dataclass(frozen=True, eq=False)
class FrameOrientationTask(FrameTask):
    """Task: the axes of a frame along those of a rotation. Its rows are a rotation vector in world axes, rad.

    Args:
        target: (3, 3) array, rotation from the frame's axes to the world's."""

    part = slice(3, 6)
    kind, target_shape = (FRAME, 3, 3), (3, 3)

    def check_target(self, target: np.ndarray) -> None:
        super().check_target(target)
        _check_rotation(self.name, target)

    def error_at(self, X: np.ndarray) -> np.ndarray:
        return _turn(X[..., :3, :3], np.asarray(self.target))


@dataclass(frozen=True, eq=False)
class FramePoseTask(FrameTask):
    """Task: a frame at a pose in the world. Its rows are those of position, m, then of orientation, rad, in world axes.

    Args:
        target: (4, 4) array, pose of the frame in the world."""

    kind, target_shape = (FRAME, 0, 6), (4, 4)

    def check_target(self, target: np.ndarray) -> None:
        super().check_target(target)
        if target[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise InputError(f"target of {self.name} is no pose: its last row is {target[3].tolist()}, expected [0, 0, 0, 1]")
        _check_rotation(self.name, target[:3, :3])

    def error_at(self, X: np.ndarray) -> np.ndarray:
        target = np.asarray(self.target)
        return np.concatenate([X[..., :3, 3] - target[..., :3, 3], _turn(X[..., :3, :3], target[..., :3, :3])], axis=-1)


def _turn(R: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Rotation vector of R target^T: turning by it leads from the target to R."""
    D = R @ target.swapaxes(-1, -2)
    if D.ndim > 2:
        return quaternion.rotation_vector(D)
    (a, b, c), (d, e, f), (g, h, i) = D.tolist()
    x, y, z, cosine = 0.5 * (h - f), 0.5 * (c - g), 0.5 * (d - b), 0.5 * (a + e + i - 1.0)
    sine = sqrt(x * x + y * y + z * z)
    if cosine < NEARLY_TURNED:  # the antisymmetric part alone does not show the axis well
        return quaternion.log(quaternion.from_matrix(D))
    ratio = atan2(sine, cosine) / sine if sine > SMALL_TURN else 1.0 + sine * sine / 6.0
    return np.array([ratio * x, ratio * y, ratio * z])


def _check_rotation(name: str, R: np.ndarray) -> None:
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    turned = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    if turned < 0.0 or np.abs(R.T @ R - UNIT).max() > UNIT_TOLERANCE:
        raise InputError(f"target of {name} has no rotation in it: R'R must be 1 and det R 1, got {R.tolist()}", task=name)


@dataclass(frozen=True, eq=False)
class CenterOfMassTask(Task):
    """Task: the centre of mass at a place in the world. Its rows are world axes, m, so weight (1, 1, 0) leaves the height free.

    Args:
        target: (3,) array, position in the world, m."""

    target: ArrayLike
    kind, target_shape = (CENTER, 0, 3), (3,)

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        return centroidal.center_of_mass(model, q) - np.asarray(self.target)

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        return centroidal.center_of_mass_jacobian(model, q)

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return centroidal.centroidal_bias(model, q, v)[:3] / model.mass


@dataclass(frozen=True, eq=False)
class PostureTask(Task):
    """Task: all joints but a floating base at a posture, a row for each of their velocity coordinates, m and rad.

    Args:
        target: (nq,) array, configuration; entries of a floating base do not count."""

    target: ArrayLike
    kind = POSTURE, 0, 0

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, target=finite_copy(f"target of {self.name}", self.target))

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        return difference(model, finite_row(model, f"target of {self.name}", self.target, "q"), q)[..., joint_coordinates(model)]

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        return np.eye(model.nv)[joint_coordinates(model)]

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros(len(joint_coordinates(model)))

    def angles(self, model: Model) -> np.ndarray:
        return ~slides(model)[joint_coordinates(model)]

    def piece(self, model: Model, frames: Mapping[str, int], columns: np.ndarray) -> Piece:
        weights = self.row_weights(len(joint_coordinates(model)))
        places, weights = joint_coordinates(model)[weights > 0.0], weights[weights > 0.0]
        lists, count = [*columns[places], *velocity_places(model)[places]], len(places)
        return Piece("", self.name, POSTURE, count, lists, 2 + 2 * count + model.nq, (), weights, equations=True)

    def make_numbers(self, count: int = 0) -> np.ndarray:
        kept, motion = np.asarray(self.weight) > 0.0, []
        for word in MOTION:
            if (given := getattr(self, word)) is not None:
                given = check_shape(f"{word} of {self.name}", given, (len(kept) if kept.ndim else count,))
            motion.append(np.zeros(count) if given is None else given[kept] if kept.ndim else given)
        return np.concatenate([[self.stiffness, self.rate_gain], *motion, np.asarray(self.target)])


@dataclass(frozen=True, eq=False)
class CentroidalMomentumTask(Task):
    """Task: the momentum of the robot about its centre of mass; its rate is controlled, there is no position.

    Args:
        target: (6,) array, [linear; angular], kg m/s and kg m^2/s, world axes; by default zero.
        level, weight: As in Task; weight (0, 0, 0, 1, 1, 1) takes the angular momentum alone.
        damping, acceleration: Gain of the momentum's error, 1/s, and the target's rate, N and N m.
        stiffness, velocity: These are not used."""

    target: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    kind, target_shape = (MOMENTUM, 0, 6), (6,)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._refuse_velocity(self.velocity)

    def _refuse_velocity(self, velocity: ArrayLike | None) -> None:
        if velocity is not None:
            raise InputError(f"{self.name} has no velocity: target is its momentum, acceleration its rate", task=self.name)

    def with_target(self, target: ArrayLike, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None) -> Self:
        self._refuse_velocity(velocity)
        return super().with_target(target, None, acceleration)

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        return np.zeros((*q.shape[:-1], 6))

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        return centroidal.centroidal_momentum_matrix(model, q)

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return centroidal.centroidal_bias(model, q, v)

    def wanted(self, e: np.ndarray, rate: np.ndarray) -> np.ndarray:
        found = -self.rate_gain * (rate - np.asarray(self.target))
        return np.asarray(found if self.acceleration is None else found + np.asarray(self.acceleration))
