"""A step of a closed linkage along its independent velocities, with the facts by which it stayed in its assembly mode.

After a step the dependent joints close the loops again.

Between two postures the square blocks A of the Jacobian are joined by a straight line, A0 + s (A1 - A0) = A0 (1 + s E). It passes
no singular matrix while |E| < 1, and beyond that if no eigenvalue of A0^-1 A1 is real and not positive. Determinants would not do:
two that change their signs at once leave that of the whole as it was."""

from freeflyer.kernels.backend import all_below, copy_entries, kernel, load, load_int, select_less, store, workspace, zero_workspace
from freeflyer.kernels.linkages.blocks import (
    block_of, closed_or_nan, complete_rates, invert_blocks, largest_square, linkage, linkage_buffers, linkage_int,
    whole_velocity,
)
from freeflyer.kernels.linkages.constraints import constraints_of
from freeflyer.kernels.math.dense import NAN
from freeflyer.kernels.model.joints.kinds import integrate
from freeflyer.kernels.model.layout import N_BLOCKS, N_Q, N_V
from freeflyer.kernels.tree.frames import motions_workspace
from freeflyer.kernels.tree.kinematics import kinematics

STEPS = 30
SMALL = 1e-13  # rad or m: steps below change nothing more


@kernel
def move_closed(topology, parameters, q, du, out):
    """out (nq,): q (+) G du (+) c, the dependent joints' c by Newton's method so that the loops close; NaN where that fails. c is
    one move, not one after another: so the derivative of out is known."""
    nq, nv = load_int(topology, N_Q), load_int(topology, N_V)
    work, J, inverses = linkage(topology, parameters, q)
    x = whole_velocity(topology, work, J, inverses, du)
    here = workspace(q, nq + 1)
    integrate(topology, parameters, q, x, here)
    copy_entries(here, nq, out)
    J, inverses, residual = linkage_buffers(topology, work)
    rest, closing = zero_workspace(work, nv), zero_workspace(work, nv)
    still = 1.0 + 0.0 * load(q, 0)  # of a pack, those that are closed stay: none depends on its neighbours
    for _ in range(STEPS):
        kinematics(topology, parameters, out, work)
        constraints_of(topology, parameters, out, work, residual, J)
        invert_blocks(topology, J, inverses, 1.0)
        copy_entries(rest, nv, x)
        complete_rates(topology, J, inverses, residual, x)
        largest = load(rest, 0)
        for j in range(nv):
            step = still * load(x, j)
            store(closing, j, load(closing, j) + step)
            largest = select_less(largest, step * step, step * step, largest)
        integrate(topology, parameters, here, closing, out)
        if all_below(largest, SMALL * SMALL):
            break
        still = select_less(largest, SMALL * SMALL, 0.0, still)
    kinematics(topology, parameters, out, work)
    constraints_of(topology, parameters, out, work, residual, J)
    verdict = closed_or_nan(topology, residual)
    for k in range(nq):
        store(out, k, verdict * load(out, k))


CLOSED = 1e-9  # m or rad: what Newton's method leaves open on the independent rows
CORRECTIONS = 6  # Newton steps before a state is given up
LONGEST = 0.2  # rad or m: no dependent coordinate may move further in one correction; it would jump to another mode


def step_closed(topology, parameters, q, du, out, facts):
    """out (nq,): q moved along G du, then closed by Newton steps of the dependent joints. facts (3,): the square of what stays
    open, NaN after a correction that is too long; the largest |E|^2 (Frobenius) of a block; the largest |D A1^-1|^2, D the lengths
    of A1's columns. Neither open loops nor singular blocks stop it: see `facts`."""
    nq, nv = load_int(topology, N_Q), load_int(topology, N_V)
    work = motions_workspace(topology, parameters, q, 0)
    J, first, residual = linkage_buffers(topology, work)
    constraints_of(topology, parameters, q, work, residual, J)
    invert_blocks(topology, J, first, 1.0)
    x = whole_velocity(topology, work, J, first, du)
    integrate(topology, parameters, q, x, out)
    J, inverses, residual = linkage_buffers(topology, work)
    here, rest = workspace(q, nq + 1), zero_workspace(work, nv)
    wild = 0.0 * load(q, 0)
    open_by = wild
    for k in range(CORRECTIONS + 1):
        kinematics(topology, parameters, out, work)
        constraints_of(topology, parameters, out, work, residual, J)
        open_by = largest_square(topology, residual)
        if k == CORRECTIONS or all_below(open_by, CLOSED * CLOSED):
            break
        invert_blocks(topology, J, inverses, 1.0)
        copy_entries(rest, nv, x)
        complete_rates(topology, J, inverses, residual, x)
        far = load(rest, 0)
        still = select_less(open_by, CLOSED * CLOSED, 0.0, 1.0)  # of a pack, those that are closed stay
        for j in range(nv):
            step = still * load(x, j)
            store(x, j, step)
            far = select_less(far, step * step, step * step, far)
        wild = select_less(LONGEST * LONGEST, far, NAN, wild)
        copy_entries(out, nq, here)
        integrate(topology, parameters, here, x, out)
    store(facts, 0, open_by + wild)
    store(facts, 1, largest_change(topology, first, J))
    invert_blocks(topology, J, inverses, 1.0)
    store(facts, 2, largest_inverse(topology, inverses, J))


def posture_change(topology, parameters, q, q_next, change):
    """change (2,): the largest |E|^2 (Frobenius) of a block between two postures; at the first the largest |D A^-1|^2, as in
    `step_closed`."""
    work, J, inverses = linkage(topology, parameters, q)
    store(change, 1, largest_inverse(topology, inverses, J))
    J, _, residual = linkage_buffers(topology, work)
    kinematics(topology, parameters, q_next, work)
    constraints_of(topology, parameters, q_next, work, residual, J)
    store(change, 0, largest_change(topology, inverses, J))


def largest_change(topology, inverses, J):
    """The largest |A0^-1 A1 - 1|^2 (Frobenius) of a block: A0^-1 from `inverses`, A1 from J."""
    nv = load_int(topology, N_V)
    worst = 0.0 * load(J, 0)
    for k in range(linkage_int(topology, N_BLOCKS)):
        n, _, places, row_list, to, stride = block_of(topology, k)
        total = 0.0 * worst
        for i in range(n):
            for j in range(n):
                place = load_int(topology, places + j)
                x = -1.0 + 0.0 * worst if i == j else 0.0 * worst
                for r in range(n):
                    row = load_int(topology, row_list + r)
                    x = x + load(inverses, to + stride * i + r) * load(J, nv * row + place)
                total = total + x * x
        worst = select_less(total, worst, worst, total)
    return worst


def largest_inverse(topology, inverses, J):
    """The largest |D A^-1|^2 (Frobenius) of a block, D the lengths of A's columns: at least 1 / s^2, s being the smallest singular
    value of the block with its columns at unit length, and at most n / s^2."""
    nv = load_int(topology, N_V)
    worst = 0.0 * load(J, 0)
    for k in range(linkage_int(topology, N_BLOCKS)):
        n, _, places, row_list, to, stride = block_of(topology, k)
        total = 0.0 * worst
        for i in range(n):
            place = load_int(topology, places + i)
            column = row_of_inverse = 0.0 * worst
            for r in range(n):
                x, y = load(J, nv * load_int(topology, row_list + r) + place), load(inverses, to + stride * i + r)
                column, row_of_inverse = column + x * x, row_of_inverse + y * y
            total = total + column * row_of_inverse
        worst = select_less(total, worst, worst, total)
    return worst
