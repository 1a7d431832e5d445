"""Jacobians of all centres of mass and their rates, (33) and (34) of the dual quaternion paper, as rows over columns; axes of c_i.

Column k of J is the twist of c_i when column k of the joints moves at unit rate: the parent's, moved by the adjoint of (19), and
the own one of its joint, which is constant there. So Jdot = Ad(x) Jdot of the parent, plus (Ad(x) J) x xi: (20) for columns.
Columns are numbered depth-first: those of body i and its parents come before `end_of(i)`, so that blocks of six rows J and six rows
Jdot fill half a square. Pure dual quaternions are pairs (primary, dual) of 3-vectors; numbers in brackets are those of the paper.
"""

from freeflyer.kernels.backend import kernel, load, load_int, row_step, row_width
from freeflyer.kernels.math.algebra import (
    ZERO, add, cross, load3, load6, rows6, scale, store_entries, store_strided, subtract, sym_apply,
)
from freeflyer.kernels.math.spatial import load_spatial, spatial_of, store_spatial, store_spatial_rows
from freeflyer.kernels.model.access import body_floats, body_ints, joint_row
from freeflyer.kernels.model.joints.motion import acceleration_terms, add_along_column, add_cross_joint_twist
from freeflyer.kernels.model.joints.placement import joint_angles, joint_at, origin, to_child
from freeflyer.kernels.model.layout import (
    COLUMN_COUNT, COLUMN_INTS, COLUMNS_AT, COM, FIRST_COLUMN, INERTIA, MASS, N_BODIES, N_COLUMNS, PARENT, PARENT_COLUMN,
)


def translate(p, h):
    """Ad(1 + eps p / 2) h: h, given about a point, about the point from which p leads there."""
    return h[0], add(h[1], cross(p, h[0]))


def translate_back(p, h):
    """Ad(1 - eps p / 2) h: the inverse of `translate`."""
    return h[0], add(h[1], cross(h[0], p))


def com_of(parameters, at):
    """Centre of mass of the body whose record begins at `at`, from its origin in its axes."""
    return load3(parameters, at + COM)


def body_wrench_rate(parameters, at, omega, twist, rate):
    """Psi rate + S(omega) twist: (25) and (26) as one wrench force + eps torque at the centre of mass. For the body's own angular
    velocity omega, `twist` being its twist, that is what its motion takes; for any other twist it is the product with (44) of
    Gauss's principle, which is linear in it."""
    m, I = load(parameters, at + MASS), load6(parameters, at + INERTIA)
    force = scale(m, add(rate[1], cross(omega, twist[1])))
    return force, add(sym_apply(I, rate[0]), cross(twist[0], sym_apply(I, omega)))


ROWS = 12  # of a block: six of J, angular first, then six of Jdot
MOTION = 6  # of a body: angular velocity, gravity, in its axes


def end_of(topology, i):
    """Behind the last column of body i; 0 of the world."""
    return load_int(topology, body_ints(i) + FIRST_COLUMN) + load_int(topology, body_ints(i) + COLUMN_COUNT)


def motions_at(topology):
    """Where in work the angular velocities and gravity of bodies begin."""
    return 3 * joint_row(topology)


def block_at(topology, work, i):
    """Where in work body i's block begins: behind those of bodies with fewer columns."""
    step, before = row_step(work), max(end_of(topology, i) - 1, 0)
    whole, rest = before // step, before % step
    return motions_at(topology) + MOTION * (load_int(topology, N_BODIES) + 1) + ROWS * step * (
        step * whole * (whole + 1) // 2 + rest * (whole + 1))  # fmt: skip


def block_width(topology, work, i):
    return row_width(work, end_of(topology, i))


def jacobians_size(topology, q):
    step, columns = row_step(q), load_int(topology, N_COLUMNS) + 1
    blocks = columns * (columns + step) // 2 + step * step
    return motions_at(topology) + MOTION * (load_int(topology, N_BODIES) + 1) + ROWS * blocks


def column_rows(work, at, width):
    """(primary, dual) of six rows, `width` apart."""
    return spatial_of(rows6(work, at, width))


def column_before(topology, k):
    """The column before column k on the way to the world, or -1."""
    return load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * k + PARENT_COLUMN)


def omega_of(topology, work, i):
    """Angular velocity of body i, in its axes."""
    return load3(work, motions_at(topology) + MOTION * i)


def gravity_of(topology, work, i):
    return load3(work, motions_at(topology) + MOTION * i + 3)


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
        there, before = block_at(topology, work, parent), block_width(topology, work, parent)
        here, width = block_at(topology, work, i), block_width(topology, work, i)
        end = end_of(topology, parent) if parent > 0 else 0
        for k in range(0, end, step):
            J = translate(p, column_rows(work, there + k, before))
            rate = translate(p, column_rows(work, there + 6 * before + k, before))
            a, b, d, e = to_child(joint, parameters, q, (*J, *rate))
            J, rate = (a, b), add_cross_joint_twist(joint, parameters, v, (a, b), (d, e))
            store_spatial_rows(work, here + k, width, translate_back(c, J))
            store_spatial_rows(work, here + 6 * width + k, width, translate_back(c, rate))
        for k in range(row_width(work, end), width, step):
            store_spatial_rows(work, here + k, width, (ZERO, ZERO))
            store_spatial_rows(work, here + 6 * width + k, width, (ZERO, ZERO))
        first = load_int(topology, body_ints(i) + FIRST_COLUMN)
        for k in range(load_int(topology, body_ints(i) + COLUMN_COUNT)):
            linear, angular = add_along_column(joint, parameters, k, 1.0, ZERO, ZERO)
            angular, linear = translate_back(c, (angular, linear))
            store_strided(work, here + first + k, width, (*angular, *linear))
