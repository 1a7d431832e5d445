"""Pose and Jacobian of one frame along its path to the world; motions of all bodies at once.

Motions: poses, velocities and the accelerations that they have while no joint accelerates."""

from freeflyer.kernels.backend import copy_entries, from_entry, kernel, load, load_int, store, workspace, zero_entries
from freeflyer.kernels.math.algebra import add, compose, cross, load3, load9, rotate, rotate_back, store_entries, strided3, subtract
from freeflyer.kernels.math.spatial import load_spatial, store_spatial
from freeflyer.kernels.math.trig import sincos_row
from freeflyer.kernels.model.access import body_floats, body_ints, like3
from freeflyer.kernels.model.joints.columns import add_column, joint_columns
from freeflyer.kernels.model.joints.placement import axes_of_parent
from freeflyer.kernels.model.layout import (
    DEPTH, FIRST_Q, FIRST_V, FRAMES_AT, FREE_AT, N_BODIES, N_COLUMNS, N_V, PARENT, PLACEMENT_FLOATS, PLACEMENTS_AT, TURN,
    TURN_OFFSET,
)
from freeflyer.kernels.model.poses import along, entries, offset, plus, pose_at, position, rotation, vector, vector_product
from freeflyer.kernels.tree.columns import put_column
from freeflyer.kernels.tree.kinematics import add_joint_motion, direction_at, kinematics_workspace, parent_of, zeros

BODY, MIXED, WORLD = 0, 1, 2  # the axes (and for WORLD the point) of a velocity


def frame_body(topology, frame):
    return load_int(topology, load_int(topology, FRAMES_AT) + frame)


def placement(topology, parameters, frame, s):
    """Pose (rotation, position) of a frame in its body, as scalars of the type of s."""
    at = load_int(topology, PLACEMENTS_AT) + PLACEMENT_FLOATS * frame
    R, p = load9(parameters, at), like3(s, load3(parameters, at + 9))
    return like3(s, R), p


def frame_in_world(topology, parameters, work, frame):
    """(body, rotation, where its origin is from the body's) of a frame, in world axes; work holds the kinematics."""
    P, x = placement(topology, parameters, frame, load(work, pose_at(topology, work, 0)))
    i = frame_body(topology, frame)
    R = rotation(topology, work, i)
    return i, compose(R, P), rotate(R, x)


def path_workspace(topology, parameters, q, body):
    """(work, row length): sines and cosines of the joints from a body to the world, the body's first."""
    row = (load_int(topology, body_ints(body) + DEPTH) + 7) // 8 * 8
    work = workspace(q, 3 * row + 8)
    store(work, 3 * row, 0.0)  # whatever the path: a scalar to take the type from
    k, b = 0, body
    while b > 0:
        coordinate = load(q, load_int(topology, body_ints(b) + FIRST_Q))
        store(work, k, load(parameters, body_floats(b) + TURN) * coordinate + load(parameters, body_floats(b) + TURN_OFFSET))
        b = load_int(topology, body_ints(b) + PARENT)
        k += 1
    for i in range(k, row):
        store(work, i, 0.0)
    sincos_row(work, 0, row, 2 * row, row)
    return work, row


def put_pose(X, at, R, p):
    store_entries(X, at, (*R[:3], p[0], *R[3:6], p[1], *R[6:], p[2], 0.0, 0.0, 0.0, 1.0))


def along_path(topology, parameters, q, frame, visit, given, found):
    """(rotation and position of a frame in the world, what was found on the way there). At each joint, visit(topology, parameters,
    body, X, Y, Z, d, given, found) gives what is found now; X, Y, Z, d: the body's axes, and the frame's origin from the body's,
    vectors in the frame's axes."""
    b, at = frame_body(topology, frame), load_int(topology, PLACEMENTS_AT) + PLACEMENT_FLOATS * frame
    work, row = path_workspace(topology, parameters, q, b)
    X, Y, Z = tuple(vector(work, load3(parameters, at + 3 * n)) for n in range(3))
    d, k = along(X, Y, Z, load3(parameters, at + 9)), 0
    while b > 0:
        found = visit(topology, parameters, b, X, Y, Z, d, given, found)
        s, c = load(work, row + k), load(work, 2 * row + k)
        X, Y, Z, d = axes_of_parent(topology, parameters, q, b, s, c, X, Y, Z, d)
        b, k = load_int(topology, body_ints(b) + PARENT), k + 1
    R = like3(load(work, 3 * row), (*entries(X), *entries(Y), *entries(Z)))
    return R, rotate(R, entries(d)), found


def nothing(topology, parameters, b, X, Y, Z, d, given, found):
    return found


def add_to_jacobian(to, k, l, w):
    J, nv, j, d = to
    add_column(J, nv, j + k, entries(plus(l, vector_product(w, d))), entries(w))


def add_joint(topology, parameters, b, X, Y, Z, d, J, nv):
    j = load_int(topology, body_ints(b) + FIRST_V)
    joint_columns(topology, parameters, b, X, Y, Z, add_to_jacobian, (J, nv, j, d))
    return nv


@kernel
def frame_pose(topology, parameters, q, frame, X):
    """X (4, 4): rotation and position of a frame in the world."""
    R, p, _ = along_path(topology, parameters, q, frame, nothing, (), ())
    put_pose(X, 0, R, p)


def frame_jacobian(topology, parameters, q, frame, expressed, J):
    """J (6, nv): twist [linear; angular] of a frame for each velocity coordinate, in body, mixed or world expression."""
    nv = load_int(topology, N_V)
    zero_entries(J, 6 * nv)
    R, p, _ = along_path(topology, parameters, q, frame, add_joint, J, nv)
    if expressed != BODY:
        for j in range(nv):
            w, l = rotate(R, strided3(J, 3 * nv + j, nv)), rotate(R, strided3(J, j, nv))
            if expressed == WORLD:
                l = add(l, cross(p, w))
            put_column(J, 0, nv, j, (l, w))


# a body: its velocity, then its acceleration while no joint accelerates; linear (of the origin), angular
MOTION_SIZE, ACCELERATION = 12, 6


def motions_workspace(topology, parameters, q, extra):
    """A work array with the kinematics of q, room for the motions of all bodies, and `extra` more."""
    return kinematics_workspace(topology, parameters, q, MOTION_SIZE * (load_int(topology, N_BODIES) + 1) + extra)


@kernel
def body_motions(topology, work, v, to):
    """`put_motions` while no joint accelerates."""
    put_motions(topology, work, v, v, to, False)


def put_motions(topology, work, v, a, to, accelerated):
    """Writes MOTION_SIZE numbers a body from `to` on, in world axes, while joints are `accelerated` by a or not at all;
    accelerations are classical, without gravity."""
    store_entries(work, to, (0.0,) * MOTION_SIZE)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, r = to + MOTION_SIZE * parent_of(topology, i), offset(topology, work, i)
        l_p, w_p = load_spatial(work, there)
        a_p, dw_p = load_spatial(work, there + ACCELERATION)
        zero = zeros(r[0])
        slip, spin = add_joint_motion(topology, work, i, v, (zero, zero))
        w = add(w_p, spin)
        here, swept = to + MOTION_SIZE * i, cross(w_p, r)
        acceleration = add(add(a_p, cross(dw_p, r)), add(cross(w_p, add(swept, slip)), cross(w, slip)))
        store_spatial(work, here, (add(add(l_p, swept), slip), w))
        A = acceleration, add(dw_p, cross(w, spin))
        store_spatial(work, here + ACCELERATION, add_joint_motion(topology, work, i, a, A) if accelerated else A)


def point_motion(work, here, x):
    """(l, w, a, dw) of the point at x from its body's origin, the body's motion beginning at `here`."""
    (l, w), (a, dw) = load_spatial(work, here), load_spatial(work, here + ACCELERATION)
    swept = cross(w, x)
    return add(l, swept), w, add(a, add(cross(dw, x), cross(w, swept))), dw


def expressed_motion(expressed, R, p, l, w, a, dw):
    """Velocity (l, w) and its rate (a, dw) of a frame at (R, p), given at its origin in world axes, as they are expressed."""
    if expressed == BODY:  # body axes turn: R^T (a - w x l)
        a = subtract(a, cross(w, l))
        return rotate_back(R, l), rotate_back(R, w), rotate_back(R, a), rotate_back(R, dw)
    if expressed == WORLD:  # d/dt (l + p x w)
        return add(l, cross(p, w)), w, add(a, add(cross(l, w), cross(p, dw))), dw
    return l, w, a, dw


def put_poses(topology, work, poses):
    for i in range(load_int(topology, N_BODIES) + 1):
        store_entries(poses, 12 * i, (*rotation(topology, work, i), *position(topology, work, i)))


def all_motions(topology, parameters, q, v, poses, motions, columns):
    """poses (12 a body, world first): rotation, position; motions (12 a body); columns (6 a column): linear, angular."""
    n, to = load_int(topology, N_BODIES), load_int(topology, FREE_AT)
    work = motions_workspace(topology, parameters, q, 0)
    body_motions(topology, work, v, to)
    put_poses(topology, work, poses)
    copy_entries(from_entry(work, to), MOTION_SIZE * (n + 1), motions)
    for c in range(load_int(topology, N_COLUMNS)):
        store_spatial(columns, 6 * c, load_spatial(work, direction_at(topology, c)))


def all_poses(topology, parameters, q, poses):
    """poses (12 a body, world first): rotation, position."""
    put_poses(topology, kinematics_workspace(topology, parameters, q, 0), poses)
