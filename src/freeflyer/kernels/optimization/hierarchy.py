"""Strict hierarchies: levels of rows lower <= A x <= upper, each met as well as the levels above it allow, the least metric last.

The method is an active set on lexicographic least squares (Escande, Mansard and Wieber, "Hierarchical quadratic programming:
Fast online humanoid-robot motion generation", IJRR 33(7), 2014; Dimitrov, Sherikov and Wieber, "Efficient resolution of
potentially conflicting linear constraints in robotics", 2015). Rows that are held are equations of their level; the others must
stay within their limits. Each round solves the held rows, goes there until a limit stops it, and holds that limit. At the
solution of the held rows, a limit whose lexicographic multiplier has the wrong sign is released. If many limits meet in one
point, rounds may make no step, or release one limit again and again. Then the projected slope proves the optimum, or gives a step
that is longer than zero (descent.py); levels above that it finds optimal keep their values from then on. If the equations violate
many limits, the method begins anew near the solution (penalties.py).

In y = R (x - c), with the metric H = R^T R and c = -H^-1 g, least 1/2 x^T H x + g^T x is least norm.
"""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, load_int, load_row, release, row_step, row_width, sqrt, store, store_row, taken,
    workspace)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.model.layout import TABLE_AT
from freeflyer.kernels.optimization.descent import lengthen, put_sides, steepest
from freeflyer.kernels.optimization.held_rows import (
    EQUAL, FREE, LARGEST, LOWER, UPPER, bound_of, first_hold, hold, hold_violated, put_row, wrong_row)
from freeflyer.kernels.optimization.layout import LEVEL_ENDS, METRIC_NUMBERS, N_COLUMNS, N_HELD_ROWS, N_LEVELS
from freeflyer.kernels.optimization.least_squares import far_row, solve_levels
from freeflyer.kernels.optimization.metric import put_center, put_coordinates, put_direction
from freeflyer.kernels.optimization.orthogonal_rows import exchange_row, factor_rows
from freeflyer.kernels.optimization.penalties import SHARE, SMALLER_SHARE, put_stages, spread
from freeflyer.kernels.optimization.rows import clear, dot, put_combination, put_products, set_row

STOPPED = 1e-13  # of a direction and a row: a smaller rate is none
STILL = 1e-11  # of the size of x: a shorter way is rounding, which no limit stops
TOLERANCE, WRONG_SHARE = 1e-9, 0.1  # of a level's slope: what may be left at an optimum; of that, for one wrong multiplier
SHORT = 1e-9  # of the size of x: a shorter step counts as none, if rounds go on
PATIENCE, BLOCKED, REPEATED = 2, 10, 2.0  # such rounds, if a row is released or a limit stops them, and releases of one row, after
# which the steepest direction is sought
INFINITE, EVERY = float("inf"), 1e100
STUCK = 1e-9  # of the square of a level's violation: if it falls by less from one such direction to the next, it is least
STARTS = 3  # kinds of starts
LONGEST, AWAY, RUNS_AWAY = 1e9, 2.0, 2  # of the largest limit by its row: a longer x has run away, along a way that hardly changes
# levels; how this is told; how often it ends the search
FEW = 2  # rounds that hold all limits that are violated, before a start is sought
TURNED = 1e-12  # of an entry: by how much rows change if rounds run out, times the attempt
ROUNDS, LAST_ROUNDS, ATTEMPTS = 80, 300, 5  # rounds of an attempt, and of the last of so many


def turn_rows(rows, m, n, width, size):
    """Entries of rows (m, width) change by different shares of up to `size` of their own."""
    for i in range(m):
        for j in range(n):
            store(rows, width * i + j, load(rows, width * i + j) * (1.0 + size * spread(n * i + j)))


def first_limit(rows, m, width, held, lower, upper, values, lengths, direction):
    """(row, limit, share) where a step first meets a limit; (-1, FREE, 1.0) if it meets none."""
    length = sqrt(dot(direction, 0, direction, 0, width))
    stop, at, share, steepest = -1, FREE, 1.0, 0.0
    for i in range(m):
        if load(held, i) == FREE:
            rate = dot(rows, width * i, direction, 0, width)
            if abs(rate) > STOPPED * length * load(lengths, i):
                limit = load(upper, i) if rate > 0.0 else load(lower, i)
                part = max((limit - load(values, i)) / rate, 0.0)
                slope = abs(rate) / load(lengths, i)
                if part < share or (part == share and stop >= 0 and slope > steepest):
                    stop, share, steepest = i, part, slope
                    at = UPPER if rate > 0.0 else LOWER
    return stop, at, share


@kernel
def put_start(levels, ends, attempt, lower, upper, metric, W, A, weights, offsets, m, n, width, T, held, made, y, low, high,
              softness, sizes, strengths, R, parts):  # fmt: skip
    """y (width,) near the solution; holds equations and limits. The last attempt leaves out the levels below the last one that has
    inequalities. The last seven: room."""
    stage, begin = 0, 0
    for k in range(levels):
        for i in range(begin, load_int(ends, k)):
            if load(lower, i) != load(upper, i):
                stage = k
        begin = load_int(ends, k)
    for i in range(m):
        if load(made, i) == 0.0:
            put_row(metric, W, A, weights, i, n, width, T, parts)
            store(made, i, 1.0)
        scale = sqrt(load(weights, i))
        store(low, i, scale * (load(lower, i) - load(offsets, i)))
        store(high, i, scale * (load(upper, i) - load(offsets, i)))
        store(sizes, i, sqrt(dot(T, width * i, T, width * i, width)))
        store(held, i, EQUAL if load(lower, i) == load(upper, i) else FREE)
    last = levels + 1 if attempt < STARTS - 1 else stage + 1
    share = SHARE if attempt == 0 else SMALLER_SHARE
    put_stages(levels, last, share, ends, T, low, high, sizes, m, n, width, y, held, softness, strengths, R, parts)


@kernel
def put_rounds(topology, parameters, linear, H, A, lower, upper, weights, guess, start, attempt, last, x, held, multipliers,
               verdict):  # fmt: skip
    """As `solve_hierarchy`, whose rounds may run out at `last`; rows and the start differ from attempt to attempt."""
    n, m, levels = table_int(topology, N_COLUMNS), table_int(topology, N_HELD_ROWS), table_int(topology, N_LEVELS)
    metric = table_int(topology, METRIC_NUMBERS) > 0
    ends = from_entry(topology, load_int(topology, TABLE_AT) + LEVEL_ENDS)
    width = row_width(linear, n)
    W, rows, T = workspace(linear, n * width + 8), workspace(linear, m * width + 8), workspace(linear, m * width + 8)
    Q, L = workspace(linear, (n + 1) * width + 8), workspace(linear, (m + 1) * width + 8)
    center, point, direction = workspace(linear, width + 8), workspace(linear, width + 8), workspace(linear, width + 8)
    y, goal, z = workspace(linear, width + 8), workspace(linear, width + 8), workspace(linear, width + 8)
    offsets, values, lengths = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, m + 8)
    e, made, own = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, m + 8)
    residuals, decided, unmet = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, levels + 8)
    sides, releases, order = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, n + 9)
    U, R = workspace(linear, (n + 1) * row_width(linear, m) + 8), workspace(linear, (n + 1) * row_width(linear, n + 1) + 8)
    parts = workspace(linear, max(n, m) + 8)
    accepted, last_level, last_value = 0, -1, 0.0
    locked, shifts = workspace(linear, m + 8), workspace(linear, m + 8)
    for buffer in (made, own, releases, locked, shifts):
        clear(buffer, 0, m)
    clear(y, 0, width)
    clear(point, 0, width)
    put_center(H, linear, n, width, metric, W, center, R, parts)
    for i in range(m):
        for j in range(n):
            store(rows, width * i + j, load(A, n * i + j))
        clear(rows, width * i + n, width * i + width)
    if attempt > 0:
        turn_rows(rows, m, n, width, TURNED * attempt)
    size = sqrt(dot(center, 0, center, 0, width))
    for i in range(m):
        store(lengths, i, sqrt(dot(rows, width * i, rows, width * i, width)))
        for limit in (abs(load(lower, i)), abs(load(upper, i))):
            if limit < LARGEST and load(lengths, i) > 0.0:
                size = max(size, limit / load(lengths, i))
        store(offsets, i, dot(rows, width * i, center, 0, width))
        hold(held, i, first_hold(lower, upper, guess, i), metric, W, rows, weights, n, width, T, made, parts)
    way, length, known, proven, fresh = 0.0, 0.0, abs(load(start, 0)) < LARGEST, False, False
    if known:
        for j in range(n):
            store(point, j, load(start, j))
        put_coordinates(metric, R, point, center, n, width, y)
        put_products(rows, m, width, width, point, 0, values)
        hold_violated(held, lower, upper, values, lengths, 0.0, m, metric, W, rows, weights, n, width, T, made, parts)
    change, single, rank, started, stalls = 0, -1, 0, known, 0
    rounds, going, exchanged = 0, 1.0, False
    while going != 0.0 and rounds < last:
        rounds += 1
        for i in range(m):
            if load(held, i) != FREE:
                store(e, i, sqrt(load(weights, i)) * (bound_of(held, lower, upper, i) - load(offsets, i)) + load(shifts, i))
        if single >= 0:
            exchanged = not fresh
            if fresh or not exchange_row(levels, ends, T, held, single, m, n, rank, width, Q, L, own, order, parts):
                change = single
        factor_rows(levels, ends, T, held, change, 0.0, m, n, width, Q, L, own, order, parts)
        far = 0
        while far >= 0:
            rank = solve_levels(levels, ends, held, L, own, order, width, e, z, residuals, unmet, U, R, parts)
            far = far_row(L, T, own, order, rank, width, e, z)
            if far >= 0:
                factor_rows(levels, ends, T, held, far, 1.0, m, n, width, Q, L, own, order, parts)
        store(verdict, 2, 1.0 * rank)
        put_combination(z, rank, Q, width, goal)
        stop, at, share, starting = -1, FREE, 1.0, False
        change, single = m, -1
        if started and not proven:
            for k in range(0, width, row_step(goal)):
                store_row(direction, k, load_row(goal, k) - load_row(y, k))
            way = sqrt(dot(direction, 0, direction, 0, width))
            reach = way + sqrt(dot(y, 0, y, 0, width))
            if way > STILL * reach:
                put_direction(metric, W, direction, n, width, point)
                stop, at, share = first_limit(rows, m, width, held, lower, upper, values, lengths, point)
            if share * way > SHORT * reach:
                stalls = 0
            else:
                stalls += 1
        if stop >= 0:
            add_scaled_row(y, 0, share, direction, 0, 0, width)
        elif not proven:
            set_row(y, 0, goal, 0, width)
        put_direction(metric, W, y, n, width, point)
        add_scaled_row(point, 0, 1.0, center, 0, 0, width)
        length = sqrt(dot(point, 0, point, 0, width))
        put_products(rows, m, width, width, point, 0, values)
        worst, seeking = -1, False
        if stop >= 0:
            hold(held, stop, at, metric, W, rows, weights, n, width, T, made, parts)
            single, seeking = stop, stalls >= BLOCKED
        else:
            first = m
            if not proven:
                first = hold_violated(
                    held, lower, upper, values, lengths, length, m, metric, W, rows, weights, n, width, T, made, parts)
            change = first
            starting = first < m and not started and rounds > FEW
            if first == m:
                worst, change = wrong_row(
                    levels, ends, held, order, L, T, width, e, z, rank, residuals, unmet, multipliers, decided, locked,
                    EVERY if proven else WRONG_SHARE * TOLERANCE, direction)  # fmt: skip
                starting = worst >= 0 and not started and rounds > 1
                started = True
                if worst >= 0:
                    store(releases, worst, load(releases, worst) + 1.0)
                    seeking = stalls >= PATIENCE or load(releases, worst) >= REPEATED
                    if not seeking:
                        store(held, worst, FREE)
                        single = worst if change == m else -1
                elif exchanged and not proven:  # factors that were exchanged row by row lose digits, and may show another rank
                    change, exchanged, fresh = 0, False, True
                elif length <= LONGEST * size:
                    going = 0.0
                else:
                    going, rounds = AWAY, last
        if seeking:
            put_sides(
                lower, upper, weights, values, lengths, length, m, metric, W, rows, n, width, T, made, sides, residuals,
                parts)  # fmt: skip
            level, stuck = levels + 1, True
            while stuck:
                level, value = steepest(
                    accepted, levels, ends, held, sides, T, residuals, y, TOLERANCE, m, n, width, multipliers, locked, direction,
                    parts)  # fmt: skip
                stuck = level < levels and level == last_level and value >= (1.0 - STUCK) * last_value
                accepted, last_level, last_value = level + 1 if stuck else accepted, level, value
            clear(releases, 0, m)
            change, single, stalls, proven = 0, -1, 0, level > levels
            for i in range(m):
                store(shifts, i, load(locked, i) * load(residuals, i))
            if not proven:
                lengthen(levels, ends, level, held, sides, T, m, width, direction)
                put_direction(metric, W, direction, n, width, point)
                stop, at, share = first_limit(rows, m, width, held, lower, upper, values, lengths, point)
                add_scaled_row(y, 0, share, direction, 0, 0, width)
                put_direction(metric, W, y, n, width, point)
                add_scaled_row(point, 0, 1.0, center, 0, 0, width)
                put_products(rows, m, width, width, point, 0, values)
                if stop >= 0:
                    hold(held, stop, at, metric, W, rows, weights, n, width, T, made, parts)
        if starting:
            started = True
            clear(locked, 0, m)
            clear(shifts, 0, m)
            accepted, last_level = 0, -1
            change, single, exchanged, stalls = 0, -1, False, 0
            put_start(
                levels, ends, attempt % STARTS, lower, upper, metric, W, rows, weights, offsets, m, n, width, T, held, made, y, e,
                residuals, multipliers, decided, sides, R, parts)  # fmt: skip
            put_direction(metric, W, y, n, width, point)
            add_scaled_row(point, 0, 1.0, center, 0, 0, width)
            put_products(rows, m, width, width, point, 0, values)
            hold_violated(held, lower, upper, values, lengths, 0.0, m, metric, W, rows, weights, n, width, T, made, parts)
    begin = 0
    for k in range(levels):  # limits that depend on rows before them hold nothing
        for i in range(begin, load_int(ends, k)):
            if load(unmet, k) == 0.0 and load(own, i) <= 0.0 and load(held, i) != EQUAL and load(shifts, i) == 0.0:
                store(held, i, FREE)
        begin = load_int(ends, k)
    if attempt == 0 or length <= LONGEST * size:
        copy_entries(point, n, x)
    store(verdict, 0, 1.0 * rounds)
    store(verdict, 1, going)


def solve_hierarchy(topology, parameters, linear, H, A, lower, upper, weights, guess, start, x, held, multipliers, verdict):
    """x (n,); held (m,): -1 for rows at their lower limit, 1 at their upper one, 2 for equations, 0 for others; multipliers (m,) of
    the last level; verdict (3,): rounds, 0 if the solution is optimal and 1 if rounds ran out, rank of the rows that are held.

    Least is 1/2 x^T H x + g^T x below all levels; linear: g (n,). guess (m,): rows that are held at first, as `held`. start (n,): a
    point near the solution; infinite if none is known, then it is the solution of the rows that are held at first.

    If rounds run out, they begin anew with rows that differ by rounding and from other starts."""
    n, m = table_int(topology, N_COLUMNS), table_int(topology, N_HELD_ROWS)
    near, first = workspace(linear, n + 8), workspace(linear, m + 8)
    before, rounds, attempt, away, going = taken(linear), 0.0, 0, 0, True
    copy_entries(start, n, near)
    copy_entries(guess, m, first)
    while going:
        most = ROUNDS if attempt < ATTEMPTS - 1 else LAST_ROUNDS
        put_rounds(topology, parameters, linear, H, A, lower, upper, weights, first, near, attempt, most, x, held, multipliers,
                   verdict)  # fmt: skip
        release(linear, before)
        for j in range(n):
            store(near, j, INFINITE)
        clear(first, 0, m)
        attempt, rounds = attempt + 1, rounds + load(verdict, 0)
        away += 1 if load(verdict, 1) == AWAY else 0
        going = load(verdict, 1) != 0.0 and attempt < ATTEMPTS and away < RUNS_AWAY
    store(verdict, 0, rounds)
