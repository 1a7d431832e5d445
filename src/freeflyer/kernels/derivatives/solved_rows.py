"""X = M^-1 B for matrices of all coordinates by the factor of M (tree/factor.py), a row at a time, three row scalars at once.

L^T Y = B inward, L X = D^-1 Y outward, in place. Entry (k, j) of B, hence of Y, is zero unless one of both coordinates moves the
other. Rows are `solved_width` long. Three row scalars of three matrices are enough independent sums to hide latency."""

from freeflyer.kernels.backend import kernel, load, load_int, load_row, row_step, store, store_row, unit_row, workspace
from freeflyer.kernels.math.algebra import add_scaled, rows3, scale, store_rows
from freeflyer.kernels.model.layout import COLUMN_ROW, N_V
from freeflyer.kernels.tree.columns import last_of_several
from freeflyer.kernels.tree.factor import coordinate_before, last_of, line_start

CACHE_NUMBERS = 6000  # numbers in the nearest cache


def solved_width(topology, table):
    """The length of rows: whole threes of row scalars."""
    block = 3 * row_step(table)
    return (max(load_int(topology, N_V), 1) + block - 1) // block * block


def strip_width(nv, step):
    """How many columns to finish before the next ones: as many as the nearest cache holds of three matrices, in whole blocks."""
    block = 3 * step
    return max(CACHE_NUMBERS // (3 * max(nv, 1)) // block, 1) * block


def three_rows(matrices, at):
    """Three row scalars of each matrix."""
    return tuple(rows3(A, at, row_step(A)) for A in matrices)


def put_three_rows(matrices, at, x):
    for A, a in zip(matrices, x):
        store_rows(A, at, row_step(A), a)


def add_three_rows(x, factors, matrices, at):
    """x, as `three_rows` gives it, plus those of the matrices times a factor each."""
    return tuple(add_scaled(a, s, rows3(A, at, row_step(A))) for a, s, A in zip(x, factors, matrices))


def subtract_rows(L, at, step, low, high, matrices, width, j, x):
    """x less its parts of the rows from `low` to `high` of the matrices, from column j on; their factors are entries of L from
    `at` on, `step` apart."""
    for i in range(low, high + 1):
        s = -load(L, at + step * i)
        x = add_three_rows(x, (s, s, s), matrices, width * i + j)
    return x


def units(E, j, k):
    return tuple(unit_row(E, j + n * row_step(E), k) for n in range(3))


@kernel
def inward(topology, L, Q, V, E, width):
    """Q, V and E become Y; E, of which only what row k moves is not zero, begins as the unit matrix."""
    nv, stride, step = load_int(topology, N_V), load_int(topology, COLUMN_ROW), row_step(Q)
    block = 3 * step
    reach = workspace(Q, width)
    for j in range(0, width, block):
        store(reach, j, last_of_several(topology, last_of, j, min(j + block, nv)))
    strip = strip_width(nv, step)
    for first in range(0, width, strip):
        for k in range(nv - 1, -1, -1):
            end = last_of(topology, k)
            for j in range(first, min(first + strip, width), block):
                at, low, high, e = width * k + j, k + 1, end, units(E, j, k)
                if low <= end and j <= end and load(reach, j) > k:
                    x = *three_rows((Q, V), at), e
                    if j > k:
                        low, high = j, min(end, last_of_several(topology, last_of, j, min(j + block, nv)))
                        last = coordinate_before(topology, j)
                        while last > k:
                            start = max(line_start(topology, last), k + 1)
                            x = subtract_rows(L, k, stride, start, last, (Q, V, E), width, j, x)
                            last = coordinate_before(topology, start)
                    if j + block > k:
                        x = subtract_rows(L, k, stride, low, high, (Q, V, E), width, j, x)
                    else:
                        x = *subtract_rows(L, k, stride, low, high, (Q, V), width, j, x[:2]), x[2]
                    put_three_rows((Q, V), at, x)
                    e = x[2]
                store_rows(E, at, step, e)


def put_row(row, at, n, to, begin):
    """n entries, from `at` on, to those from `begin` on; the last row scalar may overlap the one before."""
    step = row_step(row)
    if n < step:
        for j in range(n):
            store(to, begin + j, load(row, at + j))
    else:
        for j in range(0, n, step):
            k = min(j, n - step)
            store_row(to, begin + k, load_row(row, at + k))


@kernel
def outward(topology, L, Q, V, E, length, dq, q_at, dv, v_at, width, dtau, tau_at):
    """Q, V and E, with rows of that length, become -X, -X and X, and are written in dq from q_at on, in dv from v_at on (whose rows
    are `width` long) and in dtau (nv, nv) from tau_at on."""
    nv, stride, step = load_int(topology, N_V), load_int(topology, COLUMN_ROW), row_step(Q)
    strip = strip_width(nv, step)
    for first in range(0, length, strip):
        for k in range(nv):
            row, to = stride * k, length * k
            d = load(L, row + k)
            for j in range(first, min(first + strip, length), 3 * step):
                last, (q, v, e) = coordinate_before(topology, k), three_rows((Q, V, E), to + j)
                x = scale(-d, q), scale(-d, v), scale(d, e)
                while last >= 0:
                    start = line_start(topology, last)
                    x = subtract_rows(L, row, 1, start, last, (Q, V, E), length, j, x)
                    last = coordinate_before(topology, start)
                put_three_rows((Q, V, E), to + j, x)
            if first + strip >= length:
                for rows, out, begin in ((Q, dq, q_at + width * k), (V, dv, v_at + width * k), (E, dtau, tau_at + nv * k)):
                    put_row(rows, to, nv, out, begin)
