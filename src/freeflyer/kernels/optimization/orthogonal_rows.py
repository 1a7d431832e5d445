"""Factors of the rows T that are held, in levels: orthonormal rows Q with T_i = sum_j L_ij Q_j (Gram and Schmidt, rows.py).

A row of which nothing is left depends on the rows before it. So T y = e has the solution y = sum_j z_j Q_j of least norm with
L z = e, which least_squares.py solves level by level. A row of which little is left waits for the other rows of its level, because
its direction is not accurate, and what is left of later rows would be wrong by that. Of those that wait, the one of which most is
left comes first. What is left is compared with the rounding of the rows of which the row is a sum (Higham, "Accuracy and Stability
of Numerical Algorithms", 2002, ch. 19).

If one row is held or released, Q and L are turned (Givens): rows behind it move on by a column, until one of them depends on those
before it or no longer does. If rows of its level or of levels below waited, they are factored again.
"""

from freeflyer.kernels.backend import integer, kernel, load, load_int, load_row, row_step, sqrt, store, store_row
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.rows import DEPENDENT, add_orthogonal, dot, put_products, set_part, set_row

WAITING, BARRED = -1.0, -2.0  # rows of which little is left; rows that count as dependent, as they could only be met far away
UNCLEAR, ROUNDING = 1e-5, 1e-14  # of a row's length: if less is left of it, this share of the rows that add up to it is rounding


def is_unclear(L, T, i, j, width):
    """Whether entry j of row i of L may be rounding."""
    entry = load(L, width * i + j)
    return entry * entry <= UNCLEAR * UNCLEAR * dot(T, width * i, T, width * i, width)


@kernel
def is_rounding(L, rows, i, rank, width, parts):
    """Whether entry `rank` of row i of L is not more than rounding leaves of the rows of which the row is the sum."""
    total, left = sqrt(dot(L, width * i, L, width * i, width)), load(L, width * i + rank)
    for k in range(width):  # whole rows, as they are added whole
        store(parts, k, load(L, width * i + k))
    for back in range(rank):
        j = rank - 1 - back
        k = integer(load(rows, j))
        x = load(parts, j) / load(L, width * k + j)
        add_scaled_row(parts, 0, -x, L, width * k, 0, j)
        total += abs(x) * sqrt(dot(L, width * k, L, width * k, width))
    return left <= ROUNDING * total


def rank_before(own, end):
    """How many rows before `end` are independent."""
    count = 0
    for i in range(end):
        if load(own, i) > 0.0:
            count += 1
    return count


def level_of(levels, ends, i):
    level = 0
    while level < levels and i >= load_int(ends, level):
        level += 1
    return level


def level_begin(ends, level):
    return load_int(ends, level - 1) if level > 0 else 0


def in_order(own, begin, end):
    """Whether no row from `begin` to `end` waited for others of its level."""
    rank, ordered = rank_before(own, begin), True
    for i in range(begin, end):
        if load(own, i) != 0.0:
            rank += 1
            ordered = ordered and load(own, i) == rank
    return ordered


@kernel
def put_left(T, i, rank, n, width, Q, L, parts):
    """Row `rank` of Q and row i of L: what is left of row i of T beside the rows before, as a share of its length."""
    set_row(Q, width * rank, T, width * i, width)
    if add_orthogonal(Q, rank, width, width, L, width * i, width, parts):
        return load(L, width * i + rank) / sqrt(dot(T, width * i, T, width * i, width))
    return 0.0


def set_column(own, rows, i, rank, waited):
    store(own, i, rank + 1.0 + waited)
    store(rows, rank, i)
    return rank + 1


def number_columns(own, rows, begin, m):
    """Columns of independent rows from `begin` on, in their order."""
    rank = rank_before(own, begin)
    for i in range(begin, m):
        if load(own, i) > 0.0:
            rank = set_column(own, rows, i, rank, 0.0)
    store(rows, rank, m)


@kernel
def add_unclear_rows(begin, end, T, rank, n, width, Q, L, own, rows, parts):
    """Of the rows from `begin` to `end` that wait, those that are independent of all others of their level, that of which most is
    left first; the rows that depend on others have all parts that Q gives them. Returns the rank."""
    best = begin
    while best >= 0 and rank < n:
        best, most = -1, 0.0
        for i in range(begin, end):
            if load(own, i) == WAITING:
                share = put_left(T, i, rank, n, width, Q, L, parts)
                if share > most and not is_rounding(L, rows, i, rank, width, parts):
                    best, most = i, share
        if best >= 0:
            put_left(T, best, rank, n, width, Q, L, parts)
            rank = set_column(own, rows, best, rank, 0.5)
    for i in range(begin, end):
        if load(own, i) < 0.0:
            put_products(Q, rank, width, width, T, width * i, parts)
            set_part(L, width * i, parts, rank, width)
    return rank


@kernel
def factor_rows(levels, ends, T, held, first, keep, m, n, width, Q, L, own, rows, parts):
    """Q and L of the rows of T that are held, from row `first` on or from the start of its level. own (m,): columns of independent
    rows, counted from 1, 0.5 more if they waited; 0 for rows that depend on rows before them, negative if they depend on others of
    their level. rows (n + 1,): of the columns, then m. keep: 1.0 if rows that were barred remain so.

    If little is left of a row, it waits for the others of its level, as it may be a sum of them by large shares."""
    level = level_of(levels, ends, first)
    begin = level_begin(ends, level)
    start = first if in_order(own, begin, first) else begin
    rank = rank_before(own, start)
    waiting = False
    for i in range(start, m):
        barred = keep != 0.0 and load(own, i) == BARRED
        store(own, i, BARRED if barred else 0.0)
        if load(held, i) != 0.0 and rank == n:
            put_products(Q, n, width, width, T, width * i, parts)
            set_part(L, width * i, parts, n, width)
        elif barred:
            waiting = True
        elif load(held, i) != 0.0:
            share = put_left(T, i, rank, n, width, Q, L, parts)
            if share >= UNCLEAR:
                rank = set_column(own, rows, i, rank, 0.0)
            elif share > 0.0:
                store(own, i, WAITING)
                waiting = True
        while level < levels and i + 1 == load_int(ends, level):
            if waiting:
                rank = add_unclear_rows(level_begin(ends, level), i + 1, T, rank, n, width, Q, L, own, rows, parts)
            waiting = False
            level += 1
    store(rows, rank, m)


def turn(L, held, i, j, m, width, Q):
    """Columns j and j + 1 of the held rows of L (m, width), and rows of Q, turn so that entry (i, j + 1) vanishes (Givens)."""
    a, b = load(L, width * i + j), load(L, width * i + j + 1)
    r = sqrt(a * a + b * b)
    c, s = a / r, b / r
    store(L, width * i + j, r)
    store(L, width * i + j + 1, 0.0)
    for k in range(i + 1, m):
        if load(held, k) != 0.0:
            at = width * k + j
            a, b = load(L, at), load(L, at + 1)
            store(L, at, c * a + s * b)
            store(L, at + 1, c * b - s * a)
    for k in range(width * j, width * j + width, row_step(Q)):
        x, y = load_row(Q, k), load_row(Q, k + width)
        store_row(Q, k, c * x + s * y)
        store_row(Q, k + width, c * y - s * x)


def depends(L, T, i, j, width):
    """Whether the entry of L at which row i of T would be independent of those before it is none."""
    entry = load(L, width * i + j)
    return entry * entry <= DEPENDENT * DEPENDENT * dot(T, width * i, T, width * i, width)


@kernel
def exchange_row(levels, ends, T, held, i, m, n, rank, width, Q, L, own, rows, parts):
    """Q, L, own and rows as of `factor_rows`, after row i is held or released; whether all rows still are clearly independent or
    not."""
    place, last, begin = rank_before(own, i), rank, level_begin(ends, level_of(levels, ends, i))
    if not in_order(own, begin, m):
        return False
    if load(held, i) == 0.0:
        going = load(own, i) > 0.0
        store(own, i, 0.0)
        for k in range(i + 1, m):
            if going and load(own, k) > 0.0:
                turn(L, held, k, place, m, width, Q)
                place += 1
            elif going and load(held, k) != 0.0:
                going = depends(L, T, k, place, width)
                if not going and is_unclear(L, T, k, place, width):
                    return False
                store(own, k, 0.0 if going else 1.0)
                if going:
                    store(L, width * k + place, 0.0)
        number_columns(own, rows, begin, m)
        return True
    set_row(Q, width * rank, T, width * i, width)
    if rank == n or not add_orthogonal(Q, rank, width, width, L, width * i, width, parts):
        if rank == n:
            put_products(Q, n, width, width, T, width * i, parts)
            set_part(L, width * i, parts, n, width)
        last = rank - 1
        while last >= place and depends(L, T, i, last, width):
            store(L, width * i + last, 0.0)
            last -= 1
    if last >= place and is_unclear(L, T, i, last, width):
        return False
    store(own, i, 1.0 if last >= place else 0.0)
    for back in range(last - place):
        turn(L, held, i, last - 1 - back, m, width, Q)
    for k in range(i + 1, m):
        if place <= last and load(own, k) > 0.0:
            place += 1
            if place > last:
                if last < rank:
                    store(own, k, 0.0)
            elif is_unclear(L, T, k, place, width):
                return False
    number_columns(own, rows, begin, m)
    return True
