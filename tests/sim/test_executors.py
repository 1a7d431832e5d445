"""Batches on executors: threads, processes, Dask workers, one of them killed: the same bits."""

import freeflyer as ff
import numpy as np
import os
import pytest
import signal
from closeness import refused
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from freeflyer import sim
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
