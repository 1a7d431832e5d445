"""Multipliers of rows that may depend on each other: G y = b with G = J M^-1 J^T, which is X^T D^-1 X of whitened columns X.

G is eliminated in the order of its rows, symmetric, without exchanging any. A row whose pivot vanishes (MIN_PIVOT_RATIO) depends on
rows before it: its part of b must vanish with it, else the rows contradict each other. Of the solutions the one is taken in which
the free rows' y has the least sum of squares; other dependent rows carry nothing. With G = L P L^T, P the pivots, E = L^T reduced
to the rows of pivots: E y = P^-1 L^-1 b, so y = E^T (E E^T)^-1 (P^-1 L^-1 b), refined once. Last, such equations with matrices that
are given: closed linkages, and rows of the user's own."""

from freeflyer.kernels.backend import (
    add_scaled_row, all_below, copy_entries, from_entry, kernel, load, load_int, put_sum, row_width, select_less, sqrt, store,
    workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.dense import ZERO, factor_symmetric, solve_factored
from freeflyer.kernels.model.layout import (
    CONTRADICTION, DEPENDENT, FLAGS, N_SYSTEM_ROWS, N_UNKNOWNS, SYSTEM_FREE, SYSTEM_VERDICT, TABLE_AT,
)

MIN_PIVOT_RATIO = 1e-12  # of a row's own diagonal entry: smaller pivots count as zero; the square of a singular value's 1e-6
MIN_DIAGONAL_RATIO = 1e-24  # of the largest diagonal entry: smaller rows are rounding, as of a wheel that cannot leave its plane
ROUNDING = 1e-6  # of the largest terms of all rows: what counts as the size of a row's own, at least


def put_gram(topology, path, count, X, D, stride, rows, width, G):
    """G (rows, width) = X^T D^-1 X on and above the diagonal; D's inverses lie `stride` apart; path: where topology lists the
    `count` coordinates in which X is not zero."""
    zero_entries(G, rows * width)
    for n in range(count):
        j = load_int(topology, path + n)
        d = load(D, stride * j)
        for i in range(rows):
            s = d * load(X, width * j + i)
            if not all_below(s, ZERO):
                add_scaled_row(G, width * i, s, X, width * j, i, width)


def put_sizes(G, rows, width, sizes, energy):
    """Sizes (rows,) of the terms of b, from those of its first part and the size of the forces as energy; the largest entry of G's
    diagonal."""
    largest, most = 0.0 * energy, 0.0 * energy  # G holds nothing where there are no rows
    for i in range(rows):
        x, y = load(G, width * i + i), load(sizes, i)
        largest, most = select_less(largest, x, x, largest), select_less(most, y, y, most)
    floor = ROUNDING * (energy * sqrt(largest) + most)
    for i in range(rows):
        store(sizes, i, load(sizes, i) + energy * sqrt(load(G, width * i + i)) + floor)
    return largest


@kernel
def eliminate_rows(G, first, rows, width, b, sizes, largest, inverses, verdict):
    """The `first` rows of G become P L^T on and above the diagonal, those of b L^-1 b, and the others hold while these do; inverses
    (first,): of pivots, zero for rows that depend on others. sizes (first,): of the terms of b, against which a contradiction is
    compared. Writes the verdict."""
    worst, count = 0.0 * largest, 0.0 * largest
    for c in range(first):
        store(inverses, c, load(G, width * c + c))
    for c in range(first):
        pivot, x = load(G, width * c + c), load(b, c)
        least, zero = MIN_PIVOT_RATIO * load(inverses, c) + MIN_DIAGONAL_RATIO * largest, 0.0 * largest
        inverse, flag = select_less(least, pivot, 1.0 / pivot, zero), select_less(least, pivot, 1.0, zero)
        store(inverses, c, inverse)
        store(verdict, FLAGS + c, flag)
        count = count + (1.0 - flag)
        ratio = (1.0 - flag) * x * x / (load(sizes, c) * load(sizes, c) + 1e-300)
        worst = select_less(worst, ratio, ratio, worst)
        for i in range(c + 1, rows):
            s = inverse * load(G, width * c + i)
            if not all_below(s, ZERO):
                add_scaled_row(G, width * i, -1.0 * s, G, width * c, i, width)
                store(b, i, load(b, i) - s * x)
    store(verdict, CONTRADICTION, worst)
    store(verdict, DEPENDENT, count)


def put_back(G, width, inverses, b, y, c, end):
    """Row c of E y = P^-1 b, for y_c: zero for a dependent row."""
    total = load(b, c)
    for j in range(c + 1, end):
        total = total - load(G, width * c + j) * load(y, j)
    store(y, c, load(inverses, c) * total)


@kernel
def put_least(G, rows, first, width, inverses, flags, b, y):
    """The least y in the rows from `first` on, where some of them depend on others."""
    n = rows - first
    E, N, x = zero_workspace(y, n * n + 8), workspace(y, n * n + 8), workspace(y, n + 1)
    for i in range(n):
        store(E, n * i + i, load(flags, FLAGS + first + i))
        for j in range(i + 1, n):
            store(E, n * i + j, load(inverses, first + i) * load(G, width * (first + i) + first + j))
    for i in range(n):
        for j in range(i + 1):
            total = 0.0 * load(E, 0)
            for k in range(i, n):
                total = total + load(E, n * i + k) * load(E, n * j + k)
            store(N, n * i + j, total)
        store(N, n * i + i, load(N, n * i + i) + (1.0 - load(flags, FLAGS + first + i)))
    factor_symmetric(N, n)
    zero_entries(from_entry(y, first), n)
    for _ in range(2):  # the second time what the first has left
        for i in range(n):
            total = load(inverses, first + i) * load(b, first + i)
            for k in range(i, n):
                total = total - load(E, n * i + k) * load(y, first + k)
            store(x, i, total)
        solve_factored(N, n, x, 0)
        for k in range(n):
            total = load(y, first + k)
            for i in range(k + 1):
                total = total + load(E, n * i + k) * load(x, i)
            store(y, first + k, total)


@kernel
def solve_rows(G, rows, first, width, b, sizes, energy, y, verdict):
    """y (rows,) of G y = b, and the verdict; rows from `first` on are free. b, G and sizes are overwritten (see `put_sizes`)."""
    inverses = workspace(G, rows + 1)
    largest = put_sizes(G, rows, width, sizes, energy)
    eliminate_rows(G, rows, rows, width, b, sizes, largest, inverses, verdict)
    for c in range(rows - 1, -1, -1):
        put_back(G, width, inverses, b, y, c, rows)
    depending = 0.0 * largest
    for c in range(first, rows):
        depending = depending + (1.0 - load(verdict, FLAGS + c))
    if rows > first and not all_below(depending, 0.5):
        least = workspace(G, rows + 1)
        put_least(G, rows, first, width, inverses, verdict, b, least)
        for c in range(first, rows):
            store(y, c, select_less(depending, 0.5, load(y, c), load(least, c)))
        for c in range(first - 1, -1, -1):
            put_back(G, width, inverses, b, y, c, rows)


def solve_whitened(topology, path, count, D, stride, X, width, x, b, sizes, energy, rows, first, verdict):
    """x (n,) grows by X y with X^T D^-1 X y = b - X^T D^-1 x: see `put_gram` and `solve_rows`. Returns y, and what `eliminate_rows`
    makes of X^T D^-1 X."""
    G, y = workspace(x, rows * width + 8), workspace(x, rows + 1)
    put_gram(topology, path, count, X, D, stride, rows, width, G)
    for n in range(count):
        j = load_int(topology, path + n)
        put_sum(b, -load(D, stride * j) * load(x, j), from_entry(X, width * j), rows, b)
    solve_rows(G, rows, first, width, b, sizes, energy, y, verdict)
    for n in range(count):
        j = load_int(topology, path + n)
        total = load(x, j)
        for i in range(rows):
            total = total + load(X, width * j + i) * load(y, i)
        store(x, j, total)
    return y, G


def solve_system(topology, parameters, system, a, y, verdict):
    """a (n,) and y (r,) with M a = f + J^T y, J a = b, and the verdict (model/layout.py). system: M (n, n), f (n,), J (r, n), b
    (r,), sizes (r,) of the terms of b, and the size of the terms of f as energy: the root of the sum of their squares by M's
    diagonal."""
    n, rows, found = table_int(topology, N_UNKNOWNS), table_int(topology, N_SYSTEM_ROWS), table_int(topology, SYSTEM_VERDICT)
    width = row_width(system, rows)
    L, x, X = workspace(system, n * n + 8), workspace(system, n + 1), workspace(system, n * width + 8)
    b, sizes, facts = workspace(system, rows + 1), workspace(system, rows + 1), workspace(system, found)
    f_at, J_at = n * n, n * n + n
    b_at = J_at + rows * n
    copy_entries(system, n * n, L)
    factor_symmetric(L, n)
    for j in range(n):
        store(x, j, load(system, f_at + j))
        zero_entries(from_entry(X, width * j), width)
        for i in range(rows):
            store(X, width * j + i, load(system, J_at + n * i + j))
        for k in range(j):
            store(x, j, load(x, j) - load(L, n * j + k) * load(x, k))
            add_scaled_row(X, width * j, -1.0 * load(L, n * j + k), X, width * k, 0, width)
    copy_entries(from_entry(system, b_at), rows, b)
    copy_entries(from_entry(system, b_at + rows), rows, sizes)
    path, first, energy_at = load_int(topology, TABLE_AT) + SYSTEM_FREE + 1, table_int(topology, SYSTEM_FREE), b_at + 2 * rows
    z, _ = solve_whitened(topology, path, n, L, n + 1, X, width, x, b, sizes, load(system, energy_at), rows, first, facts)
    for j in range(n - 1, -1, -1):
        total = load(x, j) * load(L, (n + 1) * j)
        for k in range(j + 1, n):
            total = total - load(L, n * k + j) * load(x, k)
        store(x, j, total)
    copy_entries(x, n, a)
    copy_entries(z, rows, y)
    copy_entries(facts, found, verdict)
