"""The nearest state that a constraint set admits: by Newton's steps, each the shortest in the kinetic metric, then an impact.

Rows of contacts are held where the poses of their frames are given, locks at a given configuration. A point's middle is itself.
With R, p the frame's pose, S, s the one that is given, m the middle of the contact's points and e a line's direction, both in the
frame's axes, the rows of a contact have left by R^T (p + R m - s - S m), of a surface also by the rotation vector of S^T R, of a
line by that of the shortest turn from its given direction. What rolls is held at velocity level alone."""

from freeflyer.kernels.backend import (
    all_below, copy_entries, from_entry, kernel, load, load_int, put_sum, release, select_less, sqrt, store, taken, workspace,
    zero_entries,
)
from freeflyer.kernels.contacts.dynamics import solve_rates
from freeflyer.kernels.contacts.rows import held_wrenches, item_int, table_int
from freeflyer.kernels.linkages.constraints import constraint_residual
from freeflyer.kernels.math.algebra import add, cross, dot, load3, rotate, rotate_back, store3, subtract
from freeflyer.kernels.math.turns import relative_rotation_vector, swing
from freeflyer.kernels.model.joints.kinds import difference, integrate
from freeflyer.kernels.model.layout import (
    ANCHOR, ANCHORS, HELD, ITEM_FIRST_ROW, ITEM_FRAME, ITEM_KIND, ITEM_ROWS, LOCKS_AT, LOOP_ROWS_AT, N_ITEMS, N_LOCKS,
    N_LOOP_ROWS, N_Q, N_ROWS, N_SET_ROWS, N_V,
)
from freeflyer.kernels.model.poses import position
from freeflyer.kernels.tree.all_terms import areas_workspace
from freeflyer.kernels.tree.frames import frame_in_world
from freeflyer.kernels.tree.kinematics import kinematics, kinematics_workspace

STEPS = 40
TOLERANCE, LONGEST = 1e-10, 0.3  # m and rad: what counts as held; that a coordinate moves in one step


def largest_square(x, n, least):
    """The largest square of n numbers, or `least`; NaN if one is NaN."""
    worst = least + 0.0 * load(x, 0)
    for k in range(n):
        square = load(x, k) * load(x, k)
        worst = select_less(square, worst, worst, square)
    return worst


@kernel
def put_contact_gaps(topology, parameters, work, settings, n, gaps):
    """By how far the public rows of held item n have left the pose in the settings."""
    frame, count, row = item_int(topology, n, ITEM_FRAME), item_int(topology, n, ITEM_ROWS), item_int(topology, n, ITEM_FIRST_ROW)
    at, rows, (i, R, c) = ANCHORS + ANCHOR * n, held_wrenches(topology, n, False), frame_in_world(topology, parameters, work, frame)
    x = add(position(topology, work, i), c)
    S = tuple(load(settings, at + k) for k in range(9))
    m = load(parameters, rows + 11), load(parameters, rows + 15), load(parameters, rows + 4)  # moments of z, x, y at the middle
    store3(gaps, row, rotate_back(R, subtract(add(x, rotate(R, m)), add(load3(settings, at + 9), rotate(S, m)))))
    if count == 6:
        turn, _, _, _ = relative_rotation_vector(S, R)
        store3(gaps, row + 3, turn)
    elif count == 5:
        a, b = load3(parameters, rows + 21), load3(parameters, rows + 27)
        turn = swing(R, S, cross(a, b))
        store(gaps, row + 3, -1.0 * dot(turn, a))
        store(gaps, row + 4, -1.0 * dot(turn, b))


@kernel
def put_gaps(topology, parameters, q, work, settings, gaps):
    """gaps (r,): by how far the public rows have left; zero of what rolls. Returns the largest square."""
    store(gaps, 0, 0.0)
    zero_entries(gaps, table_int(topology, N_SET_ROWS))
    row, locks = table_int(topology, N_LOOP_ROWS), table_int(topology, N_LOCKS)
    if row > 0:
        residual = workspace(gaps, load_int(topology, N_ROWS) + 1)
        constraint_residual(topology, parameters, q, residual)
        for n in range(row):
            store(gaps, n, load(residual, table_int(topology, table_int(topology, LOOP_ROWS_AT) + n)))
    if locks > 0:
        posture, moved = workspace(gaps, load_int(topology, N_Q) + 1), workspace(gaps, load_int(topology, N_V) + 1)
        copy_entries(from_entry(settings, ANCHORS + ANCHOR * table_int(topology, N_ITEMS)), load_int(topology, N_Q), posture)
        difference(topology, parameters, posture, q, moved)
        for n in range(locks):
            store(gaps, row + n, load(moved, table_int(topology, table_int(topology, LOCKS_AT) + n)))
    for n in range(table_int(topology, N_ITEMS)):
        if item_int(topology, n, ITEM_KIND) == HELD:
            put_contact_gaps(topology, parameters, work, settings, n, gaps)
    return largest_square(gaps, table_int(topology, N_SET_ROWS), 0.0)


def set_residual(topology, parameters, q, settings, residual):
    """residual (r,): by how far the public rows have left; zero of what rolls."""
    rows = table_int(topology, N_SET_ROWS)
    gaps = workspace(q, rows + 1)
    put_gaps(topology, parameters, q, kinematics_workspace(topology, parameters, q, 0), settings, gaps)
    copy_entries(gaps, rows, residual)


@kernel
def scale_gaps(topology, parameters, gaps):
    """Gaps of the public rows become those of the rows by which equations are solved."""
    public = workspace(gaps, 8)
    for n in range(table_int(topology, N_ITEMS)):
        row, count = item_int(topology, n, ITEM_FIRST_ROW), item_int(topology, n, ITEM_ROWS)
        if item_int(topology, n, ITEM_KIND) == HELD:
            at = held_wrenches(topology, n, True) + 6 * count
            copy_entries(from_entry(gaps, row), count, public)
            for j in range(count):
                total = 0.0 * load(public, 0)
                for i in range(count):
                    total = total + load(parameters, at + count * i + j) * load(public, i)
                store(gaps, row + j, total)


@kernel
def set_projection(topology, parameters, q, v, settings, q_near, v_near, gap, verdict):
    """The nearest state (nq,), (nv,); gap: the square of the largest that is left; verdict: of the velocity. settings: a number for
    others (`set_steps`), the poses of items, the configuration of locks."""
    nq, nv, rows = load_int(topology, N_Q), load_int(topology, N_V), table_int(topology, N_SET_ROWS)
    gaps, step, x, moved = workspace(q, rows + 1), workspace(q, nv + 1), workspace(q, nq + 1), workspace(q, nq + 1)
    work, items = areas_workspace(topology, parameters, q), table_int(topology, N_ITEMS)
    impulses, multipliers, normals = workspace(q, 6 * items + 1), workspace(q, rows + 1), workspace(q, items + 1)
    copy_entries(q, nq, x)
    turn, room = 0, taken(q)
    left = put_gaps(topology, parameters, x, work, settings, gaps)
    while turn < STEPS and not all_below(left, TOLERANCE * TOLERANCE) and release(q, room):
        scale_gaps(topology, parameters, gaps)
        solve_rates(topology, parameters, x, v, work, True, gaps, step, impulses, multipliers, normals, verdict)
        share = LONGEST / sqrt(largest_square(step, nv, LONGEST * LONGEST))
        for j in range(nv):
            store(step, j, share * load(step, j))
        integrate(topology, parameters, x, step, moved)
        for k in range(nq):  # of a pack, states that are there stay
            store(x, k, select_less(left, TOLERANCE * TOLERANCE, load(x, k), load(moved, k)))
        kinematics(topology, parameters, x, work)
        left = put_gaps(topology, parameters, x, work, settings, gaps)
        turn += 1
    release(q, room)
    solve_rates(topology, parameters, x, v, work, False, v, step, impulses, multipliers, normals, verdict)
    copy_entries(x, nq, q_near)
    put_sum(v, 1.0, step, nv, v_near)
    store(gap, 0, left)
