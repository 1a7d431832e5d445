"""Buffers of numbers and of Packs: one function to read, one to write, rows of eight, tiles, workspaces."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_parts import CACHE_LINE, aligned, compiled, integers, numbers, packs
from seeds import fresh

from freeflyer.kernels.backend.buffers import (
    from_entry,
    keep_below,
    load,
    load_int,
    load_row,
    number_row,
    release,
    row_step,
    row_total,
    row_width,
    store,
    store_row,
    taken,
    tile_at,
    unit_row,
    workspace,
)
from freeflyer.kernels.backend.pack import LANES


@compiled
def copied(a, b, n):
    for i in range(n):
        store(b, i, load(a, i))


@compiled
def row_copied(a, b, n):
    for i in range(0, n, row_step(a)):
        store_row(b, i, load_row(a, i))


@pytest.mark.parametrize("copy", [copied, row_copied])
def test_load_and_store(copy):
    """An entry of a buffer of Packs holds eight numbers."""
    x = fresh(0).standard_normal(48)
    for of, n in ((numbers, 48), (packs, 6)):
        y = np.full(48, np.nan)
        copy(of(x), of(y), n)
        np.testing.assert_array_equal(y, x)


def test_an_entry_alone_is_written():
    y, z = np.zeros(24), np.zeros(24)
    compiled(lambda y: store(y, 5, 1.5))(numbers(y))
    compiled(lambda y: store(y, 1, 1.5))(packs(z))
    assert np.flatnonzero(y).tolist() == [5]
    assert np.flatnonzero(z).tolist() == list(range(8, 16))


def test_rows_may_begin_anywhere():
    x, y = np.arange(40.0), np.zeros(40)
    compiled(lambda x, y: store_row(y, 11, load_row(x, 3)))(numbers(x), numbers(y))
    np.testing.assert_array_equal(y[11:19], x[3:11])
    assert np.count_nonzero(y) == 8


def test_a_buffer_from_an_entry_on():
    x, t = np.arange(48.0), np.arange(10)
    first = compiled(lambda x, i: load(from_entry(x, i), 1))
    assert first(numbers(x), 5) == 6.0
    y = np.zeros(8)
    compiled(lambda x, y: store(y, 0, load(from_entry(x, 2), 1)))(packs(x), packs(y))
    np.testing.assert_array_equal(y, x[24:32])
    assert compiled(lambda t: load_int(from_entry(t, 3), 4))(integers(t)) == 7


def test_integers_are_loaded_as_integers():
    topology = np.array([3, -7, 2**62], np.int64)
    load_at = compiled(lambda t, i: load_int(t, i))
    assert [load_at(integers(topology), i) for i in range(3)] == topology.tolist()


@compiled
def two_workspaces(like, out, n):
    """Fills both and sums what is there: they do not overlap."""
    a, b = workspace(like, n), workspace(like, n)
    for i in range(n):
        store(a, i, 1.0 + i)
        store(b, i, 100.0 + i)
    total = load(a, 0)
    for i in range(1, n):
        total = total + load(a, i)
    store(out, 0, total)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 31, 100])
@pytest.mark.parametrize("of", [numbers, packs])
def test_workspaces_are_apart_and_begin_at_cache_lines(of, n):
    size = n if of is numbers else LANES * n
    whole = -(-size // LANES) * LANES
    out = aligned(LANES)
    like = of(aligned(LANES), scratch=2 * whole)
    two_workspaces(like, of(out), n)
    assert like.taken == 2 * whole
    assert out[0] == n * (n + 1) / 2
    assert like.record[0] % CACHE_LINE == 0
    start = int(like.record[0] - like.scratch.ctypes.data) // 8
    second = like.scratch[start + whole : start + whole + size]
    np.testing.assert_array_equal(second, 100.0 + np.arange(size) // (1 if of is numbers else LANES))


def test_where_scratch_ends_workspaces_begin_anew():
    """Nothing beyond it is written, and the record shows that more is needed than there is."""
    scratch = 64
    like = numbers(aligned(LANES), scratch=scratch)
    capacity = int(like.record[1])
    two_workspaces(like, numbers(aligned(LANES)), 40)
    assert capacity < 80 == like.taken
    assert np.isnan(like.scratch[-(like.scratch.size - 40 - 8) :]).all()


@compiled
def turns(like, out, count, n):
    """Takes the same workspace in each turn; how many turns there were."""
    used, done = taken(like), 0
    while done < count and release(like, used):
        a = workspace(like, n)
        store(a, n - 1, 1.0)
        done += 1
    store(out, 0, 1.0 * done)


def test_loops_release_what_they_take_unless_memory_runs_out():
    out, like = aligned(LANES), numbers(aligned(LANES), scratch=64)
    turns(like, numbers(out), 100, 40)
    assert (out[0], like.taken) == (100, 40)
    short = numbers(aligned(LANES), scratch=64)
    turns(short, numbers(out), 100, 72)
    assert (out[0], short.taken) == (1, 72)


@compiled
def kept(x, y, k, end):
    store_row(y, 0, keep_below(x, load_row(x, 0), k, end))


def test_keep_below():
    x = np.arange(1.0, 9.0)
    for k in (0, 8, 16):
        for end in range(0, 30):
            y = np.full(8, np.nan)
            kept(numbers(x), numbers(y), k, end)
            np.testing.assert_array_equal(y, np.where(k + np.arange(8) < end, x, 0.0))
    y = np.zeros(8)
    kept(packs(x), packs(y), 3, 1)
    np.testing.assert_array_equal(y, x)  # a Pack holds eight states, not eight entries


unit = compiled(lambda y, k, c: store_row(y, 0, unit_row(y, k, c)))


def test_unit_row():
    for k in (0, 8, 16):
        for c in range(0, 30):
            y, z = np.full((2, 8), np.nan)
            unit(numbers(y), k, c)
            np.testing.assert_array_equal(y, k + np.arange(8) == c)
            unit(packs(z), k, c)
            np.testing.assert_array_equal(z, float(k == c))


def test_records_in_tiles():
    """For numbers, entry e of record i lies LANES * e from where the record begins, and no two entries share a place."""
    at = compiled(lambda buffer, size, i: tile_at(buffer, size, i))
    x = aligned(LANES)
    for size in (3, 9, 18):
        places = [at(numbers(x), size, i) + LANES * e for i in range(24) for e in range(size)]
        assert sorted(places) == list(range(24 * size))
        assert [at(numbers(x), size, i) for i in range(8)] == list(range(8))
        assert [at(packs(x), size, i) for i in range(8)] == [size * i for i in range(8)]


def test_rows_of_numbers_and_their_total():
    x, y = np.arange(30.0), aligned(LANES)
    total = compiled(lambda work, x, y: store(y, 0, row_total(work, load_row(work, 0) + number_row(work, x, 4))))
    y[:] = 0.0
    total(numbers(y), numbers(x), numbers(y))
    assert y[0] == np.arange(4.0, 12.0).sum()
    y[:] = 0.0
    total(packs(y), numbers(x), packs(y))
    assert y.tolist() == [4.0] * LANES


def test_rows_are_whole():
    width = compiled(lambda buffer, n: row_width(buffer, n))
    x = aligned(LANES)
    assert [width(numbers(x), n) for n in (0, 1, 7, 8, 9, 64)] == [0, 8, 8, 8, 16, 64]
    assert [width(packs(x), n) for n in (0, 1, 7, 8, 9)] == [0, 1, 7, 8, 9]


def scaled_sum(x, y, out):
    store(out, 0, 2.0 * load(x, 0) + load(y, 0) * load(y, 0) / (1.0 + load(x, 0)))


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_packs_of_other_sizes(lanes):
    rng = fresh(1)
    x, y = rng.uniform(0.5, 2.0, (2, lanes))
    out = np.zeros(lanes)
    compiled(scaled_sum)(packs(x, lanes), packs(y, lanes), packs(out, lanes))
    np.testing.assert_allclose(out, 2 * x + y * y / (1 + x), rtol=1e-15)
