"""Tasks of the whole robot: its centre of mass, its posture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.control.tasks import Task, frozen_numbers, shaped
from freeflyer.dynamics.centroidal import center_of_mass, center_of_mass_jacobian, centroidal_bias
from freeflyer.dynamics.manifold import difference
from freeflyer.model.description import WORLD
from freeflyer.model.inputs import one_row
from freeflyer.model.model import Model


@dataclass(frozen=True, eq=False)
class CenterOfMassTask(Task):
    """Task: the centre of mass at a place in the world.

    Parameters
    ----------
    target : (3,) array
        Position in the world, m.
    level, weight, stiffness, damping, velocity, acceleration
        As in Task; the rows are world axes: weight (1, 1, 0) leaves the height free.

    Examples
    --------
    >>> model = ff.robots.quadruped()
    >>> task = ff.control.CenterOfMassTask(ff.center_of_mass(model, model.neutral) + [0.0, 0.0, 0.1])
    >>> np.round(task.error(model, model.neutral), 3) + 0.0
    array([ 0. ,  0. , -0.1])
    """

    target: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", shaped(self.name, "target", self.target, (3,)))

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

    Parameters
    ----------
    target : (nq,) array
        Configuration; entries of a floating base do not count.
    level, weight, stiffness, damping, velocity, acceleration
        As in Task; a row for each velocity coordinate but the floating base's six.

    Examples
    --------
    >>> model = ff.robots.quadruped()
    >>> ff.control.PostureTask(model.neutral).error(model, model.neutral).shape, model.nv
    ((12,), 18)
    """

    target: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", frozen_numbers(f"target of {self.name}", self.target))

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """What leads from the target to q in the tangent space, m and rad, without a floating base."""
        return difference(model, one_row(model, f"target of {self.name}", self.target, "q"), q)[self._rows(model)]

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Rows of the unit matrix (nv, nv)."""
        return np.eye(model.nv)[self._rows(model)]

    def bias(self, model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Zeros: the Jacobian is constant."""
        return np.zeros(len(self._rows(model)))

    @staticmethod
    def _rows(model: Model) -> np.ndarray:
        free = (j for j in model.tree.joints if j.kind == "free" and j.parent == WORLD)
        base = {i for j in free for i in range(j.iv, j.iv + j.nv)}
        velocities = range(model.nv) if model.reduction is None else model.reduction.split.independent
        return np.array([k for k, i in enumerate(velocities) if i not in base], int)
