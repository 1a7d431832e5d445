"""Convex polygons: corners, nearest points and distances beside quadratic programs."""

import numpy as np
import pytest
from closeness import EXACT, close, fresh
from freeflyer.spatial.polygons import convex_polygon, distance_along, project_into, signed_distance
from scipy.optimize import minimize

RNG = fresh("capture")
CLOUD = RNG.standard_normal((12, 2))
POLYGON = convex_polygon(CLOUD)
POINTS = 2.0 * RNG.standard_normal((60, 2))


def nearest(cloud: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The convex combination nearest to p: a quadratic program over its weights."""
    n = len(cloud)
    found = minimize(
        lambda w: 0.5 * np.sum((w @ cloud - p) ** 2), np.full(n, 1.0 / n), jac=lambda w: cloud @ (w @ cloud - p),
        bounds=[(0, 1)] * n, method="SLSQP",
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(n)},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return found.x @ cloud


def test_corners_nearest_points_and_distances_of_polygons() -> None:
    a, b, c = POLYGON, np.roll(POLYGON, -1, axis=0), np.roll(POLYGON, -2, axis=0)
    u, v = b - a, c - b
    assert (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] > 0.0).all()
    assert signed_distance(POLYGON, CLOUD).min() > -EXACT
    assert {tuple(x) for x in POLYGON} <= {tuple(x) for x in CLOUD}
    found = project_into(POLYGON, POINTS)
    middle, out = 0.5 * (a + b), 1e-3 * u[:, ::-1] * (1.0, -1.0)
    near = np.concatenate([POINTS, middle + out, middle - out])
    close(np.array([project_into(POLYGON, point) for point in near]), project_into(POLYGON, near))
    for p, x in zip(POINTS, found):
        close(x, nearest(CLOUD, p), 1e-5)
    outside = signed_distance(POLYGON, POINTS) < 0.0
    assert 0 < outside.sum() < len(POINTS)
    close(np.linalg.norm(found - POINTS, axis=1)[outside], -signed_distance(POLYGON, POINTS)[outside])
    np.testing.assert_array_equal(found[~outside], POINTS[~outside])
    angles = np.linspace(0.0, 2.0 * np.pi, 20001)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for p in POINTS[~outside]:
        way = distance_along(POLYGON, np.broadcast_to(p, around.shape), around)
        assert way.min() == pytest.approx(signed_distance(POLYGON, p), rel=1e-6)
        ends = p + way[:, None] * around
        close(signed_distance(POLYGON, ends), np.zeros(len(ends)), 1e-12)
    beyond = POINTS[outside]
    assert np.isnan(distance_along(POLYGON, beyond, np.broadcast_to([1.0, 0.0], beyond.shape))).all()


def test_points_on_a_line_and_a_single_point() -> None:
    line = convex_polygon(np.outer([0.3, -1.0, 2.0, 0.0], [3.0, 4.0]) + 7.0)
    assert line.shape == (2, 2)
    close(np.sort(line, axis=0), np.array([[4.0, 3.0], [13.0, 15.0]]))
    close(signed_distance(line, np.array([[7.0, 7.0], [11.0, 4.0], [16.0, 19.0]])), np.array([0.0, -5.0, -5.0]))
    close(project_into(line, np.array([[11.0, 4.0], [16.0, 19.0]])), np.array([[7.0, 7.0], [13.0, 15.0]]))
    one = convex_polygon(np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert one.shape == (1, 2)
    close(signed_distance(one, np.array([4.0, 6.0])), np.array(-5.0))
    close(project_into(one, np.array([4.0, 6.0])), np.array([1.0, 2.0]))
