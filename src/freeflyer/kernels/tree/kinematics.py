"""Forward kinematics in world axes: the first pass of every algorithm but inverse dynamics. Inertias and motions of bodies.

Everything is expressed in world axes, at each body's own origin: shifting then costs one cross product, composite inertias need no
rotation, and precision does not suffer far from the world's origin. Algorithms use a body's rotation, its offset from its parent
and its motion columns. Joints first, as rows of bodies: the pose of every body in its parent. Then along the tree, a vector at a
time.

A record of a body or column is summed along the tree a register at a time; formulas take the same entry of eight of them."""

from freeflyer.kernels.backend import (
    LANES, block, kernel, like, load, load_int, load_row, put_block, row_step, store_row, transposed, workspace,
)
from freeflyer.kernels.math.algebra import (
    ZERO, add, add_entries, load3, load6, point_inertia, rotate, scale, store_strided, sym_rotate, transpose,
)
from freeflyer.kernels.math.spatial import load_spatial, spatial_add_scaled
from freeflyer.kernels.model.access import body_floats, body_ints, joint_row
from freeflyer.kernels.model.joints.columns import joint_columns
from freeflyer.kernels.model.joints.placement import joint_angles, relative_pose, relative_rows, row_pose_holds
from freeflyer.kernels.model.layout import (
    COLUMN_BODY, COLUMN_COUNT, COLUMN_INTS, COLUMNS_AT, COM, COORDINATE, DIRECTION, DIRECTIONS_AT, FIRST_COLUMN, FREE_AT, INERTIA,
    IS_REFERENCE, MASS, N_BODIES, ORDER_AT, PARENT,
)
from freeflyer.kernels.model.poses import (
    FROM_PARENT, FROM_REFERENCE, POSITION, X_AXIS, Y_AXIS, Z_AXIS, along, load_vector, plus, pose_at, pose_vectors_at,
    put_spaced_rows, spaced3, store_vector, times, transpose_poses, vector, vector_step,
)

COMPOSITE, SECOND_MOMENT = 9, 3  # first moment (3), then inertia (6) of a subtree at its root body's origin


def inertia_about(m, c, I):
    """(first moment, inertia) about a point, of mass m at c from it whose inertia about its centre is I."""
    h = scale(m, c)
    return h, add_entries(I, point_inertia(h, c))


def inertia_from(parameters, i, R, x):
    """(first moment, inertia) of body i about the point from which x leads to its origin, in the axes that R leads to."""
    at = body_floats(i)
    c = add(x, rotate(R, load3(parameters, at + COM)))
    return inertia_about(load(parameters, at + MASS), c, sym_rotate(R, load6(parameters, at + INERTIA)))


def body_inertia(parameters, i, R):
    """(first moment, inertia) of body i about its origin, in the axes that R leads to."""
    return inertia_from(parameters, i, R, ZERO)


def column_range(topology, i):
    """(first column, one past the last) of body i."""
    first = load_int(topology, body_ints(i) + FIRST_COLUMN)
    return first, first + load_int(topology, body_ints(i) + COLUMN_COUNT)


def coordinate(topology, column):
    return load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * column + COORDINATE)


def parent_of(topology, i):
    return load_int(topology, body_ints(i) + PARENT)


def direction_at(topology, column):
    """Where a column's direction lies in work."""
    return load_int(topology, DIRECTIONS_AT) + DIRECTION * column


def add_joint_motion(topology, work, i, rates, V):
    """V plus the sum of body i's columns times their rates."""
    for c in range(*column_range(topology, i)):
        V = spatial_add_scaled(V, load(rates, coordinate(topology, c)), load_spatial(work, direction_at(topology, c)))
    return V


def zeros(example):
    """Three zeros of the kind of a scalar."""
    return like(example, 0.0), like(example, 0.0), like(example, 0.0)


OF_NUMBER, OF_BODY, OF_PARENT = 0, 1, 2  # whose record: number i's; of column i's body; of that body's parent


def record_at(topology, at, size, whose, i, end):
    k = min(i, end - 1)
    if whose != OF_NUMBER:
        k = load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * k + COLUMN_BODY)
    return at + size * (parent_of(topology, k) if whose == OF_PARENT else k)


def record_rows(topology, work, at, size, whose, i, end):
    """Eight entries from `at` on of the records, `size` apart, of i, i + 1, ... (those from `end` on: of the last)."""
    if row_step(work) == 1:
        return block(work, record_at(topology, at, size, whose, i, end), 1)
    return transposed(tuple(load_row(work, record_at(topology, at, size, whose, i + k, end)) for k in range(LANES)))


def put_records(work, at, size, i, rows):
    """Eight entries from `at` on of the records i, i + 1, ... become those rows."""
    if row_step(work) == 1:
        put_block(work, at + size * i, 1, rows)
    else:
        put_block(work, at + size * i, size, transposed(rows))


def add_record(work, to, at, size):
    """A record of `size` entries (if a row scalar holds eight, of so many times eight) grows by another."""
    for k in range(0, size, row_step(work)):
        store_row(work, to + k, load_row(work, to + k) + load_row(work, at + k))


def put_references(topology, work, i):
    """Positions of the (massless) bodies between the reference body i and the world, from i's origin."""
    step = vector_step(work)
    here = pose_vectors_at(topology, work, i)
    r = load_vector(work, here + FROM_PARENT * step)
    x = times(0.0, r)
    store_vector(work, here + FROM_REFERENCE * step, x)
    b = load_int(topology, body_ints(i) + PARENT)
    while b > 0:
        x = plus(x, times(-1.0, r))
        here = pose_vectors_at(topology, work, b)
        store_vector(work, here + FROM_REFERENCE * step, x)
        r = load_vector(work, here + FROM_PARENT * step)
        b = load_int(topology, body_ints(b) + PARENT)


def relative_poses(topology, parameters, q, work, i):
    """Pose in its parent of every body from i on, as many as a row scalar holds, into the records of poses."""
    row, step, to = joint_row(topology), row_step(work), pose_at(topology, work, i)
    R, r = relative_rows(topology, parameters, work, i)
    put_spaced_rows(work, to, (*transpose(R), *r))  # numbers still, of Packs
    for b in range(max(i, 1), min(i + step, load_int(topology, N_BODIES) + 1)):
        if not row_pose_holds(topology, b):
            S, s = relative_pose(topology, parameters, q, b, load(work, row + b), load(work, 2 * row + b))
            store_strided(work, pose_at(topology, work, b), step, (*transpose(S), *s))


def put_pose_vectors(work, to, vectors):
    """Axes, then positions from the reference body, from the parent and in the world: as poses.py numbers them."""
    for k, a in enumerate(vectors):
        store_vector(work, to + k * vector_step(work), a)


def put_world(topology, work):
    """The world's pose; and numbers in the records of bodies that only fill up the last row."""
    z = 0.0 * load(work, 0)
    zero = vector(work, (z, z, z))
    X, Y, Z = vector(work, (z + 1.0, z, z)), vector(work, (z, z + 1.0, z)), vector(work, (z, z, z + 1.0))
    n, step = load_int(topology, N_BODIES), row_step(work)
    put_pose_vectors(work, pose_vectors_at(topology, work, 0), (X, Y, Z, zero, zero, zero))
    for i in range(n + 1, (n + step) // step * step):
        put_pose_vectors(work, pose_vectors_at(topology, work, i), (zero,) * 6)


def put_direction(to, k, l, w):
    work, at = to
    store_vector(work, at + DIRECTION * k, l)
    store_vector(work, at + DIRECTION * k + 3, w)


@kernel
def kinematics(topology, parameters, q, work):
    """Fills the poses and columns of `work` from the configuration q."""
    n, columns, step = load_int(topology, N_BODIES), load_int(topology, DIRECTIONS_AT), row_step(work)
    far = vector_step(work)
    joint_angles(topology, parameters, q, work)
    put_world(topology, work)
    if step > 1:  # one state: the joints of eight bodies at once
        for i in range(0, n + 1, step):
            relative_poses(topology, parameters, q, work, i)
    for k in range(n):
        i = load_int(topology, load_int(topology, ORDER_AT) + k)
        ints, at = body_ints(i), pose_at(topology, work, i)
        if step == 1:
            relative_poses(topology, parameters, q, work, i)
        a, b, c, t = tuple(spaced3(work, at + k * step) for k in range(0, 12, 3))
        there = pose_vectors_at(topology, work, load_int(topology, ints + PARENT))
        X, Y, Z = tuple(load_vector(work, there + k * far) for k in (X_AXIS, Y_AXIS, Z_AXIS))
        r = along(X, Y, Z, t)
        x, p = plus(load_vector(work, there + FROM_REFERENCE * far), r), plus(load_vector(work, there + POSITION * far), r)
        X, Y, Z = along(X, Y, Z, a), along(X, Y, Z, b), along(X, Y, Z, c)
        put_pose_vectors(work, pose_vectors_at(topology, work, i), (X, Y, Z, x, r, p))
        if load_int(topology, ints + IS_REFERENCE) == 1:
            put_references(topology, work, i)
        to = columns + DIRECTION * load_int(topology, ints + FIRST_COLUMN)
        joint_columns(topology, parameters, i, X, Y, Z, put_direction, (work, to))
    transpose_poses(topology, work)


def kinematics_workspace(topology, parameters, q, extra):
    """A work array with the kinematics of q and `extra` free entries behind it (from FREE_AT on)."""
    work = workspace(q, load_int(topology, FREE_AT) + extra)
    kinematics(topology, parameters, q, work)
    return work
