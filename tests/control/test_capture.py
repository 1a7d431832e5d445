"""Capture points, margins, and the impulses at which these are at the edge; support polygons."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import central, close, fresh, refused, slope_error
from freeflyer import control
from freeflyer.spatial.polygons import convex_polygon
from problems import POINT_FEET, humanoid, kangaroo, quadruped

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
            ("above the feet", control.capture_margin, model, lying, v),
            ("angles", control.max_push_impulse, model, q, v, 0.3),
            ("_sole", control.capture_point, FLYING, FLYING.neutral, np.zeros(FLYING.nv))):  # fmt: skip
        refused(ff.InputError, words, f, *given)


def test_support_of_soles() -> None:
    feet = ff.contacts.anchored_feet(*humanoid())
    both = control.support_polygon(feet)
    close(np.array([both.min(axis=0), both.max(axis=0)]), np.array([[-0.09, -0.15], [0.16, 0.15]]))
    ends = [ff.contacts.point(name, (x, 0.0, 0.0), at=np.eye(4)) for name, x in (("a", 0.0), ("b", 1.0))]
    assert control.support_polygon(ends).shape == (2, 2)
