"""Rigid ground: motions that are known in closed form, laws of each step, closed robots, bad input."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from dataclasses import replace
from freeflyer_papers import hopping
from sim_samples import DT, G, UPRIGHT, body, check_equal, corners, simulate
from scipy.integrate import solve_ivp

def slider(**of_joint) -> ff.Model:
    """1 kg that slides along x, and up and down."""
    links = ff.Link("cart"), ff.Link("block", ff.Inertia(1.0))
    joints = (ff.Joint("along", "prismatic", "world", "cart", axis=np.array([1.0, 0.0, 0.0]), **of_joint),
        ff.Joint("up", "prismatic", "cart", "block"))  # fmt: skip
    return ff.build(ff.Description("slider", links, joints))


def world_velocity(model, q, v):
    return ff.frame_velocity(model, q, v, "body", "mixed")


@pytest.mark.parametrize("beyond", [-1e-6, 1e-6, 0.05])
def test_a_block_slides_beyond_the_angle_of_its_cone(beyond):
    slope = np.arctan(0.5) + beyond
    gravity = G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    run = simulate(body(2.0), UPRIGHT + np.eye(7)[2] * 0.1, np.zeros(6), corners(0.2, 0.15, -0.1), friction=0.5, gravity=gravity)
    expected = max(G * (np.sin(slope) - 0.5 * np.cos(slope)), 0.0)
    assert abs(run.v[-1, 0] - expected) < 1e-7 + 0.01 * (beyond == 1e-6) * expected
    assert np.abs(run.v[-1, 1:]).max() < 1e-7
    pushed = [sum(run.forces[c.name][-2] for c in corners(0.2, 0.15, -0.1))]
    a = np.r_[(run.v[-1] - run.v[-2])[:3] / DT, np.zeros(3)]
    assert np.allclose(ff.inverse_dynamics(body(2.0), run.q[-2], run.v[-2], a, external={"body": pushed[0]}, gravity=gravity), 0.0,
                       atol=1e-6)


def test_points_that_begin_below_the_ground_come_out_slowly():
    run = simulate(body(2.0), UPRIGHT + np.eye(7)[2] * 0.0995, np.zeros(6), corners(0.2, 0.15, -0.1), duration=0.02)
    assert np.allclose(run.q[:, 2] - 0.1, -5e-4 * 0.8 ** np.arange(21), atol=1e-7)
    assert np.abs(run.v).max() < 1e-11
    rising = simulate(body(2.0), UPRIGHT + np.eye(7)[2] * 0.0995, np.eye(6)[2] * 0.1, corners(0.2, 0.15, -0.1), duration=0.002)
    assert np.allclose(rising.ground["penetration"][:2], (5e-4, 4e-4), atol=2e-5)


def test_a_thrown_ball_rolls_at_five_sevenths():
    model, r = body(1.0, (4e-3,) * 3), 0.1
    start = np.array([0.7, 0.3])
    run = simulate(model, UPRIGHT + np.eye(7)[2] * r, np.r_[start, np.zeros(4)],
                   ff.contacts.rolling("body", r, axis=None), friction=0.3)
    V = world_velocity(model, run.q[-1], run.v[-1])
    assert np.allclose(V[:2], 5.0 / 7.0 * start, atol=1e-12)
    assert np.allclose(V[3:5] * r, (-V[1], V[0]), atol=1e-12)
    assert np.abs(run.q[:, 2] - r).max() < 1e-12
    assert np.allclose(run.forces["body"][0, 3:], 4e-3 * run.v[1, 3:] / DT, rtol=1e-9)


def test_a_wheel_rolls_and_a_lying_disc_slides_as_its_equations_say():
    R = 0.2
    wheel = body(1.0, (0.01, 0.02, 0.01))
    q = UPRIGHT + np.eye(7)[2] * R
    run = simulate(wheel, q, np.r_[0.0, 0.0, 0.0, 0.0, 10.0, 0.0], ff.contacts.rolling("body", R), friction=0.4)
    V = world_velocity(wheel, run.q[-1], run.v[-1])  # spun at 10 rad/s: M v = f t, I w = 2 - f R t, at the end v = w R
    assert np.isclose(V[0], 0.02 * 10.0 * R / (0.02 + R * R), rtol=1e-9)

    def rates(t, y):
        total, turn = np.zeros(2), 0.0
        for k in range(3):
            r = R * np.array([np.cos(y[2] + 2.0 * np.pi * k / 3.0), np.sin(y[2] + 2.0 * np.pi * k / 3.0)])
            u = y[3:5] + y[5] * np.array([-r[1], r[0]])
            f = -0.3 * G / 3.0 * u / np.linalg.norm(u)
            total, turn = total + f, turn + r[0] * f[1] - r[1] * f[0]
        return [*y[3:], *total, turn / 0.02]

    disc, angles = body(1.0, (0.01, 0.01, 0.02)), 2.0 * np.pi * np.arange(3) / 3.0
    tips = [ff.contacts.point("body", (R * np.cos(a), R * np.sin(a), 0.0), name=f"{a:.1f}") for a in angles]
    expected = solve_ivp(rates, (0.0, 0.2), [0, 0, 0, 1.0, 0, 8.0], rtol=1e-10, atol=1e-12).y[3:, -1]
    errors = []
    for dt in (DT, 0.25 * DT):
        run = simulate(disc, UPRIGHT, np.r_[1.0, 0.0, 0.0, 0.0, 0.0, 8.0], tips, dt=dt, duration=0.2, friction=0.3)
        errors.append(np.abs(world_velocity(disc, run.q[-1], run.v[-1])[[0, 1, 5]] - expected).max())
    assert errors[0] < 5e-3
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_a_ball_bounces_by_the_square_of_its_restitution(restitution):
    model = body(1.0, (4e-3,) * 3)
    run = simulate(model, UPRIGHT + np.eye(7)[2] * 0.6, np.zeros(6), ff.contacts.rolling("body", 0.1, axis=None), dt=1e-4,
                   duration=1.2, restitution=restitution)
    z = run.q[:, 2] - 0.1
    top = z[z.argmin() :].max() if restitution == 0.0 else z[4000:].max()
    assert np.isclose(top, 0.5 * restitution**2, atol=2e-4)
    energy = 0.5 * run.v[:, 2] ** 2 + G * z
    assert np.diff(energy).max() < 1e-12
    assert z.min() > -1e-12


def test_a_sprung_block_stops_where_dry_friction_holds_it():
    k, f = 100.0, 0.2 * G / 100.0  # between f and -f it stays: 5.3 f, -3.3 f, 1.3 f, 0.7 f
    for model, mu in ((slider(), 0.2), (slider(friction=(0.2 * G,)), 0.0)):
        run = simulate(model, [5.3 * f, 0.0], np.zeros(2), ff.contacts.point("block"), lambda t, q, v: np.array([-k * q[0], 0.0]),
                       dt=2e-4, duration=1.2, friction=mu)
        v = np.where(np.abs(run.v[:, 0]) > 1e-12, run.v[:, 0], 0.0)
        turns = [x / f for x, a, b in zip(run.q[1:, 0], v, v[1:]) if a != 0.0 and a * b <= 0.0]
        assert np.allclose(turns, (-3.3, 1.3, 0.7), atol=0.02)
        assert np.abs(run.v[-500:, 0]).max() < 1e-13


def test_compliant_ground_is_springs_and_dampers():
    model, k, d = body(2.0, (4e-3,) * 3), 2e3, 30.0
    ground = {"kind": "compliant", "stiffness": k, "damping": d}

    def rates(t, y):
        return [y[1], -G + max(0.0, -k * y[0] - d * y[1]) / 2.0 * (y[0] < 0.0)]

    fall = solve_ivp(rates, (0.0, 0.3), [0.05, 0.0], rtol=1e-9, atol=1e-12, max_step=1e-4).y[0, -1]
    misses = []
    for dt in (4e-4, 1e-4):
        run = simulate(model, UPRIGHT + np.eye(7)[2] * 0.15, np.zeros(6), ff.contacts.rolling("body", 0.1, axis=None), dt=dt,
                       duration=0.3, **ground)
        misses.append(abs(run.q[-1, 2] - 0.1 - fall))
    assert misses[0] < 2e-3
    assert misses[1] < 0.4 * misses[0]
    run = simulate(model, UPRIGHT + np.eye(7)[2] * 0.1, np.zeros(6), corners(0.2, 0.15, -0.1), duration=2.0, **ground)
    assert np.isclose(run.q[-1, 2] - 0.1, -2.0 * G / (4.0 * k), rtol=1e-6)


@pytest.mark.parametrize("mu", [0.5, 1.4, 2.5])
def test_a_rod_near_the_configuration_of_painleve_keeps_its_conditions(mu):
    rod, angle = body(1.0, (1.0 / 12.0, 1.0 / 12.0, 1e-4)), np.radians(30.0)
    q = np.array([0.0, 0.0, 0.5 * np.cos(angle), 0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)])
    R = ff.frame_pose(rod, q, "body")[:3, :3]
    for way in (2.0, -2.0):
        v = np.r_[R.T @ (way, 0.0, 0.0), np.zeros(3)]
        run = simulate(rod, q, v, ff.contacts.point("body", (0.0, 0.0, -0.5)), dt=1e-4, duration=0.05, friction=mu)
        energy = ff.kinetic_energy(rod, run.q, run.v) + ff.potential_energy(rod, run.q)
        assert np.diff(energy).max() < 1e-5
        assert run.ground["residual"].max() < 1e-8
        jams = way < 0.0 and mu * 1.3 > 1.75  # G of the point's normal by friction and by itself: it would sink if it slid on
        assert np.isclose(energy[0] - energy[1], 0.5 * way**2 * 1.75 / 4.0, rtol=1e-3) == jams  # of G^-1, along the slip


def test_free_flight_is_straight_and_spins_keep_their_energy():
    rng, model = fresh("ground flight"), body(1.0, (0.1, 0.2, 0.25))
    q, v = UPRIGHT + np.eye(7)[2] * 50.0, rng.normal(0.0, 3.0, 6)
    run = simulate(model, q, v, ff.contacts.point("body"))
    V0 = world_velocity(model, run.q[0], run.v[0])[:3]
    t = run.t[-1]
    assert np.allclose(run.q[-1, :3], q[:3] + V0 * t - [0.0, 0.0, 0.5 * G * t * (t + DT)], atol=1e-10)
    turning = 0.5 * run.v[:, 3:] ** 2 @ (0.1, 0.2, 0.25)
    assert np.ptp(turning) < 1e-5 * turning[0]


@pytest.mark.parametrize(("slope", "turn"), [(0.1, 0.0), (0.2, 2.0), (3.0, -0.6)])
@pytest.mark.parametrize("shape", ["plane", "grid", "function"])
def test_ground_of_every_kind_is_the_same_slope(shape, slope, turn):
    x, up, angle = np.linspace(-3.0, 3.0, 7), np.array([np.cos(turn), np.sin(turn)]), np.arctan(slope)
    height = {"plane": 0.0, "grid": (x, x, slope * np.add.outer(up[0] * x, up[1] * x)),
        "function": lambda x, y: slope * (up @ (x, y))}[shape]  # fmt: skip
    q = np.r_[0.1 * np.r_[-np.sin(angle) * up, np.cos(angle)],
              np.sin(angle / 2) * np.array([up[1], -up[0], 0.0]), np.cos(angle / 2)]  # fmt: skip
    gravity = None
    if shape == "plane":
        q, gravity = UPRIGHT + np.eye(7)[2] * 0.1, G * np.r_[-np.sin(angle) * up, -np.cos(angle)]
    qs = np.tile(q, (3, 1))
    run = simulate(body(2.0), qs, np.zeros((3, 6)), corners(0.2, 0.15, -0.1), friction=0.05, height=height, gravity=gravity,
                   duration=0.4)  # fmt: skip
    expected = -0.4 * G * (np.sin(angle) - 0.05 * np.cos(angle))
    assert np.allclose(run.v[-1, :, :2], expected * up, rtol=1e-6, atol=1e-8)
    assert np.abs(run.v[-1, :, 2:]).max() < 1e-6
    touch = run.forces["1 1"][-1, 0, :3]
    assert np.isclose(np.linalg.norm(touch[:2]), 0.05 * touch[2], rtol=1e-6)


def test_a_contact_s_own_friction_comes_before_the_ground_s():
    slope = G * np.array([np.sin(0.3), 0.0, -np.cos(0.3)])
    for own, ground, slides in ((0.8, 0.1, False), (0.1, 0.8, True), (None, 0.1, True)):
        feet = [ff.contacts.point("body", c.points[0], name=c.name, friction=own) for c in corners(0.2, 0.15, -0.1)]
        run = simulate(body(2.0), UPRIGHT + np.eye(7)[2] * 0.1, np.zeros(6), feet, friction=ground, gravity=slope, duration=0.2)
        assert np.isclose(run.v[-1, 0], slides * 0.2 * G * (np.sin(0.3) - 0.1 * np.cos(0.3)), atol=1e-8)


def test_viscoelastic_ground_swings_sideways_until_friction_gives_way():
    k, d = 4e3, 20.0
    rest = UPRIGHT - np.eye(7)[2] * 2.0 * G / (4.0 * k)
    ground = {"kind": "viscoelastic", "stiffness": k, "damping": d}
    run = simulate(body(2.0), rest, np.zeros(6), corners(0.2, 0.15, 0.0), 5.0 * np.eye(6)[0], dt=1e-4, duration=0.2, friction=10.0,
                   **ground)  # fmt: skip
    found = solve_ivp(lambda t, y: [y[1], (5.0 - 4.0 * (k * y[0] + d * y[1])) / 2.0], (0.0, 0.2), [0.0, 0.0], rtol=1e-10,
                      t_eval=run.t, atol=1e-14).y  # fmt: skip
    assert np.abs(run.q[:, 0] - found[0]).max() < 0.02 * found[0].max()
    run = simulate(body(2.0), rest, np.zeros(6), corners(0.2, 0.15, 0.0), 2.0 * G * np.eye(6)[0], duration=0.5, friction=0.5,
                   **ground)  # fmt: skip
    assert np.isclose(run.v[-1, 0], 0.5 * G * 0.5, rtol=0.02)


def test_viscoelastic_ground_is_that_of_the_hopping_robots():
    """A foot that lands at rest: wrenches of the same floor end where the hopping loop does, a ground to first order."""
    model, rng = ff.robots.revolute_hopper(), fresh("hopping floor")
    q, foot = np.array(model.keyframes["start"]), ff.contacts.point("foot_point")
    q[1] -= ff.frame_pose(model, q, "foot_point")[2, 3] - 1e-12
    held, pressed = ff.ConstraintSet(model, contacts=[foot]), 0.0
    while pressed < 0.15:  # N; with a tenth of a newton the floor bears a step later, and then errors of two steps do not compare
        v = ff.project_velocity(model, q, rng.uniform((-0.5, -1.5, 0.0, -0.5), (0.5, -0.5, 0.5, 0.5)), constraints=held)
        found = ff.constrained_dynamics(model, q, v, np.zeros(model.nv), constraints=held)
        pressed = found.wrenches(expressed="world")["foot_point"][2]
    free = {"radial_gain": 0.0, "polar_gain": 0.0, "energy_gain": 0.0, "floor_stiffness": 1e4, "floor_damping": 1e3}
    exact = hopping.hop("revolute-II", q=q, v=v, duration=4e-3, tolerance=1e-11, **free)
    assert [e.name for e in exact.events] == ["touch-down"]
    held = ff.frame_pose(model, q, "foot_point")[:3, 3]

    def floor(t, q, v):
        away = ff.frame_pose(model, q, "foot_point")[:3, 3] - held
        push = -1e4 * away - 1e3 * ff.frame_velocity(model, q, v, "foot_point", "mixed")[:3]
        return {"foot_point": np.r_[push, np.zeros(3)]}

    smooth = ff.sim.simulate(model, q, v, dt=5e-6, duration=4e-3, external=floor, expressed="mixed")
    assert np.abs(smooth.v[-1] - exact.v[-1]).max() < 1e-9
    ground = {"kind": "viscoelastic", "stiffness": 1e4, "damping": 1e3, "friction": 1e6}
    missing = [simulate(model, q, v, foot, dt=dt, duration=4e-3, **ground).v[-1] - exact.v[-1] for dt in (2e-5, 1e-5)]
    assert 1e-5 < np.abs(missing[1]).max() < 5e-3
    assert np.abs(missing[0] - 2.0 * missing[1]).max() < 2e-6  # of order 2


def test_soft_ground_gives_way_as_mujoco_s():
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><option timestep="0.0005" cone="elliptic" integrator="Euler" impratio="1"/><worldbody>
    <geom type="plane" size="5 5 .1" friction="0.5 0 0" solimp="0.9 0.9 0.001" solref="0.02 1"/>
    <body pos="0 0 0.13"><freejoint/><geom type="sphere" size="0.1" mass="1" friction="0.5 0 0" condim="3"
    solimp="0.9 0.9 0.001" solref="0.02 1"/></body></worldbody></mujoco>"""
    plant = mujoco.MjModel.from_xml_string(xml)
    data, theirs = mujoco.MjData(plant), []
    data.qvel[0] = 1.0
    for _ in range(600):
        theirs.append(data.qpos[2])
        mujoco.mj_step(plant, data)
    model = body(1.0, (0.4 * 0.01,) * 3)
    run = simulate(model, UPRIGHT + np.eye(7)[2] * 0.13, np.eye(6)[0],
                   ff.contacts.rolling("body", 0.1, axis=None), dt=5e-4, duration=0.3, kind="soft", friction=0.5)  # fmt: skip
    sunk = 0.1 - np.array(theirs).min()
    assert sunk > 1e-3
    assert np.abs(run.q[:600, 2] - theirs).max() < 0.15 * sunk
    assert np.allclose(world_velocity(model, run.q[-1], run.v[-1])[0], data.qvel[0], atol=0.02)


def test_joints_stop_at_their_limits():
    model = slider(lower=(-0.1,), upper=(0.1,))
    run = simulate(model, [0.0, 0.0], [1.0, 0.0], ff.contacts.point("block"), np.array([1.0, 0.0]), friction=0.0, duration=0.5)
    assert run.q[:, 0].max() < 0.1 + 1e-12
    assert (run.v[-1, 0], run.q[-1, 0]) == (pytest.approx(0.0, abs=1e-14), pytest.approx(0.1, abs=1e-12))


def test_closed_linkages_stay_closed_and_what_holds_is_held():
    model = ff.close_loops(ff.robots.kangaroo_like())
    standing = ff.control.stand_on_feet(model)
    q = standing.q.copy()
    q[2] += 0.005
    run = simulate(model, q, np.zeros(model.nv), standing.feet, duration=0.06)
    settled = np.flatnonzero(run.ground["touching"] == 8)[1]
    for foot in standing.feet:  # all corners stick: the next velocity moves no sole
        assert np.abs(ff.frame_velocity(model, run.q[settled], run.v[settled + 1], foot.frame)).max() < 1e-4
    assert run.ground["touching"].max() >= 4
    assert np.abs(ff.linkages.constraint_residual(model.tree, run.q)[..., ff.linkages.partition(model.tree).rows]).max() < 1e-10
    free = body(2.0)
    held = ff.ConstraintSet(free, contacts=[ff.contacts.point("body", (0.2, 0.15, -0.1))])
    run = simulate(free, UPRIGHT + np.eye(7)[2] * 0.1, np.zeros(6), corners(0.2, 0.15, -0.1)[:1], constraints=held, duration=0.2,
                   gravity=(3.0, 0.0, -9.0))
    assert np.abs(held.anchored(run.q[0]).residual(run.q[-1])).max() < 1e-9


def test_a_controller_stands_on_the_ground():
    model = ff.robots.humanoid()
    robot = ff.control.stand_on_feet(model)
    tasks = [ff.control.CenterOfMassTask(ff.center_of_mass(model, robot.q)), ff.control.PostureTask(robot.q)]
    problem = ff.control.WholeBodyProblem(model, tasks, contacts=robot.feet)
    run = simulate(model, robot.q, np.zeros(model.nv), robot.feet, problem.controller(), duration=0.2)
    assert np.abs(run.q[-1] - robot.q).max() < 1e-3


def test_events_on_the_ground():
    """A block that slides: seen where it passes, turned back, held, and let go; what never happens changes no bit."""
    model, q, v, feet = body(2.0), UPRIGHT + np.eye(7)[2] * 0.1, np.array([1.0, 0.2, 0.0, 0.0, 0.0, 0.3]), corners(0.2, 0.15, -0.1)
    ground, rng = ff.sim.Ground(friction=0.2), fresh("events on ground")
    options = {"dt": DT, "duration": 0.3, "ground": ground, "contacts": feet}
    plain = ff.sim.simulate(model, q, v, **options)
    place = rng.uniform(0.05, 0.2)
    never, passes = ff.sim.Event("never", lambda s: s.q[0] + 1.0), ff.sim.Event("passes", lambda s: s.q[0] - place)
    watched = ff.sim.simulate(model, q, v, events=never, **options)
    assert np.array_equal(watched.q, plain.q)
    assert np.array_equal(watched.v, plain.v)
    run = ff.sim.simulate(model, q, v, events=replace(passes, terminal=True), **options)
    assert abs(run.q[-1, 0] - place) < 1e-12
    assert run.t[-1] == run.events[0].t
    k = len(run.t) - 2
    assert np.array_equal(run.q[: k + 1], plain.q[: k + 1])
    assert abs(run.q[-1, 0] - np.interp(run.t[-1], plain.t, plain.q[:, 0])) < 1e-6
    assert run.events[0].v[0] < plain.v[k, 0]
    back = replace(passes, action=lambda s: ff.sim.Change(v=-s.v), direction=1)
    run = ff.sim.simulate(model, q, v, events=back, **options)
    assert np.array_equal(run.events[0].v_after, -run.events[0].v)
    assert len(run.events) == 1
    assert np.allclose(np.linalg.norm(run.v[-1, :2]), np.linalg.norm(plain.v[-1, :2]), atol=2e-3)  # friction takes as much
    hand = ff.ConstraintSet(model, contacts=[ff.contacts.point("body", (0.0, 0.0, 0.1), name="hand")])

    def grip(s):
        held = hand.anchored(s.q)
        return ff.sim.Change(v=ff.impact(model, s.q, s.v, constraints=held).v, constraints=held)

    run = ff.sim.simulate(model, q, v, events=replace(passes, action=grip), **options)
    top = np.array([ff.frame_pose(model, x, "body") @ (0.0, 0.0, 0.1, 1.0) for x in run.q[k + 2 :]])
    assert np.ptp(top, axis=0).max() < 1e-9
    both = ff.sim.simulate(model, np.stack([q, q]), np.stack([v, 0.5 * v]), events=passes, **options)
    assert np.array_equal(both.q[:, 0], ff.sim.simulate(model, q, v, events=passes, **options).q)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_ctrl_c_and_errors_end_the_program_and_keep_the_run(error):
    def inputs(t, q, v):
        if t > 0.05:
            raise error
        return np.zeros(6)

    for options in ({}, {"hold": True}, {"ground": ff.sim.Ground(), "contacts": ff.contacts.point("body")}):
        for q in (UPRIGHT, np.tile(UPRIGHT, (2, 1))):
            with pytest.raises(error) as caught:
                ff.sim.simulate(body(), q, np.zeros(6), inputs, dt=DT, duration=0.1, **options)
            assert ("interrupted" if error is KeyboardInterrupt else "ZeroDivisionError") in caught.value.run.failure
            assert len(caught.value.run.t) == 51  # to 0.05 s
            assert error is KeyboardInterrupt or "attribute `run`" in caught.value.__notes__[0]


def test_bad_input_is_a_sentence():
    model, tip = body(), ff.contacts.point("body")
    rest = np.zeros(6)

    def no_run(words, **changes):
        arguments = {"dt": DT, "duration": 0.1, "ground": ff.sim.Ground(), "contacts": tip} | changes
        refused(ff.InputError, words, ff.sim.simulate, model, arguments.pop("q", UPRIGHT), arguments.pop("v", rest), **arguments)

    no_run("0.5 m below the ground", q=UPRIGHT - np.eye(7)[2] * 0.5)
    no_run("give ground=", ground=None)
    no_run("needs contacts=", contacts=())
    no_run("names of their own", contacts=(tip, tip))
    no_run("inputs are held", hold=False)
    no_run("leave out integrator='dop853'", integrator="dop853")
    no_run("ground must be", ground=0.0)
    no_run("got 'body'", contacts="body")
    no_run("without events", events=ff.sim.unilateral_events(ff.ConstraintSet(model, contacts=[tip])))
    refused(ff.InputError, "restitution", ff.sim.Ground, restitution=1.5)
    for kind, numbers in (("rigid", {"stiffness": 1e3}), ("soft", {"restitution": 0.5}), ("compliant", {"impedance": [0.8, 0.9]})):
        words = f"{next(iter(numbers))} is a number of .*, and this one is {kind}"
        refused(ff.InputError, words, ff.sim.Ground, kind=kind, **numbers)
    refused(ff.InputError, "even steps", lambda: ff.sim.Ground(height=([0.0, 1.0, 3.0], [0.0, 1.0], np.zeros((3, 2)))))
    refused(ff.InputError, "shape", lambda: ff.sim.Ground(height=([0.0, 1.0], [0.0, 1.0], np.zeros((3, 2)))))
    no_run(r"height\(x, y\)", ground=ff.sim.Ground(height=lambda x, y: np.nan))


def test_contacts_that_constraints_hold_are_refused():
    model = body(2.0)
    q, tip = UPRIGHT + np.eye(7)[2] * 0.1, (0.2, 0.15, -0.1)

    def start(*held):
        constraints = ff.ConstraintSet(model, contacts=held).anchored(q)
        return ff.sim.simulate(model, q, np.zeros(6), dt=DT, duration=3.0 * DT, ground=ff.sim.Ground(), contacts=corners(*tip),
                               constraints=constraints)  # fmt: skip

    edge = ff.contacts.line("body", ((0.2, 0.0, -0.1), (0.2, 0.1, -0.1)), name="edge")
    for held in (ff.contacts.point("body", tip, name="held"), edge, ff.contacts.surface("body", name="held")):
        refused(ff.InputError, f"may touch the ground, and '{held.name}' of constraints= holds it in place", start, held)
    assert start(ff.contacts.point("body", (0.0, 0.0, 0.1), name="hinge")).failure is None


def test_steps_under_held_forces_are_those_one_by_one():
    """Robots that bounce, slide and lie, each with its own share: a function is called before every step, fixed forces take many in
    one call. Samples at a longer period are those of all."""
    rng, n = fresh("steps at once"), 11
    model, q = body(1.5, (0.02, 0.03, 0.04)), np.tile(UPRIGHT, (11, 1))
    q[:, 2], v, tau = rng.uniform(0.2, 0.4, n), rng.normal(0.0, 2.0, (n, 6)), rng.normal(0.0, 1.0, 6)
    options = {"dt": DT, "ground": ff.sim.Ground(friction=rng.uniform(0.1, 1.0, n), restitution=0.3),
               "contacts": corners(0.2, 0.15, -0.1), "duration": 0.3517}  # fmt: skip
    for every in (100, 7, 1):
        run = ff.sim.simulate(model, q, v, tau, every=every * DT, **options)
        one = ff.sim.simulate(model, q, v, lambda t, q, v: tau, every=every * DT, **options)
        check_equal(run, one)
    assert run.ground["touching"].max() >= 1.0  # a second point touches in nearly all draws
