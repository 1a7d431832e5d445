"""Records: samples at a chosen period, and runs that go to disk in pieces while they go on."""

import freeflyer as ff
import numpy as np
import pytest
import subprocess
import sys
import tracemalloc
from closeness import refused
from freeflyer import sim
from freeflyer.sim import records
from seeds import fresh
from sim_batches import check_equal, falling


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
