"""Runs on rigid ground: closed robots, controllers, events, interruption, bad input, many steps in one call."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from dataclasses import replace
from seeds import fresh
from test_ground import DT, UPRIGHT, body, corners, simulate


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


def test_a_controller_stands_on_the_ground_and_the_run_is_kept(tmp_path):
    model = ff.robots.humanoid()
    robot = ff.control.stand_on_feet(model)
    tasks = [ff.control.CenterOfMassTask(ff.center_of_mass(model, robot.q)), ff.control.PostureTask(robot.q)]
    problem = ff.control.WholeBodyProblem(model, tasks, contacts=robot.feet)
    run = simulate(model, robot.q, np.zeros(model.nv), robot.feet, problem.controller(), duration=0.2)
    assert np.abs(run.q[-1] - robot.q).max() < 1e-3
    run.save(tmp_path / "run.npz")
    again = ff.sim.load(tmp_path / "run.npz")
    assert np.array_equal(again.ground["residual"], run.ground["residual"])
    assert again.forces.keys() == run.forces.keys()


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


def test_ctrl_c_keeps_the_run():
    def inputs(t, q, v):
        if t > 0.05:
            raise KeyboardInterrupt
        return np.zeros(6)

    for options in ({}, {"ground": ff.sim.Ground(), "contacts": ff.contacts.point("body")}):
        run = ff.sim.simulate(body(), UPRIGHT, np.zeros(6), inputs, dt=DT, duration=0.1, **options)
        assert run.failure.endswith("interrupted")
        assert len(run.t) > 40


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
    no_run("ground must be", ground=0.0)
    refused(ff.InputError, "restitution", ff.sim.Ground, restitution=1.5)
    refused(ff.InputError, "even steps", lambda: ff.sim.Ground(height=([0.0, 1.0, 3.0], [0.0, 1.0], np.zeros((3, 2)))))
    refused(ff.InputError, "shape", lambda: ff.sim.Ground(height=([0.0, 1.0], [0.0, 1.0], np.zeros((3, 2)))))
    no_run(r"height\(x, y\)", ground=ff.sim.Ground(height=lambda x, y: np.nan))
    run = ff.sim.simulate(model, UPRIGHT, rest, lambda t, q, v: rest if t < 0.05 else np.full(6, 1e200), dt=DT, duration=0.1,
                          ground=ff.sim.Ground(), contacts=tip)
    assert run.failure is not None
    assert len(run.t) > 40


def test_contacts_that_constraints_hold_are_refused():
    model = body(2.0)
    q, tip = UPRIGHT + np.eye(7)[2] * 0.1, (0.2, 0.15, -0.1)

    def start(*held):
        constraints = ff.ConstraintSet(model, contacts=held).anchored(q)
        return ff.sim.simulate(model, q, np.zeros(6), dt=DT, duration=3.0 * DT, ground=ff.sim.Ground(), contacts=corners(*tip),
                               constraints=constraints)  # fmt: skip

    edge = ff.contacts.line("body", ((0.2, 0.0, -0.1), (0.2, 0.1, -0.1)), name="edge")
    for held in (ff.contacts.point("body", tip, name="held"), edge, ff.contacts.surface("body", name="held")):
        with pytest.raises(ff.InputError, match=f"may touch the ground, and '{held.name}' of constraints= holds it in place"):
            start(held)
    assert start(ff.contacts.point("body", (0.0, 0.0, 0.1), name="hinge")).failure is None


def test_steps_under_held_forces_are_those_one_by_one():
    """Robots that bounce, slide and lie, each with its own share: a function is called before every step, fixed forces take many in
    one call. Samples at a longer period are those of all."""
    rng, n = fresh("steps at once"), 11
    model, q = body(1.5, (0.02, 0.03, 0.04)), np.tile(UPRIGHT, (11, 1))
    q[:, 2], v, tau = rng.uniform(0.2, 0.4, n), rng.normal(0.0, 2.0, (n, 6)), rng.normal(0.0, 1.0, 6)
    options = {"dt": DT, "ground": ff.sim.Ground(friction=rng.uniform(0.1, 1.0, n), restitution=0.3),
               "contacts": corners(0.2, 0.15, -0.1), "duration": 0.3517}  # fmt: skip
    for every in (1, 7, 100):
        run = ff.sim.simulate(model, q, v, tau, every=every * DT, **options)
        one = ff.sim.simulate(model, q, v, lambda t, q, v: tau, every=every * DT, **options)
        for name in ("t", "q", "v", "tau"):
            assert np.array_equal(getattr(run, name), getattr(one, name)), name
        assert all(np.array_equal(x, one.forces[name]) for name, x in run.forces.items())
        assert all(np.array_equal(x, one.ground[name]) for name, x in run.ground.items())
    assert run.ground["touching"].max() > 1.0
