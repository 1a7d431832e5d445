"""The shortest step that keeps limits, by the dual method of Goldfarb and Idnani ("A numerically stable dual method for solving
strictly convex quadratic programs", Mathematical Programming 27, 1983).

Rows that may be missed have a slack each: P_i d + s w_i >= b_i, least |d|^2 + |w|^2; hard rows have none. Held rows, of length
1, are L Q, with Q orthonormal in (d, w). The step and its multipliers follow from L alone, x = L^-1 b and L^-T x, so that no error
adds up. Each row that is held raises |d|^2 + |w|^2. So no set of held rows comes twice, however many limits meet in one point.
"""

from __future__ import annotations

from freeflyer.kernels.backend import inlined, integer, kernel, load, row_width, sqrt, store
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.metric import move_up, release_row, set_row, solve_transposed
from freeflyer.kernels.optimization.orthogonal_rows import add_orthogonal, clear, dot, put_products

OUT_OF_PLAY = -1.0  # softness of rows that hold nothing
OUTSIDE = 1e-10  # of the size of a row's terms: violations below are none
DEPENDENT = 1e-12  # of a row's length: a row of which less is left depends on the held ones
CHANGES = 10  # for each row: the largest number of rows held and released
STILL = 1e-12  # of the largest change of a multiplier: smaller ones are none
LARGEST = 1e300
NONE = -1.0  # the slot of a row without slack


@kernel
def add_slack_row(P, at, scale, slack, slot, n, width, count, Q, wide, used, L, stride, parts):
    """Row `count` of L Q: scale times the row of P from `at` on, and a slack. Whether it is independent of those before."""
    to = wide * count
    clear(Q, to, to + wide)
    for j in range(n):
        store(Q, to + j, scale * load(P, at + j))
    store(Q, to + width + slot, slack)
    return add_orthogonal(Q, count, wide, used, L, stride * count, stride, DEPENDENT, parts)


@inlined
def free_slot(softness, free_slots):
    """A column for the slack of a row, zero for hard rows."""
    slot = 0
    while softness > 0.0 and load(free_slots, slot) == 0.0:
        slot += 1
    return slot


@inlined
def target_of(i, side, low, high, base, norms):
    """How far a row, of length 1, must move to its lower (side 1) or upper limit (-1)."""
    return side * ((load(low, i) if side > 0.0 else load(high, i)) - load(base, i)) / load(norms, i)


@inlined
def take(p, count, side, target, softness, slot, places, targets, sides, slots, free_slots):
    """Row p is held at place `count`."""
    store(places, p, 1.0 * count)
    store(targets, count, target)
    store(sides, count, side)
    store(slots, count, 1.0 * slot if softness > 0.0 else NONE)
    if softness > 0.0:
        store(free_slots, slot, 0.0)


@kernel
def put_step(count, targets, L, stride, Q, wide, width, x, multipliers, d):
    """The shortest step d (width,) to the targets of the held rows, and their multipliers."""
    clear(x, 0, stride)
    clear(d, 0, width)
    for j in range(count):
        store(x, j, (load(targets, j) - dot(L, stride * j, x, 0, row_width(L, j + 1))) / load(L, stride * j + j))
    for j in range(count):
        store(multipliers, j, -1.0 * load(x, j))
    subtract_products(d, 0, 0, width, multipliers, 0, count, Q, wide)
    set_row(multipliers, 0, x, 0, stride)
    solve_transposed(L, count, stride, multipliers)


@kernel
def drop(place, count, m, L, stride, Q, wide, used, targets, sides, slots, free_slots, places):
    """The row that is held at `place` is released."""
    if load(slots, place) >= 0.0:
        store(free_slots, integer(load(slots, place)), 1.0)
    for buffer in (targets, sides, slots):
        move_up(buffer, place, count)
    release_row(place, count, m, L, stride, Q, wide, used, places)


@kernel
def keep_limits(equations, count, used, P, base, low, high, softness, sizes, norms, floor, end, n, width, L, stride, Q, wide, most,
                places, targets, sides, slots, free_slots, x, multipliers, d, values, step, parts):  # fmt: skip
    """d (width,): the shortest step from the rows' values `base` (m,) to values between low and high (m,), for rows before `end`.

    `count` rows are held at first, of which the first ones are `equations`. softness (m,): the size of a row's slack, zero for hard
    rows. floor: a length whose rounding is no violation. Returns how many rows are held, the columns of Q that are used, and
    whether all limits are kept."""
    for i in range(end):
        if load(places, i) >= 0.0:
            for j in range(equations, count):
                if load(places, i) == 1.0 * j:
                    store(targets, j, target_of(i, load(sides, j), low, high, base, norms))
    put_step(count, targets, L, stride, Q, wide, width, x, multipliers, d)
    wrong = True
    while wrong:
        place, worst = -1, 0.0
        for j in range(equations, count):
            if load(multipliers, j) < worst:
                place, worst = j, load(multipliers, j)
        wrong = place >= 0
        if wrong:
            drop(place, count, end, L, stride, Q, wide, used, targets, sides, slots, free_slots, places)
            count -= 1
            put_step(count, targets, L, stride, Q, wide, width, x, multipliers, d)
    changes, going = 0, True
    while going and changes < CHANGES * end and count < most:
        largest, p, side, length = 0.0, -1, 1.0, floor + sqrt(dot(d, 0, d, 0, width))
        put_products(P, end, width, width, d, 0, values)
        for i in range(end):
            if load(softness, i) >= 0.0 and load(places, i) < 0.0:
                value = load(base, i) + load(values, i)
                over, under = value - load(high, i), load(low, i) - value
                outside = max(over, under)
                if outside > OUTSIDE * length * load(sizes, i) and outside > largest * load(norms, i):
                    largest, p, side = outside / load(norms, i), i, -1.0 if over > under else 1.0
        going, adding, own = p >= 0, p >= 0, 0.0
        while adding:
            changes += 1
            soft = load(softness, p)
            slot = free_slot(soft, free_slots)
            used = max(used, row_width(L, width + slot + 1))
            free = add_slack_row(
                P, width * p, side / load(norms, p), soft / load(norms, p), slot, n, width, count, Q, wide, used, L, stride, parts
            )  # fmt: skip
            target, at = target_of(p, side, low, high, base, norms), stride * count
            set_row(step, 0, L, at, stride)
            solve_transposed(L, count, stride, step)
            t, place, length = LARGEST, count, load(L, at + count)
            if free:
                t = (target - dot(L, at, x, 0, row_width(L, count + 1))) / (length * length)
            largest = 1.0
            for j in range(equations, count):
                largest = max(largest, abs(load(step, j)))
            for j in range(equations, count):
                if load(step, j) > STILL * largest and load(multipliers, j) < t * load(step, j):
                    t, place = max(load(multipliers, j) / load(step, j), own), j
            own, adding = t, place < count
            if t >= LARGEST:  # rounding is left of it
                store(softness, p, OUT_OF_PLAY)
                adding = False
            elif place == count:
                take(p, count, side, target, soft, slot, places, targets, sides, slots, free_slots)
                count += 1
            else:
                drop(place, count, end, L, stride, Q, wide, used, targets, sides, slots, free_slots, places)
                count -= 1
                adding = changes < CHANGES * end
            put_step(count, targets, L, stride, Q, wide, width, x, multipliers, d)
    return count, used, not going
