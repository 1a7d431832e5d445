"""Rows of numbers: products, sums, and rows that become orthogonal to others (Gram and Schmidt).

A row is made orthogonal again if little is left of it; twice is enough (Giraud, Langou and Rozloznik, "The loss of orthogonality in
the Gram-Schmidt orthogonalization process", 2005).
"""

from freeflyer.kernels.backend import kernel, load, load_row, row_step, row_total, sqrt, store, store_row
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products

ENOUGH = 0.5  # of a row's squared length: if more is left of it, it is orthogonal to working precision
DEPENDENT = 1e-11  # of a row's length: a row of which less is left depends on rows before it


def dot(A, i, B, j, width):
    """Product of `width` numbers of A from i on and of B from j on, whole rows."""
    total = 0.0 * load_row(A, i)
    for k in range(0, width, row_step(A)):
        total = total + load_row(A, i + k) * load_row(B, j + k)
    return row_total(A, total)


def clear(A, start, end):
    for k in range(start, end):
        store(A, k, 0.0)


def set_row(A, to, B, at, width):
    """Whole rows of A from `to` on become those of B from `at` on."""
    for k in range(0, width, row_step(A)):
        store_row(A, to + k, load_row(B, at + k))


def set_part(L, at, parts, n, width):
    """A row of L from n numbers, zero behind them."""
    clear(L, at + n, at + width)
    for j in range(n):
        store(L, at + j, load(parts, j))


def put_products(A, rows, width, used, B, at, parts):
    """parts (rows,) = A b, A (rows, width), of which the first `used` columns count, for the row b of B from `at` on; four at a
    time, so that none waits for its own sum."""
    step, even = row_step(A), rows // 4 * 4
    for j in range(0, even, 4):
        x = 0.0 * load_row(B, at)
        y, z, w = x, x, x
        for k in range(0, used, step):
            b, row = load_row(B, at + k), width * j + k
            x, y = x + load_row(A, row) * b, y + load_row(A, row + width) * b
            z, w = z + load_row(A, row + 2 * width) * b, w + load_row(A, row + 3 * width) * b
        store(parts, j, row_total(A, x))
        store(parts, j + 1, row_total(A, y))
        store(parts, j + 2, row_total(A, z))
        store(parts, j + 3, row_total(A, w))
    for j in range(even, rows):
        store(parts, j, dot(A, width * j, B, at, used))


@kernel
def add_orthogonal(Q, rank, width, used, L, to, most, parts):
    """Row `rank` of Q becomes orthogonal to those before it and of length 1; its parts along these, and its length, are `most`
    numbers of L from `to` on. Only the first `used` columns of Q are not zero. parts: room for `rank` numbers, as memory taken in
    loops is not given back.

    Whether anything is left of it."""
    at = width * rank
    whole = dot(Q, at, Q, at, used)
    clear(L, to, to + most)
    before, left = whole, 0.0
    for _ in range(2):
        put_products(Q, rank, width, used, Q, at, parts)
        for j in range(rank):
            store(L, to + j, load(L, to + j) + load(parts, j))
        subtract_products(Q, at, 0, used, parts, 0, rank, Q, width)
        left = dot(Q, at, Q, at, used)
        if left > ENOUGH * before or not left > DEPENDENT * DEPENDENT * whole:
            break
        before = left
    if not left > DEPENDENT * DEPENDENT * whole:
        return False
    length = sqrt(left)
    store(L, to + rank, length)
    for k in range(0, used, row_step(Q)):
        store_row(Q, at + k, 1.0 / length * load_row(Q, at + k))
    return True


def put_combination(z, rank, Q, width, y):
    """y (width,) = sum_j z_j Q_j."""
    clear(y, 0, width)
    for j in range(rank):
        add_scaled_row(y, 0, load(z, j), Q, width * j, 0, width)
