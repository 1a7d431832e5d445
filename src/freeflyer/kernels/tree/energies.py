"""Centre of mass and energies in body axes: no body's pose in the world is formed.

First moments of mass add up inward, from each subtree to its parent's origin; velocities of origins go outward.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO,
    accumulate3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load6,
    scale,
    store3,
    sym_apply,
)
from freeflyer.kernels.model.joints import body_floats, body_ints, by_depth, drive, joint_angles, joint_row
from freeflyer.kernels.model.layout import (
    ARMATURE_AT,
    FIRST_V,
    GRAVITY,
    MASS,
    MOMENT,
    N_BODIES,
    N_V,
    PARENT,
    SECOND,
    SUBTREE_MASS,
)
from freeflyer.kernels.model.plane_turns import joint_of, origin, to_child, to_parent
from freeflyer.kernels.tree.centroidal import total_mass
from freeflyer.kernels.tree.composite import zeros

MOVING = 6  # velocity of a body's origin, angular velocity; in its own axes


@kernel
def total_moment(topology, parameters, q, work, moments):
    """First moment of mass of all moving bodies about the world's origin, left in the first three entries of `moments`."""
    n = load_int(topology, N_BODIES)
    joint_angles(topology, parameters, q, work)
    store3(work, moments, ZERO)
    for i in range(1, n + 1):
        store3(work, moments + 3 * i, load3(parameters, body_floats(i) + MOMENT))
    for k in range(n - 1, -1, -1):
        i = by_depth(topology, k)
        at, there = body_floats(i), moments + 3 * load_int(topology, body_ints(i) + PARENT)
        kind, first, x, s, c = joint_of(topology, work, i)
        h = load3(work, moments + 3 * i)
        h, _ = to_parent(kind, parameters, at, q, first, s, c, h, h)
        r = origin(kind, parameters, at, q, first, x)
        accumulate3(work, there, add_scaled(h, load(parameters, at + SUBTREE_MASS), r))


@inlined
def moment_workspace(topology, q):
    """(work, where its moments begin)."""
    moments = 3 * joint_row(topology)
    return workspace(q, moments + 3 * (load_int(topology, N_BODIES) + 1)), moments


@kernel
def com(topology, parameters, q, c):
    """c (3,)"""
    work, moments = moment_workspace(topology, q)
    total_moment(topology, parameters, q, work, moments)
    store3(c, 0, scale(1.0 / total_mass(parameters), load3(work, moments)))


@kernel
def potential_energy(topology, parameters, q, U):
    """U (1,): -m g . c, zero with the centre of mass at the world's origin."""
    work, moments = moment_workspace(topology, q)
    total_moment(topology, parameters, q, work, moments)
    store(U, 0, -dot(load3(parameters, GRAVITY), load3(work, moments)))


@inlined
def twice_kinetic(parameters, at, l, w):
    """Of one body whose origin moves at l and that turns at w."""
    m, h, J = load(parameters, at + MASS), load3(parameters, at + MOMENT), load6(parameters, at + SECOND)
    turning = (J[0] + J[3] + J[5]) * dot(w, w) - dot(w, sym_apply(J, w))
    return m * dot(l, l) + 2.0 * dot(l, cross(w, h)) + turning


@kernel
def kinetic_energy(topology, parameters, q, v, T):
    """T (1,): 1/2 v^T M v, armature included."""
    n, bodies = load_int(topology, N_BODIES), 3 * joint_row(topology)
    work = workspace(q, bodies + MOVING * (n + 1))
    joint_angles(topology, parameters, q, work)
    store3(work, bodies, ZERO)
    store3(work, bodies + 3, ZERO)
    total = zeros(load(work, 0))[0]
    for k in range(n):
        i = by_depth(topology, k)
        ints, at, here = body_ints(i), body_floats(i), bodies + MOVING * i
        there = bodies + MOVING * load_int(topology, ints + PARENT)
        kind, first, x, s, c = joint_of(topology, work, i)
        l, w = load3(work, there), load3(work, there + 3)
        l = add(l, cross(w, origin(kind, parameters, at, q, first, x)))
        l, w, _ = to_child(kind, parameters, at, q, first, s, c, l, w, w)
        w, l = drive(kind, parameters, at, v, load_int(topology, ints + FIRST_V), w, l)
        store3(work, here, l)
        store3(work, here + 3, w)
        total = total + twice_kinetic(parameters, at, l, w)
    for j in range(load_int(topology, N_V)):
        total = total + load(parameters, load_int(topology, ARMATURE_AT) + j) * load(v, j) * load(v, j)
    store(T, 0, 0.5 * total)
