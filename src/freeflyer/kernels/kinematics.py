"""Forward kinematics in world axes: the first pass of every algorithm but inverse dynamics.

Everything is expressed in world axes, at each body's own origin: shifting then costs one cross product, composite
inertias need no rotation, and precision does not suffer far from the world's origin. Algorithms see a body's rotation,
its offset from its parent and its motion columns.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import ZERO, add, compose, load3, load9, rotate, subtract
from freeflyer.kernels.joints import body_floats, body_ints, directions, joint_angles, place
from freeflyer.kernels.layout import (
    DIRECTION,
    DIRECTIONS_AT,
    FIRST_COLUMN,
    FIRST_Q,
    FREE_AT,
    IS_REFERENCE,
    KIND,
    N_BODIES,
    PARENT,
    ROTATION,
    SINES_AT,
    TRANSLATION,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, row_step, workspace
from freeflyer.kernels.poses import offset, position, put_pose, put_root_position, root_position, rotation

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@inlined
def put_references(topology, work, i):
    """Positions of the (massless) bodies between the reference body i and the world, from i's origin."""
    r = offset(topology, work, i)
    x = (0.0 * r[0], 0.0 * r[1], 0.0 * r[2])
    put_root_position(topology, work, i, x)
    b = load_int(topology, body_ints(i) + PARENT)
    while b > 0:
        x = subtract(x, r)
        put_root_position(topology, work, b, x)
        r = offset(topology, work, b)
        b = load_int(topology, body_ints(b) + PARENT)


@kernel
def kinematics(topology, parameters, q, work):
    """Fills the poses and columns of `work` from the configuration q."""
    n, sines, columns = load_int(topology, N_BODIES), load_int(topology, SINES_AT), load_int(topology, DIRECTIONS_AT)
    joint_angles(topology, parameters, q, work)
    put_pose(topology, work, 0, IDENTITY, ZERO, ZERO, ZERO)
    for i in range(n + 1, sines + row_step(work)):  # padding, so that rows of bodies hold numbers
        put_pose(topology, work, i, IDENTITY, ZERO, ZERO, ZERO)
    for i in range(1, n + 1):
        at, ints = body_floats(i), body_ints(i)
        kind, first = load_int(topology, ints + KIND), load_int(topology, ints + FIRST_Q)
        parent = load_int(topology, ints + PARENT)
        R = rotation(topology, work, parent)
        r = rotate(R, load3(parameters, at + TRANSLATION))
        R = compose(R, load9(parameters, at + ROTATION))
        s, c = load(work, sines + i - 1), load(work, 2 * sines + i - 1)
        R, r = place(kind, parameters, at, q, first, s, c, R, r)
        p, x = add(position(topology, work, parent), r), add(root_position(topology, work, parent), r)
        put_pose(topology, work, i, R, r, p, x)
        if load_int(topology, ints + IS_REFERENCE) == 1:
            put_references(topology, work, i)
        directions(kind, parameters, at, R, work, columns + DIRECTION * load_int(topology, ints + FIRST_COLUMN))


@inlined
def kinematics_workspace(topology, parameters, q, extra):
    """A work array with the kinematics of q and `extra` free entries behind it (from FREE_AT on)."""
    work = workspace(q, load_int(topology, FREE_AT) + extra)
    kinematics(topology, parameters, q, work)
    return work
