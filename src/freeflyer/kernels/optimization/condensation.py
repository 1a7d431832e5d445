"""Accelerations of least energy under linear equations, of which the last few have a right side that is chosen later.

    a of least 1/2 a^T M a + g^T a with K a = k + [0; w]:   a = M^-1 (K^T y - g),   S y = k + K M^-1 g + [0; w],   S = K M^-1 K^T

With M = W D W^T, W upper triangular, so that zeros of a tree's M stay zero, and X = W^-1 [K^T, g], S and K M^-1 g are columns of
X^T D^-1 X. S = E P E^T is eliminated in the order of its rows beside the right side and the unit columns of w; a row whose pivot
vanishes depends on rows before it, and its right side must vanish with it. The least energy is then 1/2 sum (beta + Theta w)^2 / P
over the rows of pivots, up to a constant. Where w = B F, it is a quadratic function of the forces F.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_row, row_step, row_width, store, store_row, workspace
from freeflyer.kernels.backend.pack import all_below
from freeflyer.kernels.constrained.rows import table_int
from freeflyer.kernels.constrained.solve import add_scaled_row
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.dense import ZERO
from freeflyer.kernels.optimization.layout import N_FREE, N_ROWS, N_UNKNOWNS

MIN_PIVOT_RATIO = 1e-10  # of a row's own diagonal entry: smaller pivots count as zero, rounding leaves up to 1e-12 of them


@kernel
def whiten(M, n, U, stride, X, width):
    """M = W D W^T, U = D W^T on and below the diagonal in rows of `stride`; X (n, width) becomes W^-1 X."""
    for i in range(n):
        for j in range(i + 1):
            store(U, stride * i + j, load(M, n * i + j))
    for c in range(n - 1, -1, -1):
        inverse = 1.0 / load(U, stride * c + c)
        for i in range(c):
            s = inverse * load(U, stride * c + i)
            if not all_below(s, ZERO):
                add_scaled_row(U, stride * i, -1.0 * s, U, stride * c, 0, i + 1)
                add_scaled_row(X, width * i, -1.0 * s, X, width * c, 0, width)


@kernel
def gram(U, stride, X, n, rows, narrow, S, width):
    """S (rows, width) = X^T D^-1 X on and above the diagonal, and as far behind as X (n, narrow) reaches."""
    for k in range(rows * width):
        store(S, k, 0.0)
    for j in range(n):
        d = 1.0 / load(U, stride * j + j)
        for i in range(rows):
            s = d * load(X, narrow * j + i)
            if not all_below(s, ZERO):
                add_scaled_row(S, width * i, s, X, narrow * j, i, narrow)


@kernel
def eliminate_in_order(S, rows, width, inverses):
    """S becomes P E^T on and above the diagonal, its columns behind E^-1 times them; inverses (rows,): of P, zero for rows that
    depend on rows before them."""
    for c in range(rows):
        store(inverses, c, load(S, width * c + c))
    for c in range(rows):
        pivot = load(S, width * c + c)
        inverse = 0.0
        if pivot > MIN_PIVOT_RATIO * load(inverses, c):
            inverse = 1.0 / pivot
        store(inverses, c, inverse)
        for i in range(c + 1, rows):
            s = inverse * load(S, width * c + i)
            if not all_below(s, ZERO):
                add_scaled_row(S, width * i, -1.0 * s, S, width * c, i, width)


@kernel
def solve_upwards(S, rows, width, inverses, Y, wide):
    """Y (rows, wide) = E^-T P^-1 Y, zero in dependent rows."""
    step = row_step(Y)
    for c in range(rows - 1, -1, -1):
        for j in range(c + 1, rows):
            s = load(S, width * c + j)
            if not all_below(s, ZERO):
                add_scaled_row(Y, wide * c, -1.0 * s, Y, wide * j, 0, wide)
        inverse = load(inverses, c)
        for k in range(0, wide, step):
            store_row(Y, wide * c + k, inverse * load_row(Y, wide * c + k))


@kernel
def condense_rows(linear, M, K, k, n, rows, d, a, A, theta, beta, inverses):
    """As `condense`, of these sizes."""
    stride, width, wide = row_width(linear, n), row_width(linear, rows + 1 + d), row_width(linear, 1 + d)
    narrow = row_width(linear, rows + 1)
    U, X = workspace(linear, n * stride + 8), workspace(linear, n * narrow + 8)
    S, Y, V = workspace(linear, rows * width + 8), workspace(linear, rows * wide + 8), workspace(linear, n * wide + 8)
    for i in range(n):
        for j in range(rows, narrow):
            store(X, narrow * i + j, 0.0)
        for j in range(rows):
            store(X, narrow * i + j, load(K, n * j + i))
        store(X, narrow * i + rows, load(linear, i))
    whiten(M, n, U, stride, X, narrow)
    gram(U, stride, X, n, rows, narrow, S, width)
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
    for i in range(d):
        for j in range(d):
            store(theta, d * i + j, load(S, width * (first + i) + rows + 1 + j))
    solve_upwards(S, rows, width, inverses, Y, wide)
    for j in range(n):
        for i in range(wide):
            store(V, wide * j + i, 0.0)
        store(V, wide * j, -1.0 * load(X, narrow * j + rows))
        for i in range(rows):
            s = load(X, narrow * j + i)
            if not all_below(s, ZERO):
                add_scaled_row(V, wide * j, s, Y, wide * i, 0, wide)
    step = row_step(V)
    for j in range(n):
        inverse = 1.0 / load(U, stride * j + j)
        for i in range(j):
            s = load(U, stride * j + i)
            if not all_below(s, ZERO):
                add_scaled_row(V, wide * j, -1.0 * s, V, wide * i, 0, wide)
        for i in range(0, wide, step):
            store_row(V, wide * j + i, inverse * load_row(V, wide * j + i))
    for j in range(n):
        store(a, j, load(V, wide * j))
        for i in range(d):
            store(A, d * j + i, load(V, wide * j + 1 + i))


@kernel
def condense(topology, parameters, linear, M, K, k, a, A, theta, beta, inverses):
    """a (n,) and A (n, d): the accelerations of least energy are a + A w. theta (d, d), beta (rows,), inverses (rows,) of pivots,
    zero for rows that depend on others: E^-1 times the unit columns of w in the last d rows, E^-1 times the right side, P^-1.

    linear: g (n,). M (n, n); K (rows, n), k (rows,).
    """
    n, rows, d = table_int(topology, N_UNKNOWNS), table_int(topology, N_ROWS), table_int(topology, N_FREE)
    condense_rows(linear, M, K, k, n, rows, d, a, A, theta, beta, inverses)


@inlined
def put_product(X, rows, inner, Y, columns, Z):
    """Z (rows, columns) = X (rows, inner) Y (inner, columns), of which Y's rows begin at multiples of a row scalar's width."""
    width = row_width(X, columns)
    for i in range(rows):
        for k in range(0, width, row_step(X)):
            total = 0.0 * load_row(Y, k)
            for j in range(inner):
                total = total + load(X, inner * i + j) * load_row(Y, width * j + k)
            store_row(Z, width * i + k, total)


@inlined
def put_rows(X, rows, columns, wide):
    """wide (rows, width): the rows of X (rows, columns), apart by a multiple of a row scalar's width, zero behind them."""
    width = row_width(X, columns)
    for i in range(rows):
        for k in range(columns):
            store(wide, width * i + k, load(X, columns * i + k))
        for k in range(columns, width):
            store(wide, width * i + k, 0.0)


@kernel
def condense_to_forces(linear, M, K, k, B, metric, n, rows, d, r, a, A, theta, beta, inverses, H, slope):
    """As `condense` for w = B F, B (d, r): a (n,), A (n, r), theta (d, r), beta (rows,), inverses (rows,).

    The energy is 1/2 F^T H F + slope^T F beside a constant: H (r, r) with the metric (r, r), slope (r,).
    """
    width = row_width(linear, r)
    own, sides = workspace(linear, n * d + 8), workspace(linear, d * d + 8)
    condense_rows(linear, M, K, k, n, rows, d, a, own, sides, beta, inverses)
    wide, tall = workspace(linear, d * width + width + 8), workspace(linear, n * width + 8)
    for k in range(width):
        store(wide, k, 0.0)  # read where there are no rows
    put_rows(B, d, r, wide)
    put_product(own, n, d, wide, r, tall)
    for i in range(n):
        for j in range(r):
            store(A, r * i + j, load(tall, width * i + j))
    mapped = workspace(linear, d * width + 8)
    put_product(sides, d, d, wide, r, mapped)
    for i in range(d):
        for j in range(r):
            store(theta, r * i + j, load(mapped, width * i + j))
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
    for i in range(r):
        for j in range(r):
            store(H, r * i + j, load(total, width * i + j))
