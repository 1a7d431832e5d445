"""A point near the solution of a hierarchy, level by level: its violations least beside a small share of the metric, and limits of
levels above kept.

Equations of levels above, and limits that they need, are eliminated by orthonormal rows. The inequalities follow by the dual method
of Goldfarb and Idnani ("A numerically stable dual method for solving strictly convex quadratic programs", Mathematical Programming
27, 1983): from the minimum without them, the limit that is exceeded most is held, and limits whose multipliers vanish on the way
are released. Limits of levels above are hard. A limit of the level has a variable of its own, by which it is missed. Each pass goes
on from where the last one has ended (the proximal point method), and begins with the limits that the last one has held. Passes are
lengthened along their line; if they are slow, the share of the metric falls.

If a level seems to be met in the end, its rows become of one size, as weights do not matter then. If more limits are exceeded than
there are unknowns, these are squares of the level's matrix, as equations are, and the others wait: Newton's method, damped by a
larger share of the metric at first, with the least violations on each line.
"""

from freeflyer.kernels.backend import (
    from_entry, integer, kernel, load, load_int, load_row, rint, row_step, row_width, sqrt, store, store_row, workspace)
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.metric import move_up, put_direction, put_inverse_factor, release_row, solve_transposed
from freeflyer.kernels.optimization.rows import add_orthogonal, clear, dot, put_combination, put_products, set_row

FREE, EQUAL = 0.0, 2.0  # as in hierarchy.py
SHARE, SMALLER_SHARE = 1e-10, 1e-12  # of the metric, beside a level: where one leads astray, the other may not
GOLDEN = 0.6180339887498949  # its multiples spread evenly: no two entries change alike
EASED = 1e-7  # of a row's terms: by how much limits are relaxed for the levels below, so that rounding leaves room among them
HARD = 1e-300  # softness of limits of levels above: none, though not zero, which marks rows that are no limits
OUTSIDE = 1e-10  # of the size of a row's terms: violations below are none
RESTING, LEFT = 1e-5, 1e-4  # of a row: one of which less is left does not change, nor is it a limit
MISSED = 1e-5  # of a row's size: a level whose rows miss their limits by less is met
MOVED, ROOM = 1e-3, 1e-300  # of the length of y: passes that move it by less are the last
DECIDED = 1e-8  # of the gradient of a level that is not met: it needs limits whose multipliers are larger
LARGEST, LATER = 1e300, -1.0  # LATER: softness of limits that damped steps leave out
STOPPED, LEVEL = 1e-9, 1e-13  # of a direction and a row, of the terms of a slope: a smaller rate or slope is none
SLOW, SHARPER = 0.5, 0.1  # of the way of the pass before: a pass that moves more is slow; the share of the metric then, of SHARE
SEARCHES, FARTHEST = 10, 1e4  # rounds on a line; how often a pass may be repeated along its line
DAMPED, BACK, SHORT = 1e-2, 0.5, 0.8  # of the damping before, if less than BACK of a step is taken back; steps that help little
STEPS, FIRST_STEPS = 9, 3  # damped steps of a level, at most, and those that may be short
FALLING, PASSES = 0.5, 12  # of the slope before: passes go on if it falls below, as if a level can be met; the most
CHANGES = 5  # for each row: the largest number of rows held, which is reached if rows depend on each other


def spread(i):
    """A number from -1/2 to 1/2 for each i; those of many i are spread evenly."""
    return GOLDEN * i - rint(GOLDEN * i)


def put_level_metric(T, from_row, end, squares, share, n, width, W, M, packed, R, parts):
    """W W^T, the inverse of the matrix of a level: share and the products of rows times `squares` (m,). The last four: room."""
    clear(M, 0, n * width)
    for i in range(from_row, end):
        if load(squares, i) != 0.0:
            for j in range(n):
                if load(T, width * i + j) != 0.0:
                    add_scaled_row(M, width * j, load(squares, i) * load(T, width * i + j), T, width * i, 0, width)
    for i in range(n):
        for j in range(n):
            store(packed, n * i + j, load(M, width * i + j))
        store(packed, n * i + i, share + load(M, width * i + i))
    put_inverse_factor(packed, n, width, W, R, parts)


@kernel
def put_free_minimum(T, side, from_row, end, squares, share, n, width, y, rest, W, g, h):
    """y moves to the least share/2 |rest + d|^2 + 1/2 sum_i squares_i (T_i d - side_i)^2 of these rows. g, h: room."""
    clear(g, 0, width)
    add_scaled_row(g, 0, -share, rest, 0, 0, width)
    for i in range(from_row, end):
        if load(squares, i) != 0.0:
            add_scaled_row(g, 0, load(squares, i) * load(side, i), T, width * i, 0, width)
    put_combination(g, n, W, width, h)
    put_direction(True, W, h, n, width, g)
    add_scaled_row(y, 0, 1.0, g, 0, 0, width)


def release(place, count, slacks, L, stride, Q, wide, width, multipliers, slots, owners, held):
    """The limit that is held at `place` is released; how many have variables of their own. The last of these takes the place of
    its own, if it has one."""
    slot, last = load(slots, place), slacks - 1
    store(held, integer(load(owners, place)), FREE)
    for buffer in (multipliers, slots, owners):
        move_up(buffer, place, count)
    release_row(place, count, L, stride, Q, wide, row_width(Q, width + slacks))
    if slot < 0.0:
        return slacks
    for j in range(count - 1):
        to, at = wide * j + width + integer(slot), wide * j + width + last
        store(Q, to, load(Q, at))
        store(Q, at, 0.0)
        if load(slots, j) == 1.0 * last:
            store(slots, j, slot)
    return last


@kernel
def move(share, W, u, fixed, rank, n, width, y, d, parts):
    """y (width,) moves by this share of W u; what rounding has left along fixed rows goes."""
    put_direction(True, W, u, n, width, d)
    put_products(fixed, rank, width, width, d, 0, parts)
    subtract_products(d, 0, 0, width, parts, 0, rank, fixed, width)
    add_scaled_row(y, 0, share, d, 0, 0, width)


@kernel
def put_limit(p, side, count, slacks, P, n, W, width, soft, slots, owners, Q, wide, L, stride, parts):
    """Row `count` of L Q becomes limit p in the metric, beside the variable by which it is missed if it is soft. Whether it is
    independent of the rows before, and how many have variables of their own."""
    at = wide * count
    for j in range(n):
        store(parts, j, -side * load(P, width * p + j))
    clear(Q, at, at + wide)
    subtract_products(Q, at, 0, width, parts, 0, n, W, width)
    store(owners, count, 1.0 * p)
    store(slots, count, -1.0)
    if soft > HARD:
        store(Q, at + width + slacks, sqrt(soft))
        store(slots, count, 1.0 * slacks)
        slacks += 1
    return add_orthogonal(Q, count, wide, row_width(Q, width + slacks), L, stride * count, stride, parts), slacks


@kernel
def keep_limits(count, slacks, T, P, fixed, rank, low, high, softness, sizes, floor, end, m, n, width, W, y, held, strengths, L, Q,
                wide, owners, multipliers, slots, norms, listed, step, d, parts):  # fmt: skip
    """y moves until limits of the first rows, before `end`, are kept, by d = W u with u of least norm. P (m, width): how rows may
    still change, orthogonal to the rows that are fixed (rank, width). held (m,): -1 and 1 for limits that hold y, of which `count`
    are known at first; strengths (m,): their multipliers times the size of their rows. norms (m,): sizes of rows in the metric,
    zero if unknown. floor: the least length of y that counts for rounding. The last four: room. Returns how many hold y, and how
    many of them have variables of their own."""
    stride = row_width(T, 2 * n + 1)
    clear(d, 0, width)
    rounds, going, candidates = 0, True, 0
    while count > 0:
        for j in range(count):
            i = integer(load(owners, j))
            value, side = dot(T, width * i, y, 0, width), load(held, i)
            store(multipliers, j, value - load(high, i) if side > 0.0 else load(low, i) - value)
        for j in range(count):
            x = load(multipliers, j) / load(L, stride * j + j)
            store(parts, j, x)
            for k in range(j + 1, count):
                store(multipliers, k, load(multipliers, k) - load(L, stride * k + j) * x)
        place, worst = -1, 0.0
        for j in range(count):
            store(multipliers, j, load(parts, j))
        solve_transposed(L, count, stride, multipliers)
        for j in range(count):
            if load(multipliers, j) < worst:
                place, worst = j, load(multipliers, j)
        if place < 0:
            clear(step, 0, stride)
            for j in range(count):
                add_scaled_row(step, 0, load(parts, j), Q, wide * j, 0, width)
            move(-1.0, W, step, fixed, rank, n, width, y, d, parts)
            break
        slacks = release(place, count, slacks, L, stride, Q, wide, width, multipliers, slots, owners, held)
        count -= 1
    while going and rounds < CHANGES * m and count < 2 * n:
        worst, p, side, least = 0.0, -1, 1.0, OUTSIDE * max(floor, sqrt(dot(y, 0, y, 0, width)))
        every, exceeded = candidates == 0, 0
        if every:
            put_products(T, end, width, width, y, 0, strengths)
        for k in range(end if every else candidates):
            i = k if every else integer(load(listed, k))
            if load(held, i) == FREE and load(softness, i) > 0.0:
                value = load(strengths, i) if every else dot(T, width * i, y, 0, width)
                over, under = value - load(high, i), load(low, i) - value
                if max(over, under) > least * load(sizes, i):
                    if load(norms, i) == 0.0:
                        put_combination(from_entry(P, width * i), n, W, width, parts)
                        store(norms, i, sqrt(dot(parts, 0, parts, 0, width)))
                    store(listed, exceeded, 1.0 * i)
                    exceeded += 1
                    if max(over, under) > worst * load(norms, i):
                        worst, p, side = max(over, under) / load(norms, i), i, 1.0 if over > under else -1.0
        candidates = exceeded
        going, own, adding = p >= 0 or not every, 0.0, p >= 0
        while adding:
            rounds += 1
            soft, at = load(softness, p), wide * count
            free, more = put_limit(p, side, count, slacks, P, n, W, width, soft, slots, owners, Q, wide, L, stride, parts)
            clear(step, 0, stride)
            for j in range(count):
                store(step, j, -1.0 * load(L, stride * count + j))
            store(step, count, 1.0)
            store(multipliers, count, own)
            solve_transposed(L, count, stride, step)
            length, t, place = load(L, stride * count + count), LARGEST, count
            if free:
                value = dot(T, width * p, y, 0, width)
                t = ((value - load(high, p) if side > 0.0 else load(low, p) - value) - own * soft) / (length * length)
            for j in range(count):
                if load(step, j) < 0.0 and -1.0 * load(multipliers, j) > t * load(step, j):
                    t, place = -1.0 * load(multipliers, j) / load(step, j), j
            if t >= LARGEST:  # rounding is left of it
                store(softness, p, 0.0)
                break
            move(-t * length, W, from_entry(Q, at), fixed, rank, n, width, y, d, parts)
            add_scaled_row(multipliers, 0, t, step, 0, 0, count + 1)
            own = load(multipliers, count)
            if place == count:
                store(held, p, side)
                count, slacks = count + 1, more
                adding = False
            else:
                slacks = release(place, count, slacks, L, stride, Q, wide, width, multipliers, slots, owners, held)
                count -= 1
                adding = rounds < CHANGES * m
    clear(strengths, 0, m)
    for j in range(count):
        i = integer(load(owners, j))
        store(strengths, i, load(multipliers, j) * load(sizes, i))
    return count, slacks


@kernel
def least_on_line(T, y, d, low, high, begin, end, softness, sizes, width, values, rates, least, most):
    """t between `least`, below zero, and `most` for which y + t d misses the limits of rows from `begin` to `end` by least squares
    and keeps those of levels above. values, rates (m,): room."""
    put_products(T, end, width, width, y, 0, values)
    put_products(T, end, width, width, d, 0, rates)
    t, length = 0.0, sqrt(dot(d, 0, d, 0, width))
    for i in range(begin):
        rate = load(rates, i)
        if load(softness, i) > 0.0 and abs(rate) > STOPPED * length * load(sizes, i):
            limit = load(low, i) if rate > 0.0 else load(high, i)
            least = max(least, min((limit - load(values, i)) / rate, 0.0))
    for _ in range(SEARCHES):
        slope, curvature, size = 0.0, 0.0, 0.0
        for i in range(begin, end):
            rate = load(rates, i)
            value = load(values, i) + t * rate
            miss = value - min(max(value, load(low, i)), load(high, i))
            if miss != 0.0:
                slope, curvature, size = slope + miss * rate, curvature + rate * rate, size + abs(miss * rate)
        if abs(slope) <= LEVEL * size:
            break
        least, most = (least, t) if slope > 0.0 else (t, most)
        t = min(max(t - slope / max(curvature, ROOM), least), most)
    return t


@kernel
def put_stages(levels, last, relative, ends, T, low, high, sizes, m, n, width, y, held, softness, strengths, R, parts):
    """y (width,) near the solution of the levels before `last`, and of the least norm if `last` is behind all of them. relative:
    the share of the metric beside a level.

    held (m,): 2 for equations, 0 for others; becomes -1 and 1 for limits that hold y. low, high (m,): limits of T y, which become
    those that are kept. softness, strengths, R, parts: room."""
    P, Q, W = workspace(T, m * width + 8), workspace(T, (n + 1) * width + 8), workspace(T, n * width + 8)
    squares, locked, rest, sums = workspace(T, m + 8), workspace(T, m + 8), workspace(T, width + 8), workspace(T, width + 8)
    stride = row_width(T, 2 * n + 1)
    wide = width + stride
    L, S, owners = workspace(T, (2 * n + 1) * stride + 8), workspace(T, (2 * n + 1) * wide + 8), workspace(T, stride + 8)
    multipliers, slots, step = workspace(T, stride + 8), workspace(T, stride + 8), workspace(T, stride + 8)
    values, rates, listed = workspace(T, m + 8), workspace(T, m + 8), workspace(T, m + 8)
    norms, d, u, before = workspace(T, m + 8), workspace(T, width + 8), workspace(T, width + 8), workspace(T, width + 8)
    clear(y, 0, width)
    clear(locked, 0, m)
    for k in range(m * width // row_step(T)):
        store_row(P, row_step(T) * k, load_row(T, row_step(T) * k))
    rank, begin, above, enough, length = 0, 0, 0, LARGEST, 0.0
    for stage in range(last):
        known = rank
        for i in range(begin):  # what levels above have reached
            if load(locked, i) == 0.0:
                value = dot(T, width * i, y, 0, width)
                if load(held, i) == EQUAL or load(strengths, i) > enough:
                    store(locked, i, 1.0)
                    if rank < n and dot(P, width * i, P, width * i, width) > RESTING * RESTING * load(sizes, i) * load(sizes, i):
                        set_row(Q, width * rank, P, width * i, width)
                        if add_orthogonal(Q, rank, width, width, sums, 0, width, parts):
                            rank += 1
                else:
                    store(held, i, FREE)
                    room = EASED * (1.0 + spread(i)) * load(sizes, i) * length if i >= above else 0.0
                    store(low, i, min(load(low, i), value) - room)
                    store(high, i, max(load(high, i), value) + room)
        end, share, longest = m, 1.0, 1.0
        if stage < levels:
            end, longest = load_int(ends, stage), 0.0
            for i in range(begin, end):
                longest = max(longest, load(sizes, i) * load(sizes, i))
            share = relative * longest
        fresh = from_entry(Q, width * known)
        for i in range(m):
            store(softness, i, 0.0)
            store(squares, i, 1.0 if begin <= i < end and load(held, i) == EQUAL else 0.0)
            if load(locked, i) == 0.0:
                put_products(fresh, rank - known, width, width, P, width * i, parts)
                subtract_products(P, width * i, 0, width, parts, 0, rank - known, fresh, width)
                own, size = dot(P, width * i, P, width * i, width), load(sizes, i) * load(sizes, i)
                if load(held, i) == FREE and i < end and own > LEFT * LEFT * size:
                    store(softness, i, 1.0 if i >= begin else HARD)
        clear(rest, 0, width)
        if stage == levels:
            put_products(Q, rank, width, width, y, 0, parts)
            set_row(rest, 0, y, 0, width)
            subtract_products(rest, 0, 0, width, parts, 0, rank, Q, width)
        passes, enough, moved, gradient, count, slacks = 0, 0.0, 1.0, LARGEST, 0, 0
        last_moved, falling, large = LARGEST, True, relative == SHARE
        clear(multipliers, 0, stride)
        many, even, again, damped, damping, steps, eased = True, False, True, False, DAMPED, STEPS, share
        while passes < PASSES and enough < LARGEST and (passes < 2 or moved > MOVED or falling or (damped and eased > share)):
            if passes > 1 and stage < levels and not many and not even and large:
                t = least_on_line(T, y, before, low, high, begin, end, softness, sizes, width, values, rates, -FARTHEST, 0.0)
                add_scaled_row(y, 0, t, before, 0, 0, width)
            passes += 1
            last_gradient = gradient
            set_row(before, 0, y, 0, width)
            slow = large and passes > 2 and stage < levels and not many and not even and moved > SLOW * last_moved
            share, large, last_moved = SHARPER * share if slow else share, large and not slow, moved
            outside, renewed = 0, many or even or slow
            for i in range(begin, end):
                value = dot(T, width * i, y, 0, width)
                store(strengths, i, min(max(value, load(low, i)), load(high, i)) - value)
                if load(softness, i) + load(squares, i) != 0.0 and load(strengths, i) != 0.0 and load(low, i) != load(high, i):
                    outside += 1
            damped = steps > 0 and (outside > n if passes < 2 or (passes < 3 and count >= 2 * n) else damped)
            many = damped or outside > n
            even = again and passes > 2 and falling and not many
            again = again and (even or passes <= 2)  # once, as passes may alternate
            if many or even or renewed:
                for i in range(m):
                    own, weight = load(softness, i) + load(squares, i) != 0.0, 1.0
                    limit = own and load(held, i) != EQUAL
                    if own and begin <= i < end:
                        if even:
                            weight = longest / max(load(sizes, i) * load(sizes, i), share)
                        square = not limit or (many and load(strengths, i) != 0.0)
                        store(squares, i, weight if square else 0.0)
                        store(softness, i, 0.0 if square else LATER if damped else 1.0 / weight)
                    if limit and not load(softness, i) > 0.0:
                        store(held, i, FREE)
                count, slacks = 0, 0
                clear(norms, 0, m)
                eased = max(share, damping * longest) if damped else share
                put_level_metric(P, begin, end, squares, eased, n, width, W, S, L, R, parts)
                for i in range(m):  # limits that the pass before has held
                    side = load(held, i)
                    if side * side == 1.0 and load(softness, i) > 0.0:
                        free, more = put_limit(
                            i, side, count, slacks, P, n, W, width, load(softness, i), slots, owners, S, wide, L, stride, parts)
                        slacks = more if free else slacks
                        store(held, i, side if free else FREE)
                        count += 1 if free else 0
            put_free_minimum(P, strengths, begin, end, squares, eased, n, width, y, rest, W, d, u)
            count, slacks = keep_limits(
                count, slacks, T, P, Q, rank, low, high, softness, sizes, 0.0, end, m, n, width, W, y, held, strengths, L, S, wide,
                owners, multipliers, slots, norms, listed, step, d, parts)  # fmt: skip
            add_scaled_row(before, 0, -1.0, y, 0, 0, width)
            back, far = 0.0, dot(before, 0, before, 0, width) > MOVED * MOVED * dot(y, 0, y, 0, width)
            if damped:
                back = least_on_line(T, y, before, low, high, begin, end, softness, sizes, width, values, rates, 0.0, 1.0)
                add_scaled_row(y, 0, back, before, 0, 0, width)
                damping *= DAMPED if back < BACK else 1.0
                steps = 0 if passes > FIRST_STEPS and back > SHORT and far else steps - 1
                passes = passes if steps > 0 else 1
            length, gradient, enough = sqrt(dot(y, 0, y, 0, width)), 0.0, LARGEST
            for i in range(end):
                value = dot(T, width * i, y, 0, width)
                miss = value - min(max(value, load(low, i)), load(high, i))
                if i >= begin:
                    gradient += abs(miss) * load(sizes, i)
                    store(strengths, i, max(load(strengths, i), abs(miss) * load(sizes, i) if load(squares, i) > 0.0 else 0.0))
                    if abs(miss) > MISSED * load(sizes, i) * length:
                        enough = 0.0
            enough, falling = max(enough, DECIDED * gradient), gradient < FALLING * last_gradient
            moved = (1.0 - back) * sqrt(dot(before, 0, before, 0, width)) / max(length, ROOM)
        above, begin = begin, end
