"""Centre of mass and energies in body axes: no body's pose in the world is formed. Gravity forces in world axes.

First moments of mass add up inward, from each subtree to its parent's origin; velocities of origins go outward. Gravity forces are
minus the power of gravity along every column, from the first moments of mass of what the column moves."""

from freeflyer.kernels.backend import LANES, from_entry, load, load_int, row_step, store, tile_at, workspace, zero_entries
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate, add, add_scaled, cross, dot, load3, load6, rotate, scale, store3, store_entries, sym_apply,
)
from freeflyer.kernels.model.access import body_floats, body_ints, by_depth, joint_row
from freeflyer.kernels.model.joints.motion import acceleration_terms
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, to_child, to_parent
from freeflyer.kernels.model.layout import (
    ARMATURE_AT, FREE_AT, GRAVITY, MASS, MOMENT, N_BODIES, N_V, PARENT, SECOND, SINES_AT, SUBTREE_MASS,
)
from freeflyer.kernels.model.poses import add_spaced, offset, pose_at, put_spaced_rows, row_rotation, spaced3
from freeflyer.kernels.tree.centroidal import total_mass
from freeflyer.kernels.tree.columns import tile_mass
from freeflyer.kernels.tree.kinematics import column_range, coordinate, direction_at, kinematics_workspace, parent_of, zeros

MOTION = 6  # velocity of a body's origin, angular velocity; in its own axes
LINEAR, ANGULAR = 0, 3


def total_moment(topology, parameters, q):
    """First moment of mass of all moving bodies about the world's origin, from those of all subtrees at their own origins."""
    n, moments = load_int(topology, N_BODIES), 3 * joint_row(topology)
    work = workspace(q, moments + 3 * (n + 1))
    joint_angles(topology, parameters, q, work)
    store3(work, moments, ZERO)
    for i in range(1, n + 1):
        store3(work, moments + 3 * i, load3(parameters, body_floats(i) + MOMENT))
    for k in range(n - 1, -1, -1):
        i = by_depth(topology, k)
        there, joint = moments + 3 * load_int(topology, body_ints(i) + PARENT), joint_at(topology, work, i)
        h = load3(work, moments + 3 * i)
        (h,), r = to_parent(joint, parameters, q, (h,)), origin(joint, parameters, q)
        accumulate(work, there, add_scaled(h, load(parameters, body_floats(i) + SUBTREE_MASS), r))
    return load3(work, moments)


def com(topology, parameters, q, c):
    """c (3,)"""
    store3(c, 0, scale(1.0 / total_mass(parameters), total_moment(topology, parameters, q)))


def potential_energy(topology, parameters, q, U):
    """U (1,): -m g . c, zero with the centre of mass at the world's origin."""
    store(U, 0, -dot(load3(parameters, GRAVITY), total_moment(topology, parameters, q)))


def potential_energy_under(topology, parameters, q, g, U):
    """U (1,): as `potential_energy`, under gravity g (3,)."""
    store(U, 0, -dot(load3(g, 0), total_moment(topology, parameters, q)))


def kinetic_energy(topology, parameters, q, v, T):
    """T (1,): 1/2 v^T M v, armature included."""
    n, bodies = load_int(topology, N_BODIES), 3 * joint_row(topology)
    work = workspace(q, bodies + MOTION * (n + 1))
    joint_angles(topology, parameters, q, work)
    store_entries(work, bodies, (*ZERO, *ZERO))
    total = zeros(load(work, 0))[0]
    for k in range(n):
        i = by_depth(topology, k)
        here, there = bodies + MOTION * i, bodies + MOTION * load_int(topology, body_ints(i) + PARENT)
        joint = joint_at(topology, work, i)
        l, w = load3(work, there + LINEAR), load3(work, there + ANGULAR)
        l = add(l, cross(w, origin(joint, parameters, q)))
        l, w = to_child(joint, parameters, q, (l, w))
        w, l = acceleration_terms(joint, parameters, v, w, l)  # velocities add up as accelerations do
        store_entries(work, here, (*l, *w))
        at = body_floats(i)
        m, h, J = load(parameters, at + MASS), load3(parameters, at + MOMENT), load6(parameters, at + SECOND)
        turning = (J[0] + J[3] + J[5]) * dot(w, w) - dot(w, sym_apply(J, w))
        total = total + (m * dot(l, l) + 2.0 * dot(l, cross(w, h)) + turning)
    for j in range(load_int(topology, N_V)):
        total = total + load(parameters, load_int(topology, ARMATURE_AT) + j) * load(v, j) * load(v, j)
    store(T, 0, 0.5 * total)


MOMENT_SIZE = 3  # first moment of a subtree's mass at its root body's origin


def given_gravity(topology, parameters, q, g, tau):
    """tau (nv,) that holds the robot at rest under gravity g (3,)."""
    n, moments, g = load_int(topology, N_BODIES), load_int(topology, FREE_AT), load3(g, 0)
    work = kinematics_workspace(topology, parameters, q, MOMENT_SIZE * (load_int(topology, SINES_AT) + LANES))
    for i in range(0, n + 1, row_step(work)):
        m, c = tile_mass(topology, parameters, work, i)
        h = scale(m, rotate(row_rotation(work, pose_at(topology, work, i)), c))
        put_spaced_rows(work, moments + tile_at(work, MOMENT_SIZE, i), h)
    zero_entries(tau, load_int(topology, N_V))
    for i in range(n, 0, -1):
        m, h = load(parameters, body_floats(i) + SUBTREE_MASS), spaced3(work, moments + tile_at(work, MOMENT_SIZE, i))
        there = moments + tile_at(work, MOMENT_SIZE, parent_of(topology, i))
        add_spaced(work, there, add_scaled(h, m, offset(topology, work, i)))
        force, moment = scale(m, g), cross(h, g)
        for c in range(*column_range(topology, i)):
            at, j = direction_at(topology, c), coordinate(topology, c)
            power = dot(load3(work, at), force) + dot(load3(work, at + 3), moment)
            store(tau, j, load(tau, j) - power)


def gravity(topology, parameters, q, tau):
    """tau (nv,) that holds the robot at rest."""
    given_gravity(topology, parameters, q, from_entry(parameters, GRAVITY), tau)
