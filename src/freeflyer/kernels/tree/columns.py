"""All motion columns and their momenta about one point, the root body's origin, as rows of numbers.

Row k of S or F holds entry k (linear, angular) of every column. Columns are numbered depth-first, so what column c moves are the
columns c .. last(c): a dot product of S_c with the F of its whole subtree runs along rows, eight at a time."""

from freeflyer.kernels.backend import (
    LANES, keep_below, kernel, load, load_int, load_row, mirrored, number_row, row_step, row_width, store, store_row, tile_at,
    workspace, zero_entries,
)
from freeflyer.kernels.math.algebra import ZERO, add, rotate, strided6, sym_rotate
from freeflyer.kernels.math.spatial import inertia_times, load_spatial, shift_motion_back
from freeflyer.kernels.model.access import body_floats, numbers3, numbers_at
from freeflyer.kernels.model.layout import (
    COLUMN_INTS, COLUMN_ROW, COLUMNS_AT, COM, INERTIA, LAST_COLUMN, MASS, N_BODIES, N_COLUMNS, N_V, SINES_AT, SUBTREE_MASS,
)
from freeflyer.kernels.model.poses import add_spaced, pose_at, put_spaced_rows, root_position, row3, row_rotation, spaced3
from freeflyer.kernels.tree.kinematics import COMPOSITE, column_range, coordinate, direction_at, inertia_about, parent_of


def last_column(topology, c):
    return load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * c + LAST_COLUMN)


def last_of_several(topology, last, k, end):
    """The largest number that `last` has for k, ..., end - 1: the last column, or coordinate, that one of them moves."""
    found = last(topology, k)
    for c in range(k + 1, end):
        found = max(found, last(topology, c))
    return found


def tile_mass(topology, parameters, work, i):
    """(mass, centre of mass) of as many bodies from i on as a row scalar of work holds, in their own axes."""
    at = numbers_at(topology, i)
    return number_row(work, parameters, at + LANES * MASS), numbers3(work, parameters, at + LANES * COM)


def tile_inertias(topology, parameters, work, i, x):
    """(mass, first moment, inertia) of as many bodies from i on as a row scalar holds, about a point from which x leads to their
    origins; in world axes."""
    at = numbers_at(topology, i) + LANES * INERTIA
    R = row_rotation(work, pose_at(topology, work, i))
    m, c = tile_mass(topology, parameters, work, i)
    I = numbers3(work, parameters, at) + numbers3(work, parameters, at + 3 * LANES)
    h, I = inertia_about(m, add(x, rotate(R, c)), sym_rotate(R, I))
    return m, h, I


def put_inertias(work, at, h, I):
    put_spaced_rows(work, at, (*h, *I))


def inertia_tiles(topology):
    """How many entries the inertias of all bodies take."""
    return COMPOSITE * (load_int(topology, SINES_AT) + LANES)


@kernel
def own_inertias(topology, parameters, work, to):
    """Writes first moment and inertia of every body at its own origin, from `to` on, in tiles."""
    for i in range(0, load_int(topology, N_BODIES) + 1, row_step(work)):
        zero = 0.0 * load_row(work, pose_at(topology, work, i))
        _, h, I = tile_inertias(topology, parameters, work, i, (zero, zero, zero))
        put_inertias(work, to + tile_at(work, COMPOSITE, i), h, I)


def inertia_of(work, to, i):
    """(first moment, inertia) of body i in the tiles that begin at `to`."""
    at = to + tile_at(work, COMPOSITE, i)
    return spaced3(work, at), strided6(work, at + 3 * row_step(work), row_step(work))


@kernel
def subtree_inertias(topology, parameters, work, to):
    """Writes first moment and inertia of every subtree about its root body's origin, from `to` on, in tiles."""
    n, step = load_int(topology, N_BODIES), row_step(work)
    for i in range(0, n + 1, step):
        x = row3(work, pose_at(topology, work, i) + 9 * step)
        _, h, I = tile_inertias(topology, parameters, work, i, x)
        put_inertias(work, to + tile_at(work, COMPOSITE, i), h, I)
    for i in range(n, 0, -1):
        here, there = to + tile_at(work, COMPOSITE, i), to + tile_at(work, COMPOSITE, parent_of(topology, i))
        for k in range(0, COMPOSITE, 3):
            add_spaced(work, there + k * step, spaced3(work, here + k * step))


def put_column(work, at, stride, c, S):
    """Column c of six rows becomes the motion or force S."""
    for k, x in enumerate((*S[0], *S[1])):
        store(work, at + k * stride + c, x)


def root_direction(topology, work, i, c):
    """Column c of body i as a motion of the point at the root body's origin."""
    return shift_motion_back(load_spatial(work, direction_at(topology, c)), root_position(topology, work, i))


@kernel
def column_rows(topology, parameters, work, composites, S, F):
    """Writes inertias of subtrees, and the rows S of directions and F of momenta; padding is zero."""
    n, stride = load_int(topology, N_BODIES), load_int(topology, COLUMN_ROW)
    subtree_inertias(topology, parameters, work, composites)
    for c in range(load_int(topology, N_COLUMNS), stride):
        put_column(work, S, stride, c, (ZERO, ZERO))
        put_column(work, F, stride, c, (ZERO, ZERO))
    for i in range(1, n + 1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        h, I = inertia_of(work, composites, i)
        for c in range(*column_range(topology, i)):
            V = root_direction(topology, work, i, c)
            put_column(work, S, stride, c, V)
            put_column(work, F, stride, c, inertia_times(m, h, I, V))


def row_dot(s, work, at, stride):
    """s . (the six rows from `at` on), as many columns as a row scalar holds."""
    total = s[0] * load_row(work, at)
    for k in range(1, 6):
        total = total + s[k] * load_row(work, at + k * stride)
    return total


def subtree_products(topology, work, S, F, c, M, width):
    """Row c of M: S_c . F_j for all j that column c moves, zero for those beyond; what is before c is left to `put_matrix`."""
    stride, step, end = load_int(topology, COLUMN_ROW), row_step(work), last_column(topology, c) + 1
    s = strided6(work, S + c, stride)
    for k in range(c - c % step, end, step):
        store_row(M, width * c + k, keep_below(work, row_dot(s, work, F + k, stride), k, end))
    clear_beyond(M, width, c, end)


def clear_beyond(M, width, c, end):
    """Zeros in row c of M from the first whole row scalar after `end` on."""
    step = row_step(M)
    for k in range((end + step - 1) // step * step, width, step):
        store_row(M, width * c + k, 0.0)


def matrix_rows(topology, M):
    """(rows, their length) in which to compute a matrix of all columns that becomes M: M itself where that can be."""
    nc = load_int(topology, N_COLUMNS)
    width = row_width(M, nc)
    return M if row_step(M) == 1 and nc == load_int(topology, N_V) else workspace(M, width * width), width


def put_matrix(topology, U, L, M):
    """M (nv, nv) from rows of all columns: on and above the diagonal U, below it L transposed; see `matrix_rows`."""
    nc, stride = load_int(topology, N_COLUMNS), row_width(U, load_int(topology, N_COLUMNS))
    if nc == load_int(topology, N_V):
        mirrored(U, L, nc, stride, M)
    else:
        for i in range(nc):
            for j in range(i + 1, nc):
                store(U, stride * j + i, load(L, stride * i + j))
        condense(topology, U, stride, M, load_int(topology, N_V))


def condense(topology, H, width, M, length):
    """M, nv rows of `length` numbers, from H, rows (`width` long) of all columns: summed where mimic joints share a coordinate."""
    nc, nv = load_int(topology, N_COLUMNS), load_int(topology, N_V)
    zero_entries(M, nv * length)
    for c in range(nc):
        row = length * coordinate(topology, c)
        for d in range(nc):
            at = row + coordinate(topology, d)
            store(M, at, load(M, at) + load(H, width * c + d))
