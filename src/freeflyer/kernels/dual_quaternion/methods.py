"""Gauss's principle and Gibbs-Appell by Jacobians of centres of mass: dual quaternion paper, section 4, for trees of any joints.

Jacobians and their rates, (33) and (34) of the paper, are rows over columns in the axes of c_i. Column k of J is the twist of c_i
when column k of the joints moves at unit rate: the parent's, moved by the adjoint of (19), and the own one of its joint, which is
constant there. So Jdot = Ad(x) Jdot of the parent, plus (Ad(x) J) x xi: (20) for columns. Columns are numbered depth-first: those
of body i and its parents come before `end_of(i)`. A body's block is six rows J and six rows Jdot, of which no more is defined.

dqGP, Gauss's principle of least constraint: the sums (46), (47) and (50) over bodies, as printed, by products along rows: a scalar
of the path to the world times a row of columns. They are cubic in the length of a chain, as in the paper.

Gibbs-Appell, (53)-(56): Appell's function S(q, v, a) of all bodies, and its derivative by a."""

from freeflyer.kernels.backend import (
    kernel, load, load_int, load_row, row_step, row_width, store, store_row, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.dual_quaternion.newton_euler import body_wrench_rate, com_of, translate, translate_back
from freeflyer.kernels.math.algebra import (
    ZERO, dot, load3, load6, rows6, scale, store_entries, store_strided, subtract, sym_apply,
)
from freeflyer.kernels.math.spatial import (
    load_spatial, spatial_add_scaled, spatial_of, store_spatial, store_spatial_rows, strided_spatial,
)
from freeflyer.kernels.model.access import body_floats, body_ints, joint_row
from freeflyer.kernels.model.joints.armature import add_armature_coriolis, add_armature_forces
from freeflyer.kernels.model.joints.motion import acceleration_terms, add_along_column, add_cross_joint_twist
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, to_child
from freeflyer.kernels.model.layout import (
    ARMATURE_AT, COLUMN_COUNT, COLUMN_INTS, COLUMNS_AT, FIRST_COLUMN, INERTIA, MASS, N_BODIES, N_COLUMNS, N_V, PARENT,
    PARENT_COLUMN,
)
from freeflyer.kernels.tree.columns import condense
from freeflyer.kernels.tree.kinematics import coordinate

ROWS = 12  # of a block: six of J, angular first, then six of Jdot
MOTION = 6  # of a body: angular velocity, gravity, in its axes


def end_of(topology, i):
    """Behind the last column of body i; 0 of the world."""
    return load_int(topology, body_ints(i) + FIRST_COLUMN) + load_int(topology, body_ints(i) + COLUMN_COUNT)


def motions_at(topology):
    """Where in work the angular velocities and gravity of bodies begin."""
    return 3 * joint_row(topology)


def block_at(topology, work, i):
    """(where in work body i's block begins, the length of its rows)."""
    width = row_width(work, load_int(topology, N_COLUMNS))
    return motions_at(topology) + MOTION * (load_int(topology, N_BODIES) + 1) + ROWS * width * i, width


def jacobians_size(topology, q):
    end, _ = block_at(topology, q, load_int(topology, N_BODIES) + 1)
    return end


def column_rows(work, at, width):
    """(primary, dual) of six rows, `width` apart."""
    return spatial_of(rows6(work, at, width))


def column_before(topology, k):
    """The column before column k on the way to the world, or -1."""
    return load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * k + PARENT_COLUMN)


def motion_of(topology, work, i):
    """(angular velocity, gravity) of body i, in its axes."""
    return load_spatial(work, motions_at(topology) + MOTION * i)


@kernel
def jacobians(topology, parameters, q, v, g, work):
    """Fills work with J, Jdot, the angular velocity and gravity of every body, at the velocity v and under gravity g."""
    joint_angles(topology, parameters, q, work)
    motions, step = motions_at(topology), row_step(work)
    store_spatial(work, motions, (ZERO, g))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        parent, joint, at = load_int(topology, body_ints(i) + PARENT), joint_at(topology, work, i), body_floats(i)
        w, down = to_child(joint, parameters, q, load_spatial(work, motions + MOTION * parent))
        store_entries(work, motions + MOTION * i, (*acceleration_terms(joint, parameters, v, w, ZERO)[0], *down))
        c = com_of(parameters, at)
        p = subtract(com_of(parameters, body_floats(parent)), origin(joint, parameters, q))
        (there, width), (here, _) = block_at(topology, work, parent), block_at(topology, work, i)
        end = end_of(topology, parent) if parent > 0 else 0
        for k in range(0, end, step):
            J = translate(p, column_rows(work, there + k, width))
            rate = translate(p, column_rows(work, there + 6 * width + k, width))
            a, b, d, e = to_child(joint, parameters, q, (*J, *rate))
            J, rate = (a, b), add_cross_joint_twist(joint, parameters, v, (a, b), (d, e))
            store_spatial_rows(work, here + k, width, translate_back(c, J))
            store_spatial_rows(work, here + 6 * width + k, width, translate_back(c, rate))
        for k in range(row_width(work, end), row_width(work, end_of(topology, i)), step):
            store_spatial_rows(work, here + k, width, (ZERO, ZERO))
            store_spatial_rows(work, here + 6 * width + k, width, (ZERO, ZERO))
        first = load_int(topology, body_ints(i) + FIRST_COLUMN)
        for k in range(load_int(topology, body_ints(i) + COLUMN_COUNT)):
            linear, angular = add_along_column(joint, parameters, k, 1.0, ZERO, ZERO)
            angular, linear = translate_back(c, (angular, linear))
            store_strided(work, here + first + k, width, (*angular, *linear))


def row_times(J, force, moment):
    """J^T (wrench) of one column or row: moment with the primary part, force with the dual one."""
    return dot(J[0], moment) + dot(J[1], force)


def add_body(topology, parameters, work, i, M, C, width, forces):
    """M, up to its diagonal, and C, rows of columns, and the row `forces` of gravity grow by body i's terms."""
    at, (omega, gravity), step = body_floats(i), motion_of(topology, work, i), row_step(work)
    m, I = load(parameters, at + MASS), load6(parameters, at + INERTIA)
    weight = scale(m, gravity)
    (here, length), end = block_at(topology, work, i), end_of(topology, i)
    for k in range(0, end, step):
        J, rate = column_rows(work, here + k, length), column_rows(work, here + 6 * length + k, length)
        force, moment = scale(m, J[1]), sym_apply(I, J[0])  # Psi J
        carried, turned = body_wrench_rate(parameters, at, omega, J, rate)  # S J + Psi Jdot, (44)
        r = end - 1
        while r >= 0:
            column = strided_spatial(work, here + r, length)
            to = width * r + k
            if k <= r:
                store_row(M, to, load_row(M, to) + row_times(column, force, moment))
            store_row(C, to, load_row(C, to) + row_times(column, carried, turned))
            r = column_before(topology, r)
        store_row(forces, k, load_row(forces, k) + dot(J[1], weight))


def gauss_equations(topology, parameters, q, v, gravity, M, C, forces):
    """M (nv, nv), C (nv, nv) with Mdot - 2 C skew, and the forces (nv,) that hold the robot: (46), (47), minus (50)."""
    n, nv = load_int(topology, N_COLUMNS), load_int(topology, N_V)
    width = row_width(q, n)
    work = workspace(q, jacobians_size(topology, q))
    inertias, rates, weights = zero_workspace(q, n * width), zero_workspace(q, n * width), zero_workspace(q, width)
    jacobians(topology, parameters, q, v, load3(gravity, 0), work)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        add_body(topology, parameters, work, i, inertias, rates, width, weights)
    for i in range(n):
        for j in range(i):
            store(inertias, width * j + i, load(inertias, width * i + j))
    condense(topology, inertias, width, M, nv)
    condense(topology, rates, width, C, nv)
    add_armature_coriolis(topology, parameters, v, C)
    for j in range(nv):
        store(M, nv * j + j, load(M, nv * j + j) + load(parameters, load_int(topology, ARMATURE_AT) + j))
        store(forces, j, 0.0)
    for k in range(n):
        j = coordinate(topology, k)
        store(forces, j, load(forces, j) - load(weights, k))


def body_motion(topology, work, i, v, a):
    """Twist J v and its rate J a + Jdot v, (33) and (34), of body i."""
    here, length = block_at(topology, work, i)
    k, zero = end_of(topology, i) - 1, 0.0 * load(v, 0)
    nu, rate = ((zero, zero, zero), (zero, zero, zero)), ((zero, zero, zero), (zero, zero, zero))
    while k >= 0:
        j, J = coordinate(topology, k), strided_spatial(work, here + k, length)
        nu, rate = spatial_add_scaled(nu, load(v, j), J), spatial_add_scaled(rate, load(a, j), J)
        rate = spatial_add_scaled(rate, load(v, j), strided_spatial(work, here + 6 * length + k, length))
        k = column_before(topology, k)
    return nu, rate


def gibbs_appell(topology, parameters, q, v, a, gravity, energy, slope, active):
    """energy (1,): S (54), armature included; slope (nv,): dS/da (55); active (nv,): the forces (48) of gravity, J^T m g."""
    work, nv = workspace(q, jacobians_size(topology, q)), load_int(topology, N_V)
    jacobians(topology, parameters, q, v, load3(gravity, 0), work)
    total = 0.0 * load(work, 0)
    zero_entries(active, nv)
    zero_entries(slope, nv)
    add_armature_forces(topology, parameters, v, 1.0, slope, 0)
    for j in range(nv):
        inertial = load(parameters, load_int(topology, ARMATURE_AT) + j) * load(a, j)
        total = total + load(a, j) * (0.5 * inertial + load(slope, j))
        store(slope, j, load(slope, j) + inertial)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at, (here, length) = body_floats(i), block_at(topology, work, i)
        nu, rate = body_motion(topology, work, i, v, a)
        m, I, (omega, g) = load(parameters, at + MASS), load6(parameters, at + INERTIA), motion_of(topology, work, i)
        force, moment = body_wrench_rate(parameters, at, omega, nu, rate)  # Psi a + S nu
        half = 0.5 * (m * dot(rate[1], rate[1]) + dot(rate[0], sym_apply(I, rate[0])))
        total = total + (dot(rate[1], force) + dot(rate[0], moment) - half)
        weight, k = scale(m, g), end_of(topology, i) - 1
        while k >= 0:
            j, J = coordinate(topology, k), strided_spatial(work, here + k, length)  # da/da_j is J's column, (56)
            store(slope, j, load(slope, j) + (dot(J[0], moment) + dot(J[1], force)))
            store(active, j, load(active, j) + dot(J[1], weight))
            k = column_before(topology, k)
    store(energy, 0, total)
