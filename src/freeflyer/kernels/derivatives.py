"""Derivatives of inverse dynamics with respect to q, v and a, in the tangent space of `integrate`.

S. Singh, R. P. Russell, P. M. Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra
(2022), over columns instead of joints. Seen from the root body's origin, in world axes: a step along column j turns all that
it carries by S_j, so with V and A the motion and acceleration (gravity included) of the body that carries j's joint,
X_j = V x S_j is by how much velocities beyond j change, Y_j = A x S_j + V x X_j by how much accelerations do, beside the
turn itself. With I, B (see coriolis.py) and f, the inertia, rate and force of what column k moves, for j before k or equal:

    d tau_k / d q_j = S_k . (2 B X_j + I Y_j)        d tau_j / d q_k = S_j . (2 B X_k + I Y_k + S_k x* f)
    d tau_k / d v_j = S_k . (2 B S_j + I T_j)        d tau_j / d v_k = S_j . (2 B S_k + I T_k)

where T = X + dS/dt. Columns of one joint turn together, so among them the force S_k x* f does not count.
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
    rotate,
    rotate_back,
    scale,
    store3,
)
from freeflyer.kernels.columns import (
    clear_beyond,
    condense,
    inertia_of,
    inertia_tiles,
    last_column,
    matrix_rows,
    put_column,
    put_matrix,
    root_direction,
    root_inertias,
    row_dot,
    subtree_inertias,
)  # fmt: skip
from freeflyer.kernels.composite import MOTION, column_range, coordinate, momentum, parent_of, velocities
from freeflyer.kernels.coriolis import RATE, motion_cross, root_motion, subtree_rates
from freeflyer.kernels.joints import body_floats
from freeflyer.kernels.kinematics import kinematics_workspace
from freeflyer.kernels.layout import (
    ARMATURE_AT,
    COLUMN_INTS,
    COLUMN_ROW,
    COLUMNS_AT,
    FREE_AT,
    GRAVITY,
    MASS,
    N_BODIES,
    N_COLUMNS,
    N_V,
    PARENT_COLUMN,
    SUBTREE_MASS,
)
from freeflyer.kernels.memory import keep_below, load, load_int, load_row, row_step, store, store_row, workspace

SELF = 21  # of a column: S (6), the angular part of X (3), Y (6), T (6)
OTHERS = 21  # rows over columns: F = I S (6), G = 2 B^T S, whose force is zero (3), those of dq (6) and of dv (6)


@inlined
def force_cross(l, w, f, t):
    """(l, w) x* (f, t): how a force changes in axes that move."""
    return cross(w, f), add(cross(w, t), cross(l, f))


@inlined
def add6(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


@kernel
def accelerations(topology, parameters, work, motions, v, a, to):
    """Writes every body's spatial acceleration at the root body's origin, from `to` on; the world's is against gravity."""
    store3(work, to, scale(-1.0, load3(parameters, GRAVITY)))
    store3(work, to + 3, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        b = parent_of(topology, i)
        V, W = root_motion(topology, work, motions, b)
        A = load3(work, to + MOTION * b), load3(work, to + MOTION * b + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            l, w = root_direction(topology, work, i, c)
            rate, change = load(v, coordinate(topology, c)), load(a, coordinate(topology, c))
            X, Y = motion_cross(V, W, l, w)
            A = add_scaled(add_scaled(A[0], rate, X), change, l), add_scaled(add_scaled(A[1], rate, Y), change, w)
        store3(work, to + MOTION * i, A[0])
        store3(work, to + MOTION * i + 3, A[1])


@kernel
def subtree_forces(topology, parameters, work, motions, bodies, changes, to):
    """Writes the force (linear, angular) that every subtree needs, about the root body's origin, from `to` on."""
    n = load_int(topology, N_BODIES)
    for k in range(0, 6, 3):
        store3(work, to + k, ZERO)
    for i in range(1, n + 1):
        m = load(parameters, body_floats(i) + MASS)
        h, I = inertia_of(work, bodies, i)
        l, w = root_motion(topology, work, motions, i)
        P, L = momentum(m, h, I, l, w)
        here = changes + MOTION * i
        force = add6(momentum(m, h, I, load3(work, here), load3(work, here + 3)), force_cross(l, w, P, L))
        store3(work, to + 6 * i, force[0])
        store3(work, to + 6 * i + 3, force[1])
    for i in range(n, 0, -1):
        here, there = to + 6 * i, to + 6 * parent_of(topology, i)
        accumulate3(work, there, load3(work, here))
        accumulate3(work, there + 3, load3(work, here + 3))


@kernel
def gradient_rows(topology, parameters, work, motions, composites, rates, changes, forces, own, rows):
    """Writes SELF numbers a column from `own` on and OTHERS rows from `rows` on; padding is zero."""
    stride = load_int(topology, COLUMN_ROW)
    for c in range(load_int(topology, N_COLUMNS), stride):
        for k in range(OTHERS):
            store(work, rows + stride * k + c, 0.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        m, to, b = load(parameters, body_floats(i) + SUBTREE_MASS), rates + RATE * i, parent_of(topology, i)
        h, I = inertia_of(work, composites, i)
        p, K = scale(2.0, load3(work, to)), (
            scale(2.0, load3(work, to + 3)) + scale(2.0, load3(work, to + 6)) + scale(2.0, load3(work, to + 9))
        )  # fmt: skip
        f, t = load3(work, forces + 6 * i), load3(work, forces + 6 * i + 3)
        V, W = root_motion(topology, work, motions, b)
        own_V, own_W = root_motion(topology, work, motions, i)
        A, D = load3(work, changes + MOTION * b), load3(work, changes + MOTION * b + 3)
        first, end = column_range(topology, i)
        for c in range(first, end):
            l, w = root_direction(topology, work, i, c)
            X = motion_cross(V, W, l, w)
            Y = add6(motion_cross(A, D, l, w), motion_cross(V, W, X[0], X[1]))
            T = add6(X, motion_cross(own_V, own_W, l, w))
            at = own + SELF * c
            for k, x in ((0, l), (3, w), (6, X[1]), (9, Y[0]), (12, Y[1]), (15, T[0]), (18, T[1])):
                store3(work, at + k, x)
            F = momentum(m, h, I, l, w)
            put_column(work, rows, stride, c, F[0], F[1])
            G = add(cross(p, l), rotate_back(K, w))
            store(work, rows + 6 * stride + c, G[0])
            store(work, rows + 7 * stride + c, G[1])
            store(work, rows + 8 * stride + c, G[2])
            Q = add6(add6(momentum(m, h, I, Y[0], Y[1]), (cross(X[1], p), rotate(K, X[1]))), force_cross(l, w, f, t))
            put_column(work, rows + 9 * stride, stride, c, Q[0], Q[1])
            R = add6(momentum(m, h, I, T[0], T[1]), (cross(w, p), rotate(K, w)))
            put_column(work, rows + 15 * stride, stride, c, R[0], R[1])


@inlined
def six(work, at):
    return (
        load(work, at), load(work, at + 1), load(work, at + 2), load(work, at + 3), load(work, at + 4), load(work, at + 5),
    )  # fmt: skip


@inlined
def pair(work, own, rows, stride, c, k):
    """For column c and those from k on that it moves: entries (c, k) of M, dq and dv, then entries (k, c) of dq and dv."""
    at, F, G = own + SELF * c, rows + k, rows + 6 * stride + k
    s, X, Y, T = six(work, at), load3(work, at + 6), six(work, at + 9), six(work, at + 15)
    g = load_row(work, G), load_row(work, G + stride), load_row(work, G + 2 * stride)
    return (
        row_dot(s, work, F, stride), row_dot(s, work, F + 9 * stride, stride), row_dot(s, work, F + 15 * stride, stride),
        dot(X, g) + row_dot(Y, work, F, stride), dot((s[3], s[4], s[5]), g) + row_dot(T, work, F, stride),
    )  # fmt: skip


@kernel
def pairs_by_rows(topology, work, own, rows, M, dq, dv, below_q, below_v, width):
    """All pairs, rows of columns at once: M, dq and dv above the diagonal, and what `put_matrix` puts under it."""
    stride, step = load_int(topology, COLUMN_ROW), row_step(work)
    for c in range(load_int(topology, N_COLUMNS)):
        end = last_column(topology, c) + 1
        for k in range(c - c % step, end, step):
            m, q, v, under_q, under_v = pair(work, own, rows, stride, c, k)
            to = width * c + k
            store_row(M, to, keep_below(work, m, k, end))
            store_row(dq, to, keep_below(work, q, k, end))
            store_row(dv, to, keep_below(work, v, k, end))
            store_row(below_q, to, keep_below(work, under_q, k, end))
            store_row(below_v, to, keep_below(work, under_v, k, end))
        clear_beyond(M, width, c, end)
        clear_beyond(dq, width, c, end)
        clear_beyond(dv, width, c, end)
        clear_beyond(below_q, width, c, end)
        clear_beyond(below_v, width, c, end)


@kernel
def pairs_by_paths(topology, work, own, rows, M, dq, dv):
    """All pairs, one at a time along the way from each column to the world, so that what is read again stays near."""
    n, stride, columns = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW), load_int(topology, COLUMNS_AT)
    for k in range(n * n):
        store_row(M, k, 0.0)
        store_row(dq, k, 0.0)
        store_row(dv, k, 0.0)
    for k in range(n):
        c = k
        while c >= 0:
            m, q, v, under_q, under_v = pair(work, own, rows, stride, c, k)
            store_row(M, n * c + k, m)
            store_row(M, n * k + c, m)
            store_row(dq, n * k + c, under_q)
            store_row(dv, n * k + c, under_v)
            if c < k:
                store_row(dq, n * c + k, q)
                store_row(dv, n * c + k, v)
            c = load_int(topology, columns + COLUMN_INTS * c + PARENT_COLUMN)


@kernel
def turn_together(topology, work, own, forces, dq, width):
    """Takes the force S_k x* f out of the rows of columns that belong to k's own joint."""
    for i in range(1, load_int(topology, N_BODIES) + 1):
        first, end = column_range(topology, i)
        for c in range(first, end - 1):
            f, t = load3(work, forces + 6 * i), load3(work, forces + 6 * i + 3)
            l, w = load3(work, own + SELF * c), load3(work, own + SELF * c + 3)
            for k in range(c + 1, end):
                P, Q = force_cross(load3(work, own + SELF * k), load3(work, own + SELF * k + 3), f, t)
                to = width * c + k
                store(dq, to, load(dq, to) - (dot(l, P) + dot(w, Q)))


@kernel
def gradients(topology, parameters, q, v, a, dq, dv, M):
    """Derivatives (nv, nv) of tau by q and v, rows tau; and M without armature."""
    n = load_int(topology, N_BODIES)
    composites, stride = load_int(topology, FREE_AT), load_int(topology, COLUMN_ROW)
    bodies = composites + inertia_tiles(topology)
    motions = bodies + inertia_tiles(topology)
    rates = motions + MOTION * (n + 1)
    changes = rates + RATE * (n + 1)
    forces = changes + MOTION * (n + 1)
    own = forces + 6 * (n + 1)
    rows = own + SELF * stride
    extra = 2 * inertia_tiles(topology) + (2 * MOTION + RATE + 6) * (n + 1) + (SELF + OTHERS) * stride
    work = kinematics_workspace(topology, parameters, q, extra)
    by_q, width = matrix_rows(topology, dq)
    by_v, _ = matrix_rows(topology, dv)
    mass, _ = matrix_rows(topology, M)
    subtree_inertias(topology, parameters, work, composites)
    root_inertias(topology, parameters, work, bodies)
    velocities(topology, work, v, motions)
    subtree_rates(topology, parameters, work, motions, bodies, rates)
    accelerations(topology, parameters, work, motions, v, a, changes)
    subtree_forces(topology, parameters, work, motions, bodies, changes, forces)
    gradient_rows(topology, parameters, work, motions, composites, rates, changes, forces, own, rows)
    if row_step(work) == 1:
        pairs_by_paths(topology, work, own, rows, mass, by_q, by_v)
        turn_together(topology, work, own, forces, by_q, width)
        condense(topology, by_q, dq)
        condense(topology, by_v, dv)
        condense(topology, mass, M)
    else:
        below_q, below_v = workspace(q, width * width), workspace(q, width * width)
        pairs_by_rows(topology, work, own, rows, mass, by_q, by_v, below_q, below_v, width)
        turn_together(topology, work, own, forces, by_q, width)
        put_matrix(topology, by_q, below_q, dq)
        put_matrix(topology, by_v, below_v, dv)
        put_matrix(topology, mass, mass, M)


@kernel
def inverse_dynamics_gradient(topology, parameters, q, v, a, dq, dv, M):
    """Derivatives (nv, nv) of inverse dynamics by q, v and a, rows tau."""
    nv, armature = load_int(topology, N_V), load_int(topology, ARMATURE_AT)
    gradients(topology, parameters, q, v, a, dq, dv, M)
    for j in range(nv):
        at = nv * j + j
        store(M, at, load(M, at) + load(parameters, armature + j))
