"""Cases that go wrong easily: forces that jump at samples, starts on the floor, impacts under dampers, arrays used again, files."""

import freeflyer as ff
import numpy as np
import pytest
import zipfile
from closeness import fresh, refused
from dataclasses import replace
from freeflyer import sim
from freeflyer.errors import FileError, FreeflyerError, InputError
from test_events import G, stone


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


def test_errors_of_your_own_functions_bring_the_run():
    model, q, v = stone()

    def breaks(t, q, v):
        return np.zeros(6) / (1 if t < 0.25 else 0 // (t > 9.0))

    with pytest.raises(ZeroDivisionError) as caught:
        sim.simulate(model, q, v, breaks, dt=0.1, duration=0.5, hold=True)
    assert len(caught.value.run.t) == 3
    assert "attribute `run`" in caught.value.__notes__[0]


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


def test_sensing_out_of_range():
    refused(InputError, "", sim.Sensing, position_noise=[[1], [1, 2]])


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
