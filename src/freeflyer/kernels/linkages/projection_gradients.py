"""All derivatives of the projected dynamics at once: of its inverse, and of its forward solution."""

from freeflyer.kernels.backend.buffers import load, load_int, row_width, store, workspace
from freeflyer.kernels.linkages.blocks import add_rows, zero_rows
from freeflyer.kernels.linkages.projection import projected_forward_dynamics, projected_inverse_mass, projected_mass
from freeflyer.kernels.linkages.projection_derivatives import projected_derivatives
from freeflyer.kernels.marks import kernel
from freeflyer.kernels.model.linkage_layout import N_INDEPENDENT


@kernel
def projected_inverse_gradient(topology, parameters, q, u, u_dot, dq, du, M):
    """dq, du, M (nu, nu): of tau_p by independent steps of q, by u and by u_dot."""
    projected_derivatives(topology, parameters, q, u, u_dot, dq, du)
    projected_mass(topology, parameters, q, M)


@kernel
def projected_forward_gradient(topology, parameters, q, u, tau, dq, du, inverse):
    """dq, du, inverse (nu, nu): of u_dot by independent steps of q, by u and by tau_p."""
    nu = load_int(topology, N_INDEPENDENT)
    u_dot, X, Y = workspace(q, nu + 1), workspace(q, nu * nu + 1), workspace(q, nu * nu + 1)
    projected_forward_dynamics(topology, parameters, q, u, tau, u_dot)
    projected_derivatives(topology, parameters, q, u, u_dot, X, Y)
    projected_inverse_mass(topology, parameters, q, inverse)
    minus_product(inverse, X, nu, dq)
    minus_product(inverse, Y, nu, du)


@kernel
def minus_product(A, B, n, out):
    """out (n, n) = -A B."""
    pitch = row_width(B, n)
    rows, total = workspace(B, n * pitch + 8), workspace(B, pitch + 8)
    zero_rows(rows, 0, n * pitch)
    for i in range(n):
        for j in range(n):
            store(rows, pitch * i + j, load(B, n * i + j))
    for i in range(n):
        zero_rows(total, 0, pitch)
        for k in range(n):
            add_rows(total, 0, -load(A, n * i + k), rows, pitch * k, pitch)
        for j in range(n):
            store(out, n * i + j, load(total, j))
