"""Inertias of the solids against integration over random points, independent of the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from seeds import fresh

from freeflyer.model.rigid_bodies import join
from freeflyer.robots import _parts as solids


def sampled(inside, half, count=1_600_000):
    """Mass-free moments (com, rotational inertia per kg) of the points of a box that are `inside`."""
    points = fresh(0).uniform(-1.0, 1.0, (count, 3)) * half
    points = points[inside(points)]
    com = points.mean(axis=0)
    d = points - com
    return com, np.einsum("ni,ni->", d, d) / len(d) * np.eye(3) - d.T @ d / len(d)


def distance_to_segment(points, a, b):
    t = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return np.linalg.norm(points - a - t[:, None] * (b - a), axis=1)


START, END = np.array([0.1, -0.2, 0.0]), np.array([0.3, 0.2, 0.5])


def in_cylinder(points):
    t = (points - START) @ (END - START) / ((END - START) @ (END - START))
    return (t > 0) & (t < 1) & (np.linalg.norm(points - START - t[:, None] * (END - START), axis=1) < 0.15)


CASES = {
    "box": (
        solids.box(3.0, (0.2, 0.4, 0.6), (0.1, 0.0, -0.2)),
        lambda p: (np.abs(p - (0.1, 0.0, -0.2)) < (0.1, 0.2, 0.3)).all(axis=1),
    ),
    "ellipsoid": (
        solids.ellipsoid(3.0, (0.2, 0.3, 0.5), (0.1, 0.0, -0.2)),
        lambda p: (((p - (0.1, 0.0, -0.2)) / (0.2, 0.3, 0.5)) ** 2).sum(axis=1) < 1.0,
    ),
    "cylinder": (solids.cylinder(3.0, 0.15, START, END), in_cylinder),
    "capsule": (solids.capsule(3.0, 0.15, START, END), lambda p: distance_to_segment(p, START, END) < 0.15),
}


@pytest.mark.parametrize("name", CASES)
def test_solid_has_the_moments_of_its_points(name):
    inertia, inside = CASES[name]
    com, rotational = sampled(inside, half=0.8)
    assert inertia.mass == 3.0
    # 3 * 10^4 points inside or more: coordinates of 0.3 m or less average to 2 mm
    np.testing.assert_allclose(inertia.com, com, atol=0.01)
    np.testing.assert_allclose(inertia.rotational / 3.0, rotational, atol=0.02 * np.trace(rotational))


def test_capsule_without_length_is_a_ball():
    ball = solids.capsule(2.0, 0.1, (0.0, 0.0, 0.3), (0.0, 0.0, 0.3))
    np.testing.assert_allclose(ball.rotational, 0.4 * 2.0 * 0.1**2 * np.eye(3), rtol=1e-14)
    np.testing.assert_allclose(ball.rotational, solids.ellipsoid(2.0, (0.1, 0.1, 0.1)).rotational, rtol=1e-14)


def test_two_halves_join_to_the_whole():
    whole = solids.cylinder(2.0, 0.1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    halves = (solids.cylinder(1.0, 0.1, (0.0, 0.0, z), (0.0, 0.0, z + 0.5)) for z in (0.0, 0.5))
    both = join(*halves)
    assert both.mass == 2.0
    np.testing.assert_allclose(both.com, whole.com, atol=1e-15)
    np.testing.assert_allclose(both.rotational, whole.rotational, rtol=1e-13, atol=1e-15)
