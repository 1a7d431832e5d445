"""The builtin functions behind which compiled code lies: what they take, what they give, and that no call of them can do harm."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hostile_calls import not_plain
from kernel_samples import compiled, output_shapes, states, tree

import freeflyer as ff
from freeflyer.kernels.calls import python_calls, running
from freeflyer.kernels.calls.entry import NOT_FINITE, NOT_FLAT, NOT_UNIT, OK, WRONG_OPTION, WRONG_SIZE
from freeflyer.kernels.compiler import build
from freeflyer.kernels.entries import ENTRIES

SEED = int(os.environ.get("FREEFLYER_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PARTS, CALLS = 4, 20  # processes, and calls of each entry on each robot: about 9 000 in all
MODEL = tree()
Q, V, A = states(MODEL)
RNEA, CRBA, JACOBIAN = (ENTRIES[name] for name in ("rnea", "crba", "frame_jacobian"))


@pytest.fixture(scope="module", params=["builtin", "ctypes"], autouse=True)
def singles(request):
    """entry.single of three entries, once through builtin functions and once through ctypes."""
    compiled(MODEL, "rnea", Q, V, A), compiled(MODEL, "crba", Q), compiled(MODEL, "frame_jacobian", Q, 0, 0)
    for entry, inputs in ((RNEA, (Q, V, A)), (CRBA, (Q,)), (JACOBIAN, (Q, 0, 0))):
        entry.single(MODEL.handle, *inputs, shape_of(entry))
    kept = {(entry, name): getattr(entry, name) for entry in (RNEA, CRBA, JACOBIAN) for name in ("single", "status")}
    if request.param == "ctypes":
        for entry, name in kept:
            address = build.address(entry.name, entry.modules, 1, entry.facts)
            object.__setattr__(entry, name, running.call_by_ctypes(entry, address, name == "single"))
    yield
    for (entry, name), function in kept.items():
        object.__setattr__(entry, name, function)


def shape_of(entry):
    shape = output_shapes(MODEL, entry.name)[0]
    return shape if len(shape) == 2 else shape[0]


def status_of(entry, *arguments):
    return entry.status(*arguments)


NOT_PLAIN = [x for x in not_plain(Q) if not isinstance(x, memoryview)]


@pytest.mark.parametrize("bad", NOT_PLAIN, ids=lambda x: f"{type(x).__name__} {getattr(x, 'dtype', '')}")
@pytest.mark.parametrize("place", range(3))
def test_only_plain_arrays_are_read(bad, place):
    inputs = [Q, V, A]
    inputs[place] = bad
    tau = np.full(MODEL.nv, 7.0)
    assert status_of(RNEA, MODEL.handle, *inputs, tau) == NOT_FLAT
    assert (tau == 7.0).all()
    assert RNEA.single(MODEL.handle, *inputs, MODEL.nv) is None


@pytest.mark.parametrize(("q", "status"), [(Q[:-1].copy(), WRONG_SIZE), (Q * np.nan, NOT_FINITE), (2.0 * Q, NOT_UNIT), (Q, OK)])
def test_status(q, status):
    tau = np.empty(MODEL.nv)
    assert status_of(RNEA, MODEL.handle, q, V, A, tau) == status
    assert (RNEA.single(MODEL.handle, q, V, A, MODEL.nv) is None) == (status != OK)


@pytest.mark.parametrize("out", [np.empty(MODEL.square).T, np.empty(MODEL.nv**2), np.empty(MODEL.square, np.float32),
                                 np.empty(MODEL.square)[:, ::-1]])  # fmt: skip
def test_an_output_that_could_not_be_written_whole_is_refused(out):
    assert status_of(CRBA, MODEL.handle, Q, out) == NOT_FLAT


def test_a_read_only_output_is_refused_and_a_read_only_input_is_not():
    M, q = np.zeros(MODEL.square), Q.copy()
    M.flags.writeable = q.flags.writeable = False
    assert status_of(CRBA, MODEL.handle, Q, M) == NOT_FLAT
    assert not M.any()
    assert (CRBA.single(MODEL.handle, q, MODEL.square) == CRBA.single(MODEL.handle, Q, MODEL.square)).all()


@pytest.mark.parametrize("bad", [None, 1.5, (1,), (1, 2, 3), (1.0, 2), ("a", 2), "ab", [3, 3], True, np.int64(3)])
def test_no_shape_is_a_type_error(bad):
    with pytest.raises(TypeError):
        CRBA.single(MODEL.handle, Q, bad)


def test_impossible_shapes():
    for shape in ((-1, 3), -1, (2**80, 1), (10**400, 10**400), (0, 0)):  # these count as empty, which does not fit
        assert CRBA.single(MODEL.handle, Q, shape) is None
    with pytest.raises((MemoryError, ValueError)):
        CRBA.single(MODEL.handle, Q, (2**40, 2**40))


@pytest.mark.parametrize("arguments", [(), (MODEL.handle,), (MODEL.handle, Q), (MODEL.handle, Q, Q, Q)])
def test_wrong_numbers_of_arguments_are_type_errors(arguments):
    with pytest.raises(TypeError):
        CRBA.single(*arguments)


def test_only_handles_of_models_are_taken():
    entry_s = python_calls.capsule(np.zeros(4, np.int64), python_calls.ENTRY_NAME)
    for wrong in (None, 0, id(MODEL), object(), MODEL, entry_s, np._core._multiarray_umath._ARRAY_API, b"freeflyer.model"):
        assert CRBA.single(wrong, Q, MODEL.square) is None
        assert status_of(CRBA, wrong, Q, np.empty(MODEL.square)) == NOT_FLAT
        with pytest.raises((ValueError, TypeError)):
            python_calls.model_record(wrong)


def test_a_handle_outlives_its_model():
    model = ff.robots.chain(5)
    q, expected, handle = np.linspace(0.0, 1.0, 5), ff.mass_matrix(model, np.linspace(0.0, 1.0, 5)), model.handle
    del model
    for _ in range(20):
        np.random.default_rng(0).standard_normal(10_000)  # memory that was free is used again
        assert (CRBA.single(handle, q, (5, 5)) == expected).all()


@pytest.mark.parametrize("option", [None, 0.0, "body", np.int64(0), True])
def test_options_are_integers(option):
    assert JACOBIAN.single(MODEL.handle, Q, 0, option, MODEL.six_rows) is None
    assert status_of(JACOBIAN, MODEL.handle, Q, option, 0, np.empty(MODEL.six_rows)) == NOT_FLAT


@pytest.mark.parametrize("option", [-1, 3, 2**31, 2**62, 2**63, 2**64, -(2**63), 10**400, -(10**400)])
def test_options_have_ranges(option):
    J = np.full(MODEL.six_rows, np.nan)
    assert status_of(JACOBIAN, MODEL.handle, Q, 0, option, J) == WRONG_OPTION
    wrong_frame = option if option != 3 else len(MODEL.frame_names)
    assert status_of(JACOBIAN, MODEL.handle, Q, wrong_frame, 0, J) == WRONG_OPTION
    assert np.isnan(J).all()


def test_new_arrays_are_ordinary_and_the_same_as_given_ones():
    for entry in (RNEA, CRBA, JACOBIAN):
        inputs, shape = [Q, V, A][: len(entry.inputs)], output_shapes(MODEL, entry.name)[0]
        given, options = np.full(shape, np.nan), (0,) * len(entry.options)
        assert status_of(entry, MODEL.handle, *inputs, *options, given) == OK
        new = entry.single(MODEL.handle, *inputs, *options, shape[0] if len(shape) == 1 else shape)
        assert type(new) is np.ndarray
        assert new.flags.owndata
        assert new.flags.writeable
        assert new.tobytes() == given.tobytes()


def test_references_are_neither_kept_nor_lost():
    things = [None, Q, MODEL.handle, MODEL.square, np.ndarray]
    made = [CRBA.single(MODEL.handle, Q, MODEL.square) for _ in range(3)]
    gc.collect()  # what else is collected meanwhile refers to None, too
    before = [sys.getrefcount(x) for x in things]
    for _ in range(1000):
        CRBA.single(MODEL.handle, Q, MODEL.square)
        CRBA.single(MODEL.handle, Q.tolist(), MODEL.square)
        CRBA.single(MODEL.handle, V, MODEL.square)
    gc.collect()
    assert all(abs(sys.getrefcount(x) - n) < 10 for x, n in zip(things, before))
    assert sys.getrefcount(made[0]) == sys.getrefcount(np.empty(3)) + 1


def test_layouts_are_known_here():
    assert python_calls.layouts_are_known()


@pytest.fixture(scope="module")
def processes():
    """Processes of hostile calls, all started at once."""
    here = Path(__file__).parent
    command = [sys.executable, "-W", "ignore", "-X", "faulthandler"]
    generated = [
        subprocess.Popen([*command, here / "hostile_calls.py", f"{SEED}", f"{k}", f"{PARTS}", f"{CALLS}"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for k in range(PARTS)
    ]  # fmt: skip
    public = subprocess.Popen([*command, here / "hostile_public_calls.py", f"{SEED}", "2000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    yield generated, public
    for process in (*generated, public):
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen) -> Counter:
    out, error = process.communicate(timeout=900)
    assert process.returncode == 0, f"FREEFLYER_TEST_SEED={SEED}: status {process.returncode}\n{error[-3000:]}"
    return Counter(json.loads(out))


@pytest.mark.parametrize("singles", ["builtin"], indirect=True)
def test_generated_calls_end_in_a_verdict(processes):
    """Of all entries; right answers are those of plain Python. FREEFLYER_TEST_SEED repeats a run."""
    total: Counter = sum((ended(process) for process in processes[0]), Counter())
    print(f"FREEFLYER_TEST_SEED={SEED}: {dict(total)}")
    assert total.total() >= 5_000
    assert total["compared"] > 10
    assert all(total[f"status {k}"] for k in (0, 1, 2, 3, 4, 5, 6, 8, 9))
    assert total["none"]
    assert total["array"]


@pytest.mark.parametrize("singles", ["builtin"], indirect=True)
def test_generated_calls_of_public_functions(processes):
    """Each ends in finite numbers or in an error of ours."""
    total = ended(processes[1])
    print(f"FREEFLYER_TEST_SEED={SEED}: {dict(total)}")
    assert total["right"] > 100
    assert total["InputError"] > 100
