"""Gibbs-Appell equations: dual quaternion paper, eqs. (53)-(56). Appell's function S(q, v, a) of all bodies, and its derivative by
a."""

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.dual_quaternion.algebra import body_wrench_rate
from freeflyer.kernels.dual_quaternion.jacobians import (
    block_at, block_width, column_before, column_of, coordinate_of, end_of, gravity_of, jacobians, jacobians_size,
    omega_of,
)
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import dot, load3, load6, scale, sym_apply
from freeflyer.kernels.math.spatial import spatial_add_scaled
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.armature import add_armature_forces
from freeflyer.kernels.model.layout import ARMATURE_AT, INERTIA, MASS, N_BODIES, N_V


@inlined
def body_motion(topology, work, i, v, a):
    """Twist J v and its rate J a + Jdot v, (33) and (34), of body i."""
    here, length = block_at(topology, work, i), block_width(topology, work, i)
    k, zero = end_of(topology, i) - 1, 0.0 * load(v, 0)
    nu, rate = ((zero, zero, zero), (zero, zero, zero)), ((zero, zero, zero), (zero, zero, zero))
    while k >= 0:
        j, J = coordinate_of(topology, k), column_of(work, here + k, length)
        nu, rate = spatial_add_scaled(nu, load(v, j), J), spatial_add_scaled(rate, load(a, j), J)
        rate = spatial_add_scaled(rate, load(v, j), column_of(work, here + 6 * length + k, length))
        k = column_before(topology, k)
    return nu, rate


@kernel
def gibbs_appell(topology, parameters, q, v, a, gravity, energy, slope, active):
    """energy (1,): S (54), armature included; slope (nv,): dS/da (55); active (nv,): the forces (48) of gravity, J^T m g."""
    work, nv = workspace(q, jacobians_size(topology, q)), load_int(topology, N_V)
    jacobians(topology, parameters, q, v, load3(gravity, 0), work)
    total = 0.0 * load(work, 0)
    for j in range(nv):
        store(active, j, 0.0)
        store(slope, j, 0.0)
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
            j, J = coordinate_of(topology, k), column_of(work, here + k, length)  # da/da_j is J's column, (56)
            store(slope, j, load(slope, j) + (dot(J[0], moment) + dot(J[1], force)))
            store(active, j, load(active, j) + dot(J[1], weight))
            k = column_before(topology, k)
    store(energy, 0, total)
