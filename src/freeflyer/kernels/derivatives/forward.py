"""Matrices of the derivatives of inverse and forward dynamics, from the table of columns: eight at a time.

Entry (i, k) is a product of something of column i and something of column k if one of them moves the other, else zero. Rows are
written from beginning to end, zeros included: memory takes one stream of stores best.

Derivatives of forward dynamics are those of inverse dynamics at the acceleration that tau gives, times -M^-1. From M(q) a + bias(q,
v) = tau, with tau held: M da = -(d ID / dq) dq - (d ID / dv) dv, and M da = dtau. The equations are solved for both matrices and
for M^-1 at once, by a factor of M that is as sparse as M: cheaper than products with M^-1.

Last, the equations of motion linearised on the group, in one piece (geometric linearisation paper): x = [eta; dv] with q (+) eta
and v + dv. eta_dot = dv - ad(v) eta, whose bracket is zero for joints of one column; below them the derivatives of forward
dynamics."""

from functools import wraps

from freeflyer.kernels.backend import (
    copy_entries, from_entry, keep_below, kernel, load, load_int, load_row, row_step, row_width, select_less, store, store_row,
    workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.derivatives.inverse import (
    BY_Q, BY_V, DIRECTION_RECORD, F, FORCE, G, LAST, NUMBER, ROWS, S, T, X, Y, accelerations, add_held, areas, armature_rates_at,
    finish_table, inverse_size, inverse_sizes, momentum_rows, more_than_kinematics, motions_and_forces, put_held,
    put_inverse_table, subtree_forces,
)
from freeflyer.kernels.derivatives.solved_rows import inward, outward, solved_width
from freeflyer.kernels.math.algebra import dot, rows3, strided3, strided6
from freeflyer.kernels.math.spatial import load_spatial, spatial_dot
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.armature import add_armature_forces, add_armature_rates
from freeflyer.kernels.model.joints.columns import subtract_bracket_matrix
from freeflyer.kernels.model.layout import ARMATURE_AT, COLUMN_ROW, FIRST_V, N_BODIES, N_COLUMNS, N_V
from freeflyer.kernels.tree.columns import condense, last_column, last_of_several, row_dot
from freeflyer.kernels.tree.factor import put_factor, solve
from freeflyer.kernels.tree.kinematics import column_range, coordinate, kinematics_workspace
from freeflyer.kernels.tree.rnea import with_loads


def entries_before(table, k, stride, f, g, i):
    """Entries of row i in columns from k on, of dq, dv and M, if those columns move column i, else zero."""
    last, w = load_row(table, LAST * stride + k), rows3(table, (S + 3) * stride + k, stride)
    dq = dot(g, rows3(table, X * stride + k, stride)) + row_dot(f, table, Y * stride + k, stride)
    dv = dot(g, w) + row_dot(f, table, T * stride + k, stride)
    m = row_dot(f, table, S * stride + k, stride)
    return tuple(select_less(last, i, 0.0, x) for x in (dq, dv, m))


def entries_beyond(table, k, stride, s, end):
    """The same if column i moves them, which are those before `end`."""
    return tuple(keep_below(table, row_dot(s, table, of * stride + k, stride), k, end) for of in (BY_Q, BY_V, F))


def put_rows(topology, table, dq, dv, M, width, with_mass):
    """dq, dv and, `with_mass`, M without armature, of all columns; rows hold `width` entries, a row scalar or more."""
    n, stride, step = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW), row_step(table)
    reach = workspace(table, stride)
    for k in range(0, n, step):
        store(reach, k, last_of_several(topology, last_column, k, min(k + step, n)))
    for i in range(n):
        end, zero = last_column(topology, i) + 1, 0.0 * load_row(table, LAST * stride)
        s, f = strided6(table, S * stride + i, stride), strided6(table, F * stride + i, stride)
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
                x = tuple(select_less(number, i, y[n], z[n]) for n in range(3))
            store_row(dq, width * i + k, x[0])
            store_row(dv, width * i + k, x[1])
            if with_mass:
                store_row(M, width * i + k, x[2])


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


def put_coordinate_rows(topology, table, outs, length, direct, width):
    """dq, dv and, of three `outs`, M without armature, of all coordinates, in rows of that length; `direct`: whether these are rows
    of all columns, too, else the latter are `width` long."""
    n, made, with_mass = load_int(topology, N_COLUMNS), outs, len(outs) > 2
    if direct:
        width = length
    else:
        made = tuple(workspace(table, n * width) for _ in outs)
    put_rows(topology, table, made[0], made[1], made[-1], width, with_mass)
    subtract_common_turns(topology, table, made[0], width)
    add_held(topology, table, made[0], width)
    if not direct:
        for rows, out in zip(made, outs):
            condense(topology, rows, width, out, length)
    add_armature_rates(topology, table, armature_rates_at(topology), outs[1], length)


@kernel
def inverse_matrices(topology, parameters, table, dq, dv, M):
    """Derivatives (nv, nv) of inverse dynamics by q, v and a, rows tau; wrenches are held fixed as they are expressed."""
    n, nv = load_int(topology, N_COLUMNS), load_int(topology, N_V)
    direct = n == nv and n >= row_step(table)  # a row is at least as long as a row scalar
    put_coordinate_rows(topology, table, (dq, dv, M), nv, direct, row_width(table, n))
    for j in range(nv):
        at = nv * j + j
        store(M, at, load(M, at) + load(parameters, load_int(topology, ARMATURE_AT) + j))


def solved_sizes(topology):
    """Entries of the two tables: of columns, v behind it, and the factor of M."""
    nv = load_int(topology, N_V)
    return inverse_size(topology) + nv, nv * load_int(topology, COLUMN_ROW)


def remaining_forces(topology, work, tau):
    """tau (nv,) less the forces of the accelerations in work."""
    directions, _, _, _, forces, _ = areas(topology)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        F = load_spatial(work, forces + FORCE * i)
        for c in range(*column_range(topology, i)):
            S, j = load_spatial(work, directions + DIRECTION_RECORD * c), coordinate(topology, c)
            store(tau, j, load(tau, j) - spatial_dot(S, F))


def put_solved_table(topology, parameters, q, v, tau, g, wrenches, count, expressed, table, L):
    """Writes the table of columns at (q, v, a), a being what tau gives under gravity g and wrenches; v behind it; the factor of
    M."""
    nv, stride = load_int(topology, N_V), load_int(topology, COLUMN_ROW)
    work, a = kinematics_workspace(topology, parameters, q, more_than_kinematics(topology)), zero_workspace(q, nv)
    x = workspace(q, nv)
    copy_entries(tau, nv, x)
    motions_and_forces(topology, parameters, work, v, a, g, wrenches, count, expressed)
    remaining_forces(topology, work, x)
    add_armature_forces(topology, parameters, v, -1.0, x, 0)
    for c in range(0, load_int(topology, N_COLUMNS), row_step(work)):
        momentum_rows(topology, work, table, c)
    put_factor(topology, parameters, table, S * stride, F * stride, a, L)
    solve(topology, L, x)
    accelerations(topology, work, x, g)
    subtree_forces(topology, parameters, work, wrenches, count, expressed)
    finish_table(topology, parameters, v, work, table)
    copy_entries(v, nv, from_entry(table, inverse_size(topology)))
    if count > 0:
        put_held(topology, parameters, work, wrenches, expressed, table)


def put_inverse_rows(topology, table, Q, V, length):
    """dq and dv of inverse dynamics from the table of columns, as rows of all coordinates."""
    n, nv = load_int(topology, N_COLUMNS), load_int(topology, N_V)
    put_coordinate_rows(topology, table, (Q, V), length, n == nv, load_int(topology, COLUMN_ROW))
    if n == nv:  # undefined values behind the rows could slow sums down
        for i in range(nv):
            for j in range(row_width(table, n), length, row_step(table)):
                store_row(Q, length * i + j, 0.0)
                store_row(V, length * i + j, 0.0)


def solved_matrices(topology, table, L, dq, q_at, dv, v_at, width, dtau, tau_at):
    """dq, dv and dtau (nv, nv) from the tables; where they are written: see `outward`."""
    nv, length = load_int(topology, N_V), solved_width(topology, table)
    Q, V, E = tuple(workspace(table, nv * length) for _ in range(3))
    put_inverse_rows(topology, table, Q, V, length)
    inward(topology, L, Q, V, E, length)
    outward(topology, L, Q, V, E, length, dq, q_at, dv, v_at, width, dtau, tau_at)


@kernel
def forward_matrices(topology, parameters, table, L, dq, dv, dtau):
    """Derivatives (nv, nv) of forward dynamics by q, v and tau, rows a; wrenches are held fixed as they are expressed."""
    solved_matrices(topology, table, L, dq, 0, dv, 0, load_int(topology, N_V), dtau, 0)


@kernel
def linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state, from its tables. Their upper halves are 0 or -ad(v), 1; 0."""
    nv, width = load_int(topology, N_V), 2 * load_int(topology, N_V)
    zero_entries(A, width * nv)
    zero_entries(B, nv * nv)
    for j in range(nv):
        store(A, width * j + nv + j, 1.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        j = load_int(topology, body_ints(i) + FIRST_V)
        subtract_bracket_matrix(topology, i, table, inverse_size(topology), A, width * j + j, width)
    solved_matrices(topology, table, L, A, width * nv, A, width * nv + nv, width, B, nv * nv)


def in_stages(put_table, put_matrices, sizes):
    """Two kernels (`with_loads`): put_table leaves tables, of sizes(topology) entries; put_matrices makes the outputs of them. In a
    batch tables are Packs, which are turned into rows between: a Pack of matrices would be too large for the fastest memory."""

    def kernel_of(first):
        count = first.__code__.co_argcount - 2

        @wraps(first)
        def both(topology, parameters, *arguments):
            tables = tuple(workspace(arguments[0], n) for n in sizes(topology))
            first(topology, parameters, *arguments[:count], *tables)
            put_matrices(topology, parameters, *tables, *arguments[count:])

        both.stages = first, put_matrices, sizes
        return both

    return map(kernel_of, with_loads(put_table))


rnea_gradient, loaded_rnea_gradient = in_stages(put_inverse_table, inverse_matrices, inverse_sizes)
aba_gradient, loaded_aba_gradient = in_stages(put_solved_table, forward_matrices, solved_sizes)
linear, loaded_linear = in_stages(put_solved_table, linear_matrices, solved_sizes)
