"""By how much x and its multipliers miss the conditions of optimality of a quadratic program (Karush, Kuhn and Tucker)."""

from freeflyer.kernels.backend import load, select_less, store, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.math.dense import NAN
from freeflyer.kernels.model.layout import N_A_ROWS, N_LIMITS, N_VARIABLES


def past_limits(value, multiplier, lower, upper):
    """value + multiplier, moved between its limits, less value: zero if and only if the limits, the multiplier's sign and
    complementarity hold. NaN where the limits cross."""
    moved = select_less(value + multiplier, lower, lower, value + multiplier)
    return select_less(upper, lower, NAN, select_less(upper, moved, upper, moved) - value)


def row_product(A, at, x, n):
    """The product of n entries of A, from `at` on, and x (n,)."""
    total = 0.0
    for j in range(n):
        total += load(A, at + j) * load(x, j)
    return total


def program_residuals(topology, parameters, linear, H, A, lower, upper, x, y, sums):
    """sums (5,): squares of what passes limits, and of H x + g + C^T y, each of all entries; the squares of the rows' values C x,
    and of H x and g; 1/2 x^T H x + g^T x.

    linear: g (n,). H (n, n), A (m, n); limits and multipliers y of the first variables, if any has a bound, then of A's rows: C x.
    """
    n, m = table_int(topology, N_VARIABLES), table_int(topology, N_A_ROWS)
    bounded = table_int(topology, N_LIMITS) - m
    missing = workspace(linear, n + 1)
    stationary, limits, values, sizes, objective = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        slope = row_product(H, n * i, x, n)
        objective += load(x, i) * (0.5 * slope + load(linear, i))
        sizes += slope * slope + load(linear, i) * load(linear, i)
        store(missing, i, slope + load(linear, i))
    for i in range(bounded):
        past = past_limits(load(x, i), load(y, i), load(lower, i), load(upper, i))
        limits += past * past
        values += load(x, i) * load(x, i)
        store(missing, i, load(missing, i) + load(y, i))
    for i in range(m):
        value, multiplier = row_product(A, n * i, x, n), load(y, bounded + i)
        past = past_limits(value, multiplier, load(lower, bounded + i), load(upper, bounded + i))
        limits += past * past
        values += value * value
        if multiplier != 0.0:
            for j in range(n):
                store(missing, j, load(missing, j) + multiplier * load(A, n * i + j))
    for j in range(n):
        stationary += load(missing, j) * load(missing, j)
    store(sums, 0, limits)
    store(sums, 1, stationary)
    store(sums, 2, values)
    store(sums, 3, sizes)
    store(sums, 4, objective)
