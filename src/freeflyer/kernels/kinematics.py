"""Forward kinematics in world axes: the first pass of every algorithm but inverse dynamics.

Everything is expressed in world axes, at each body's own origin: shifting then costs one cross product, composite
inertias need no rotation, and precision does not suffer far from the world's origin. Algorithms see a body's rotation,
its offset from its parent and its motion columns.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import ZERO, add, compose, load3, load9, rotate, store3, store9
from freeflyer.kernels.joints import body_floats, body_ints, directions, joint_angles, place
from freeflyer.kernels.layout import (
    DIRECTION,
    DIRECTIONS_AT,
    FIRST_COLUMN,
    FIRST_Q,
    FREE_AT,
    KIND,
    N_BODIES,
    PARENT,
    POSE,
    POSES_AT,
    ROTATION,
    SINES_AT,
    TRANSLATION,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, workspace

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@inlined
def root_offset(work, parent, world, r):
    """Position from the root body's origin: zero for a root body itself."""
    if parent == world:
        return 0.0 * r[0], 0.0 * r[1], 0.0 * r[2]
    return add(load3(work, parent + 15), r)


@kernel
def kinematics(topology, parameters, q, work):
    """Fills the poses and columns of `work` from the configuration q."""
    n = load_int(topology, N_BODIES)
    sines, poses = load_int(topology, SINES_AT), load_int(topology, POSES_AT)
    columns = load_int(topology, DIRECTIONS_AT)
    joint_angles(topology, parameters, q, work)
    store9(work, poses, IDENTITY)
    store3(work, poses + 9, ZERO)
    store3(work, poses + 12, ZERO)
    store3(work, poses + 15, ZERO)
    for i in range(1, n + 1):
        at, ints = body_floats(i), body_ints(i)
        kind, first = load_int(topology, ints + KIND), load_int(topology, ints + FIRST_Q)
        parent = poses + POSE * load_int(topology, ints + PARENT)
        R = load9(work, parent)
        r = rotate(R, load3(parameters, at + TRANSLATION))
        R = compose(R, load9(parameters, at + ROTATION))
        s, c = load(work, sines + i - 1), load(work, 2 * sines + i - 1)
        R, r = place(kind, parameters, at, q, first, s, c, R, r)
        pose = poses + POSE * i
        store9(work, pose, R)
        store3(work, pose + 9, r)
        store3(work, pose + 12, add(load3(work, parent + 12), r))
        store3(work, pose + 15, root_offset(work, parent, poses, r))
        directions(kind, parameters, at, R, work, columns + DIRECTION * load_int(topology, ints + FIRST_COLUMN))


@inlined
def kinematics_workspace(topology, parameters, q, extra):
    """A work array with the kinematics of q and `extra` free entries behind it (from FREE_AT on)."""
    work = workspace(q, load_int(topology, FREE_AT) + extra)
    kinematics(topology, parameters, q, work)
    return work
