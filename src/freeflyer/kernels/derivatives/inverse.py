"""Derivatives of inverse dynamics with respect to q, v and a, in the tangent space of `integrate`: a table of columns.

S. Singh, R. P. Russell, P. M. Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra
(2022), over columns instead of joints. Seen from the root body's origin, in world axes: a step along column j turns all that
it carries by S_j, so with V and A the motion and acceleration (gravity included) of the body that carries j's joint,
X_j = V x S_j is by how much velocities beyond j change, Y_j = A x S_j + V x X_j by how much accelerations do, beside the
turn itself. With I, B (see coriolis.py) and f, the inertia, rate and force of what column k moves, for j before k or equal:

    d tau_k / d q_j = S_k . (2 B X_j + I Y_j)        d tau_j / d q_k = S_j . (2 B X_k + I Y_k + S_k x* f)
    d tau_k / d v_j = S_k . (2 B S_j + I T_j)        d tau_j / d v_k = S_j . (2 B S_k + I T_k)

where T = X + dS/dt. Columns of one joint turn together, so among them the force S_k x* f does not count. Here every
column gets what these products are made of; gradient_rows.py multiplies them out.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, row_step, store, tile_at
from freeflyer.kernels.backend.records import BODY, ITSELF, PARENT_BODY, add_record, put_records, put_rows3, record_rows
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import ZERO, add, add_scaled, cross, dot, load3, rotate, rotate_back, scale, store3
from freeflyer.kernels.model.access import joint_row
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, GRAVITY, N_BODIES, N_COLUMNS, N_PAIRS
from freeflyer.kernels.tree.columns import inertia_tiles, last_column, put_inertias, tile_inertias, tile_mass
from freeflyer.kernels.tree.composite import COMPOSITE, column_range, coordinate, direction_at, momentum, parent_of
from freeflyer.kernels.tree.coriolis import motion_cross, particle_rates
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import pose_at, root_position, row3

DIRECTION_RECORD = 8  # of a column: S (6)
MOVING = 16  # of a body: V (6) and A (6), each filled up to a row of eight
V_AT, A_AT = 0, 8
LOADS = 24  # of a subtree: first moment (3), inertia (6), p (3) and K (9) of B, mass
FORCE = 8  # of a subtree: force and moment
# the table: rows over columns of S, the angular part of X, Y, T, F = I S, G = 2 B^T S (its force is zero), those products
# of dq and of dv that S_j meets, the last column that a column moves, its own number
S, X, Y, T, F, G, BY_Q, BY_V, LAST, NUMBER, ROWS = 0, 6, 9, 15, 21, 27, 30, 36, 42, 43, 44


@inlined
def table_size(topology):
    """Entries of the table: the rows, and S_j . (S_k x* f) for all j before k of the joints that have several columns."""
    return ROWS * load_int(topology, COLUMN_ROW) + load_int(topology, N_PAIRS)


@inlined
def table_sizes(topology):
    return (table_size(topology),)


@inlined
def areas(topology):
    """(directions, moving, inertias, loads, forces, end): where they begin in work."""
    directions, bodies = load_int(topology, FREE_AT), joint_row(topology)
    moving = directions + DIRECTION_RECORD * load_int(topology, COLUMN_ROW)
    inertias = moving + MOVING * bodies
    loads = inertias + inertia_tiles(topology)
    forces = loads + LOADS * bodies
    return directions, moving, inertias, loads, forces, forces + FORCE * bodies


@inlined
def more_than_kinematics(topology):
    """How much of a work array the areas take."""
    return areas(topology)[5] - load_int(topology, FREE_AT)


@inlined
def force_cross(l, w, f, t):
    """(l, w) x* (f, t): how a force changes in axes that move."""
    return cross(w, f), add(cross(w, t), cross(l, f))


@inlined
def add6(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


@inlined
def put_motion(work, at, l, w):
    """A motion, and zeros behind it, so that a row holds numbers."""
    store3(work, at, l)
    store3(work, at + 3, w)
    store(work, at + 6, 0.0)
    store(work, at + 7, 0.0)


@kernel
def velocities(topology, work, v):
    """Writes all directions and velocities."""
    directions, moving, _, _, _, _ = areas(topology)
    put_motion(work, moving, ZERO, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, x = moving + MOVING * parent_of(topology, i), root_position(topology, work, i)
        V, W = load3(work, there), load3(work, there + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, rate = direction_at(topology, c), load(v, coordinate(topology, c))
            w = load3(work, at + 3)
            l = add(load3(work, at), cross(x, w))
            put_motion(work, directions + DIRECTION_RECORD * c, l, w)
            V, W = add_scaled(V, rate, l), add_scaled(W, rate, w)
        put_motion(work, moving + MOVING * i, V, W)


@kernel
def accelerations(topology, parameters, work, a):
    """Writes all accelerations, A = A of the parent + V of the parent x V + S a; the world's is against gravity."""
    directions, moving, _, _, _, _ = areas(topology)
    put_motion(work, moving + A_AT, scale(-1.0, load3(parameters, GRAVITY)), ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, here = moving + MOVING * parent_of(topology, i), moving + MOVING * i
        A = add6(
            (load3(work, there + A_AT), load3(work, there + A_AT + 3)),
            motion_cross(load3(work, there), load3(work, there + 3), load3(work, here), load3(work, here + 3)),
        )
        first, end = column_range(topology, i)
        for c in range(first, end):
            at, change = directions + DIRECTION_RECORD * c, load(a, coordinate(topology, c))
            A = add_scaled(A[0], change, load3(work, at)), add_scaled(A[1], change, load3(work, at + 3))
        put_motion(work, here + A_AT, A[0], A[1])


@kernel
def subtree_loads(topology, parameters, work):
    """Writes the inertias of all bodies, and the loads of all subtrees, about the root body's origin."""
    _, moving, inertias, loads, _, _ = areas(topology)
    n, step = load_int(topology, N_BODIES), row_step(work)
    for i in range(0, n + 1, step):
        m, h, I = tile_inertias(topology, parameters, work, i, row3(work, pose_at(topology, work, i) + 9 * step))
        put_inertias(work, inertias + tile_at(work, COMPOSITE, i), h, I)
        V = record_rows(topology, work, moving + V_AT, MOVING, ITSELF, i, n + 1)
        p, K = particle_rates(m, h, I, (V[0], V[1], V[2]), (V[3], V[4], V[5]))
        z = 0.0 * h[0]
        put_records(work, loads, LOADS, i, (h[0], h[1], h[2], I[0], I[1], I[2], I[3], I[4]))
        put_records(work, loads + 8, LOADS, i, (I[5], p[0], p[1], p[2], K[0], K[1], K[2], K[3]))
        put_records(work, loads + 16, LOADS, i, (K[4], K[5], K[6], K[7], K[8], z + m, z, z))
    for i in range(n, 0, -1):
        add_record(work, loads + LOADS * parent_of(topology, i), loads + LOADS * i, 22)


@kernel
def subtree_forces(topology, parameters, work):
    """Writes the force (linear, angular) that every subtree needs, about the root body's origin."""
    _, moving, inertias, _, forces, _ = areas(topology)
    n, step = load_int(topology, N_BODIES), row_step(work)
    for i in range(0, n + 1, step):
        at = inertias + tile_at(work, COMPOSITE, i)
        m, h = tile_mass(topology, parameters, work, i)[0], row3(work, at)
        I = row3(work, at + 3 * step) + row3(work, at + 6 * step)
        V = record_rows(topology, work, moving + V_AT, MOVING, ITSELF, i, n + 1)
        A = record_rows(topology, work, moving + A_AT, MOVING, ITSELF, i, n + 1)
        l, w = (V[0], V[1], V[2]), (V[3], V[4], V[5])
        P = momentum(m, h, I, l, w)
        f, t = add6(momentum(m, h, I, (A[0], A[1], A[2]), (A[3], A[4], A[5])), force_cross(l, w, P[0], P[1]))
        z = 0.0 * f[0]
        put_records(work, forces, FORCE, i, (f[0], f[1], f[2], t[0], t[1], t[2], z, z))
    for i in range(n, 0, -1):
        add_record(work, forces + FORCE * parent_of(topology, i), forces + FORCE * i, 6)


@inlined
def put_rows6(work, at, stride, l, w):
    """Six rows, `stride` apart."""
    put_rows3(work, at, stride, l)
    put_rows3(work, at + 3 * stride, stride, w)


@inlined
def put_numbers(topology, table, c, step):
    n, stride = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    for k in range(c, c + step):
        store(table, LAST * stride + k, last_column(topology, min(k, n - 1)))
        store(table, NUMBER * stride + k, k)


@kernel
def put_momenta(topology, work, table):
    """Writes, of the table, what the mass matrix is made of: S, F and the last columns."""
    directions, _, _, loads, _, _ = areas(topology)
    n, stride, step = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW), row_step(work)
    for c in range(0, n, step):
        put_numbers(topology, table, c, step)
        a = record_rows(topology, work, loads, LOADS, BODY, c, n)
        b = record_rows(topology, work, loads + 8, LOADS, BODY, c, n)
        d = record_rows(topology, work, loads + 16, LOADS, BODY, c, n)
        s = record_rows(topology, work, directions, DIRECTION_RECORD, ITSELF, c, n)
        l, w, I = (s[0], s[1], s[2]), (s[3], s[4], s[5]), (a[3], a[4], a[5], a[6], a[7], b[0])
        f, t = momentum(d[5], (a[0], a[1], a[2]), I, l, w)
        put_rows6(table, S * stride + c, stride, l, w)
        put_rows6(table, F * stride + c, stride, f, t)


@kernel
def put_table(topology, work, table):
    """Writes the rows of the table."""
    directions, moving, _, loads, forces, _ = areas(topology)
    n, stride, step = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW), row_step(work)
    for c in range(0, n, step):
        put_numbers(topology, table, c, step)
        a = record_rows(topology, work, loads, LOADS, BODY, c, n)
        b = record_rows(topology, work, loads + 8, LOADS, BODY, c, n)
        d = record_rows(topology, work, loads + 16, LOADS, BODY, c, n)
        m, h, I = d[5], (a[0], a[1], a[2]), (a[3], a[4], a[5], a[6], a[7], b[0])
        p, K = (
            scale(2.0, (b[1], b[2], b[3])),
            scale(2.0, (b[4], b[5], b[6])) + scale(2.0, (b[7], d[0], d[1])) + scale(2.0, (d[2], d[3], d[4])),
        )
        s = record_rows(topology, work, directions, DIRECTION_RECORD, ITSELF, c, n)
        l, w = (s[0], s[1], s[2]), (s[3], s[4], s[5])
        put_rows6(table, S * stride + c, stride, l, w)
        f, t = momentum(m, h, I, l, w)
        put_rows6(table, F * stride + c, stride, f, t)
        put_rows3(table, G * stride + c, stride, add(cross(p, l), rotate_back(K, w)))
        V = record_rows(topology, work, moving + V_AT, MOVING, PARENT_BODY, c, n)
        A = record_rows(topology, work, moving + A_AT, MOVING, PARENT_BODY, c, n)
        x = motion_cross((V[0], V[1], V[2]), (V[3], V[4], V[5]), l, w)
        y = add6(
            motion_cross((A[0], A[1], A[2]), (A[3], A[4], A[5]), l, w),
            motion_cross((V[0], V[1], V[2]), (V[3], V[4], V[5]), x[0], x[1]),
        )
        r = record_rows(topology, work, forces, FORCE, BODY, c, n)
        f, t = force_cross(l, w, (r[0], r[1], r[2]), (r[3], r[4], r[5]))
        by_q = add6(add6(momentum(m, h, I, y[0], y[1]), (cross(x[1], p), rotate(K, x[1]))), (f, t))
        put_rows3(table, X * stride + c, stride, x[1])
        put_rows6(table, Y * stride + c, stride, y[0], y[1])
        put_rows6(table, BY_Q * stride + c, stride, by_q[0], by_q[1])
        V = record_rows(topology, work, moving + V_AT, MOVING, BODY, c, n)
        z = add6(x, motion_cross((V[0], V[1], V[2]), (V[3], V[4], V[5]), l, w))
        by_v = add6(momentum(m, h, I, z[0], z[1]), (cross(w, p), rotate(K, w)))
        put_rows6(table, T * stride + c, stride, z[0], z[1])
        put_rows6(table, BY_V * stride + c, stride, by_v[0], by_v[1])


@kernel
def put_pairs(topology, work, table):
    """Writes S_j . (S_k x* f) for all columns j before k of one joint."""
    directions, _, _, _, forces, _ = areas(topology)
    to = ROWS * load_int(topology, COLUMN_ROW)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        first, end = column_range(topology, i)
        for j in range(first, end - 1):
            at, here = directions + DIRECTION_RECORD * j, forces + FORCE * i
            l, w, f, t = load3(work, at), load3(work, at + 3), load3(work, here), load3(work, here + 3)
            for k in range(j + 1, end):
                at = directions + DIRECTION_RECORD * k
                P, Q = force_cross(load3(work, at), load3(work, at + 3), f, t)
                store(table, to, dot(l, P) + dot(w, Q))
                to += 1


@kernel
def inverse_table(topology, parameters, q, v, a, table):
    """The table at (q, v, a)."""
    work = kinematics_workspace(topology, parameters, q, more_than_kinematics(topology))
    velocities(topology, work, v)
    subtree_loads(topology, parameters, work)
    accelerations(topology, parameters, work, a)
    subtree_forces(topology, parameters, work)
    put_table(topology, work, table)
    put_pairs(topology, work, table)
