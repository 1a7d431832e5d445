"""Polygons beside quadratic programs; capture points, margins, and the impulses at which these are at the edge."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, central, close, refused, slope_error
from freeflyer import control
from freeflyer.spatial.polygons import convex_polygon, distance_along, project_into, signed_distance
from problems import POINT_FEET, humanoid, kangaroo, quadruped
from scipy.optimize import minimize
from seeds import fresh

RNG = fresh("capture")
FLYING = ff.robots.aerial_manipulator()
CLOSED = kangaroo(), kangaroo().neutral
ROBOTS = {"humanoid": (*humanoid(), None), "quadruped": (*quadruped(), POINT_FEET), "closed": (*CLOSED, None)}
ANGLES = np.linspace(0.0, 2.0 * np.pi, 25)


def state(name: str, speed: float = 0.1):
    """A posture and slow velocities near standing."""
    model, q, feet = ROBOTS[name]
    spread = 0.0 if model.reduction else 0.02
    return model, ff.integrate(model, q, spread * RNG.standard_normal(model.nv)), speed * RNG.standard_normal(model.nv), feet


def pushed(model, q, v, impulse: np.ndarray) -> np.ndarray:
    """The velocity after the whole robot has been moved by an impulse (3,), N s: all links alike."""
    after = v.copy()
    after[:3] += ff.frame_pose(model, q, model.tree.joints[0].child)[:3, :3].T @ impulse / model.mass
    return after


def feet_points(model, q, feet) -> np.ndarray:
    held = ff.contacts.anchored_feet(model, q, feet)
    return np.vstack([foot.points @ foot.at[:3, :3].T + foot.at[:3, 3] for foot in held])


@pytest.mark.parametrize("name", ROBOTS)
def test_capture_points(name: str) -> None:
    """By the speed of the centre of mass as a difference of its positions."""
    model, q, v, feet = state(name)
    c, points = ff.center_of_mass(model, q), feet_points(model, q, feet)
    speed = central(lambda h: ff.center_of_mass(model, ff.integrate(model, q, h * v)))
    omega = np.sqrt(9.81 / (c[2] - points[:, 2].mean()))
    found = control.capture_point(model, q, v, feet)
    close(found[:2], (c + speed / omega)[:2], slope_error(rate=20.0))
    assert found[2] == pytest.approx(points[:, 2].mean())


@pytest.mark.parametrize("name", ROBOTS)
def test_margins_are_distances_from_the_edge(name: str) -> None:
    model, q, v, feet = state(name)
    corners = convex_polygon(feet_points(model, q, feet)[:, :2])
    share = np.linspace(0.0, 1.0, 4001)[:, None]
    edge = np.vstack([a + share * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0))])
    for speed in (0.0, 20.0):
        at = control.capture_point(model, q, speed * v, feet)[:2]
        nearest = np.linalg.norm(edge - at, axis=1).min()
        assert abs(control.capture_margin(model, q, speed * v, feet)) == pytest.approx(nearest, abs=1e-4)
    assert control.capture_margin(model, q, 0.0 * v, feet) > 0.0
    assert control.capture_margin(model, q, pushed(model, q, v, np.array([9.0 * model.mass, 0.0, 0.0])), feet) < 0.0


@pytest.mark.parametrize("name", ROBOTS)
def test_the_largest_impulses_bring_the_capture_point_to_the_edge(name: str) -> None:
    model, q, v, feet = state(name, 0.01)
    limits = control.max_push_impulse(model, q, v, ANGLES, feet)
    assert (limits > 0.0).all()
    assert limits[0] == pytest.approx(limits[-1])
    for angle, limit in zip(ANGLES, limits):
        d = np.array([np.cos(angle), np.sin(angle), 0.0])
        margins = [float(control.capture_margin(model, q, pushed(model, q, v, s * limit * d), feet)) for s in (0.99, 1.0, 1.01)]
        assert margins[0] > 0.0 > margins[2]
        assert abs(margins[1]) < 1e-9


def test_no_impulse_where_the_capture_point_is_outside() -> None:
    model, q, v, feet = state("humanoid", 0.0)
    v[0] = 2.0
    assert np.isnan(control.max_push_impulse(model, q, v, ANGLES, feet)).all()


def test_bad_input() -> None:
    model, q, v, _ = state("humanoid")
    lying = np.concatenate([q[:3], [1.0, 0.0, 0.0, 0.0], q[7:]])
    for words, f, *given in (("gravity along -z", control.capture_point, ff.with_gravity(model, (0.0, 0.0, 0.0)), q, v),
            ("above the feet", control.capture_margin, model, lying, v), ("angles", control.max_push_impulse, model, q, v, 0.3),
            ("_sole", control.capture_point, FLYING, FLYING.neutral, np.zeros(FLYING.nv))):  # fmt: skip
        refused(ff.InputError, words, f, *given)


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
    following = np.roll(POLYGON, -1, axis=0)
    out = 1e-3 * (following - POLYGON)[:, ::-1] * (1.0, -1.0)
    near = np.concatenate([POINTS, 0.5 * (POLYGON + following) + out, 0.5 * (POLYGON + following) - out])
    close(np.array([project_into(POLYGON, point) for point in near]), project_into(POLYGON, near))
    for p, x in zip(POINTS, found):
        close(x, nearest(CLOUD, p), 1e-5)
    outside = signed_distance(POLYGON, POINTS) < 0.0
    assert 0 < outside.sum() < len(POINTS)
    close(np.linalg.norm(found - POINTS, axis=1)[outside], -signed_distance(POLYGON, POINTS)[outside])
    np.testing.assert_array_equal(found[~outside], POINTS[~outside])
    inside = POINTS[signed_distance(POLYGON, POINTS) > 0.0]
    angles = np.linspace(0.0, 2.0 * np.pi, 20001)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for p in inside:
        way = distance_along(POLYGON, np.broadcast_to(p, around.shape), around)
        assert way.min() == pytest.approx(signed_distance(POLYGON, p), rel=1e-6)
        ends = p + way[:, None] * around
        close(signed_distance(POLYGON, ends), np.zeros(len(ends)), 1e-12)
    outside = POINTS[signed_distance(POLYGON, POINTS) < 0.0]
    assert np.isnan(distance_along(POLYGON, outside, np.broadcast_to([1.0, 0.0], outside.shape))).all()


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


def test_support_of_soles() -> None:
    feet = ff.contacts.anchored_feet(*humanoid())
    both = control.support_polygon(feet)
    close(np.array([both.min(axis=0), both.max(axis=0)]), np.array([[-0.09, -0.15], [0.16, 0.15]]))
    ends = [ff.contacts.point(name, (x, 0.0, 0.0), at=np.eye(4)) for name, x in (("a", 0.0), ("b", 1.0))]
    assert control.support_polygon(ends).shape == (2, 2)


@pytest.mark.parametrize("feet", [[], "left_sole", [ff.contacts.point("a")], [ff.contacts.surface("a", at=np.eye(4))], [3], None])
def test_bad_feet(feet) -> None:
    refused(ff.InputError, "anchored_feet", control.support_polygon, feet)
