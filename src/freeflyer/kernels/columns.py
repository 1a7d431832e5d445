"""All motion columns and their momenta seen from one point, the root body's origin, as rows of numbers.

Row k of S or F holds entry k (linear, angular) of every column. Columns are numbered depth-first, so what column c moves
are the columns c .. last(c): a dot product of S_c with the F of its whole subtree runs along rows, eight at a time.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    ZERO,
    accumulate3,
    add,
    cross,
    load3,
    load6,
    load9,
    point_inertia,
    rotate,
    scale,
    store3,
    store6,
    sym_add,
    sym_rotate,
)  # fmt: skip
from freeflyer.kernels.composite import COMPOSITE, column_range, coordinate, direction_at, momentum, parent_of, pose_at
from freeflyer.kernels.joints import body_floats
from freeflyer.kernels.layout import (
    COLUMN_INTS,
    COLUMN_ROW,
    COLUMNS_AT,
    COM,
    INERTIA,
    LAST_COLUMN,
    MASS,
    N_BODIES,
    N_COLUMNS,
    N_V,
    SUBTREE_MASS,
)  # fmt: skip
from freeflyer.kernels.memory import keep_below, load, load_int, load_row, row_step, store, store_row


@inlined
def last_column(topology, c):
    """The last column of what column c moves."""
    return load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * c + LAST_COLUMN)


@inlined
def body_root_inertia(topology, parameters, work, i):
    """First moment and inertia of body i about its root body's origin."""
    pose, at = pose_at(topology, i), body_floats(i)
    R = load9(work, pose)
    c = add(load3(work, pose + 15), rotate(R, load3(parameters, at + COM)))
    h = scale(load(parameters, at + MASS), c)
    return h, sym_add(sym_rotate(R, load6(parameters, at + INERTIA)), point_inertia(h, c))


@kernel
def root_inertias(topology, parameters, work, to):
    """Writes first moment and inertia of every subtree about its root body's origin, from `to` on."""
    n = load_int(topology, N_BODIES)
    for k in range(3):
        store3(work, to + 3 * k, ZERO)
    for i in range(1, n + 1):
        h, I = body_root_inertia(topology, parameters, work, i)
        store3(work, to + COMPOSITE * i, h)
        store6(work, to + COMPOSITE * i + 3, I)
    for i in range(n, 0, -1):
        here, there = to + COMPOSITE * i, to + COMPOSITE * parent_of(topology, i)
        for k in range(0, COMPOSITE, 3):
            accumulate3(work, there + k, load3(work, here + k))


@inlined
def put_column(work, at, stride, c, l, w):
    """Column c of six rows."""
    store(work, at + c, l[0])
    store(work, at + stride + c, l[1])
    store(work, at + 2 * stride + c, l[2])
    store(work, at + 3 * stride + c, w[0])
    store(work, at + 4 * stride + c, w[1])
    store(work, at + 5 * stride + c, w[2])


@inlined
def root_direction(topology, work, i, c):
    """Column c of body i as a motion of the point at the root body's origin."""
    at = direction_at(topology, c)
    w = load3(work, at + 3)
    return add(load3(work, at), cross(load3(work, pose_at(topology, i) + 15), w)), w


@kernel
def column_rows(topology, parameters, work, composites, S, F):
    """Writes the rows S of directions and F of momenta; padding is zero."""
    n, stride = load_int(topology, N_BODIES), load_int(topology, COLUMN_ROW)
    for c in range(load_int(topology, N_COLUMNS), stride):
        put_column(work, S, stride, c, ZERO, ZERO)
        put_column(work, F, stride, c, ZERO, ZERO)
    for i in range(1, n + 1):
        m, at = load(parameters, body_floats(i) + SUBTREE_MASS), composites + COMPOSITE * i
        h, I = load3(work, at), load6(work, at + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            l, w = root_direction(topology, work, i, c)
            f, t = momentum(m, h, I, l, w)
            put_column(work, S, stride, c, l, w)
            put_column(work, F, stride, c, f, t)


@inlined
def scalar_column(work, at, stride, c):
    """Column c of six rows."""
    return (
        load(work, at + c), load(work, at + stride + c), load(work, at + 2 * stride + c),
        load(work, at + 3 * stride + c), load(work, at + 4 * stride + c), load(work, at + 5 * stride + c),
    )  # fmt: skip


@inlined
def row_dot(s, work, at, stride):
    """s . (the six rows from `at` on), as many columns as a row scalar holds."""
    return (
        s[0] * load_row(work, at) + s[1] * load_row(work, at + stride) + s[2] * load_row(work, at + 2 * stride)
        + s[3] * load_row(work, at + 3 * stride) + s[4] * load_row(work, at + 4 * stride) + s[5] * load_row(work, at + 5 * stride)
    )  # fmt: skip


@inlined
def subtree_products(topology, work, S, F, c, M):
    """Row c of M: S_c . F_j for all j that column c moves."""
    stride, step, end = load_int(topology, COLUMN_ROW), row_step(work), last_column(topology, c) + 1
    s = scalar_column(work, S, stride, c)
    for k in range(c - c % step, end, step):
        store_row(M, stride * c + k, keep_below(work, row_dot(s, work, F + k, stride), k, end))


@kernel
def clear(M, n):
    """n zeros, n a multiple of 8."""
    for k in range(0, n, row_step(M)):
        store_row(M, k, 0.0)


@kernel
def condense(topology, H, M):
    """M (nv, nv) from the matrix of all columns: copied, or summed where mimic joints share a coordinate."""
    nc, nv, stride = load_int(topology, N_COLUMNS), load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    if nc == nv:
        step = row_step(H)
        full = nv - nv % step
        for i in range(nv):
            for k in range(0, full, step):
                store_row(M, nv * i + k, load_row(H, stride * i + k))
            for k in range(full, nv):
                store(M, nv * i + k, load(H, stride * i + k))
        return
    for k in range(nv * nv):
        store(M, k, 0.0)
    for c in range(nc):
        row = nv * coordinate(topology, c)
        for d in range(nc):
            at = row + coordinate(topology, d)
            store(M, at, load(M, at) + load(H, stride * c + d))
