"""Gravity forces: minus the power of gravity along every column, from the first moments of mass of what the column moves."""

from freeflyer.kernels.backend.buffers import load, load_int, row_step, store, tile_at
from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import add_scaled, cross, dot, load3, rotate, scale
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.layout import FREE_AT, GRAVITY, N_BODIES, N_V, SINES_AT, SUBTREE_MASS
from freeflyer.kernels.tree.columns import tile_mass
from freeflyer.kernels.tree.composite import column_range, coordinate, direction_at, parent_of
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import add_spaced3, offset, pose_at, put_row3, row_rotation, spaced3

MOMENT = 3  # first moment of a subtree's mass at its root body's origin


@inlined
def forces_under(topology, parameters, q, g, tau):
    """tau (nv,) that holds the robot at rest under gravity g."""
    n, moments = load_int(topology, N_BODIES), load_int(topology, FREE_AT)
    work = kinematics_workspace(topology, parameters, q, MOMENT * (load_int(topology, SINES_AT) + LANES))
    for i in range(0, n + 1, row_step(work)):
        m, c = tile_mass(topology, parameters, work, i)
        h = scale(m, rotate(row_rotation(work, pose_at(topology, work, i)), c))
        put_row3(work, moments + tile_at(work, MOMENT, i), h)
    for j in range(load_int(topology, N_V)):
        store(tau, j, 0.0)
    for i in range(n, 0, -1):
        m, h = load(parameters, body_floats(i) + SUBTREE_MASS), spaced3(work, moments + tile_at(work, MOMENT, i))
        there = moments + tile_at(work, MOMENT, parent_of(topology, i))
        add_spaced3(work, there, add_scaled(h, m, offset(topology, work, i)))
        force, moment = scale(m, g), cross(h, g)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, j = direction_at(topology, c), coordinate(topology, c)
            power = dot(load3(work, at), force) + dot(load3(work, at + 3), moment)
            store(tau, j, load(tau, j) - power)


@kernel
def gravity(topology, parameters, q, tau):
    """tau (nv,) that holds the robot at rest."""
    forces_under(topology, parameters, q, load3(parameters, GRAVITY), tau)


@kernel
def given_gravity(topology, parameters, q, g, tau):
    """tau (nv,) that holds the robot at rest under gravity g (3,)."""
    forces_under(topology, parameters, q, load3(g, 0), tau)
