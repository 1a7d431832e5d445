"""The equations of motion linearised on the group, in one piece (geometric linearisation paper).

x = [eta; dv] with q (+) eta and v + dv: eta_dot = dv - ad(v) eta, whose bracket is zero for joints of one column; below them the
derivatives of forward dynamics."""

from freeflyer.kernels.backend import kernel, load_int, row_step, store, store_row, workspace
from freeflyer.kernels.derivatives.forward import loaded_solved_table, solved_matrices, solved_sizes, solved_table
from freeflyer.kernels.derivatives.inverse import inverse_size
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import subtract_bracket_matrix
from freeflyer.kernels.model.layout import FIRST_V, N_BODIES, N_V


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


def clear(M, n):
    """The first n entries become zero."""
    step = row_step(M)
    for k in range(0, n - n % step, step):
        store_row(M, k, 0.0)
    for k in range(n - n % step, n):
        store(M, k, 0.0)


@kernel
def linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) from the tables."""
    nv = load_int(topology, N_V)
    kinematic_rows(topology, table, inverse_size(topology), A, B)
    at = 2 * nv * nv
    solved_matrices(topology, table, L, A, at, A, at + nv, 2 * nv, B, nv * nv)


@kernel
def linear(topology, parameters, q, v, tau, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state."""
    table, L = tuple(workspace(q, size) for size in solved_sizes(topology))
    solved_table(topology, parameters, q, v, tau, table, L)
    linear_matrices(topology, parameters, table, L, A, B)


@kernel
def loaded_linear(topology, parameters, q, v, tau, gravity, wrenches, expressed, A, B):
    """The same under gravity (3,) and wrenches (see tree/rnea.py)."""
    table, L = tuple(workspace(q, size) for size in solved_sizes(topology))
    loaded_solved_table(topology, parameters, q, v, tau, gravity, wrenches, expressed, table, L)
    linear_matrices(topology, parameters, table, L, A, B)
