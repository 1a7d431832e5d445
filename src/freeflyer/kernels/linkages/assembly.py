"""Closing loops: damped Newton steps (Levenberg, Marquardt) for each group of loops that moves on its own, in lockstep.

A plan lists the coordinates that may move and the loops that they move: groups share no coordinate, so each has its own damping and
its own decision on a step, while one kinematics pass serves all. Limits are kept by projection: a coordinate at its limit that
would be driven out of it is left out of the step, and steps end at limits. The steps need J^T residual to be the gradient of
|residual|^2 / 2 everywhere, as constraints.py defines it. Float64 only: states take different ways."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, load_int, store, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.linkages.constraints import constraints
from freeflyer.kernels.math.dense import factor_symmetric, solve_factored
from freeflyer.kernels.model.joints.kinds import integrate
from freeflyer.kernels.model.layout import N_Q, N_ROWS, N_V, TABLE_AT

# a plan: header, then what it points to; a group's ties are its loops and couplings
N_GROUPS, GROUPS_AT, GROUP_OF_Q, Q_OF_V, LARGEST = 0, 1, 2, 3, 4  # group of each entry of q; q of each screw's v, or -1
PLAN_HEADER = 5
GROUP_INTS = 4
N_COORDINATES, FIRST_COORDINATE, N_TIES, FIRST_TIE = 0, 1, 2, 3
TIE_INTS = 4
ROWS_AT, TIE_ROWS, TIE_COORDINATES, PAIRS_AT = 0, 1, 2, 3  # a pair: velocity coordinate, its place in the group
FIRST, MIN_DAMPING, MAX_DAMPING = 1e-6, 1e-13, 1e8  # damping, relative to the diagonal
NEWTON_DAMPING = 1e-5  # damping below which steps count as Newton's
MIN_STEP = 1e-14  # rad or m: iterations end at smaller steps
MIN_DECREASE = 1e-4  # of the sum of squares: iterations end where a step reduces it by less
LARGE = 1e300  # rad or m: no number of a step
ZERO_SQUARES = 1e-30  # m^2: a sum of squares that is zero


def group_ints(plan, g):
    return load_int(plan, GROUPS_AT) + GROUP_INTS * g


@kernel
def normal_equations(plan, g, J, nv, residual, H, gradient):
    """H (n, n), lower triangle: J^T J of a group; gradient (n,): J^T residual."""
    at = group_ints(plan, g)
    n = load_int(plan, at + N_COORDINATES)
    zero_entries(H, n * n)
    zero_entries(gradient, n)
    for k in range(load_int(plan, at + N_TIES)):
        tie = load_int(plan, at + FIRST_TIE) + TIE_INTS * k
        count, pairs = load_int(plan, tie + TIE_COORDINATES), load_int(plan, tie + PAIRS_AT)
        for i in range(load_int(plan, tie + TIE_ROWS)):
            row = load_int(plan, load_int(plan, tie + ROWS_AT) + i)
            r = load(residual, row)
            for a in range(count):
                x, p = load(J, row * nv + load_int(plan, pairs + 2 * a)), load_int(plan, pairs + 2 * a + 1)
                store(gradient, p, load(gradient, p) + x * r)
                for b in range(a + 1):
                    to = n * p + load_int(plan, pairs + 2 * b + 1)
                    store(H, to, load(H, to) + x * load(J, row * nv + load_int(plan, pairs + 2 * b)))


def fix_at_limits(plan, g, x, lower, upper, H, gradient):
    """Coordinates at a limit that the step would leave stay: their row and column become the identity's."""
    at = group_ints(plan, g)
    n, first = load_int(plan, at + N_COORDINATES), load_int(plan, at + FIRST_COORDINATE)
    for i in range(n):
        j = load_int(plan, first + i)
        place = load_int(plan, load_int(plan, Q_OF_V) + j)
        if place >= 0:
            position, slope = load(x, place), load(gradient, i)
            if (position <= load(lower, j) and slope > 0.0) or (position >= load(upper, j) and slope < 0.0):
                for k in range(i):
                    store(H, n * i + k, 0.0)
                for k in range(i + 1, n):
                    store(H, n * k + i, 0.0)
                store(H, n * i + i, 1.0)
                store(gradient, i, 0.0)


@kernel
def damped_solve(H, x, n, damping):
    """x becomes (H + damping diag H)^-1 x, in place; False if a pivot vanishes."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, load(H, n * i + i))
    for i in range(n):
        at = n * i + i
        store(H, at, load(H, at) + damping * max(load(H, at), 1e-9 * largest))
    factor_symmetric(H, n)
    solve_factored(H, n, x, 0)
    solved = True
    for i in range(n):
        solved = solved and abs(load(x, i)) < LARGE  # not of NaN
    return solved


def squared_residual(plan, g, residual):
    at, total = group_ints(plan, g), 0.0
    for k in range(load_int(plan, at + N_TIES)):
        tie = load_int(plan, at + FIRST_TIE) + TIE_INTS * k
        for i in range(load_int(plan, tie + TIE_ROWS)):
            r = load(residual, load_int(plan, load_int(plan, tie + ROWS_AT) + i))
            total += r * r
    return total


def within_limits(plan, x, lower, upper, nv):
    """Moves every coordinate of a group to its nearest limit if it is beyond."""
    for j in range(nv):
        place = load_int(plan, load_int(plan, Q_OF_V) + j)
        if place >= 0 and load_int(plan, load_int(plan, GROUP_OF_Q) + place) >= 0:
            store(x, place, min(max(load(x, place), load(lower, j)), load(upper, j)))


@kernel
def put_step(plan, g, dv, x, lower, upper, J, nv, residual, damping, H, gradient):
    """Writes a group's step into dv; its largest entry, or -1 if the damping is too small for the equations."""
    at = group_ints(plan, g)
    n, first = load_int(plan, at + N_COORDINATES), load_int(plan, at + FIRST_COORDINATE)
    normal_equations(plan, g, J, nv, residual, H, gradient)
    fix_at_limits(plan, g, x, lower, upper, H, gradient)
    if not damped_solve(H, gradient, n, damping):
        return -1.0
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(load(gradient, i)))
    scale = -1.0 if largest < 1.0 else -1.0 / largest  # at most one radian or metre
    for i in range(n):
        store(dv, load_int(plan, first + i), scale * load(gradient, i))
    return largest


@kernel
def close_loops(topology, parameters, x, plan, lower, upper, residual, enough, limit):
    """Moves x (nq,) to the nearest posture that is least open; writes residual (rows,) there; the number of steps. A group has
    arrived after a Newton step below `enough` (rad or m), whose square the next one would be."""
    nq, nv, rows = load_int(topology, N_Q), load_int(topology, N_V), load_int(topology, N_ROWS)
    groups, n = load_int(plan, N_GROUPS), load_int(plan, LARGEST)
    J, H, gradient = workspace(x, rows * nv), workspace(x, n * n), workspace(x, n)
    dv, tried, found = zero_workspace(x, nv), workspace(x, nq), workspace(x, rows)
    gaps, dampings, sizes = workspace(x, groups), workspace(x, groups), workspace(x, groups)
    within_limits(plan, x, lower, upper, nv)
    constraints(topology, parameters, x, residual, J)
    at_work = 0
    for g in range(groups):
        store(gaps, g, squared_residual(plan, g, residual))
        busy = load(gaps, g) > ZERO_SQUARES
        store(dampings, g, FIRST if busy else -1.0)  # negative: done
        at_work += 1 if busy else 0
    steps = 0
    while at_work > 0 and steps < limit:
        steps += 1
        for g in range(groups):
            if load(dampings, g) > 0.0:
                store(sizes, g, put_step(plan, g, dv, x, lower, upper, J, nv, residual, load(dampings, g), H, gradient))
        integrate(topology, parameters, x, dv, tried)
        within_limits(plan, tried, lower, upper, nv)
        constraints(topology, parameters, tried, found, J)
        refused = 0
        for g in range(groups):
            damping = load(dampings, g)
            if damping > 0.0:
                gap, size = squared_residual(plan, g, found), load(sizes, g)
                better, small = size >= 0.0 and gap <= load(gaps, g), size >= 0.0 and size < enough and damping < NEWTON_DAMPING
                done = small or (size >= 0.0 and size < MIN_STEP)
                if better:
                    done = done or gap <= ZERO_SQUARES or gap > (1.0 - MIN_DECREASE) * load(gaps, g)
                    store(gaps, g, gap)
                    damping = max(0.1 * damping, MIN_DAMPING)
                else:
                    refused += 1
                    damping *= 10.0
                    for i in range(nq):
                        if load_int(plan, load_int(plan, GROUP_OF_Q) + i) == g:
                            store(tried, i, load(x, i))
                if done or damping > MAX_DAMPING:
                    damping = -1.0
                    at_work -= 1
                store(dampings, g, damping)
                for i in range(load_int(plan, group_ints(plan, g) + N_COORDINATES)):
                    store(dv, load_int(plan, load_int(plan, group_ints(plan, g) + FIRST_COORDINATE) + i), 0.0)
        copy_entries(tried, nq, x)
        if refused > 0:
            constraints(topology, parameters, x, residual, J)
        else:
            copy_entries(found, rows, residual)
    return steps


def close_posture(topology, parameters, q, lower, upper, limits, closed, residual, steps):
    """closed (nq,): the least open posture from q by the plan that is topology's table, and its residual; steps (1,) taken.
    lower, upper (nv,): limits of coordinates; limits (2,): a residual that is small enough (`close_loops`), and the most
    steps."""
    nq = load_int(topology, N_Q)
    copy_entries(q, nq, closed)
    plan = from_entry(topology, load_int(topology, TABLE_AT))
    taken = close_loops(topology, parameters, closed, plan, lower, upper, residual, load(limits, 0), load(limits, 1))
    store(steps, 0, 0.0 + taken)
