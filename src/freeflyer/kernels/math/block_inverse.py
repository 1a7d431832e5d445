"""Inverse of a small dense matrix by Gauss-Jordan elimination with partial pivoting, row by row.

Rows are exchanged by selection, so that the eight states of a Pack may pivot differently.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_row, row_step, row_width, store, store_row
from freeflyer.kernels.backend.pack import all_below, select_less
from freeflyer.kernels.compiler.marks import kernel

NAN = float("nan")
SINGULAR = 1e-7  # smallest pivot, relative to the largest


@kernel
def invert(work, at, n, stride):
    """[A, .] becomes [1, A^-1] in n rows of `stride` numbers from `at` on: NaN where the pivots say that A is singular."""
    end, step = row_width(work, 2 * n), row_step(work)
    for i in range(n):
        for j in range(n, end):
            store(work, at + stride * i + j, 0.0)
        store(work, at + stride * i + n + i, 1.0)
    smallest = largest = 1.0 + 0.0 * load(work, at)
    for c in range(n):
        pivot_row = at + stride * c
        for i in range(c + 1, n):
            row = at + stride * i
            x, y = load(work, pivot_row + c), load(work, row + c)
            x, y = x * x, y * y
            if all_below(select_less(x, y, 1.0, 0.0), 0.5):
                continue
            for k in range(c - c % step, end, step):
                a, b = load_row(work, pivot_row + k), load_row(work, row + k)
                store_row(work, pivot_row + k, select_less(x, y, b, a))
                store_row(work, row + k, select_less(x, y, a, b))
        pivot = load(work, pivot_row + c)
        square = pivot * pivot
        if c == 0:
            smallest, largest = square, square
        else:
            smallest = select_less(square, smallest, square, smallest)
            largest = select_less(largest, square, square, largest)
        inverse = 1.0 / pivot
        for k in range(c - c % step, end, step):
            store_row(work, pivot_row + k, inverse * load_row(work, pivot_row + k))
        for i in range(n):
            if i == c:
                continue
            row = at + stride * i
            x = load(work, row + c)
            for k in range(c - c % step, end, step):
                store_row(work, row + k, load_row(work, row + k) - x * load_row(work, pivot_row + k))
    verdict = select_less(SINGULAR * SINGULAR * largest, smallest, 1.0, NAN)
    for i in range(n):
        for k in range(n - n % step, end, step):
            store_row(work, at + stride * i + k, verdict * load_row(work, at + stride * i + k))
