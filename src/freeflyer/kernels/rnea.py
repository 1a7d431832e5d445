"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA 2008, table 5.1), in world axes.

Accelerations are classical accelerations of body origins, so linear velocities never appear: forces do not depend on
them (Galilean invariance). Gravity enters as the acceleration of the world, body 0.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    accumulate3, add, add_scaled, cross, dot, load3, load6, load9, rotate, rotate_back, scale, store3, sym_apply,
)  # fmt: skip
from freeflyer.kernels.kinematics import ZERO, body_floats, body_ints, kinematics_workspace
from freeflyer.kernels.layout import (
    ARMATURE_AT, COLUMN_COUNT, COLUMN_INTS, COLUMNS_AT, COM, COORDINATE, DIRECTION, DIRECTIONS_AT, FIRST_COLUMN, FREE_AT,
    GRAVITY, INERTIA, MASS, N_BODIES, N_V, PARENT, POSE, POSES_AT,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, store

STATE = 15  # angular velocity, angular and linear acceleration, force, moment at the body's origin


@inlined
def joint_motion(topology, work, ints, rates, linear, angular):
    """(linear, angular) plus the sum of a body's columns times its rates."""
    first, count = load_int(topology, ints + FIRST_COLUMN), load_int(topology, ints + COLUMN_COUNT)
    to = load_int(topology, DIRECTIONS_AT) + DIRECTION * first
    owner = load_int(topology, COLUMNS_AT) + COLUMN_INTS * first + COORDINATE
    for k in range(count):
        rate = load(rates, load_int(topology, owner + COLUMN_INTS * k))
        linear = add_scaled(linear, rate, load3(work, to + DIRECTION * k))
        angular = add_scaled(angular, rate, load3(work, to + DIRECTION * k + 3))
    return linear, angular


@inlined
def zeros_like(rates):
    """Three zeros of the kind of scalar that `rates` holds."""
    zero = 0.0 * load(rates, 0)
    return zero, zero, zero


@inlined
def newton_euler(parameters, at, R, w, dw, a):
    """Force and moment at the origin that give a body this angular velocity, angular and linear acceleration."""
    c = rotate(R, load3(parameters, at + COM))
    force = scale(load(parameters, at + MASS), add(a, add(cross(dw, c), cross(w, cross(w, c)))))
    w_B, dw_B, I = rotate_back(R, w), rotate_back(R, dw), load6(parameters, at + INERTIA)
    moment = rotate(R, add(sym_apply(I, dw_B), cross(w_B, sym_apply(I, w_B))))
    return force, add(moment, cross(c, force))


@kernel
def rnea(topology, parameters, q, v, a, tau):
    """tau (nv,) of M(q) a + bias(q, v) = tau."""
    n, free = load_int(topology, N_BODIES), load_int(topology, FREE_AT)
    poses = load_int(topology, POSES_AT)
    work = kinematics_workspace(topology, parameters, q, STATE * (n + 1))
    g, zero = load3(parameters, GRAVITY), zeros_like(v)
    store3(work, free, ZERO)
    store3(work, free + 3, ZERO)
    store3(work, free + 6, (-g[0], -g[1], -g[2]))
    for i in range(1, n + 1):
        ints, here = body_ints(i), free + STATE * i
        there = free + STATE * load_int(topology, ints + PARENT)
        pose = poses + POSE * i
        R, r = load9(work, pose), load3(work, pose + 9)
        w_p, dw_p, a_p = load3(work, there), load3(work, there + 3), load3(work, there + 6)
        slip, spin = joint_motion(topology, work, ints, v, zero, zero)
        dslip, dspin = joint_motion(topology, work, ints, a, zero, zero)
        w = add(w_p, spin)
        dw = add(add(dw_p, dspin), cross(w, spin))
        acc = add(add(a_p, cross(dw_p, r)), cross(w_p, add(cross(w_p, r), slip)))
        acc = add(add(acc, dslip), cross(w, slip))
        force, moment = newton_euler(parameters, body_floats(i), R, w, dw, acc)
        store3(work, here, w)
        store3(work, here + 3, dw)
        store3(work, here + 6, acc)
        store3(work, here + 9, force)
        store3(work, here + 12, moment)
    store3(work, free + 9, ZERO)
    store3(work, free + 12, ZERO)
    armature = load_int(topology, ARMATURE_AT)
    for j in range(load_int(topology, N_V)):
        store(tau, j, load(parameters, armature + j) * load(a, j))
    for i in range(n, 0, -1):
        ints, here = body_ints(i), free + STATE * i
        there = free + STATE * load_int(topology, ints + PARENT)
        force, moment = load3(work, here + 9), load3(work, here + 12)
        project(topology, work, ints, force, moment, tau)
        r = load3(work, poses + POSE * i + 9)
        accumulate3(work, there + 9, force)
        accumulate3(work, there + 12, add(moment, cross(r, force)))


@inlined
def project(topology, work, ints, force, moment, tau):
    """tau grows by a wrench's power along each column of a body."""
    first, count = load_int(topology, ints + FIRST_COLUMN), load_int(topology, ints + COLUMN_COUNT)
    to = load_int(topology, DIRECTIONS_AT) + DIRECTION * first
    owner = load_int(topology, COLUMNS_AT) + COLUMN_INTS * first + COORDINATE
    for k in range(count):
        j = load_int(topology, owner + COLUMN_INTS * k)
        power = dot(force, load3(work, to + DIRECTION * k)) + dot(moment, load3(work, to + DIRECTION * k + 3))
        store(tau, j, load(tau, j) + power)
