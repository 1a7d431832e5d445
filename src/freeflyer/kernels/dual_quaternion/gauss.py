"""dqGP, the equations of motion by Gauss's principle of least constraint: dual quaternion paper, section 4, for trees of any
joints.

The sums (46), (47) and (50) over bodies, as printed, by products along rows: a scalar of the path to the world times a row of
columns. They are cubic in the length of a chain, as in the paper.
"""

from freeflyer.kernels.backend.buffers import load, load_int, load_row, row_step, row_width, store, store_row, workspace
from freeflyer.kernels.dual_quaternion.algebra import body_wrench_rate
from freeflyer.kernels.dual_quaternion.jacobians import (
    block_at, block_width, column_before, column_of, column_rows, coordinate_of, end_of, gravity_of, jacobians,
    jacobians_size, omega_of,
)
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import dot, load3, load6, scale, sym_apply
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.joints.armature import add_armature_coriolis
from freeflyer.kernels.model.layout import ARMATURE_AT, INERTIA, MASS, N_BODIES, N_COLUMNS, N_V
from freeflyer.kernels.tree.columns import condense, mirror


@inlined
def row_times(J, force, moment):
    """J^T (wrench) of one column or row: moment with the primary part, force with the dual one."""
    return dot(J[0], moment) + dot(J[1], force)


@inlined
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
            column = column_of(work, here + r, length)
            to = width * r + k
            if k <= r:
                store_row(M, to, load_row(M, to) + row_times(column, force, moment))
            store_row(C, to, load_row(C, to) + row_times(column, carried, turned))
            r = column_before(topology, r)
        store_row(forces, k, load_row(forces, k) + dot(J[1], weight))


@kernel
def gauss_equations(topology, parameters, q, v, gravity, M, C, forces):
    """M (nv, nv), C (nv, nv) with Mdot - 2 C skew, and the forces (nv,) that hold the robot: (46), (47), minus (50)."""
    n, nv = load_int(topology, N_COLUMNS), load_int(topology, N_V)
    width = row_width(q, n)
    work = workspace(q, jacobians_size(topology, q))
    inertias, rates, weights = workspace(q, n * width), workspace(q, n * width), workspace(q, width)
    jacobians(topology, parameters, q, v, load3(gravity, 0), work)
    for k in range(n * width):
        store(inertias, k, 0.0)
        store(rates, k, 0.0)
    for k in range(width):
        store(weights, k, 0.0)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        add_body(topology, parameters, work, i, inertias, rates, width, weights)
    mirror(inertias, n, width)
    condense(topology, inertias, width, M, nv)
    condense(topology, rates, width, C, nv)
    add_armature_coriolis(topology, parameters, v, C)
    for j in range(nv):
        store(M, nv * j + j, load(M, nv * j + j) + load(parameters, load_int(topology, ARMATURE_AT) + j))
        store(forces, j, 0.0)
    for k in range(n):
        j = coordinate_of(topology, k)
        store(forces, j, load(forces, j) - load(weights, k))
