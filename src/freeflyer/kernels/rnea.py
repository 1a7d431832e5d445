"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA 2008, table 5.1), in body axes.

Accelerations are classical accelerations of body origins, so linear velocities never appear: forces do not depend on
them (Galilean invariance). Gravity enters as the acceleration of the world, body 0.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    ZERO,
    accumulate3,
    add,
    cross,
    load3,
    load6,
    rotate,
    rotate_back,
    scale,
    store3,
    sym_apply,
)  # fmt: skip
from freeflyer.kernels.joints import accelerate, body_floats, body_ints, joint_angles, joint_row, project, relative_pose
from freeflyer.kernels.layout import (
    ARMATURE_AT,
    COM,
    DEPTH,
    FIRST_V,
    GRAVITY,
    INERTIA,
    KIND,
    MASS,
    MAX_DEPTH,
    N_BODIES,
    N_V,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, store, workspace

BODY = 6  # force and moment at the origin; poses are cheaper to compute again than to keep
LEVEL = 9  # by depth, as bodies come depth-first: w, dw, acceleration going out; force and moment coming back


@inlined
def newton_euler(parameters, at, w, dw, a):
    """Force and moment at the origin that give a body this angular velocity, angular and linear acceleration."""
    c, I = load3(parameters, at + COM), load6(parameters, at + INERTIA)
    force = scale(load(parameters, at + MASS), add(a, add(cross(dw, c), cross(w, cross(w, c)))))
    moment = add(sym_apply(I, dw), cross(w, sym_apply(I, w)))
    return force, add(moment, cross(c, force))


@kernel
def rnea(topology, parameters, q, v, a, tau):
    """tau (nv,) of M(q) a + bias(q, v) = tau."""
    n, row = load_int(topology, N_BODIES), joint_row(topology)
    levels = 3 * row
    bodies = levels + LEVEL * (load_int(topology, MAX_DEPTH) + 2)
    work = workspace(q, bodies + BODY * (n + 1))
    joint_angles(topology, parameters, q, work)
    g = load3(parameters, GRAVITY)
    store3(work, levels, ZERO)
    store3(work, levels + 3, ZERO)
    store3(work, levels + 6, (-g[0], -g[1], -g[2]))
    for i in range(1, n + 1):
        ints, at, here = body_ints(i), body_floats(i), bodies + BODY * i
        level = levels + LEVEL * load_int(topology, ints + DEPTH)
        kind = load_int(topology, ints + KIND)
        s, c = load(work, row + i), load(work, 2 * row + i)
        R, r = relative_pose(topology, parameters, q, i, s, c)
        w, dw, acc = load3(work, level - LEVEL), load3(work, level - LEVEL + 3), load3(work, level - LEVEL + 6)
        acc = add(acc, add(cross(dw, r), cross(w, cross(w, r))))
        w, dw, acc = rotate_back(R, w), rotate_back(R, dw), rotate_back(R, acc)
        w, dw, acc = accelerate(kind, parameters, at, v, a, load_int(topology, ints + FIRST_V), w, dw, acc)
        force, moment = newton_euler(parameters, at, w, dw, acc)
        store3(work, level, w)
        store3(work, level + 3, dw)
        store3(work, level + 6, acc)
        store3(work, here, force)
        store3(work, here + 3, moment)
    armature = load_int(topology, ARMATURE_AT)
    for j in range(load_int(topology, N_V)):
        store(tau, j, load(parameters, armature + j) * load(a, j))
    for k in range(load_int(topology, MAX_DEPTH) + 2):
        store3(work, levels + LEVEL * k, ZERO)
        store3(work, levels + LEVEL * k + 3, ZERO)
    for i in range(n, 0, -1):
        ints, at, here = body_ints(i), body_floats(i), bodies + BODY * i
        level = levels + LEVEL * load_int(topology, ints + DEPTH)
        force = add(load3(work, here), load3(work, level + LEVEL))
        moment = add(load3(work, here + 3), load3(work, level + LEVEL + 3))
        store3(work, level + LEVEL, ZERO)
        store3(work, level + LEVEL + 3, ZERO)
        project(load_int(topology, ints + KIND), parameters, at, force, moment, tau, load_int(topology, ints + FIRST_V))
        R, r = relative_pose(topology, parameters, q, i, load(work, row + i), load(work, 2 * row + i))
        force = rotate(R, force)
        accumulate3(work, level, force)
        accumulate3(work, level + 3, add(rotate(R, moment), cross(r, force)))
