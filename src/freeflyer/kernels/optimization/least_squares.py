"""Solutions of rows in levels from their factors L: L z = e, each level as well as the levels above it allow.

If rows of a level contradict each other or rows above, z is the level's least-squares solution. A direction in which a level hardly
changes is left to the levels below.
"""

from freeflyer.kernels.backend import from_entry, integer, kernel, load, load_int, row_width, sqrt, store
from freeflyer.kernels.optimization.orthogonal_rows import BARRED, WAITING
from freeflyer.kernels.optimization.rows import add_orthogonal, clear, dot

SMALL, LONG = 1e-6, 1e7  # of a row's length, of the length of a solution: a row of which less is left is not met by so long a one
FREE = float("inf")  # the length of a column that least squares do not use: its share becomes zero
FLAT = 1e-9  # of a level's largest slope: it hardly changes in a direction of less, or if it were so much longer to go there
UNMET = 1e-10  # of the size of a row's terms: residuals above are residuals
ALONE = 0.999999  # of its squared length: the direction that is lost without a row is this one if they have so much in common


@kernel
def bar_row(L, own, rows, begin, end, before, columns, flat, width, R, wide, d, v):
    """Bars the row of a level, from `begin` to `end`, without which the other independent ones have least of the direction in which
    the level hardly changes; and the rows that wait. None if another direction were lost with it. flat: the column that depends on
    those before it, by the factor R, which gives the direction v. d, v: room for `columns` numbers."""
    clear(v, 0, columns)
    store(v, flat, -1.0)
    whole = 1.0
    for back in range(flat):
        c = flat - 1 - back
        total = load(R, wide * flat + c)
        for k in range(c + 1, flat):
            total -= load(v, k) * load(R, wide * k + c)
        total /= load(R, wide * c + c)
        store(v, c, total)
        whole += total * total
    best, most = 0, 0.0
    for j in range(columns):  # d is the direction that the rows of all other columns do not have
        square, share = 0.0, 0.0
        for c in range(j, columns):
            i = integer(load(rows, before + c))
            total = 1.0 if c == j else 0.0
            for k in range(j, c):
                total -= load(L, width * i + before + k) * load(d, k)
            total /= load(L, width * i + before + c)
            store(d, c, total)
            square, share = square + total * total, share + total * load(v, c)
        if share * share > most * square:
            best, most = j, share * share / square
    if most > ALONE * whole:
        for i in range(begin, end):
            if load(own, i) == WAITING:
                store(own, i, BARRED)
        store(own, integer(load(rows, before + best)), BARRED)


@kernel
def solve_least_squares(L, held, own, rows, begin, end, before, rank, width, e, z, residuals, U, R, parts):
    """z from `before` to `rank` of least squares of the residuals L z - e of the rows from `begin` to `end` that are held. If they
    hardly change along a direction, a row is barred, so that lower levels have this direction."""
    columns, high = rank - before, row_width(L, end - begin)
    wide = row_width(L, columns + 1)
    for j in range(columns + 1):
        clear(U, high * j, high * j + high)
    for i in range(begin, end):
        if load(held, i) != 0.0:
            for j in range(columns):
                store(U, high * j + i - begin, load(L, width * i + before + j))
            store(U, high * columns + i - begin, -1.0 * residual_of(L, width, i, before, z, e))
    reach = sqrt(dot(U, high * columns, U, high * columns, high))
    largest, far, least, flattest, flat = 0.0, False, FREE, 0, -1
    for j in range(columns):
        largest = max(largest, sqrt(dot(U, high * j, U, high * j, high)))
    for j in range(columns):
        if not add_orthogonal(U, j, high, high, R, wide * j, wide, parts) or load(R, wide * j + j) < FLAT * largest:
            clear(U, high * j, high * j + high)
            store(R, wide * j + j, FREE)
            flat = j if flat < 0 else flat
    clear(R, wide * columns, wide * columns + wide)
    for j in range(columns):
        store(R, wide * columns + j, dot(U, high * j, U, high * columns, high))
    for j in range(columns - 1, -1, -1):
        pivot = load(R, wide * j + j)
        x = load(R, wide * columns + j) / pivot
        store(z, before + j, x)
        far = far or abs(x) * FLAT * largest > reach
        if pivot < least:
            least, flattest = pivot, j
        for k in range(j):
            store(R, wide * columns + k, load(R, wide * columns + k) - x * load(R, wide * j + k))
    for i in range(begin, end):
        if load(held, i) != 0.0:
            store(residuals, i, residual_of(L, width, i, rank, z, e))
    if far and flat < 0:
        flat = flattest
    if flat >= 0:
        bar_row(L, own, rows, begin, end, before, columns, flat, width, R, wide, from_entry(z, before), parts)


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
def solve_levels(levels, ends, held, L, own, rows, width, e, z, residuals, unmet, U, R, parts):
    """z (rank,) of the held rows L z = e (m,); level k ends before row ends[k]. residuals (m,): L z - e in levels that cannot be
    met, else zero; unmet (levels,): 1 for these levels. Returns the rank."""
    rank, begin = 0, 0
    for k in range(levels):
        before, end = rank, load_int(ends, k)
        clear(residuals, begin, end)
        while load(rows, rank) < end:
            i = integer(load(rows, rank))
            store(z, rank, -1.0 * residual_of(L, width, i, rank, z, e) / load(L, width * i + rank))
            rank += 1
        met = True
        for i in range(begin, end):
            if load(held, i) != 0.0 and load(own, i) <= 0.0:
                met = met and abs(residual_of(L, width, i, rank, z, e)) <= UNMET * size_of(L, width, i, rank, z, e)
        store(unmet, k, 0.0)
        if not met:
            store(unmet, k, 1.0)
            solve_least_squares(L, held, own, rows, begin, end, before, rank, width, e, z, residuals, U, R, parts)
        begin = end
    return rank


def far_row(L, T, own, rows, rank, width, e, z):
    """The first row that is almost dependent on those before it, and could only be met by a z many times as long, which is then
    barred; -1 if none is."""
    square = 0.0
    for j in range(rank):
        i, x = integer(load(rows, j)), load(z, j)
        pivot, size = load(L, width * i + j), dot(T, width * i, T, width * i, width)
        if pivot * pivot < SMALL * SMALL * size and x * x > LONG * LONG * (square + load(e, i) * load(e, i) / size):
            store(own, i, BARRED)
        if load(own, i) == BARRED:
            return i
        square += x * x
    return -1
