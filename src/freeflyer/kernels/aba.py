"""Forward dynamics: the articulated-body algorithm (RBDA 2008, table 7.1), in world axes at body origins.

An articulated inertia is [A B; B^T C], mapping (linear, angular) acceleration to (force, moment). A joint of several
degrees of freedom is eliminated column by column, like a chain of one-DoF joints without bodies between them: so no
joint kind needs a matrix inverse of its own. Accelerations are classical ones of body origins.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    ZERO,
    accumulate3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load6,
    load9,
    rotate,
    store3,
    store6,
    store9,
    sym_add,
    sym_apply,
)  # fmt: skip
from freeflyer.kernels.columns import inertia_of, inertia_tiles, own_inertias
from freeflyer.kernels.composite import (
    column_range,
    coordinate,
    direction_at,
    joint_motion,
    parent_of,
    zeros,
)  # fmt: skip
from freeflyer.kernels.joints import body_floats
from freeflyer.kernels.kinematics import kinematics_workspace
from freeflyer.kernels.layout import ARMATURE_AT, FREE_AT, GRAVITY, MASS, N_BODIES, N_COLUMNS
from freeflyer.kernels.memory import load, load_int, store
from freeflyer.kernels.pack import select_less
from freeflyer.kernels.poses import offset

SINGULAR = 1e-26  # squared cosine between a column and its articulated inertia times it
NAN = float("nan")
BODY = 36  # A (6), B (9), C (6), bias force and moment (6), bias acceleration (6), angular velocity (3)
ELIMINATED = 8  # a column's U (6), 1 / d, u


@inlined
def articulated_apply(A, B, C, l, w):
    """[A B; B^T C] (l, w)"""
    force = add(sym_apply(A, l), rotate(B, w))
    moment = add(sym_apply(C, w), (
        B[0] * l[0] + B[3] * l[1] + B[6] * l[2], B[1] * l[0] + B[4] * l[1] + B[7] * l[2], B[2] * l[0] + B[5] * l[1] + B[8] * l[2],
    ))  # fmt: skip
    return force, moment


@inlined
def sym_outer(S, s, a):
    """S - s a a^T"""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (
        S[0] - x * a[0], S[1] - x * a[1], S[2] - x * a[2], S[3] - y * a[1], S[4] - y * a[2], S[5] - z * a[2],
    )  # fmt: skip


@inlined
def outer(B, s, a, b):
    """B - s a b^T"""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (
        B[0] - x * b[0], B[1] - x * b[1], B[2] - x * b[2], B[3] - y * b[0], B[4] - y * b[1], B[5] - y * b[2],
        B[6] - z * b[0], B[7] - z * b[1], B[8] - z * b[2],
    )  # fmt: skip


@inlined
def shifted(A, B, C, r):
    """B and C of an articulated inertia at the parent's origin, from which its own origin is at r (A stays)."""
    x = cross((A[0], A[1], A[2]), r)
    y = cross((A[1], A[3], A[4]), r)
    z = cross((A[2], A[4], A[5]), r)
    D = (
        B[0] - x[0],
        B[1] - x[1],
        B[2] - x[2],
        B[3] - y[0],
        B[4] - y[1],
        B[5] - y[2],
        B[6] - z[0],
        B[7] - z[1],
        B[8] - z[2],
    )
    # C + [r]x B + ([r]x D)^T
    return D, (
        C[0] + (r[1] * B[6] - r[2] * B[3]) + (r[1] * D[6] - r[2] * D[3]),
        C[1] + (r[1] * B[7] - r[2] * B[4]) + (r[2] * D[0] - r[0] * D[6]),
        C[2] + (r[1] * B[8] - r[2] * B[5]) + (r[0] * D[3] - r[1] * D[0]),
        C[3] + (r[2] * B[1] - r[0] * B[7]) + (r[2] * D[1] - r[0] * D[7]),
        C[4] + (r[2] * B[2] - r[0] * B[8]) + (r[0] * D[4] - r[1] * D[1]),
        C[5] + (r[0] * B[5] - r[1] * B[2]) + (r[0] * D[5] - r[1] * D[2]),
    )


@inlined
def eliminated(A, B, C, l, w, armature):
    """(U, V, 1 / d, A, B, C): an articulated inertia once it may move freely along the column (l, w).

    1 / d is NaN where the column moves no inertia.
    """
    U, V = articulated_apply(A, B, C, l, w)
    d = dot(l, U) + dot(w, V) + armature
    size = (dot(U, U) + dot(V, V)) * (dot(l, l) + dot(w, w))
    inverse = select_less(SINGULAR * size, d * d, 1.0, NAN) / d
    return U, V, inverse, sym_outer(A, inverse, U), outer(B, inverse, U, V), sym_outer(C, inverse, V)


@inlined
def hand_over(work, there, A, B, C, r):
    """Adds an articulated inertia, its origin at r from the parent's, to the parent's (21 numbers at `there`)."""
    D, E = shifted(A, B, C, r)
    store6(work, there, sym_add(load6(work, there), A))
    B = load9(work, there + 6)
    store9(work, there + 6, (
        B[0] + D[0], B[1] + D[1], B[2] + D[2], B[3] + D[3], B[4] + D[4], B[5] + D[5], B[6] + D[6], B[7] + D[7], B[8] + D[8],
    ))  # fmt: skip
    store6(work, there + 15, sym_add(load6(work, there + 15), E))


@inlined
def store_rigid(parameters, work, i, inertias, here):
    """Writes body i's inertia as an articulated one; returns first moment and inertia."""
    h, I = inertia_of(work, inertias, i)
    m, z = load(parameters, body_floats(i) + MASS), 0.0 * h[0]
    store6(work, here, (z + m, z, z, z + m, z, z + m))
    store9(work, here + 6, (z, h[2], -h[1], -h[2], z, h[0], h[1], -h[0], z))
    store6(work, here + 15, I)
    return h, I


@kernel
def bias_motions(topology, parameters, v, work, inertias, bodies):
    """Outward: inertias, angular velocities, bias accelerations and forces of all bodies."""
    store3(work, bodies + 33, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        here = bodies + BODY * i
        r = offset(topology, work, i)
        w_p = load3(work, bodies + BODY * parent_of(topology, i) + 33)
        zero = zeros(r[0])
        slip, spin = joint_motion(topology, work, i, v, zero, zero)
        w = add(w_p, spin)
        h, I = store_rigid(parameters, work, i, inertias, here)
        store3(work, here + 21, cross(w, cross(w, h)))
        store3(work, here + 24, cross(w, sym_apply(I, w)))
        store3(work, here + 27, add(cross(w_p, add(cross(w_p, r), slip)), cross(w, slip)))
        store3(work, here + 30, cross(w, spin))
        store3(work, here + 33, w)


@kernel
def aba(topology, parameters, q, v, tau, a):
    """a (nv,) of M(q) a + bias(q, v) = tau; velocity coordinates must not be shared by mimic joints."""
    n, bodies = load_int(topology, N_BODIES), load_int(topology, FREE_AT)
    columns = bodies + BODY * (n + 1)
    inertias = columns + ELIMINATED * load_int(topology, N_COLUMNS)
    work = kinematics_workspace(topology, parameters, q, inertias + inertia_tiles(topology) - bodies)
    own_inertias(topology, parameters, work, inertias)
    bias_motions(topology, parameters, v, work, inertias, bodies)
    armature = load_int(topology, ARMATURE_AT)
    for i in range(n, 0, -1):
        here = bodies + BODY * i
        A, B, C = load6(work, here), load9(work, here + 6), load6(work, here + 15)
        f, t = load3(work, here + 21), load3(work, here + 24)
        first, end = column_range(topology, i)
        for c in range(end - 1, first - 1, -1):
            at, j, to = direction_at(topology, c), coordinate(topology, c), columns + ELIMINATED * c
            l, w = load3(work, at), load3(work, at + 3)
            U, V, inverse, A, B, C = eliminated(A, B, C, l, w, load(parameters, armature + j))
            u = load(tau, j) - dot(l, f) - dot(w, t)
            f, t = add_scaled(f, inverse * u, U), add_scaled(t, inverse * u, V)
            store3(work, to, U)
            store3(work, to + 3, V)
            store(work, to + 6, inverse)
            store(work, to + 7, u)
        parent = parent_of(topology, i)
        if parent > 0:
            there, r = bodies + BODY * parent, offset(topology, work, i)
            df, dt = articulated_apply(A, B, C, load3(work, here + 27), load3(work, here + 30))
            f, t = add(f, df), add(t, dt)
            hand_over(work, there, A, B, C, r)
            accumulate3(work, there + 21, f)
            accumulate3(work, there + 24, add(t, cross(r, f)))
    accelerations(topology, parameters, work, bodies, columns, a)


@kernel
def accelerations(topology, parameters, work, bodies, columns, a):
    """Outward again: joint accelerations; a body's inertia is no longer needed and makes room for its acceleration."""
    g = load3(parameters, GRAVITY)
    store3(work, bodies, (-g[0], -g[1], -g[2]))
    store3(work, bodies + 3, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        here, there = bodies + BODY * i, bodies + BODY * parent_of(topology, i)
        dw = load3(work, there + 3)
        linear = add(load3(work, there), add(cross(dw, offset(topology, work, i)), load3(work, here + 27)))
        angular = add(dw, load3(work, here + 30))
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, to = direction_at(topology, c), columns + ELIMINATED * c
            U, V = load3(work, to), load3(work, to + 3)
            rate = load(work, to + 6) * (load(work, to + 7) - dot(U, linear) - dot(V, angular))
            linear, angular = add_scaled(linear, rate, load3(work, at)), add_scaled(angular, rate, load3(work, at + 3))
            store(a, coordinate(topology, c), rate)
        store3(work, here, linear)
        store3(work, here + 3, angular)
