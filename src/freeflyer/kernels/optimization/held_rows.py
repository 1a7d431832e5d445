"""Rows of a hierarchy that are held at one of their limits: which are violated, and which multiplier has the wrong sign.

Lexicographic multipliers: the slope of a level that is not met is balanced by the rows held above it (Escande, Mansard and Wieber,
"Hierarchical quadratic programming: Fast online humanoid-robot motion generation", IJRR 33(7), 2014).
"""

from freeflyer.kernels.backend import integer, kernel, load, load_int, load_row, row_step, sqrt, store, store_row
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.rows import clear, dot

LOWER, FREE, UPPER, EQUAL = -1.0, 0.0, 1.0, 2.0  # what a row is held at
BEYOND = 1e-10  # of the size of a row's terms: a row that is outside of its limits by more is not within them
WRONG, DECIDED = 1e-10, 1e-9  # of the gradient: multipliers of the wrong sign above are wrong, of the right sign decide a row
ROUNDING = 1e-13  # of the size of a row's terms: a residual that is none
LARGEST = 1e300  # a limit beyond is none


def bound_of(held, lower, upper, i):
    return load(lower, i) if load(held, i) == LOWER else load(upper, i)


def put_row(metric, W, A, weights, i, n, width, T, parts):
    """Row i of T: sqrt(weight) W^T a, without a metric sqrt(weight) a; columns before the first entry of a stay zero."""
    scale, first, last = sqrt(load(weights, i)), 0, 0
    if metric:
        for j in range(n):
            x = load(A, width * i + j)
            store(parts, j, -scale * x)
            if x != 0.0:
                first, last = j if last == 0 else first, j + 1
        clear(T, width * i, width * i + width)
        subtract_products(T, width * i, first, width, parts, first, last, W, width)
    else:
        for k in range(0, width, row_step(T)):
            store_row(T, width * i + k, scale * load_row(A, width * i + k))


def hold(held, i, at, metric, W, A, weights, n, width, T, made, parts):
    """Holds row i at one of its limits, or releases it."""
    store(held, i, at)
    if at != FREE and load(made, i) == 0.0:
        put_row(metric, W, A, weights, i, n, width, T, parts)
        store(made, i, 1.0)


def first_hold(lower, upper, guess, i):
    """What a row is held at first: the guess if the row has that limit, as guesses may come from other rows."""
    at, given = FREE, load(guess, i)
    if load(lower, i) == load(upper, i):
        at = EQUAL
    elif given == LOWER and load(lower, i) > -LARGEST:
        at = LOWER
    elif given == UPPER and load(upper, i) < LARGEST:
        at = UPPER
    return at


@kernel
def hold_violated(held, lower, upper, values, lengths, length, m, metric, W, A, weights, n, width, T, made, parts):
    """Holds all rows that are outside of their limits; the first of them, m if there is none."""
    first = m
    for i in range(m):
        if load(held, i) == FREE:
            value, size = load(values, i), length * load(lengths, i)
            at = FREE
            if value > load(upper, i) + BEYOND * (size + abs(load(upper, i))):
                at = UPPER
            if value < load(lower, i) - BEYOND * (size + abs(load(lower, i))):
                at = LOWER
            if at != FREE:
                first = min(first, i)
                hold(held, i, at, metric, W, A, weights, n, width, T, made, parts)
    return first


@kernel
def wrong_row(levels, ends, held, rows, L, T, width, e, z, rank, residuals, unmet, multipliers, decided, locked, wrong, d):
    """The held limit whose lexicographic multiplier has most of the wrong sign, -1 if there is none; and the first of all rows of
    its level that are inside of their limits, which are released, m if there is only one.

    multipliers (m,): of the last level, which is least norm. locked (m,): 1 for rows that stay. wrong: the share of the gradient
    that counts."""
    m = load_int(ends, levels - 1) if levels > 0 else 0
    for i in range(m):
        store(decided, i, load(locked, i))
    worst, first, count, begin, before = -1, m, 0, 0, 0
    for k in range(levels + 1):
        last = k == levels
        end, gradient, most = m, 0.0, 0.0
        clear(d, 0, width)
        clear(multipliers, 0, m)
        if last:
            before = rank
            for j in range(rank):
                store(d, j, load(z, j))
                gradient += load(z, j) * load(z, j)
            gradient = sqrt(gradient)
        else:
            end = load_int(ends, k)
        if not last and load(unmet, k) != 0.0:
            for i in range(begin, end):
                if load(held, i) != FREE:
                    size = sqrt(dot(T, width * i, T, width * i, width))
                    gradient += (abs(load(residuals, i)) + ROUNDING / WRONG * abs(load(e, i))) * size
                    add_scaled_row(d, 0, load(residuals, i), L, width * i, 0, width)
            for i in range(begin, end):
                if load(held, i) != FREE and load(held, i) != EQUAL:
                    push = load(held, i) * load(residuals, i) * sqrt(dot(T, width * i, T, width * i, width))
                    if push > DECIDED * gradient:
                        store(decided, i, 1.0)
                    if push < -wrong * gradient and load(locked, i) == 0.0:
                        store(held, i, FREE)
                        first, count = min(first, i), count + 1
                        if push < most:
                            worst, most = i, push
        if worst < 0 and (last or load(unmet, k) != 0.0):
            for back in range(before):
                j = before - 1 - back
                i = integer(load(rows, j))
                x = -1.0 * load(d, j) / load(L, width * i + j)
                add_scaled_row(d, 0, x, L, width * i, 0, width)
                store(multipliers, i, x)
            for i in range(begin):
                at = load(held, i)
                if at != FREE and at != EQUAL and load(decided, i) == 0.0:
                    push = at * load(multipliers, i) * sqrt(dot(T, width * i, T, width * i, width))
                    if push > DECIDED * gradient:
                        store(decided, i, 1.0)
                    if push < -wrong * gradient and push < most:
                        worst, most = i, push
        if worst >= 0:
            return worst, first if count > 1 else m
        if not last:
            while load(rows, before) < end:
                before += 1
            begin = end
    return worst, m
