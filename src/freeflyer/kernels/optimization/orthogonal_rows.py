"""Least squares of rows in levels, by orthonormal rows: T y = e, each level as well as the levels above it allow, y of least norm.

Gram and Schmidt's method makes orthonormal rows Q of the rows T that are held, in their order: T_i = sum_j L_ij Q_j. A row is made
orthogonal again if little is left of it; twice is enough (Giraud, Langou and Rozloznik, "The loss of orthogonality in the
Gram-Schmidt orthogonalization process", 2005). A row of which nothing is left depends on the rows before it. So y = sum_j z_j Q_j,
and L z = e is solved level by level. If rows of a level contradict each other or rows above, z is the level's least-squares
solution. If one row is held or released, Q and L are turned (Givens): rows behind it move on by a column, until one of them depends
on those before it or no longer does. If little is left of a row, it is compared with the rounding of the rows of which it is a
sum (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, ch. 19).
"""

from freeflyer.kernels.backend import kernel, load, load_int, load_row, row_step, row_total, row_width, sqrt, store, store_row
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products

ENOUGH = 0.5  # of a row's squared length: if more is left of it, it is orthogonal to working precision
DEPENDENT = 1e-11  # of a row's length: a row of which less is left depends on rows before it
UNCLEAR, ROUNDING = 1e-5, 1e-14  # of a row's length: if less is left of it, this share of the rows that add up to it is rounding
SMALL, LONG = 1e-6, 1e7  # of a row's length, of the length of a solution: a row of which less is left is not met by so long a one
FREE = float("inf")  # the length of a direction that least squares leave free: its share becomes zero
FLAT = 1e-9  # of a level's largest slope: a direction in which it changes by less, or that is so much longer, is free
UNMET = 1e-10  # of the size of a row's terms: residuals above are residuals


def dot(A, i, B, j, width):
    """Product of `width` numbers of A from i on and of B from j on, whole rows."""
    total = 0.0 * load_row(A, i)
    for k in range(0, width, row_step(A)):
        total = total + load_row(A, i + k) * load_row(B, j + k)
    return row_total(A, total)


def clear(A, start, end):
    for k in range(start, end):
        store(A, k, 0.0)


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


def set_part(L, at, parts, n, width):
    """A row of L from n numbers, zero behind them."""
    clear(L, at + n, at + width)
    for j in range(n):
        store(L, at + j, load(parts, j))


def is_unclear(L, T, i, j, width):
    """Whether entry j of row i of L may be rounding."""
    entry = load(L, width * i + j)
    return entry * entry <= UNCLEAR * UNCLEAR * dot(T, width * i, T, width * i, width)


@kernel
def is_rounding(L, own, i, rank, width, parts):
    """Whether entry `rank` of row i of L is not more than rounding leaves of the rows before it, of which the row is the sum."""
    total, j, left = sqrt(dot(L, width * i, L, width * i, width)), rank, load(L, width * i + rank)
    for k in range(width):  # whole rows, as they are added whole
        store(parts, k, load(L, width * i + k))
    for back in range(i):
        k = i - 1 - back
        if load(own, k) != 0.0:
            j -= 1
            x = load(parts, j) / load(L, width * k + j)
            add_scaled_row(parts, 0, -x, L, width * k, 0, j)
            total += abs(x) * sqrt(dot(L, width * k, L, width * k, width))
    return left <= ROUNDING * total


@kernel
def factor_rows(T, held, first, m, n, width, Q, L, own, parts):
    """Q and L of the rows of T that are held, from row `first` on; own (m,): 1 for rows independent of those before them."""
    rank = 0
    for i in range(first):
        if load(own, i) != 0.0:
            rank += 1
    for i in range(first, m):
        store(own, i, 0.0)
        if load(held, i) != 0.0 and rank == n:
            put_products(Q, n, width, width, T, width * i, parts)
            set_part(L, width * i, parts, n, width)
        elif load(held, i) != 0.0:
            for k in range(0, width, row_step(Q)):
                store_row(Q, width * rank + k, load_row(T, width * i + k))
            if add_orthogonal(Q, rank, width, width, L, width * i, width, parts):
                if is_unclear(L, T, i, rank, width) and is_rounding(L, own, i, rank, width, parts):
                    store(L, width * i + rank, 0.0)
                else:
                    store(own, i, 1.0)
                    rank += 1


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
def exchange_row(T, held, i, m, n, rank, width, Q, L, own, parts):
    """Q, L and own as of `factor_rows`, after row i is held or released; whether all rows still are clearly independent or not."""
    place, last = 0, rank
    for k in range(i):
        if load(own, k) != 0.0:
            place += 1
    if load(held, i) == 0.0:
        going = load(own, i) != 0.0
        store(own, i, 0.0)
        for k in range(i + 1, m):
            if going and load(own, k) != 0.0:
                turn(L, held, k, place, m, width, Q)
                place += 1
            elif going and load(held, k) != 0.0:
                going = depends(L, T, k, place, width)
                if not going and is_unclear(L, T, k, place, width):
                    return False
                store(own, k, 0.0 if going else 1.0)
                if going:
                    store(L, width * k + place, 0.0)
        return True
    for k in range(0, width, row_step(Q)):
        store_row(Q, width * rank + k, load_row(T, width * i + k))
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
        if place <= last and load(own, k) != 0.0:
            place += 1
            if place > last:
                if last < rank:
                    store(own, k, 0.0)
            elif is_unclear(L, T, k, place, width):
                return False
    return True


@kernel
def solve_least_squares(L, held, begin, end, before, rank, width, e, z, residuals, U, R, parts):
    """z from `before` to `rank` of least squares of the residuals L z - e of the rows from `begin` to `end` that are held."""
    columns, high = rank - before, row_width(L, end - begin)
    wide = row_width(L, columns + 1)
    for j in range(columns + 1):
        clear(U, high * j, high * j + high)
    for i in range(begin, end):
        if load(held, i) != 0.0:
            for j in range(columns):
                store(U, high * j + i - begin, load(L, width * i + before + j))
    largest, far = 0.0, True
    for j in range(columns):
        largest = max(largest, sqrt(dot(U, high * j, U, high * j, high)))
    for j in range(columns):
        if not add_orthogonal(U, j, high, high, R, wide * j, wide, parts) or load(R, wide * j + j) < FLAT * largest:
            clear(U, high * j, high * j + high)
            store(R, wide * j + j, FREE)
    for i in range(begin, end):
        if load(held, i) != 0.0:
            total = load(e, i)
            for j in range(before):
                total -= load(L, width * i + j) * load(z, j)
            store(U, high * columns + i - begin, total)
    reach = sqrt(dot(U, high * columns, U, high * columns, high))
    while far:
        clear(R, wide * columns, wide * columns + wide)
        for j in range(columns):
            store(R, wide * columns + j, dot(U, high * j, U, high * columns, high))
        far, least, flattest = False, FREE, 0
        for j in range(columns - 1, -1, -1):
            pivot = load(R, wide * j + j)
            x = load(R, wide * columns + j) / pivot
            store(z, before + j, x)
            far = far or abs(x) * FLAT * largest > reach
            if pivot < least:
                least, flattest = pivot, j
            for k in range(j):
                store(R, wide * columns + k, load(R, wide * columns + k) - x * load(R, wide * j + k))
        if far:
            store(R, wide * flattest + flattest, FREE)
    for i in range(begin, end):
        if load(held, i) != 0.0:
            store(residuals, i, residual_of(L, width, i, rank, z, e))


def residual_of(L, width, i, rank, z, e):
    total = -1.0 * load(e, i)
    for j in range(rank):
        total += load(L, width * i + j) * load(z, j)
    return total


def size_of(L, width, i, rank, z, e):
    """Size of the terms of a row."""
    total = abs(load(e, i))
    for j in range(rank):
        total += abs(load(L, width * i + j) * load(z, j))
    return total


@kernel
def solve_levels(levels, ends, held, L, own, width, e, z, residuals, unmet, U, R, parts):
    """z (rank,) of the held rows L z = e (m,); level k ends before row ends[k]. residuals (m,): L z - e in levels that cannot be
    met, else zero; unmet (levels,): 1 for these levels. Returns the rank."""
    rank, begin = 0, 0
    for k in range(levels):
        before, end = rank, load_int(ends, k)
        for i in range(begin, end):
            store(residuals, i, 0.0)
            if load(own, i) != 0.0:
                store(z, rank, -1.0 * residual_of(L, width, i, rank, z, e) / load(L, width * i + rank))
                rank += 1
        met = True
        for i in range(begin, end):
            if load(held, i) != 0.0 and load(own, i) == 0.0:
                met = met and abs(residual_of(L, width, i, rank, z, e)) <= UNMET * size_of(L, width, i, rank, z, e)
        store(unmet, k, 0.0)
        if not met:
            store(unmet, k, 1.0)
            solve_least_squares(L, held, begin, end, before, rank, width, e, z, residuals, U, R, parts)
        begin = end
    return rank


def far_row(held, L, T, own, m, width, e, z):
    """The first row that is almost dependent on those before it, and could only be met by a z many times as long; -1 if none is."""
    rank, square = 0, 0.0
    for i in range(m):
        if load(own, i) != 0.0:
            x, pivot, size = load(z, rank), load(L, width * i + rank), dot(T, width * i, T, width * i, width)
            if pivot * pivot < SMALL * SMALL * size and x * x > LONG * LONG * (square + load(e, i) * load(e, i) / size):
                store(own, i, 0.0)
                store(L, width * i + rank, 0.0)
                return i
            square += x * x
            rank += 1
    return -1


def put_combination(z, rank, Q, width, y):
    """y (width,) = sum_j z_j Q_j."""
    clear(y, 0, width)
    for j in range(rank):
        add_scaled_row(y, 0, load(z, j), Q, width * j, 0, width)
