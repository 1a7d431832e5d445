"""Threads change no bit of a result, calls from several threads do not meet, and memory stays flat."""

import freeflyer as ff
import numpy as np
import pytest
import threading
import time
from closeness import refused
from concurrent.futures import ThreadPoolExecutor
from freeflyer.dynamics import evaluate as threading_of_batches
from kernel_samples import states, tree

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
def test_chunks_are_whole_packs(name, robot, threads):
    """Tails of every length: a state's result depends on its own numbers alone, not on threads."""
    for count in (1, 7, 8, 9, 63, 64, 65, 257, 5001):
        q, v, a = states(robot, count)
        threads(1)
        one = CALLS[name](robot, q, v, a)
        assert np.isfinite(one).all()
        assert len(np.unique(one[:, 0])) > 0.99 * count
        for n in (2, 3, 4, 7):
            threads(n)
            np.testing.assert_array_equal(CALLS[name](robot, q, v, a), one)


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


def test_errors_stop_all(robot, threads):
    for n in (1, 2, 4):
        threads(n)
        for at in (0, 777, 4095):
            q, v, a = states(robot, 4096)
            v[at, 3] = np.nan
            refused(ff.InputError, rf"v\[{at}, 3\]", ff.inverse_dynamics, robot, q, v, a)
    started = []

    def run(start, stop):
        started.append(start)
        if len(started) > 4 and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.01)

    refused(KeyboardInterrupt, "", threading_of_batches.run_chunks, run, 8_000, 8, 2, 8)
    assert len(started) < 100


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
