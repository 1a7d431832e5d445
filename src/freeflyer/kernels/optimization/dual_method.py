"""Convex quadratic programs by the dual method of Goldfarb and Idnani ("A numerically stable dual method for solving strictly
convex quadratic programs", Mathematical Programming 27, 1983).

In y = R x with H = R^T R the objective is a distance. From the minimum without limits, the limit that is exceeded most is held, and
limits whose multipliers vanish on the way are released. T_i = sum_j L_ij Q_j for the held rows, Q orthonormal. Residuals of x and
its multipliers are corrected by the same factors: first from zero, or from limits held at first; then as refinement; and if H is
singular, as proximal steps, with R of a slightly larger matrix.
"""

from freeflyer.kernels.backend import from_entry, integer, kernel, load, row_width, sqrt, store, workspace
from freeflyer.kernels.contacts.rows import table_int
from freeflyer.kernels.contacts.solve import add_scaled_row
from freeflyer.kernels.model.layout import N_A_ROWS, N_LIMITS, N_VARIABLES
from freeflyer.kernels.optimization.condensation import subtract_products
from freeflyer.kernels.optimization.metric import move_up, put_direction, put_inverse_factor, release_row, solve_transposed
from freeflyer.kernels.optimization.rows import add_orthogonal, clear, dot, put_combination, put_products, set_row

SOLVED, INFEASIBLE, STOPPED, NOT_CONVEX, UNBOUNDED = 0.0, 1.0, 2.0, 3.0, 4.0  # outcomes
LARGEST = 1e300
BLOCK = 32  # columns of a triangular matrix of which those before are zero
SINGULAR = 1e-11  # of H's own diagonal entry: a pivot below is rounding
PROXIMAL, LEAST_PROXIMAL = 1e-7, 1e-4  # of H's diagonal entries, which are taken as this share of the largest one at least
ASYMMETRY = 1e-9  # of the largest entry of H
OUTSIDE = 1e-11  # of the size of a row's terms: violations below are none
WRONG = 1e-11  # of the largest multiplier: multipliers of the wrong sign
STILL, PROXIMAL_STEPS = 1e-8, 60  # of the length of x: proximal steps below are none; the most of them


@kernel
def put_metric(H, n, width, W, R, parts):
    """W = R^-1 of H = R^T R; 1 if H is singular and R that of a larger matrix, 0 if not; -1 if H is not convex or symmetric."""
    largest, scale = 0.0, 0.0
    for i in range(n):
        scale = max(scale, abs(load(H, n * i + i)))
        for j in range(i):
            largest = max(largest, abs(load(H, n * i + j)))
    for i in range(n):
        for j in range(i):
            if not abs(load(H, n * i + j) - load(H, n * j + i)) <= ASYMMETRY * max(scale, largest):
                return -1
    put_inverse_factor(H, n, width, W, R, parts)
    regular = True
    for i in range(n):
        pivot = load(R, width * i + i)
        regular = regular and pivot * pivot > SINGULAR * load(H, n * i + i)
    if regular:
        return 0
    scale = scale if scale > 0.0 else 1.0
    larger = workspace(H, n * n + 8)
    for k in range(n * n):
        store(larger, k, load(H, k))
    for i in range(n):
        own = load(H, n * i + i)
        store(larger, n * i + i, own + PROXIMAL * max(own, LEAST_PROXIMAL * scale))
    put_inverse_factor(larger, n, width, W, R, parts)
    for i in range(n):
        if not load(R, width * i + i) > 0.0:
            return -1
    return 1


def limit_of(lower, upper, i, side):
    return load(upper, i) if side > 0.0 else load(lower, i)


def drop(place, count, L, stride, Q, K, width, targets, sides, multipliers, owners, held):
    """The limit that is held at `place` is released."""
    store(held, integer(load(owners, place)), 0.0)
    for buffer in (targets, sides, multipliers, owners):
        move_up(buffer, place, count)
    for i in range(place, count - 1):
        set_row(K, width * i, K, width * i + width, width)
    release_row(place, count, L, stride, Q, width, width)


@kernel
def correct(rows, linear, n, width, W, K, count, L, stride, Q, targets, x, multipliers, missing, rho, z, w, d):
    """x and the multipliers move to the minimum on the held rows, in the metric of W. rows (n, width): H. The last five: room.
    Returns the lengths of the step and of x."""
    put_products(rows, n, width, width, x, 0, missing)
    for j in range(n):
        store(missing, j, -1.0 * load(missing, j) - load(linear, j))
    for k in range(count):
        add_scaled_row(missing, 0, -1.0 * load(multipliers, k), K, width * k, 0, width)
    put_combination(missing, n, W, width, rho)
    put_products(Q, count, width, width, rho, 0, w)
    clear(z, 0, stride)
    for k in range(count):
        value = load(targets, k) - dot(K, width * k, x, 0, width) - dot(L, stride * k, z, 0, stride)
        store(z, k, value / load(L, stride * k + k))
    for k in range(count):
        store(w, k, load(w, k) - load(z, k))
    subtract_products(rho, 0, 0, width, w, 0, count, Q, width)
    solve_transposed(L, count, stride, w)
    for k in range(count):
        store(multipliers, k, load(multipliers, k) + load(w, k))
    put_direction(True, W, rho, n, width, d)
    add_scaled_row(x, 0, 1.0, d, 0, 0, width)
    return sqrt(dot(d, 0, d, 0, width)), sqrt(dot(x, 0, x, 0, width))


def wrong_multiplier(count, L, stride, sides, multipliers):
    """The held row whose multiplier has most of the wrong sign, -1 if there is none."""
    largest, worst, place = 0.0, 0.0, -1
    for k in range(count):
        push = load(multipliers, k) * sqrt(dot(L, stride * k, L, stride * k, stride))
        largest = max(largest, abs(push))
        if load(sides, k) * push < worst:
            worst, place = load(sides, k) * push, k
    return place if worst < -WRONG * largest else -1


def most_exceeded(limits, held, base, values, lower, upper, sizes, lengths, length, reach):
    """(row, side) of the limit that is exceeded most, over the row's size in the metric; (-1, 1.0) if there is none."""
    most, p, side = 0.0, -1, 1.0
    for i in range(limits):
        if load(held, i) == 0.0:
            value, size = load(base, i) + load(values, i), load(sizes, i)
            over, under = value - load(upper, i), load(lower, i) - value
            at, outside = 1.0 if over > under else -1.0, max(over, under)
            terms = load(lengths, i) * length + size * reach + abs(limit_of(lower, upper, i, at))
            if outside > OUTSIDE * terms and outside > most * size:
                most, p, side = outside / max(size, 1.0 / LARGEST), i, at
    return p, side


def solve_program(topology, parameters, linear, H, A, lower, upper, guess, most, x, y, verdict):
    """x (n,) of least 1/2 x^T H x + g^T x within limits of the first variables, if any has a bound, and of A's rows; multipliers y
    (limits,), positive at upper limits; verdict (2,): changes of the held limits, outcome.

    linear: g (n,). guess (limits,): of the sign of multipliers that are not zero at first. most (1,): changes allowed."""
    n, m, limits = table_int(topology, N_VARIABLES), table_int(topology, N_A_ROWS), table_int(topology, N_LIMITS)
    bounded, width, stride = limits - m, row_width(linear, n), row_width(linear, n + 1)
    W, R, rows = workspace(linear, n * width + 8), workspace(linear, n * width + 8), workspace(linear, n * width + 8)
    C, T, Q = workspace(linear, limits * width + 8), workspace(linear, limits * width + 8), workspace(linear, (n + 1) * width + 8)
    K, L, targets = workspace(linear, (n + 1) * width + 8), workspace(linear, (n + 1) * stride + 8), workspace(linear, stride + 8)
    sides, multipliers, z = workspace(linear, stride + 8), workspace(linear, stride + 8), workspace(linear, stride + 8)
    owners = workspace(linear, stride + 8)
    held, sizes, lengths = workspace(linear, limits + 8), workspace(linear, limits + 8), workspace(linear, limits + 8)
    base, values, parts = workspace(linear, limits + 8), workspace(linear, limits + 8), workspace(linear, max(n, limits) + 8)
    point, moved, missing = workspace(linear, width + 8), workspace(linear, width + 8), workspace(linear, width + 8)
    rho, d, w = workspace(linear, width + 8), workspace(linear, width + 8), workspace(linear, stride + 8)
    clear(point, 0, width)
    clear(missing, 0, width)
    clear(d, 0, width)
    clear(w, 0, stride)
    clear(multipliers, 0, stride)
    clear(C, 0, limits * width)
    clear(T, 0, limits * width)
    clear(rows, 0, n * width)
    for i in range(n):
        for j in range(n):
            store(rows, width * i + j, load(H, n * i + j))
    outcome, kind, count, changes = SOLVED, put_metric(H, n, width, W, R, parts), 0, 0
    if kind < 0:
        outcome = NOT_CONVEX
    for i in range(limits):
        store(held, i, 0.0)
        store(y, i, 0.0)
        if i < bounded:
            store(C, width * i + i, 1.0)
            set_row(T, width * i, W, width * i, width)
        else:
            for j in range(n):
                value = load(A, n * (i - bounded) + j)
                store(C, width * i + j, value)
                store(parts, j, -1.0 * value)
            for k in range(0, width, BLOCK):
                subtract_products(T, width * i, k, min(width, k + BLOCK), parts, 0, min(n, k + BLOCK), W, width)
        store(sizes, i, sqrt(dot(T, width * i, T, width * i, width)))
        store(lengths, i, sqrt(dot(C, width * i, C, width * i, width)))
        if load(lower, i) > load(upper, i):
            outcome = INFEASIBLE
    for turn in range(2):  # equations, then the guess
        for i in range(limits):
            side = load(guess, i)
            if turn == 0:
                side = 1.0 if load(lower, i) == load(upper, i) else 0.0
            known = side != 0.0 and load(held, i) == 0.0 and load(sizes, i) > 0.0
            if known and abs(limit_of(lower, upper, i, side)) < LARGEST:
                set_row(Q, width * count, T, width * i, width)
                if add_orthogonal(Q, count, width, width, L, stride * count, stride, parts):
                    set_row(K, width * count, C, width * i, width)
                    store(targets, count, limit_of(lower, upper, i, side))
                    store(sides, count, side if turn == 1 else 0.0)
                    store(multipliers, count, 0.0)
                    store(owners, count, 1.0 * i)
                    store(held, i, 1.0)
                    count += 1
    steps, last, still = 0, LARGEST, False
    while outcome == SOLVED and not still:
        way, length = correct(rows, linear, n, width, W, K, count, L, stride, Q, targets, point, multipliers, missing, rho, z, w, d)
        steps += 1
        put_products(C, limits, width, width, point, 0, base)
        clear(moved, 0, width)
        before, p, side, own = changes, -1, 1.0, 0.0
        place = wrong_multiplier(count, L, stride, sides, multipliers)
        if place >= 0:
            changes += 1
            drop(place, count, L, stride, Q, K, width, targets, sides, multipliers, owners, held)
            count -= 1
        while place < 0 and outcome == SOLVED:
            if p < 0:
                put_products(T, limits, width, width, moved, 0, values)
                reach, own = sqrt(dot(moved, 0, moved, 0, width)), 0.0
                p, side = most_exceeded(limits, held, base, values, lower, upper, sizes, lengths, length, reach)
            if p < 0:
                break
            new, at, t = stride * count, count, LARGEST
            set_row(Q, width * count, T, width * p, width)
            free = load(sizes, p) > 0.0 and add_orthogonal(Q, count, width, width, L, new, stride, parts)
            if not free:
                clear(L, new, new + stride)
                put_products(Q, count, width, width, T, width * p, from_entry(L, new))
            set_row(w, 0, L, new, stride)
            solve_transposed(L, count, stride, w)
            pivot, limit = load(L, new + count), limit_of(lower, upper, p, side)
            if free:
                value = load(base, p) + dot(T, width * p, moved, 0, width)
                t = max(side * (value - limit), 0.0) / (pivot * pivot)
            for k in range(count):
                rate = load(sides, k) * side * load(w, k)
                if rate > 0.0 and load(sides, k) * load(multipliers, k) < t * rate:
                    t, at = max(load(sides, k) * load(multipliers, k), 0.0) / rate, k
            if t >= LARGEST:
                outcome = INFEASIBLE
            elif changes >= load(most, 0):
                outcome = STOPPED
            else:
                changes += 1
                own += side * t
                add_scaled_row(multipliers, 0, -1.0 * side * t, w, 0, 0, count)
                if free:
                    add_scaled_row(moved, 0, -1.0 * side * t * pivot, Q, width * count, 0, width)
                if at == count:
                    set_row(K, width * count, C, width * p, width)
                    store(targets, count, limit)
                    store(sides, count, side)
                    store(multipliers, count, own)
                    store(owners, count, 1.0 * p)
                    store(held, p, 1.0)
                    count, p = count + 1, -1
                else:
                    drop(at, count, L, stride, Q, K, width, targets, sides, multipliers, owners, held)
                    count -= 1
        put_direction(True, W, moved, n, width, d)
        add_scaled_row(point, 0, 1.0, d, 0, 0, width)
        still = changes == before and steps > 1 and (kind == 0 or way <= STILL * length)
        if outcome == SOLVED and not still and changes >= load(most, 0) and place >= 0:
            outcome = STOPPED
        if outcome == SOLVED and not still and steps > PROXIMAL_STEPS and changes == before:
            outcome, still = UNBOUNDED if way > 0.5 * last else SOLVED, True
        last = way
    for j in range(n):
        store(x, j, load(point, j))
    for k in range(count):
        store(y, integer(load(owners, k)), load(multipliers, k))
    store(verdict, 0, 1.0 * changes)
    store(verdict, 1, outcome)
