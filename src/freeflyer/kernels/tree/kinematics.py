"""Forward kinematics in world axes: the first pass of every algorithm but inverse dynamics.

Everything is expressed in world axes, at each body's own origin: shifting then costs one cross product, composite inertias need no
rotation, and precision does not suffer far from the world's origin. Algorithms use a body's rotation, its offset from its parent
and its motion columns.

Joints first, as rows of bodies: the pose of every body in its parent. Then along the tree, a vector at a time.
"""

from freeflyer.kernels.backend import inlined, kernel, load, load_int, row_step, workspace
from freeflyer.kernels.math.algebra import column
from freeflyer.kernels.model.access import body_ints, joint_row
from freeflyer.kernels.model.joints.columns import world_columns
from freeflyer.kernels.model.joints.placement import joint_angles, relative_pose, relative_rows, row_pose_holds
from freeflyer.kernels.model.layout import (
    DIRECTION, DIRECTIONS_AT, FIRST_COLUMN, FREE_AT, IS_REFERENCE, N_BODIES, ORDER_AT, PARENT,
)
from freeflyer.kernels.model.poses import (
    FROM_PARENT, FROM_REFERENCE, POSITION, X_AXIS, Y_AXIS, Z_AXIS, along, load_vector, plus, pose_at, pose_vectors_at,
    put_row3, put_spaced3, spaced3, store_vector, times, transpose_poses, vector, vector_step,
)


@inlined
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


@inlined
def relative_poses(topology, parameters, q, work, i):
    """Pose in its parent of every body from i on, as many as a row scalar holds, into the records of poses."""
    row, step, to = joint_row(topology), row_step(work), pose_at(topology, work, i)
    R, r = relative_rows(topology, parameters, work, i)
    put_row3(work, to, (R[0], R[3], R[6]))
    put_row3(work, to + 3 * step, (R[1], R[4], R[7]))
    put_row3(work, to + 6 * step, (R[2], R[5], R[8]))  # numbers still, of Packs
    put_row3(work, to + 9 * step, r)
    for b in range(max(i, 1), min(i + step, load_int(topology, N_BODIES) + 1)):
        if not row_pose_holds(topology, b):
            S, s = relative_pose(topology, parameters, q, b, load(work, row + b), load(work, 2 * row + b))
            at = pose_at(topology, work, b)
            put_spaced3(work, at, column(S, 0))
            put_spaced3(work, at + 3 * step, column(S, 1))
            put_spaced3(work, at + 6 * step, column(S, 2))
            put_spaced3(work, at + 9 * step, s)


@inlined
def put_pose_vectors(work, to, X, Y, Z, x, r, p):
    """Axes, then positions from the reference body, from the parent and in the world."""
    step = vector_step(work)
    store_vector(work, to + X_AXIS * step, X)
    store_vector(work, to + Y_AXIS * step, Y)
    store_vector(work, to + Z_AXIS * step, Z)
    store_vector(work, to + FROM_REFERENCE * step, x)
    store_vector(work, to + FROM_PARENT * step, r)
    store_vector(work, to + POSITION * step, p)


@inlined
def put_world(topology, work):
    """The world's pose; and numbers in the records of bodies that only fill up the last row."""
    z = 0.0 * load(work, 0)
    zero = vector(work, (z, z, z))
    X, Y, Z = vector(work, (z + 1.0, z, z)), vector(work, (z, z + 1.0, z)), vector(work, (z, z, z + 1.0))
    n, step = load_int(topology, N_BODIES), row_step(work)
    put_pose_vectors(work, pose_vectors_at(topology, work, 0), X, Y, Z, zero, zero, zero)
    for i in range(n + 1, (n + step) // step * step):
        put_pose_vectors(work, pose_vectors_at(topology, work, i), zero, zero, zero, zero, zero, zero)


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
        a, b, c = spaced3(work, at), spaced3(work, at + 3 * step), spaced3(work, at + 6 * step)
        t = spaced3(work, at + 9 * step)
        there = pose_vectors_at(topology, work, load_int(topology, ints + PARENT))
        X, Y = load_vector(work, there + X_AXIS * far), load_vector(work, there + Y_AXIS * far)
        Z = load_vector(work, there + Z_AXIS * far)
        r = along(X, Y, Z, t)
        x, p = plus(load_vector(work, there + FROM_REFERENCE * far), r), plus(load_vector(work, there + POSITION * far), r)
        X, Y, Z = along(X, Y, Z, a), along(X, Y, Z, b), along(X, Y, Z, c)
        put_pose_vectors(work, pose_vectors_at(topology, work, i), X, Y, Z, x, r, p)
        if load_int(topology, ints + IS_REFERENCE) == 1:
            put_references(topology, work, i)
        to = columns + DIRECTION * load_int(topology, ints + FIRST_COLUMN)
        world_columns(topology, parameters, i, X, Y, Z, work, to)
    transpose_poses(topology, work)


@inlined
def kinematics_workspace(topology, parameters, q, extra):
    """A work array with the kinematics of q and `extra` free entries behind it (from FREE_AT on)."""
    work = workspace(q, load_int(topology, FREE_AT) + extra)
    kinematics(topology, parameters, q, work)
    return work
