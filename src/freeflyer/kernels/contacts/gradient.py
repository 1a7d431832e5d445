"""Derivatives of set_dynamics by q, v and tau, by one factor of M: of sets of held contacts and locks whose rows are independent.

With g_x the derivatives of M a + bias - J^T y by x at fixed a and y (-1 for tau), b_x those of J a + bias_J, Y = L^-T g_x and the
whitened columns X = L^-T J^T:

    (X^T D^-1 X) y_x = X^T D^-1 Y - b_x        a_x = L^-1 D^-1 (X y_x - Y)

With X, Y, T of derivatives/inverse.py, in the axes of a body of velocity V that it moves column j changes the acceleration by Y_j -
V x X_j with q, gravity aside, and by T_j - V x S_j with v; a unit wrench F makes (V x* F) . S_j of -F . (V x S_j)."""

from freeflyer.kernels.backend import (
    all_below, copy_entries, keep_below, kernel, load, load_int, load_row, row_step, row_width, select_less, store, store_row,
    workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.contacts.dynamics import path_of, solve_set
from freeflyer.kernels.contacts.rows import first_item_row, held_wrenches, item_int, table_int
from freeflyer.kernels.derivatives.forward import put_inverse_rows
from freeflyer.kernels.derivatives.inverse import (
    DIRECTION_RECORD, FORCE, LAST, MOTION_RECORD, T, Y, areas, finish_table, more_than_kinematics, motions_and_forces, table_size,
)
from freeflyer.kernels.derivatives.solved_rows import (
    add_three_rows, inward, outward, put_row, put_three_rows, solved_width, three_rows,
)
from freeflyer.kernels.math.algebra import add_scaled, cross, dot, load3, rows3, scale, store_entries, store_rows
from freeflyer.kernels.math.dense import ZERO
from freeflyer.kernels.math.spatial import (
    accumulate_spatial, force_cross, load_spatial, motion_cross, spatial_dot, spatial_of, spatial_scale,
)
from freeflyer.kernels.model.layout import (
    COLUMN_ROW, FLAGS, FREE_AT, GRAVITY, HELD, ITEM_FIRST_ROW, ITEM_FRAME, ITEM_KIND, ITEM_ROWS, N_COLUMNS, N_ITEMS, N_SET_ROWS,
    N_V, VERDICT_SIZE,
)
from freeflyer.kernels.tree.all_terms import areas as motion_areas
from freeflyer.kernels.tree.columns import row_dot
from freeflyer.kernels.tree.frames import BODY, frame_body
from freeflyer.kernels.tree.kinematics import (
    OF_NUMBER, OF_PARENT, column_range, coordinate, kinematics_workspace, parent_of, record_rows,
)
from freeflyer.kernels.tree.rnea import wrench_from_root

ITEM_CHANGE = 15  # of a unit wrench F, about the root body's origin: F, V x* F, the force of F x g


@kernel
def subtract_item_forces(topology, parameters, work, items, forces):
    """The forces required by subtrees are reduced by the wrenches (items, 6) on the items' frames."""
    for n in range(table_int(topology, N_ITEMS)):
        frame = item_int(topology, n, ITEM_FRAME)
        i, F, _ = wrench_from_root(topology, parameters, work, frame, load_spatial(items, 6 * n), BODY)
        while i > 0:
            accumulate_spatial(work, forces + FORCE * i, spatial_scale(-1.0, F))
            i = parent_of(topology, i)


@kernel
def put_item_changes(topology, parameters, work, table, n, wrenches, numbers, by_q, by_v, width):
    """Rows of held item n, over columns: the power of its unit wrenches along derivatives of its frame's acceleration. numbers:
    room for ITEM_CHANGE a row."""
    end, stride, step = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW), row_step(table)
    directions, motions, _, _, _, _ = areas(topology)
    frame, count, first = item_int(topology, n, ITEM_FRAME), item_int(topology, n, ITEM_ROWS), item_int(topology, n, ITEM_FIRST_ROW)
    i, g = frame_body(topology, frame), load3(parameters, GRAVITY)
    if i > 0:
        _, reach = column_range(topology, i)
        V = load_spatial(work, motions + MOTION_RECORD * i)
        for k in range(count):
            F = load_spatial(wrenches, 6 * (first - first_item_row(topology) + k))
            _, F, _ = wrench_from_root(topology, parameters, work, frame, F, BODY)
            f, t = force_cross(V, F)
            store_entries(numbers, ITEM_CHANGE * k, (*F[0], *F[1], *f, *t, *cross(F[0], g)))
        for c in range(0, reach, step):
            last = load_row(table, LAST * stride + c)
            s = spatial_of(record_rows(topology, work, directions, DIRECTION_RECORD, OF_NUMBER, c, end))
            l, w = motion_cross(spatial_of(record_rows(topology, work, motions, MOTION_RECORD, OF_PARENT, c, end)), s)
            for k in range(count):
                at, to = ITEM_CHANGE * k, width * (first + k) + c
                f, h = load_spatial(numbers, at), load_spatial(numbers, at + 6)
                x = row_dot(f[0] + f[1], table, Y * stride + c, stride) + dot(load3(numbers, at + 12), s[1])
                x = x + (dot(h[0], l) + dot(h[1], w))
                y = row_dot(f[0] + f[1], table, T * stride + c, stride) + spatial_dot(h, s)
                store_row(by_q, to, keep_below(table, select_less(last, reach - 1, 0.0, x), c, reach))
                store_row(by_v, to, keep_below(table, select_less(last, reach - 1, 0.0, y), c, reach))


@kernel
def put_row_changes(topology, parameters, work, table, wrenches, by_q, by_v, length):
    """Derivatives of J a + bias by q and v at fixed a: rows `length` long, of held items; of others zero."""
    rows, n, stride = table_int(topology, N_SET_ROWS), load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    direct, width, Q, V = n == load_int(topology, N_V), length, by_q, by_v
    if not direct:
        width, Q, V = stride, zero_workspace(table, rows * stride + 8), zero_workspace(table, rows * stride + 8)
    zero_entries(by_q, rows * length)
    zero_entries(by_v, rows * length)
    numbers = workspace(table, 6 * ITEM_CHANGE)
    for k in range(table_int(topology, N_ITEMS)):
        if item_int(topology, k, ITEM_KIND) == HELD:
            put_item_changes(topology, parameters, work, table, k, wrenches, numbers, Q, V, width)
    if not direct:
        for i in range(rows):
            for c in range(n):
                to = length * i + coordinate(topology, c)
                store(by_q, to, load(by_q, to) + load(Q, width * i + c))
                store(by_v, to, load(by_v, to) + load(V, width * i + c))


@kernel
def put_right_sides(topology, L, X, width, given, sides, length):
    """Right sides of the equations of y_q, y_v and y_tau, in place of b_q and b_v; given: Y of q, v and tau."""
    rows, stride, step = table_int(topology, N_SET_ROWS), load_int(topology, COLUMN_ROW), row_step(sides[0])
    path, count = path_of(topology)
    for i in range(rows):
        for j in range(0, length, 3 * step):
            at, zero = length * i + j, 0.0 * load_row(sides[0], length * i + j)
            x = scale(-1.0, rows3(sides[0], at, step)), scale(-1.0, rows3(sides[1], at, step)), (zero, zero, zero)
            for n in range(count):
                k = load_int(topology, path + n)
                s = load(L, (stride + 1) * k) * load(X, width * k + i)
                if not all_below(s, ZERO):
                    x = add_three_rows(x, (s, s, -1.0 * s), given, length * k + j)
            put_three_rows(sides, at, x)


@kernel
def solve_right_sides(G, rows, width, flags, sides, length):
    """The rows become y, G being what `eliminate_rows` makes of J M^-1 J^T; rows that depend on others get zero."""
    inverses, step = workspace(G, rows + 1), row_step(G)
    for c in range(rows):
        store(inverses, c, select_less(load(flags, FLAGS + c), 0.5, 0.0, 1.0 / load(G, width * c + c)))
    for j in range(0, length, 3 * step):
        for i in range(rows):
            x = three_rows(sides, length * i + j)
            for c in range(i):
                s = -1.0 * load(inverses, c) * load(G, width * c + i)
                x = add_three_rows(x, (s, s, s), sides, length * c + j)
            put_three_rows(sides, length * i + j, x)
        for i in range(rows - 1, -1, -1):
            x, d = three_rows(sides, length * i + j), load(inverses, i)
            for c in range(i + 1, rows):
                s = -1.0 * load(G, width * i + c)
                x = add_three_rows(x, (s, s, s), sides, length * c + j)
            put_three_rows(sides, length * i + j, tuple(scale(d, a) for a in x))


@kernel
def subtract_reactions(topology, X, width, given, sides, length):
    """Given Y of q and v become Y - X y; that of tau, which is -Y, becomes X y - Y."""
    rows, step = table_int(topology, N_SET_ROWS), row_step(sides[0])
    path, count = path_of(topology)
    for n in range(count):
        k = load_int(topology, path + n)
        for j in range(0, length, 3 * step):
            x = three_rows(given, length * k + j)
            for i in range(rows):
                s = load(X, width * k + i)
                if not all_below(s, ZERO):
                    x = add_three_rows(x, (-1.0 * s, -1.0 * s, s), sides, length * i + j)
            put_three_rows(given, length * k + j, x)


@kernel
def put_multipliers(topology, parameters, y, length, out):
    """The rows of y as those of the multipliers (r, nv) of the public rows."""
    nv, step = load_int(topology, N_V), row_step(y)
    for i in range(first_item_row(topology)):
        put_row(y, length * i, nv, out, nv * i)
    made = workspace(y, length)
    for n in range(table_int(topology, N_ITEMS)):
        row, count = item_int(topology, n, ITEM_FIRST_ROW), item_int(topology, n, ITEM_ROWS)
        for i in range(count):
            if item_int(topology, n, ITEM_KIND) == HELD:
                numbers = held_wrenches(topology, n, True) + 6 * count + count * i
                for j in range(0, length, 3 * step):
                    total = scale(load(parameters, numbers), rows3(y, length * row + j, step))
                    for c in range(1, count):
                        total = add_scaled(total, load(parameters, numbers + c), rows3(y, length * (row + c) + j, step))
                    store_rows(made, j, step, total)
                put_row(made, 0, nv, out, nv * (row + i))
            else:
                put_row(y, length * (row + i), nv, out, nv * (row + i))


def set_gradient(topology, parameters, q, v, tau, dq, dv, dtau, y_q, y_v, y_tau, verdict):
    """Derivatives (nv, nv) of a and (r, nv) of the multipliers by q, v and tau; the verdict of set_dynamics. For sets without
    rolling bodies and loops; where rows depend on others, derivatives do not exist, and the outputs are undefined."""
    nv, rows, length = load_int(topology, N_V), table_int(topology, N_SET_ROWS), solved_width(topology, q)
    width = row_width(q, rows)
    _, _, _, _, end = motion_areas(topology)
    more = max(end - load_int(topology, FREE_AT), more_than_kinematics(topology))
    work, a = kinematics_workspace(topology, parameters, q, more), workspace(q, nv + 1)
    items, y = zero_workspace(q, 6 * table_int(topology, N_ITEMS)), workspace(q, rows + 1)
    found = workspace(q, table_int(topology, VERDICT_SIZE))
    normal_forces = workspace(q, table_int(topology, N_ITEMS) + 1)
    L, X, G, wrenches = solve_set(topology, parameters, q, v, tau, work, a, items, y, normal_forces, found)
    table, (_, _, _, _, forces, _) = workspace(q, table_size(topology)), areas(topology)
    motions_and_forces(topology, parameters, work, v, a, load3(parameters, GRAVITY), items, 0, BODY)
    subtract_item_forces(topology, parameters, work, items, forces)
    finish_table(topology, parameters, v, work, table)
    Q, V, E = tuple(workspace(q, nv * length) for _ in range(3))
    put_inverse_rows(topology, table, Q, V, length)
    inward(topology, L, Q, V, E, length)
    sides = tuple(workspace(q, rows * length + 8) for _ in range(3))
    put_row_changes(topology, parameters, work, table, wrenches, sides[0], sides[1], length)
    put_right_sides(topology, L, X, width, (Q, V, E), sides, length)
    solve_right_sides(G, rows, width, found, sides, length)
    subtract_reactions(topology, X, width, (Q, V, E), sides, length)
    outward(topology, L, Q, V, E, length, dq, 0, dv, 0, nv, dtau, 0)
    for rows_of_y, out in zip(sides, (y_q, y_v, y_tau)):
        put_multipliers(topology, parameters, rows_of_y, length, out)
    copy_entries(found, table_int(topology, VERDICT_SIZE), verdict)
