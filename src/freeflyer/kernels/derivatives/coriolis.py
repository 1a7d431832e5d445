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

from freeflyer.kernels.backend import (
    keep_below, kernel, load, load_int, load_row, put_sum, row_step, store, store_row, workspace, zero_entries,
)
from freeflyer.kernels.derivatives.inverse import (
    ACCELERATION, FORCE, MOTION_RECORD, areas, body_inertias, column_loads, more_than_kinematics, subtree_loads, velocities,
)
from freeflyer.kernels.math.algebra import add, cross, rotate, rotate_back, store_rows, strided6
from freeflyer.kernels.math.spatial import (
    force_cross, inertia_times, motion_cross, spatial_add, spatial_dot, spatial_of, spatial_subtract, store_spatial_rows,
    strided_spatial,
)
from freeflyer.kernels.model.access import joint_row
from freeflyer.kernels.model.joints.armature import add_armature_coriolis
from freeflyer.kernels.model.joints.columns import add_bracket_forces
from freeflyer.kernels.model.layout import COLUMN_ROW, FREE_AT, N_BODIES, N_COLUMNS, N_V
from freeflyer.kernels.tree.columns import clear_beyond, last_column, matrix_rows, put_matrix, row_dot, subtree_products
from freeflyer.kernels.tree.kinematics import (
    OF_BODY, OF_NUMBER, OF_PARENT, add_record, column_range, coordinate, kinematics_workspace, parent_of, put_records, record_rows,
)
from freeflyer.kernels.tree.mass_matrix import put_mass_matrix


def rates_of(loads, s, dS):
    """The rate of the momentum I S of columns with these loads, directions and rates dS, in two parts: I dS + B S, and the moment
    of B^T S (its force is zero)."""
    (m, h, I, p, K), (l, w) = loads, s
    return spatial_add(inertia_times(m, h, I, dS), (cross(w, p), rotate(K, w))), add(cross(p, l), rotate_back(K, w))


@kernel
def coriolis(topology, parameters, q, v, C):
    """C (nv, nv) with C v = bias - gravity and Mdot = C + C^T."""
    nc, stride = load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    work, rows = kinematics_workspace(topology, parameters, q, more_than_kinematics(topology)), workspace(q, 27 * stride)
    moving, (S, F, T, P, G) = areas(topology)[1], tuple(6 * k * stride for k in range(5))
    upper, width = matrix_rows(topology, C)
    lower = workspace(q, width * width)
    velocities(topology, work, v, moving)
    subtree_loads(topology, parameters, work)
    step = row_step(work)
    for c in range(0, nc, step):
        loads, s, f = column_loads(topology, work, c)
        dS = motion_cross(spatial_of(record_rows(topology, work, moving, MOTION_RECORD, OF_BODY, c, nc)), s)
        rate, moment = rates_of(loads, s, dS)
        for to, x in ((S, s), (F, f), (T, dS), (P, rate)):
            store_spatial_rows(rows, to + c, stride, x)
        store_rows(rows, G + c, stride, moment)
    for c in range(nc):
        subtree_products(topology, rows, S, P, c, upper, width)
        end, s, t = last_column(topology, c) + 1, strided6(rows, S + c, stride), strided6(rows, T + c, stride)
        for k in range(c - c % step, end, step):
            x = s[3] * load_row(rows, G + k) + s[4] * load_row(rows, G + stride + k) + s[5] * load_row(rows, G + 2 * stride + k)
            store_row(lower, width * c + k, keep_below(rows, x + row_dot(t, rows, F + k, stride), k, end))
        clear_beyond(lower, width, c, end)
    put_matrix(topology, upper, lower, C)
    add_armature_coriolis(topology, parameters, v, C)


def root_floating(topology, i):
    """Whether body i floats on the world by a free joint: a base."""
    first, end = column_range(topology, i)
    return parent_of(topology, i) == 0 and end - first == 6


def half_velocities(topology, v, u, base):
    """u: v of the bases, half of it elsewhere; base: half of v of the bases, zero elsewhere."""
    zero_entries(base, load_int(topology, N_V))
    put_sum(base, 0.5, v, load_int(topology, N_V), u)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        if root_floating(topology, i):
            first = coordinate(topology, column_range(topology, i)[0])
            for k in range(first, first + 6):
                store(u, k, load(v, k))
                store(base, k, 0.5 * load(v, k))


@kernel
def subtree_momenta(topology, parameters, work, halves):
    """Writes the momentum of every subtree at half velocities."""
    n, forces = load_int(topology, N_BODIES), areas(topology)[4]
    for i in range(0, n + 1, row_step(work)):
        W = spatial_of(record_rows(topology, work, halves, MOTION_RECORD, OF_NUMBER, i, n + 1))
        f, t = inertia_times(*body_inertias(topology, parameters, work, i), W)
        z = 0.0 * f[0]
        put_records(work, forces, FORCE, i, (*f, *t, z, z))
    for i in range(n, 0, -1):
        add_record(work, forces + FORCE * parent_of(topology, i), forces + FORCE * i, 6)


@kernel
def gradient_rows(topology, work, halves, bases, rows, S, F, T, Z, Q, Y, B):
    """Writes rows: S and F; T, the columns' own rates Sdot; Z = T + X; Q, the rates of their momenta I S; Y = Q - (S x* H - I X),
    and B, the same of half the base's velocity alone."""
    (_, moving, _, _, forces, _), n, stride = areas(topology), load_int(topology, N_COLUMNS), load_int(topology, COLUMN_ROW)
    for c in range(0, n, row_step(work)):
        loads, s, f = column_loads(topology, work, c)
        m, h, I = loads[:3]
        V, base = tuple(spatial_of(record_rows(topology, work, at, MOTION_RECORD, OF_BODY, c, n)) for at in (moving, bases))
        W = spatial_of(record_rows(topology, work, halves, MOTION_RECORD, OF_PARENT, c, n))
        H = spatial_of(record_rows(topology, work, forces, FORCE, OF_BODY, c, n))
        dS, X, x = motion_cross(V, s), motion_cross(s, W), motion_cross(s, base)
        rate, moment = rates_of(loads, s, dS)
        rate = rate[0], add(rate[1], moment)
        own = tuple(spatial_subtract(rate, spatial_subtract(force_cross(s, momentum), inertia_times(m, h, I, moved)))
                    for momentum, moved in ((H, X), (inertia_times(m, h, I, base), x)))
        for to, row in ((S, s), (F, f), (T, dS), (Z, spatial_add(dS, X)), (Q, rate), (Y, own[0]), (B, own[1])):
            store_spatial_rows(rows, to + c, stride, row)


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
    nv, stride, more = load_int(topology, N_V), load_int(topology, COLUMN_ROW), more_than_kinematics(topology)
    work = kinematics_workspace(topology, parameters, q, more + MOTION_RECORD * joint_row(topology))
    u, base, rows = workspace(q, nv), workspace(q, nv), workspace(q, 42 * stride)
    moving, (S, F, T, Z, Q, Y, B) = areas(topology)[1], tuple(6 * k * stride for k in range(7))
    halves, bases = moving + ACCELERATION, load_int(topology, FREE_AT) + more
    half_velocities(topology, v, u, base)
    for x, to in ((v, moving), (u, halves), (base, bases)):
        velocities(topology, work, x, to)
    subtree_loads(topology, parameters, work)
    subtree_momenta(topology, parameters, work, halves)
    gradient_rows(topology, work, halves, bases, rows, S, F, T, Z, Q, Y, B)
    put_mass_matrix(topology, parameters, rows, S, F, M)
    upper, width = matrix_rows(topology, C)
    lower = workspace(q, width * width)
    put_products(topology, rows, S, F, T, Z, Q, Y, B, upper, lower, width)
    put_matrix(topology, upper, lower, C)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        add_bracket_forces(topology, i, v, M, nv, C)


def hamel_coriolis(topology, parameters, q, v, C):
    """C (nv, nv) of the Hamel equations, decoupling thesis, eq. (3.39): C v = bias - gravity, but Mdot - 2 C is not skew. b is
    the floating joint of a root body, q all other joints. Of the derivatives of M in rows of q, the mixed one, M_bq,q, goes whole
    to C_qq."""
    hamel_terms(topology, parameters, q, v, workspace(q, load_int(topology, N_V) * load_int(topology, N_V)), C)
