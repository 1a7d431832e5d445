"""Small dense systems of equations: general ones by Gauss-Jordan elimination with partial pivoting, symmetric ones by L D L^T.

Matrices lie in work arrays row by row. Rows are exchanged by selection, so that the eight states of a Pack may pivot differently. A
matrix that is singular to working precision is detected by its pivots, and never pseudo-inverted."""

from freeflyer.kernels.backend import (
    all_below, kernel, load, load_row, row_step, row_width, select_less, store, store_row,
)

NAN = float("nan")
# Smallest pivot of a general matrix, relative to the largest pivot or entry of its rows. Rates of closed linkages divide by
# it once, accelerations and derivatives twice: below the root of the rounding error, 1.5e-8, no digit of these would be left.
GENERAL_PIVOT = 1e-7
SYMMETRIC_PIVOT = 1e-13  # smallest pivot of a symmetric matrix, relative to its diagonal entry: cancellation leaves up to 1e-14
ZERO = 1e-150  # an entry so small need not be eliminated


def copy_rows(A, at, rows, stride, n, B, to, width):
    """The first n entries of rows of A, `stride` long, from row `at` on go to those of B, `width` long, from row `to` on."""
    for i in range(rows):
        for j in range(n):
            store(B, width * (to + i) + j, load(A, stride * (at + i) + j))


def put_rows(X, rows, columns, wide):
    """wide (rows, width): the rows of X (rows, columns), apart by a multiple of a row scalar's width, zero behind them."""
    width = row_width(X, columns)
    copy_rows(X, 0, rows, columns, columns, wide, 0, width)
    for i in range(rows):
        for k in range(columns, width):
            store(wide, width * i + k, 0.0)


def exchange(work, a, b, start, end, x, y):
    """Rows a and b from entry `start` to `end` change places where x is less than y."""
    for k in range(start, end, row_step(work)):
        p, q = load_row(work, a + k), load_row(work, b + k)
        store_row(work, a + k, select_less(x, y, q, p))
        store_row(work, b + k, select_less(x, y, p, q))


def raise_pivot(work, at, c, n, end, stride):
    """The largest entry of column c on or below the diagonal comes to the diagonal; the states of a Pack may differ."""
    pivot_row, start = at + stride * c, c - c % row_step(work)
    for i in range(c + 1, n):
        row = at + stride * i
        x, y = load(work, pivot_row + c), load(work, row + c)
        if all_below(y, ZERO):
            continue
        if all_below(x, ZERO):
            exchange(work, pivot_row, row, start, end, 0.0, 1.0)
        else:
            x, y = x * x, y * y
            if not all_below(select_less(x, y, 1.0, 0.0), 0.5):
                exchange(work, pivot_row, row, start, end, x, y)


@kernel
def eliminate(work, at, n, end, stride, largest):
    """[A, B] becomes [., A^-1 B] in n rows of `stride` numbers from `at` on, B reaching from column n to `end` (whole row scalars).
    The square of the ratio of the smallest pivot to the largest, or to the root of `largest` where that is larger."""
    step = row_step(work)
    smallest = largest
    for c in range(n):
        pivot_row, start = at + stride * c, c - c % step
        raise_pivot(work, at, c, n, end, stride)
        pivot = load(work, pivot_row + c)
        square = pivot * pivot
        if c == 0:
            smallest = square
        smallest = select_less(square, smallest, square, smallest)
        largest = select_less(largest, square, square, largest)
        inverse = 1.0 / pivot
        for k in range(start, end, step):
            store_row(work, pivot_row + k, inverse * load_row(work, pivot_row + k))
        for i in range(n):
            row = at + stride * i
            x = load(work, row + c)
            if i == c or all_below(x, ZERO):
                continue
            for k in range(start, end, step):
                store_row(work, row + k, load_row(work, row + k) - x * load_row(work, pivot_row + k))
    return smallest / largest


def solve_one(work, n, stride, x):
    """x (n,) = A^-1 b of one state from [A, b] in n rows of `stride` numbers, a row's width. Whether A is regular."""
    ratio = eliminate(work, 0, n, stride, stride, 0.0)
    for i in range(n):
        store(x, i, load(work, stride * i + n))
    return ratio > 0.0


def invert(work, at, n, stride, largest):
    """[A, .] becomes [., A^-1] in n rows of `stride` numbers from `at` on: NaN where A is singular. As `eliminate`."""
    end, step = row_width(work, 2 * n), row_step(work)
    for i in range(n):
        for j in range(n, end):
            store(work, at + stride * i + j, 0.0)
        store(work, at + stride * i + n + i, 1.0)
    ratio = eliminate(work, at, n, end, stride, largest)
    verdict = select_less(GENERAL_PIVOT * GENERAL_PIVOT, ratio, 1.0, NAN)
    for i in range(n):
        for k in range(n - n % step, end, step):
            store_row(work, at + stride * i + k, verdict * load_row(work, at + stride * i + k))
    return ratio


def inverse_pivot(pivot, diagonal):
    """1 / pivot, or NaN where it vanishes beside the diagonal entry that it is left of."""
    return select_less(SYMMETRIC_PIVOT * diagonal, pivot, 1.0 / pivot, NAN)


def factor_symmetric(M, n):
    """M = L D L^T: the lower half of M becomes L, its diagonal 1 / D; NaN where M is singular."""
    for j in range(n):
        diagonal = load(M, n * j + j)
        pivot = diagonal
        for k in range(j):
            y = load(M, n * j + k)  # L D
            z = y * load(M, n * k + k)
            pivot = pivot - y * z
            store(M, n * j + k, z)
        store(M, n * j + j, inverse_pivot(pivot, diagonal))
        for i in range(j + 1, n):
            y = load(M, n * i + j)
            for k in range(j):
                y = y - load(M, n * i + k) * load(M, n * j + k)
            store(M, n * i + j, y)  # L D, until row i has its turn


def solve_factored(M, n, x, at):
    """The n entries of x from `at` on become M^-1 x, M being factored."""
    for i in range(n):
        y = load(x, at + i)
        for k in range(i):
            y = y - load(M, n * i + k) * load(x, at + k)
        store(x, at + i, y)
    for i in range(n - 1, -1, -1):
        y = load(x, at + i) * load(M, n * i + i)
        for k in range(i + 1, n):
            y = y - load(M, n * k + i) * load(x, at + k)
        store(x, at + i, y)
