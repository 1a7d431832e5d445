"""Memory of the kernels: one function to read, one to write, rows of eight, aligned work arrays, the model's handle."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from kernel_samples import fresh_packs

from freeflyer.kernels.backend import buffers as memory
from freeflyer.kernels.backend.buffers import (
    handle_block,
    keep_below,
    load,
    load_int,
    load_row,
    model_arrays,
    number_row,
    row_step,
    row_total,
    store,
    store_row,
    tile_at,
    unit_row,
    workspace,
)
from freeflyer.kernels.backend.pack import LANES


@numba.njit
def copied(a, b, n):
    for i in range(n):
        store(b, i, load(a, i))


@numba.njit
def row_copied(a, b, n):
    for i in range(0, n, row_step(a)):
        store_row(b, i, load_row(a, i))


def packs(data: np.ndarray) -> memory.Packs:
    p = fresh_packs(data.size // LANES)
    p.data[:] = data
    return p


@pytest.mark.parametrize("copy", [copied, row_copied])
def test_load_and_store(copy):
    """Flat, whatever the number of axes; a Packs row holds eight numbers an entry."""
    x = np.random.default_rng(0).standard_normal(48)
    for shape in [(48,), (6, 8), (2, 4, 6)]:
        y = np.full(shape, np.nan)
        copy(x.reshape(shape), y, 48)
        np.testing.assert_array_equal(y.ravel(), x)
    a, b = packs(x), packs(np.full(48, np.nan))
    copy(a, b, 6)
    np.testing.assert_array_equal(b.data, x)


def test_an_entry_alone_is_written():
    y, z = np.zeros(24), packs(np.zeros(24))
    numba.njit(lambda y: store(y, 5, 1.5))(y)
    numba.njit(lambda y: store(y, 1, 1.5))(z)
    assert np.flatnonzero(y).tolist() == [5]
    assert np.flatnonzero(z.data).tolist() == list(range(8, 16))


def test_rows_may_begin_anywhere():
    x, y = np.arange(40.0), np.zeros(40)
    numba.njit(lambda x, y: store_row(y, 11, load_row(x, 3)))(x, y)
    np.testing.assert_array_equal(y[11:19], x[3:11])
    assert np.count_nonzero(y) == 8


def test_integers_are_loaded_as_integers():
    topology = np.array([3, -7, 2**62], np.int64)
    assert [numba.njit(lambda t, i: load_int(t, i))(topology, i) for i in range(3)] == topology.tolist()


@numba.njit
def first_address(like, n):
    work = workspace(like, n)
    store(work, n - 1, 1.0)
    store(work, 0, 2.0)
    return memory.address(work.data), work.data.size, lane_total(work, n)


@numba.njit
def lane_total(work, n):
    return work.data[0] + work.data[LANES * n - 1]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 31, 100, 1001])
def test_work_arrays_of_packs_are_aligned(n):
    """To a cache line, so that no Pack lies across two."""
    like = fresh_packs(1)
    for _ in range(20):
        at, size, total = first_address(like, n)
        assert at % 64 == 0
        assert size == LANES * n
        assert total == (3.0 if n > 1 else 4.0)


def test_work_arrays_of_numbers():
    make = numba.njit(lambda like, n: workspace(like, n))
    work = make(np.zeros(1), 17)
    assert (work.shape, work.dtype) == ((17,), np.float64)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 64, 999])
def test_packs_made_by_python_are_aligned(n):
    for _ in range(20):
        data = fresh_packs(n).data
        assert data.size == LANES * n
        assert data.ctypes.data % 64 == 0 or n == 0


@numba.njit
def kept(x, y, k, end):
    store_row(y, 0, keep_below(x, load_row(x, 0), k, end))


def test_keep_below():
    x = np.arange(1.0, 9.0)
    for k in (0, 8, 16):
        for end in range(0, 30):
            y = np.full(8, np.nan)
            kept(x, y, k, end)
            np.testing.assert_array_equal(y, np.where(k + np.arange(8) < end, x, 0.0))
    a, b = packs(x), packs(np.zeros(8))
    kept(a, b, 3, 1)
    np.testing.assert_array_equal(b.data, x)  # a Pack holds eight states, not eight entries


@numba.njit
def unit(y, k, c):
    store_row(y, 0, unit_row(y, k, c))


def test_unit_row():
    for k in (0, 8, 16):
        for c in range(0, 30):
            y = np.full(8, np.nan)
            unit(y, k, c)
            np.testing.assert_array_equal(y, k + np.arange(8) == c)
            z = packs(np.full(8, np.nan))
            unit(z, k, c)
            np.testing.assert_array_equal(z.data, float(k == c))


def test_records_in_tiles():
    """For numbers, entry e of record i lies LANES * e from where the record begins, and no two entries share a place."""
    at = numba.njit(lambda buffer, size, i: tile_at(buffer, size, i))
    for size in (3, 9, 18):
        places = [at(np.zeros(1), size, i) + LANES * e for i in range(24) for e in range(size)]
        assert sorted(places) == list(range(24 * size))
        assert [at(np.zeros(1), size, i) for i in range(8)] == list(range(8))
        assert [at(fresh_packs(1), size, i) for i in range(8)] == [size * i for i in range(8)]


def test_rows_of_numbers_and_their_total():
    numbers = np.arange(30.0)
    total = numba.njit(lambda work, numbers: row_total(work, number_row(work, numbers, 4)))
    assert total(np.zeros(1), numbers) == np.arange(4.0, 12.0).sum()
    assert total(fresh_packs(1), numbers) == 4.0


@numba.njit
def arrays_of(handle):
    topology, parameters = model_arrays(handle)
    return topology.copy(), parameters.copy()


def test_a_handle_leads_to_the_arrays():
    topology, parameters = np.arange(5), np.linspace(0.0, 1.0, 7)
    block = handle_block(topology, parameters)
    t, p = arrays_of(block.ctypes.data)
    np.testing.assert_array_equal(t, topology)
    np.testing.assert_array_equal(p, parameters)
