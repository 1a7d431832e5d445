"""Rows of a constraint set: their columns for each velocity coordinate, their rates and what their rates change by at a = 0.

A contact's row is a unit wrench on its frame: J v is the power of that wrench. Rows of loops are those of linkages/constraints.py.
Columns are kept coordinate by coordinate, `width` numbers each.

Wheels and balls roll on a plane: their unit wrenches are along, across and normal to it, at the point that touches. With n the
normal, a the axis (unit vectors in the frame's axes): the touching point is p = -radius (n - (a . n) a) / |a x n| of a wheel and p
= -radius n of a ball. A row is the velocity of that point of the body along g: g . (l + w x p), the unit wrench (g, p x g). A wheel
rolls along f = a x n / |a x n|, its other direction is n x f; a ball has any two directions in the plane."""

from freeflyer.kernels.backend import (
    LANES, copy_entries, from_entry, kernel, load, load_int, load_row, row_step, row_width, sqrt, store, store_row, workspace,
    zero_entries,
)
from freeflyer.kernels.linkages.constraints import bias_of, constraints_of
from freeflyer.kernels.math.algebra import ZERO, add, cross, dot, load3, rotate, rotate_back, scale, store3, subtract
from freeflyer.kernels.math.spatial import load_spatial, shift_force_back, spatial_dot, store_spatial
from freeflyer.kernels.model.access import like3
from freeflyer.kernels.model.layout import (
    AXES, AXIS, FIRST_TANGENT, FREE_AT, HELD, ITEM_FIRST_ROW, ITEM_FRAME, ITEM_INTS, ITEM_KIND, ITEM_NUMBERS, ITEM_ROWS,
    ITEMS_AT, LOCKS_AT, LOOP_ROWS_AT, N_ITEM_ROWS, N_ITEMS, N_LOCKS, N_LOOP_ROWS, N_ROWS, N_SET_ROWS, N_V, NORMAL, RADIUS,
    ROLLING_NUMBERS, SECOND_TANGENT, SPHERE, TABLE_AT,
)
from freeflyer.kernels.model.poses import root_position
from freeflyer.kernels.tree.columns import put_column, root_direction
from freeflyer.kernels.tree.frames import (
    BODY, MOTION_SIZE, body_motions, expressed_motion, frame_in_world, motions_workspace, point_motion,
)
from freeflyer.kernels.tree.kinematics import column_range, coordinate, parent_of


def unit_with_rate(u, du):
    """(u / |u|, its rate) of a vector and its rate."""
    inverse = 1.0 / sqrt(dot(u, u))
    e = scale(inverse, u)
    return e, scale(inverse, subtract(du, scale(dot(e, du), e)))


@kernel
def put_rolling(parameters, at, kind, R, w, wrenches, rates):
    """Writes three unit wrenches (3, 6) and their rates, in the frame's axes, of a frame with rotation R that turns at w (in its
    axes); at: the item's numbers in parameters."""
    zero, axes = 0.0 * w[0], at + ROLLING_NUMBERS
    radius, n = load(parameters, at + RADIUS), rotate_back(R, like3(zero, load3(parameters, axes + NORMAL)))
    dn = cross(n, w)
    if kind == SPHERE:
        p, dp = scale(-radius, n), scale(-radius, dn)
        f = rotate_back(R, like3(zero, load3(parameters, axes + FIRST_TANGENT)))
        s = rotate_back(R, like3(zero, load3(parameters, axes + SECOND_TANGENT)))
        df, ds = cross(f, w), cross(s, w)
    else:
        a = like3(zero, load3(parameters, at + AXIS))
        out, out_rate = unit_with_rate(subtract(n, scale(dot(a, n), a)), subtract(dn, scale(dot(a, dn), a)))
        p, dp = scale(-radius, out), scale(-radius, out_rate)
        f, df = unit_with_rate(cross(a, n), cross(a, dn))
        s, ds = cross(n, f), add(cross(dn, f), cross(n, df))
    for k, (g, dg) in enumerate(((f, df), (s, ds), (n, dn))):  # unit wrenches along g at p
        store_spatial(wrenches, 6 * k, (g, cross(p, g)))
        store_spatial(rates, 6 * k, (dg, add(cross(dp, g), cross(p, dg))))


def table_int(topology, k):
    return load_int(topology, load_int(topology, TABLE_AT) + k)


def item_int(topology, n, k):
    return table_int(topology, table_int(topology, ITEMS_AT) + ITEM_INTS * n + k)


def first_item_row(topology):
    return table_int(topology, N_SET_ROWS) - table_int(topology, N_ITEM_ROWS)


def held_wrenches(topology, n, scaled):
    """Where, in parameters, the unit wrenches of a held item begin: those by which equations are solved, or the public ones."""
    at, k = item_int(topology, n, ITEM_NUMBERS), item_int(topology, n, ITEM_ROWS)
    return at if scaled else at + k * (6 + k)


def axes_place(topology, n):
    """Where, behind the unit wrenches, the axes of item n begin; of n = N_ITEMS how many numbers both take."""
    return 6 * table_int(topology, N_ITEM_ROWS) + AXES * n


@kernel
def put_item_rows(topology, parameters, work, n, scaled, wrenches, units, drift, tall, X, width, bias, rates):
    """Rows of item n: unit wrenches in the frame's axes into `wrenches` (rows of items, 6), behind these the item's own axes (three
    rows) in the frame's; columns into X, bias, rates J v. units, drift: room for 36 numbers each; tall: for 6 LANES."""
    frame, kind, count = item_int(topology, n, ITEM_FRAME), item_int(topology, n, ITEM_KIND), item_int(topology, n, ITEM_ROWS)
    row, (i, R, c) = item_int(topology, n, ITEM_FIRST_ROW), frame_in_world(topology, parameters, work, frame)
    x = add(root_position(topology, work, i), c)
    l, w, a, dw = point_motion(work, load_int(topology, FREE_AT) + MOTION_SIZE * i, c)
    l, w, a, dw = expressed_motion(BODY, R, c, l, w, a, dw)
    if kind == HELD:
        at = held_wrenches(topology, n, scaled)
        for k in range(6 * count):
            store(units, k, load(parameters, at + k))
            store(drift, k, 0.0)
    else:
        put_rolling(parameters, item_int(topology, n, ITEM_NUMBERS), kind, R, w, units, drift)
    axes, place = item_int(topology, n, ITEM_NUMBERS), axes_place(topology, n)
    axes += count * (12 + count) if kind == HELD else ROLLING_NUMBERS
    for k in range(0, AXES, 3):
        store3(wrenches, place + k, rotate_back(R, load3(parameters, axes + k)))
    own = row - first_item_row(topology)
    for k in range(count):
        F, change = load_spatial(units, 6 * k), load_spatial(drift, 6 * k)
        store_spatial(wrenches, 6 * (own + k), F)
        store(rates, row + k, spatial_dot((l, w), F))
        store(bias, row + k, spatial_dot((a, dw), F) + spatial_dot((l, w), change))
        put_column(tall, 0, LANES, k, shift_force_back((rotate(R, F[0]), rotate(R, F[1])), x))
    for k in range(count, LANES):
        put_column(tall, 0, LANES, k, (ZERO, ZERO))
    while i > 0:
        for d in range(*column_range(topology, i)):
            add_power(tall, count, root_direction(topology, work, i, d), X, width * coordinate(topology, d) + row)
        i = parent_of(topology, i)


def add_power(wrenches, count, V, X, at):
    """Entries of X from `at` on grow by the power of `count` wrenches (six rows of LANES numbers) along the motion V; by zero
    behind them, as far as a row scalar reaches."""
    l, w = V
    for k in range(0, count, row_step(X)):
        power = l[0] * load_row(wrenches, k) + l[1] * load_row(wrenches, LANES + k) + l[2] * load_row(wrenches, 2 * LANES + k)
        power = power + (w[0] * load_row(wrenches, 3 * LANES + k) + w[1] * load_row(wrenches, 4 * LANES + k))
        store_row(X, at + k, load_row(X, at + k) + (power + w[2] * load_row(wrenches, 5 * LANES + k)))


def put_loop_rows(topology, parameters, q, v, work, X, width, bias, rates):
    """The chosen rows of loops and couplings, the first of the set."""
    nv, rows, to = load_int(topology, N_V), load_int(topology, N_ROWS), load_int(topology, FREE_AT)
    J, residual, drift = workspace(X, rows * nv + 8), workspace(X, rows + 1), workspace(X, rows + 1)
    constraints_of(topology, parameters, q, work, residual, J)
    bias_of(topology, parameters, q, v, work, to, drift)
    for n in range(table_int(topology, N_LOOP_ROWS)):
        row, rate = table_int(topology, table_int(topology, LOOP_ROWS_AT) + n), 0.0 * load(v, 0)
        for j in range(nv):
            x = load(J, nv * row + j)
            store(X, width * j + n, x)
            rate = rate + x * load(v, j)
        store(rates, n, rate)
        store(bias, n, load(drift, row))


@kernel
def put_set_rows(topology, parameters, q, v, work, scaled, wrenches, X, width, bias, rates):
    """All rows of the set, given the motions of all bodies in `work`: columns X (nv, width), bias (r,), rates J v (r,)."""
    zero_entries(X, load_int(topology, N_V) * width)
    if table_int(topology, N_LOOP_ROWS) > 0:
        put_loop_rows(topology, parameters, q, v, work, X, width, bias, rates)
    row = table_int(topology, N_LOOP_ROWS)
    for n in range(table_int(topology, N_LOCKS)):
        j = table_int(topology, table_int(topology, LOCKS_AT) + n)
        store(X, width * j + row + n, 1.0)
        store(bias, row + n, 0.0)
        store(rates, row + n, load(v, j))
    units, drift, tall = workspace(X, 36), workspace(X, 36), workspace(X, 6 * LANES)
    for n in range(table_int(topology, N_ITEMS)):
        put_item_rows(topology, parameters, work, n, scaled, wrenches, units, drift, tall, X, width, bias, rates)


@kernel
def set_rows(topology, parameters, q, v, J, bias, wrenches, axes):
    """J (r, nv) and bias (r,) of the public rows; in frames' axes wrenches (rows of items, 6), the unit wrenches of those, and axes
    (items, 9), the vectors x, y and normal of each item."""
    nv, rows = load_int(topology, N_V), table_int(topology, N_SET_ROWS)
    width = row_width(q, rows)
    work = motions_workspace(topology, parameters, q, 0)
    body_motions(topology, work, v, load_int(topology, FREE_AT))
    X, drift, rates = workspace(q, nv * width + 8), workspace(q, rows + 1), workspace(q, rows + 1)
    first, end = axes_place(topology, 0), axes_place(topology, table_int(topology, N_ITEMS))
    made = workspace(q, end + 1)
    put_set_rows(topology, parameters, q, v, work, False, made, X, width, drift, rates)
    for i in range(rows):
        store(bias, i, load(drift, i))
        for j in range(nv):
            store(J, nv * i + j, load(X, width * j + i))
    copy_entries(made, first, wrenches)
    copy_entries(from_entry(made, first), end - first, axes)
