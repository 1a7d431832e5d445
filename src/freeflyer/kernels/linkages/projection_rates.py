"""How the map G from independent to all velocities changes along a motion, and what that does to forces: Gdot, d(G^T tau)/dq."""

from freeflyer.kernels.backend import (
    LANES, copy_entries, from_entry, kernel, load, load_int, row_step, row_width, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.linkages.blocks import (
    add_rows, complete_rate_rows, linkage_map, project_forces, whole_acceleration, whole_velocity,
)
from freeflyer.kernels.linkages.projection_derivatives import (
    choose_directions, clear_world, coupling_tangents, direction_rows, joint_tangents, motion_tangents, project_rows, put_lanes,
    subtree_forces, tangent_rows, tangents_of,
)
from freeflyer.kernels.linkages.tangents import DF, FORCE, STATE, TANGENT, force_tangents, spatial_states, velocity_tangents
from freeflyer.kernels.model.joints.columns import bracket_rows
from freeflyer.kernels.model.layout import N_BODIES, N_ROWS, N_V


@kernel
def brackets(topology, J, v, directions, rest):
    """J ad(v) w for every direction w, added to rest: what the rate of J w has beyond the derivative of J v along w."""
    nv, step = load_int(topology, N_V), row_step(directions)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        j, count = bracket_rows(topology, i, v, directions, nv)
        for row in range(load_int(topology, N_ROWS)):
            for k in range(count):
                add_rows(rest, step * row, load(J, nv * row + j + k), directions, step * (nv + k), step)


def map_rates(topology, parameters, q, u, rates):
    """rates (nv, nu): Gdot while q moves with G u; Gdot u = gamma."""
    work, J, inverses, G, pitch, n, nv, nu, step = linkage_map(topology, parameters, q)
    v = whole_velocity(topology, work, J, inverses, u)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, v, zero_workspace(work, nv), states)
    (tangents, rest), directions, moved = tangent_rows(topology, work), direction_rows(work, nv + 6), direction_rows(work, nv)
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        tangents_of(topology, work, states, directions, tangents)
        velocity_tangents(topology, parameters, q, v, work, states, directions, tangents, rest)
        brackets(topology, J, v, directions, rest)
        zero_entries(moved, step * nv)
        complete_rate_rows(topology, J, inverses, rest, moved, step)
        put_lanes(moved, nv, rates, first, nu)


def motion_derivatives(topology, parameters, q, u, u_dot, dv, da, du):
    """dv, da (nv, nu): how v = G u and a = G u_dot + gamma of all coordinates change along q (+) G delta; du (nv, nu): a with u."""
    work, J, inverses, G, pitch, n, nv, nu, step = linkage_map(topology, parameters, q)
    v = whole_velocity(topology, work, J, inverses, u)
    a = whole_acceleration(topology, parameters, q, work, J, inverses, u_dot, v)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, v, a, states)
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
    work, J, inverses, G, pitch, n, nv, nu, step = linkage_map(topology, parameters, q)
    zero, rest, multipliers = zero_workspace(work, nv), workspace(work, nv + 1), workspace(work, load_int(topology, N_ROWS) + 1)
    copy_entries(tau, nv, rest)
    project_forces(topology, J, inverses, rest, multipliers)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, zero, zero, states)
    for i in range(n + 1):
        zero_entries(from_entry(states, STATE * i + FORCE), 6)
    totals, (tangents, _) = workspace(work, STATE * (n + 1)), tangent_rows(topology, work)
    subtree_forces(topology, parameters, work, multipliers, states, totals)
    directions, moved, out = direction_rows(work, nv), direction_rows(work, nv), direction_rows(work, nv)
    result = workspace(work, nu * step + LANES)
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        zero_entries(moved, step * nv)
        tangents_of(topology, work, states, directions, tangents)
        for i in range(n + 1):
            clear_world(tangents, TANGENT * i + DF)
        force_tangents(topology, parameters, work, multipliers, tangents)
        joint_tangents(topology, parameters, work, totals, moved, tangents, out)
        coupling_tangents(topology, parameters, q, multipliers, directions, out)
        project_rows(topology, G, pitch, out, result)
        put_lanes(result, nu, dq, first, nu)
