"""Derivatives of inverse dynamics with respect to q, v and a, in the tangent space of `integrate`: a table of columns.

S. Singh, R. P. Russell, P. M. Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra (2022),
over columns instead of joints. About the root body's origin, in world axes: a step along column j turns all that it carries by S_j,
so with V and A the motion and acceleration (gravity included) of the body that carries j's joint, X_j = V x S_j is by how much
velocities beyond j change, Y_j = A x S_j + V x X_j by how much accelerations do, beside the turn itself. With I, B (see
coriolis.py) and f, the inertia, rate and force of what column k moves, for j before k or equal:

    d tau_k / d q_j = S_k . (2 B X_j + I Y_j)        d tau_j / d q_k = S_j . (2 B X_k + I Y_k + S_k x* f)
    d tau_k / d v_j = S_k . (2 B S_j + I T_j)        d tau_j / d v_k = S_j . (2 B S_k + I T_k)

where T = X + dS/dt. Columns of one joint turn together, so among them the force S_k x* f does not count. Here every column gets
what these products are made of; forward.py multiplies them out.

Additional terms of derivatives by q for wrenches held fixed in other axes than their frame's.

A wrench held in its frame's axes turns with its body, as all forces above do: a step along column k changes it by S_k x* F.
One held in world axes does not. With (f, m) about the frame's origin, at x from the root body's, beside that change it gains

    MIXED: e_k = -(w_k x f, w_k x m) about the frame's origin         WORLD: e_k = -S_k x* F

for every column k that moves the frame, so d tau_i / d q_k, of tau that is less by S_i . F, changes by -S_i . e_k."""

from freeflyer.kernels.backend import (
    LANES, from_entry, kernel, load, load_int, load_row, row_step, store, store_row, tile_at, zero_entries,
)
from freeflyer.kernels.math.algebra import (
    ZERO, add, add_scaled, cross, dot, rotate, rotate_back, scale, store_entries, store_rows, strided6, subtract,
)
from freeflyer.kernels.math.spatial import (
    accumulate_spatial, force_cross, inertia_times, load_spatial, motion_cross, spatial_add, spatial_add_scaled, spatial_dot,
    spatial_of, spatial_scale, store_spatial_rows,
)
from freeflyer.kernels.model.access import joint_row
from freeflyer.kernels.model.joints.armature import RATES, put_armature_rates
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, N_ARMATURES, N_BODIES, N_COLUMNS, N_PAIRS
from freeflyer.kernels.model.poses import pose_at, row3
from freeflyer.kernels.tree.columns import (
    inertia_tiles, last_column, put_column, put_inertias, root_direction, row_dot, tile_inertias, tile_mass,
)
from freeflyer.kernels.tree.frames import BODY, MIXED, frame_body
from freeflyer.kernels.tree.kinematics import (
    COMPOSITE, OF_BODY, OF_NUMBER, OF_PARENT, add_record, column_range, coordinate, kinematics_workspace, parent_of, put_records,
    record_rows,
)
from freeflyer.kernels.tree.rnea import WRENCH, root_wrench, wrench_count, wrench_frame

DIRECTION_RECORD = 8  # of a column: S (6)
MOTION_RECORD, ACCELERATION = 16, 8  # of a body: V (6), and from the eighth entry on A (6)
LOADS = 24  # of a subtree: first moment (3), inertia (6), p (3) and K (9) of B, mass
FORCE = 8  # of a subtree: force and moment
# the table: rows over columns of S, the angular part of X, Y, T, F = I S, G = 2 B^T S (its force is zero), those products
# of dq and of dv that S_j meets, the last column that a column moves, its own number
S, X, Y, T, F, G, BY_Q, BY_V, LAST, NUMBER, ROWS = 0, 6, 9, 15, 21, 27, 30, 36, 42, 43, 44


def armature_rates_at(topology):
    """Where the table holds derivatives of the forces of armature by v: behind the rows and the pairs of columns."""
    return ROWS * load_int(topology, COLUMN_ROW) + load_int(topology, N_PAIRS)


def table_size(topology):
    """Entries of the table: the rows, S_j . (S_k x* f) for all j before k of the joints that have several columns, and what
    armature in such joints adds to dv."""
    return armature_rates_at(topology) + RATES * load_int(topology, N_ARMATURES)


def inverse_size(topology):
    """Entries of the table, and of what the wrenches gain behind it."""
    return table_size(topology) + WRENCH * load_int(topology, COLUMN_ROW) * wrench_count(topology)


def inverse_sizes(topology):
    return (inverse_size(topology),)


def areas(topology):
    """(directions, moving, inertias, loads, forces, end): where they begin in work."""
    directions, bodies = load_int(topology, FREE_AT), joint_row(topology)
    moving = directions + DIRECTION_RECORD * load_int(topology, COLUMN_ROW)
    inertias = moving + MOTION_RECORD * bodies
    loads = inertias + inertia_tiles(topology)
    forces = loads + LOADS * bodies
    return directions, moving, inertias, loads, forces, forces + FORCE * bodies


def more_than_kinematics(topology):
    return areas(topology)[5] - load_int(topology, FREE_AT)


def put_motion(work, at, V):
    """A motion, and zeros behind it, so that a row holds numbers."""
    store_entries(work, at, (*V[0], *V[1], 0.0, 0.0))


@kernel
def velocities(topology, work, v, to):
    """Writes directions of columns, and motions of bodies from `to` on."""
    directions = load_int(topology, FREE_AT)
    put_motion(work, to, (ZERO, ZERO))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        V = load_spatial(work, to + MOTION_RECORD * parent_of(topology, i))
        for c in range(*column_range(topology, i)):
            S = root_direction(topology, work, i, c)
            put_motion(work, directions + DIRECTION_RECORD * c, S)
            V = spatial_add_scaled(V, load(v, coordinate(topology, c)), S)
        put_motion(work, to + MOTION_RECORD * i, V)


@kernel
def accelerations(topology, work, a, g):
    """Writes all accelerations, A = A of the parent + V of the parent x V + S a; the world's is against gravity g."""
    directions, moving, _, _, _, _ = areas(topology)
    put_motion(work, moving + ACCELERATION, (scale(-1.0, g), ZERO))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, here = moving + MOTION_RECORD * parent_of(topology, i), moving + MOTION_RECORD * i
        swept = motion_cross(load_spatial(work, there), load_spatial(work, here))
        A = spatial_add(load_spatial(work, there + ACCELERATION), swept)
        for c in range(*column_range(topology, i)):
            S = load_spatial(work, directions + DIRECTION_RECORD * c)
            A = spatial_add_scaled(A, load(a, coordinate(topology, c)), S)
        put_motion(work, here + ACCELERATION, A)


def particle_rates(m, h, I, V):
    """Linear momentum and K of a rigid body at the motion V, from mass, first moment and inertia at the point."""
    l, w = V
    t = 0.5 * (I[0] + I[3] + I[5])
    # second moment Sigma = t 1 - I; xdot = l + w x x, so sum xdot x^T = l h^T + [w]x Sigma, with trace l . h
    x, y, z = cross(w, (t - I[0], -I[1], -I[2])), cross(w, (-I[1], t - I[3], -I[4])), cross(w, (-I[2], -I[4], t - I[5]))
    s = dot(l, h)
    return add_scaled(cross(w, h), m, l), (
        s - l[0] * h[0] - x[0], -(l[0] * h[1]) - y[0], -(l[0] * h[2]) - z[0],
        -(l[1] * h[0]) - x[1], s - l[1] * h[1] - y[1], -(l[1] * h[2]) - z[1],
        -(l[2] * h[0]) - x[2], -(l[2] * h[1]) - y[2], s - l[2] * h[2] - z[2])  # fmt: skip


@kernel
def subtree_loads(topology, parameters, work):
    """Writes the inertias of all bodies, and the loads of all subtrees, about the root body's origin."""
    _, moving, inertias, loads, _, _ = areas(topology)
    n, step = load_int(topology, N_BODIES), row_step(work)
    for i in range(0, n + 1, step):
        m, h, I = tile_inertias(topology, parameters, work, i, row3(work, pose_at(topology, work, i) + 9 * step))
        put_inertias(work, inertias + tile_at(work, COMPOSITE, i), h, I)
        p, K = particle_rates(m, h, I, spatial_of(record_rows(topology, work, moving, MOTION_RECORD, OF_NUMBER, i, n + 1)))
        z = 0.0 * h[0]
        entries = (*h, *I, *p, *K, z + m, z, z)
        for k in range(0, LOADS, LANES):
            put_records(work, loads + k, LOADS, i, entries[k : k + LANES])
    for i in range(n, 0, -1):
        add_record(work, loads + LOADS * parent_of(topology, i), loads + LOADS * i, 22)


def body_inertias(topology, parameters, work, i):
    """(mass, first moment, inertia) of bodies i, i + 1, ..., as `subtree_loads` leaves them."""
    at, step = areas(topology)[2] + tile_at(work, COMPOSITE, i), row_step(work)
    I = row3(work, at + 3 * step) + row3(work, at + 6 * step)
    return tile_mass(topology, parameters, work, i)[0], row3(work, at), I


@kernel
def subtree_forces(topology, parameters, work, wrenches, count, expressed):
    """Writes the force (linear, angular) that every subtree needs beside its wrenches, about the root body's origin."""
    _, moving, _, _, forces, _ = areas(topology)
    n, step = load_int(topology, N_BODIES), row_step(work)
    for i in range(0, n + 1, step):
        m, h, I = body_inertias(topology, parameters, work, i)
        V = spatial_of(record_rows(topology, work, moving, MOTION_RECORD, OF_NUMBER, i, n + 1))
        A = spatial_of(record_rows(topology, work, moving + ACCELERATION, MOTION_RECORD, OF_NUMBER, i, n + 1))
        f, t = spatial_add(inertia_times(m, h, I, A), force_cross(V, inertia_times(m, h, I, V)))
        z = 0.0 * f[0]
        put_records(work, forces, FORCE, i, (*f, *t, z, z))
    for k in range(count):
        i, F, _ = root_wrench(topology, parameters, work, wrenches, k, expressed)
        if i > 0:
            accumulate_spatial(work, forces + FORCE * i, spatial_scale(-1.0, F))
    for i in range(n, 0, -1):
        add_record(work, forces + FORCE * parent_of(topology, i), forces + FORCE * i, 6)


def motions_and_forces(topology, parameters, work, v, a, g, wrenches, count, expressed):
    """Writes motions of bodies, loads and forces of subtrees at v and a, under gravity g and so many wrenches."""
    velocities(topology, work, v, areas(topology)[1])
    subtree_loads(topology, parameters, work)
    accelerations(topology, work, a, g)
    subtree_forces(topology, parameters, work, wrenches, count, expressed)


def column_loads(topology, work, c):
    """((mass, first moment, inertia, p, K) of the subtrees that columns c, c + 1, ... move, their motions, their momenta)."""
    (directions, _, _, loads, _, _), n = areas(topology), load_int(topology, N_COLUMNS)
    a, b, d = tuple(record_rows(topology, work, loads + k, LOADS, OF_BODY, c, n) for k in range(0, LOADS, LANES))
    x, s = (*a, *b, *d), spatial_of(record_rows(topology, work, directions, DIRECTION_RECORD, OF_NUMBER, c, n))
    m, h, I = x[21], x[:3], x[3:9]
    return (m, h, I, x[9:12], x[12:21]), s, inertia_times(m, h, I, s)


def momentum_rows(topology, work, table, c):
    """Writes S, F and the last columns of columns c, c + 1, ...; their loads and motions."""
    n, stride = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    for k in range(c, c + row_step(work)):
        store(table, LAST * stride + k, last_column(topology, min(k, n - 1)))
        store(table, NUMBER * stride + k, k)
    loads, s, f = column_loads(topology, work, c)
    store_spatial_rows(table, S * stride + c, stride, s)
    store_spatial_rows(table, F * stride + c, stride, f)
    return loads, s


def column_changes(topology, work, c, loads, s):
    """(X, Y, T, what S_j meets in dq and in dv) of columns c, c + 1, ... with these loads and motions."""
    (_, moving, _, _, forces, _), n, (m, h, I, p, K) = areas(topology), load_int(topology, N_COLUMNS), loads
    p, K = scale(2.0, p), tuple(2.0 * x for x in K)
    V = spatial_of(record_rows(topology, work, moving, MOTION_RECORD, OF_PARENT, c, n))
    A = spatial_of(record_rows(topology, work, moving + ACCELERATION, MOTION_RECORD, OF_PARENT, c, n))
    x = motion_cross(V, s)
    y = spatial_add(motion_cross(A, s), motion_cross(V, x))
    force = force_cross(s, spatial_of(record_rows(topology, work, forces, FORCE, OF_BODY, c, n)))
    by_q = spatial_add(spatial_add(inertia_times(m, h, I, y), (cross(x[1], p), rotate(K, x[1]))), force)
    z = spatial_add(x, motion_cross(spatial_of(record_rows(topology, work, moving, MOTION_RECORD, OF_BODY, c, n)), s))
    return x, y, z, by_q, spatial_add(inertia_times(m, h, I, z), (cross(s[1], p), rotate(K, s[1])))


@kernel
def finish_table(topology, parameters, v, work, table):
    """Writes the table from the motions, loads and forces in work. Behind the rows: S_j . (S_k x* f) for all columns j before k of
    one joint."""
    (directions, _, _, _, forces, _), stride = areas(topology), load_int(topology, COLUMN_ROW)
    for c in range(0, load_int(topology, N_COLUMNS), row_step(work)):
        loads, s = momentum_rows(topology, work, table, c)
        store_rows(table, G * stride + c, stride, scale(2.0, add(cross(loads[3], s[0]), rotate_back(loads[4], s[1]))))
        x, y, z, by_q, by_v = column_changes(topology, work, c, loads, s)
        store_rows(table, X * stride + c, stride, x[1])
        for rows, a in ((Y, y), (T, z), (BY_Q, by_q), (BY_V, by_v)):
            store_spatial_rows(table, rows * stride + c, stride, a)
    to = ROWS * stride
    for i in range(1, load_int(topology, N_BODIES) + 1):
        first, end = column_range(topology, i)
        for j in range(first, end - 1):
            S_j, f = load_spatial(work, directions + DIRECTION_RECORD * j), load_spatial(work, forces + FORCE * i)
            for k in range(j + 1, end):
                S_k = load_spatial(work, directions + DIRECTION_RECORD * k)
                store(table, to, spatial_dot(S_j, force_cross(S_k, f)))
                to += 1
    put_armature_rates(topology, parameters, v, table, armature_rates_at(topology))


def put_inverse_table(topology, parameters, q, v, a, g, wrenches, count, expressed, table):
    """Writes the table at (q, v, a), under gravity g and so many wrenches."""
    work = kinematics_workspace(topology, parameters, q, more_than_kinematics(topology))
    motions_and_forces(topology, parameters, work, v, a, g, wrenches, count, expressed)
    finish_table(topology, parameters, v, work, table)
    if count > 0:
        put_held(topology, parameters, work, wrenches, expressed, table)


@kernel
def put_held(topology, parameters, work, wrenches, expressed, table):
    """Writes six rows over columns for each wrench, behind the table: -e."""
    directions, _, _, _, _, _ = areas(topology)
    stride = load_int(topology, COLUMN_ROW)
    for k in range(wrench_count(topology)):
        to = table_size(topology) + WRENCH * stride * k
        zero_entries(from_entry(table, to), WRENCH * stride)
        if expressed != BODY:
            b, F, x = root_wrench(topology, parameters, work, wrenches, k, expressed)
            f, m = F[0], subtract(F[1], cross(x, F[0]))
            while b > 0:
                for c in range(*column_range(topology, b)):
                    V = load_spatial(work, directions + DIRECTION_RECORD * c)
                    e = force_cross(V, F)
                    if expressed == MIXED:
                        turned = cross(V[1], f)
                        e = turned, add(cross(V[1], m), cross(x, turned))
                    put_column(table, to, stride, c, e)
                b = parent_of(topology, b)


@kernel
def add_held(topology, table, dq, width):
    """Rows of dq, `width` long, over all columns, grow by what the wrenches gain."""
    stride, step = load_int(topology, COLUMN_ROW), row_step(table)
    for k in range(wrench_count(topology)):
        rows, body = table_size(topology) + WRENCH * stride * k, frame_body(topology, wrench_frame(topology, k))
        _, reach = column_range(topology, body)
        full, b = reach - reach % step, body
        while b > 0:
            for i in range(*column_range(topology, b)):
                s, to = strided6(table, S * stride + i, stride), width * i
                for c in range(0, full, step):
                    store_row(dq, to + c, load_row(dq, to + c) + row_dot(s, table, rows + c, stride))
                for c in range(full, reach):
                    e = strided6(table, rows + c, stride)
                    x = s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + s[3] * e[3] + s[4] * e[4] + s[5] * e[5]
                    store(dq, to + c, load(dq, to + c) + x)
            b = parent_of(topology, b)
