"""A motion in two parts, reduced whole-body control paper, section 3: chains that contacts need, beside the momentum of branches
that they do not.

Of a branch with mass matrix M_b and columns A of the centroidal momentum matrix, A M_b^-1 A^T = E P E^T. Its accelerations a appear
in everything else only by s = P^-1/2 E^-1 A a, of inertia 1. With W = M_b^-1 A^T E^-T P^-1/2, which moves it with least energy, it
pushes the kept chains by M_kb W, and rows J of tasks are J W beside what no motion with the same s changes."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, row_width, select_less, sqrt, store, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.control.layout import COMPRESSED, KEPT_AT, N_BRANCHES, N_COMPRESSED, N_FREE_ROWS, N_KEPT, N_LOOSE
from freeflyer.kernels.math.dense import copy_rows, put_rows
from freeflyer.kernels.optimization.condensation import eliminate_in_order, gram, subtract_products, whiten
from freeflyer.kernels.optimization.rows import dot

MOMENTUM = 6
CENTROIDAL = 1e-18  # of the square of a row of a task: what of it is none of a branch's momentum, and counts as rounding
NOT_CLEAR, UPPER_CLEAR, ALL_CLEAR = 0, 1, 2  # no level, all but the last, all
CLEAR = 1e-3  # of the square of a row: branches that move more in it can move so clearly


def put_columns(topology, places, count, A, rows, n, B, width):
    """B (rows, width): columns of A (rows, n) at `count` places, then zeros."""
    zero_entries(B, rows * width)
    for j in range(count):
        c = table_int(topology, places + j)
        for i in range(rows):
            store(B, width * i + j, load(A, n * i + c))


def smaller_share(left, whole, worst):
    """The smaller one of left / whole and what was found before."""
    share = left / select_less(0.0, whole, whole, 1.0)
    return select_less(share, worst, share, worst)


@kernel
def put_branch(topology, places, count, M, momentum, tasks, linear, n, p, t, X, stride, own):
    """Columns of X (count, stride): the momentum's, those of kept chains, of tasks, linear; own (count, count): the mass matrix."""
    for i in range(count):
        c, at = table_int(topology, places + i), stride * i
        zero_entries(from_entry(X, at), row_width(X, MOMENTUM + p + t + 1))
        for j in range(MOMENTUM):
            store(X, at + j, load(momentum, n * j + c))
        for j in range(p):
            store(X, at + MOMENTUM + j, load(M, n * c + table_int(topology, KEPT_AT + j)))
        for j in range(t):
            store(X, at + MOMENTUM + p + j, load(tasks, n * j + c))
        store(X, at + MOMENTUM + p + t, load(linear, c))
        for j in range(count):
            store(own, count * i + j, load(M, n * c + table_int(topology, places + j)))


def put_unit_rows(topology, positions, count, p, t, X, stride, own, at, metric, sloped, rows, A, u):
    """Branches that are not compressed: s is their accelerations."""
    N = p + table_int(topology, N_COMPRESSED)
    copy_rows(own, 0, count, count, count, from_entry(metric, p + at), p + at, N)
    for i in range(count):
        store(A, u * (at + i) + table_int(topology, positions + i), 1.0)
        for j in range(p):
            x = load(X, stride * i + MOMENTUM + j)
            store(metric, N * (p + at + i) + j, x)
            store(metric, N * j + p + at + i, x)
        for j in range(t):
            store(rows, N * j + p + at + i, load(X, stride * i + MOMENTUM + p + j))
        store(sloped, p + at + i, load(X, stride * i + MOMENTUM + p + t))


@kernel
def put_momentum_rows(topology, positions, places, count, p, t, momentum, n, X, stride, own, at, metric, sloped, rows, A, u, white,
                      sizes):  # fmt: skip
    """Compressed branches, whose s is their momentum; white (u + r, t) gets their whitened columns of tasks and then
    their rows of s, sizes (u + r,) the inverses of their pivots and then -1. The least pivot of s, beside its diagonal entry."""
    N, width = p + table_int(topology, N_COMPRESSED), row_width(X, MOMENTUM + p + t + 1)
    wide = row_width(X, width + count)
    S, inverses = workspace(X, MOMENTUM * wide + 8), workspace(X, count + 8)
    pivots, diagonal = workspace(X, MOMENTUM), workspace(X, MOMENTUM)
    whiten(own, count, X, stride, width, inverses)
    gram(inverses, X, stride, count, MOMENTUM, width, S, wide)
    for i in range(MOMENTUM):
        for j in range(count):
            store(S, wide * i + width + j, load(momentum, n * i + table_int(topology, places + j)))
        store(diagonal, i, load(S, wide * i + i))
    eliminate_in_order(S, MOMENTUM, wide, pivots)
    worst = 1.0
    for i in range(MOMENTUM):
        scale = sqrt(load(pivots, i))
        if load(pivots, i) > 0.0:  # else a direction that the branch does not have
            worst = smaller_share(load(S, wide * i + i), load(diagonal, i), worst)
            store(sizes, u + at + i, -1.0)
        store(metric, N * (p + at + i) + p + at + i, 1.0)
        for j in range(p):
            x = scale * load(S, wide * i + MOMENTUM + j)
            store(metric, N * (p + at + i) + j, x)
            store(metric, N * j + p + at + i, x)
        for j in range(t):
            x = scale * load(S, wide * i + MOMENTUM + p + j)
            store(rows, N * j + p + at + i, x)
            store(white, t * (u + at + i) + j, x)
        store(sloped, p + at + i, scale * load(S, wide * i + MOMENTUM + p + t))
        for j in range(count):
            store(A, u * (at + i) + table_int(topology, positions + j), scale * load(S, wide * i + width + j))
    first = MOMENTUM + p
    for c in range(count):
        place = table_int(topology, positions + c)
        store(sizes, place, load(inverses, c))
        copy_entries(from_entry(X, stride * c + first), t, from_entry(white, t * place))
    return worst


@kernel
def put_rows_left(tasks, rest, rows, A, n, p, t, u, r, left):
    """left (t,): 1 for rows of tasks that are none of (a_p, s)."""
    width = row_width(rest, u)
    wide, own = workspace(rest, r * width + 8), zero_workspace(rest, width + 8)
    put_rows(A, r, u, wide)
    for i in range(t):
        whole = 0.0
        for j in range(n):
            x = load(tasks, n * i + j)
            whole = whole + x * x
        copy_entries(from_entry(rest, u * i), u, own)
        subtract_products(own, 0, 0, width, from_entry(rows, (p + r) * i + p), 0, r, wide, width)
        store(left, i, 1.0 if dot(own, 0, own, 0, width) > CENTROIDAL * whole else 0.0)


@kernel
def least_row(white, sizes, left, t, u, r, end):
    """The least pivot of the rows before `end` that are left for the second part, where s = 0, beside the square of the row."""
    count, moves = 0, 0
    for i in range(end):
        count += 1 if load(left, i) == 1.0 else 0
    for c in range(u + r):
        moves += 1 if load(sizes, c) > 0.0 else -1 if load(sizes, c) < 0.0 else 0
    if count > moves:
        return 0.0
    width = row_width(white, count)
    X, S = zero_workspace(white, (u + r) * width + 8), workspace(white, count * width + 8)
    squares, pivots, to = workspace(white, count + 8), workspace(white, count + 8), 0
    for i in range(end):
        if load(left, i) == 1.0:
            total = 0.0
            for c in range(u + r):
                x = load(white, t * c + i)
                total = total + (load(sizes, c) * x * x if c < u else 0.0)
                store(X, width * c + to, x)
            store(squares, to, total)
            to += 1
    gram(sizes, X, width, u + r, count, width, S, width)
    eliminate_in_order(S, count, width, pivots)
    worst = 1.0
    for i in range(count):
        worst = smaller_share(load(S, width * i + i), load(squares, i), worst)
    return worst


@kernel
def split_by_chains(topology, n, k, t, squares, linear, M, momentum, contacts, tasks, metric, sloped, fixed, rows, A, own, rest,
                    left):  # fmt: skip
    """metric (N, N) and sloped (N,) of the energy over (a_p, s), contacts fixed (k, N) and tasks rows (t, N); s = A a_u, A (r, u),
    of the branches with mass matrix own (u, u) and rows rest (t, u) of the tasks. left (t,): 1 for rows left for the branches.

    topology: the table of the split. linear (n,), M (n, n), momentum (6, n), contacts (k, n), tasks (t, n), the last `squares` rows
    the last level. How far branches can move clearly in the directions that are asked of them (NOT_CLEAR, ...)."""
    p, u, r = table_int(topology, N_KEPT), table_int(topology, N_LOOSE), table_int(topology, N_COMPRESSED)
    N = p + r
    loose_at = KEPT_AT + p
    put_columns(topology, KEPT_AT, p, contacts, k, n, fixed, N)
    put_columns(topology, KEPT_AT, p, tasks, t, n, rows, N)
    put_columns(topology, loose_at, u, tasks, t, n, rest, u)
    for i in range(u):
        put_columns(topology, loose_at, u, from_entry(M, n * table_int(topology, loose_at + i)), 1, n, from_entry(own, u * i), u)
    zero_entries(metric, N * N)
    zero_entries(A, r * u)
    for i in range(p):
        c = table_int(topology, KEPT_AT + i)
        store(sloped, i, load(linear, c))
        for j in range(p):
            store(metric, N * i + j, load(M, n * c + table_int(topology, KEPT_AT + j)))
    stride = row_width(linear, MOMENTUM + p + t + 1) + row_width(linear, u)
    X, block = workspace(linear, u * stride + 8), workspace(linear, u * u + 8)
    white, sizes = zero_workspace(linear, (u + r) * t + 8), zero_workspace(linear, u + r + 8)
    record, at, worst = loose_at + u + table_int(topology, N_FREE_ROWS), 0, 1.0
    for _ in range(table_int(topology, N_BRANCHES)):
        count, places = table_int(topology, record), record + 2
        positions = places + count
        put_branch(topology, places, count, M, momentum, tasks, linear, n, p, t, X, stride, block)
        if table_int(topology, record + 1) == COMPRESSED:
            least = put_momentum_rows(
                topology, positions, places, count, p, t, momentum, n, X, stride, block, at, metric, sloped, rows, A, u, white,
                sizes)  # fmt: skip
            worst = select_less(least, worst, least, worst)
            at += MOMENTUM
        else:
            put_unit_rows(topology, positions, count, p, t, X, stride, block, at, metric, sloped, rows, A, u)
            at += count
        record = positions + count
    put_rows_left(tasks, rest, rows, A, n, p, t, u, r, left)
    if min(worst, least_row(white, sizes, left, t, u, r, t - squares)) < CLEAR:
        return NOT_CLEAR
    return ALL_CLEAR if least_row(white, sizes, left, t, u, r, t) >= CLEAR else UPPER_CLEAR
