"""Accelerations of least energy under linear equations, of which the last few have a right side that is chosen later.

    a of least 1/2 a^T M a + g^T a with K a = k + [0; w]:   a = M^-1 (K^T y - g),   S y = k + K M^-1 g + [0; w],   S = K M^-1 K^T

With M = W D W^T, W upper triangular, so that zeros of a tree's M stay zero, and X = W^-1 [K^T, g], S and K M^-1 g are columns of
X^T D^-1 X. S = E P E^T is eliminated in the order of its rows beside the right side and the unit columns of w; a row whose pivot
vanishes depends on rows before it, and its right side must vanish with it. The least energy is then 1/2 sum (beta + Theta w)^2 / P
over the rows of pivots, up to a constant. Where w = B F, it is a quadratic function of the forces F.
"""

from freeflyer.kernels.backend import (
    all_below, from_entry, kernel, load, load_row, row_step, row_width, store, store_row, workspace,
)
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.math.dense import copy_rows, put_rows

MIN_PIVOT_RATIO = 1e-10  # of a row's own diagonal entry: smaller pivots count as zero, rounding leaves up to 1e-12 of them
LEAST_NUMBER = 5e-324  # the least positive number: only zero is below it, and rows of any size keep their products


@kernel
def subtract_products(A, to, start, end, factors, first, last, B, stride):
    """Entries of A from `to` + start to `to` + end, as whole rows, shrink by the sum of factors[c] B[stride c + .] for c from first
    to last: a few rows of sums stay in registers. Factors of zero at either end, as a tree's branches have, cost nothing."""
    step = row_step(A)
    while first < last and all_below(load(factors, first), LEAST_NUMBER):
        first += 1
    while first < last and all_below(load(factors, last - 1), LEAST_NUMBER):
        last -= 1
    begin = start - start % step
    four = begin + (end - begin) // (4 * step) * 4 * step
    for k in range(begin, four, 4 * step):
        x, y = load_row(A, to + k), load_row(A, to + k + step)
        z, w = load_row(A, to + k + 2 * step), load_row(A, to + k + 3 * step)
        for c in range(first, last):
            s, at = load(factors, c), stride * c + k
            x, y = x - s * load_row(B, at), y - s * load_row(B, at + step)
            z, w = z - s * load_row(B, at + 2 * step), w - s * load_row(B, at + 3 * step)
        store_row(A, to + k, x)
        store_row(A, to + k + step, y)
        store_row(A, to + k + 2 * step, z)
        store_row(A, to + k + 3 * step, w)
    even = first + (last - first) // 4 * 4
    for k in range(four, end, step):
        x = load_row(A, to + k)
        y, z, w = 0.0 * x, 0.0 * x, 0.0 * x
        for c in range(first, even, 4):
            at = stride * c + k
            x, y = x - load(factors, c) * load_row(B, at), y - load(factors, c + 1) * load_row(B, at + stride)
            z = z - load(factors, c + 2) * load_row(B, at + 2 * stride)
            w = w - load(factors, c + 3) * load_row(B, at + 3 * stride)
        for c in range(even, last):
            x = x - load(factors, c) * load_row(B, stride * c + k)
        store_row(A, to + k, x + y + (z + w))


def whiten(M, n, X, stride, narrow, inverses):
    """M = W D W^T; rows of X (n, stride) become those of [W^-1 X, U], U = D W^T on and below the diagonal from column `narrow` on;
    inverses (n,) of D."""
    factors, U = workspace(M, n + 8), from_entry(X, narrow)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            store(U, stride * i + j, load(M, n * i + j))
        for c in range(i + 1, n):
            store(factors, c, load(inverses, c) * load(U, stride * c + i))
        subtract_products(X, stride * i, 0, narrow + i + 1, factors, i + 1, n, X, stride)
        store(inverses, i, 1.0 / load(U, stride * i + i))


def gram(inverses, X, stride, n, rows, narrow, S, width):
    """S (rows, width) = X^T D^-1 X on and above the diagonal, and as far behind as `narrow` columns of X reach; then zeros."""
    factors = workspace(X, n + 8)
    for k in range(rows * width):
        store(S, k, 0.0)
    for i in range(rows):
        for j in range(n):
            store(factors, j, -1.0 * load(inverses, j) * load(X, stride * j + i))
        subtract_products(S, width * i, i, narrow, factors, 0, n, X, stride)


def eliminate_in_order(S, rows, width, inverses):
    """S becomes P E^T on and above the diagonal, its columns behind E^-1 times them; inverses (rows,): of P, zero for rows that
    depend on rows before them."""
    factors = workspace(S, rows + 8)
    for i in range(rows):
        whole = load(S, width * i + i)
        for c in range(i):
            store(factors, c, load(inverses, c) * load(S, width * c + i))
        subtract_products(S, width * i, i, width, factors, 0, i, S, width)
        pivot, inverse = load(S, width * i + i), 0.0
        if pivot > MIN_PIVOT_RATIO * whole:
            inverse = 1.0 / pivot
        store(inverses, i, inverse)


def solve_upwards(S, rows, width, inverses, Y, wide):
    """Y (rows, wide) = E^-T P^-1 Y, zero in dependent rows."""
    step = row_step(Y)
    for c in range(rows - 1, -1, -1):
        subtract_products(Y, wide * c, 0, wide, from_entry(S, width * c), c + 1, rows, Y, wide)
        inverse = load(inverses, c)
        for k in range(0, wide, step):
            store_row(Y, wide * c + k, inverse * load_row(Y, wide * c + k))


@kernel
def whiten_rows(linear, M, K, n, rows, X, stride, S, width, pivots):
    """X (n, stride) = [W^-1 [K^T, g], U], see `whiten`, and S (rows, width) = X^T D^-1 X, with pivots (n,), the inverses of D."""
    narrow = row_width(linear, rows + 1)
    for i in range(n):
        for j in range(rows, narrow):
            store(X, stride * i + j, 0.0)
        for j in range(rows):
            store(X, stride * i + j, load(K, n * j + i))
        store(X, stride * i + rows, load(linear, i))
    whiten(M, n, X, stride, narrow, pivots)
    gram(pivots, X, stride, n, rows, narrow, S, width)


def put_moves(X, stride, narrow, pivots, n, rows, linear, Y, wide):
    """Rows of Y (narrow + n, wide) from `narrow` on become V = M^-1 ([linear g, 0] - K^T Y), Y of its first `rows` rows; those
    between become the factors of g and of the zeros behind it."""
    for i in range(wide * rows, wide * (narrow + n)):
        store(Y, i, 0.0)
    store(Y, wide * rows, -1.0 * linear)
    for j in range(n):
        to = wide * (narrow + j)
        subtract_products(Y, to, 0, wide, from_entry(X, stride * j), 0, narrow + j, Y, wide)
        for i in range(to, to + wide, row_step(Y)):
            store_row(Y, i, load(pivots, j) * load_row(Y, i))


@kernel
def condense_rows(linear, M, K, k, n, rows, d, a, A, theta, beta, inverses, pivots):
    """a (n,) and A (n, d): the accelerations of least energy are a + A w. theta (d, d), beta (rows,), inverses (rows,) of pivots,
    zero for rows that depend on others: E^-1 times the unit columns of w in the last d rows, E^-1 times the right side, P^-1.
    pivots (n,): the inverses of D.

    linear: g (n,). M (n, n), read on and below the diagonal; K (rows, n), k (rows,)."""
    narrow, width, wide = row_width(linear, rows + 1), row_width(linear, rows + 1 + d), row_width(linear, 1 + d)
    stride = narrow + row_width(linear, n)
    X, S, Y = workspace(linear, n * stride + 8), workspace(linear, rows * width + 8), workspace(linear, (narrow + n) * wide + 8)
    whiten_rows(linear, M, K, n, rows, X, stride, S, width, pivots)
    first = rows - d
    for i in range(rows):
        at = width * i + rows
        store(S, at, load(S, at) + load(k, i))
        if i >= first:
            store(S, at + 1 + i - first, load(S, at + 1 + i - first) + 1.0)
    eliminate_in_order(S, rows, width, inverses)
    for i in range(rows):
        store(beta, i, load(S, width * i + rows))
        for j in range(wide):
            store(Y, wide * i + j, 0.0)
        for j in range(1 + d):
            store(Y, wide * i + j, load(S, width * i + rows + j))
    copy_rows(from_entry(S, rows + 1), first, d, width, d, theta, 0, d)
    solve_upwards(S, rows, width, inverses, Y, wide)
    put_moves(X, stride, narrow, pivots, n, rows, 1.0, Y, wide)
    V = from_entry(Y, wide * narrow)
    for j in range(n):
        store(a, j, -1.0 * load(V, wide * j))
        for i in range(d):
            store(A, d * j + i, -1.0 * load(V, wide * j + 1 + i))


@kernel
def put_optimum(linear, M, K, k, n, rows, turns, x, multipliers, pivots):
    """x (n,) of least energy with K x = k, where rows do not contradict each other; multipliers (rows,): M x + g = K^T y; pivots
    (n,) as `condense_rows`. A second turn takes away what rounding leaves of K x = k, by the same factors."""
    width, wide = row_width(linear, rows + 1), row_width(linear, 1)
    stride, inverses = width + row_width(linear, n), workspace(linear, rows + 8)
    X, S, Y = workspace(linear, n * stride + 8), workspace(linear, rows * width + 8), workspace(linear, (width + n) * wide + 8)
    V = from_entry(Y, wide * width)
    whiten_rows(linear, M, K, n, rows, X, stride, S, width, pivots)
    for i in range(rows):
        store(S, width * i + rows, load(S, width * i + rows) + load(k, i))
        store(multipliers, i, 0.0)
    for j in range(n):
        store(x, j, 0.0)
    eliminate_in_order(S, rows, width, inverses)
    for turn in range(turns):
        for i in range(rows):
            if turn > 0:
                left = load(k, i)
                for j in range(n):
                    left -= load(K, n * i + j) * load(x, j)
                for c in range(i):
                    left -= load(inverses, c) * load(S, width * c + i) * load(Y, wide * c)
                store(S, width * i + rows, left)
            for j in range(wide):
                store(Y, wide * i + j, 0.0)
            store(Y, wide * i, load(S, width * i + rows))
        solve_upwards(S, rows, width, inverses, Y, wide)
        put_moves(X, stride, width, pivots, n, rows, 1.0 - turn, Y, wide)
        for i in range(rows):
            store(multipliers, i, load(multipliers, i) + load(Y, wide * i))
        for j in range(n):
            store(x, j, load(x, j) - load(V, wide * j))


def put_product(X, rows, inner, Y, columns, Z):
    """Z (rows, columns) = X (rows, inner) Y (inner, columns), of which Y's rows begin at multiples of a row scalar's width."""
    width = row_width(X, columns)
    for i in range(rows):
        for k in range(0, width, row_step(X)):
            total = 0.0 * load_row(Y, k)
            for j in range(inner):
                total = total + load(X, inner * i + j) * load_row(Y, width * j + k)
            store_row(Z, width * i + k, total)


@kernel
def condense_to_forces(linear, M, K, k, B, metric, n, rows, d, r, a, A, theta, beta, inverses, H, slope):
    """As `condense_rows` for w = B F, B (d, r): a (n,), A (n, d), theta (d, r), beta (rows,), inverses (rows,).

    The energy is 1/2 F^T H F + slope^T F beside a constant: H (r, r) with the metric (r, r), slope (r,)."""
    width = row_width(linear, r)
    sides, wide, mapped = workspace(linear, d * d + 8), workspace(linear, d * width + 8), workspace(linear, d * width + 8)
    condense_rows(linear, M, K, k, n, rows, d, a, A, sides, beta, inverses, workspace(linear, n + 8))
    put_rows(B, d, r, wide)
    put_product(sides, d, d, wide, r, mapped)
    copy_rows(mapped, 0, d, width, r, theta, 0, r)
    total, first = workspace(linear, r * width + 8), rows - d
    put_rows(metric, r, r, total)
    for j in range(r):
        store(slope, j, 0.0)
    for i in range(d):
        inverse = load(inverses, first + i)
        for j in range(r):
            s = inverse * load(mapped, width * i + j)
            add_scaled_row(total, width * j, s, mapped, width * i, 0, width)
            store(slope, j, load(slope, j) + s * load(beta, first + i))
    copy_rows(total, 0, r, width, r, H, 0, r)
