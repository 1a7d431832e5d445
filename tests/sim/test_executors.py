"""Batches on executors and over unlike robots give the same runs; records are read back as they were written."""

import freeflyer as ff
import numpy as np
import os
import pytest
import signal
import subprocess
import sys
import tracemalloc
from closeness import fresh, refused
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from freeflyer import sim
from freeflyer.sim import records
from freeflyer.sim.inputs import PartSensing
from freeflyer.sim.parts import gather, grid, part_of_arguments
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from sim_samples import N, UPRIGHT, body, check_equal, falling

COPIES = 4


def many(**changes):
    given = falling(fresh("executors")) | changes
    q, v = (np.concatenate([given[name]] * COPIES) for name in ("q", "v"))
    ground = None if given["ground"] is None else sim.Ground(height=np.concatenate([given["ground"].height] * COPIES))
    gravity = np.concatenate([given["gravity"]] * COPIES)
    return given | {"q": q, "v": v, "inputs": damping, "gravity": gravity, "ground": ground, "duration": 0.03} | changes


def damping(t, q, v):
    return -0.1 * v


def deadly(mark, t, q, v):
    """Damping; the first process that gets to 0.01 s is killed."""
    if t > 0.01:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return damping(t, q, v)


def make(kind):
    return ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.mark.parametrize("kind", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("sensing", [None, sim.Sensing(velocity_noise=0.1, delay=2e-3)])
def test_executors_give_the_same_bits(kind, sensing):
    given, shares = many(sensing=sensing), []
    with make(kind) as executor:
        run = sim.simulate(**given, executor=executor, progress=lambda share, what: shares.append(share))
    check_equal(run, sim.simulate(**given))
    assert len(shares) > 2
    assert shares[-1] == 1.0


def test_parts_are_recorded_in_folders_of_their_own(tmp_path):
    """By an executor, and robots with events one after the other; a part that begins again overwrites what it had written."""
    given = many()
    with make("threads") as executor:
        last = sim.simulate(**given, executor=executor, record=tmp_path / "parts")
    whole = sim.simulate(**given)
    check_equal(sim.load(tmp_path / "parts"), whole)
    assert np.array_equal(last.q, whole.q[-1:])
    assert len(list((tmp_path / "parts").iterdir())) > 2
    model, q = ff.robots.chain(2), fresh("recorded events").uniform(0.2, 0.9, (5, 2))
    given = {"dt": 0.01, "duration": 0.3, "events": sim.Event("turn", lambda state: state.q[0] - 0.1, terminal=True)}
    sim.simulate(model, q, np.zeros((5, 2)), record=tmp_path / "robots", **given)
    check_equal(sim.load(tmp_path / "robots"), sim.simulate(model, q, np.zeros((5, 2)), **given))
    with pytest.raises(ff.errors.FileError, match="holds files already"):
        sim.simulate(model, q, np.zeros((5, 2)), record=tmp_path / "robots", **given)


@pytest.mark.slow
def test_arguments_that_cannot_be_sent_are_named():
    with make("processes") as executor, pytest.raises(ff.InputError, match="cannot be sent to other processes"):
        sim.simulate(**many(inputs=lambda t, q, v: -v), executor=executor)


@pytest.mark.slow
def test_a_dask_worker_that_is_killed_is_replaced(tmp_path):
    distributed = pytest.importorskip("distributed")
    given = many(inputs=partial(deadly, str(tmp_path / "mark")))
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        sim.simulate(**given, executor=client, record=tmp_path / "run")
    assert (tmp_path / "mark").exists()
    check_equal(sim.load(tmp_path / "run"), sim.simulate(**given))


def chain(**options):
    wall = sim.Event("wall", lambda state: state.q[0], -1, action=lambda state: sim.Change(v=-0.5 * state.v))
    given = {"dt": 1e-3, "duration": 0.5, "events": wall} | options
    return sim.simulate(ff.robots.chain(1), [0.5], [0.0], **given)


@pytest.mark.parametrize("kind", ["events", "ground"])
def test_a_run_in_pieces_is_the_run_in_memory(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PIECE", 1000 if kind == "events" else 20_000)
    given = falling(fresh("pieces"))

    def run(**more):
        return chain(**more) if kind == "events" else sim.simulate(**given, **more)

    whole, last = run(), run(record=tmp_path / "run")
    files = sorted((tmp_path / "run").iterdir())
    assert len(files) > 5
    assert files[-1].name.endswith("_end.npz")
    check_equal(sim.load(files[-1]), last)
    check_equal(sim.load(tmp_path / "run"), whole)
    assert len(whole.events) == (2 if kind == "events" else 0)
    refused(ff.errors.FileError, "holds files already", lambda: run(record=tmp_path / "run"))
    check_equal(sim.load(tmp_path / "run"), whole)


@pytest.mark.parametrize("kind", ["events", "ground", "chunks"])
def test_samples_at_a_chosen_period(kind):
    given = falling(fresh("period"))

    def run(**more):
        if kind == "events":
            return chain(**more)
        if kind == "chunks":
            return sim.simulate(ff.robots.chain(2), [0.5, 0.0], [0.0, 0.0], dt=1e-3, duration=0.5, **more)
        return sim.simulate(**given, **more)

    whole, sparse = run(), run(every=7e-3)
    kept = [*range(0, len(whole.t) - 1, 7), len(whole.t) - 1]
    for name in ("t", "q", "v", "tau"):
        assert np.array_equal(getattr(sparse, name), getattr(whole, name)[kept])
    assert all(np.array_equal(x, whole.ground[name][kept]) for name, x in sparse.ground.items())
    assert [e.t for e in sparse.events] == [e.t for e in whole.events]
    if kind == "chunks":
        check_equal(sim.replay(ff.robots.chain(2), sparse), sparse)
    for wrong in (1.5e-3, 1e-4, -1.0):
        refused(ff.InputError, "every must be", run, every=wrong)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_ctrl_c_and_errors_keep_the_robots_that_are_done(error):
    """Robots one after the other: the run so far is that of the batch, with NaN behind its end."""
    def inputs(t, q, v):
        if q[0] > 0.9 and t > 0.05:
            raise error
        return np.zeros(2)

    starts = np.array([[0.1, 0.0], [1.0, 0.0], [0.2, 0.0]])
    with pytest.raises(error) as caught:
        sim.simulate(ff.robots.chain(2), starts, 0.0 * starts, inputs, dt=0.01, duration=0.1, integrator="rk45")
    run = caught.value.run
    assert run.q.shape == (11, 3, 2)
    assert run.failure.startswith("robot 1: ")
    assert np.isfinite(run.q).all(axis=2).sum(axis=0)[[0, 2]].tolist() == [11, 0]
    assert 1 < np.isfinite(run.q[:, 1, 0]).sum() < 11


def test_ctrl_c_and_errors_keep_what_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PIECE", 500)

    def inputs(t, q, v, error=KeyboardInterrupt):
        if t > 0.3:
            raise error
        return np.zeros(1)

    with pytest.raises(KeyboardInterrupt) as caught:
        chain(inputs=inputs)
    with pytest.raises(KeyboardInterrupt):
        chain(record=tmp_path / "a", inputs=inputs)
    run = sim.load(tmp_path / "a")
    assert run.failure == "at 0.3 s: interrupted"
    assert np.array_equal(run.q, caught.value.run.q)
    refused(ZeroDivisionError, "", lambda: chain(record=tmp_path / "b", inputs=lambda t, q, v: inputs(t, q, v, ZeroDivisionError)))
    assert "ZeroDivisionError" in sim.load(tmp_path / "b").failure
    assert np.array_equal(sim.load(tmp_path / "b").q, run.q)


def test_a_process_that_is_killed_leaves_a_record(tmp_path):
    program = f"""
import os, freeflyer as ff
from freeflyer.sim import records
records.PIECE = 500
law = lambda t, q, v: os._exit(3) if t > 0.3 else [0.0]
ff.sim.simulate(ff.robots.chain(1), [0.5], [0.0], law, dt=1e-3, duration=0.5, record={str(tmp_path / "run")!r})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 3
    run = sim.load(tmp_path / "run")
    assert "the record was cut off" in run.failure
    assert 0.25 < run.t[-1] < 0.3
    alone = sim.simulate(ff.robots.chain(1), [0.5], [0.0], lambda t, q, v: [0.0], dt=1e-3, duration=0.5)
    assert np.array_equal(run.q, alone.q[: len(run.t)])


def test_memory_stays_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PIECE", 100_000)
    model, peaks = ff.robots.chain(4), []
    q, v = np.zeros((50, 4)), np.zeros((50, 4))
    for k, duration in enumerate((0.1, 0.1, 0.8)):
        tracemalloc.start()
        sim.simulate(model, q, v, lambda t, q, v: -v, dt=1e-3, duration=duration, record=tmp_path / str(k), hold=True)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.3 * peaks[1]


def test_folders_that_cannot_be_used_are_sentences(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path, match in ((tmp_path / "file", "cannot be used as a folder"), ("", "empty")):
        refused(ff.errors.FileError, match, chain, record=path)
    assert (tmp_path / "file").read_text() == "mine"
    refused(ff.errors.FileError, "no pieces", sim.load, tmp_path)


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


def test_each_robot_has_its_own_friction_restitution_height_and_gravity():
    """Spheres that slide, bounce, and rest, by closed forms."""
    model = body(1.0, (1e9, 1e9, 1e9))  # it does not begin to turn
    mu, height, g = np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, -1.0]), np.array([9.0, 5.0, 1.0])
    q = np.tile(UPRIGHT, (3, 1))
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
        refused(ff.InputError, "from 0 on and rising", sim.simulate, model, np.zeros(2), np.zeros(2), wrong, dt=0.01, duration=0.1)


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


@pytest.mark.parametrize("how", [{"integrator": "rk45"}, {"events": [sim.Event("half", lambda state: state.t - 0.0155)]}, {}])
@pytest.mark.parametrize("tails", [(), (6,), (3,)])
def test_wrenches_of_each_robot(how, tails):
    """By names, or of prepared frames, on robots that run apart, too; those of more robots than there are are refused."""
    model, rng = ff.robots.chain(2), fresh("wrenches of each")
    q, v = rng.uniform(-1.0, 1.0, (2, 5, 2))
    W = rng.standard_normal((5, *(tails or (6,))))
    loads = (lambda w: {"tip": w}) if not tails else (lambda w: (ff.frame_set(model, "tip"), w[..., None, :]))
    options = {"dt": 1e-3, "duration": 0.02, **how}
    run = sim.simulate(model, q, v, external=loads(W), **options)
    for k in range(5):
        alone = sim.simulate(model, q[k], v[k], external=loads(W[k]), **options)
        assert np.allclose(run.q[:, k], alone.q, rtol=0.0, atol=1e-13)
    words = r"external is given for robots \(5,\), but q and v have leading axes \(\)"
    refused(ff.InputError, words, sim.simulate, model, q[0], v[0], external=loads(W), **options)
    refused(ff.InputError, words, sim.simulate, model, q[0], v[0], external=lambda t, q, v: loads(W), **options)
    ground = {"ground": sim.Ground(height=-9.0), "contacts": [ff.contacts.point("tip")], "dt": 1e-3, "duration": 0.02}
    refused(ff.InputError, words, sim.simulate, model, q[0], v[0], external=loads(W), **ground)
    refused(ff.InputError, r"external.*\(4,", sim.simulate, model, q, v, external=loads(W[:4]), **options)


def test_bad_numbers_of_a_batch_and_executors_are_sentences():
    given = falling(fresh("bad"))
    refused(ff.InputError, "executor must be", sim.simulate, **given, executor=3)
    with make("threads") as executor, pytest.raises(ff.InputError, match="leading axes"):
        sim.simulate(ff.robots.chain(1), [0.0], [0.0], dt=0.01, duration=0.1, executor=executor)
    refused(ff.InputError, r"friction\[2\] must be a number of 0 or more", sim.Ground, friction=[0.1, 0.2, -0.3])
    refused(ff.InputError, "^friction", sim.Ground, friction=[[0.1, 0.2], [0.3]])
    refused(ff.InputError, "", sim.Sensing, position_noise=[[1], [1, 2]])
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
