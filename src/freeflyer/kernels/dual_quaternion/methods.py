"""Three methods of the dual quaternion paper, section 4, for trees of any joints: Gauss's principle, Gibbs-Appell, Kane.

dqGP, Gauss's principle of least constraint: the sums (46), (47) and (50) over bodies, as printed, by products along rows: a scalar
of the path to the world times a row of columns. They are cubic in the length of a chain, as in the paper.

Gibbs-Appell, (53)-(56): Appell's function S(q, v, a) of all bodies, and its derivative by a.

Kane, (57)-(60): partial twists of the centres of mass times inertia wrenches, and times active ones. The partial twist of c_i by a
joint's velocity is that joint's own twist in the frame c_i, and the power of a wrench and a twist does not depend on the frame in
which both are: so each body's wrenches go to the world, from joint to joint, and each joint on the way takes its part."""

from freeflyer.kernels.backend import (
    kernel, load, load_int, load_row, row_step, row_width, store, store_row, workspace, zero_entries, zero_workspace,
)
from freeflyer.kernels.dual_quaternion.jacobians import (
    block_at, block_width, body_wrench_rate, column_before, column_rows, com_of, end_of, gravity_of, jacobians, jacobians_size,
    omega_of, translate,
)
from freeflyer.kernels.dual_quaternion.newton_euler import BODY_SIZE, WRENCH, forward, work_size
from freeflyer.kernels.math.algebra import ZERO, dot, load3, load6, rotate_back, scale, sym_apply
from freeflyer.kernels.math.spatial import load_spatial, spatial_add_scaled, strided_spatial
from freeflyer.kernels.model.access import body_floats, body_ints, joint_row
from freeflyer.kernels.model.joints.armature import add_armature_coriolis, add_armature_forces, put_armature
from freeflyer.kernels.model.joints.motion import add_joint_forces
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, to_parent
from freeflyer.kernels.model.layout import ARMATURE_AT, INERTIA, MASS, N_BODIES, N_COLUMNS, N_V, PARENT
from freeflyer.kernels.tree.columns import condense
from freeflyer.kernels.tree.kinematics import coordinate
from freeflyer.kernels.tree.rnea import body_pose


def row_times(J, force, moment):
    """J^T (wrench) of one column or row: moment with the primary part, force with the dual one."""
    return dot(J[0], moment) + dot(J[1], force)


def add_body(topology, parameters, work, i, M, C, width, forces):
    """M, up to its diagonal, and C, rows of columns, and the row `forces` of gravity grow by body i's terms."""
    at, omega, step = body_floats(i), omega_of(topology, work, i), row_step(work)
    m, I = load(parameters, at + MASS), load6(parameters, at + INERTIA)
    weight = scale(m, gravity_of(topology, work, i))
    here, length, end = block_at(topology, work, i), block_width(topology, work, i), end_of(topology, i)
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
    here, length = block_at(topology, work, i), block_width(topology, work, i)
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
        at, here, length = body_floats(i), block_at(topology, work, i), block_width(topology, work, i)
        nu, rate = body_motion(topology, work, i, v, a)
        m, I = load(parameters, at + MASS), load6(parameters, at + INERTIA)
        force, moment = body_wrench_rate(parameters, at, omega_of(topology, work, i), nu, rate)  # Psi a + S nu
        half = 0.5 * (m * dot(rate[1], rate[1]) + dot(rate[0], sym_apply(I, rate[0])))
        total = total + (dot(rate[1], force) + dot(rate[0], moment) - half)
        weight, k = scale(m, gravity_of(topology, work, i)), end_of(topology, i) - 1
        while k >= 0:
            j, J = coordinate(topology, k), strided_spatial(work, here + k, length)  # da/da_j is J's column, (56)
            store(slope, j, load(slope, j) + (dot(J[0], moment) + dot(J[1], force)))
            store(active, j, load(active, j) + dot(J[1], weight))
            k = column_before(topology, k)
    store(energy, 0, total)


@kernel
def project_on_partial_twists(topology, parameters, q, work, i, zeta, forces):
    """forces (nv,) grow by J^T zeta, of a wrench on body i at its origin in its axes; work holds the joints' angles."""
    force, moment = zeta
    while i > 0:
        joint = joint_at(topology, work, i)
        add_joint_forces(joint, parameters, force, moment, forces)
        force, moment = translate(origin(joint, parameters, q), to_parent(joint, parameters, q, (force, moment)))
        i = load_int(topology, body_ints(i) + PARENT)


def kane(topology, parameters, q, v, a, gravity, inertial, active):
    """inertial (nv,): phi, of the wrenches Psi a + S nu, armature included; active (nv,): those (60) of gravity."""
    g, work = load3(gravity, 0), workspace(q, work_size(topology))
    joint_angles(topology, parameters, q, work)
    forward(topology, parameters, q, v, v, True, a, ZERO, work)
    put_armature(topology, parameters, v, a, inertial)
    for j in range(load_int(topology, N_V)):
        store(active, j, 0.0 * load(v, j))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        at, zeta = body_floats(i), load_spatial(work, 3 * joint_row(topology) + BODY_SIZE * i + WRENCH)
        project_on_partial_twists(topology, parameters, q, work, i, zeta, inertial)
        R, _ = body_pose(topology, parameters, q, work, i)
        weight = scale(load(parameters, at + MASS), rotate_back(R, g))
        zeta = translate(com_of(parameters, at), (weight, scale(0.0, weight)))
        project_on_partial_twists(topology, parameters, q, work, i, zeta, active)
