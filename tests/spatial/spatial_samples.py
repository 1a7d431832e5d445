"""Samples for the tests of freeflyer.spatial: angles across every numerical switch, random poses, exact references."""

import closeness
import mpmath as mp
import numpy as np
from closeness import fresh
from freeflyer import spatial as sp

mp.mp.dps = 40
ROUNDING = closeness.rounding(45)  # of two products of poses a few metres apart

SMALL = (0.0, 1e-300, 1e-160, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0)
SWITCH = (2.0 - 1e-3, 2.0 - 1e-9, 2.0 - 1e-15, 2.0, 2.0 + 1e-15, 2.0 + 1e-9, 2.0 + 1e-3)  # of the power series
NEAR_PI = tuple(np.pi - d for d in (1.0, 1e-1, 1e-3, 1e-5, 1e-7, 1e-8, 1e-9, 1e-11, 1e-13, 1e-15, 0.0))
BEYOND_PI = (np.pi + 1e-9, np.pi + 1e-3, 4.0, 5.5, 6.2)
TO_PI = SMALL + SWITCH + NEAR_PI
ALL_ANGLES = TO_PI + BEYOND_PI


def rng() -> np.random.Generator:
    return fresh(7)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = ROUNDING, what: object = "") -> None:
    """Relative to the largest entry where that is above 1."""
    closeness.close(found, expected, tolerance, what=what)


def directions(n: int) -> np.ndarray:
    """Unit vectors (n, 3): the axes, their opposites, the diagonal, then random ones."""
    fixed = np.vstack([np.eye(3), -np.eye(3), np.ones((1, 3)) / np.sqrt(3.0)])
    free = rng().standard_normal((n, 3))
    return np.vstack([fixed, free / np.linalg.norm(free, axis=1, keepdims=True)])[:n]


def twists_at(angles: tuple[float, ...], per_angle: int = 4) -> np.ndarray:
    """Twists (..., 6) with these angles, axes of all kinds and random linear parts of about 1 m."""
    u = np.tile(directions(per_angle + 5)[-per_angle:], (len(angles), 1))
    w = np.repeat(np.array(angles), per_angle)[:, None] * u
    return np.concatenate([rng().standard_normal(w.shape), w], axis=1)


def random_twist(batch: tuple[int, ...] = (), seed: int = 3) -> np.ndarray:
    return fresh(seed).standard_normal((*batch, 6))


def random_pose(batch: tuple[int, ...] = (), seed: int = 4) -> np.ndarray:
    r = fresh(seed)
    return sp.se3.from_position_quaternion(r.standard_normal((*batch, 3)), sp.quaternion.random(r, batch))


def point_masses(m: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, com, rotational of masses (..., n) at points (..., n, 3), by their definitions."""
    mass = m.sum(-1)
    com = (m[..., None] * p).sum(-2) / mass[..., None]
    d = p - com[..., None, :]
    square = (d * d).sum(-1)[..., None, None] * np.eye(3)
    return mass, com, (m[..., None, None] * (square - d[..., :, None] * d[..., None, :])).sum(-3)


def exact(a: np.ndarray) -> np.ndarray:
    """The same numbers as 40-digit ones, for `exact_sum`."""
    out = np.empty(a.shape, dtype=object)
    out.flat[:] = [mp.mpf(float(x)) for x in a.flat]
    return out


def exact_sum(A: np.ndarray, shift: int) -> np.ndarray:
    """The sum of A^n / (n + shift)! with 40 digits, rounded: exp for shift 0, its left Jacobian for 1."""
    A, n = exact(A), 0
    total = term = exact(np.eye(len(A))) / mp.factorial(shift)
    while abs(term).max() > mp.mpf(10) ** -25:  # of a total of one or more; terms fall ever faster
        n += 1
        term = A @ term / (n + shift)
        total = total + term
    return total.astype(float)
