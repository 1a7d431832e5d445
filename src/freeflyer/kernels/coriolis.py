"""The passive Coriolis matrix, Mdot = C + C^T.

Seen as a cloud of particles with Jacobians J, a robot has M = sum m J^T J and C = sum m J^T Jdot, which is passive by
construction. For a subtree this needs its first moment and inertia, its linear momentum p and the matrix
K = sum (x . xdot) 1 - xdot x^T: the factor of the velocity-dependent part, [0, -p x; 0, K]. The recursion over pairs of
columns is that of S. Echeandia, P. M. Wensing, Numerical Methods to Compute the Coriolis Matrix (2021). World axes at body
origins; motions here are spatial: the linear part is the velocity of the body's point at the origin.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    ZERO, accumulate3, add, add_scaled, cross, dot, load3, load6, load9, rotate, rotate_back, store3, store9, subtract,
)  # fmt: skip
from freeflyer.kernels.composite import (
    COMPOSITE, MOTION, body_inertia, column_range, composite_inertias, coordinate, direction_at, parent_of, pose_at,
    velocities,
)  # fmt: skip
from freeflyer.kernels.crba import momentum
from freeflyer.kernels.joints import body_floats
from freeflyer.kernels.kinematics import kinematics_workspace
from freeflyer.kernels.layout import FREE_AT, MASS, N_BODIES, N_COLUMNS, N_V, SUBTREE_MASS
from freeflyer.kernels.memory import load, load_int, store

RATE = 12  # of a subtree: linear momentum (3) and K (9)
COLUMN = 6  # a column's own rate of change


@inlined
def motion_cross(l, w, L, W):
    """(l, w) x (L, W), spatial motions at one point."""
    return add(cross(w, L), cross(l, W)), cross(w, W)


@inlined
def trace_minus(t, x, y):
    """t 1 - x y^T"""
    return (
        t - x[0] * y[0], -(x[0] * y[1]), -(x[0] * y[2]), -(x[1] * y[0]), t - x[1] * y[1], -(x[1] * y[2]),
        -(x[2] * y[0]), -(x[2] * y[1]), t - x[2] * y[2],
    )  # fmt: skip


@inlined
def particle_rates(m, h, I, l, w):
    """Linear momentum and K of a rigid body moving with (l, w), from mass, first moment and inertia at the point."""
    t = 0.5 * (I[0] + I[3] + I[5])
    # second moment Sigma = t 1 - I; xdot = l + w x x, so sum xdot x^T = l h^T + [w]x Sigma, with trace l . h
    x = cross(w, (t - I[0], -I[1], -I[2]))
    y = cross(w, (-I[1], t - I[3], -I[4]))
    z = cross(w, (-I[2], -I[4], t - I[5]))
    K = trace_minus(dot(l, h), l, h)
    return add_scaled(cross(w, h), m, l), (
        K[0] - x[0], K[1] - y[0], K[2] - z[0], K[3] - x[1], K[4] - y[1], K[5] - z[1], K[6] - x[2], K[7] - y[2], K[8] - z[2],
    )  # fmt: skip


@inlined
def accumulate9(work, at, K):
    accumulate3(work, at, (K[0], K[1], K[2]))
    accumulate3(work, at + 3, (K[3], K[4], K[5]))
    accumulate3(work, at + 6, (K[6], K[7], K[8]))


@kernel
def composite_rates(topology, parameters, work, motions, to, directions):
    """Writes p and K of every subtree, from `to` on, and the rates of all columns, from `directions` on."""
    n = load_int(topology, N_BODIES)
    for k in range(4):
        store3(work, to + 3 * k, ZERO)
    for i in range(1, n + 1):
        h, I = body_inertia(parameters, i, load9(work, pose_at(topology, i)))
        l, w = load3(work, motions + MOTION * i), load3(work, motions + MOTION * i + 3)
        p, K = particle_rates(load(parameters, body_floats(i) + MASS), h, I, l, w)
        store3(work, to + RATE * i, p)
        store9(work, to + RATE * i + 3, K)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at = direction_at(topology, c)
            L, W = motion_cross(l, w, load3(work, at), load3(work, at + 3))
            store3(work, directions + COLUMN * c, L)
            store3(work, directions + COLUMN * c + 3, W)
    for i in range(n, 0, -1):
        here, there = to + RATE * i, to + RATE * parent_of(topology, i)
        p, r = load3(work, here), load3(work, pose_at(topology, i) + 9)
        accumulate3(work, there, p)
        accumulate9(work, there + 3, load9(work, here + 3))
        accumulate9(work, there + 3, trace_minus(dot(r, p), p, r))


@inlined
def add_to(C, k, x):
    store(C, k, load(C, k) + x)


@kernel
def coriolis(topology, parameters, q, v, C):
    """C (nv, nv) with C v = bias - gravity and Mdot = C + C^T."""
    n, nv, composites = load_int(topology, N_BODIES), load_int(topology, N_V), load_int(topology, FREE_AT)
    motions = composites + COMPOSITE * (n + 1)
    rates = motions + MOTION * (n + 1)
    columns = rates + RATE * (n + 1)
    extra = (COMPOSITE + MOTION + RATE) * (n + 1) + COLUMN * load_int(topology, N_COLUMNS)
    work = kinematics_workspace(topology, parameters, q, extra)
    composite_inertias(topology, parameters, work, composites)
    velocities(topology, work, v, motions)
    composite_rates(topology, parameters, work, motions, rates, columns)
    for k in range(nv * nv):
        store(C, k, 0.0)
    for i in range(n, 0, -1):
        m = load(parameters, body_floats(i) + SUBTREE_MASS)
        h, I = load3(work, composites + COMPOSITE * i), load6(work, composites + COMPOSITE * i + 3)
        p, K = load3(work, rates + RATE * i), load9(work, rates + RATE * i + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, row = direction_at(topology, c), coordinate(topology, c)
            l, w = load3(work, at), load3(work, at + 3)
            f, t = momentum(m, h, I, load3(work, columns + COLUMN * c), load3(work, columns + COLUMN * c + 3))
            f, t = subtract(f, cross(p, w)), add(t, rotate(K, w))  # I Sdot + B S
            F, T = momentum(m, h, I, l, w)
            G = add(cross(p, l), rotate_back(K, w))  # B^T S, a pure moment
            b, last = i, c
            for d in range(first, end):
                to, j = direction_at(topology, d), coordinate(topology, d)
                add_to(C, nv * j + row, dot(f, load3(work, to)) + dot(t, load3(work, to + 3)))
            while parent_of(topology, b) > 0:
                r = load3(work, pose_at(topology, b) + 9)
                t, T = add(t, cross(r, f)), add(T, cross(r, F))
                b = parent_of(topology, b)
                last, above = column_range(topology, b)
                for d in range(last, above):
                    to, j = direction_at(topology, d), coordinate(topology, d)
                    L, W, S = load3(work, columns + COLUMN * d), load3(work, columns + COLUMN * d + 3), load3(work, to + 3)
                    add_to(C, nv * j + row, dot(f, load3(work, to)) + dot(t, S))
                    add_to(C, nv * row + j, dot(F, L) + dot(T, W) + dot(G, S))
