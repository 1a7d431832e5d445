"""The mass matrix as M = L^T D L, and what it solves (RBDA 2008, 6.3 to 6.5): L is unit lower triangular and as sparse as M.

Row k of L holds entries at the coordinates that move coordinate k; the inverse of D's entry stands on the diagonal. Velocity
coordinates are numbered depth-first, so the descendants of coordinate j are j + 1 .. last(j). Where mimic joints share coordinates
the tree of coordinates is one chain, so that L is full; nothing else changes. Matrices are kept as rows of whole row scalars
(COLUMN_ROW long); entries behind the diagonal, in L, or behind the last coordinate are undefined.

Forward dynamics and inverse mass matrices of trees need no factor (aba.py, mass_matrix.py): only where mimic joints share
coordinates are they solved by it. Derivatives of forward dynamics solve all their rows by it (derivatives/solved_rows.py)."""

from freeflyer.kernels.backend import (
    kernel, load, load_int, load_row, put_sum, row_step, store, store_row, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.math.algebra import strided6
from freeflyer.kernels.math.dense import inverse_pivot
from freeflyer.kernels.model.layout import (
    ARMATURE_AT, COLUMN_ROW, COORDINATES_AT, COORDINATE_INTS, LAST_COORDINATE, LINE_START, N_COLUMNS, N_V, PARENT_COORDINATE,
)
from freeflyer.kernels.tree.all_terms import areas, areas_workspace
from freeflyer.kernels.tree.columns import column_rows, row_dot
from freeflyer.kernels.tree.mass_matrix import put_mass_matrix
from freeflyer.kernels.tree.rnea import newton_euler_recursion, with_loads


def coordinate_int(topology, j, k):
    return load_int(topology, load_int(topology, COORDINATES_AT) + COORDINATE_INTS * j + k)


def last_of(topology, j):
    return coordinate_int(topology, j, LAST_COORDINATE)


def coordinate_before(topology, j):
    """The next coordinate on the way from j to the world, or -1."""
    return coordinate_int(topology, j, PARENT_COORDINATE)


def line_start(topology, j):
    """The first of the coordinates that end with j and each of which is the parent of the next: parents along that line need not be
    loaded one after the other."""
    return coordinate_int(topology, j, LINE_START)


def along_row(topology, L, i, change, s, row, to):
    """change(L, s, row + j, to + j) for the row scalars j up to the diagonal of coordinate i; of Packs, for those that move i."""
    step = row_step(L)
    if step > 1:
        for j in range(0, i + 1, step):
            change(L, s, row + j, to + j)
        return
    end = i
    while end >= 0:
        start = line_start(topology, end)
        for j in range(start, end + 1):
            change(L, s, row + j, to + j)
        end = coordinate_before(topology, start)


def put_scaled(L, s, at, to):
    store_row(L, to, s * load_row(L, at))


def subtract_scaled(L, s, at, to):
    store_row(L, to, load_row(L, to) - s * load_row(L, at))


def put_products(L, columns, at, to):
    work, f, stride = columns
    store_row(L, to, row_dot(f, work, at, stride))


@kernel
def factor(topology, L, diagonal):
    """L and the inverse of D, from the rows of M up to the diagonal in L; not a number where M is singular. Writes M's diagonal."""
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    for k in range(nv):
        store(diagonal, k, load(L, stride * k + k))
    for k in range(nv - 1, -1, -1):
        row = stride * k
        inverse = inverse_pivot(load(L, row + k), load(diagonal, k))
        end = coordinate_before(topology, k)
        while end >= 0:
            start = line_start(topology, end)
            for i in range(start, end + 1):
                along_row(topology, L, i, subtract_scaled, inverse * load(L, row + i), row, stride * i)
            end = coordinate_before(topology, start)
        along_row(topology, L, k, put_scaled, inverse, row, row)
        store(L, row + k, inverse)


def put_mass_rows(topology, parameters, work, S, F, L):
    """Rows of M up to the diagonal, where each coordinate has a column of its own; entries that are zero in M are undefined, and
    none that counts follows from them."""
    stride, armature = load_int(topology, COLUMN_ROW), load_int(topology, ARMATURE_AT)
    for i in range(load_int(topology, N_V)):
        along_row(topology, L, i, put_products, (work, strided6(work, F + i, stride), stride), S, stride * i)
        store(L, stride * i + i, load(L, stride * i + i) + load(parameters, armature + i))


@kernel
def put_factor(topology, parameters, work, S, F, diagonal, L):
    """L and the inverses of D, from rows of directions S and of momenta F; the diagonal (nv,) of M."""
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    if load_int(topology, N_COLUMNS) == nv:
        put_mass_rows(topology, parameters, work, S, F, L)
    else:
        M = workspace(diagonal, nv * nv + 8)
        put_mass_matrix(topology, parameters, work, S, F, M)
        for i in range(nv):
            for k in range(0, i + 1, row_step(M)):
                store_row(L, stride * i + k, load_row(M, nv * i + k))
    factor(topology, L, diagonal)


@kernel
def factored_mass(topology, parameters, work, diagonal):
    """L and the inverses of D, given the kinematics in `work`, and room for `areas`; writes the diagonal (nv,) of M."""
    L, (inertias, S, F, _, _) = workspace(diagonal, load_int(topology, N_V) * load_int(topology, COLUMN_ROW) + 8), areas(topology)
    column_rows(topology, parameters, work, inertias, S, F)
    put_factor(topology, parameters, work, S, F, diagonal, L)
    return L


def factor_at(topology, parameters, q):
    """L and the inverses of D, at a configuration."""
    return factored_mass(topology, parameters, areas_workspace(topology, parameters, q), workspace(q, load_int(topology, N_V)))


def inward(topology, L, x):
    """x (nv,) becomes L^-T x."""
    stride = load_int(topology, COLUMN_ROW)
    for j in range(load_int(topology, N_V) - 1, -1, -1):
        y, end = load(x, j), coordinate_before(topology, j)
        while end >= 0:
            start = line_start(topology, end)
            for i in range(start, end + 1):
                store(x, i, load(x, i) - load(L, stride * j + i) * y)
            end = coordinate_before(topology, start)


def outward(topology, L, x, scales, step):
    """x (nv,) becomes L^-1 S x, S diagonal; its entries lie `step` apart in scales."""
    stride = load_int(topology, COLUMN_ROW)
    for j in range(load_int(topology, N_V)):
        y, end = load(scales, step * j) * load(x, j), coordinate_before(topology, j)
        while end >= 0:
            start = line_start(topology, end)
            for i in range(start, end + 1):
                y = y - load(L, stride * j + i) * load(x, i)
            end = coordinate_before(topology, start)
        store(x, j, y)


@kernel
def solve(topology, L, x):
    """x (nv,) becomes M^-1 x."""
    inward(topology, L, x)
    outward(topology, L, x, L, load_int(topology, COLUMN_ROW) + 1)


def add_row(A, to, s, B, row, n):
    """n entries of A from `to` on grow by s times those of B from `row` on."""
    step = row_step(A)
    full = n - n % step
    for k in range(0, full, step):
        store_row(A, to + k, load_row(A, to + k) + s * load_row(B, row + k))
    for k in range(full, n):
        store(A, to + k, load(A, to + k) + s * load(B, row + k))


def shared_minv(topology, parameters, q, Minv):
    """Minv (nv, nv) = W^T D^-1 W, symmetric, with W^T L^T = 1: row j of W is filled from j to last(j)."""
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    L, W = factor_at(topology, parameters, q), zero_workspace(q, nv * nv)
    zero_entries(Minv, nv * nv)
    for j in range(nv - 1, -1, -1):
        store(W, nv * j + j, 1.0)
        for k in range(j + 1, last_of(topology, j) + 1):
            add_row(W, nv * j + k, -load(L, stride * k + j), W, nv * k + k, last_of(topology, k) + 1 - k)
    for i in range(nv):
        m = i
        while m >= 0:
            s = load(W, nv * m + i) * load(L, stride * m + m)
            add_row(Minv, nv * i + i, s, W, nv * m + i, last_of(topology, m) + 1 - i)
            m = coordinate_before(topology, m)
    for i in range(nv):
        for k in range(i + 1, nv):
            store(Minv, nv * k + i, load(Minv, nv * i + k))


def forward_dynamics(topology, parameters, q, v, tau, g, wrenches, count, expressed, a):
    """a (nv,) of M a + bias = tau + J^T w, under gravity g and so many wrenches, where mimic joints share velocity coordinates,
    which the tree recursion cannot do."""
    L, nv = factor_at(topology, parameters, q), load_int(topology, N_V)
    newton_euler_recursion(topology, parameters, q, v, zero_workspace(q, nv), g, wrenches, count, expressed, a)
    put_sum(tau, -1.0, a, nv, a)
    solve(topology, L, a)


shared_forward_dynamics, loaded_shared_forward_dynamics = with_loads(forward_dynamics)
