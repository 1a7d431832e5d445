"""The mass matrix by composite rigid bodies, with all pairs of columns as row products, and its inverse by articulated bodies.

Sources: RBDA 2008, table 6.2; J. Carpentier, Analytical inverse of the joint space inertia matrix, 2018.

An articulated inertia, of what moves with a body whose descendants' joints are free (RBDA 2008, section 7.2), is [A B; B^T C],
mapping (linear, angular) acceleration to (force, moment). A joint of several degrees of freedom is eliminated column by column,
like a chain of one-DoF joints without bodies between them: so no joint kind needs a matrix inverse of its own.

Row c of the inverse is the acceleration of column c under a unit force on each column j. Inward, F gathers the forces that the
columns of a subtree pass on; outward, each level of the tree keeps the accelerations of its body. F and accelerations are about the
root body's origin, so nothing is shifted and every inner loop runs along rows."""

from freeflyer.kernels.backend import (
    keep_below, kernel, load, load_int, load_row, row_step, select_less, store, store_row, unit_row,
)
from freeflyer.kernels.math.algebra import accumulate, dot, load6, load9, store_entries, strided6
from freeflyer.kernels.math.dense import NAN
from freeflyer.kernels.math.spatial import articulated_apply, load_spatial, outer, shift_articulated, shift_force_back, sym_outer
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.layout import (
    ARMATURE_AT, COLUMN_ROW, DEPTH, FREE_AT, MASS, MAX_DEPTH, N_BODIES, N_COLUMNS, N_V, SUBTREE_MASS, SUBTREE_SPREAD,
)
from freeflyer.kernels.model.poses import offset, root_position
from freeflyer.kernels.tree.columns import (
    clear_beyond, column_rows, inertia_of, inertia_tiles, last_column, matrix_rows, own_inertias, put_column, put_matrix,
    root_direction, row_dot, subtree_products,
)
from freeflyer.kernels.tree.kinematics import column_range, coordinate, direction_at, kinematics_workspace, parent_of

ARTICULATED, LINEAR, MIXED, ANGULAR = 21, 0, 6, 15  # a record: A (6), B (9), C (6)
MIN_INERTIA_RATIO = 1e-14  # an inertia beside the largest that the column could move: less is rounding


def inverse_inertia(parameters, at, slide, turn, d):
    """1 / d, of a column of these squared lengths with the inertia d, its body's record being at `at`. Beyond a massless link, d
    is the difference of inertias that may cancel: the rest must exceed their rounding."""
    largest = slide * load(parameters, at + SUBTREE_MASS) + turn * load(parameters, at + SUBTREE_SPREAD)
    return select_less(MIN_INERTIA_RATIO * largest, d, 1.0 / d, NAN)


@kernel
def crba(topology, parameters, q, M):
    """M (nv, nv), symmetric, armature included."""
    composites, stride = load_int(topology, FREE_AT), load_int(topology, COLUMN_ROW)
    S = composites + inertia_tiles(topology)
    F = S + 6 * stride
    work = kinematics_workspace(topology, parameters, q, inertia_tiles(topology) + 12 * stride)
    column_rows(topology, parameters, work, composites, S, F)
    put_mass_matrix(topology, parameters, work, S, F, M)


def put_mass_matrix(topology, parameters, work, S, F, M):
    """M (nv, nv) from rows of directions S and of momenta F."""
    nv = load_int(topology, N_V)
    H, width = matrix_rows(topology, M)
    for c in range(load_int(topology, N_COLUMNS)):
        subtree_products(topology, work, S, F, c, H, width)
    put_matrix(topology, H, H, M)
    for j in range(nv):
        at = nv * j + j
        store(M, at, load(M, at) + load(parameters, load_int(topology, ARMATURE_AT) + j))


@kernel
def articulated_rows(topology, parameters, work, inertias, bodies, S, U, inverses):
    """Writes the rows of directions S, of U (both about the root body's origin) and the inverses 1 / d."""
    n, stride, armature = load_int(topology, N_BODIES), load_int(topology, COLUMN_ROW), load_int(topology, ARMATURE_AT)
    own_inertias(topology, parameters, work, inertias)
    for i in range(1, n + 1):
        h, I = inertia_of(work, inertias, i)
        m, z = load(parameters, body_floats(i) + MASS), 0.0 * h[0]
        A, B = (z + m, z, z, z + m, z, z + m), (z, h[2], -h[1], -h[2], z, h[0], h[1], -h[0], z)
        store_entries(work, bodies + ARTICULATED * i, (*A, *B, *I))
    for i in range(n, 0, -1):
        here = bodies + ARTICULATED * i
        A, B, C = load6(work, here + LINEAR), load9(work, here + MIXED), load6(work, here + ANGULAR)
        x = root_position(topology, work, i)
        first, end = column_range(topology, i)
        for c in range(end - 1, first - 1, -1):
            l, w = load_spatial(work, direction_at(topology, c))
            f, t = articulated_apply(A, B, C, l, w)
            d = dot(l, f) + dot(w, t) + load(parameters, armature + coordinate(topology, c))
            inverse = inverse_inertia(parameters, body_floats(i), dot(l, l), dot(w, w), d)
            A, B, C = sym_outer(A, inverse, f), outer(B, inverse, f, t), sym_outer(C, inverse, t)
            put_column(work, S, stride, c, root_direction(topology, work, i, c))
            put_column(work, U, stride, c, shift_force_back((f, t), x))
            store(work, inverses + c, inverse)
        if parent_of(topology, i) > 0:
            B, C = shift_articulated(A, B, C, offset(topology, work, i))
            accumulate(work, bodies + ARTICULATED * parent_of(topology, i), (*A, *B, *C))


def add_outer(work, to, from_row, stride, s, x):
    """Six rows at `to` become those at `from_row` plus s times the row scalar x."""
    for k, factor in enumerate(s):
        store_row(work, to + k * stride, load_row(work, from_row + k * stride) + factor * x)


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
        s, u = strided6(work, S + c, stride), strided6(work, U + c, stride)
        for k in range(c - c % step, end, step):
            x = keep_below(work, inverse * (unit_row(work, k, c) - row_dot(s, work, F + k, stride)), k, end)
            store_row(H, width * c + k, x)
            add_outer(work, F + k, F + k, stride, u, x)
        clear_beyond(H, width, c, end)
    for i in range(1, n + 1):
        level = levels + 6 * stride * load_int(topology, body_ints(i) + DEPTH)
        before = level - 6 * stride
        for c in range(*column_range(topology, i)):
            inverse, s, u = load(work, inverses + c), strided6(work, S + c, stride), strided6(work, U + c, stride)
            for k in range(c - c % step, width, step):
                x = load_row(H, width * c + k) - inverse * row_dot(u, work, before + k, stride)
                store_row(H, width * c + k, x)
                add_outer(work, level + k, before + k, stride, s, x)
            before = level
    put_matrix(topology, H, H, Minv)
