"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA 2008, table 5.1), in body axes.

Accelerations are classical accelerations of body origins, so linear velocities never appear: forces do not depend on
them (Galilean invariance). Gravity enters as the acceleration of the world, body 0.
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
    load3,
    load6,
    rotate,
    store3,
    turning,
)
from freeflyer.kernels.model.joints import (
    body_floats,
    body_ints,
    by_depth,
    coast,
    drive,
    joint_angles,
    joint_row,
    project,
)
from freeflyer.kernels.model.layout import ARMATURE_AT, FIRST_V, GRAVITY, MASS, MOMENT, N_BODIES, N_V, PARENT, SECOND
from freeflyer.kernels.model.plane_turns import joint_of, origin, to_child, to_parent
from freeflyer.kernels.tree.armature import add_armature_forces

BODY = 15  # w, dw, acceleration, force and moment at the origin; poses are cheaper to compute again than to keep


@inlined
def newton_euler(parameters, at, T, acc):
    """Force and moment at the origin, of a body's acceleration there and of how it turns."""
    h, J = load3(parameters, at + MOMENT), load6(parameters, at + SECOND)
    force = add_scaled(rotate(T, h), load(parameters, at + MASS), acc)
    return force, add(cross(h, acc), (
        (T[6] * J[1] + T[7] * J[3] + T[8] * J[4]) - (T[3] * J[2] + T[4] * J[4] + T[5] * J[5]),
        (T[0] * J[2] + T[1] * J[4] + T[2] * J[5]) - (T[6] * J[0] + T[7] * J[1] + T[8] * J[2]),
        (T[3] * J[0] + T[4] * J[1] + T[5] * J[2]) - (T[0] * J[1] + T[1] * J[3] + T[2] * J[4]),
    ))  # fmt: skip


@kernel
def rnea(topology, parameters, q, v, a, tau):
    """tau (nv,) of M(q) a + bias(q, v) = tau."""
    n, bodies = load_int(topology, N_BODIES), 3 * joint_row(topology)
    work = workspace(q, bodies + BODY * (n + 1))
    joint_angles(topology, parameters, q, work)
    g = load3(parameters, GRAVITY)
    store3(work, bodies, ZERO)
    store3(work, bodies + 3, ZERO)
    store3(work, bodies + 6, (-g[0], -g[1], -g[2]))
    for k in range(n):
        i = by_depth(topology, k)
        ints, at, here = body_ints(i), body_floats(i), bodies + BODY * i
        there, j = bodies + BODY * load_int(topology, ints + PARENT), load_int(topology, ints + FIRST_V)
        kind, first, x, s, c = joint_of(topology, work, i)
        w, dw = load3(work, there), load3(work, there + 3)
        acc = add(load3(work, there + 6), rotate(turning(w, dw), origin(kind, parameters, at, q, first, x)))
        w, dw, acc = to_child(kind, parameters, at, q, first, s, c, w, dw, acc)
        w, dw, acc = coast(kind, parameters, at, v, j, w, dw, acc)
        dw, acc = drive(kind, parameters, at, a, j, dw, acc)
        force, moment = newton_euler(parameters, at, turning(w, dw), acc)
        store3(work, here, w)
        store3(work, here + 3, dw)
        store3(work, here + 6, acc)
        store3(work, here + 9, force)
        store3(work, here + 12, moment)
    armature = load_int(topology, ARMATURE_AT)
    for j in range(load_int(topology, N_V)):
        store(tau, j, load(parameters, armature + j) * load(a, j))
    add_armature_forces(topology, parameters, v, 1.0, tau, 0)
    for k in range(n - 1, -1, -1):
        i = by_depth(topology, k)
        ints, at, here = body_ints(i), body_floats(i), bodies + BODY * i
        force, moment = load3(work, here + 9), load3(work, here + 12)
        kind, first, x, s, c = joint_of(topology, work, i)
        project(kind, parameters, at, force, moment, tau, load_int(topology, ints + FIRST_V))
        parent = load_int(topology, ints + PARENT)
        if parent > 0:
            force, moment = to_parent(kind, parameters, at, q, first, s, c, force, moment)
            r, there = origin(kind, parameters, at, q, first, x), bodies + BODY * parent
            accumulate3(work, there + 9, force)
            accumulate3(work, there + 12, add(moment, cross(r, force)))
