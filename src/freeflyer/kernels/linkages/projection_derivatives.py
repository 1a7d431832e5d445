"""Derivatives of the inverse dynamics of a closed linkage in independent velocities, exact, along all its motions at once.

tau_p = G^T (ID(q, v, a) - J^T lambda) with v = G u, a = G u_dot + gamma, whatever lambda. With lambda such that the bracket
vanishes at dependent coordinates, the derivative of G^T itself drops out:

    d tau_p = G^T d(ID - J^T lambda), lambda fixed,

and dv, da follow from the derivatives of J v = 0 and J a + Jdot v = 0. So one recursion along the tree, carried out for eight
directions at a time (directions of q, then of u), gives all: tangent of every body, changes of velocity, acceleration, force.

Then all derivatives of the projected dynamics at once: of its inverse, and of its forward solution. Last, how the map G from
independent to all velocities changes along a motion, and what that does to forces: Gdot, d(G^T tau)/dq."""

from freeflyer.kernels.backend import (
    LANES, add_scaled_row, copy_entries, from_entry, kernel, load, load_int, load_row, row_step, row_width, store, store_row,
    workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.linkages.blocks import (
    complete_rate_rows, linkage_int, linkage_map, project_forces, whole_acceleration, whole_velocity,
)
from freeflyer.kernels.linkages.constraints import first_coupling
from freeflyer.kernels.linkages.projection import (
    forces_of, projected_forward_dynamics, projected_inverse_mass, projected_mass, support_of,
)
from freeflyer.kernels.linkages.tangents import (
    ACCELERATION, DA, DF, DV, FIRST_MOMENT, FORCE, MOMENTUM, MOVED, RATE, SPIN, STATE, TANGENT, VELOCITY, WEIGHT,
    coupling_slopes, force_tangents, load_tangent, loop_forces, row_tangents, spatial_column, spatial_states, store_tangent,
)
from freeflyer.kernels.math.algebra import load3, load6
from freeflyer.kernels.math.dense import put_rows
from freeflyer.kernels.math.spatial import (
    accumulate_spatial, force_cross, inertia_times, load_spatial, motion_cross, spatial_add, spatial_add_scaled, spatial_dot,
    spatial_subtract,
)
from freeflyer.kernels.model.joints.armature import add_armature_tangents
from freeflyer.kernels.model.joints.columns import bracket_rows
from freeflyer.kernels.model.layout import ARMATURE_AT, INDEPENDENTS_AT, N_BODIES, N_COUPLINGS, N_INDEPENDENT, N_ROWS, N_V
from freeflyer.kernels.tree.kinematics import column_range, coordinate, parent_of


def direction_rows(work, n):
    """Room for n numbers of each direction."""
    return workspace(work, row_step(work) * (n + 1))


def tangent_rows(topology, work):
    """Room for the tangents of all bodies, and for constraint rows, of each direction."""
    tangents = workspace(work, row_step(work) * TANGENT * (load_int(topology, N_BODIES) + 1))
    return tangents, direction_rows(work, load_int(topology, N_ROWS))


def row_motion(topology, work, i, x):
    """The sum of body i's columns times the rows of x that belong to their coordinates."""
    step = row_step(work)
    first, end = column_range(topology, i)
    zero = 0.0 * load_row(x, 0)
    total = (zero, zero, zero), (zero, zero, zero)
    for c in range(first, end):
        S, rate = spatial_column(topology, work, i, c), load_row(x, step * coordinate(topology, c))
        total = spatial_add_scaled(total, rate, S)
    return total


def clear_world(tangents, k):
    """The world moves along no direction."""
    for n in range(6):
        store_row(tangents, row_step(tangents) * (k + n), 0.0)


@kernel
def tangents_of(topology, work, states, directions, tangents):
    """Writes T, and dV as far as it does not come from changes of v."""
    clear_world(tangents, MOVED)
    clear_world(tangents, DV)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        p = parent_of(topology, i)
        own = row_motion(topology, work, i, directions)
        store_tangent(tangents, i, MOVED, spatial_add(load_tangent(tangents, p, MOVED), own))
        swept = motion_cross(own, load_spatial(states, STATE * p + VELOCITY))
        store_tangent(tangents, i, DV, spatial_subtract(load_tangent(tangents, p, DV), swept))


@kernel
def rate_tangents(topology, work, states, directions, rates, tangents):
    """Writes dV, and dA as far as it does not come from changes of a."""
    clear_world(tangents, DA)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        p = parent_of(topology, i)
        V, A = load_spatial(states, STATE * p + VELOCITY), load_spatial(states, STATE * p + ACCELERATION)
        own_rate = load_spatial(states, STATE * i + RATE)
        own, more = row_motion(topology, work, i, directions), row_motion(topology, work, i, rates)
        dV = spatial_subtract(load_tangent(tangents, p, DV), motion_cross(own, V))
        dA = spatial_add(
            spatial_subtract(load_tangent(tangents, p, DA), motion_cross(own, A)),
            spatial_add(motion_cross(dV, own_rate), motion_cross(V, more)))
        store_tangent(tangents, i, DV, spatial_add(dV, more))
        store_tangent(tangents, i, DA, dA)


@kernel
def inertial_tangents(topology, work, states, changes, tangents):
    """Writes dF of every body; `changes` (nv rows) are those of a."""
    clear_world(tangents, DF)
    for i in range(1, load_int(topology, N_BODIES) + 1):  # dF holds what dA gains, for now
        gained = spatial_add(load_tangent(tangents, parent_of(topology, i), DF), row_motion(topology, work, i, changes))
        store_tangent(tangents, i, DF, gained)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at = STATE * i
        m, h, I = load(states, at + WEIGHT), load3(states, at + FIRST_MOMENT), load6(states, at + SPIN)
        T, dV = load_tangent(tangents, i, MOVED), load_tangent(tangents, i, DV)
        dA = spatial_add(load_tangent(tangents, i, DA), load_tangent(tangents, i, DF))
        dF = spatial_add(force_cross(T, load_spatial(states, at + FORCE)), inertia_times(m, h, I, dA))
        dF = spatial_add(dF, force_cross(dV, load_spatial(states, at + MOMENTUM)))
        swept = force_cross(load_spatial(states, at + VELOCITY), inertia_times(m, h, I, dV))
        store_tangent(tangents, i, DF, spatial_add(dF, swept))


@kernel
def joint_tangents(topology, parameters, work, states, changes, tangents, out):
    """Writes the changes of the joints' forces into out (nv rows); forces and their changes become those of subtrees."""
    step = row_step(work)
    for j in range(load_int(topology, N_V)):
        armature = load(parameters, load_int(topology, ARMATURE_AT) + j)
        store_row(out, step * j, armature * load_row(changes, step * j))
    for i in range(load_int(topology, N_BODIES), 0, -1):
        p, F, dF = parent_of(topology, i), load_spatial(states, STATE * i + FORCE), load_tangent(tangents, i, DF)
        seen = spatial_subtract(dF, force_cross(load_tangent(tangents, i, MOVED), F))
        for c in range(*column_range(topology, i)):
            S, to = spatial_column(topology, work, i, c), step * coordinate(topology, c)
            store_row(out, to, load_row(out, to) + spatial_dot(S, seen))
        store_tangent(tangents, p, DF, spatial_add(load_tangent(tangents, p, DF), dF))


def subtree_forces(topology, parameters, work, multipliers, states):
    """The states once more, with the forces of subtrees, those of loops included."""
    n, totals = load_int(topology, N_BODIES), workspace(work, STATE * (load_int(topology, N_BODIES) + 1))
    copy_entries(states, STATE * (n + 1), totals)
    loop_forces(topology, parameters, work, multipliers, totals, FORCE)
    for i in range(n, 0, -1):
        there = STATE * parent_of(topology, i) + FORCE
        accumulate_spatial(totals, there, load_spatial(totals, STATE * i + FORCE))
    return totals


@kernel
def coupling_tangents(topology, parameters, q, multipliers, directions, out):
    """Takes the changes of the couplings' forces, at fixed multipliers, from out (nv rows)."""
    step = row_step(out)
    for k in range(load_int(topology, N_COUPLINGS)):
        second, bend, _ = coupling_slopes(topology, parameters, q, k)
        if second >= 0:
            share = bend * load(multipliers, first_coupling(topology) + k)
            store_row(out, step * second, load_row(out, step * second) + share * load_row(directions, step * second))


def motion_tangents(topology, parameters, q, v, a, work, states, J, inverses, directions, rates, changes, tangents, rest):
    """Writes how v and a of all coordinates change with directions of q and with changes of u, which `rates` begins with: rows
    `rates` and `changes` (nv), and the tangents of all bodies but for dF; rest (rows): room."""
    step = row_step(work)
    tangents_of(topology, work, states, directions, tangents)
    row_tangents(topology, parameters, q, v, work, states, directions, tangents, rest)
    complete_rate_rows(topology, J, inverses, rest, rates, step)
    rate_tangents(topology, work, states, directions, rates, tangents)
    row_tangents(topology, parameters, q, v, work, states, directions, tangents, rest, a, rates)
    zero_entries(changes, step * load_int(topology, N_V))
    complete_rate_rows(topology, J, inverses, rest, changes, step)


@kernel
def projected_derivatives(topology, parameters, q, u, u_dot, dq, du):
    """dq (nu, nu) and du (nu, nu): derivatives of tau_p (q, u, u_dot) along q (+) G delta, and by u."""
    work, J, inverses, G, pitch, nv, nu, step = linkage_map(topology, parameters, q)
    v = whole_velocity(topology, work, J, inverses, u)
    a = whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, v)
    multipliers = forces_of(topology, parameters, q, J, inverses, v, a)[1]
    inertial = spatial_states(topology, parameters, work, v, a)
    totals = subtree_forces(topology, parameters, work, multipliers, inertial)
    directions, rates, changes, out = tuple(direction_rows(work, nv) for _ in range(4))
    tangents, rest = tangent_rows(topology, work)
    result = workspace(work, nu * step + LANES)
    for first in range(0, row_width(work, 2 * nu), step):
        choose_directions(topology, G, pitch, nu, first, directions, rates)
        motion_tangents(topology, parameters, q, v, a, work, inertial, J, inverses, directions, rates, changes, tangents, rest)
        inertial_tangents(topology, work, inertial, changes, tangents)
        force_tangents(topology, parameters, work, multipliers, tangents)
        joint_tangents(topology, parameters, work, totals, changes, tangents, out)
        add_armature_tangents(topology, parameters, v, rates, out)
        coupling_tangents(topology, parameters, q, multipliers, directions, out)
        project_rows(topology, G, pitch, out, result)
        put_lanes(result, nu, dq, first, nu)
        put_lanes(result, nu, du, first - nu, nu)


def project_rows(topology, G, pitch, out, result):
    """result (nu rows) = G^T out (nv rows)."""
    step = row_step(out)
    zero_entries(result, load_int(topology, N_INDEPENDENT) * step)
    for j in range(load_int(topology, N_V)):
        begin, end = support_of(topology, j)
        for at in range(begin, end):
            i = load_int(topology, at)
            add_scaled_row(result, step * i, load(G, pitch * j + i), out, step * j, 0, step)


def put_lanes(rows, n, out, first, width):
    """Columns `first` and following of out (n, width), as far as there are such, from n rows."""
    step = row_step(rows)
    for lane in range(max(0, -first), min(step, width - first)):
        for i in range(n):
            store(out, width * i + first + lane, load(rows, step * i + lane))


def choose_directions(topology, G, pitch, nu, first, directions, rates):
    """Directions number `first` and following: columns of G for q; then unit changes of u, which `rates` begins with."""
    step, at = row_step(directions), linkage_int(topology, INDEPENDENTS_AT)
    nv = load_int(topology, N_V)
    zero_entries(rates, step * nv)
    for j in range(nv):
        for lane in range(step):
            store(directions, step * j + lane, load(G, pitch * j + first + lane) if first + lane < nu else 0.0)
    for lane in range(step):
        k = first + lane - nu
        if k >= 0 and k < nu:
            store(rates, step * load_int(topology, at + k) + lane, 1.0)


def projected_inverse_gradient(topology, parameters, q, u, u_dot, dq, du, M):
    """dq, du, M (nu, nu): of tau_p by independent steps of q, by u and by u_dot."""
    projected_derivatives(topology, parameters, q, u, u_dot, dq, du)
    projected_mass(topology, parameters, q, M)


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
    put_rows(B, n, n, rows)
    for i in range(n):
        zero_entries(total, pitch)
        for k in range(n):
            add_scaled_row(total, 0, -load(A, n * i + k), rows, pitch * k, 0, pitch)
        copy_entries(total, n, from_entry(out, n * i))


@kernel
def brackets(topology, J, v, directions, rest):
    """J ad(v) w for every direction w, added to rest: what the rate of J w has beyond the derivative of J v along w."""
    nv, step = load_int(topology, N_V), row_step(directions)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        j, count = bracket_rows(topology, i, v, directions, nv)
        for row in range(load_int(topology, N_ROWS)):
            for k in range(count):
                add_scaled_row(rest, step * row, load(J, nv * row + j + k), directions, step * (nv + k), 0, step)


def map_rates(topology, parameters, q, u, rates):
    """rates (nv, nu): Gdot while q moves with G u; Gdot u = gamma."""
    work, J, inverses, G, pitch, nv, nu, step = linkage_map(topology, parameters, q)
    v = whole_velocity(topology, work, J, inverses, u)
    states = spatial_states(topology, parameters, work, v, zero_workspace(work, nv))
    (tangents, rest), directions, moved = tangent_rows(topology, work), direction_rows(work, nv + 6), direction_rows(work, nv)
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        tangents_of(topology, work, states, directions, tangents)
        row_tangents(topology, parameters, q, v, work, states, directions, tangents, rest)
        brackets(topology, J, v, directions, rest)
        zero_entries(moved, step * nv)
        complete_rate_rows(topology, J, inverses, rest, moved, step)
        put_lanes(moved, nv, rates, first, nu)


def motion_derivatives(topology, parameters, q, u, u_dot, dv, da, du):
    """dv, da (nv, nu): how v = G u and a = G u_dot + gamma of all coordinates change along q (+) G delta; du (nv, nu): a with u."""
    work, J, inverses, G, pitch, nv, nu, step = linkage_map(topology, parameters, q)
    v = whole_velocity(topology, work, J, inverses, u)
    a = whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, v)
    states = spatial_states(topology, parameters, work, v, a)
    (tangents, rest), directions = tangent_rows(topology, work), direction_rows(work, nv)
    rates, changes = direction_rows(work, nv), direction_rows(work, nv)
    for first in range(0, row_width(work, 2 * nu), step):
        choose_directions(topology, G, pitch, nu, first, directions, rates)
        motion_tangents(topology, parameters, q, v, a, work, states, J, inverses, directions, rates, changes, tangents, rest)
        put_lanes(rates, nv, dv, first, nu)
        put_lanes(changes, nv, da, first, nu)
        put_lanes(changes, nv, du, first - nu, nu)


def projected_force_derivatives(topology, parameters, q, tau, dq):
    """dq (nu, nu): derivative of G^T tau along q (+) G delta, tau (nv,) fixed: G^T d(-J^T lambda), see projection_derivatives."""
    work, J, inverses, G, pitch, nv, nu, step = linkage_map(topology, parameters, q)
    zero, rest, multipliers = zero_workspace(work, nv), workspace(work, nv + 1), workspace(work, load_int(topology, N_ROWS) + 1)
    copy_entries(tau, nv, rest)
    project_forces(topology, J, inverses, rest, multipliers)
    states = spatial_states(topology, parameters, work, zero, zero)
    for i in range(load_int(topology, N_BODIES) + 1):
        zero_entries(from_entry(states, STATE * i + FORCE), 6)
    totals, (tangents, _) = subtree_forces(topology, parameters, work, multipliers, states), tangent_rows(topology, work)
    directions, moved, out = direction_rows(work, nv), direction_rows(work, nv), direction_rows(work, nv)
    result = workspace(work, nu * step + LANES)
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        zero_entries(moved, step * nv)
        tangents_of(topology, work, states, directions, tangents)
        for i in range(load_int(topology, N_BODIES) + 1):
            clear_world(tangents, TANGENT * i + DF)
        force_tangents(topology, parameters, work, multipliers, tangents)
        joint_tangents(topology, parameters, work, totals, moved, tangents, out)
        coupling_tangents(topology, parameters, q, multipliers, directions, out)
        project_rows(topology, G, pitch, out, result)
        put_lanes(result, nu, dq, first, nu)
