"""The matrices of a robot at one posture, and how well the mass matrix is conditioned over many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.checks.singular import coordinate_joints
from freeflyer.checks.states import random_states
from freeflyer.dynamics import equations
from freeflyer.dynamics.centroidal import centroidal_momentum_matrix
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.text import short_repr

LARGEST = 2**24  # entries of all mass matrices together


@dataclass(frozen=True)
class Matrices:
    """M (nv, nv) and the centroidal momentum matrix A (6, nv) at q (nq,); `coordinates` names the columns."""

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
    """Condition numbers of M over random postures: as it stands, and with units taken out (M_ij / sqrt(M_ii M_jj))."""

    condition: np.ndarray
    unit_free: np.ndarray


@public
def matrices(model: Model, *, seed: int = 0) -> Matrices:
    """Evaluate both matrices at a random posture near neutral, where few entries vanish by accident."""
    q = random_states(model, 1, seed, spread=0.3).q[0]
    A = centroidal_momentum_matrix(model, q)
    return Matrices(q, equations.mass_matrix(model, q), A, tuple(coordinate_joints(model)))


@public
def conditioning(model: Model, *, count: int = 256, seed: int = 0) -> Conditioning:
    """Condition numbers at `count` random postures (fewer for hundreds of joints); infinite where M is singular."""
    count = min(count, max(8, LARGEST // model.nv**2))
    M = equations.mass_matrix(model, random_states(model, count, seed).q)
    d = np.sqrt(np.maximum(np.diagonal(M, axis1=-2, axis2=-1), np.finfo(float).tiny))
    return Conditioning(_condition(M), _condition(M / (d[:, :, None] * d[:, None, :])))


def _condition(M: np.ndarray) -> np.ndarray:
    values = np.linalg.eigvalsh(M)
    smallest, largest = values[:, 0], values[:, -1]
    positive = smallest > np.finfo(float).eps * largest
    return np.where(positive, largest / np.where(positive, smallest, 1.0), np.inf)
