"""Batches on executors give the same runs; records are read back as they were written."""

import freeflyer as ff
import numpy as np
import os
import pytest
import signal
import subprocess
import sys
import tracemalloc
from closeness import refused
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from freeflyer import sim
from freeflyer.sim import records
from functools import partial
from multiprocessing import get_context
from seeds import fresh
from sim_batches import check_equal, falling

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


def end_value(state):
    return state.q[0] - 0.1


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
    given = {"dt": 0.01, "duration": 0.3, "events": sim.Event("turn", end_value, terminal=True)}
    sim.simulate(model, q, np.zeros((5, 2)), record=tmp_path / "robots", **given)
    check_equal(sim.load(tmp_path / "robots"), sim.simulate(model, q, np.zeros((5, 2)), **given))
    with pytest.raises(ff.errors.FileError, match="holds files already"):
        sim.simulate(model, q, np.zeros((5, 2)), record=tmp_path / "robots", **given)


def test_events_keep_the_numbers_of_their_robots():
    model = ff.robots.chain(2)
    given = {"dt": 0.01, "duration": 0.3, "events": sim.Event("turn", end_value, terminal=True)}
    q = fresh("event executor").uniform(0.2, 0.9, (20, 2))
    with ThreadPoolExecutor(2) as executor:
        run = sim.simulate(model, q, np.zeros((20, 2)), executor=executor, **given)
    check_equal(run, sim.simulate(model, q, np.zeros((20, 2)), **given))
    assert {e.robot[0] for e in run.events} > {1, 18}


def test_a_batch_that_fails_ends_where_the_first_robot_does():
    model = ff.robots.chain(1)
    law = lambda t, q, v: np.where(np.abs(v) > 2.0, np.nan, 0.0)
    q = np.linspace(0.0, 1.2, 16)[:, None]
    with ThreadPoolExecutor(2) as executor:
        run = sim.simulate(model, q, np.zeros((16, 1)), law, dt=0.01, duration=0.1, hold=True, executor=executor)
    whole = sim.simulate(model, q, np.zeros((16, 1)), law, dt=0.01, duration=0.1, hold=True)
    assert whole.failure is not None
    assert run.failure is not None
    assert np.array_equal(run.q, whole.q)


def test_bad_executors_are_sentences():
    given = many()
    refused(ff.InputError, "executor must be", sim.simulate, **given, executor=3)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ff.InputError, match="leading axes"):
        sim.simulate(ff.robots.chain(1), [0.0], [0.0], dt=0.01, duration=0.1, executor=executor)


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
def test_samples_at_a_chosen_period(kind, tmp_path):
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


def test_ctrl_c_and_errors_keep_what_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "PIECE", 500)

    def inputs(t, q, v, error=KeyboardInterrupt):
        if t > 0.3:
            raise error
        return np.zeros(1)

    chain(record=tmp_path / "a", inputs=inputs)
    run = sim.load(tmp_path / "a")
    assert run.failure == "at 0.3 s: interrupted"
    assert np.array_equal(run.q, chain(inputs=inputs).q)
    with pytest.raises(ZeroDivisionError):
        chain(record=tmp_path / "b", inputs=lambda t, q, v: inputs(t, q, v, ZeroDivisionError))
    assert "ZeroDivisionError" in sim.load(tmp_path / "b").failure
    assert np.array_equal(sim.load(tmp_path / "b").q, run.q)


def test_a_process_that_is_killed_leaves_a_record(tmp_path, monkeypatch):
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
