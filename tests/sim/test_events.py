"""Events: located to rounding, recorded, acted upon; contacts that open and close; what chatters is refused in words."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from freeflyer import sim
from sim_samples import G, stone


@pytest.mark.parametrize("integrator", ["rk4", "dop853", "radau"])
def test_times_of_events_are_exact(integrator):
    """The apex of a throw, and the floor: parabolas are in the reach of all of these."""
    model, q, v = stone()
    v[2] = 3.0
    apex = sim.Event("apex", lambda s: s.v[2], -1)
    floor = sim.Event("floor", lambda s: s.q[2] - 0.1, -1, terminal=True)
    run = sim.simulate(model, q, v, dt=0.05, duration=5.0, events=(apex, floor), integrator=integrator)
    expected = 3.0 / G, (3.0 + np.sqrt(9.0 + 2.0 * G)) / G
    assert [e.name for e in run.events] == ["apex", "floor"]
    np.testing.assert_allclose([e.t for e in run.events], expected, atol=1e-9)
    assert abs(run.t[-1] - expected[1]) < 1e-9
    assert abs(run.q[-1, 2] - 0.1) < 1e-8


def test_a_bouncing_stone_follows_its_law_until_it_chatters():
    """Each flight is `e` times as long as the one before; where they become too short for any step, there is an error."""
    model, q, v = stone()
    e = 0.5
    bounce = sim.Event("bounce", lambda s: s.q[2] - 0.1, -1, action=lambda s: sim.Change(v=s.v * [1, 1, -e, 1, 1, 1]))
    run = sim.simulate(model, q, v, dt=0.02, duration=3.0, events=bounce)
    times = np.array([x.t for x in run.events])
    first = np.sqrt(2.0 / G)
    np.testing.assert_allclose(times[:8], first + 2.0 * first * np.cumsum(np.r_[0.0, e ** np.arange(1, 8)]), atol=1e-8)
    assert "bounce' chatters at 1.35" in run.failure
    assert run.q[:, 2].min() > 0.1 - 1e-9
    assert run.events[0].v_after[2] == -e * run.events[0].v[2]


def test_directions_and_names():
    model, q, v = stone()
    v[3] = 20.0
    waves = [sim.Event(n, lambda s: np.sin(20.0 * s.t + 0.1), d) for n, d in (("up", 1), ("down", -1), ("both", 0))]
    run = sim.simulate(model, q, v, dt=0.01, duration=0.9, events=waves)
    names = [e.name for e in run.events]
    assert names.count("both") == names.count("up") + names.count("down") == 5
    times = [e.t for e in run.events if e.name == "both"]
    np.testing.assert_allclose(times, (np.pi * np.arange(1, 6) - 0.1) / 20.0, atol=1e-10)


def test_a_stone_lands_and_is_lifted():
    """It lands flat (a plastic impact), stays while it is pressed, and leaves when the lift passes its weight."""
    model, q, v = stone(0.2)
    v[0] = 0.4
    stance = ff.ConstraintSet(model, [ff.contacts.surface("sole", friction=0.5)])

    def lift(t, q, v):
        return np.array([0.0, 0.0, max(0.0, 40.0 * (t - 0.5)), 0.0, 0.0, 0.0])

    run = sim.simulate(model, q, v, lift, dt=0.01, duration=1.2, constraints=ff.ConstraintSet(model),
        events=sim.unilateral_events(stance))  # fmt: skip
    landed, weight = np.sqrt(2.0 * 0.2 / G), 2.0 * G
    assert [e.name for e in run.events] == ["sole closes", "sole opens"]
    np.testing.assert_allclose([e.t for e in run.events], [landed, 0.5 + weight / 40.0], atol=1e-9)
    assert np.abs(run.events[0].v_after).max() < 1e-12
    assert [e.holding for e in run.events] == [("sole",), ()]
    pressed = (run.t > landed) & (run.t < 0.5)
    np.testing.assert_allclose(run.forces["sole"][pressed, 2], weight, rtol=1e-9)
    assert np.isnan(run.forces["sole"][run.t < landed]).all()
    assert np.abs(run.v[-1, 2] - 20.0 / 2.0 * (1.2 - 0.5 - weight / 40.0) ** 2) < 1e-6


def test_a_push_beyond_friction_is_recorded():
    model, q, v = stone(0.0)
    stance = ff.ConstraintSet(model, [ff.contacts.surface("sole", friction=0.5)])
    push = lambda t, q, v: np.array([30.0 * t, 0.0, 0.0, 0.0, 0.0, 0.0])
    run = sim.simulate(model, q, v, push, dt=0.01, duration=0.5, constraints=stance, events=sim.unilateral_events(stance))
    assert [e.name for e in run.events] == ["sole slips"]
    assert abs(run.events[0].t - 0.5 * 2.0 * G / 30.0) < 1e-9


def test_a_quadruped_lands_on_four_feet():
    model = ff.robots.quadruped()
    q = np.array(ff.robots.standing_posture(model))
    feet = [ff.contacts.point(f"{a}_{b}_foot", friction=0.8) for a in ("front", "rear") for b in ("left", "right")]
    q[2] += 0.05
    posture = q[7:].copy()

    def servos(t, q, v):
        return np.concatenate([np.zeros(6), -300.0 * (q[7:] - posture) - 10.0 * v[6:]])

    stance = ff.ConstraintSet(model, feet)
    run = sim.simulate(model, q, np.zeros(model.nv), servos, dt=2e-3, duration=1.5, constraints=ff.ConstraintSet(model),
                       events=sim.unilateral_events(stance))  # fmt: skip
    assert run.failure is None
    assert sorted(e.name for e in run.events) == sorted(f"{c.name} closes" for c in feet)
    assert abs(run.events[0].t - np.sqrt(2.0 * 0.05 / G)) < 1e-6
    weight = sum((ff.frame_pose(model, run.q[-1], n)[:3, :3] @ F[-1, :3])[2] for n, F in run.forces.items())
    assert abs(weight - G * model.mass) < 0.05 * G * model.mass
    heights = [ff.frame_pose(model, run.q, c.frame)[:, 2, 3] for c in feet]
    assert np.min(heights) > -1e-9
    lost = np.diff([ff.kinetic_energy(model, e.q, w) for e in run.events for w in (e.v, e.v_after)])[::2]
    assert (lost < 1e-12).all()  # plastic impacts lose energy


def test_a_sole_that_lands_tilted_ends_the_run():
    model, q, v = stone(0.2)
    q = ff.integrate(model, q, [0.0, 0.0, 0.0, 0.1, 0.05, 0.0])
    stance = ff.ConstraintSet(model, [ff.contacts.surface("sole")])
    events = sim.unilateral_events(stance)
    run = sim.simulate(model, q, v, dt=0.01, duration=1.0, constraints=ff.ConstraintSet(model), events=events)
    assert "lands tilted" in run.failure
    assert 5 < len(run.t) < 30


def test_contacts_close_on_the_planes_of_their_normals():
    """A rod falls on a slope; the run gives its force in the contact's axes, whose third is the normal one."""
    rng = fresh()
    model = ff.robots.chain(1, base="free")
    n = np.array([*rng.uniform(-0.2, 0.2, 2), 1.0])
    n /= np.linalg.norm(n)
    stance = ff.ConstraintSet(model, [ff.contacts.point("tip", normal=7.0 * n)])
    q = ff.integrate(model, np.array([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0, 0.0]), np.r_[np.zeros(3), rng.uniform(-0.3, 0.3, 3), 0.0])
    run = sim.simulate(model, q, np.zeros(7), dt=0.01, duration=0.4, constraints=ff.ConstraintSet(model),
                       events=sim.unilateral_events(stance, height=0.05))  # fmt: skip
    closes = next(e for e in run.events if e.name == "tip closes")
    assert abs(ff.frame_pose(model, closes.q, "tip")[:3, 3] @ n - 0.05) < 1e-9
    held = ~np.isnan(run.forces["tip"]).any(axis=1)
    assert held.sum() > 3
    R = ff.frame_pose(model, run.q, "tip")[:, :3, :3]
    normal = (R @ run.forces["tip"][:, :3, None])[..., 0] @ n
    close(run.wrenches(stance)["tip"][held, 2], normal[held], 1e-9)
    assert normal[held][0] > 0.0
    refused(ff.InputError, "ConstraintSet", run.wrenches, model)
    refused(ff.InputError, "another robot", lambda: run.wrenches(ff.ConstraintSet(ff.robots.chain(2))))


def test_bad_events_are_refused():
    model, q, v = stone()
    refused(ff.InputError, "direction", sim.Event, "x", lambda s: 1.0, 2)
    refused(ff.InputError, "name", sim.Event, "", lambda s: 1.0)
    refused(ff.InputError, "functions", sim.Event, "x", 3.0)
    refused(ff.InputError, "number", lambda: sim.simulate(model, q, v, dt=0.01, duration=0.1, events=sim.Event("x", lambda s: s.v)))
    refused(ff.InputError, "contacts that open", lambda: sim.unilateral_events(ff.ConstraintSet(model)))
    stance = ff.ConstraintSet(model, [ff.contacts.surface("sole")])
    refused(ff.InputError, "height", sim.unilateral_events, stance, height=np.zeros(2))


def test_an_event_that_another_one_settles_is_recorded_alone():
    """Of two events at one time, the action of the first leaves the second undefined: its own action is not called."""
    done = []
    first = sim.Event("first", lambda s: s.q[0], action=lambda s: done.append("first"))
    second = sim.Event("second", lambda s: np.nan if done else s.q[0], action=lambda s: done.append("second"))
    run = sim.simulate(ff.robots.chain(1), [0.5], [0.0], dt=0.01, duration=0.2, events=[first, second])
    assert (done, [e.name for e in run.events]) == (["first"], ["first", "second"])
    assert run.events[0].t == run.events[1].t
