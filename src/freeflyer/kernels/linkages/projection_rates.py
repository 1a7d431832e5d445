"""How the map G from independent to all velocities changes along a motion, and what that does to forces: Gdot, d(G^T tau)/dq."""

from freeflyer.kernels.backend import LANES, copy_entries, kernel, load, load_int, row_step, row_width, store, workspace
from freeflyer.kernels.linkages.blocks import (
    add_rows, complete_rate_rows, linkage_rows, project_forces, velocity_map, whole_acceleration, whole_velocity, zero_rows,
    zero_vector,
)
from freeflyer.kernels.linkages.projection_derivatives import (
    choose_directions, clear_world, coupling_tangents, joint_tangents, motion_tangents, project_rows, put_lanes, subtree_forces,
    tangents_of,
)
from freeflyer.kernels.linkages.tangents import (
    DF, FORCE, STATE, TANGENT, force_tangents, loop_forces, spatial_states, velocity_tangents,
)
from freeflyer.kernels.model.joints.columns import bracket_rows
from freeflyer.kernels.model.layout import N_BODIES, N_INDEPENDENT, N_ROWS, N_V
from freeflyer.kernels.tree.frames import motions_workspace


@kernel
def brackets(topology, J, v, directions, rest):
    """J ad(v) w for every direction w, added to rest: what the rate of J w has beyond the derivative of J v along w."""
    nv, step = load_int(topology, N_V), row_step(directions)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        j, count = bracket_rows(topology, i, v, directions, nv)
        for row in range(load_int(topology, N_ROWS)):
            for k in range(count):
                add_rows(rest, step * row, load(J, nv * row + j + k), directions, step * (nv + k), step)


@kernel
def map_rates(topology, parameters, q, u, rates):
    """rates (nv, nu): Gdot while q moves with G u; Gdot u = gamma."""
    n, nv, nu = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, N_INDEPENDENT)
    step = row_step(q)
    work = motions_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    G, pitch = velocity_map(topology, J, inverses), row_width(work, nu)
    v = whole_velocity(topology, work, J, inverses, u)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, v, zero_vector(work, nv), states)
    tangents, rest = workspace(work, step * TANGENT * (n + 1)), workspace(work, step * (load_int(topology, N_ROWS) + 1))
    directions, moved = workspace(work, step * (nv + 7)), workspace(work, step * (nv + 1))
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        tangents_of(topology, work, states, directions, tangents)
        velocity_tangents(topology, parameters, q, v, work, states, directions, tangents, rest)
        brackets(topology, J, v, directions, rest)
        zero_rows(moved, 0, step * nv)
        complete_rate_rows(topology, J, inverses, rest, moved, step)
        put_lanes(moved, nv, rates, first, nu)


@kernel
def motion_derivatives(topology, parameters, q, u, u_dot, dv, da, du):
    """dv, da (nv, nu): how v = G u and a = G u_dot + gamma of all coordinates change along q (+) G delta; du (nv, nu): a with u."""
    n, nv, nu = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, N_INDEPENDENT)
    step = row_step(q)
    work = motions_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    G, pitch = velocity_map(topology, J, inverses), row_width(work, nu)
    v = whole_velocity(topology, work, J, inverses, u)
    a = whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, v)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, v, a, states)
    tangents, rest = workspace(work, step * TANGENT * (n + 1)), workspace(work, step * (load_int(topology, N_ROWS) + 1))
    directions, rates = workspace(work, step * (nv + 1)), workspace(work, step * (nv + 1))
    changes = workspace(work, step * (nv + 1))
    for first in range(0, row_width(work, 2 * nu), step):
        choose_directions(topology, G, pitch, nu, first, directions, rates)
        motion_tangents(topology, parameters, q, v, a, work, states, J, inverses, directions, rates, changes, tangents, rest)
        put_lanes(rates, nv, dv, first, nu)
        put_lanes(changes, nv, da, first, nu)
        put_lanes(changes, nv, du, first - nu, nu)


@kernel
def projected_force_derivatives(topology, parameters, q, tau, dq):
    """dq (nu, nu): derivative of G^T tau along q (+) G delta, tau (nv,) fixed: G^T d(-J^T lambda), see projection_derivatives."""
    n, nv, nu = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, N_INDEPENDENT)
    step = row_step(q)
    work = motions_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    G, pitch = velocity_map(topology, J, inverses), row_width(work, nu)
    zero, rest = zero_vector(work, nv), workspace(work, nv + 1)
    multipliers = workspace(work, load_int(topology, N_ROWS) + 1)
    copy_entries(tau, nv, rest)
    project_forces(topology, J, inverses, rest, multipliers)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, zero, zero, states)
    for i in range(n + 1):
        for k in range(6):
            store(states, STATE * i + FORCE + k, 0.0 * load(work, 0))
    loop_forces(topology, parameters, work, multipliers, states, FORCE)
    totals, tangents = workspace(work, STATE * (n + 1)), workspace(work, step * TANGENT * (n + 1))
    subtree_forces(topology, states, totals)
    directions, moved = workspace(work, step * (nv + 1)), workspace(work, step * (nv + 1))
    out = workspace(work, step * (nv + 1))
    result = workspace(work, nu * step + LANES)
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        zero_rows(moved, 0, step * nv)
        tangents_of(topology, work, states, directions, tangents)
        for i in range(n + 1):
            clear_world(tangents, TANGENT * i + DF)
        force_tangents(topology, parameters, work, multipliers, tangents)
        joint_tangents(topology, parameters, work, totals, moved, tangents, out)
        coupling_tangents(topology, parameters, q, multipliers, directions, out)
        project_rows(topology, G, pitch, out, result)
        put_lanes(result, nu, dq, first, nu)
