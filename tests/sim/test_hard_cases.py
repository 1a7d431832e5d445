"""Cases that go wrong easily: forces that jump, starts on the floor, impacts, arrays used again, files; reasons in words."""

import freeflyer as ff
import numpy as np
import pytest
import zipfile
from closeness import fresh, refused
from dataclasses import replace
from freeflyer import sim
from freeflyer.errors import FileError, FreeflyerError, InputError
from sim_samples import G, UPRIGHT, stone


def sole(model: ff.Model) -> ff.ConstraintSet:
    return ff.ConstraintSet(model, [ff.contacts.surface("sole", friction=0.5)])


def test_held_forces_that_jump_open_a_contact():
    model, q, v = stone(0.0)
    lift = lambda t, q, v: np.array([0.0, 0.0, 40.0 if t >= 0.1 else 0.0, 0.0, 0.0, 0.0])
    stance = sole(model)
    events = sim.unilateral_events(stance)
    run = sim.simulate(model, q, v, lift, dt=0.01, duration=0.3, constraints=stance, events=events, hold=True)
    assert [e.name for e in run.events] == ["sole opens"]
    assert abs(run.events[0].t - 0.1) < 1e-12
    assert abs(run.v[-1, 2] - (20.0 - G) * 0.2) < 1e-9


@pytest.mark.parametrize("speed", [0.0, -0.5])
def test_a_body_that_begins_on_the_floor_stays_there(speed):
    model, q, v = stone(0.0)
    v[2] = speed
    events = sim.unilateral_events(sole(model))
    run = sim.simulate(model, q, v, dt=0.01, duration=0.3, constraints=ff.ConstraintSet(model), events=events)
    assert ([e.name for e in run.events], run.events[0].holding) == (["start"], ("sole",))
    assert np.abs(run.q[:, 2] - q[2]).max() < 1e-9


def test_a_flat_sole_that_turns_on_the_floor_strikes_it_with_the_side_that_sinks():
    model, q, v = stone(0.0)
    v[3] = 1.0
    stance = ff.ConstraintSet(model, [ff.contacts.surface("sole", size=(0.2, 0.1), friction=0.5)])
    held = {"constraints": ff.ConstraintSet(model), "events": sim.unilateral_events(stance)}
    run = sim.simulate(model, q, v, dt=0.01, duration=0.05, **held)
    assert [(e.name, e.t) for e in run.events] == [("start", 0.0)]
    assert np.abs(run.events[0].v_after).max() < 1e-12


def test_a_contact_that_is_pulled_from_the_start_opens():
    model, q, v = stone(0.0)
    stance = sole(model)
    run = sim.simulate(model, q, v, [0.0, 0.0, 40.0, 0.0, 0.0, 0.0], dt=0.01, duration=0.3, constraints=stance,
                       events=sim.unilateral_events(stance))  # fmt: skip
    assert run.events[0].holding == ()
    assert abs(run.v[-1, 2] - (20.0 - G) * 0.3) < 1e-9
    q[2] -= 0.01
    with pytest.raises(InputError, match=r"'sole' is open and begins 0\.01 m below"):
        sim.simulate(model, q, v, dt=0.01, duration=0.3, constraints=ff.ConstraintSet(model), events=sim.unilateral_events(stance))


def test_forces_after_an_impact_are_those_of_the_new_velocity():
    """A damper pushed upwards before it; after it there is no velocity, and nothing lifts the stone."""
    model, q, v = stone(0.05)
    v[2] = -2.0
    damper = lambda t, q, v: np.array([0.0, 0.0, -60.0 * v[2], 0.0, 0.0, 0.0])
    run = sim.simulate(model, q, v, damper, dt=2e-3, duration=0.2, constraints=ff.ConstraintSet(model),
                       events=sim.unilateral_events(sole(model)))  # fmt: skip
    assert [(e.name, e.holding) for e in run.events] == [("sole closes", ("sole",))]
    assert abs(run.q[-1, 2] - 0.1) < 1e-8
    stop = sim.Event("stop", lambda s: s.t - 0.005, terminal=True, action=lambda s: sim.Change(v=0.0 * s.v))
    run = sim.simulate(model, q, v, lambda t, q, v: -v, dt=2e-3, duration=0.2, events=stop)
    assert (run.v[-1] == 0.0).all()
    assert (run.tau[-1] == 0.0).all()


@pytest.mark.parametrize("apart", [1e-8, 1e-10, 1e-11, 1e-12, 1e-13, 0.0])
def test_two_events_close_together_both_take_place(apart):
    model, q, v = stone()
    pair = [sim.Event("a", lambda s: s.q[2] - 0.5), sim.Event("b", lambda s: s.q[2] - 0.5 + apart)]
    run = sim.simulate(model, q, v, dt=0.02, duration=0.6, events=pair)
    assert run.failure is None
    assert sorted(e.name for e in run.events) == ["a", "b"]


def test_values_of_many_states_give_the_same_events():
    """Several events in a step, the last of which turns the velocity; looked at one by one, and together."""
    model, q, v = stone()
    heights, runs = 0.5 - np.sort(fresh("heights").uniform(0.0, 0.05, 4)), []

    def bounce(s):
        return sim.Change(v=-0.5 * s.v)

    for leading in (False, True):
        events = [sim.Event(f"{k}", lambda s, z=z: s.q[..., 2] - z, -1, leading=leading, action=bounce if k == 3 else None)
                  for k, z in enumerate(heights)]  # fmt: skip
        runs.append(sim.simulate(model, q, v, dt=0.02, duration=0.6, events=events))
    one, many = runs
    assert [e.name for e in one.events] == [e.name for e in many.events] == ["0", "1", "2", "3"]
    assert np.abs(np.subtract([e.t for e in one.events], [e.t for e in many.events])).max() < 1e-12
    assert np.abs(one.q - many.q).max() < 1e-10


def test_arrays_may_be_used_again():
    """A controller that returns the same array each time, and writes to what it is shown."""
    model, q, v = stone()
    buffer = np.zeros(6)

    def controller(t, q, v):
        buffer[:] = t
        return buffer

    run = sim.simulate(model, q, v, controller, dt=0.1, duration=0.5, hold=True)
    np.testing.assert_allclose(run.tau[:, 0], 0.1 * np.arange(6), atol=1e-12)

    def writes(t, q, v):
        q[0] = 5.0
        return np.zeros(6)

    refused(ValueError, "read-only", sim.simulate, model, q, v, writes, dt=0.1, duration=0.5)


@pytest.mark.parametrize("integrator", ["lsoda", "radau", "dop853", "rk4"])
def test_an_event_just_before_a_sample(integrator):
    model, q, v = stone()
    run = sim.simulate(model, q, v, dt=0.01, duration=0.05, events=sim.Event("e", lambda s: s.t - (0.03 - 1e-12)),
                       integrator=integrator)  # fmt: skip
    assert run.failure is None
    assert [e.name for e in run.events] == ["e"]


@pytest.mark.parametrize(("change", "word"), [
    (sim.Change(v="fast"), "event 'x' returns an invalid change"), (sim.Change(v=np.full(6, np.nan)), "'x' returns.*finite"),
    (sim.Change(q=np.zeros(3)), "q has shape"), (sim.Change(constraints="a"), "freeflyer ConstraintSet"), (3, "must return"),
])  # fmt: skip
def test_changes_that_cannot_be_are_refused(change, word):
    model, q, v = stone()
    event = sim.Event("x", lambda s: s.t - 0.005, action=lambda s: change)
    refused(InputError, word, sim.simulate, model, q, v, dt=0.01, duration=0.1, events=event)


def test_a_set_that_stops_the_robot_asks_for_an_impact():
    model, q, v = stone()
    stance = sole(model)
    event = sim.Event("grip", lambda s: s.t - 0.055, action=lambda s: sim.Change(constraints=stance))
    run = sim.simulate(model, q, v, dt=0.01, duration=0.1, events=event)
    assert "freeflyer.impact" in run.failure
    grip = lambda s: sim.Change(v=ff.impact(model, s.q, s.v, constraints=stance).v, constraints=stance)
    run = sim.simulate(model, q, v, dt=0.01, duration=0.1, events=replace(event, action=grip))
    assert run.failure is None
    assert np.abs(run.v[-1]).max() < 1e-12


@pytest.mark.parametrize(("arguments", "word"), [
    ({"inputs": np.zeros((3, 6))}, "shape"), ({"inputs": lambda t, q, v: np.zeros((3, 6))}, "shape"),
    ({"sensing": sim.Sensing(delay=0.004)}, "multiple of dt"), ({"sensing": sim.Sensing(), "hold": False}, "hold="),
])  # fmt: skip
def test_shapes_and_times_that_do_not_fit(arguments, word):
    model, q, v = stone()
    given = {"q": q, "v": v, "dt": 0.01, "duration": 0.1} | arguments
    refused(InputError, word, sim.simulate, model, **given)


def test_files_that_are_no_runs(tmp_path):
    model, q, v = stone()
    run = sim.simulate(model, q, v, dt=0.1, duration=0.3)
    path = tmp_path / "run.npz"
    run.save(path)
    whole = path.read_bytes()
    broken = [b"", whole[:4], whole[: len(whole) // 2], whole[:200] + bytes(100) + whole[300:], b"PK no run"]
    for content in broken:
        path.write_bytes(content)
        refused(FileError, "no run", sim.load, path)
    refused(FileError, r"^cannot read .*: No such file or directory$", lambda: sim.load(tmp_path / "none.npz"))
    arrays = {"t": np.arange(3.0), "q": np.zeros((3, 7)), "v": np.zeros((3, 6)), "tau": np.zeros((3, 6))}
    head = '{"format": "freeflyer run 1", "failure": null, "settings": {}, "robot": "", "digest": "", "forces": [], "events": []}'
    for change in (
        {"t": np.zeros(0), "q": np.zeros((0, 7))}, {"t": np.zeros(3, complex)}, {"q": np.zeros((4, 7))}, {"q": np.array(["a"] * 3)},
        {"head": np.array(head.replace("{}", "3"))}, {"head": np.array(head.replace("null", "3"))}, {"head": np.array("[" * 10**5)},
        {"head": np.array(head.replace("run 1", "run 2"))}, {"t": np.array([object()] * 3)},
    ):  # fmt: skip
        np.savez(path, **({"head": np.array(head)} | arrays | change))
        refused(FileError, "", sim.load, path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("head.npy", b"x")
        archive.infolist()[0].file_size = 2**40
    refused(FileError, "", sim.load, path)
    np.savez(path, head=np.array(head), **arrays)
    assert sim.load(path).t.tolist() == [0.0, 1.0, 2.0]


def test_replays_of_what_was_not_simulated_here():
    model, q, v = stone()
    run = sim.simulate(model, q, v, dt=0.1, duration=0.3)
    assert (sim.replay(model, run).q == run.q).all()
    for settings in ({}, {"nose": 1}, dict(run.settings) | {"sensing": {"nose": 1}}, dict(run.settings) | {"simulator": "MuJoCo"}):
        refused(InputError, "", sim.replay, model, replace(run, settings=settings))
    refused(FreeflyerError, "", sim.replay, model, 3)


@pytest.mark.parametrize("inputs", [None, lambda t, q, v: 0.0 * v])
def test_a_linkage_that_passes_a_singular_posture_ends_the_run(inputs):
    """Thrown with these velocities a loop of the robot folds over within a step of 1 ms; energy is kept up to then. It ends the
    run of a batch, too."""
    model = ff.close_loops(ff.robots.kangaroo_like())
    thrown = np.random.default_rng(2).normal(0.0, 1.0, model.nv)
    run = ff.sim.simulate(model, model.neutral, thrown, inputs, dt=1e-3, duration=0.02)
    assert "singular posture" in run.failure
    assert 0.005 < run.t[-1] < 0.015
    energy = ff.kinetic_energy(model, run.q, run.v) + ff.potential_energy(model, run.q)
    assert np.ptp(energy) < 1e-3
    both = np.tile(model.neutral, (2, 1)), np.stack([0.01 * thrown, thrown])
    assert "singular posture" in ff.sim.simulate(model, *both, inputs, dt=1e-3, duration=0.02).failure
    assert ff.sim.simulate(model, *(x[:1] for x in both), inputs, dt=1e-3, duration=0.02).failure is None


LATE = 0.02  # s
WAYS = {"ground": {"ground": True}, "compiled": {"hold": True}, "rk4": {}, "rk45": {"integrator": "rk45"},
        "batch": {"hold": True, "lead": 3}, "batch on ground": {"ground": True, "lead": 3}}  # fmt: skip


def standing(inputs=None, dt=1e-3, duration=0.05, ground=None, lead=0, friction=0.8, **options):
    model = ff.robots.humanoid()
    q = ff.robots.standing_posture(model)
    if ground:
        options |= {"ground": ff.sim.Ground(friction=friction), "contacts": ff.contacts.feet_by_name(model)}
    q = np.tile(q, (lead, 1)) if lead else q
    return model, ff.sim.simulate(model, q, np.zeros(model.nv), inputs, dt=dt, duration=duration, **options)


def block(foot_mass: float, lower: float = -1.0) -> ff.Model:
    foot = ff.Link("foot", ff.Inertia(foot_mass)) if foot_mass else ff.Link("foot")
    links = ff.Link("body", ff.Inertia(1.0, rotational=np.diag([0.1] * 3))), foot
    ankle = ff.Joint("ankle", "prismatic", "body", "foot", lower=(lower,), upper=(1.0,))
    joints = ff.Joint("base", "free", "world", "body"), ankle
    return ff.build(ff.Description("block", links, joints))


def on_ground(model, q, v=None, **ground):
    v = np.zeros(model.nv) if v is None else v
    return ff.sim.simulate(model, q, v, dt=1e-3, duration=0.05, ground=ff.sim.Ground(**ground), contacts=ff.contacts.point("foot"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e140])
def test_a_controller_that_goes_wrong_ends_the_run_with_its_joint(way, value):
    options = WAYS[way]

    def inputs(t, q, v):
        tau = np.zeros(v.shape)
        tau[..., -3] = value if t > LATE + 1e-9 else 0.0
        return tau

    if value == 1e140 and way in ("rk4", "rk45"):
        pytest.skip("these evaluate the law within a step")
    model, run = standing(inputs, **options)
    joint = next(j.name for j in model.joints if j.iv == model.nv - 3)
    assert run.failure.startswith("at 0.02")
    assert repr(joint) in run.failure
    assert 20 <= len(run.t) <= 22
    assert np.isfinite(run.q).all()
    reference = standing(**options)[1]
    assert np.allclose(run.q[:20], reference.q[:20], rtol=0.0, atol=1e-12)
    if not np.isfinite(value):
        assert f"is {value}: every entry must be finite" in run.failure


def test_a_start_below_the_ground_or_with_endless_forces_is_refused():
    refused(ff.InputError, "inputs", standing, lambda t, q, v: np.full(v.shape, np.inf))
    model = block(0.1)
    q = np.r_[UPRIGHT, 0.0]
    sunk = q - 0.01 * np.eye(8)[2]
    refused(ff.InputError, r"the robot begins 0.01 m below the ground: lift it", on_ground, model, sunk)
    refused(ff.InputError, r"robot \[1\] begins 0.01 m below the ground", lambda: on_ground(model, np.stack([q, sunk, q])))
    refused(ff.InputError, r"robot \[2\] begins 1 m below the ground", on_ground, model, np.stack([q] * 3), height=[0.0, 0.0, 1.0])
    with pytest.raises(ff.InputError, match=r"joint .ankle. of the robot begins 0.5 .* beyond its limit"):
        on_ground(block(0.1, lower=-0.5), np.r_[UPRIGHT, -1.0] + 5.0 * np.eye(8)[2])
    run = on_ground(model, q - 5e-4 * np.eye(8)[2])  # less than a millimetre: comes out
    assert run.ground["penetration"][-1] < 1e-5


@pytest.mark.parametrize("friction", [1e4, 1e12, 1e40])
def test_huge_friction_sticks(friction):
    run = standing(ground=True, friction=friction, lead=0)[1]
    assert run.failure is None
    assert run.ground["residual"].max() < 1e-8
    v = np.r_[1.0, np.zeros(6)]
    stuck = on_ground(block(0.1), np.r_[UPRIGHT, 0.0], v, friction=friction)
    assert stuck.ground["residual"].max() < 1e-8
    assert abs(ff.frame_velocity(block(0.1), stuck.q[0], stuck.v[1], "foot", "mixed")[0]) < 1e-9
    refused(ff.InputError, "friction must be", lambda: on_ground(block(0.1), np.r_[UPRIGHT, 0.0], friction=np.inf))


def test_feet_without_mass_are_named():
    with pytest.raises(ff.InputError, match="joint 'ankle' moves no inertia") as caught:
        on_ground(block(0.0), np.r_[UPRIGHT, 0.0])
    assert "dt" not in str(caught.value)
    run = on_ground(block(1e-9), np.r_[UPRIGHT, 0.0])
    assert run.failure is None
