"""Two Coriolis matrices: the passive one, Mdot = C + C^T, and that of the Hamel equations on SE(3) x R^n, for every tree.

Passive: as a cloud of particles with Jacobians J, a robot has M = sum m J^T J and C = sum m J^T Jdot, which is passive by
construction. For a subtree this needs its first moment and inertia, its linear momentum p and the matrix K = sum (x . xdot) 1 -
xdot x^T: the velocity-dependent part of J^T Jdot is B = [0, -p x; 0, K]. For column i before j, C_ij = S_i . (I_j Sdot_j + B_j S_j)
and C_ji = Sdot_i . (I_j S_j) + S_i . (B_j^T S_j): S. Echeandia, P. M. Wensing, Numerical Methods to Compute the Coriolis Matrix
(2021). Everything is about the root body's origin, in world axes; the linear part of a motion is the velocity of the body's point
there.

Hamel (decoupling thesis, eqs. (3.32)-(3.39)): C = Mdot - D, D_ij = d(M u)_j / dq_i for directions i of joints, with u the base's
velocity and half of the joints'; for the momenta j of the base, u is half of the base's velocity: (3.37). From dS_j = S_i x S_j and
dI = S_i x* I - I S_i x, with W_i the motion under u of the body that carries joint i, H_i and I_i momentum and inertia of what it
moves, X_i = S_i x W_i: D_ij = -X_i . (I_j S_j) for j in what i moves, and S_j . (S_i x* H_i - I_i X_i) for j before i. Rows of
joints whose coordinates do not commute (the base, balls) carry the structure term -ad(v)^T M besides."""

from freeflyer.kernels.backend import keep_below, kernel, load, load_int, load_row, row_step, store, store_row, workspace
from freeflyer.kernels.math.algebra import (
    ZERO, add, add_scaled, cross, dot, load3, load9, rotate, rotate_back, store_entries, store_strided, strided6, subtract,
)
from freeflyer.kernels.math.spatial import (
    force_cross, inertia_times, load_spatial, motion_cross, shift_motion_back, spatial_add, spatial_dot, spatial_of,
    spatial_scale, spatial_subtract, store_spatial, strided_spatial,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.armature import add_armature_coriolis
from freeflyer.kernels.model.joints.columns import add_bracket_forces
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, MASS, N_BODIES, N_COLUMNS, N_V, SUBTREE_MASS
from freeflyer.kernels.model.poses import root_position
from freeflyer.kernels.tree.columns import (
    clear_beyond, column_rows, inertia_of, inertia_tiles, last_column, matrix_rows, put_column, put_matrix, root_direction,
    root_inertias, row_dot, subtree_products,
)
from freeflyer.kernels.tree.kinematics import (
    MOTION, column_range, coordinate, gather_records, kinematics_workspace, parent_of, velocities,
)
from freeflyer.kernels.tree.mass_matrix import put_mass_matrix

RATE, SPREAD = 12, 3  # of a subtree: linear momentum (3), then K (9)


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


def root_motion(topology, work, motions, i):
    """Velocity of body i, a motion at the root body's origin."""
    return shift_motion_back(load_spatial(work, motions + MOTION * i), root_position(topology, work, i))


@kernel
def subtree_rates(topology, parameters, work, motions, bodies, to):
    """Writes p and K of every subtree about its root body's origin, from `to` on."""
    store_entries(work, to, (0.0,) * RATE)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        h, I = inertia_of(work, bodies, i)
        p, K = particle_rates(load(parameters, body_floats(i) + MASS), h, I, root_motion(topology, work, motions, i))
        store_entries(work, to + RATE * i, (*p, *K))
    gather_records(topology, work, to, RATE)


@kernel
def rate_rows(topology, parameters, work, motions, composites, rates, T, P, G):
    """Writes rows: T, the columns' own rates Sdot; P = I Sdot + B S; G, the moment B^T S (its force is zero)."""
    stride = load_int(topology, COLUMN_ROW)
    for c in range(load_int(topology, N_COLUMNS), stride):
        put_column(work, P, stride, c, (ZERO, ZERO))
        store_strided(work, G + c, stride, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        m, to = load(parameters, body_floats(i) + SUBTREE_MASS), rates + RATE * i
        h, I = inertia_of(work, composites, i)
        p, K = load3(work, to), load9(work, to + SPREAD)
        V = root_motion(topology, work, motions, i)
        for c in range(*column_range(topology, i)):
            l, w = S = root_direction(topology, work, i, c)
            dS = motion_cross(V, S)
            f, t = inertia_times(m, h, I, dS)
            g = add(cross(p, l), rotate_back(K, w))
            put_column(work, T, stride, c, dS)
            put_column(work, P, stride, c, (subtract(f, cross(p, w)), add(t, rotate(K, w))))
            store_strided(work, G + c, stride, g)


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
    work = kinematics_workspace(topology, parameters, q, G + 3 * stride - composites)
    upper, width = matrix_rows(topology, C)
    lower = workspace(q, width * width)
    column_rows(topology, parameters, work, composites, S, F)
    velocities(topology, work, v, motions)
    root_inertias(topology, parameters, work, bodies)
    subtree_rates(topology, parameters, work, motions, bodies, rates)
    rate_rows(topology, parameters, work, motions, composites, rates, T, P, G)
    step = row_step(work)
    for c in range(nc):
        subtree_products(topology, work, S, P, c, upper, width)
        end, s, t = last_column(topology, c) + 1, strided6(work, S + c, stride), strided6(work, T + c, stride)
        for k in range(c - c % step, end, step):
            x = s[3] * load_row(work, G + k) + s[4] * load_row(work, G + stride + k) + s[5] * load_row(work, G + 2 * stride + k)
            store_row(lower, width * c + k, keep_below(work, x + row_dot(t, work, F + k, stride), k, end))
        clear_beyond(lower, width, c, end)
    put_matrix(topology, upper, lower, C)
    add_armature_coriolis(topology, parameters, v, C)


FORCE = 6  # momentum of a subtree


def root_floating(topology, i):
    """Whether body i floats on the world by a free joint: a base."""
    first, end = column_range(topology, i)
    return parent_of(topology, i) == 0 and end - first == 6


def half_velocities(topology, v, u):
    """u: v of the bases, half of it elsewhere."""
    for j in range(load_int(topology, N_V)):
        store(u, j, 0.5 * load(v, j))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if root_floating(topology, i):
            first = coordinate(topology, column_range(topology, i)[0])
            for k in range(first, first + 6):
                store(u, k, load(v, k))


@kernel
def subtree_momenta(topology, parameters, work, motions, bodies, to):
    """Writes the momentum of every subtree about its root body's origin, from `to` on."""
    store_spatial(work, to, (ZERO, ZERO))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        h, I = inertia_of(work, bodies, i)
        P = inertia_times(load(parameters, body_floats(i) + MASS), h, I, root_motion(topology, work, motions, i))
        store_spatial(work, to + FORCE * i, P)
    gather_records(topology, work, to, FORCE)


@kernel
def gradient_rows(topology, parameters, work, motions, halves, composites, rates, momenta, T, Z, Q, Y, B):
    """Writes rows: T, the columns' own rates Sdot; Z = T + X; Q, the rates of their momenta I S; Y = Q - (S x* H - I X), and B, the
    same of half the base's velocity alone."""
    stride, root = load_int(topology, COLUMN_ROW), 0
    for c in range(load_int(topology, N_COLUMNS), stride):
        for rows in (Q, Y, B):
            put_column(work, rows, stride, c, (ZERO, ZERO))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        m, to = load(parameters, body_floats(i) + SUBTREE_MASS), rates + RATE * i
        h, I = inertia_of(work, composites, i)
        p, K, H = load3(work, to), load9(work, to + SPREAD), load_spatial(work, momenta + FORCE * i)
        if parent_of(topology, i) == 0:
            root = i
        V, base = root_motion(topology, work, motions, i), spatial_scale(0.5, root_motion(topology, work, halves, root))
        W, G = root_motion(topology, work, halves, parent_of(topology, i)), inertia_times(m, h, I, base)
        for c in range(*column_range(topology, i)):
            l, w = S = root_direction(topology, work, i, c)
            dS, X, x = motion_cross(V, S), motion_cross(S, W), motion_cross(S, base)
            rate = cross(w, p), add(add(rotate(K, w), rotate_back(K, w)), cross(p, l))
            rate = spatial_add(inertia_times(m, h, I, dS), rate)
            put_column(work, T, stride, c, dS)
            put_column(work, Z, stride, c, spatial_add(dS, X))
            put_column(work, Q, stride, c, rate)
            for rows, momentum, moved in ((Y, H, X), (B, G, x)):
                turned = spatial_subtract(force_cross(S, momentum), inertia_times(m, h, I, moved))
                put_column(work, rows, stride, c, spatial_subtract(rate, turned))


@kernel
def put_products(topology, work, S, F, T, Z, Q, Y, B, upper, lower, width):
    """Mdot - D on and above the diagonal, and below it, transposed."""
    stride, step = load_int(topology, COLUMN_ROW), row_step(work)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        first, last = column_range(topology, i)
        below = B if root_floating(topology, i) else Y
        for c in range(first, last):
            end, s = last_column(topology, c) + 1, strided6(work, S + c, stride)
            t, z = strided6(work, T + c, stride), strided6(work, Z + c, stride)
            for k in range(c - c % step, end, step):
                x = row_dot(z, work, F + k, stride) + row_dot(s, work, Q + k, stride)
                y = row_dot(t, work, F + k, stride) + row_dot(s, work, below + k, stride)
                store_row(upper, width * c + k, keep_below(work, x, k, end))
                store_row(lower, width * c + k, keep_below(work, y, k, end))
            clear_beyond(upper, width, c, end)
            clear_beyond(lower, width, c, end)
            for k in range(c + 1, last):  # columns of one joint move each other, as what is beyond the joint
                f, g = strided_spatial(work, F + k, stride), strided_spatial(work, Q + k, stride)
                X = spatial_subtract(strided_spatial(work, Z + k, stride),
                                     strided_spatial(work, T + k, stride))
                x = spatial_dot(spatial_of(t), f) + spatial_dot(spatial_of(s), g)
                store(lower, width * c + k, x + spatial_dot(X, strided_spatial(work, F + c, stride)))


@kernel
def hamel_terms(topology, parameters, q, v, M, C):
    """M (nv, nv), the mass matrix, and C (nv, nv) of the Hamel equations."""
    n, stride, tiles = load_int(topology, N_BODIES), load_int(topology, COLUMN_ROW), inertia_tiles(topology)
    composites = load_int(topology, FREE_AT)
    bodies = composites + tiles
    motions = bodies + tiles
    halves = motions + MOTION * (n + 1)
    rates = halves + MOTION * (n + 1)
    momenta = rates + RATE * (n + 1)
    S = momenta + FORCE * (n + 1)
    F, T, Z, Q, Y, B = tuple(S + 6 * k * stride for k in range(1, 7))
    work = kinematics_workspace(topology, parameters, q, S + 42 * stride - composites)
    u = workspace(q, load_int(topology, N_V))
    half_velocities(topology, v, u)
    column_rows(topology, parameters, work, composites, S, F)
    velocities(topology, work, v, motions)
    velocities(topology, work, u, halves)
    root_inertias(topology, parameters, work, bodies)
    subtree_rates(topology, parameters, work, motions, bodies, rates)
    subtree_momenta(topology, parameters, work, halves, bodies, momenta)
    gradient_rows(topology, parameters, work, motions, halves, composites, rates, momenta, T, Z, Q, Y, B)
    put_mass_matrix(topology, parameters, work, S, F, M)
    upper, width = matrix_rows(topology, C)
    lower = workspace(q, width * width)
    put_products(topology, work, S, F, T, Z, Q, Y, B, upper, lower, width)
    put_matrix(topology, upper, lower, C)
    for i in range(1, n + 1):
        add_bracket_forces(topology, i, v, M, load_int(topology, N_V), C)


def hamel_coriolis(topology, parameters, q, v, C):
    """C (nv, nv) of the Hamel equations, decoupling thesis, eq. (3.39): C v = bias - gravity, but Mdot - 2 C is not skew. b is
    the floating joint of a root body, q all other joints. Of the derivatives of M in rows of q, the mixed one, M_bq,q, goes whole
    to C_qq."""
    hamel_terms(topology, parameters, q, v, workspace(q, load_int(topology, N_V) * load_int(topology, N_V)), C)
