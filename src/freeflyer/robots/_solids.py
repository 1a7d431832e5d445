"""Inertias of homogeneous solids, in the axes of the link they belong to; lengths in m, masses in kg."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.model.description import Inertia
from freeflyer.model.inertias import join

__all__ = ["box", "capsule", "cylinder", "ellipsoid", "join"]


def box(mass: float, size: Sequence[float], center: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    """A box of side lengths `size` along the link's axes."""
    xx, yy, zz = np.square(size)
    return Inertia(mass, np.array(center, float), mass / 12.0 * np.diag([yy + zz, xx + zz, xx + yy]))


def ellipsoid(mass: float, semi_axes: Sequence[float], center: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    """An ellipsoid with half-lengths `semi_axes` along the link's axes."""
    xx, yy, zz = np.square(semi_axes)
    return Inertia(mass, np.array(center, float), mass / 5.0 * np.diag([yy + zz, xx + zz, xx + yy]))


def cylinder(mass: float, radius: float, start: Sequence[float], end: Sequence[float]) -> Inertia:
    """A cylinder whose axis runs from `start` to `end`."""
    length = float(np.linalg.norm(np.subtract(end, start)))
    along, across = mass * radius**2 / 2.0, mass * (3.0 * radius**2 + length**2) / 12.0
    return _round(mass, start, end, along, across)


def capsule(mass: float, radius: float, start: Sequence[float], end: Sequence[float]) -> Inertia:
    """A cylinder from `start` to `end` with a half ball on both ends: the shape of limbs. A ball where start = end."""
    length = float(np.linalg.norm(np.subtract(end, start)))
    ball = mass * (4.0 * radius) / (4.0 * radius + 3.0 * length)  # volumes: 4/3 pi r^3 and pi r^2 l
    tube = mass - ball
    along = tube * radius**2 / 2.0 + ball * 0.4 * radius**2
    across = tube * (3.0 * radius**2 + length**2) / 12.0
    # half a ball about its own centre of mass, then moved out to l/2 + 3/8 r from the middle
    across += ball * (83.0 / 320.0 * radius**2 + (length / 2.0 + 0.375 * radius) ** 2)
    return _round(mass, start, end, along, across)


def _round(mass: float, start: Sequence[float], end: Sequence[float], along: float, across: float) -> Inertia:
    """A body of revolution about the line from start to end."""
    a, b = np.array(start, float), np.array(end, float)
    length = np.linalg.norm(b - a)
    line = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    return Inertia(mass, (a + b) / 2.0, across * np.eye(3) + (along - across) * np.outer(line, line))
