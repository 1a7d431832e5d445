"""Batches: results in the memory of inputs, refused states by their number, no copies; threads change no bit."""

import freeflyer as ff
import numpy as np
import pytest
import threading
import time
from closeness import fresh, refused
from concurrent.futures import ThreadPoolExecutor
from freeflyer.dynamics import evaluate
from freeflyer.kernels.compiler.calls import running
from freeflyer.kernels.compiler.entry_code import FAR
from kernel_samples import states, tree
from test_failed_states import gimbal

MODEL = tree()


@pytest.fixture(params=[1, 3])
def spread(request, threads):
    """Batches on one thread, and on several whatever their size."""
    threads(request.param)
    return request.param


@pytest.mark.parametrize("count", [None, 1, 8, 13, 300])
@pytest.mark.parametrize("behind", [-1, 0, 1, 5])
def test_results_in_the_memory_of_an_input(count, behind, spread):
    """As NumPy: the answer is that of inputs as they were, whether results begin a row before, in or after them."""
    rows = 1 if count is None else count
    q, v, a = states(MODEL, rows)
    expected = ff.inverse_dynamics(MODEL, q, v, a)
    memory = np.zeros((rows + 10, MODEL.nv))
    memory[5 : 5 + rows] = v
    inside, out = memory[5 : 5 + rows], memory[5 + behind : 5 + behind + rows]
    if count is None:
        q, inside, a, out, expected = q[0], inside[0], a[0], out[0], expected[0]
    got = ff.inverse_dynamics(MODEL, q, inside, a, out=out)
    assert got is out
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-12)


def test_far_matrices_are_those_of_near_ones_and_nothing_else_is_written(spread):
    count = FAR // MODEL.nv**2 + 13
    q, memory = states(MODEL, count)[0], np.full((count + 2, MODEL.nv, MODEL.nv), np.nan)
    ff.mass_matrix(MODEL, q, out=memory[1:-1])
    assert count < evaluate.STATES_UNTIL_INTERRUPT
    np.testing.assert_array_equal(memory[1:-1], np.concatenate([ff.mass_matrix(MODEL, x) for x in np.array_split(q, 40)]))
    assert np.isnan(memory[[0, -1]]).all()


@pytest.mark.parametrize("lead", [(), (20,)])
def test_fields_of_a_result_may_not_share_memory(lead):
    q, v, a = states(MODEL, lead)
    shape = (*lead, MODEL.nv, MODEL.nv)
    same, other = np.empty(shape), np.empty(shape)
    two = np.empty((2, *shape)).reshape(-1)
    half = two[: same.size].reshape(shape), two[same.size - 1 : 2 * same.size - 1].reshape(shape)
    for fields in ((same, other, same), (*half, other)):
        out = ff.InverseDynamicsDerivatives(*fields)
        refused(ff.InputError, "share memory", ff.inverse_dynamics_derivatives, MODEL, q, v, a, out=out)


@pytest.mark.parametrize("at", [0, 7, 500, 599])
def test_the_error_names_the_singular_state(at, spread):
    """A rod that stands upright has no inertia about the axis of its first joint."""
    model = gimbal()
    q = np.tile([0.3, 1.0], (600, 1))
    q[at, 1] = 0.0
    words = rf"singular at state \[{at}\].* joint 'turn' moves no inertia"
    error = refused(ff.InputError, words, ff.forward_dynamics, model, q, np.zeros((600, 2)), np.ones((600, 2)))
    assert error.data["index"] == (at,)
    assert abs(error.data["eigenvalue"]) < 1e-12
    q = q.reshape(20, 30, 2)
    refused(ff.InputError, rf"singular at state \[{at // 30}, {at % 30}\]", ff.forward_dynamics, model, q, np.zeros(2), np.ones(2))


@pytest.mark.parametrize("huge", [1e154, 1e300, 1e308, 1.7e308])
@pytest.mark.parametrize("count", [None, 3, 8, 600])
def test_numbers_that_are_too_large_are_an_error_of_ours(huge, count, spread):
    """At every place and in every state."""
    rows = 1 if count is None else count
    for k in range(0, MODEL.nv, 5):
        q, v, a = states(MODEL, rows)
        for x in (v, a):
            x[rows - 1, k : k + 3] = huge
            given = (q[0], v[0], a[0]) if count is None else (q, v, a)
            assert finite_or_refused(lambda given=given: ff.inverse_dynamics(MODEL, *given)) in (None, rows - 1)
    q, v, a = states(MODEL, rows)
    q[rows - 1, :3] = huge
    given = (q[0], v[0]) if count is None else (q, v)
    assert finite_or_refused(lambda: ff.integrate(MODEL, *given)) in (None, rows - 1)


def finite_or_refused(call) -> int | None:
    """The number of the state that is refused; None if none is, or there is one only."""
    try:
        result = call()
    except ff.InputError as error:
        index = error.data["index"]
        return index[0] if len(index) > ("name" in error.data) else None
    assert np.isfinite(result).all()
    return None


@pytest.mark.parametrize("lead", [(), (600,)])
def test_read_only_inputs_are_not_copied(lead, tmp_path, monkeypatch, spread):
    """As of files that are mapped into memory: compiled code reads the very addresses."""
    arrays = states(MODEL, lead)
    mapped = []
    for k, x in enumerate(arrays):
        np.save(tmp_path / f"{k}.npy", x)
        mapped.append(np.load(tmp_path / f"{k}.npy", mmap_mode="r"))
    seen: list[tuple[np.ndarray, ...]] = []

    def spying(entry, model, inputs, *others):
        seen.append(inputs)
        return running.batch(entry, model, inputs, *others)

    monkeypatch.setattr(evaluate, "batch", spying)
    got = ff.inverse_dynamics(MODEL, *mapped)
    np.testing.assert_array_equal(got, ff.inverse_dynamics(MODEL, *arrays))
    if lead:
        assert all(np.shares_memory(x, m) for x, m in zip(seen[0], mapped))
    assert all(not m.flags.writeable for m in mapped)
    assert evaluate.get_threads() == spread


@pytest.mark.parametrize("ahead", [-5000, -1, 0, 1, 27, 5000])
def test_results_over_inputs_of_long_batches(ahead, spread):
    """Several parts, each of which could overwrite what others have yet to read."""
    model, count = ff.robots.chain(3), 9000
    memory = fresh(0).standard_normal((count + 2 * abs(ahead), 3))
    q = memory[abs(ahead) : abs(ahead) + count]
    expected = ff.gravity_forces(model, q.copy())
    out = memory[abs(ahead) + ahead : abs(ahead) + ahead + count]
    np.testing.assert_array_equal(ff.gravity_forces(model, q, out=out), expected)
    memory = fresh(1).standard_normal(18 * count)
    q, M = memory[27 : 27 + 3 * count].reshape(count, 3), memory[: 9 * count].reshape(count, 3, 3)
    expected = ff.mass_matrix(model, q.copy())
    np.testing.assert_array_equal(ff.mass_matrix(model, q, out=M), expected)


BATCH = 37  # not a multiple of 8
CALLS = {
    "inverse_dynamics": lambda m, q, v, a: ff.inverse_dynamics(m, q, v, a),
    "forward_dynamics": lambda m, q, v, a: ff.forward_dynamics(m, q, v, a),
    "mass_matrix": lambda m, q, v, a: ff.mass_matrix(m, q),
    "frame_jacobian": lambda m, q, v, a: ff.frame_jacobian(m, q, "tool", "mixed"),
    "integrate": lambda m, q, v, a: ff.integrate(m, q, v),
}


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "integrate"])
def test_chunks_are_whole_packs(name, threads):
    """Tails of every length: a state's result depends on its own numbers alone, not on threads."""
    for count in (1, 7, 8, 9, 63, 64, 65, 257, 5001):
        q, v, a = states(MODEL, count)
        threads(1)
        one = CALLS[name](MODEL, q, v, a)
        assert np.isfinite(one).all()
        assert len(np.unique(one[:, 0])) > 0.99 * count
        for n in (2, 3, 4, 7):
            threads(n)
            np.testing.assert_array_equal(CALLS[name](MODEL, q, v, a), one)


@pytest.mark.parametrize("name", CALLS)
def test_python_threads_at_once(name):
    """Four threads call the same function on the same model: as one after another."""
    sets = [states(MODEL, BATCH, seed=k) for k in range(24)]
    call = CALLS[name]
    expected = [call(MODEL, *s) for s in sets]
    singles = [call(MODEL, *(x[0] for x in s)) for s in sets]
    with ThreadPoolExecutor(4) as pool:
        batches = list(pool.map(lambda s: call(MODEL, *s), sets))
        ones = list(pool.map(lambda s: call(MODEL, *(x[0] for x in s)), sets))
    for got, wanted in zip(batches + ones, expected + singles):
        np.testing.assert_array_equal(got, wanted)


def test_errors_stop_all(threads):
    for n in (1, 2, 4):
        threads(n)
        for at in (0, 777, 4095):
            q, v, a = states(MODEL, 4096)
            v[at, 3] = np.nan
            refused(ff.InputError, rf"v\[{at}, 3\]", ff.inverse_dynamics, MODEL, q, v, a)
    started = []

    def run(start, stop):
        started.append(start)
        if len(started) > 4 and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.01)

    refused(KeyboardInterrupt, "", evaluate.run_chunks, run, 8_000, 8, 2, 8)
    assert len(started) < 100


def test_where_no_thread_can_be_started_one_does_all(threads, monkeypatch):
    q, v, a = states(MODEL, 512)
    threads(1)
    expected = ff.inverse_dynamics(MODEL, q, v, a)

    pool = evaluate.pool(3)

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
        monkeypatch.setattr(evaluate, "pool", lambda n, refusing=refusing: refusing)
        threads(4)
        np.testing.assert_array_equal(ff.inverse_dynamics(MODEL, q, v, a), expected)


def test_single_states_of_ever_larger_robots_on_threads():
    """Memory for single states grows under calls of other threads: none of them may see it half grown, or after it is gone."""
    robots = [ff.robots.chain(n) for n in (1, 5, 20, 60, 150, 300)]

    def masses(k: int) -> list[float]:
        return [float(ff.mass_matrix(r, r.neutral).sum()) for _ in range(20) for r in robots]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(masses, range(4)))
    assert results[0] == results[1] == results[2] == results[3]
    assert np.isfinite(results[0]).all()
