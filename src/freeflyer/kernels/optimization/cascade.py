"""Strict hierarchies level by level: each level's least squares within the limits of the levels above, by steps of least distance.

Rows of a level have slacks, as small as SLACK of their size: the step d is the shortest, but its level goes first by 1 / SLACK^2.
Steps are repeated until SLACK^2 d is no part of the level's slope (proximal points: Rockafellar, "Monotone operators and the
proximal point algorithm", SIAM Journal on Control and Optimization 14(5), 1976). Then equations, rows that miss their limits, and
limits whose multipliers balance these, become equations for the levels below, all other rows limits. Last, y is shortest.
"""

from __future__ import annotations

from freeflyer.kernels.backend import from_entry, inlined, integer, kernel, load, load_int, row_width, sqrt, store, workspace
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.held_rows import EQUAL, FREE, LOWER, UPPER
from freeflyer.kernels.optimization.least_distance import (
    NONE, OUT_OF_PLAY, add_slack_row, free_slot, keep_limits, put_step, take, target_of,
)
from freeflyer.kernels.optimization.metric import set_row
from freeflyer.kernels.optimization.orthogonal_rows import DEPENDENT, add_orthogonal, clear, dot, put_products

SLACK, LEAST_SLACK = 1e-6, 1e-8  # of a level's longest row: the size of slacks, and the least one, for directions that are flat
RESTING = 1e-8  # of a row: one of which less is left does not change
COMBINED = 1e-6  # of a limit: one of which less is left beside a level's own rows remains a limit
MISSED = 1e-10  # of the size of a row's terms: rows that miss their limits by less are met
GAIN = 1e-9  # of a level's squares: steps that may gain less are the last
TOLERATED = 1e-6  # of a level's slope: what may be left of it if steps run out
DECIDED, DOUBT = 1e-7, 1e4  # of a level's slope, and of what is left of it: limits with larger multipliers are equations below
FAR = 1e4  # times the length of y: a longer first step is shortened by larger slacks
PASSES = 12  # steps of a level, at most


@kernel
def triangular(B, count, n, width, factors, sums):
    """Rows of B (count, width), right sides in column n, become upper triangular (Householder); how many rows are left."""
    last = min(count, n)
    for j in range(last):
        square = 0.0
        for i in range(j, count):
            square += load(B, width * i + j) * load(B, width * i + j)
        first = load(B, width * j + j)
        r = -1.0 * sqrt(square) if first > 0.0 else sqrt(square)
        if square > 0.0:
            for i in range(j, count):
                store(factors, i, -1.0 * load(B, width * i + j))
            store(factors, j, r - first)
            clear(sums, 0, width)
            subtract_products(sums, 0, 0, width, factors, j, count, B, width)
            for i in range(j, count):
                add_scaled_row(B, width * i, load(factors, i) / (r * (r - first)), sums, 0, 0, width)
    return last


@kernel
def subtract_basis(P, at, T, to, Q, first, last, width, parts):
    """Row P from `at` on becomes that of T without its parts along rows `first` to `last` of Q."""
    fresh = from_entry(Q, width * first)
    set_row(P, at, T, to, width)
    for _ in range(2):
        put_products(fresh, last - first, width, width, P, at, parts)
        subtract_products(P, at, 0, width, parts, 0, last - first, fresh, width)


@inlined
def rests(at, value, low, high, room):
    """Whether a row is at the limit at which it was held."""
    return value >= high - room if at == UPPER else value <= low + room


@kernel
def put_cascade(levels, ends, T, low, high, sizes, m, n, width, y, held, parts):
    """y (width,) of the hierarchy T y between low and high (m,); held (m,): what holds it. low and high become those that are kept.

    sizes (m,): lengths of rows. Returns how many steps it took, and whether each level ended."""
    P, F, B = workspace(T, m * width + 8), workspace(T, (n + 1) * width + 8), workspace(T, m * row_width(T, n + 1) + 8)
    stride, broad = row_width(T, 3 * n + 1), row_width(T, n + 1)
    wide = width + stride
    L, Q, places = workspace(T, (3 * n + 1) * stride + 8), workspace(T, (3 * n + 1) * wide + 8), workspace(T, m + 8)
    targets, sides, slots = workspace(T, stride + 8), workspace(T, stride + 8), workspace(T, stride + 8)
    free_slots, x, multipliers = workspace(T, stride + 8), workspace(T, stride + 8), workspace(T, stride + 8)
    step, d, base, values = workspace(T, stride + 8), workspace(T, width + 8), workspace(T, m + 8), workspace(T, m + 8)
    softness, norms, missed = workspace(T, m + 8), workspace(T, m + 8), workspace(T, m + 8)
    locked, squares, factors, near = workspace(T, m + 8), workspace(T, m + 8), workspace(T, m + 8), workspace(T, m + 8)
    left_once = workspace(T, m + 8)
    clear(y, 0, width)
    clear(locked, 0, m)
    for i in range(m):
        store(places, i, NONE)
    rank, begin, stage, steps, ended = 0, 0, 0, 0, True
    known = 0
    while stage <= levels and rank < n:
        end, longest, last = m, 0.0, stage == levels
        if not last:
            end = load_int(ends, stage)
        for i in range(end):
            store(softness, i, OUT_OF_PLAY)
            if load(locked, i) == 0.0:
                if i < begin:
                    subtract_basis(P, width * i, P, width * i, F, known, rank, width, parts)
                else:
                    subtract_basis(P, width * i, T, width * i, F, 0, rank, width, parts)
                left = sqrt(dot(P, width * i, P, width * i, width))
                store(norms, i, left)
                if left > RESTING * load(sizes, i):
                    store(softness, i, 0.0)
                    longest = max(longest, left) if i >= begin else longest
        delta = SLACK * longest
        clear(left_once, 0, m)
        if last:
            put_products(F, rank, width, width, y, 0, parts)
            set_row(d, 0, y, 0, width)
            subtract_products(d, 0, 0, width, parts, 0, rank, F, width)
            add_scaled_row(y, 0, -1.0, d, 0, 0, width)
        passes, done, renewed, count, equations, used = 0, False, True, 0, 0, width
        gradient, way, length = 0.0, 0.0, sqrt(dot(y, 0, y, 0, width))
        put_products(T, end, width, width, y, 0, base)
        while not done and passes < PASSES:
            passes += 1
            if renewed:
                outside = 0
                for i in range(begin, end):
                    outside += 1 if load(base, i) < load(low, i) or load(base, i) > load(high, i) else 0
                equations = 0
                for i in range(end):
                    store(near, i, load(sides, integer(load(places, i))) if load(places, i) >= 0.0 else 0.0)
                    store(places, i, NONE)
                    store(squares, i, FREE)
                    value, equal = load(base, i), load(low, i) == load(high, i)
                    if i >= begin and load(norms, i) > RESTING * load(sizes, i):
                        square = equal or (
                            2 * outside > n and load(left_once, i) == 0.0 and (value < load(low, i) or value > load(high, i))
                        )
                        store(softness, i, OUT_OF_PLAY if square else delta)
                        if square:
                            clear(B, broad * equations, broad * equations + broad)
                            set_row(B, broad * equations, P, width * i, width)
                            store(B, broad * equations + n, min(max(value, load(low, i)), load(high, i)) - value)
                            equations += 1
                            store(squares, i, FREE if equal else UPPER if value > load(high, i) else LOWER)
                if equations > n - rank:
                    equations = triangular(B, equations, n, broad, factors, step)
                far = True
                while far:
                    for j in range(stride):
                        store(free_slots, j, 1.0)
                    used = width
                    for j in range(equations):
                        store(free_slots, j, 0.0)
                        store(slots, j, 1.0 * j)
                        store(sides, j, 0.0)
                        store(targets, j, load(B, broad * j + n) / longest)
                        used = max(used, row_width(T, width + j + 1))
                        add_slack_row(
                            B, broad * j, 1.0 / longest, delta / longest, j, n, width, j, Q, wide, used, L, stride, parts
                        )  # fmt: skip
                    put_step(equations, targets, L, stride, Q, wide, width, x, multipliers, d)
                    far = sqrt(dot(d, 0, d, 0, width)) > FAR * length > 0.0
                    if far:
                        delta *= 10.0
                count = equations
                for i in range(end):
                    if load(softness, i) > 0.0:
                        store(softness, i, delta)
                    if load(near, i) != 0.0 and load(softness, i) >= 0.0 and count < 3 * n:
                        slot = free_slot(load(softness, i), free_slots)
                        used = max(used, row_width(L, width + slot + 1))
                        side, norm = load(near, i), load(norms, i)
                        if add_slack_row(
                            P, width * i, side / norm, load(softness, i) / norm, slot, n, width, count, Q, wide, used, L, stride,
                            parts,
                        ):  # fmt: skip
                            target = target_of(i, side, low, high, base, norms)
                            take(i, count, side, target, load(softness, i), slot, places, targets, sides, slots, free_slots)
                            count += 1
            length = sqrt(dot(y, 0, y, 0, width))
            count, used, kept = keep_limits(
                equations, count, used, P, base, low, high, softness, sizes, norms, length, end, n, width, L, stride, Q, wide,
                3 * n, places, targets, sides, slots, free_slots, x, multipliers, d, values, step, parts,
            )  # fmt: skip
            put_products(F, rank, width, width, d, 0, parts)
            subtract_products(d, 0, 0, width, parts, 0, rank, F, width)
            add_scaled_row(y, 0, 1.0, d, 0, 0, width)
            for j in range(equations):
                store(targets, j, load(targets, j) - dot(B, broad * j, d, 0, width) / longest)
            put_products(T, end, width, width, y, 0, base)
            gradient, square, renewed = 0.0, 0.0, not kept
            way, length = sqrt(dot(d, 0, d, 0, width)), sqrt(dot(y, 0, y, 0, width))
            for i in range(begin, end):
                value, room = load(base, i), MISSED * load(sizes, i) * length
                miss = value - min(max(value, load(low, i)), load(high, i))
                store(missed, i, 0.0 if abs(miss) <= room else miss)
                if load(norms, i) > RESTING * load(sizes, i) and load(missed, i) != 0.0:
                    gradient, square = gradient + abs(miss) * load(norms, i), square + miss * miss
                if load(squares, i) != FREE and not rests(load(squares, i), value, load(low, i), load(high, i), room):
                    store(left_once, i, 1.0)
                    renewed = True
            done = gradient == 0.0 or (not renewed and (last or delta * delta * way * way <= GAIN * square))
            if 1 < passes < PASSES and not renewed and not done and delta > LEAST_SLACK * longest:
                delta, renewed = 0.1 * delta, True
        steps += passes
        done = done or (not renewed and delta * delta * way <= TOLERATED * gradient)
        ended = ended and done
        known, left = rank, delta * delta * way
        least = max(DECIDED * gradient, DOUBT * left)
        for j in range(equations, count):
            store(multipliers, j, delta * delta * load(multipliers, j))
            least = max(least, DECIDED * load(multipliers, j))
        for k in range(end):
            i = (begin + k) % end  # the level's own rows first, of which limits that balance them are combinations, or nearly so
            if load(locked, i) == 0.0:
                value, at, strength = load(base, i), FREE, 0.0
                if load(softness, i) != OUT_OF_PLAY and load(places, i) >= 0.0:
                    place = integer(load(places, i))
                    at, strength = -1.0 * load(sides, place), load(multipliers, place)
                decided = i < begin and gradient > 0.0 and strength > least
                if i >= begin and load(low, i) == load(high, i):
                    at, decided = EQUAL, True
                elif i >= begin:
                    at, decided = UPPER if load(missed, i) > 0.0 else LOWER, load(missed, i) != 0.0
                if decided or (i < begin and at != FREE and (last or gradient > 0.0)):
                    store(held, i, at)
                elif not rests(load(held, i), value, load(low, i), load(high, i), MISSED * load(sizes, i) * length):
                    store(held, i, FREE)
                if decided and rank < n and load(norms, i) > RESTING * load(sizes, i):
                    set_row(F, width * rank, T, width * i, width)
                    fresh = add_orthogonal(F, rank, width, width, x, 0, stride, DEPENDENT if i >= begin else COMBINED, parts)
                    rank, decided = rank + 1 if fresh else rank, fresh or i >= begin
                if decided:
                    store(locked, i, 1.0)
                else:
                    store(low, i, min(load(low, i), value))
                    store(high, i, max(load(high, i), value))
        begin, stage = end, stage + 1
    return steps, ended
