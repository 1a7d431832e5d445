"""Forward kinematics, the first pass of every algorithm, and the one switch of joint kinds.

Everything is expressed in world axes, at each body's own origin: shifting then costs one cross product, composite
inertias need no rotation, and precision does not suffer far from the world's origin. Algorithms see a body's rotation,
its offset from its parent and its motion columns; only `place` and `directions` know what a joint is.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    add, add_scaled, column, compose, load3, load9, quaternion_rotation, rotate, scale, spin_z, store3, store9,
)  # fmt: skip
from freeflyer.kernels.layout import (
    BALL, BODIES, BODY_FLOATS, BODY_INTS, DIRECTION, DIRECTIONS_AT, FIRST_COLUMN, FIRST_Q, FREE_AT, HEADER,
    KIND, N_BODIES, PARENT, POSE, POSES_AT, ROTATION, SCREW, SINES_AT, SLIDE, SLIDE_OFFSET, TRANSLATION, TURN,
    TURN_OFFSET,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, store, workspace
from freeflyer.kernels.trig import sincos_row

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)


@inlined
def body_ints(i):
    """Where body i's record begins in topology."""
    return HEADER + BODY_INTS * i


@inlined
def body_floats(i):
    """Where body i's record begins in parameters."""
    return BODIES + BODY_FLOATS * i


@inlined
def place(kind, parameters, at, q, first, s, c, R, r):
    """The joint switch, part 1: pose (rotation, offset) of the moving frame, from that of the resting frame (R, r)."""
    if kind == SCREW:
        slide = load(parameters, at + SLIDE) * load(q, first) + load(parameters, at + SLIDE_OFFSET)
        return spin_z(R, s, c), add_scaled(r, slide, column(R, 2))
    if kind == BALL:
        return compose(R, quaternion(q, first)), r
    return compose(R, quaternion(q, first + 3)), add(r, rotate(R, load3(q, first)))


@inlined
def directions(kind, parameters, at, R, work, to):
    """The joint switch, part 2: writes the motion columns of a body whose rotation is R."""
    if kind == SCREW:
        z = column(R, 2)
        store3(work, to, scale(load(parameters, at + SLIDE), z))
        store3(work, to + 3, scale(load(parameters, at + TURN), z))
        return
    if kind != BALL:  # a floating body: three linear columns first
        for k in range(3):
            store3(work, to + DIRECTION * k + 3, ZERO)
        store3(work, to, column(R, 0))
        store3(work, to + DIRECTION, column(R, 1))
        store3(work, to + 2 * DIRECTION, column(R, 2))
        to += 3 * DIRECTION
    for k in range(3):
        store3(work, to + DIRECTION * k, ZERO)
    store3(work, to + 3, column(R, 0))
    store3(work, to + DIRECTION + 3, column(R, 1))
    store3(work, to + 2 * DIRECTION + 3, column(R, 2))


@inlined
def quaternion(q, i):
    return quaternion_rotation(load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3))


@kernel
def kinematics(topology, parameters, q, work):
    """Fills the poses and columns of `work` from the configuration q."""
    n = load_int(topology, N_BODIES)
    sines, poses = load_int(topology, SINES_AT), load_int(topology, POSES_AT)
    columns = load_int(topology, DIRECTIONS_AT)
    padded = sines  # angles come first in work, padded to full rows
    for i in range(1, n + 1):
        at, first = body_floats(i), load_int(topology, body_ints(i) + FIRST_Q)
        store(work, i - 1, load(parameters, at + TURN) * load(q, first) + load(parameters, at + TURN_OFFSET))
    for i in range(n, padded):
        store(work, i, 0.0)
    sincos_row(work, 0, sines, sines + padded, padded)

    store9(work, poses, IDENTITY)
    store3(work, poses + 9, ZERO)
    store3(work, poses + 12, ZERO)
    for i in range(1, n + 1):
        at, ints = body_floats(i), body_ints(i)
        kind, first = load_int(topology, ints + KIND), load_int(topology, ints + FIRST_Q)
        parent = poses + POSE * load_int(topology, ints + PARENT)
        R = load9(work, parent)
        r = rotate(R, load3(parameters, at + TRANSLATION))
        R = compose(R, load9(parameters, at + ROTATION))
        s, c = load(work, sines + i - 1), load(work, sines + padded + i - 1)
        R, r = place(kind, parameters, at, q, first, s, c, R, r)
        pose = poses + POSE * i
        store9(work, pose, R)
        store3(work, pose + 9, r)
        store3(work, pose + 12, add(load3(work, parent + 12), r))
        directions(kind, parameters, at, R, work, columns + DIRECTION * load_int(topology, ints + FIRST_COLUMN))


@inlined
def kinematics_workspace(topology, parameters, q, extra):
    """A work array with the kinematics of q and `extra` free entries behind it (from FREE_AT on)."""
    work = workspace(q, load_int(topology, FREE_AT) + extra)
    kinematics(topology, parameters, q, work)
    return work

