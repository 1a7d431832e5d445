"""The equations of motion linearised on the group, in one piece (geometric linearisation paper).

x = [eta; dv] with q (+) eta and v + dv: eta_dot = dv - ad(v) eta, whose bracket is zero for joints of one column; below them the
derivatives of forward dynamics. Last, derivatives and linearisation under gravity (3,) and wrenches that are inputs: see
tree/rnea.py and inverse.py.
"""

from freeflyer.kernels.backend import copy_entries, from_entry, inlined, kernel, load_int, row_step, store, store_row, workspace
from freeflyer.kernels.derivatives.forward import (
    put_inverse_matrices, put_solved_table, solved_matrices, solved_sizes, solved_table,
)
from freeflyer.kernels.derivatives.inverse import put_held, put_inverse_table, table_size
from freeflyer.kernels.math.algebra import load3
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import subtract_bracket_matrix
from freeflyer.kernels.model.layout import COLUMN_ROW, FIRST_V, N_BODIES, N_V
from freeflyer.kernels.tree.rnea import WRENCH, wrench_count


@inlined
def linear_sizes(topology):
    """As `solved_sizes`, with v behind the table."""
    size, factor = solved_sizes(topology)
    return size + load_int(topology, N_V), factor


@kernel
def linear_table(topology, parameters, q, v, tau, table, L):
    """The tables that forward dynamics' derivatives are made of, and v."""
    solved_table(topology, parameters, q, v, tau, table, L)
    copy_entries(v, load_int(topology, N_V), from_entry(table, table_size(topology)))


@kernel
def kinematic_rows(topology, v, at, A, B):
    """The upper halves of A and B: 0 or -ad(v), 1; 0. v lies from `at` on."""
    nv = load_int(topology, N_V)
    width = 2 * nv
    clear(A, width * nv)
    clear(B, nv * nv)
    for j in range(nv):
        store(A, width * j + nv + j, 1.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        j = load_int(topology, body_ints(i) + FIRST_V)
        subtract_bracket_matrix(topology, i, v, at, A, width * j + j, width)


@inlined
def clear(M, n):
    """The first n entries become zero."""
    step = row_step(M)
    for k in range(0, n - n % step, step):
        store_row(M, k, 0.0)
    for k in range(n - n % step, n):
        store(M, k, 0.0)


@inlined
def put_linear_matrices(topology, table, v_at, held, count, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) from the tables; v lies from `v_at` on, held, count: as put_inverse_matrices."""
    nv = load_int(topology, N_V)
    kinematic_rows(topology, table, v_at, A, B)
    at = 2 * nv * nv
    solved_matrices(topology, table, held, count, L, A, at, A, at + nv, 2 * nv, B, nv * nv)


@kernel
def linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) from the tables."""
    put_linear_matrices(topology, table, table_size(topology), 0, 0, L, A, B)


@kernel
def linear(topology, parameters, q, v, tau, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state."""
    table, L = tuple(workspace(q, size) for size in linear_sizes(topology))
    linear_table(topology, parameters, q, v, tau, table, L)
    linear_matrices(topology, parameters, table, L, A, B)


@inlined
def loaded_size(topology):
    """Entries of the table: of inverse.py, what wrenches held gain behind it."""
    return table_size(topology) + WRENCH * load_int(topology, COLUMN_ROW) * wrench_count(topology)


@inlined
def loaded_sizes(topology):
    return (loaded_size(topology),)


@kernel
def loaded_inverse_table(topology, parameters, q, v, a, gravity, wrenches, expressed, table):
    g, count = load3(gravity, 0), wrench_count(topology)
    work = put_inverse_table(topology, parameters, q, v, a, g, wrenches, count, expressed, table)
    put_held(topology, parameters, work, wrenches, count, expressed, table, table_size(topology))


@kernel
def loaded_inverse_matrices(topology, parameters, table, dq, dv, M):
    """dq, dv and the mass matrix (nv, nv)."""
    put_inverse_matrices(topology, parameters, table, table_size(topology), wrench_count(topology), dq, dv, M)


@kernel
def loaded_inverse_gradient(topology, parameters, q, v, a, gravity, wrenches, expressed, dq, dv, M):
    """Derivatives (nv, nv) of inverse dynamics by q, v and a, rows tau, the wrenches held fixed as they are expressed."""
    table = workspace(q, loaded_size(topology))
    loaded_inverse_table(topology, parameters, q, v, a, gravity, wrenches, expressed, table)
    loaded_inverse_matrices(topology, parameters, table, dq, dv, M)


@inlined
def loaded_solved_sizes(topology):
    """Entries of the two tables: the one above, v behind it, and the factor of M."""
    return loaded_size(topology) + load_int(topology, N_V), solved_sizes(topology)[1]


@kernel
def loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L):
    """The tables at (q, v, a), a being what tau gives, and v."""
    g, count = load3(gravity, 0), wrench_count(topology)
    work = put_solved_table(topology, parameters, q, v, tau, g, wrenches, count, expressed, table, L)
    put_held(topology, parameters, work, wrenches, count, expressed, table, table_size(topology))
    copy_entries(v, load_int(topology, N_V), from_entry(table, loaded_size(topology)))


@kernel
def loaded_forward_matrices(topology, parameters, table, L, dq, dv, dtau):
    """Derivatives (nv, nv) of forward dynamics from the tables."""
    held, count = table_size(topology), wrench_count(topology)
    solved_matrices(topology, table, held, count, L, dq, 0, dv, 0, load_int(topology, N_V), dtau, 0)


@kernel
def loaded_forward_gradient(topology, parameters, q, v, tau, gravity, wrenches, expressed, dq, dv, dtau):
    """Derivatives (nv, nv) of forward dynamics by q, v and tau, rows a, the wrenches held fixed as they are expressed."""
    table, L = tuple(workspace(q, size) for size in loaded_solved_sizes(topology))
    loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L)
    loaded_forward_matrices(topology, parameters, table, L, dq, dv, dtau)


@kernel
def loaded_linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) from the tables."""
    put_linear_matrices(topology, table, loaded_size(topology), table_size(topology), wrench_count(topology), L, A, B)


@kernel
def loaded_linear(topology, parameters, q, v, tau, gravity, wrenches, expressed, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state."""
    table, L = tuple(workspace(q, size) for size in loaded_solved_sizes(topology))
    loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L)
    loaded_linear_matrices(topology, parameters, table, L, A, B)
