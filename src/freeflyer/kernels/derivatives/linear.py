"""The equations of motion linearised on the group, in one piece (geometric linearisation paper).

x = [eta; dv] with q (+) eta and v + dv: eta_dot = dv - ad(v) eta, whose bracket is zero for joints of one column; below them the
derivatives of forward dynamics."""

from freeflyer.kernels.backend import kernel, load_int, store, zero_entries
from freeflyer.kernels.derivatives.forward import solved_matrices
from freeflyer.kernels.derivatives.inverse import inverse_size
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.joints.columns import subtract_bracket_matrix
from freeflyer.kernels.model.layout import FIRST_V, N_BODIES, N_V


@kernel
def kinematic_rows(topology, v, at, A, B):
    """The upper halves of A and B: 0 or -ad(v), 1; 0. v lies from `at` on."""
    nv = load_int(topology, N_V)
    width = 2 * nv
    zero_entries(A, width * nv)
    zero_entries(B, nv * nv)
    for j in range(nv):
        store(A, width * j + nv + j, 1.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        j = load_int(topology, body_ints(i) + FIRST_V)
        subtract_bracket_matrix(topology, i, v, at, A, width * j + j, width)


@kernel
def linear_matrices(topology, parameters, table, L, A, B):
    """A (2 nv, 2 nv) and B (2 nv, nv) about a state, from its tables."""
    nv = load_int(topology, N_V)
    kinematic_rows(topology, table, inverse_size(topology), A, B)
    at = 2 * nv * nv
    solved_matrices(topology, table, L, A, at, A, at + nv, 2 * nv, B, nv * nv)
