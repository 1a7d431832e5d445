"""The DCM and its feedback: equations, rest at both ends, the ZMP on the feet; capture points, margins, impulses at the edge."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import EXACT, central, close, fresh, refused, slope_error
from freeflyer import control
from freeflyer.spatial.polygons import convex_polygon, signed_distance
from problems import POINT_FEET, humanoid, kangaroo, quadruped
from scipy.integrate import solve_ivp

RNG = fresh("dcm")
HUMANOID, POSTURE = humanoid()
HEIGHT = float(ff.center_of_mass(HUMANOID, POSTURE)[2])
FEET = ff.contacts.anchored_feet(HUMANOID, POSTURE)
STEPS = {"walk": control.walk_forward(FEET, 0.3, 6, begin=1.0),
         "slow": control.walk_forward(FEET[::-1], 0.15, 3, step_duration=1.5, double_support=0.4, rest_duration=2.0),
         "fast": control.walk_forward(FEET, 0.4, 8, step_duration=0.5, double_support=0.15, rest_duration=1.5)}  # fmt: skip
RISING = np.cumsum(RNG.uniform(0.4, 1.2, 7))
PLANS = {name: control.walking_dcm(steps, HEIGHT) for name, steps in STEPS.items()} | {
    "any": control.dcm_plan(RISING, RNG.uniform(-0.3, 0.3, (7, 3)), 0.7, gravity=3.7),
    "one segment": control.dcm_plan([0.0, 1.5], [[0.0, 0.0, 0.0], [0.1, 0.2, 0.05]], 0.9),
}
STEP = 1e-3
RATE = 5.0  # 1/s, above every omega


def times(name: str, count: int = 300) -> np.ndarray:
    """Of which no difference reaches over a knot."""
    knots = PLANS[name].times
    t = RNG.uniform(knots[0] - 0.5, knots[-1] + 0.5, count)
    return t[np.abs(t[:, None] - knots).min(axis=1) > 3.0 * STEP]


@pytest.mark.parametrize("name", PLANS)
def test_plans_obey_their_equations_without_jumps_from_rest_to_rest(name: str) -> None:
    plan, t = PLANS[name], times(name)
    c, w, bound = plan(t), plan.omega, slope_error(STEP, RATE)
    assert w < RATE
    close(plan.dcm(t), c.target + c.velocity / w)
    close(c.acceleration, w**2 * (c.target - plan.vrp(t)), 1e-12)
    close(plan.dcm_velocity(t), w * (plan.dcm(t) - plan.vrp(t)), 1e-12)
    close(central(lambda h: plan(t + h).target, STEP), c.velocity, RATE * bound)
    close(central(lambda h: plan(t + h).velocity, STEP), c.acceleration, RATE**2 * bound)
    close(central(lambda h: plan.dcm(t + h), STEP), plan.dcm_velocity(t), RATE * bound)
    close(plan.vrp(t) - plan.zmp(t), np.broadcast_to([0.0, 0.0, plan.height], (len(t), 3)))
    # Position, velocity and acceleration of the centre of mass, DCM with its velocity, ZMP, at all knots
    d = 1e-9
    before, after = plan.times - d, plan.times + d
    for f in (plan.dcm, plan.dcm_velocity, plan.zmp, *(lambda t, k=k: plan(t)[k] for k in range(3))):
        close(f(before), f(after), 2.0 * d * 100.0 + EXACT)
    for t, where in ((plan.times[0], plan.vrp_knots[0]), (plan.times[-1], plan.vrp_knots[-1])):
        for moment in (t, t - 1e-12, t + 1e-12):
            c = plan(moment)
            close(c.target, where, 1e-11)
            assert np.abs(c.velocity).max() < 1e-10
            assert np.abs(c.acceleration).max() < 1e-9
    close(plan(plan.times[-1] + 50.0).target, plan.vrp_knots[-1])
    close(plan.dcm(plan.times[0] - 50.0), plan.vrp_knots[0])


@pytest.mark.parametrize("name", STEPS)
def test_the_zmp_stays_on_the_feet(name: str) -> None:
    plan, steps = PLANS[name], STEPS[name]
    for phase in steps.phases:
        t = np.linspace(phase.begin, phase.end, 101)
        zmp = plan.zmp(t)
        assert signed_distance(phase.polygon, zmp[:, :2]).min() > 0.01
        close(zmp[:, 2], np.zeros(len(t)))
        if phase.swings:
            middle = (FEET[0].points.mean(axis=0) + phase.feet[0].at[:3, 3])[:2]
            close(zmp[:, :2], np.broadcast_to(middle, (len(t), 2)))
    ends = [np.mean([foot.at[:3, 3] for foot in steps.phases[k].feet], axis=0) + FEET[0].points.mean(axis=0) for k in (0, -1)]
    close(plan([steps.begin, steps.end]).target, np.array(ends) + [0.0, 0.0, HEIGHT], 1e-11)


def test_long_rests_do_not_overflow() -> None:
    plan = control.dcm_plan([0.0, 1.0, 5000.0, 5001.0], [[0, 0, 0], [0, 0.1, 0], [0, 0.1, 0], [0, 0, 0]], 0.8)
    assert np.isfinite(plan(np.linspace(-1.0, 5002.0, 1000)).target).all()
    close(plan(2500.0).target, [0.0, 0.1, 0.8])


def test_feedback_converges_as_its_gain_says() -> None:
    """A disturbed DCM comes back with e^(-gain t), and the centre of mass follows."""
    plan, gain, pushed = PLANS["walk"], 4.0, np.array([0.02, -0.01, 0.005])
    start = plan.times[0] + 1.3

    def motion(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[3:], control.track_dcm(plan, t, x[:3], x[3:], gain=gain).acceleration])

    c = plan(start)
    x0 = np.concatenate([c.target, c.velocity + plan.omega * pushed])
    found = solve_ivp(motion, (start, start + 4.0), x0, rtol=1e-9, atol=1e-11, max_step=0.02, dense_output=True)
    for t in start + np.linspace(0.0, 2.0, 9):
        x = found.sol(t)
        close(x[:3] + x[3:] / plan.omega - plan.dcm(t), pushed * np.exp(-gain * (t - start)), 1e-6)
    close(found.y[:3, -1], plan(start + 4.0).target, 1e-5)


def test_commands_keep_the_zmp_in_the_polygon() -> None:
    plan, steps = PLANS["walk"], STEPS["walk"]
    t = steps.phases[3].begin + 0.1
    polygon = steps.phase(t).polygon
    c = plan(t)
    velocity = c.velocity + 0.3 * RNG.standard_normal((50, 3))
    found = control.track_dcm(plan, t, c.target, velocity, polygon=polygon)
    free = control.track_dcm(plan, t, c.target, velocity)
    inside = signed_distance(polygon, free.zmp[:, :2]) >= 0.0
    assert 0 < inside.sum() < len(inside), "some commands are projected, some are not"
    assert signed_distance(polygon, found.zmp[:, :2]).min() > -EXACT
    close(found.zmp[inside], free.zmp[inside])
    close(found.zmp[:, 2], free.zmp[:, 2])
    close(found.acceleration, plan.omega**2 * (c.target - found.zmp - [0.0, 0.0, plan.height]))
    close(found.dcm, c.target + velocity / plan.omega)


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
    tracked = control.track_dcm, PLANS["any"], 1.0
    for words, f, *given in (("gravity along -z", control.capture_point, ff.with_gravity(model, (0.0, 0.0, 0.0)), q, v),
            ("above the feet", control.capture_margin, model, lying, v),
            ("angles", control.max_push_impulse, model, q, v, 0.3),
            ("_sole", control.capture_point, FLYING, FLYING.neutral, np.zeros(FLYING.nv)),
            ("rest_duration", control.walking_dcm, control.walk_forward(FEET, 0.4, 4, rest_duration=0.15), HEIGHT),
            ("walk_forward", control.walking_dcm, PLANS["any"], 0.8),
            ("position", *tracked, np.zeros(2), np.zeros(3)), ("velocity", *tracked, np.zeros(3), 1.0)):  # fmt: skip
        refused(ff.InputError, words, f, *given)
    for words, polygon in (("polygon", np.zeros((3, 3))), ("convex", [[0, 0], [0, 1], [1, 0]])):
        refused(ff.InputError, words, *tracked, np.zeros(3), np.zeros(3), polygon=polygon)


def test_support_of_soles() -> None:
    feet = ff.contacts.anchored_feet(*humanoid())
    both = control.support_polygon(feet)
    close(np.array([both.min(axis=0), both.max(axis=0)]), np.array([[-0.09, -0.15], [0.16, 0.15]]))
    ends = [ff.contacts.point(name, (x, 0.0, 0.0), at=np.eye(4)) for name, x in (("a", 0.0), ("b", 1.0))]
    assert control.support_polygon(ends).shape == (2, 2)
