"""The passive Coriolis matrix, Mdot = C + C^T.

As a cloud of particles with Jacobians J, a robot has M = sum m J^T J and C = sum m J^T Jdot, which is passive by construction. For
a subtree this needs its first moment and inertia, its linear momentum p and the matrix K = sum (x . xdot) 1 - xdot x^T: the
velocity-dependent part of J^T Jdot is B = [0, -p x; 0, K]. For column i before j, C_ij = S_i . (I_j Sdot_j + B_j S_j) and C_ji =
Sdot_i . (I_j S_j) + S_i . (B_j^T S_j): S. Echeandia, P. M. Wensing, Numerical Methods to Compute the Coriolis Matrix (2021).
Everything is about the root body's origin, in world axes; the linear part of a motion is the velocity of the body's point there.
"""

from freeflyer.kernels.backend.buffers import (
    keep_below, load, load_int, load_row, row_step, store, store_row, workspace,
)
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate3, add, add_scaled, cross, dot, load3, load9, rotate, rotate_back, store3, store9, subtract,
)
from freeflyer.kernels.math.spatial import inertia_times, load_spatial, motion_cross, shift_motion_back
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.armature import add_armature_coriolis
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, MASS, N_BODIES, N_COLUMNS, SUBTREE_MASS
from freeflyer.kernels.tree.columns import (
    clear_beyond, column_rows, inertia_of, inertia_tiles, last_column, matrix_rows, put_column, put_matrix,
    root_direction, root_inertias, row_dot, scalar_column, subtree_inertias, subtree_products,
)
from freeflyer.kernels.tree.composite import MOTION, column_range, parent_of, velocities
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import root_position

RATE, SPREAD = 12, 3  # of a subtree: linear momentum (3), then K (9)


@inlined
def particle_rates(m, h, I, V):
    """Linear momentum and K of a rigid body at the motion V, from mass, first moment and inertia at the point."""
    l, w = V
    t = 0.5 * (I[0] + I[3] + I[5])
    # second moment Sigma = t 1 - I; xdot = l + w x x, so sum xdot x^T = l h^T + [w]x Sigma, with trace l . h
    x = cross(w, (t - I[0], -I[1], -I[2]))
    y = cross(w, (-I[1], t - I[3], -I[4]))
    z = cross(w, (-I[2], -I[4], t - I[5]))
    s = dot(l, h)
    return add_scaled(cross(w, h), m, l), (
        s - l[0] * h[0] - x[0], -(l[0] * h[1]) - y[0], -(l[0] * h[2]) - z[0],
        -(l[1] * h[0]) - x[1], s - l[1] * h[1] - y[1], -(l[1] * h[2]) - z[1],
        -(l[2] * h[0]) - x[2], -(l[2] * h[1]) - y[2], s - l[2] * h[2] - z[2],
    )  # fmt: skip


@inlined
def root_motion(topology, work, motions, i):
    """Velocity of body i, a motion at the root body's origin."""
    return shift_motion_back(load_spatial(work, motions + MOTION * i), root_position(topology, work, i))


@kernel
def subtree_rates(topology, parameters, work, motions, bodies, to):
    """Writes p and K of every subtree about its root body's origin, from `to` on."""
    n = load_int(topology, N_BODIES)
    for k in range(4):
        store3(work, to + 3 * k, ZERO)
    for i in range(1, n + 1):
        h, I = inertia_of(work, bodies, i)
        p, K = particle_rates(load(parameters, body_floats(i) + MASS), h, I, root_motion(topology, work, motions, i))
        store3(work, to + RATE * i, p)
        store9(work, to + RATE * i + SPREAD, K)
    for i in range(n, 0, -1):
        here, there = to + RATE * i, to + RATE * parent_of(topology, i)
        for k in range(0, RATE, 3):
            accumulate3(work, there + k, load3(work, here + k))


@kernel
def rate_rows(topology, parameters, work, motions, composites, rates, T, P, G):
    """Writes rows: T, the columns' own rates Sdot; P = I Sdot + B S; G, the moment B^T S (its force is zero)."""
    stride = load_int(topology, COLUMN_ROW)
    for c in range(load_int(topology, N_COLUMNS), stride):
        put_column(work, P, stride, c, (ZERO, ZERO))
        for k in range(3):
            store(work, G + stride * k + c, 0.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        m, to = load(parameters, body_floats(i) + SUBTREE_MASS), rates + RATE * i
        h, I = inertia_of(work, composites, i)
        p, K = load3(work, to), load9(work, to + SPREAD)
        V = root_motion(topology, work, motions, i)
        first, end = column_range(topology, i)
        for c in range(first, end):
            l, w = S = root_direction(topology, work, i, c)
            dS = motion_cross(V, S)
            f, t = inertia_times(m, h, I, dS)
            g = add(cross(p, l), rotate_back(K, w))
            put_column(work, T, stride, c, dS)
            put_column(work, P, stride, c, (subtract(f, cross(p, w)), add(t, rotate(K, w))))
            store(work, G + c, g[0])
            store(work, G + stride + c, g[1])
            store(work, G + 2 * stride + c, g[2])


@kernel
def coriolis(topology, parameters, q, v, C):
    """C (nv, nv) with C v = bias - gravity and Mdot = C + C^T."""
    n, nc, stride = load_int(topology, N_BODIES), load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    composites = load_int(topology, FREE_AT)
    bodies = composites + inertia_tiles(topology)
    motions = bodies + inertia_tiles(topology)
    rates = motions + MOTION * (n + 1)
    S = rates + RATE * (n + 1)
    F, T, P, G = S + 6 * stride, S + 12 * stride, S + 18 * stride, S + 24 * stride
    work = kinematics_workspace(
        topology, parameters, q, 2 * inertia_tiles(topology) + (MOTION + RATE) * (n + 1) + 27 * stride
    )
    upper, width = matrix_rows(topology, C)
    lower = workspace(q, width * width)
    subtree_inertias(topology, parameters, work, composites)
    column_rows(topology, parameters, work, composites, S, F)
    velocities(topology, work, v, motions)
    root_inertias(topology, parameters, work, bodies)
    subtree_rates(topology, parameters, work, motions, bodies, rates)
    rate_rows(topology, parameters, work, motions, composites, rates, T, P, G)
    step = row_step(work)
    for c in range(nc):
        subtree_products(topology, work, S, P, c, upper, width)
        end, s, t = last_column(topology, c) + 1, scalar_column(work, S, stride, c), scalar_column(work, T, stride, c)
        for k in range(c - c % step, end, step):
            x = (
                s[3] * load_row(work, G + k)
                + s[4] * load_row(work, G + stride + k)
                + s[5] * load_row(work, G + 2 * stride + k)
            )
            store_row(lower, width * c + k, keep_below(work, x + row_dot(t, work, F + k, stride), k, end))
        clear_beyond(lower, width, c, end)
    put_matrix(topology, upper, lower, C)
    add_armature_coriolis(topology, parameters, v, C)
