"""States that lie one after another become Packs and come back, at every width and for every tail, and nothing else moves."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_parts import compiled, numbers, packs
from seeds import fresh

from freeflyer.kernels import backend as transpose
from freeflyer.kernels.backend import LANES, block, mirrored, put_block, transposed

WIDTHS = range(1, 41)
GUARD = 16  # poisoned numbers before and after what a function may touch


gathered = compiled(lambda rows, n, first, stop, packs: transpose.gather(rows, n, first, stop, packs))
scattered = compiled(lambda packs, n, rows, first, stop: transpose.scatter(packs, n, rows, first, stop))


def gather(rows: np.ndarray, first: int, stop: int, data: np.ndarray) -> bool:
    return gathered(numbers(rows), rows.shape[1], first, stop, packs(data))


def scatter(data: np.ndarray, rows: np.ndarray, first: int, stop: int) -> bool:
    return scattered(packs(data), rows.shape[1], numbers(rows), first, stop)



def guarded(n: int) -> tuple[np.ndarray, np.ndarray]:
    """(buffer, its middle n numbers, aligned to 64 bytes), all NaN."""
    raw = np.full(n + 2 * GUARD + LANES, np.nan)
    start = (-(raw.ctypes.data + 8 * GUARD) & 63) >> 3
    buffer = raw[start : start + n + 2 * GUARD]
    return buffer, buffer[GUARD : GUARD + n]


def untouched(buffer: np.ndarray) -> bool:
    return bool(np.all(np.isnan(buffer[:GUARD])) and np.all(np.isnan(buffer[-GUARD:])))


def states(count: int, n: int) -> np.ndarray:
    """Rows of numbers that all differ."""
    return np.arange(1.0, count * n + 1.0).reshape(count, n)


@pytest.mark.parametrize("n", WIDTHS)
def test_gather(n):
    """Entry i of a Pack is the column i of eight rows; beyond the last row, that row again."""
    for first, stop in [(0, 8), (8, 16), (3, 20), (0, 20), *((5, 5 + k) for k in range(1, 9)), (19, 20)]:
        x = states(20, n)
        buffer, data = guarded(LANES * n)
        assert gather(x, first, stop, data)
        rows = np.minimum(np.arange(first, first + LANES), stop - 1)
        np.testing.assert_array_equal(data.reshape(n, LANES), x[rows].T)
        assert untouched(buffer)


@pytest.mark.parametrize("n", WIDTHS)
def test_scatter(n):
    """Only rows from first to stop - 1 are written, at most eight."""
    for first, stop in [(0, 8), (8, 16), (3, 20), (0, 20), *((5, 5 + k) for k in range(1, 9)), (19, 20)]:
        _, data = guarded(LANES * n)
        data[:] = np.arange(LANES * n)
        buffer, flat = guarded(20 * n)
        out = flat.reshape(20, n)
        scatter(data, out, first, stop)
        last = min(first + LANES, stop)
        np.testing.assert_array_equal(out[first:last], data.reshape(n, LANES).T[: last - first])
        assert np.all(np.isnan(out[:first]))
        assert np.all(np.isnan(out[last:]))
        assert untouched(buffer)


@pytest.mark.parametrize("n", WIDTHS)
def test_there_and_back(n):
    x = fresh(n).standard_normal((29, n))
    y = np.full_like(x, np.nan)
    _, data = guarded(LANES * n)
    for first in range(0, 29, LANES):
        assert gather(x, first, 29, data)
        scatter(data, y, first, 29)
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 3, 7, 8, 9, 15, 16, 17, 33])
def test_gather_finds_what_is_not_finite(n, bad):
    """At every place, in full packs and in tails; other rows do not matter."""
    _, data = guarded(LANES * n)
    for first, stop in [(0, 8), (8, 13), (16, 17)]:
        for row in range(first, stop):
            for k in range(n):
                x = states(17, n)
                x[row, k] = bad
                assert not gather(x, first, stop, data), (row, k)
        x = states(17, n)
        x[: first or 0] = bad
        x[stop:] = bad
        assert gather(x, first, stop, data)


def test_no_width_at_all():
    """A robot that cannot move has states without numbers."""
    _, data = guarded(0)
    assert gather(np.empty((8, 0)), 0, 8, data)
    scatter(data, np.empty((8, 0)), 0, 8)



@compiled
def transpose_block(x, y, stride):
    put_block(y, 0, stride, transposed(block(x, 0, stride)))


@pytest.mark.parametrize("stride", [8, 9, 13, 24])
def test_eight_by_eight(stride):
    x = states(8, stride)
    buffer, flat = guarded(8 * stride)
    y = flat.reshape(8, stride)
    transpose_block(numbers(x), numbers(y), stride)
    np.testing.assert_array_equal(y[:, :8], x[:, :8].T)
    assert np.all(np.isnan(y[:, 8:]))
    assert untouched(buffer)


@compiled
def matrix(U, L, n, stride, M):
    mirrored(U, L, n, stride, M)


@pytest.mark.parametrize("n", range(1, 34))
@pytest.mark.parametrize("alias", [True, False])
def test_mirrored(n, alias):
    """On and above the diagonal comes what U has there, below it what L has above it; whatever else they hold."""
    stride = -(-n // LANES) * LANES
    U = np.arange(float(stride * stride)).reshape(stride, stride)
    L = U if alias else 1000.0 + U
    buffer, flat = guarded(n * n)
    matrix(numbers(U), numbers(L), n, stride, numbers(flat))
    expected = np.triu(U[:n, :n]) + np.triu(L[:n, :n], 1).T
    np.testing.assert_array_equal(flat.reshape(n, n), expected)
    assert untouched(buffer)


@pytest.mark.parametrize("n", [1, 5, 12])
def test_mirrored_packs(n):
    _, data = guarded(LANES * n * n)
    data[:] = fresh(0).standard_normal(data.size)
    M = data.reshape(n, n, LANES)
    L = 1.0 + M
    before = M.copy()
    matrix(packs(data), packs(L.ravel()), n, n, packs(data))
    i, j = np.tril_indices(n, -1)
    np.testing.assert_array_equal(M[i, j], L[j, i])
    i, j = np.triu_indices(n)
    np.testing.assert_array_equal(M[i, j], before[i, j])
