"""The builtin functions behind which compiled code lies: what they take, what they give, and that no call of them can do harm."""

import freeflyer as ff
import gc
import json
import numpy as np
import os
import pytest
import sys
from closeness import fresh, refused
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from freeflyer.kernels.compiler.calls import python_calls, running
from freeflyer.kernels.entries import ENTRIES
from freeflyer.kernels.entry import OK
from kernel_samples import compiled, output_shapes, states, tree
from processes import python

PARTS, CALLS = 4, 20  # processes, and calls of each entry on each robot: about 9 000 in all
MODEL = tree()
Q, V, A = states(MODEL)
SQUARE = (MODEL.nv, MODEL.nv)
RNEA, CRBA, JACOBIAN = (ENTRIES[name] for name in ("rnea", "crba", "frame_jacobian"))


@pytest.fixture(scope="module", autouse=True)
def calls():
    """entry.call of three entries, all compiled."""
    for entry, inputs in ((RNEA, (Q, V, A)), (CRBA, (Q,)), (JACOBIAN, (Q, 0, 0))):
        compiled(MODEL, entry.name, *inputs)
        running.function_of(entry, True)
    python_calls.grow_scratch(2_000_000)  # enough for batches, too: an entry that needs more would be called again


def test_memory_is_taken_as_it_is():
    M, q = np.zeros(SQUARE), Q.copy()
    M.flags.writeable = q.flags.writeable = False
    assert CRBA.call(MODEL.handle, Q, M) is None
    assert not M.any()
    assert (CRBA.call(MODEL.handle, q, None) == CRBA.call(MODEL.handle, Q, None)).all()
    for entry in (RNEA, CRBA, JACOBIAN):
        inputs, shape = [Q, V, A][: len(entry.inputs)], output_shapes(MODEL, entry.name)[0]
        given, options = np.full(shape, np.nan), (0,) * len(entry.options)
        assert running.state(entry, MODEL.handle, *inputs, *options, given)[0] == OK
        new = entry.call(MODEL.handle, *inputs, *options, None)
        assert type(new) is np.ndarray
        assert new.flags.owndata
        assert new.flags.writeable
        assert new.tobytes() == given.tobytes()


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 17])
def test_short_batches_are_taken_at_once(count):
    q, v, a = (np.tile(x, (count, 1)) for x in (Q, V, A))
    v *= np.linspace(0.5, 1.5, count)[:, None]
    tau, out = RNEA.call(MODEL.handle, q, v, a, None), np.empty((count, MODEL.nv))
    assert tau.shape == out.shape
    assert RNEA.call(MODEL.handle, q, v, a, out) is out
    assert (out == tau).all()
    expected = np.array([ff.inverse_dynamics(MODEL, *x) for x in zip(q, v, a)])
    assert np.abs(tau - expected).max() <= 1e-12 * np.abs(expected).max()
    for wrong in ((q, v[:-1], a), (q[:-1], v, A), (q, v, a[..., None]), (q[None], v[None], a[None]), (q[:, ::-1], v, a)):
        assert count == 1 or RNEA.call(MODEL.handle, *wrong, None) is None
    assert (RNEA.call(MODEL.handle, q, V, a, None)[:1] == RNEA.call(MODEL.handle, q[:1], V, a[:1], None)).all()  # V is shared
    shapes = (count + 1, MODEL.nv), (MODEL.nv,), (count, MODEL.nv, 1)
    for wrong in (*map(np.empty, shapes), np.empty((MODEL.nv, count)).T):
        assert count == 1 or RNEA.call(MODEL.handle, q, v, a, wrong) is None
    a[-1, 0] = np.nan
    assert RNEA.call(MODEL.handle, q, v, a, None) is None


def test_only_handles_of_models_are_taken():
    entry_s = python_calls.capsule(np.zeros(4, np.int64), b"freeflyer.entry")
    for wrong in (None, 0, id(MODEL), object(), MODEL, entry_s, np._core._multiarray_umath._ARRAY_API, b"freeflyer.model"):
        assert CRBA.call(wrong, Q, None) is None
        assert CRBA.call(wrong, Q, np.empty(SQUARE)) is None
        refused((ValueError, TypeError), "", python_calls.model_record, wrong)
    model = ff.robots.chain(5)
    q, expected, handle = np.linspace(0.0, 1.0, 5), ff.mass_matrix(model, np.linspace(0.0, 1.0, 5)), model.handle
    del model
    for _ in range(20):
        fresh(0).standard_normal(10_000)  # memory that was free is used again
        assert (CRBA.call(handle, q, None) == expected).all()


def test_references_are_neither_kept_nor_lost():
    out, batch = np.empty(SQUARE), np.tile(Q, (3, 1))
    things = [None, Q, MODEL.handle, out, batch, np.ndarray]
    made = [CRBA.call(MODEL.handle, Q, None) for _ in range(3)] + [CRBA.call(MODEL.handle, batch, None)]
    gc.collect()  # what else is collected meanwhile refers to None, too
    before = [sys.getrefcount(x) for x in things]
    for _ in range(1000):
        CRBA.call(MODEL.handle, Q, None)
        CRBA.call(MODEL.handle, Q, out)
        CRBA.call(MODEL.handle, batch, None)
        CRBA.call(MODEL.handle, Q.tolist(), None)
        CRBA.call(MODEL.handle, V, None)
    gc.collect()
    assert all(abs(sys.getrefcount(x) - n) < 10 for x, n in zip(things, before))
    assert [sys.getrefcount(x) for x in made] == [sys.getrefcount(np.empty(3)) + 2] * 4
    # As the only output of others: new, given, refused; references of a tuple's arrays are its own
    inputs, entry = (MODEL.handle, Q, V, A), ENTRIES["rnea_gradient"]
    compiled(MODEL, entry.name, Q, V, A)
    new, given = entry.call(*inputs, None), tuple(np.empty(SQUARE) for _ in range(3))
    assert entry.call(*inputs, given) is given
    assert all((x == y).all() for x, y in zip(new, given, strict=True))
    assert [sys.getrefcount(x) for x in new] == [sys.getrefcount(x) for x in given]
    for wrong in (given[:2], (*given, given[0]), list(given), given[0], (*given[:2], None), (given[0], given[1], given[0])):
        assert entry.call(*inputs, wrong) is None
    before = sys.getrefcount(given), [sys.getrefcount(x) for x in given]
    for _ in range(1000):
        entry.call(*inputs, None)
        entry.call(*inputs, given)
        entry.call(MODEL.handle, 2.0 * Q, V, A, None)
        entry.call(MODEL.handle, 2.0 * Q, V, A, given)
    assert before == (sys.getrefcount(given), [sys.getrefcount(x) for x in given])


@pytest.mark.slow
def test_generated_calls_end_in_a_verdict():
    """Of all entries, in processes of their own, as a fault would end them; right answers are those of plain Python."""
    programs = [f"from hostile_calls import run; run({k}, {PARTS}, {CALLS})" for k in range(PARTS)]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore", "PYTHONFAULTHANDLER": "1"}
    with ThreadPoolExecutor(PARTS) as pool:
        done = list(pool.map(lambda program: python(program, seconds=900.0, **environment), programs))
    total: Counter = sum((Counter(json.loads(process.stdout)) for process in done), Counter())
    print(dict(total))
    assert sum(total[ended] for ended in ("none", "right", "error")) >= 5_000
    assert total["compared"] > 10
    assert all(total[f"status {k}"] for k in (0, 1, 2, 3, 4, 5, 7, 8))
    assert total["none"]
    assert total["right"]
