"""How the map G from independent to all velocities changes along a motion, and what that does to forces: Gdot, d(G^T tau)/dq."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, row_step, row_width, store, workspace
from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.closed.blocks import (
    add_rows,
    complete_rate_rows,
    linkage_rows,
    project_forces,
    velocity_map,
    whole_velocity,
    zero_rows,
    zero_vector,
)
from freeflyer.kernels.closed.projection_derivatives import (
    choose_directions,
    clear_world,
    coupling_tangents,
    joint_tangents,
    project_rows,
    put_lanes,
    subtree_forces,
    tangents_of,
)
from freeflyer.kernels.closed.tangents import DF, TANGENT, force_tangents, loop_forces, velocity_tangents
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.derivatives.spatial_motion import FORCE, STATE, spatial_states
from freeflyer.kernels.math.algebra import add, cross, load3
from freeflyer.kernels.model.joints import body_ints
from freeflyer.kernels.model.layout import BALL, FIRST_V, KIND, N_BODIES, N_ROWS, N_V, SCREW
from freeflyer.kernels.model.linkage_layout import N_INDEPENDENT
from freeflyer.kernels.tree.motions import moving_workspace
from freeflyer.kernels.tree.poses import put_row3, row3


@inlined
def add_bracket(topology, J, v, directions, rest, j, b):
    """Three coordinates from j on, whose bracket is b, in all rows of J."""
    nv, step = load_int(topology, N_V), row_step(directions)
    put_row3(directions, step * nv, b)
    for row in range(load_int(topology, N_ROWS)):
        for k in range(3):
            add_rows(rest, step * row, load(J, nv * row + j + k), directions, step * (nv + k), step)


@kernel
def brackets(topology, J, v, directions, rest):
    """J ad(v) w for every direction w, added to rest: what the rate of J w has beyond the derivative of J v along w."""
    step = row_step(directions)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        kind, j = load_int(topology, body_ints(i) + KIND), load_int(topology, body_ints(i) + FIRST_V)
        if kind == SCREW:
            continue
        if kind != BALL:
            l, w = row3(directions, step * j), row3(directions, step * (j + 3))
            add_bracket(topology, J, v, directions, rest, j, add(cross(load3(v, j + 3), l), cross(load3(v, j), w)))
            j += 3
        add_bracket(topology, J, v, directions, rest, j, cross(load3(v, j), row3(directions, step * j)))


@kernel
def map_rates(topology, parameters, q, u, rates):
    """rates (nv, nu): Gdot while q moves with G u; Gdot u = gamma."""
    n, nv, nu = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, N_INDEPENDENT)
    step = row_step(q)
    work = moving_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    G, pitch = velocity_map(topology, J, inverses), row_width(work, nu)
    v = whole_velocity(topology, work, J, inverses, u)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, v, zero_vector(work, nv), states)
    tangents, rest = workspace(work, step * TANGENT * (n + 1)), workspace(work, step * (load_int(topology, N_ROWS) + 1))
    directions, moved = workspace(work, step * (nv + 4)), workspace(work, step * (nv + 1))
    for first in range(0, pitch, step):
        choose_directions(topology, G, pitch, nu, first, directions, moved)
        tangents_of(topology, work, states, directions, tangents)
        velocity_tangents(topology, parameters, q, v, work, states, directions, tangents, rest)
        brackets(topology, J, v, directions, rest)
        zero_rows(moved, 0, step * nv)
        complete_rate_rows(topology, J, inverses, rest, moved, step)
        put_lanes(moved, nv, rates, first, nu)


@kernel
def projected_force_derivatives(topology, parameters, q, tau, dq):
    """dq (nu, nu): derivative of G^T tau along q (+) G delta, tau (nv,) fixed: G^T d(-J^T lambda), see projection_derivatives."""
    n, nv, nu = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, N_INDEPENDENT)
    step = row_step(q)
    work = moving_workspace(topology, parameters, q, 0)
    J, inverses = linkage_rows(topology, parameters, q, work)
    G, pitch = velocity_map(topology, J, inverses), row_width(work, nu)
    zero, rest, multipliers = (
        zero_vector(work, nv),
        workspace(work, nv + 1),
        workspace(work, load_int(topology, N_ROWS) + 1),
    )
    for j in range(nv):
        store(rest, j, load(tau, j))
    project_forces(topology, J, inverses, rest, multipliers)
    states = workspace(work, STATE * (n + 1))
    spatial_states(topology, parameters, work, zero, zero, states)
    for i in range(n + 1):
        for k in range(6):
            store(states, STATE * i + FORCE + k, zero_of(work))
    loop_forces(topology, parameters, work, multipliers, states, FORCE)
    totals, tangents = workspace(work, STATE * (n + 1)), workspace(work, step * TANGENT * (n + 1))
    subtree_forces(topology, states, totals)
    directions, moved, out = (
        workspace(work, step * (nv + 1)),
        workspace(work, step * (nv + 1)),
        workspace(work, step * (nv + 1)),
    )
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


@inlined
def zero_of(work):
    """A zero of the kind that work holds."""
    return 0.0 * load(work, 0)
