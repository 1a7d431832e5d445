"""Tasks of the whole robot: its centre of mass, its posture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.checks import check_shape, frozen_numbers
from freeflyer.control.inputs import joint_coordinates, velocity_places
from freeflyer.control.state import Piece
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_bias,
    centroidal_momentum_matrix,
)
from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError
from freeflyer.kernels.control.layout import CENTER, MOMENTUM, POSTURE
from freeflyer.model.frozen import frozen_array
from freeflyer.model.inputs import one_row
from freeflyer.model.model import Model

SLIDES = {"free": 3, "planar": 2, "prismatic": 1}  # velocities of a joint, the first, that are those of lengths


@dataclass(frozen=True, eq=False)
class CenterOfMassTask(Task):
    """Task: the centre of mass at a place in the world.

    Args:
        target: (3,) array, position in the world, m.
        level, weight, stiffness, damping, velocity, acceleration: See Task. The rows are world axes, so weight (1, 1, 0) leaves the
            height free.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> task = ff.control.CenterOfMassTask(ff.center_of_mass(model, model.neutral) + [0.0, 0.0, 0.1])
        >>> np.round(task.error(model, model.neutral), 3) + 0.0
        array([ 0. ,  0. , -0.1])
    """

    target: ArrayLike
    kind, target_shape = (CENTER, 0, 3), (3,)

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Position beyond the target (3,), m, world axes."""
        return center_of_mass(model, q) - np.asarray(self.target)

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Jacobian of the centre of mass (3, nv)."""
        return center_of_mass_jacobian(model, q)

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Its Jdot v (3,), m/s^2: the rate of linear momentum at a = 0, over the mass."""
        return centroidal_bias(model, q, v)[:3] / model.mass


@dataclass(frozen=True, eq=False)
class PostureTask(Task):
    """Task: all joints but a floating base at a posture.

    Args:
        target: (nq,) array, configuration; entries of a floating base do not count.
        level, weight, stiffness, damping, velocity, acceleration: See Task; a row for each velocity coordinate but the floating
            base's six.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> ff.control.PostureTask(model.neutral).error(model, model.neutral).shape, model.nv
        ((12,), 18)
    """

    target: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", frozen_numbers(f"target of {self.name}", self.target))

    kind = POSTURE, 0, 0

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """What leads from the target to q in the tangent space, m and rad, without a floating base."""
        return difference(model, one_row(model, f"target of {self.name}", self.target, "q"), q)[_joint_rows(model)[0]]

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Rows of the unit matrix (nv, nv)."""
        return np.array(_joint_rows(model)[1])

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Zeros: the Jacobian is constant."""
        return np.array(_joint_rows(model)[2])

    def angles(self, model: Model) -> np.ndarray:
        """Which rows of the error (m,) are angles."""
        tree = model.tree
        turns = np.concatenate([np.arange(j.nv) >= SLIDES.get(j.kind, 0) for j in tree.joints] or [np.zeros(0, bool)])
        return turns[velocity_places(model)][_joint_rows(model)[0]]

    def piece(self, model: Model, frames: Mapping[str, int], columns: np.ndarray) -> Piece:
        """A row for each velocity of a joint that has a weight."""
        places = _joint_rows(model)[0]
        weights = self.row_weights(len(places))
        kept = weights > 0.0
        lists = [*columns[places[kept]], *velocity_places(model)[places[kept]]]
        count = int(kept.sum())
        return Piece("", self.name, POSTURE, count, lists, 2 + 2 * count + model.nq, (), weights[kept], equations=True)

    def _make_numbers(self, count: int) -> np.ndarray:
        damping = 2.0 * np.sqrt(self.stiffness) if self.damping is None else self.damping
        kept, motion = np.asarray(self.weight) > 0.0, []
        for word in ("velocity", "acceleration"):
            given, size = getattr(self, word), len(kept) if kept.ndim else count
            if given is not None:
                check_shape(f"{word} of {self.name}", given, size)
            motion.append(np.zeros(count) if given is None else given[kept] if kept.ndim else given)
        return np.concatenate([[self.stiffness, damping], *motion, np.asarray(self.target)])


@lru_cache(maxsize=64)
def _joint_rows(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates (m,) of the joints, rows (m, nv) of the unit matrix, zeros (m,)."""
    rows = joint_coordinates(model)
    return rows, frozen_array(np.eye(model.nv)[rows]), frozen_array(np.zeros(len(rows)))


@dataclass(frozen=True, eq=False)
class CentroidalMomentumTask(Task):
    """Task: the momentum of the robot about its centre of mass; its rate is controlled, there is no position.

    Args:
        target: (6,) array, [linear; angular], kg m/s and kg m^2/s, world axes; by default zero.
        level, weight, stiffness, damping, velocity, acceleration: See Task, but the error is already a rate. `damping` acts on it,
            1/s, `acceleration` is the target's rate in N and N m, and `stiffness` and `velocity` are not used. Weight (0, 0, 0, 1,
            1, 1) takes the angular momentum alone.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> task = ff.control.CentroidalMomentumTask(damping=5.0, weight=[0, 0, 0, 1, 1, 1])
        >>> task.jacobian(model, model.neutral).shape
        (6, 18)
    """

    target: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    kind, target_shape = (MOMENTUM, 0, 6), (6,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.velocity is not None:
            raise InputError(f"{self.name} has no velocity: target is its momentum, acceleration its rate", task=self.name)

    def with_target(self, target: ArrayLike, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None) -> Self:
        """The same task with another momentum, and its rate as `acceleration`. Errors: as Task.with_target; for a velocity."""
        if velocity is not None:
            raise InputError(f"{self.name} has no velocity: target is its momentum, acceleration its rate", task=self.name)
        return super().with_target(target, None, acceleration)

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Zeros (6,): momentum has no position."""
        return np.zeros(6)

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Centroidal momentum matrix (6, nv)."""
        return centroidal_momentum_matrix(model, q)

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Its Jdot v (6,), N and N m: the rate of momentum at a = 0."""
        return centroidal_bias(model, q, v)

    def wanted(self, e: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Wanted rate of momentum (6,) for the momentum `rate` (6,)."""
        damping = 2.0 * np.sqrt(self.stiffness) if self.damping is None else self.damping
        found = -damping * (rate - np.asarray(self.target))
        return np.asarray(found if self.acceleration is None else found + np.asarray(self.acceleration))
