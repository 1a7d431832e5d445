"""Strict hierarchies: levels of rows lower <= A x <= upper, each met as well as the levels above it allow, the least metric last.

First come rounds of an active set on lexicographic least squares (Escande, Mansard and Wieber, "Hierarchical quadratic
programming: Fast online humanoid-robot motion generation", IJRR 33(7), 2014; Dimitrov, Sherikov and Wieber, "Efficient resolution
of potentially conflicting linear constraints in robotics", 2015). Rows that are held are equations of their level. A round solves
them, holds all limits that are violated, and releases a limit whose lexicographic multiplier has the wrong sign (as Hintermueller,
Ito and Kunisch, "The primal-dual active set strategy as a semismooth Newton method", SIAM J. Optimization 13(3), 2002). If few
rounds do not end, the cascade (cascade.py) solves level by level, and rounds from its held rows take what rounding is left.

In y = R (x - c), with the metric H = R^T R and c = -H^-1 g, least 1/2 x^T H x + g^T x is least norm.
"""

from freeflyer.kernels.backend import (
    from_entry, kernel, load, load_int, row_width, sqrt, store, workspace,
)
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.model.layout import TABLE_AT
from freeflyer.kernels.optimization.cascade import put_cascade
from freeflyer.kernels.optimization.held_rows import (
    EQUAL, FREE, bound_of, first_hold, hold, hold_violated, put_row, wrong_row,
)
from freeflyer.kernels.optimization.layout import LEVEL_ENDS, METRIC_NUMBERS, N_COLUMNS, N_HELD_ROWS, N_LEVELS
from freeflyer.kernels.optimization.metric import put_center, put_direction
from freeflyer.kernels.optimization.orthogonal_rows import (
    clear, dot, factor_rows, far_row, put_combination, put_products, solve_levels,
)

WRONG_SHARE = 1e-10  # of a level's slope: what a multiplier of the wrong sign may have
ROUNDS, LAST_ROUNDS = 3, 4  # that hold all limits that are violated and release others, before the cascade and behind it


@kernel
def put_cascade_start(levels, ends, lower, upper, metric, W, A, weights, offsets, m, n, width, T, held, made, y, low, high, sizes,
                      parts):  # fmt: skip
    """y (width,) and the rows that hold it, by the cascade; steps, and whether each level ended. The last four: room."""
    for i in range(m):
        if load(made, i) == 0.0:
            put_row(metric, W, A, weights, i, n, width, T, parts)
            store(made, i, 1.0)
        scale = sqrt(load(weights, i))
        store(low, i, scale * (load(lower, i) - load(offsets, i)))
        store(high, i, scale * (load(upper, i) - load(offsets, i)))
        store(sizes, i, sqrt(dot(T, width * i, T, width * i, width)))
        store(held, i, EQUAL if load(lower, i) == load(upper, i) else FREE)
    return put_cascade(levels, ends, T, low, high, sizes, m, n, width, y, held, parts)


@kernel
def solve_hierarchy(topology, parameters, linear, H, A, lower, upper, weights, guess, x, held, multipliers, verdict):
    """x (n,); held (m,): -1 for rows at their lower limit, 1 at their upper one, 2 for equations, 0 for others; multipliers (m,) of
    the last level; verdict (3,): rounds, 0 if the solution is optimal and 1 if not, rank of the rows that are held.

    Least is 1/2 x^T H x + g^T x below all levels; linear: g (n,). guess (m,): rows that are held at first, as `held`."""
    n, m, levels = table_int(topology, N_COLUMNS), table_int(topology, N_HELD_ROWS), table_int(topology, N_LEVELS)
    metric = table_int(topology, METRIC_NUMBERS) > 0
    ends = from_entry(topology, load_int(topology, TABLE_AT) + LEVEL_ENDS)
    width = row_width(linear, n)
    W, rows, T = workspace(linear, n * width + 8), workspace(linear, m * width + 8), workspace(linear, m * width + 8)
    Q, L = workspace(linear, (n + 1) * width + 8), workspace(linear, (m + 1) * width + 8)
    center, point, y, z = (workspace(linear, width + 8), workspace(linear, width + 8), workspace(linear, width + 8),
                           workspace(linear, width + 8))  # fmt: skip
    offsets, values, lengths = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, m + 8)
    e, made, own = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, m + 8)
    residuals, decided, unmet = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, levels + 8)
    low, high, best = workspace(linear, m + 8), workspace(linear, m + 8), workspace(linear, width + 8)
    U, R = workspace(linear, (n + 1) * row_width(linear, m) + 8), workspace(linear, (n + 1) * row_width(linear, n + 1) + 8)
    parts, kept = workspace(linear, max(n, m) + 8), workspace(linear, m + 8)
    for buffer in (made, own):
        clear(buffer, 0, m)
    clear(point, 0, width)
    clear(multipliers, 0, m)
    put_center(H, linear, n, width, metric, W, center, R, parts)
    for i in range(m):
        for j in range(n):
            store(rows, width * i + j, load(A, n * i + j))
        clear(rows, width * i + n, width * i + width)
        store(lengths, i, sqrt(dot(rows, width * i, rows, width * i, width)))
        store(offsets, i, dot(rows, width * i, center, 0, width))
        hold(held, i, first_hold(lower, upper, guess, i), metric, W, rows, weights, n, width, T, made, parts)
    rounds, most, going, change, rank, cascaded, ended = 0, ROUNDS, 1.0, 0, 0, False, False
    while going != 0.0 and rounds < most:
        rounds += 1
        for i in range(m):
            if load(held, i) != FREE:
                store(e, i, sqrt(load(weights, i)) * (bound_of(held, lower, upper, i) - load(offsets, i)))
        factor_rows(T, held, change, m, n, width, Q, L, own, parts)
        far = 0
        while far >= 0:
            rank = solve_levels(levels, ends, held, L, own, width, e, z, residuals, unmet, U, R, parts)
            far = far_row(held, L, T, own, m, width, e, z)
            if far >= 0:
                factor_rows(T, held, far + 1, m, n, width, Q, L, own, parts)
        put_combination(z, rank, Q, width, y)
        put_direction(metric, W, y, n, width, point)
        add_scaled_row(point, 0, 1.0, center, 0, 0, width)
        put_products(rows, m, width, width, point, 0, values)
        length = sqrt(dot(point, 0, point, 0, width))
        change = hold_violated(
            held, lower, upper, values, lengths, length, m, metric, W, rows, weights, n, width, T, made, parts
        )  # fmt: skip
        if change == m:
            worst, change = wrong_row(
                levels, ends, held, own, L, T, width, e, z, rank, residuals, unmet, multipliers, decided, WRONG_SHARE, y
            )  # fmt: skip
            if worst < 0:
                going = 0.0
            else:
                store(held, worst, FREE)
                change = min(change, worst)
        if going != 0.0 and rounds == most and not cascaded:
            steps, ended = put_cascade_start(
                levels, ends, lower, upper, metric, W, rows, weights, offsets, m, n, width, T, held, made, best, low, high, lengths,
                parts,
            )  # fmt: skip
            rounds, most, change, cascaded = rounds + steps, rounds + steps + LAST_ROUNDS, 0, True
            for i in range(m):
                store(lengths, i, sqrt(dot(rows, width * i, rows, width * i, width)))
                store(kept, i, load(held, i))
    if going != 0.0:  # rounding keeps rounds from their end
        for i in range(m):
            store(held, i, load(kept, i))
        put_direction(metric, W, best, n, width, point)
        add_scaled_row(point, 0, 1.0, center, 0, 0, width)
    begin = 0
    for k in range(levels):  # limits that depend on rows before them hold nothing
        for i in range(begin, load_int(ends, k)):
            if load(unmet, k) == 0.0 and load(own, i) == 0.0 and load(held, i) != EQUAL:
                store(held, i, FREE)
        begin = load_int(ends, k)
    for j in range(n):
        store(x, j, load(point, j))
    store(verdict, 0, 1.0 * rounds)
    store(verdict, 1, 0.0 if going == 0.0 or ended else 1.0)
    store(verdict, 2, 1.0 * rank)
