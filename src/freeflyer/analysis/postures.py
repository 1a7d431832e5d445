"""The matrices of a robot at one posture, and how well the mass matrix is conditioned over many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.checks.inertias import coordinate_joints
from freeflyer.analysis.checks.laws import random_states
from freeflyer.dynamics import equations
from freeflyer.dynamics.centroidal import centroidal_momentum_matrix
from freeflyer.model.inputs import whole_number
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.text import short_repr

LARGEST = 2**24  # entries of all mass matrices together


@dataclass(frozen=True)
class Matrices:
    """Mass matrix and centroidal momentum matrix at one posture.

    Attributes:
        q: (nq,) array, the posture.
        mass_matrix: (nv, nv) array, kg, kg m, kg m^2.
        momentum_matrix: (6, nv) array, [linear; angular about the centre of mass] momentum, world axes, for each velocity of one.
        coordinates: The joint of each column.

    Examples:
        >>> found = ff.analysis.matrices(ff.robots.humanoid())
        >>> print(f"{found.sparsity:.0%} of the entries of M are zero")
        50% of the entries of M are zero
    """

    __repr__ = short_repr

    q: np.ndarray
    mass_matrix: np.ndarray
    momentum_matrix: np.ndarray
    coordinates: tuple[str, ...]

    @property
    def sparsity(self) -> float:
        """The share of entries of M that are structurally or exactly zero."""
        return float(np.mean(self.mass_matrix == 0.0)) if self.mass_matrix.size else 0.0


@dataclass(frozen=True)
class Conditioning:
    """Condition numbers of the mass matrix over random postures; infinite where it is singular.

    Attributes:
        condition: (count,) array of M as it stands.
        unit_free: (count,) array, with units taken out, of M_ij / sqrt(M_ii M_jj).

    Examples:
        >>> found = ff.analysis.conditioning(ff.robots.space_manipulator())
        >>> print(f"{np.median(found.condition):.0e} for M, {np.median(found.unit_free):.0f} without units")
        2e+04 for M, 12 without units
    """

    condition: np.ndarray
    unit_free: np.ndarray


@public
def matrices(model: Model, *, seed: int = 0) -> Matrices:
    """Mass matrix and centroidal momentum matrix at a random posture near neutral, where few entries vanish by accident.

    Args:
        seed: Seed of the posture.
    Returns: Matrices. Both matrices, and the posture.
    Raises: InputError for a robot whose moving links have no mass, and for a negative seed.

    Examples:
        >>> robot = ff.robots.humanoid()
        >>> found = ff.analysis.matrices(robot)
        >>> found.mass_matrix.shape, found.momentum_matrix.shape, found.coordinates[6]
        ((39, 39), (6, 39), 'left_hip_yaw')
    """
    q = random_states(model, 1, seed, spread=0.3).q[0]
    A = centroidal_momentum_matrix(model, q)
    return Matrices(q, equations.mass_matrix(model, q), A, tuple(coordinate_joints(model)))


@public
def conditioning(model: Model, *, count: int = 256, seed: int = 0) -> Conditioning:
    """Condition numbers of the mass matrix at random postures.

    Args:
        count: Number of postures; at most 2^24 / nv^2 are taken, or 8 where that is less.
        seed: Seed of the postures.
    Returns: Conditioning with units and without; 1 for a robot without degrees of freedom.
    Raises: InputError for less than one posture, and for a negative seed.

    Examples:
        >>> found = ff.analysis.conditioning(ff.robots.chain(1), count=8)
        >>> found.condition.shape, float(found.condition.max())  # a number is as well conditioned as can be
        ((8,), 1.0)
    """
    count = min(whole_number("count", count, 1), max(8, LARGEST // max(1, model.nv**2)))
    M = equations.mass_matrix(model, random_states(model, count, seed).q)
    d = np.sqrt(np.maximum(np.diagonal(M, axis1=-2, axis2=-1), np.finfo(float).tiny))
    return Conditioning(_condition(M), _condition(M / (d[:, :, None] * d[:, None, :])))


def _condition(M: np.ndarray) -> np.ndarray:
    if not M.shape[-1]:
        return np.ones(len(M))
    values = np.linalg.eigvalsh(M)
    smallest, largest = values[:, 0], values[:, -1]
    positive = smallest > np.finfo(float).eps * largest
    return np.where(positive, largest / np.where(positive, smallest, 1.0), np.inf)
