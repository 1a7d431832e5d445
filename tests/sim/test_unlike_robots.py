"""Robots beside each other, each on its own ground, in its own gravity and with its own events: the same bits as one by one."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from freeflyer import sim
from freeflyer.sim.inputs import PartSensing
from freeflyer.sim.parts import gather, grid, part_of_arguments
from itertools import pairwise
from seeds import fresh
from sim_batches import N, check_equal, falling


@pytest.mark.parametrize("kind", ["ground", "rk4", "sensing"])
def test_a_batch_is_the_same_however_it_is_split(kind):
    given = falling(fresh("split"))
    if kind != "ground":
        given |= {"ground": None, "contacts": ()}
    if kind == "sensing":
        given |= {"inputs": lambda t, q, v: -0.1 * v, "sensing": sim.Sensing(position_noise=1e-3, velocity_noise=0.1, delay=3e-3)}
    whole = sim.simulate(**given)
    if kind == "ground":
        assert whole.ground["touching"].max(axis=0).mean() > 1.0
    for cuts in ([0, 1, N], [0, 4, 8, N], list(range(N + 1))):
        places = [slice(a, b) for a, b in pairwise(cuts)]
        runs = [sim.simulate(**part_of_arguments(given, (N,), place)) for place in places]
        check_equal(gather(runs, places, (N,), grid(given, 60), False), whole)
    nested = part_of_arguments(part_of_arguments(given, (N,), slice(3, 9)), (6,), slice(2, 3))
    assert np.array_equal(sim.simulate(**nested).q, whole.q[:, 5:6])
    assert (kind == "sensing") == isinstance(nested["sensing"], PartSensing)


def test_closed_robots_do_not_depend_on_their_neighbours():
    """Loops are closed by as many rounds as each robot needs."""
    model, rng = ff.close_loops(ff.robots.kangaroo_like()), fresh("closed neighbours")
    q, v = np.tile(ff.control.stand_on_feet(model).q, (9, 1)), rng.normal(0.0, 0.02, (9, model.nv)) * np.arange(9)[:, None]
    for integrator in ("rk4", "semi-implicit"):
        options = {"dt": 2e-3, "duration": 0.03, "integrator": integrator}
        run = sim.simulate(model, q, v, **options)
        assert run.failure is None
        for part in (slice(0, 1), slice(1, 7), slice(5, 9)):
            assert np.array_equal(sim.simulate(model, q[part], v[part], **options).q, run.q[:, part])


def test_each_robot_has_its_own_friction_restitution_height_and_gravity():
    """Spheres that slide, bounce, and rest, by closed forms."""
    link = ff.Link("body", ff.Inertia(1.0, rotational=np.diag([1e9] * 3)))  # it does not begin to turn
    model = ff.build(ff.Description("body", (link,), (ff.Joint("base", "free", "world", "body"),)))
    mu, height, g = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, -1.0]), np.array([9.0, 5.0, 1.0])
    q = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (3, 1))
    q[:, 2] = height
    v = np.zeros((3, 6))
    v[:, 0] = 2.0
    run = sim.simulate(model, q, v, dt=1e-3, duration=0.5, gravity=np.c_[0.0 * g, 0.0 * g, -g], contacts=ff.contacts.point("body"),
                       ground=sim.Ground(height=height, friction=mu))  # fmt: skip
    assert np.allclose(run.v[-1, :, 0], 2.0 - 0.5 * mu * g, atol=1e-9)
    assert np.abs(run.q[..., 2] - height).max() < 1e-12
    v[:, 0], v[:, 2] = 0.0, -1.0
    bounce = np.array([0.2, 0.5, 0.9])
    run = sim.simulate(model, q, v, dt=1e-3, duration=1e-3, gravity=(0.0, 0.0, 0.0), contacts=ff.contacts.point("body"),
                       ground=sim.Ground(height=height, restitution=bounce))  # fmt: skip
    assert np.allclose(run.v[-1, :, 2], bounce, atol=1e-12)


def test_a_table_holds_its_forces():
    model = ff.robots.chain(2)
    t, tau = [0.0, 0.02, 0.05], np.array([[1.0, 0.0], [0.0, -1.0], [0.5, 0.5]])
    run = sim.simulate(model, np.zeros(2), np.zeros(2), (t, tau), dt=0.01, duration=0.1)
    assert np.array_equal(run.tau, tau[[0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]])
    law = sim.simulate(model, np.zeros(2), np.zeros(2), lambda s, q, v: tau[np.searchsorted(t, s + 1e-9, "right") - 1], dt=0.01,
                       duration=0.1, hold=True)  # fmt: skip
    assert np.array_equal(law.q, run.q)
    for wrong in (([0.0, 0.02], tau), ([0.0, 0.05, 0.02], tau), ([0.1, 0.2, 0.3], tau)):
        with pytest.raises(ff.InputError, match="from 0 on and rising"):
            sim.simulate(model, np.zeros(2), np.zeros(2), wrong, dt=0.01, duration=0.1)


@pytest.mark.parametrize("how", ["events", "dop853"])
def test_events_and_integrators_of_each_robot(how, tmp_path):
    """Runs that end at times of their own: NaN from there on, and events with the robot's number."""
    model, rng = ff.robots.chain(2), fresh("events of each")
    q, v = rng.uniform(0.3, 0.9, (2, 3, 2)), np.zeros((2, 3, 2))
    down = sim.Event("down", lambda state: state.q[0], terminal=True)
    turn = sim.Event("turn", lambda state: state.v[1])
    options = {"dt": 0.01, "duration": 0.3}
    if how == "events":
        options["events"] = (down, turn)
    if how == "dop853":
        options["integrator"] = how
    run = sim.simulate(model, q, v, **options)
    assert run.q.shape == (len(run.t), 2, 3, 2)
    for place in np.ndindex(2, 3):
        alone = sim.simulate(model, q[place], v[place], **options)
        kept = np.isin(alone.t, run.t)
        n = int(kept.sum())
        assert np.array_equal(run.q[(slice(n), *place)], alone.q[:n])
        assert np.isnan(run.q[(slice(n, None), *place)]).all()
        assert [(e.name, e.t) for e in run.events if e.robot == place] == [(e.name, e.t) for e in alone.events]
        assert all(np.array_equal(run.forces[x][(slice(n), *place)], alone.forces[x][:n]) for x in alone.forces)
    if how == "events":
        assert len({e.t for e in run.events if e.name == "down"}) == 6
    run.save(tmp_path / "run.npz")
    loaded = sim.load(tmp_path / "run.npz")
    check_equal(loaded, run)
    options = {name: options[name] for name in ("events",) if name in options}
    check_equal(sim.replay(model, loaded, **options), run)


def test_ctrl_c_keeps_the_robots_that_are_done():
    model, calls = ff.robots.chain(1), []

    def value(state):
        calls.append(state.t)
        if len(calls) > 45:
            raise KeyboardInterrupt
        return state.q[0] + 5.0

    run = sim.simulate(model, np.full((4, 1), 0.5), np.zeros((4, 1)), dt=0.01, duration=0.1, events=sim.Event("never", value))
    assert run.failure.startswith("robot 2: ")
    assert np.isfinite(run.q[:, :2]).all()
    assert np.isnan(run.q[:, 3]).all()


def test_bad_numbers_of_a_batch_are_sentences():
    given = falling(fresh("bad"))
    refused(ff.InputError, r"friction\[2\] must be a number of 0 or more", sim.Ground, friction=[0.1, 0.2, -0.3])
    with pytest.raises(ff.InputError, match=r"friction of the ground is given for robots \(3,\)"):
        sim.simulate(**given | {"ground": sim.Ground(friction=[0.1, 0.2, 0.3])})
    refused(ff.InputError, r"gravity is given for robots \(3,\)", lambda: sim.simulate(**given | {"gravity": np.zeros((3, 3))}))
    refused(ff.InputError, "gravity", lambda: sim.simulate(**given | {"gravity": np.full((N, 3), np.nan)}))


@pytest.mark.parametrize("closed", [False, True])
def test_constraints_hold_each_robot_where_it_begins(closed):
    """A batch on two soles, each elsewhere: bits do not depend on the others, and drifts are removed robot by robot."""
    model = ff.close_loops(ff.robots.kangaroo_like()) if closed else ff.robots.humanoid()
    q0 = ff.control.stand_on_feet(model).q if closed else ff.robots.standing_posture(model)
    feet = ff.control.stand_on_feet(model).feet if closed else ff.contacts.feet_by_name(model)
    feet = [foot.held_at(None) for foot in feet]
    stance, rng = ff.ConstraintSet(model, contacts=feet), fresh("stances")
    q = np.tile(q0, (5, 1))
    q[:, :3] += rng.normal(0.0, 1.0, (5, 3))
    tau, options = rng.normal(0.0, 5.0, model.nv), {"constraints": stance, "dt": 2e-3, "duration": 0.02}
    v = ff.project_velocity(model, q, rng.normal(0.0, 0.3, (5, model.nv)), constraints=stance)
    run = sim.simulate(model, q, v, tau, **options)
    for k in range(5):
        part = slice(k, k + 1)
        one = sim.simulate(model, q[part], v[part], tau, **options)
        assert np.array_equal(run.q[:, part], one.q)
        assert np.array_equal(run.v[:, part], one.v)
        alone = sim.simulate(model, q[k], v[k], tau, **options)
        assert np.allclose(run.q[:, k], alone.q, rtol=0.0, atol=1e-12)
        assert all(np.allclose(run.forces[name][:, k], F, rtol=1e-9, atol=1e-9) for name, F in alone.forces.items())
        assert np.abs(stance.anchored(q[k]).residual(run.q[:, k])).max() < 1e-10
    with pytest.raises(ff.InputError, match=r"q violates the constraints: row '.*' by"):
        sim.simulate(model, q, v, tau, **options | {"constraints": stance.anchored(q[0])})
