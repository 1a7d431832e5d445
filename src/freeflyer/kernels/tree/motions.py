"""Motions of all bodies at once: poses, velocities and the accelerations they have while no joint accelerates."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO,
    add,
    compose,
    cross,
    load3,
    rotate,
    rotate_back,
    store3,
    store9,
    subtract,
)
from freeflyer.kernels.model.layout import FREE_AT, N_BODIES, N_COLUMNS
from freeflyer.kernels.tree.composite import direction_at, joint_motion, parent_of, zeros
from freeflyer.kernels.tree.frames import BODY, WORLD, frame_body, placement
from freeflyer.kernels.tree.kinematics import kinematics_workspace
from freeflyer.kernels.tree.poses import offset, pose_at, position, rotation

MOVING = 12  # velocity of the origin, angular velocity, acceleration of the origin, angular acceleration while no joint accelerates
LINEAR, ANGULAR, ACCELERATION, TURNING = 0, 3, 6, 9


@kernel
def moving(topology, work, v, to):
    """Writes MOVING numbers a body from `to` on, in world axes; accelerations are classical, without gravity."""
    for k in range(4):
        store3(work, to + 3 * k, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, r = to + MOVING * parent_of(topology, i), offset(topology, work, i)
        l_p, w_p = load3(work, there + LINEAR), load3(work, there + ANGULAR)
        a_p, dw_p = load3(work, there + ACCELERATION), load3(work, there + TURNING)
        zero = zeros(r[0])
        slip, spin = joint_motion(topology, work, i, v, zero, zero)
        w = add(w_p, spin)
        here, swept = to + MOVING * i, cross(w_p, r)
        store3(work, here + LINEAR, add(add(l_p, swept), slip))
        store3(work, here + ANGULAR, w)
        store3(
            work, here + ACCELERATION, add(add(a_p, cross(dw_p, r)), add(cross(w_p, add(swept, slip)), cross(w, slip)))
        )
        store3(work, here + TURNING, add(dw_p, cross(w, spin)))


@inlined
def frame_motion(topology, parameters, q, v, frame):
    """(R, p, l, w, a, dw) of a frame: pose, velocity and bias acceleration of its origin, in world axes."""
    to, i = load_int(topology, FREE_AT), frame_body(topology, frame)
    work = kinematics_workspace(topology, parameters, q, MOVING * (load_int(topology, N_BODIES) + 1))
    moving(topology, work, v, to)
    here = to + MOVING * i
    P, c = placement(topology, parameters, frame, load(work, pose_at(topology, work, 0)))
    R, p = rotation(topology, work, i), position(topology, work, i)
    c = rotate(R, c)
    w, dw = load3(work, here + ANGULAR), load3(work, here + TURNING)
    l = add(load3(work, here + LINEAR), cross(w, c))
    a = add(load3(work, here + ACCELERATION), add(cross(dw, c), cross(w, cross(w, c))))
    return compose(R, P), add(p, c), l, w, a, dw


@kernel
def frame_velocity(topology, parameters, q, v, frame, expressed, V):
    """V (6,): twist of a frame in body, mixed or world expression."""
    R, p, l, w, _, _ = frame_motion(topology, parameters, q, v, frame)
    if expressed == BODY:
        l, w = rotate_back(R, l), rotate_back(R, w)
    if expressed == WORLD:
        l = add(l, cross(p, w))
    store3(V, 0, l)
    store3(V, 3, w)


@kernel
def frame_bias(topology, parameters, q, v, frame, expressed, A):
    """A (6,): Jdot v, the rate of the frame's twist (in the same expression) while no joint accelerates."""
    R, p, l, w, a, dw = frame_motion(topology, parameters, q, v, frame)
    if expressed == BODY:  # body axes turn: R^T (a - w x l)
        a, dw = rotate_back(R, subtract(a, cross(w, l))), rotate_back(R, dw)
    if expressed == WORLD:  # d/dt (l + p x w)
        a = add(a, add(cross(l, w), cross(p, dw)))
    store3(A, 0, a)
    store3(A, 3, dw)


@kernel
def all_motions(topology, parameters, q, v, poses, motions, columns):
    """poses (12 a body, world first): rotation, position; motions (12 a body); columns (6 a column): linear, angular."""
    n, to = load_int(topology, N_BODIES), load_int(topology, FREE_AT)
    work = kinematics_workspace(topology, parameters, q, MOVING * (n + 1))
    moving(topology, work, v, to)
    for i in range(n + 1):
        store9(poses, 12 * i, rotation(topology, work, i))
        store3(poses, 12 * i + 9, position(topology, work, i))
    for k in range(MOVING * (n + 1)):
        store(motions, k, load(work, to + k))
    for c in range(load_int(topology, N_COLUMNS)):
        at = direction_at(topology, c)
        store3(columns, 6 * c, load3(work, at))
        store3(columns, 6 * c + 3, load3(work, at + 3))


@kernel
def all_poses(topology, parameters, q, poses):
    """poses (12 a body, world first): rotation, position."""
    work = kinematics_workspace(topology, parameters, q, 0)
    for i in range(load_int(topology, N_BODIES) + 1):
        store9(poses, 12 * i, rotation(topology, work, i))
        store3(poses, 12 * i + 9, position(topology, work, i))
