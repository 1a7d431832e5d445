"""The Coriolis matrix of the Hamel equations on SE(3) x R^n (papers/004, (3.32)-(3.39)), for every tree.

The derivative of the momenta M u along a direction S_i follows from dS_j = S_i x S_j and dI = S_i x* I - I S_i x: with
W_i the motion of the body that carries joint i, H_i the momentum and I_i the inertia of what it moves,
d(M u)_j / dq_i = -(I_j S_j) . (S_i x W_i) for j beyond i, and S_j . (S_i x* H_i - I_i (S_i x W_i)) for j before i.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import accumulate3, add, cross, dot, load3, load6, subtract
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.brackets import add_bracket_forces
from freeflyer.kernels.model.layout import ARMATURE_AT, FREE_AT, MASS, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.tree.composite import (
    ANGULAR,
    COMPOSITE,
    H_AT,
    I_AT,
    LINEAR,
    MOTION,
    body_inertia,
    column_range,
    composite_inertias,
    coordinate,
    direction_at,
    momentum,
    parent_of,
    velocities,
)  # fmt: skip
from freeflyer.kernels.tree.coriolis import coriolis, motion_cross
from freeflyer.kernels.tree.crba import crba
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import offset, rotation

MOMENTUM = 6  # of a subtree: linear and angular


@inlined
def add_to(C, k, x):
    store(C, k, load(C, k) + x)


@kernel
def momentum_gradient(topology, parameters, work, composites, u, motions, momenta, nv, sign, D):
    """D (nv, nv) grows by sign * d (M u)_j / d q_i: rows are directions i, columns momenta j; u (nv,) is held fixed."""
    n = load_int(topology, N_BODIES)
    velocities(topology, work, u, motions)
    for k in range(MOMENTUM * (n + 1)):
        store(work, momenta + k, 0.0)
    for i in range(n, 0, -1):  # momenta of subtrees
        h, I = body_inertia(parameters, i, rotation(topology, work, i))
        l, w = load3(work, motions + MOTION * i + LINEAR), load3(work, motions + MOTION * i + ANGULAR)
        f, t = momentum(load(parameters, body_floats(i) + MASS), h, I, l, w)
        here, there = momenta + MOMENTUM * i, momenta + MOMENTUM * parent_of(topology, i)
        accumulate3(work, here + LINEAR, f)
        accumulate3(work, here + ANGULAR, t)
        f, t = load3(work, here + LINEAR), load3(work, here + ANGULAR)
        accumulate3(work, there + LINEAR, f)
        accumulate3(work, there + ANGULAR, add(t, cross(offset(topology, work, i), f)))
    for i in range(n, 0, -1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        h, I = load3(work, composites + COMPOSITE * i + H_AT), load6(work, composites + COMPOSITE * i + I_AT)
        P, Q = load3(work, momenta + MOMENTUM * i + LINEAR), load3(work, momenta + MOMENTUM * i + ANGULAR)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, row = direction_at(topology, c), coordinate(topology, c)
            l, w = load3(work, at), load3(work, at + 3)
            X, Y = side_motion(topology, work, motions, i, l, w)
            f, t = momentum(m, h, I, X, Y)
            f, t = subtract(cross(w, P), f), subtract(add(cross(w, Q), cross(l, P)), t)  # S x* H - I (S x W)
            F, T = momentum(m, h, I, l, w)
            for d in range(first, end):
                to = direction_at(topology, d)
                X, Y = side_motion(topology, work, motions, i, load3(work, to), load3(work, to + 3))
                add_to(D, nv * coordinate(topology, d) + row, -sign * (dot(F, X) + dot(T, Y)))
            b = i
            while parent_of(topology, b) > 0:
                r = offset(topology, work, b)
                t, T = add(t, cross(r, f)), add(T, cross(r, F))
                b = parent_of(topology, b)
                last, above = column_range(topology, b)
                for d in range(last, above):
                    to, j = direction_at(topology, d), coordinate(topology, d)
                    L, W = load3(work, to), load3(work, to + 3)
                    X, Y = side_motion(topology, work, motions, b, L, W)
                    add_to(D, nv * row + j, sign * (dot(f, L) + dot(t, W)))
                    add_to(D, nv * j + row, -sign * (dot(F, X) + dot(T, Y)))


@inlined
def side_motion(topology, work, motions, i, l, w):
    """(l, w) x the motion, at body i's origin, of the body that carries body i's joint."""
    there, r = motions + MOTION * parent_of(topology, i), offset(topology, work, i)
    W = load3(work, there + ANGULAR)
    return motion_cross(l, w, add(load3(work, there + LINEAR), cross(W, r)), W)


@kernel
def hamel_coriolis(topology, parameters, q, v, C):
    """C (nv, nv) of the Hamel equations, papers/004 (3.39): C v = bias - gravity, but Mdot - 2 C is not skew.

    b is the floating joint of a root body, q all other joints. Rows of joints whose coordinates do not commute (the base,
    balls) carry the structure term -ad(v)^T M; rows of q the derivatives of M, of which the mixed one, M_bq,q, goes whole to
    C_qq.
    """
    n, nv, composites = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    motions = composites + COMPOSITE * (n + 1)
    momenta = motions + MOTION * (n + 1)
    M, P, D = workspace(q, nv * nv), workspace(q, nv * nv), workspace(q, nv * nv)
    base, rest = workspace(q, nv), workspace(q, nv)
    crba(topology, parameters, q, M)
    coriolis(topology, parameters, q, v, P)
    work = kinematics_workspace(topology, parameters, q, (COMPOSITE + MOTION + MOMENTUM) * (n + 1))
    composite_inertias(topology, parameters, work, composites)
    for j in range(nv):
        store(base, j, 0.0)
        store(rest, j, load(v, j))
    for i in range(1, n + 1):
        if root_floating(topology, i):
            first = coordinate(topology, column_range(topology, i)[0])
            for k in range(6):
                store(base, first + k, load(v, first + k))
                store(rest, first + k, 0.0)
    for j in range(nv * nv):
        store(D, j, 0.0)
    momentum_gradient(topology, parameters, work, composites, base, motions, momenta, nv, 1.0, D)
    for i in range(1, n + 1):  # only half of d(v_b^T M_bb) counts
        if root_floating(topology, i):
            first = coordinate(topology, column_range(topology, i)[0])
            for row in range(nv):
                for k in range(6):
                    store(D, nv * row + first + k, 0.5 * load(D, nv * row + first + k))
    store_half(topology, parameters, work, composites, rest, motions, momenta, nv, q, D)
    for i in range(nv):
        for j in range(nv):
            k = nv * i + j
            store(C, k, load(P, k) + load(P, nv * j + i) - load(D, k))
    for j in range(nv):  # a rotor's spin has no structure term: bias forces have none, either
        store(M, nv * j + j, load(M, nv * j + j) - load(parameters, load_int(topology, ARMATURE_AT) + j))
    for i in range(1, n + 1):
        add_bracket_forces(topology, i, v, M, nv, C)


@inlined
def root_floating(topology, i):
    first, end = column_range(topology, i)
    return parent_of(topology, i) == 0 and end - first == 6


@kernel
def store_half(topology, parameters, work, composites, rest, motions, momenta, nv, q, D):
    """D grows by half of d(v_q^T M_qq): the columns of the base do not count."""
    E = workspace(q, nv * nv)
    for k in range(nv * nv):
        store(E, k, 0.0)
    momentum_gradient(topology, parameters, work, composites, rest, motions, momenta, nv, 0.5, E)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if root_floating(topology, i):
            first = coordinate(topology, column_range(topology, i)[0])
            for row in range(nv):
                for k in range(6):
                    store(E, nv * row + first + k, 0.0)
    for k in range(nv * nv):
        store(D, k, load(D, k) + load(E, k))
