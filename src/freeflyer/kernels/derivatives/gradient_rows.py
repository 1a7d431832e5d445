"""Matrices of the derivatives of inverse dynamics from the table of columns, see inverse.py: eight columns at a time.

Entry (i, k) is a product of something of column i and something of column k if one of them moves the other, else zero. Rows are
written from beginning to end, zeros included: memory takes one stream of stores best.
"""

from freeflyer.kernels.backend import (
    inlined, keep_below, kernel, load, load_int, load_row, row_step, row_width, select_less, store, store_row,
    workspace,
)
from freeflyer.kernels.derivatives.inverse import (
    BY_Q, BY_V, LAST, NUMBER, ROWS, F, G, S, T, X, Y, add_held, armature_rates_at, inverse_table, table_size,
)
from freeflyer.kernels.math.algebra import dot, rows3, strided3
from freeflyer.kernels.model.joints.armature import add_armature_rates
from freeflyer.kernels.model.layout import ARMATURE_AT, COLUMN_ROW, N_BODIES, N_COLUMNS, N_V
from freeflyer.kernels.tree.columns import condense, last_column, row_dot, scalar_column
from freeflyer.kernels.tree.kinematics import column_range


@inlined
def last_moved(topology, k, step):
    """The last column that one of `step` columns from k on moves."""
    last = last_column(topology, k)
    for c in range(k + 1, min(k + step, load_int(topology, N_COLUMNS))):
        last = max(last, last_column(topology, c))
    return last


@inlined
def entries_before(table, k, stride, f, g, i):
    """Entries of row i in columns from k on, of dq, dv and M, if those columns move column i, else zero."""
    last, w = load_row(table, LAST * stride + k), rows3(table, (S + 3) * stride + k, stride)
    dq = dot(g, rows3(table, X * stride + k, stride)) + row_dot(f, table, Y * stride + k, stride)
    dv = dot(g, w) + row_dot(f, table, T * stride + k, stride)
    m = row_dot(f, table, S * stride + k, stride)
    return select_less(last, i, 0.0, dq), select_less(last, i, 0.0, dv), select_less(last, i, 0.0, m)


@inlined
def entries_beyond(table, k, stride, s, end):
    """The same if column i moves them, which are those before `end`."""
    return (
        keep_below(table, row_dot(s, table, BY_Q * stride + k, stride), k, end),
        keep_below(table, row_dot(s, table, BY_V * stride + k, stride), k, end),
        keep_below(table, row_dot(s, table, F * stride + k, stride), k, end),
    )  # fmt: skip


@inlined
def put_rows(topology, table, dq, dv, M, width, with_mass):
    """dq, dv and, `with_mass`, M without armature, of all columns; rows hold `width` entries, a row scalar or more."""
    n, stride, step = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW), row_step(table)
    reach = workspace(table, stride)
    for k in range(0, n, step):
        store(reach, k, last_moved(topology, k, step))
    for i in range(n):
        end, zero = last_column(topology, i) + 1, 0.0 * load_row(table, LAST * stride)
        s, f = scalar_column(table, S * stride, stride, i), scalar_column(table, F * stride, stride, i)
        g = strided3(table, G * stride + i, stride)
        for block in range(0, n, step):
            k = min(block, width - step)  # the last block may overlap the one before
            x = zero, zero, zero
            if k > i:
                if k < end:
                    x = entries_beyond(table, k, stride, s, end)
            elif k + step <= i:
                if load(reach, k) >= i:
                    x = entries_before(table, k, stride, f, g, i)
            else:
                number, y = load_row(table, NUMBER * stride + k), entries_before(table, k, stride, f, g, i)
                z = entries_beyond(table, k, stride, s, end)
                x = (
                    select_less(number, i, y[0], z[0]), select_less(number, i, y[1], z[1]),
                    select_less(number, i, y[2], z[2]),
                )  # fmt: skip
            store_row(dq, width * i + k, x[0])
            store_row(dv, width * i + k, x[1])
            if with_mass:
                store_row(M, width * i + k, x[2])


@kernel
def subtract_common_turns(topology, table, dq, width):
    """Takes the force S_k x* f out of the rows of columns that belong to k's own joint."""
    at = ROWS * load_int(topology, COLUMN_ROW)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        first, end = column_range(topology, i)
        for j in range(first, end - 1):
            for k in range(j + 1, end):
                to = width * j + k
                store(dq, to, load(dq, to) - load(table, at))
                at += 1


@inlined
def fits(topology, table):
    """Whether matrices of all columns are matrices of all coordinates, and rows of them at least as long as a row scalar."""
    n = load_int(topology, N_COLUMNS)
    return n == load_int(topology, N_V) and n >= row_step(table)


@inlined
def put_inverse_matrices(topology, parameters, table, held, count, dq, dv, M):
    """dq, dv and the mass matrix (nv, nv); what wrenches held in other axes than their frame's add lies from `held` on."""
    n, nv, armature = load_int(topology, N_COLUMNS), load_int(topology, N_V), load_int(topology, ARMATURE_AT)
    direct, width, by_q, by_v, H = fits(topology, table), n, dq, dv, M
    if not direct:
        width = row_width(table, n)
        by_q, by_v, H = workspace(table, n * width), workspace(table, n * width), workspace(table, n * width)
    put_rows(topology, table, by_q, by_v, H, width, True)
    subtract_common_turns(topology, table, by_q, width)
    add_held(topology, table, held, count, by_q, width)
    if not direct:
        condense(topology, by_q, width, dq, nv)
        condense(topology, by_v, width, dv, nv)
        condense(topology, H, width, M, nv)
    add_armature_rates(topology, table, armature_rates_at(topology), dv, nv)
    for j in range(nv):
        at = nv * j + j
        store(M, at, load(M, at) + load(parameters, armature + j))


@kernel
def inverse_matrices(topology, parameters, table, dq, dv, M):
    """dq, dv and the mass matrix (nv, nv)."""
    put_inverse_matrices(topology, parameters, table, 0, 0, dq, dv, M)


@kernel
def inverse_dynamics_gradient(topology, parameters, q, v, a, dq, dv, M):
    """Derivatives (nv, nv) of inverse dynamics by q, v and a, rows tau."""
    table = workspace(q, table_size(topology))
    inverse_table(topology, parameters, q, v, a, table)
    inverse_matrices(topology, parameters, table, dq, dv, M)
