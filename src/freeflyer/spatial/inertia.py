"""Inertia of rigid bodies: mass in kg, centre of mass (com) in m, rotational inertia in kg m^2. Leading axes broadcast.

`rotational` (..., 3, 3) is taken about the com, along the axes of the frame B in which `com` (..., 3) is given. The spatial
inertia is that of B's twist [linear; angular] about B's origin: momentum = spatial @ twist. Rigidly joined bodies add up: their
6x6 matrices, their ten parameters and their pseudo-inertias, each in one frame. InputError: for inertias that are not symmetric
to 1e-9 of their largest entry, wrong shapes, NaN and infinities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError
from freeflyer.spatial import _check as ck, _series as series, se3

__all__ = ["from_parameters", "matrix", "parameters", "pseudo_inertia", "transform"]

SYMMETRIC = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])  # places of a symmetric matrix's entries in its upper triangle, row by row
_ORDER = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # of the six moments among the ten parameters


@dataclass(frozen=True)
class MassProperties:
    """Mass, centre of mass and rotational inertia of bodies.

    Attributes:
        mass, com, rotational: (...), (..., 3) and (..., 3, 3) array, kg, m and kg m^2, in the body's frame and along its axes."""

    mass: np.ndarray
    com: np.ndarray
    rotational: np.ndarray


def matrix(mass: ArrayLike, com: ArrayLike, rotational: ArrayLike) -> np.ndarray:
    """Spatial inertia [[m 1, -m skew(com)], [m skew(com), rotational about the origin]]; (..., 6, 6), kg, kg m and kg m^2."""
    m, c, I = _check(mass, com, rotational)
    moment = series.skew(m[..., None] * c)
    return series.blocks(m[..., None, None] * np.eye(3), -moment, moment, I + _shift(m, c))


def parameters(mass: ArrayLike, com: ArrayLike, rotational: ArrayLike) -> np.ndarray:
    """Ten inertial parameters, in which the dynamics is linear.

    Returns: (..., 10) array, mass (kg), mass * com (3, kg m), then Ixx, Ixy, Iyy, Ixz, Iyz, Izz (kg m^2) about the frame's
    origin."""
    m, c, I = _check(mass, com, rotational)
    I = I + _shift(m, c)
    first = m[..., None] * c
    parts = [m, first[..., 0], first[..., 1], first[..., 2], *(I[..., i, j] for i, j in _ORDER)]
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def from_parameters(ten: ArrayLike) -> MassProperties:
    """Mass properties of ten inertial parameters; undoes `parameters`. InputError for a mass of zero."""
    p = ck.array("ten", ten, ck.PARAMETERS)
    m = p[..., 0]
    if (m == 0.0).any():
        raise InputError("a mass is 0, so the com is undetermined; expected a nonzero mass. Treat such bodies apart.")
    c = p[..., 1:4] / m[..., None]
    I = np.empty((*m.shape, 3, 3))
    for k, (i, j) in enumerate(_ORDER):
        I[..., i, j] = I[..., j, i] = p[..., 4 + k]
    return MassProperties(m.copy(), c, I - _shift(m, c))


def pseudo_inertia(mass: ArrayLike, com: ArrayLike, rotational: ArrayLike) -> np.ndarray:
    """Pseudo-inertia [[second moments, mass com], [mass com^T, mass]] about the frame's origin; (..., 4, 4), kg m^2, kg m and kg.

    It is the integral of density over `[p; 1] [p; 1]^T`, hence positive definite for a body that fills a volume. Second moments
    are trace(I) / 2 - I of the rotational inertia I. Another frame: X_AB pseudo X_AB^T."""
    m, c, I = _check(mass, com, rotational)
    first = m[..., None] * c
    out = np.empty((*np.broadcast_shapes(I.shape[:-2], first.shape[:-1]), 4, 4))
    second_moments = 0.5 * np.trace(I, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - I
    out[..., :3, :3] = second_moments + m[..., None, None] * c[..., :, None] * c[..., None, :]
    out[..., :3, 3] = out[..., 3, :3] = first
    out[..., 3, 3] = m
    return out


def transform(X_AB: ArrayLike, spatial: ArrayLike) -> np.ndarray:
    """Spatial inertia given in B, in A: Ad^-T spatial Ad^-1 of the pose X_AB; (..., 6, 6), as `spatial`."""
    X, S = ck.arrays(("X_AB", X_AB, ck.MATRIX4), ("spatial", spatial, ck.MATRIX6))
    T = se3.coadjoint(X)
    return T @ ck.symmetric("spatial", S) @ np.swapaxes(T, -1, -2)


def _check(mass: ArrayLike, com: ArrayLike, rotational: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m, c, I = ck.arrays(("mass", mass, ck.SCALAR), ("com", com, ck.POINT), ("rotational", rotational, ck.MATRIX3))
    return m, c, ck.symmetric("rotational", I)


def _shift(m: np.ndarray, c: np.ndarray) -> np.ndarray:
    """m (|c|^2 1 - c c^T): what the mass, gathered at c, adds to the rotational inertia about the origin."""
    square = series.dot(c, c)[..., None, None] * np.eye(3)
    return m[..., None, None] * (square - c[..., :, None] * c[..., None, :])
