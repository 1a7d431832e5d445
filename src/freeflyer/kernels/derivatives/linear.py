"""The equations of motion linearised on the group, in one piece: where the rows of A and B come from, geometric linearisation
paper.

x = [eta; dv] with q (+) eta and v + dv: eta_dot = dv - ad(v) eta, whose bracket is zero for joints of one column; below them the
derivatives of forward dynamics.
"""

from freeflyer.kernels.backend.buffers import load, load_int, row_step, store, store_row, workspace
from freeflyer.kernels.derivatives.forward import solved_matrices, solved_sizes, solved_table
from freeflyer.kernels.derivatives.inverse import table_size
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import subtract_bracket_matrix
from freeflyer.kernels.model.layout import FIRST_V, N_BODIES, N_V


@inlined
def linear_sizes(topology):
    """As `solved_sizes`, with v behind the table."""
    size, factor = solved_sizes(topology)
    return size + load_int(topology, N_V), factor


@kernel
def linear_table(topology, parameters, q, v, tau, table, L):
    """The tables that forward dynamics' derivatives are made of, and v."""
    at = table_size(topology)
    solved_table(topology, parameters, q, v, tau, table, L)
    for j in range(load_int(topology, N_V)):
        store(table, at + j, load(v, j))


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
    sizes = linear_sizes(topology)
    table, L = workspace(q, sizes[0]), workspace(q, sizes[1])
    linear_table(topology, parameters, q, v, tau, table, L)
    linear_matrices(topology, parameters, table, L, A, B)
