"""The builtin functions behind which compiled code lies: what they take, what they give, and where they look."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from kernel_samples import ENTRIES, output_shapes, states, tree

from freeflyer.kernels.calls import python_calls as door
from freeflyer.kernels.calls.entry import NOT_FINITE, NOT_FLAT, NOT_UNIT, OK, WRONG_SIZE

MODEL = tree()
Q, V, A = states(MODEL)
RNEA, CRBA, JACOBIAN = (ENTRIES[name] for name in ("RNEA", "CRBA", "FRAME_JACOBIAN"))


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The short ways lead to the doors from now on."""
    RNEA.single(MODEL.handle, Q, V, A, MODEL.nv)
    CRBA.single(MODEL.handle, Q, MODEL.square)
    JACOBIAN.single(MODEL.handle, Q, 0, 0, MODEL.six_rows)


class Tagged(np.ndarray):
    pass


NOT_PLAIN = {
    "none": None, "number": 1.0, "integer": 3, "text": "q", "list": Q.tolist(), "tuple": tuple(Q), "type": np.ndarray,
    "subclass": Q.view(Tagged), "masked": np.ma.array(Q), "float32": Q.astype(np.float32), "int64": np.ones(MODEL.nq, np.int64),
    "complex": Q.astype(complex), "object": Q.astype(object), "swapped": Q.astype(Q.dtype.newbyteorder()),
    "two axes": Q[None], "no axes": np.array(1.0), "strided": np.repeat(Q, 2)[::2], "reversed": Q[::-1].copy()[::-1],
    "unaligned": np.frombuffer(b"\0" + Q.tobytes(), np.uint8)[1:].view(np.float64),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_PLAIN)
@pytest.mark.parametrize("place", range(3))
def test_only_plain_arrays_are_read(name, place):
    inputs = [Q, V, A]
    inputs[place] = NOT_PLAIN[name]
    tau = np.full(MODEL.nv, 7.0)
    assert RNEA.single(MODEL.handle, *inputs, tau) == NOT_FLAT
    assert (tau == 7.0).all()
    assert RNEA.single(MODEL.handle, *inputs, MODEL.nv) is None


@pytest.mark.parametrize(("q", "status"), [(Q[:-1], WRONG_SIZE), (Q * np.nan, NOT_FINITE), (2.0 * Q, NOT_UNIT), (Q, OK)])
def test_status(q, status):
    tau = np.empty(MODEL.nv)
    q = np.ascontiguousarray(q)
    assert RNEA.single(MODEL.handle, q, V, A, tau) == status
    assert (RNEA.single(MODEL.handle, q, V, A, MODEL.nv) is None) == (status != OK)


@pytest.mark.parametrize("out", [np.empty(MODEL.square).T, np.empty(MODEL.nv**2), np.empty(MODEL.square, np.float32),
                                 np.empty(MODEL.square)[:, ::-1]])  # fmt: skip
def test_an_output_that_could_not_be_written_whole_is_refused(out):
    status = CRBA.single(MODEL.handle, Q, out)
    assert status == NOT_FLAT


def test_a_read_only_output_is_refused_and_a_read_only_input_is_not():
    M, q = np.zeros(MODEL.square), Q.copy()
    M.flags.writeable = q.flags.writeable = False
    assert CRBA.single(MODEL.handle, Q, M) == NOT_FLAT
    assert not M.any()
    assert (CRBA.single(MODEL.handle, q, MODEL.square) == CRBA.single(MODEL.handle, Q, MODEL.square)).all()


@pytest.mark.parametrize("bad", [None, 1.5, (1,), (1, 2, 3), (1.0, 2), ("a", 2), "ab", [3, 3]])
def test_no_shape_is_a_type_error(bad):
    with pytest.raises(TypeError):
        CRBA.single(MODEL.handle, Q, bad)


def test_impossible_shapes_are_python_s_errors():
    with pytest.raises(ValueError, match="negative"):
        CRBA.single(MODEL.handle, Q, (-1, 3))
    with pytest.raises((MemoryError, ValueError)):
        CRBA.single(MODEL.handle, Q, (2**40, 2**40))
    with pytest.raises((OverflowError, ValueError)):
        CRBA.single(MODEL.handle, Q, (2**80, 1))


@pytest.mark.parametrize("arguments", [(), (MODEL.handle,), (MODEL.handle, Q), (MODEL.handle, Q, Q, Q), (None, Q, MODEL.square)])
def test_wrong_calls_are_type_errors(arguments):
    with pytest.raises(TypeError):
        CRBA.single(*arguments)


@pytest.mark.parametrize("option", [None, 0.0, "body", np.int64(0), True])
def test_options_are_integers(option):
    assert JACOBIAN.single(MODEL.handle, Q, 0, option, MODEL.six_rows) is None
    assert JACOBIAN.single(MODEL.handle, Q, option, 0, MODEL.six_rows) is None


def test_new_arrays_are_ordinary_and_the_same_as_given_ones():
    for name in ("RNEA", "CRBA", "FRAME_JACOBIAN"):
        entry, inputs = ENTRIES[name], [Q, V, A][: len(ENTRIES[name].inputs)]
        shape = output_shapes(MODEL, name)[0]
        given, options = np.full(shape, np.nan), (0,) * entry.options
        assert entry.single(MODEL.handle, *inputs, *options, given) == OK
        new = entry.single(MODEL.handle, *inputs, *options, shape[0] if len(shape) == 1 else shape)
        assert type(new) is np.ndarray
        assert new.flags.owndata
        assert new.flags.writeable
        assert new.tobytes() == given.tobytes()


def test_references_are_neither_kept_nor_lost():
    things = [None, Q, MODEL.handle, MODEL.square, np.ndarray]
    made = [CRBA.single(MODEL.handle, Q, MODEL.square) for _ in range(3)]
    before = [sys.getrefcount(x) for x in things]
    for _ in range(1000):
        CRBA.single(MODEL.handle, Q, MODEL.square)
        CRBA.single(MODEL.handle, NOT_PLAIN["list"], MODEL.square)
        CRBA.single(MODEL.handle, V, MODEL.square)
    assert all(abs(sys.getrefcount(x) - n) < 10 for x, n in zip(things, before))
    assert sys.getrefcount(made[0]) == sys.getrefcount(np.empty(3)) + 1


def test_numpy_keeps_its_numbers_where_doors_look():
    x = np.arange(6.0).reshape(2, 3)
    words = np.ctypeslib.as_array(door.ctypes.cast(id(x), door.ctypes.POINTER(door.ctypes.c_int64)), (12,))
    assert words[door.TYPE // 8] == id(np.ndarray)
    assert words[door.DATA // 8] == x.ctypes.data
    assert words[door.AXES // 8] & 0xFFFFFFFF == 2
    assert words[door.DESCR // 8] == id(x.dtype)
    assert words[door.FLAGS // 8] & door.WRITABLE == door.WRITABLE
    shape = np.ctypeslib.as_array(door.ctypes.cast(int(words[door.SHAPE // 8]), door.ctypes.POINTER(door.ctypes.c_int64)), (2,))
    assert shape.tolist() == [2, 3]
