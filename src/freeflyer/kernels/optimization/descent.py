"""Where many limits meet: the direction of steepest descent of a hierarchy that keeps all of them, and which of them it needs.

The slope of a level is projected onto the directions that rows at their limits in the levels above allow: non-negative least
squares, by the dual method of penalties.py. If nothing is left of it, the limits that balance it, with multipliers of the right
sign, prove that the level is optimal; they are equations for the levels below. Else what is left is a direction along which the
level improves, whichever limits were held before.
"""

from freeflyer.kernels.backend import (
    from_entry, kernel, load, load_int, load_row, release, row_step, row_width, sqrt, store, store_row, taken, workspace)
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.held_rows import EQUAL, FREE, LARGEST, LOWER, ROUNDING, UPPER, WRONG, put_row
from freeflyer.kernels.optimization.penalties import HARD, keep_limits
from freeflyer.kernels.optimization.rows import add_orthogonal, clear, dot, put_products, set_row

RESTING = 1e-8  # of a row: one of which less is left does not change
NEEDED = 1e-9  # of a level's slope: it needs limits whose multipliers are larger
FLOOR = 0.01  # of a level's slope: what counts as its length for the rates of rows, however little is left of it
AT = 1e-10  # of the size of a row's terms: a row nearer to its limit is at it
LESS, NOISE = 1e-15, 1e-11  # of the square of a level's violation, of its terms: falls that are less than both are none


@kernel
def put_sides(low, high, weights, values, lengths, length, m, metric, W, A, n, width, T, made, sides, residuals, parts):
    """sides and residuals (m,) of the rows' values, as of `steepest`."""
    for i in range(m):
        value, side, missed, room = load(values, i), FREE, 0.0, AT * length * load(lengths, i)
        over, under = value - load(high, i), load(low, i) - value
        if load(low, i) == load(high, i):
            side, missed = EQUAL, over
        elif over > -room - AT * abs(value):
            side, missed = UPPER, over
        elif under > -room - AT * abs(value):
            side, missed = LOWER, -under
        if abs(missed) <= room + AT * abs(value):
            missed = 0.0
        if side != FREE and load(made, i) == 0.0:
            put_row(metric, W, A, weights, i, n, width, T, parts)
            store(made, i, 1.0)
        store(sides, i, side)
        store(residuals, i, sqrt(load(weights, i)) * missed)


@kernel
def lengthen(levels, ends, level, held, sides, T, m, width, direction):
    """The direction of steepest descent becomes a step to the level's least value; rows at their limits in this level and below
    that it passes are held."""
    slope, curvature, begin, end = dot(direction, 0, direction, 0, width), 0.0, 0, m
    if level > 0:
        begin = load_int(ends, level - 1)
    if level < levels:
        end = load_int(ends, level)
    for i in range(begin, m):
        side = load(sides, i)
        rate = dot(T, width * i, direction, 0, width) if side != FREE else 0.0
        if load(held, i) == FREE and side * rate > 0.0:
            store(held, i, side)
        if i < end and load(held, i) != FREE:
            curvature += rate * rate
    share = slope / curvature if level < levels else 1.0
    for k in range(0, width, row_step(direction)):
        store_row(direction, k, share * load_row(direction, k))


def fall(begin, end, held, sides, T, residuals, sizes, y, width, direction):
    """The square of a level's violation, and whether it falls along this direction by more than rounding may be."""
    slope, curvature, value, terms = dot(direction, 0, direction, 0, width), 0.0, 0.0, 0.0
    for i in range(begin, end):
        rate = dot(T, width * i, direction, 0, width) if load(sides, i) != FREE else 0.0
        if load(held, i) != FREE or load(sides, i) * rate > 0.0:
            curvature, value = curvature + rate * rate, value + load(residuals, i) * load(residuals, i)
            terms += load(sizes, i) * load(sizes, i)
    noise = NOISE * sqrt(terms * dot(y, 0, y, 0, width) * value)
    return value, slope * slope > min(LESS * value, 2.0 * noise) * curvature


@kernel
def steepest(accepted, levels, ends, held, sides, T, residuals, y, tolerance, m, n, width, multipliers, locked, direction, parts):
    """The first level that is not optimal at y (width,), its violation's square, and its direction (width,) of steepest descent;
    `levels` for the norm of y, one more if all is optimal. Levels before `accepted` are taken for optimal.

    sides (m,): 2 for equations, 1 and -1 for rows beyond or at their upper or lower limit, 0 for others. residuals (m,): of
    equations and of rows beyond their limits, zero for others. held (m,): becomes what must be held. multipliers (m,): of the
    level. locked (m,): 1 for rows that hold levels above it, which are optimal. tolerance: the share of a level's slope that may be
    left."""
    before = taken(T)
    P, Q, W = workspace(T, m * width + 8), workspace(T, (n + 1) * width + 8), workspace(T, n * width + 8)
    stride = row_width(T, 2 * n + 1)
    wide = width + stride
    L, S, owners = workspace(T, (2 * n + 1) * stride + 8), workspace(T, (2 * n + 1) * wide + 8), workspace(T, stride + 8)
    balancing, slots, step = workspace(T, stride + 8), workspace(T, stride + 8), workspace(T, stride + 8)
    sizes, low, high, softness = workspace(T, m + 8), workspace(T, m + 8), workspace(T, m + 8), workspace(T, m + 8)
    previous, listed = workspace(T, m + 8), workspace(T, m + 8)
    norms, signs, d, sums = workspace(T, m + 8), workspace(T, m + 8), workspace(T, width + 8), workspace(T, width + 8)
    clear(W, 0, n * width)
    for j in range(n):
        store(W, width * j + j, 1.0)
    for i in range(m):
        side = load(sides, i)
        store(previous, i, load(held, i))
        store(locked, i, 0.0)
        store(held, i, side if side == EQUAL or load(residuals, i) != 0.0 else FREE)
        store(sizes, i, 0.0)
        store(low, i, 0.0 if side < 0.0 else -LARGEST)
        store(high, i, 0.0 if side > 0.0 else LARGEST)
        clear(P, width * i, width * i + width)
        if side != FREE:
            set_row(P, width * i, T, width * i, width)
            store(sizes, i, sqrt(dot(T, width * i, T, width * i, width)))
    rank, begin, k, found, value = 0, 0, -1, levels + 1, 0.0
    while k < levels and found > levels:
        k += 1
        end, gradient, known = m, 0.0, rank
        clear(direction, 0, width)
        if k == levels:
            add_scaled_row(direction, 0, -1.0, y, 0, 0, width)
            gradient = sqrt(dot(y, 0, y, 0, width))
        else:
            end = load_int(ends, k)
            for i in range(begin, end):
                if load(held, i) != FREE:  # other rows may not be made
                    add_scaled_row(direction, 0, -1.0 * load(residuals, i), T, width * i, 0, width)
                    terms = ROUNDING / WRONG * abs(dot(T, width * i, y, 0, width))
                    gradient += (abs(load(residuals, i)) + terms) * load(sizes, i)
        put_products(Q, rank, width, width, direction, 0, parts)
        subtract_products(direction, 0, 0, width, parts, 0, rank, Q, width)
        clear(softness, 0, m)
        clear(norms, 0, m)
        clear(signs, 0, m)
        clear(multipliers, 0, m)
        clear(balancing, 0, stride)
        least = tolerance * gradient
        if dot(direction, 0, direction, 0, width) > least * least:
            for i in range(begin):
                if load(sides, i) != FREE and load(held, i) == FREE:
                    own, size = dot(P, width * i, P, width * i, width), load(sizes, i)
                    store(softness, i, HARD if own > RESTING * RESTING * size * size else 0.0)
            keep_limits(
                0, 0, P, P, Q, rank, low, high, softness, sizes, FLOOR * gradient, begin, m, n, width, W, direction, signs,
                multipliers, L, S, wide, owners, balancing, slots, norms, listed, step, d, parts)  # fmt: skip
            if k >= accepted and dot(direction, 0, direction, 0, width) > least * least:
                value, less = fall(begin, end, held, sides, T, residuals, sizes, y, width, direction)
                found = k if less or k == levels else found
        for i in range(end):
            needed = i < begin and load(multipliers, i) > NEEDED * gradient
            if needed:
                store(held, i, load(sides, i))
            if load(held, i) != FREE and (needed or i >= begin) and found > levels:
                size = load(sizes, i)
                store(locked, i, 1.0)
                if rank < n and dot(P, width * i, P, width * i, width) > RESTING * RESTING * size * size:
                    set_row(Q, width * rank, P, width * i, width)
                    rank += 1 if add_orthogonal(Q, rank, width, width, sums, 0, width, parts) else 0
        fresh = from_entry(Q, width * known)
        for i in range(m):
            if load(sides, i) != FREE and load(held, i) == FREE:
                put_products(fresh, rank - known, width, width, P, width * i, parts)
                subtract_products(P, width * i, 0, width, parts, 0, rank - known, fresh, width)
        begin = end
    for i in range(m):
        if found <= levels and load(held, i) == FREE and load(previous, i) == load(sides, i) and load(sides, i) != FREE:
            rate = load(sides, i) * dot(T, width * i, direction, 0, width)
            if rate > -RESTING * load(sizes, i) * sqrt(dot(direction, 0, direction, 0, width)):
                store(held, i, load(sides, i))
    release(T, before)
    return found, value
