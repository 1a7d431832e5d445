"""The Coriolis matrix of the Hamel equations on SE(3) x R^n (papers/004, (3.32)-(3.39)), for every tree.

The derivative of the momenta M u along a direction S_i follows from dS_j = S_i x S_j and dI = S_i x* I - I S_i x: with
W_i the motion of the body that carries joint i, H_i the momentum and I_i the inertia of what it moves,
d(M u)_j / dq_i = -(I_j S_j) . (S_i x W_i) for j beyond i, and S_j . (S_i x* H_i - I_i (S_i x W_i)) for j before i.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import load3, load6
from freeflyer.kernels.math.spatial import (
    accumulate_spatial,
    force_cross,
    inertia_times,
    load_spatial,
    motion_cross,
    shift_force_back,
    shift_motion,
    spatial_dot,
    spatial_subtract,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.brackets import add_bracket_forces
from freeflyer.kernels.model.layout import FREE_AT, MASS, N_BODIES, N_V, SUBTREE_MASS
from freeflyer.kernels.tree.composite import (
    COMPOSITE,
    MOTION,
    SECOND_MOMENT,
    body_inertia,
    column_range,
    composite_inertias,
    coordinate,
    direction_at,
    parent_of,
    velocities,
)
from freeflyer.kernels.tree.coriolis import coriolis
from freeflyer.kernels.tree.crba import crba
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import offset, rotation


@inlined
def add_to(C, k, x):
    store(C, k, load(C, k) + x)


@kernel
def momentum_gradient(topology, parameters, work, composites, u, motions, momenta, nv, sign, D):
    """D (nv, nv) grows by sign * d (M u)_j / d q_i: rows are directions i, columns momenta j; u (nv,) is held fixed."""
    n = load_int(topology, N_BODIES)
    velocities(topology, work, u, motions)
    for k in range(6 * (n + 1)):
        store(work, momenta + k, 0.0)
    for i in range(n, 0, -1):  # momenta of subtrees
        h, I = body_inertia(parameters, i, rotation(topology, work, i))
        P = inertia_times(load(parameters, body_floats(i) + MASS), h, I, load_spatial(work, motions + MOTION * i))
        accumulate_spatial(work, momenta + 6 * i, P)
        P = shift_force_back(load_spatial(work, momenta + 6 * i), offset(topology, work, i))
        accumulate_spatial(work, momenta + 6 * parent_of(topology, i), P)
    for i in range(n, 0, -1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        h, I = load3(work, composites + COMPOSITE * i), load6(work, composites + COMPOSITE * i + SECOND_MOMENT)
        P = load_spatial(work, momenta + 6 * i)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, row = direction_at(topology, c), coordinate(topology, c)
            S = load_spatial(work, at)
            f = spatial_subtract(force_cross(S, P), inertia_times(m, h, I, side_motion(topology, work, motions, i, S)))
            F = inertia_times(m, h, I, S)
            for d in range(first, end):
                X = side_motion(topology, work, motions, i, load_spatial(work, direction_at(topology, d)))
                add_to(D, nv * coordinate(topology, d) + row, -sign * spatial_dot(X, F))
            b = i
            while parent_of(topology, b) > 0:
                r = offset(topology, work, b)
                f, F = shift_force_back(f, r), shift_force_back(F, r)
                b = parent_of(topology, b)
                last, above = column_range(topology, b)
                for d in range(last, above):
                    to, j = direction_at(topology, d), coordinate(topology, d)
                    S = load_spatial(work, to)
                    X = side_motion(topology, work, motions, b, S)
                    add_to(D, nv * row + j, sign * spatial_dot(S, f))
                    add_to(D, nv * j + row, -sign * spatial_dot(X, F))


@inlined
def side_motion(topology, work, motions, i, S):
    """S x the motion, at body i's origin, of the body that carries body i's joint."""
    V = load_spatial(work, motions + MOTION * parent_of(topology, i))
    return motion_cross(S, shift_motion(V, offset(topology, work, i)))


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
    work = kinematics_workspace(topology, parameters, q, (COMPOSITE + MOTION + 6) * (n + 1))
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
