"""A point near the solution of a hierarchy: squared violations of the levels that have inequalities are penalised.

The sum is convex, and its second derivative is constant between limits: Newton's method with exact steps ends after a few.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.optimization.metric import put_direction, put_inverse_factor
from freeflyer.kernels.optimization.orthogonal_rows import clear, dot, put_combination

PENALTY = 1e7  # of the last level with inequalities, where the least metric has 1; levels above have its square
STEPS, HALVINGS = 60, 30  # Newton steps at most; halvings of a step
SMALL_SLOPE, SMALL_STEP = 1e-9, 1e-6  # of the first slope, of y: those that end a step, and the method
LARGEST = 1e300


@kernel
def put_penalties(levels, ends, lower, upper, lengths, m, penalties):
    """penalties (m,) of the squared violations: of levels down to the last one that has inequalities, less for that one, else 0."""
    last, begin = 0, 0
    for k in range(levels):
        for i in range(begin, load_int(ends, k)):
            if load(lower, i) != load(upper, i):
                last = k + 1
        begin = load_int(ends, k)
    begin = 0
    for k in range(levels):
        penalty, longest = PENALTY if k == last - 1 else PENALTY * PENALTY, 0.0
        for i in range(begin, load_int(ends, k)):
            longest = max(longest, load(lengths, i))
        for i in range(begin, load_int(ends, k)):
            store(penalties, i, penalty / (longest * longest) if k < last and longest > 0.0 else 0.0)
        begin = load_int(ends, k)


@inlined
def beyond(value, lower, upper):
    """By how much a value is outside of its limits, negative below the lower one."""
    return value - min(max(value, lower), upper)


@kernel
def slope_of(y, d, values, rates, low, high, penalties, m, width, t):
    """Derivative of the penalised sum at y + t d along d."""
    total = dot(y, 0, d, 0, width) + t * dot(d, 0, d, 0, width)
    for i in range(m):
        total += load(penalties, i) * load(rates, i) * beyond(load(values, i) + t * load(rates, i), load(low, i), load(high, i))
    return total


@kernel
def put_penalised_minimum(T, low, high, penalties, m, n, width, y, R, parts):
    """y (width,) of the least 1/2 |y|^2 + 1/2 sum_i penalty_i (distance of T_i y from its limits)^2, by Newton's method.

    low, high (m,): limits of T y. R, parts: room.
    """
    M, packed, W = workspace(T, n * width + 8), workspace(T, n * n + 8), workspace(T, n * width + 8)
    d, g, h = workspace(T, width + 8), workspace(T, width + 8), workspace(T, width + 8)
    values, rates = workspace(T, m + 8), workspace(T, m + 8)
    clear(y, 0, width)
    clear(d, 0, width)
    for _ in range(STEPS):
        clear(M, 0, n * width)
        clear(g, 0, width)
        add_scaled_row(g, 0, -1.0, y, 0, 0, width)
        for i in range(m):
            value, penalty = dot(T, width * i, y, 0, width), load(penalties, i)
            store(values, i, value)
            outside = beyond(value, load(low, i), load(high, i))
            if penalty > 0.0 and (outside != 0.0 or load(low, i) == load(high, i)):
                add_scaled_row(g, 0, -penalty * outside, T, width * i, 0, width)
                for j in range(n):
                    if load(T, width * i + j) != 0.0:
                        add_scaled_row(M, width * j, penalty * load(T, width * i + j), T, width * i, 0, width)
        for i in range(n):
            for j in range(n):
                store(packed, n * i + j, load(M, width * i + j))
            store(packed, n * i + i, 1.0 + load(M, width * i + i))
        put_inverse_factor(packed, n, width, W, R, parts)
        put_combination(g, n, W, width, h)
        put_direction(True, W, h, n, width, d)
        if not dot(d, 0, d, 0, width) < LARGEST:  # rounding of large penalties
            break
        for i in range(m):
            store(rates, i, dot(T, width * i, d, 0, width))
        least, most, t = 0.0, 1.0, 1.0
        if slope_of(y, d, values, rates, low, high, penalties, m, width, 1.0) > SMALL_SLOPE * dot(d, 0, g, 0, width):
            for _ in range(HALVINGS):
                t = 0.5 * (least + most)
                if slope_of(y, d, values, rates, low, high, penalties, m, width, t) > 0.0:
                    most = t
                else:
                    least = t
        add_scaled_row(y, 0, t, d, 0, 0, width)
        if t == 1.0 and dot(d, 0, d, 0, width) <= SMALL_STEP * SMALL_STEP * dot(y, 0, y, 0, width):
            break
