"""Dynamics of a closed linkage in its independent velocities u: v = G u, a = G udot + gamma. Kangaroo paper, appendix B.

M_p = G^T M G, h_p = G^T (bias + M gamma), tau_p = G^T tau. Forces of a tree come from its own algorithms; where they are projected
no map is needed: G^T tau is what remains of tau when the constraints have taken their share."""

from freeflyer.kernels.math.algebra import strided6
from freeflyer.kernels.backend import (
    LANES, add_scaled_row, copy_entries, kernel, load, load_int, put_sum, row_step, row_width, store, store_row, workspace,
    zero_entries, zero_workspace,
)
from freeflyer.kernels.linkages.blocks import (
    gather_independent, linkage, linkage_int, linkage_rows, project_forces, velocity_map, whole_acceleration,
    whole_velocity,
)
from freeflyer.kernels.math.dense import copy_rows, factor_symmetric, solve_factored
from freeflyer.kernels.model.layout import ARMATURE_AT, COLUMN_ROW, N_COLUMNS, N_INDEPENDENT, N_ROWS, N_V, SUPPORT_INTS, SUPPORTS_AT
from freeflyer.kernels.tree.all_terms import areas, areas_workspace
from freeflyer.kernels.tree.columns import column_rows, last_column, row_dot
from freeflyer.kernels.tree.kinematics import coordinate
from freeflyer.kernels.tree.rnea import rnea


def projection_map(topology, parameters, q, G):
    """G (nv, nu)."""
    _, J, inverses = linkage(topology, parameters, q)
    H, nu = velocity_map(topology, J, inverses), load_int(topology, N_INDEPENDENT)
    copy_rows(H, 0, load_int(topology, N_V), row_width(H, nu), nu, G, 0, nu)


def projected_motion(topology, parameters, q, u, u_dot, v, a):
    """v (nv,) = G u and a (nv,) = G u_dot + gamma."""
    work, J, inverses = linkage(topology, parameters, q)
    x = whole_velocity(topology, work, J, inverses, u)
    y = whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, x)
    copy_entries(x, load_int(topology, N_V), v)
    copy_entries(y, load_int(topology, N_V), a)


def support_of(topology, coordinate):
    """(first, end) of the list, in topology, of independent rates that move a velocity coordinate."""
    at = linkage_int(topology, SUPPORTS_AT) + SUPPORT_INTS * coordinate
    first = load_int(topology, at)
    return first, first + load_int(topology, at + 1)


@kernel
def half_mass(topology, parameters, work, G):
    """P in nu rows of row_width(nu) numbers, with M_p = P + P^T: P = G^T U G, U the upper triangle of M, its diagonal halved. U
    is not kept: row c of U G is made of the products of column c with what it moves (see columns.py), one after another."""
    nv, nu, nc = load_int(topology, N_V), load_int(topology, N_INDEPENDENT), load_int(topology, N_COLUMNS)
    rows, pitch = load_int(topology, COLUMN_ROW), row_width(work, nu)
    composites, S, F, _, _ = areas(topology)
    column_rows(topology, parameters, work, composites, S, F)
    products, Y, P = workspace(work, rows + LANES), workspace(work, pitch + LANES), zero_workspace(work, nu * pitch + LANES)
    step = row_step(work)
    for c in range(nc):
        end, s, j = last_column(topology, c) + 1, strided6(work, S + c, rows), coordinate(topology, c)
        for k in range(c - c % step, end, step):
            store_row(products, k, row_dot(s, work, F + k, rows))
        zero_entries(Y, pitch)
        add_scaled_row(Y, 0, 0.5 * load(products, c), G, pitch * j, 0, pitch)
        for k in range(c + 1, end):
            add_scaled_row(Y, 0, load(products, k), G, pitch * coordinate(topology, k), 0, pitch)
        add_projected(topology, P, pitch, G, j, Y)
    for j in range(nv):
        zero_entries(Y, pitch)
        add_scaled_row(Y, 0, 0.5 * load(parameters, load_int(topology, ARMATURE_AT) + j), G, pitch * j, 0, pitch)
        add_projected(topology, P, pitch, G, j, Y)
    return P


def add_projected(topology, P, pitch, G, j, Y):
    """P grows by the outer product of row j of G and the row Y."""
    first, end = support_of(topology, j)
    for n in range(first, end):
        i = load_int(topology, n)
        add_scaled_row(P, pitch * i, load(G, pitch * j + i), Y, 0, 0, pitch)


def put_mass(topology, P, M):
    """M (nu, nu) = P + P^T."""
    nu = load_int(topology, N_INDEPENDENT)
    pitch = row_width(P, nu)
    for i in range(nu):
        for j in range(i, nu):
            x = load(P, pitch * i + j) + load(P, pitch * j + i)
            store(M, nu * i + j, x)
            store(M, nu * j + i, x)


@kernel
def projected_mass(topology, parameters, q, M):
    """M_p (nu, nu), symmetric, armature included."""
    work = areas_workspace(topology, parameters, q)
    J, inverses = linkage_rows(topology, parameters, q, work)
    put_mass(topology, half_mass(topology, parameters, work, velocity_map(topology, J, inverses)), M)


def projected_forces(topology, parameters, q, work, J, inverses, u, u_dot):
    """(tau (nv,), multipliers (rows,)): G^T of the tree's inverse dynamics, at the independent coordinates of tau."""
    v = whole_velocity(topology, work, J, inverses, u)
    a = whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, v)
    return forces_of(topology, parameters, q, J, inverses, v, a)


def forces_of(topology, parameters, q, J, inverses, v, a):
    """(tau (nv,), multipliers (rows,)) of the whole robot at v (nv,) and a (nv,): see `project_forces`."""
    tau, multipliers = workspace(J, load_int(topology, N_V) + 1), workspace(J, load_int(topology, N_ROWS) + 1)
    rnea(topology, parameters, q, v, a, tau)
    project_forces(topology, J, inverses, tau, multipliers)
    return tau, multipliers


def projected_inverse_dynamics(topology, parameters, q, u, u_dot, tau):
    """tau_p (nu,) of M_p u_dot + h_p = tau_p."""
    work, J, inverses = linkage(topology, parameters, q)
    forces, _ = projected_forces(topology, parameters, q, work, J, inverses, u, u_dot)
    gather_independent(topology, forces, tau)


@kernel
def projected_equations(topology, parameters, q, u, M, h):
    """M_p (nu, nu) and h_p (nu,)."""
    work = areas_workspace(topology, parameters, q)
    J, inverses = linkage_rows(topology, parameters, q, work)
    rest = zero_workspace(work, load_int(topology, N_INDEPENDENT))
    forces, _ = projected_forces(topology, parameters, q, work, J, inverses, u, rest)
    gather_independent(topology, forces, h)
    put_mass(topology, half_mass(topology, parameters, work, velocity_map(topology, J, inverses)), M)


@kernel
def projected_forward_dynamics(topology, parameters, q, u, tau, u_dot):
    """u_dot (nu,) of M_p u_dot + h_p = tau."""
    nu = load_int(topology, N_INDEPENDENT)
    M, h = workspace(q, nu * nu + 1), workspace(q, nu + 1)
    projected_equations(topology, parameters, q, u, M, h)
    factor_symmetric(M, nu)
    put_sum(tau, -1.0, h, nu, u_dot)
    solve_factored(M, nu, u_dot, 0)


@kernel
def projected_inverse_mass(topology, parameters, q, inverse):
    """M_p^-1 (nu, nu), symmetric."""
    nu = load_int(topology, N_INDEPENDENT)
    M = workspace(q, nu * nu + 1)
    projected_mass(topology, parameters, q, M)
    factor_symmetric(M, nu)
    zero_entries(inverse, nu * nu)
    for i in range(nu):
        store(inverse, nu * i + i, 1.0)
        solve_factored(M, nu, inverse, nu * i)
    for i in range(nu):
        for j in range(i):
            x = 0.5 * (load(inverse, nu * i + j) + load(inverse, nu * j + i))
            store(inverse, nu * i + j, x)
            store(inverse, nu * j + i, x)


def shared_forces(topology, parameters, q, tau, multipliers, projected):
    """multipliers (rows,) that balance the forces tau (nv,) in dependent joints; projected (nu,): G^T tau."""
    work, J, inverses = linkage(topology, parameters, q)
    rest = workspace(work, load_int(topology, N_V) + 1)
    copy_entries(tau, load_int(topology, N_V), rest)
    project_forces(topology, J, inverses, rest, multipliers)
    gather_independent(topology, rest, projected)


def driving_forces(topology, parameters, q, u, u_dot, multipliers, tau):
    """tau_p (nu,) of M_p u_dot + h_p = tau_p, and the multipliers (rows,): M a + bias = tau + J^T multipliers in the tree."""
    work, J, inverses = linkage(topology, parameters, q)
    forces, shares = projected_forces(topology, parameters, q, work, J, inverses, u, u_dot)
    copy_entries(shares, load_int(topology, N_ROWS), multipliers)
    gather_independent(topology, forces, tau)
