"""Inverse mass matrix by articulated bodies (J. Carpentier, Analytical inverse of the joint space inertia matrix, 2018).

Row c of the inverse is the acceleration of column c under a unit force on each column j. Inward, F gathers the forces that the
columns of a subtree pass on; outward, each level of the tree keeps the accelerations of its body. F and accelerations are about the
root body's origin, so nothing is shifted and every inner loop runs along rows.
"""

from freeflyer.kernels.backend.buffers import keep_below, load, load_int, load_row, row_step, store, store_row, unit_row
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.spatial import load_spatial, shift_force_back
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.layout import ARMATURE_AT, COLUMN_ROW, DEPTH, FREE_AT, MAX_DEPTH, N_BODIES, N_COLUMNS
from freeflyer.kernels.tree.articulated import (
    ARTICULATED, add_to_parent, eliminate_column, load_articulated, store_rigid,
)
from freeflyer.kernels.tree.columns import (
    clear_beyond, inertia_tiles, last_column, matrix_rows, own_inertias, put_column, put_matrix, root_direction,
    row_dot, scalar_column,
)
from freeflyer.kernels.tree.composite import column_range, coordinate, direction_at, parent_of
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import offset, root_position


@kernel
def articulated_rows(topology, parameters, work, inertias, bodies, S, U, inverses):
    """Writes the rows of directions S, of U (both about the root body's origin) and the inverses 1 / d."""
    n, stride, armature = load_int(topology, N_BODIES), load_int(topology, COLUMN_ROW), load_int(topology, ARMATURE_AT)
    own_inertias(topology, parameters, work, inertias)
    for i in range(1, n + 1):
        store_rigid(parameters, work, i, inertias, bodies + ARTICULATED * i)
    for i in range(n, 0, -1):
        here = bodies + ARTICULATED * i
        A, B, C = load_articulated(work, here)
        x = root_position(topology, work, i)
        first, end = column_range(topology, i)
        for c in range(end - 1, first - 1, -1):
            at = direction_at(topology, c)
            l, w = load_spatial(work, at)
            more = load(parameters, armature + coordinate(topology, c))
            f, t, inverse, A, B, C = eliminate_column(parameters, body_floats(i), A, B, C, l, w, more)
            put_column(work, S, stride, c, root_direction(topology, work, i, c))
            put_column(work, U, stride, c, shift_force_back((f, t), x))
            store(work, inverses + c, inverse)
        if parent_of(topology, i) > 0:
            add_to_parent(work, bodies + ARTICULATED * parent_of(topology, i), A, B, C, offset(topology, work, i))


@inlined
def add_outer(work, to, from_row, stride, s, x):
    """Six rows at `to` become those at `from_row` plus s times the row scalar x."""
    store_row(work, to, load_row(work, from_row) + s[0] * x)
    store_row(work, to + stride, load_row(work, from_row + stride) + s[1] * x)
    store_row(work, to + 2 * stride, load_row(work, from_row + 2 * stride) + s[2] * x)
    store_row(work, to + 3 * stride, load_row(work, from_row + 3 * stride) + s[3] * x)
    store_row(work, to + 4 * stride, load_row(work, from_row + 4 * stride) + s[4] * x)
    store_row(work, to + 5 * stride, load_row(work, from_row + 5 * stride) + s[5] * x)


@kernel
def minv(topology, parameters, q, Minv):
    """Minv (nv, nv), symmetric; velocity coordinates must not be shared by mimic joints."""
    n, nc, stride = load_int(topology, N_BODIES), load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    bodies = load_int(topology, FREE_AT)
    inertias = bodies + ARTICULATED * (n + 1)
    S = inertias + inertia_tiles(topology)
    U, inverses, F = S + 6 * stride, S + 12 * stride, S + 13 * stride
    levels = F + 6 * stride
    extra = ARTICULATED * (n + 1) + inertia_tiles(topology) + (25 + 6 * load_int(topology, MAX_DEPTH)) * stride
    work = kinematics_workspace(topology, parameters, q, extra)
    H, width = matrix_rows(topology, Minv)
    articulated_rows(topology, parameters, work, inertias, bodies, S, U, inverses)
    step = row_step(work)
    for k in range(0, 6 * stride, step):
        store_row(work, F + k, 0.0)
        store_row(work, levels + k, 0.0)  # the world does not accelerate
    for c in range(nc - 1, -1, -1):
        end, inverse = last_column(topology, c) + 1, load(work, inverses + c)
        s, u = scalar_column(work, S, stride, c), scalar_column(work, U, stride, c)
        for k in range(c - c % step, end, step):
            x = keep_below(work, inverse * (unit_row(work, k, c) - row_dot(s, work, F + k, stride)), k, end)
            store_row(H, width * c + k, x)
            add_outer(work, F + k, F + k, stride, u, x)
        clear_beyond(H, width, c, end)
    for i in range(1, n + 1):
        level = levels + 6 * stride * load_int(topology, body_ints(i) + DEPTH)
        before = level - 6 * stride
        first, end = column_range(topology, i)
        for c in range(first, end):
            inverse, s, u = (
                load(work, inverses + c),
                scalar_column(work, S, stride, c),
                scalar_column(work, U, stride, c),
            )
            for k in range(c - c % step, width, step):
                x = load_row(H, width * c + k) - inverse * row_dot(u, work, before + k, stride)
                store_row(H, width * c + k, x)
                add_outer(work, level + k, before + k, stride, s, x)
            before = level
    put_matrix(topology, H, H, Minv)
