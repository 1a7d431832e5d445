"""Pose and Jacobian of one frame, along the path from the frame to the world: only the joints on the way are computed."""

from freeflyer.kernels.backend.buffers import load, load_int, store, workspace
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import add, compose, cross, load3, load9, rotate, store3
from freeflyer.kernels.math.trig import sincos_row
from freeflyer.kernels.model.access import body_ints, like3
from freeflyer.kernels.model.joints.columns import frame_columns
from freeflyer.kernels.model.joints.placement import joint_angle, relative_pose
from freeflyer.kernels.model.layout import DEPTH, FIRST_V, FRAMES_AT, N_V, PARENT, PLACEMENT_FLOATS, PLACEMENTS_AT
from freeflyer.kernels.tree.columns import put_column

BODY, MIXED, WORLD = 0, 1, 2  # the axes (and for WORLD the point) of a velocity


@inlined
def frame_body(topology, frame):
    """The body that a frame is fixed to."""
    return load_int(topology, load_int(topology, FRAMES_AT) + frame)


@inlined
def placement(topology, parameters, frame, s):
    """Pose (rotation, position) of a frame in its body, as scalars of the type of s."""
    at = load_int(topology, PLACEMENTS_AT) + PLACEMENT_FLOATS * frame
    R, p = load9(parameters, at), like3(s, load3(parameters, at + 9))
    return like3(s, R[:3]) + like3(s, R[3:6]) + like3(s, R[6:]), p


@inlined
def path_workspace(topology, parameters, q, body):
    """(work, row length): sines and cosines of the joints from a body to the world, the body's first."""
    row = (load_int(topology, body_ints(body) + DEPTH) + 7) // 8 * 8
    work = workspace(q, 3 * row + 8)
    store(work, 3 * row, 0.0)  # whatever the path: a scalar to take the type from
    k, b = 0, body
    while b > 0:
        store(work, k, joint_angle(topology, parameters, q, b))
        b = load_int(topology, body_ints(b) + PARENT)
        k += 1
    for i in range(k, row):
        store(work, i, 0.0)
    sincos_row(work, 0, row, 2 * row, row)
    return work, row


@inlined
def put_pose(X, at, R, p):
    """A pose (4, 4)."""
    for k in range(3):
        store(X, at + 12 + k, 0.0)
    store(X, at + 15, 1.0)
    store3(X, at, (R[0], R[1], R[2]))
    store3(X, at + 4, (R[3], R[4], R[5]))
    store3(X, at + 8, (R[6], R[7], R[8]))
    store(X, at + 3, p[0])
    store(X, at + 7, p[1])
    store(X, at + 11, p[2])


@kernel
def frame_pose(topology, parameters, q, frame, X):
    """X (4, 4): rotation and position of a frame in the world."""
    b = frame_body(topology, frame)
    work, row = path_workspace(topology, parameters, q, b)
    R, p = placement(topology, parameters, frame, load(work, 3 * row))
    k = 0
    while b > 0:
        S, r = relative_pose(topology, parameters, q, b, load(work, row + k), load(work, 2 * row + k))
        R, p = compose(S, R), add(r, rotate(S, p))
        b = load_int(topology, body_ints(b) + PARENT)
        k += 1
    put_pose(X, 0, R, p)


@kernel
def frame_jacobian(topology, parameters, q, frame, expressed, J):
    """J (6, nv): twist [linear; angular] of a frame for each velocity coordinate, in body, mixed or world expression."""
    nv, b = load_int(topology, N_V), frame_body(topology, frame)
    for k in range(6 * nv):
        store(J, k, 0.0)
    work, row = path_workspace(topology, parameters, q, b)
    R, p = placement(topology, parameters, frame, load(work, 3 * row))
    k = 0
    while b > 0:
        ints = body_ints(b)
        frame_columns(topology, parameters, b, R, p, J, nv, load_int(topology, ints + FIRST_V))
        S, r = relative_pose(topology, parameters, q, b, load(work, row + k), load(work, 2 * row + k))
        R, p = compose(S, R), add(r, rotate(S, p))
        b = load_int(topology, ints + PARENT)
        k += 1
    if expressed != BODY:
        for j in range(nv):
            w = rotate(R, (load(J, 3 * nv + j), load(J, 4 * nv + j), load(J, 5 * nv + j)))
            l = rotate(R, (load(J, j), load(J, nv + j), load(J, 2 * nv + j)))
            if expressed == WORLD:
                l = add(l, cross(p, w))
            put_column(J, 0, nv, j, (l, w))
