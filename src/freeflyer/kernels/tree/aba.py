"""Forward dynamics: the articulated-body algorithm (RBDA 2008, table 7.1), in body axes.

Accelerations are classical ones of body origins. What a subtree hands to its parent is gathered by depth, and poses are
cheaper to compute again than to keep: all that is kept of a body fits the nearest cache even for eight states.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO,
    accumulate3,
    accumulate6,
    accumulate9,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load6,
    load9,
    store3,
    store6,
    store9,
    sym_add,
    sym_apply,
)
from freeflyer.kernels.model.joints import body_floats, body_ints, by_depth, coast, joint_angles, joint_row, lift
from freeflyer.kernels.model.layout import (
    ARMATURE_AT,
    BALL,
    DEPTH,
    FIRST_V,
    GRAVITY,
    KIND,
    LAST_BODY,
    MASS,
    MAX_DEPTH,
    MOMENT,
    N_BODIES,
    N_COLUMNS,
    N_V,
    PARENT,
    SCREW,
    SECOND,
    SLIDE,
    TURN,
)
from freeflyer.kernels.model.plane_turns import inertia_to_parent, joint_of, origin, to_child, to_parent
from freeflyer.kernels.tree.armature import add_armature_forces, has_armature
from freeflyer.kernels.tree.articulated import articulated_apply, eliminated, inverse_inertia, outer, shifted, sym_outer
from freeflyer.kernels.tree.composite import column_range, coordinate, zeros

LEVEL = 27  # by depth: what comes back from children: A (6), B (9), C (6), force, moment
BODY = 9  # angular velocity; acceleration (linear, angular): first that of a resting joint, then the whole
ELIMINATED = 8  # a column's U, V, 1 / d, u


@kernel
def coasting(topology, parameters, q, v, work, bodies):
    """Outward: angular velocities, and the accelerations that they cause."""
    store3(work, bodies, ZERO)
    for k in range(load_int(topology, N_BODIES)):
        i = by_depth(topology, k)
        ints, at, here = body_ints(i), body_floats(i), bodies + BODY * i
        kind, first, x, s, c = joint_of(topology, work, i)
        r, w = origin(kind, parameters, at, q, first, x), load3(work, bodies + BODY * load_int(topology, ints + PARENT))
        acc = cross(w, cross(w, r))
        w, _, acc = to_child(kind, parameters, at, q, first, s, c, w, w, acc)
        w, dw, acc = coast(kind, parameters, at, v, load_int(topology, ints + FIRST_V), w, zeros(w[0]), acc)
        store3(work, here, w)
        store3(work, here + 3, acc)
        store3(work, here + 6, dw)


@inlined
def rigid(parameters, at, w):
    """A body's inertia as an articulated one, and the wrench that its angular velocity takes; at its origin."""
    m, h, J = load(parameters, at + MASS), lift(w[0], load3(parameters, at + MOMENT)), load6(parameters, at + SECOND)
    I = (J[3] + J[5], -J[1], -J[2], J[0] + J[5], -J[4], J[0] + J[3])
    z = zeros(w[0])[0]
    A, B = (z + m, z, z, z + m, z, z + m), (z, h[2], -h[1], -h[2], z, h[0], h[1], -h[0], z)
    C = lift(w[0], I[:3]) + lift(w[0], I[3:])
    return A, B, C, cross(w, cross(w, h)), cross(w, sym_apply(C, w))


@inlined
def add9(a, b):
    x, y = add((a[0], a[1], a[2]), (b[0], b[1], b[2])), add((a[3], a[4], a[5]), (b[3], b[4], b[5]))
    return x + y + add((a[6], a[7], a[8]), (b[6], b[7], b[8]))


@inlined
def unit(k):
    """Unit vector k, zero if there is none."""
    return (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)


@inlined
def own_column(kind, k):
    """Column k (linear, angular) of a joint that is no screw, in its body's axes."""
    return (unit(-1), unit(k)) if kind == BALL else (unit(k), unit(k - 3))


@inlined
def screw_freed(parameters, at, A, B, C, armature):
    """(U, V, 1 / d, A, B, C): an articulated inertia once its screw may move freely."""
    turn, slide = load(parameters, at + TURN), load(parameters, at + SLIDE)
    U = slide * A[2] + turn * B[2], slide * A[4] + turn * B[5], slide * A[5] + turn * B[8]
    V = slide * B[6] + turn * C[2], slide * B[7] + turn * C[4], slide * B[8] + turn * C[5]
    inverse = inverse_inertia(parameters, at, slide * slide, turn * turn, slide * U[2] + turn * V[2] + armature)
    return U, V, inverse, sym_outer(A, inverse, U), outer(B, inverse, U, V), sym_outer(C, inverse, V)


@inlined
def gathered(topology, parameters, work, i, below, bodies):
    """Articulated inertia and bias wrench of body i, what its children handed on included."""
    if load_int(topology, body_ints(i) + LAST_BODY) == i:  # it has none
        for k in range(LEVEL):
            store(work, below + k, 0.0)
    A, B, C, f, t = rigid(parameters, body_floats(i), load3(work, bodies + BODY * i))
    A, B, C = sym_add(A, load6(work, below)), add9(B, load9(work, below + 6)), sym_add(C, load6(work, below + 15))
    return A, B, C, add(f, load3(work, below + 21)), add(t, load3(work, below + 24))


@inlined
def put_column(work, to, U, V, inverse, u):
    store3(work, to, U)
    store3(work, to + 3, V)
    store(work, to + 6, inverse)
    store(work, to + 7, u)


@inlined
def hand_on(topology, parameters, q, kind, work, i, level, bodies, A, B, C, f, t):
    """What body i passes on joins, at its parent's origin, what siblings have."""
    at, ints = body_floats(i), body_ints(i)
    parent = load_int(topology, ints + PARENT)
    if parent == 0:
        return
    _, first, x, s, c = joint_of(topology, work, i)
    df, dt = articulated_apply(A, B, C, load3(work, bodies + BODY * i + 3), load3(work, bodies + BODY * i + 6))
    f, t = to_parent(kind, parameters, at, q, first, s, c, add(f, df), add(t, dt))
    A, B, C = inertia_to_parent(kind, parameters, at, q, first, s, c, A, B, C)
    r = origin(kind, parameters, at, q, first, x)
    B, C = shifted(A, B, C, r)
    t = add(t, cross(r, f))
    if load_int(topology, ints + LAST_BODY) == load_int(topology, body_ints(parent) + LAST_BODY):  # it comes first
        store6(work, level, A)
        store9(work, level + 6, B)
        store6(work, level + 15, C)
        store3(work, level + 21, f)
        store3(work, level + 24, t)
    else:
        accumulate6(work, level, A)
        accumulate9(work, level + 6, B)
        accumulate6(work, level + 15, C)
        accumulate3(work, level + 21, f)
        accumulate3(work, level + 24, t)


@kernel
def articulate_whole(topology, parameters, q, tau, work, i, level, bodies, columns, rotors):
    """Eliminates the joint of body i, a ball or a floating body, column by column."""
    kind, armature = load_int(topology, body_ints(i) + KIND), load_int(topology, ARMATURE_AT)
    first, end = column_range(topology, i)
    A, B, C, f, t = gathered(topology, parameters, work, i, level + LEVEL, bodies)
    for k in range(end - 1, first - 1, -1):
        j, (l, w) = coordinate(topology, k), own_column(kind, k - first)
        U, V, inverse, A, B, C = eliminated(parameters, body_floats(i), A, B, C, l, w, load(parameters, armature + j))
        u = load(tau, j) - (dot(l, f) + dot(w, t))
        if has_armature(topology):
            u = u - load(work, rotors + j)
        f, t = add_scaled(f, inverse * u, U), add_scaled(t, inverse * u, V)
        put_column(work, columns + ELIMINATED * k, U, V, inverse, u)
    hand_on(topology, parameters, q, kind, work, i, level, bodies, A, B, C, f, t)


@kernel
def articulate(topology, parameters, q, tau, work, levels, bodies, columns, rotors):
    """Inward: eliminates the joints."""
    armature = load_int(topology, ARMATURE_AT)
    for i in range(load_int(topology, N_BODIES), 0, -1):
        ints, at = body_ints(i), body_floats(i)
        level = levels + LEVEL * load_int(topology, ints + DEPTH)
        if load_int(topology, ints + KIND) != SCREW:
            articulate_whole(topology, parameters, q, tau, work, i, level, bodies, columns, rotors)
            continue
        k = column_range(topology, i)[0]
        j = coordinate(topology, k)
        A, B, C, f, t = gathered(topology, parameters, work, i, level + LEVEL, bodies)
        U, V, inverse, A, B, C = screw_freed(parameters, at, A, B, C, load(parameters, armature + j))
        u = load(tau, j) - (load(parameters, at + SLIDE) * f[2] + load(parameters, at + TURN) * t[2])
        f, t = add_scaled(f, inverse * u, U), add_scaled(t, inverse * u, V)
        put_column(work, columns + ELIMINATED * k, U, V, inverse, u)
        hand_on(topology, parameters, q, SCREW, work, i, level, bodies, A, B, C, f, t)


@inlined
def driven(kind, parameters, at, k, rate, linear, angular):
    """Acceleration of a body (linear, angular) whose joint accelerates at `rate` along column k."""
    if kind != SCREW:
        l, w = own_column(kind, k)
        return add_scaled(linear, rate, l), add_scaled(angular, rate, w)
    x, y = linear[2] + load(parameters, at + SLIDE) * rate, angular[2] + load(parameters, at + TURN) * rate
    return (linear[0], linear[1], x), (angular[0], angular[1], y)


@kernel
def accelerations(topology, parameters, q, work, bodies, columns, a):
    """Outward again: joint accelerations."""
    g = load3(parameters, GRAVITY)
    store3(work, bodies + 3, (-g[0], -g[1], -g[2]))
    store3(work, bodies + 6, ZERO)
    for n in range(load_int(topology, N_BODIES)):
        i = by_depth(topology, n)
        at, here = body_floats(i), bodies + BODY * i
        there = bodies + BODY * load_int(topology, body_ints(i) + PARENT)
        kind, first_q, x, s, c = joint_of(topology, work, i)
        r, dw = origin(kind, parameters, at, q, first_q, x), load3(work, there + 6)
        linear = add(load3(work, there + 3), cross(dw, r))
        linear, angular, _ = to_child(kind, parameters, at, q, first_q, s, c, linear, dw, dw)
        linear, angular = add(linear, load3(work, here + 3)), add(angular, load3(work, here + 6))
        first, end = column_range(topology, i)
        for k in range(first, end):
            to = columns + ELIMINATED * k
            U, V = load3(work, to), load3(work, to + 3)
            rate = load(work, to + 6) * (load(work, to + 7) - dot(U, linear) - dot(V, angular))
            linear, angular = driven(kind, parameters, at, k - first, rate, linear, angular)
            store(a, coordinate(topology, k), rate)
        store3(work, here + 3, linear)
        store3(work, here + 6, angular)


@kernel
def put_armature_forces(topology, parameters, v, work, to):
    """Writes, from `to` on, the forces (nv,) of velocity that armature takes, if it takes any."""
    if has_armature(topology):
        for j in range(load_int(topology, N_V)):
            store(work, to + j, 0.0)
        add_armature_forces(topology, parameters, v, 1.0, work, to)


@kernel
def aba(topology, parameters, q, v, tau, a):
    """a (nv,) of M(q) a + bias(q, v) = tau; velocity coordinates must not be shared by mimic joints."""
    levels = 3 * joint_row(topology)
    bodies = levels + LEVEL * (load_int(topology, MAX_DEPTH) + 2)
    columns = bodies + BODY * (load_int(topology, N_BODIES) + 1)
    rotors = columns + ELIMINATED * load_int(topology, N_COLUMNS)
    work = workspace(q, rotors + load_int(topology, N_V))
    joint_angles(topology, parameters, q, work)
    coasting(topology, parameters, q, v, work, bodies)
    put_armature_forces(topology, parameters, v, work, rotors)
    articulate(topology, parameters, q, tau, work, levels, bodies, columns, rotors)
    accelerations(topology, parameters, q, work, bodies, columns, a)
