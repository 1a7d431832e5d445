"""Threads change no bit of a result, calls from several threads do not meet, and memory stays flat."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from kernel_samples import states, tree

import freeflyer as ff
from freeflyer.dynamics import evaluate as threading_of_batches

COUNT = 20_000
BATCH = 37  # not a multiple of 8
CALLS = {
    "inverse_dynamics": lambda m, q, v, a: ff.inverse_dynamics(m, q, v, a),
    "forward_dynamics": lambda m, q, v, a: ff.forward_dynamics(m, q, v, a),
    "mass_matrix": lambda m, q, v, a: ff.mass_matrix(m, q),
    "frame_jacobian": lambda m, q, v, a: ff.frame_jacobian(m, q, "tool", "mixed"),
    "integrate": lambda m, q, v, a: ff.integrate(m, q, v),
}


@pytest.fixture
def threads(on_threads):
    """set_threads, put back afterwards; they work on small batches, too."""
    before = ff.get_threads()
    yield ff.set_threads
    ff.set_threads(before)


@pytest.fixture(scope="module")
def robot():
    return tree()


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "integrate"])
def test_results_do_not_depend_on_threads(name, robot, threads):
    q, v, a = states(robot, COUNT)
    results = []
    for n in (1, 2, 3, 4, 2, 1):
        threads(n)
        results.append(CALLS[name](robot, q, v, a))
    assert np.all(np.isfinite(results[0]))
    assert len(np.unique(results[0][:, 0])) > 0.99 * COUNT
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("count", [1, 7, 8, 9, 63, 64, 65, 100, 257, 1001])
def test_chunks_are_whole_packs(count, robot, threads):
    """Tails of every length: a state's result depends on its own numbers alone."""
    q, v, a = states(robot, count)
    threads(1)
    one = ff.inverse_dynamics(robot, q, v, a)
    for n in (2, 3, 4, 7):
        threads(n)
        np.testing.assert_array_equal(ff.inverse_dynamics(robot, q, v, a), one)


def test_the_batch_is_the_states_one_by_one(robot):
    q, v, a = states(robot, 100)
    for name, call in CALLS.items():
        batch = call(robot, q, v, a)
        single = np.array([call(robot, *row) for row in zip(q, v, a)])
        assert np.abs(batch - single).max() <= 1e-12 * np.abs(single).max(), name


@pytest.mark.parametrize("name", CALLS)
def test_python_threads_at_once(name, robot):
    """Four threads call the same function on the same model: as one after another."""
    sets = [states(robot, BATCH, seed=k) for k in range(24)]
    call = CALLS[name]
    expected = [call(robot, *s) for s in sets]
    singles = [call(robot, *(x[0] for x in s)) for s in sets]
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(lambda s: call(robot, *s), sets))
        ones = list(pool.map(lambda s: call(robot, *(x[0] for x in s)), sets))
    for got, wanted in zip(batches + ones, expected + singles):
        np.testing.assert_array_equal(got, wanted)


def test_threads_that_call_threaded_batches(robot, threads):
    """Batches large enough to be spread, from threads of the caller's own: no deadlock, no mix-up."""
    threads(2)
    sets = [states(robot, 512, seed=k) for k in range(8)]
    expected = [ff.inverse_dynamics(robot, *s) for s in sets]
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(ff.inverse_dynamics, robot, *s) for s in sets]
        for r, wanted in zip(running, expected):
            np.testing.assert_array_equal(r.result(timeout=60), wanted)


def test_an_error_in_one_chunk_is_an_error(robot, threads):
    for n in (1, 2, 4):
        threads(n)
        for at in (0, 777, 4095):
            q, v, a = states(robot, 4096)
            v[at, 3] = np.nan
            with pytest.raises(ff.InputError, match=rf"v\[{at}, 3\]"):
                ff.inverse_dynamics(robot, q, v, a)


def resident() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/statm")
def test_memory_stays_flat(robot, threads):
    """A leak of one work array a call would be 50 kB x 3000."""
    threads(2)
    q, v, a = states(robot, 256)

    def many(n: int) -> None:
        for _ in range(n):
            ff.inverse_dynamics(robot, q, v, a)
            ff.mass_matrix(robot, q[0])
            ff.forward_dynamics(robot, q[:9], v[:9], a[:9])

    many(300)
    before = resident()
    many(1000)
    assert resident() - before < 8 * 2**20


@pytest.mark.parametrize("wrong", [0, -1, 1025, 2.0, "2", None, True, np.float64(2), [2]])
def test_set_threads_takes_a_count(wrong):
    before = ff.get_threads()
    with pytest.raises(ff.InputError, match="threads must be an integer from 1 to 1024"):
        ff.set_threads(wrong)
    assert ff.get_threads() == before


def test_there_is_one_pool(threads, robot):
    """It is kept, and replaced by a larger one when more threads are set."""
    q, v, a = states(robot, 512)
    threads(3)
    ff.inverse_dynamics(robot, q, v, a)
    pool = threading_of_batches.pool(2)
    threads(2)
    ff.inverse_dynamics(robot, q, v, a)
    assert threading_of_batches.pool(1) is pool
    assert threading_of_batches.pool(2) is pool


def test_where_no_thread_can_be_started_one_does_all(threads, robot, monkeypatch):
    q, v, a = states(robot, 512)
    threads(1)
    expected = ff.inverse_dynamics(robot, q, v, a)

    pool = threading_of_batches.pool(3)

    class Refusing:
        def __init__(self, allowed):
            self.allowed = allowed

        def submit(self, work):
            self.allowed -= 1
            if self.allowed < 0:
                raise RuntimeError("can't start new thread")
            return pool.submit(work)

    for allowed in (0, 1):
        refusing = Refusing(allowed)
        monkeypatch.setattr(threading_of_batches, "pool", lambda n, refusing=refusing: refusing)
        threads(4)
        np.testing.assert_array_equal(ff.inverse_dynamics(robot, q, v, a), expected)


def test_chunks_are_short_enough_to_be_interrupted():
    """Between chunks Python looks for signals; each begins at a multiple of the lanes."""
    for count, lanes, threads in ((100_000, 8, 1), (100_000, 4, 2), (5, 8, 2), (4097, 8, 1)):
        chunks = sorted(threading_of_batches.run_chunks(lambda start, stop: (start, stop), count, lanes, threads, 4096))
        assert all(stop - start <= 4096 and start % lanes == 0 for start, stop in chunks)
        assert [start for start, _ in chunks] == [0, *(stop for _, stop in chunks[:-1])]
        assert chunks[-1][1] == count


def test_an_error_stops_the_others():
    started = []

    def run(start, stop):
        started.append(start)
        if len(started) > 4 and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        threading_of_batches.run_chunks(run, 8_000, 8, 2, 8)
    assert len(started) < 100


def test_single_states_of_ever_larger_robots_on_threads():
    """Memory for single states grows under calls of other threads: none of them may see it half grown, or after it is gone."""
    results, robots = {}, [ff.robots.chain(n) for n in (1, 5, 20, 60, 150, 300)]

    def masses(k: int) -> None:
        results[k] = [float(ff.mass_matrix(r, r.neutral).sum()) for _ in range(20) for r in robots]

    threads = [threading.Thread(target=masses, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1] == results[2] == results[3]
    assert np.isfinite(results[0]).all()
