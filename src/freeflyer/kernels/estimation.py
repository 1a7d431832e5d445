"""The passive state of a closed robot, its motors' forces, and contact forces from them. Kangaroo paper, section VI, (43)-(46).

The linkage's blocks are solved as everywhere (linkages/blocks.py), while its loops need not be quite closed; open loops alone are
not refused. A singular block is refused by its number, so that nothing is pseudo-inverted. For one state at a time. The table of a
model with encoders (kind MEASURED) lists what they measure: how many joints, their entries of v, then those of q.

The table of a standing robot (kind STANDING) is that of the constraint set of its feet (model/layout.py), with sizes of arrays in
it, and behind its header how many motors and entries of the base there are, then their places in v. Unknowns are the forces of the
set's rows as they are solved, which count as point forces do. The update of a posture writes one array: motor forces without
contacts (n,), motor forces a unit of each unknown (n, k), the same of the base's equations (m,), (m, k), and the feet's poses (f,
4, 4)."""

from freeflyer.kernels.backend import (
    copy_entries, from_entry, kernel, load, load_int, row_width, sqrt, store, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.rows import axes_place, item_int, put_set_rows, table_int
from freeflyer.kernels.linkages.blocks import (
    complete_rates, gather_independent, invert_blocks, linkage_buffers, pivot_ratio, project_force_rows, whole_acceleration,
)
from freeflyer.kernels.linkages.constraints import constraints, constraints_of
from freeflyer.kernels.linkages.projection import forces_of
from freeflyer.kernels.math.dense import GENERAL_PIVOT, NAN, copy_rows, eliminate
from freeflyer.kernels.model.joints.kinds import integrate
from freeflyer.kernels.model.layout import (
    FREE_AT, ITEM_FRAME, N_INDEPENDENT, N_ITEMS, N_OTHERS, N_Q, N_ROWS, N_SET_ROWS, N_V, OTHERS, SET_HEADER, TABLE_AT,
)
from freeflyer.kernels.tree.frames import body_motions, frame_pose, motions_workspace
from freeflyer.kernels.tree.rnea import rnea

N_MEASURED, MEASURED = 0, 1  # measured: header, lists
ALPHA, BETA, STEP = 0, 1, 2  # gains
OUT_OF_LIMITS = -0.5  # instead of a ratio of pivots: a measurement is beyond its limits


def passive_step(topology, parameters, q, positions, rates, limits, gains, q_next, v, quality):
    """One step of (35)-(40): q_next (nq,) and v (nv,) from q, the measured positions and rates. quality (1,): as `pivot_ratio`, or
    OUT_OF_LIMITS where positions are not within limits (2 n,), lower then upper ones. q_next is NaN where that is not positive."""
    measured, inside = from_entry(topology, load_int(topology, TABLE_AT)), True
    nv, n_rows, n = load_int(topology, N_V), load_int(topology, N_ROWS), load_int(measured, N_MEASURED)
    for k in range(n):
        inside = inside and load(limits, k) <= load(positions, k) and load(positions, k) <= load(limits, n + k)
    (J, inverses, residual), x, still = linkage_buffers(topology, q), zero_workspace(q, nv), zero_workspace(q, n_rows)
    constraints(topology, parameters, q, residual, J)
    for k in range(n_rows):
        store(residual, k, load(gains, ALPHA) * load(residual, k))  # minus e_l, desired minus actual closure
    zero_entries(v, nv)
    beta = load(gains, BETA)
    for i in range(n):
        j, rate = load_int(measured, MEASURED + i), load(rates, i)
        error = load(positions, i) - load(q, load_int(measured, MEASURED + n + i))
        store(v, j, rate)
        store(x, j, rate + beta * error)
    ratio = pivot_ratio(topology, inverses, invert_blocks(topology, J, inverses, 1.0)) if inside else OUT_OF_LIMITS
    store(quality, 0, ratio)
    if ratio > 0.0:
        complete_rates(topology, J, inverses, residual, x)
        complete_rates(topology, J, inverses, still, v)
        for j in range(nv):
            store(x, j, load(gains, STEP) * load(x, j))
        integrate(topology, parameters, q, x, q_next)
    else:
        fill(q_next, load_int(topology, N_Q), NAN)
        fill(v, nv, NAN)


def fill(x, n, number):
    for i in range(n):
        store(x, i, number)


def linkage_ratio(topology, parameters, q, work):
    """(J, inverses of its blocks, the latter's `pivot_ratio`); work holds the kinematics of q."""
    J, inverses, residual = linkage_buffers(topology, work)
    constraints_of(topology, parameters, q, work, residual, J)
    return J, inverses, pivot_ratio(topology, inverses, invert_blocks(topology, J, inverses, 1.0))


def closed_torques(topology, parameters, q, v, a, tau, quality):
    """tau (nv,) that gives the independent entries of a, the others following: passive joints carry none. Kangaroo paper, eq. (28),
    (29) without contacts. quality (1,): as `pivot_ratio`; tau is NaN where that is not positive."""
    work, rates = motions_workspace(topology, parameters, q, 0), workspace(q, load_int(topology, N_INDEPENDENT) + 1)
    J, inverses, ratio = linkage_ratio(topology, parameters, q, work)
    if ratio > 0.0:
        gather_independent(topology, a, rates)
        all_a = whole_acceleration(topology, parameters, q, work, J, inverses, rates, v)
        forces, _ = forces_of(topology, parameters, q, J, inverses, v, all_a)
        copy_entries(forces, load_int(topology, N_V), tau)
    else:
        fill(tau, load_int(topology, N_V), NAN)
    store(quality, 0, ratio)


UPDATE, SPREAD, ANSWER, RESULTANT = range(OTHERS, OTHERS + N_OTHERS)  # of the table: sizes
N_MOTORS, N_BASE, LISTS = range(SET_HEADER, SET_HEADER + 3)


@kernel
def held_forces(topology, parameters, q, v, a, forces, width):
    """forces (nv rows of `width` numbers): a column for each unknown, then what the motion v, a of the tree takes, all projected
    onto independent coordinates. As `pivot_ratio`."""
    nv, n_rows, unknown = load_int(topology, N_V), load_int(topology, N_ROWS), table_int(topology, N_SET_ROWS)
    one, work = workspace(q, nv), motions_workspace(topology, parameters, q, 0)
    body_motions(topology, work, v, load_int(topology, FREE_AT))
    bias, rates = workspace(q, unknown + 1), workspace(q, unknown + 1)
    wrenches = workspace(q, axes_place(topology, table_int(topology, N_ITEMS)) + 1)
    put_set_rows(topology, parameters, q, v, work, True, wrenches, forces, width, bias, rates)
    rnea(topology, parameters, q, v, a, one)
    for j in range(nv):
        store(forces, width * j + unknown, load(one, j))
    if n_rows == 0:
        return 1.0
    J, inverses, ratio = linkage_ratio(topology, parameters, q, work)
    if ratio > 0.0:
        project_force_rows(topology, J, inverses, forces, width)
    return ratio


def put_effects(topology, forces, width, unknown, listed, count, out, to):
    """Of `count` entries of v: their forces without contacts, then for each unknown; returns where they end."""
    for i in range(count):
        j = table_int(topology, listed + i)
        store(out, to + i, load(forces, width * j + unknown))
        for c in range(unknown):
            store(out, to + count + unknown * i + c, load(forces, width * j + c))
    return to + count * (1 + unknown)


def contact_update(topology, parameters, q, v, a, out, quality):
    """Writes `out` (see above). quality (1,): as `pivot_ratio`; `out` is NaN where that is not positive."""
    nv, unknown = load_int(topology, N_V), table_int(topology, N_SET_ROWS)
    motors, base = table_int(topology, N_MOTORS), table_int(topology, N_BASE)
    width = row_width(q, 1 + unknown)
    forces = workspace(q, nv * width + 8)
    worst = held_forces(topology, parameters, q, v, a, forces, width)
    if worst > 0.0:
        to = put_effects(topology, forces, width, unknown, LISTS, motors, out, 0)
        to = put_effects(topology, forces, width, unknown, LISTS + motors, base, out, to)
        for f in range(table_int(topology, N_ITEMS)):
            frame_pose(topology, parameters, q, item_int(topology, f, ITEM_FRAME), from_entry(out, to + 16 * f))
    else:
        fill(out, table_int(topology, UPDATE), NAN)
    store(quality, 0, worst)


def put_product(A, n, k, column, width, from_row, work, out, to):
    """out from `to` on: A (n, k) times k numbers of a column of `work`, from a row on."""
    for i in range(n):
        total = 0.0
        for c in range(k):
            total += load(A, k * i + c) * load(work, width * (from_row + c) + column)
        store(out, to + i, total)


def answer_workspace(topology, tau, size, answer, quality):
    """(work, length of its rows) for `size` equations, all zero; the answer is NaN, its quality 0 until they are solved."""
    store(quality, 0, 0.0)
    fill(answer, table_int(topology, ANSWER), NAN)
    width = row_width(tau, size + 1)
    return zero_workspace(tau, size * width), width


def put_answer(topology, work, size, width, k, from_row, spread, resultant, answer, quality):
    """Solves `size` equations, of whose unknowns k from a row on are forces, unless they are singular."""
    ratio, six = eliminate(work, 0, size, width, width, 0.0), 6 * table_int(topology, N_ITEMS)
    points = table_int(topology, ANSWER) - six
    if ratio > GENERAL_PIVOT * GENERAL_PIVOT:
        put_product(spread, points, k, size, width, from_row, work, answer, 0)
        put_product(resultant, six, k, size, width, from_row, work, answer, points)
        store(quality, 0, sqrt(ratio))


def motor_wrenches(topology, parameters, tau, update, spread, resultant, answer, quality):
    """answer: point forces, then wrenches, from (46) with as many motors as unknowns; quality (1,): the ratio of pivots, 0 if
    singular, where the answer is NaN."""
    n = table_int(topology, N_MOTORS)
    work, width = answer_workspace(topology, tau, n, answer, quality)
    if n != table_int(topology, N_SET_ROWS):
        return
    copy_rows(from_entry(update, n), 0, n, n, n, work, 0, width)
    for i in range(n):
        store(work, width * i + n, load(update, i) - load(tau, i))
    put_answer(topology, work, n, width, n, 0, spread, resultant, answer, quality)


def balanced_wrenches(topology, parameters, tau, update, spread, resultant, answer, quality):
    """As `motor_wrenches`, but the base's equations hold exactly and the motors' by least squares:

    [1 A 0; A^T 0 B^T; 0 B 0] [r; y; multipliers] = [free - tau; 0; base]"""
    n, m, k = table_int(topology, N_MOTORS), table_int(topology, N_BASE), table_int(topology, N_SET_ROWS)
    size, base = n + k + m, n + n * k
    work, width = answer_workspace(topology, tau, size, answer, quality)
    for i in range(n):
        store(work, width * i + i, 1.0)
        store(work, width * i + size, load(update, i) - load(tau, i))
        for c in range(k):
            x = load(update, n + k * i + c)
            store(work, width * i + n + c, x)
            store(work, width * (n + c) + i, x)
    for i in range(m):
        store(work, width * (n + k + i) + size, load(update, base + i))
        for c in range(k):
            x = load(update, base + m + k * i + c)
            store(work, width * (n + k + i) + n + c, x)
            store(work, width * (n + c) + n + k + i, x)
    put_answer(topology, work, size, width, k, n, spread, resultant, answer, quality)
