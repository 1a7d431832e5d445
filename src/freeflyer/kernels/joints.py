"""The one switch of joint kinds: where a joint puts its body, how it moves it, which forces it feels.

A screw turns and slides about its z axis in proportion to one coordinate (revolute, prismatic, helical; with ratio and
offset, mimic); a ball turns by a unit quaternion; a floating body has position and quaternion, and its body twist as
velocity. All columns are constant in the body's own axes, so no joint has a velocity-product term of its own.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined, kernel
from freeflyer.kernels.algebra import (
    ZERO,
    accumulate3,
    add,
    add_scaled,
    column,
    compose,
    cross,
    load3,
    load9,
    quaternion_rotation,
    rotate,
    scale,
    spin_z,
    store3,
    subtract,
)  # fmt: skip
from freeflyer.kernels.layout import (
    BALL,
    BODIES,
    BODY_FLOATS,
    BODY_INTS,
    DIRECTION,
    FIRST_Q,
    HEADER,
    KIND,
    N_BODIES,
    ROTATION,
    SCREW,
    SINES_AT,
    SLIDE,
    SLIDE_OFFSET,
    TRANSLATION,
    TURN,
    TURN_OFFSET,
)  # fmt: skip
from freeflyer.kernels.memory import load, load_int, store
from freeflyer.kernels.pack import like
from freeflyer.kernels.trig import sincos_row


@inlined
def body_ints(i):
    """Where body i's record begins in topology."""
    return HEADER + BODY_INTS * i


@inlined
def body_floats(i):
    """Where body i's record begins in parameters."""
    return BODIES + BODY_FLOATS * i


@kernel
def joint_angles(topology, parameters, q, work):
    """Angle, sine and cosine of every body's joint, in the first three rows of work (entry i - 1 is body i's)."""
    n, padded = load_int(topology, N_BODIES), load_int(topology, SINES_AT)
    for i in range(1, n + 1):
        at, first = body_floats(i), load_int(topology, body_ints(i) + FIRST_Q)
        store(work, i - 1, load(parameters, at + TURN) * load(q, first) + load(parameters, at + TURN_OFFSET))
    for i in range(n, padded):
        store(work, i, 0.0)
    sincos_row(work, 0, padded, 2 * padded, padded)


@inlined
def quaternion(q, i):
    """The rotation of the quaternion that begins at q[i]."""
    return quaternion_rotation(load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3))


@inlined
def place(kind, parameters, at, q, first, s, c, R, r):
    """Pose (rotation, offset) of the moving frame, from that of the resting frame (R, r)."""
    if kind == SCREW:
        slide = load(parameters, at + SLIDE) * load(q, first) + load(parameters, at + SLIDE_OFFSET)
        return spin_z(R, s, c), add_scaled(r, slide, column(R, 2))
    if kind == BALL:
        return compose(R, quaternion(q, first)), r
    return compose(R, quaternion(q, first + 3)), add(r, rotate(R, load3(q, first)))


@inlined
def lift(s, a):
    """A 3-vector of numbers as scalars of the kind of s."""
    return like(s, a[0]), like(s, a[1]), like(s, a[2])


@inlined
def relative_pose(topology, parameters, q, i, s, c):
    """Pose (rotation, offset) of body i in its parent, from its joint's sine and cosine."""
    at, ints = body_floats(i), body_ints(i)
    P = load9(parameters, at + ROTATION)
    P, r = lift(s, P[:3]) + lift(s, P[3:6]) + lift(s, P[6:]), lift(s, load3(parameters, at + TRANSLATION))
    return place(load_int(topology, ints + KIND), parameters, at, q, load_int(topology, ints + FIRST_Q), s, c, P, r)


@inlined
def cross_z(a, s):
    """a x (0, 0, s), without its zero entry."""
    return s * a[1], -(s * a[0])


@inlined
def accelerate(kind, parameters, at, v, a, j, w, dw, acc):
    """Angular velocity, angular acceleration and origin acceleration of a body, in its own axes.

    Given those of the point of the parent that the body's origin passes, in the same axes, and the joint's rates v[j:],
    a[j:]: w + spin; dw + dspin + w x spin; acc + dslip + 2 w x slip + spin x slip.
    """
    if kind == SCREW:
        turn, slide = load(parameters, at + TURN), load(parameters, at + SLIDE)
        rate, drate = load(v, j), load(a, j)
        x, y = cross_z(w, turn * rate)
        X, Y = cross_z(w, 2.0 * slide * rate)
        dw = (dw[0] + x, dw[1] + y, dw[2] + turn * drate)
        acc = (acc[0] + X, acc[1] + Y, acc[2] + slide * drate)
        return (w[0], w[1], w[2] + turn * rate), dw, acc
    if kind != BALL:
        slip, spin = load3(v, j), load3(v, j + 3)
        acc = add(add(acc, load3(a, j)), add(cross(add(w, spin), slip), cross(w, slip)))
        j += 3
    spin, dspin = load3(v, j), load3(a, j)
    return add(w, spin), add(add(dw, dspin), cross(w, spin)), acc


@inlined
def project(kind, parameters, at, force, moment, tau, j):
    """tau[j:] grows by the power of a wrench at the body's origin, in body axes, along the joint's columns."""
    if kind == SCREW:
        power = load(parameters, at + TURN) * moment[2] + load(parameters, at + SLIDE) * force[2]
        store(tau, j, load(tau, j) + power)
        return
    if kind != BALL:
        accumulate3(tau, j, force)
        j += 3
    accumulate3(tau, j, moment)


@inlined
def directions(kind, parameters, at, R, work, to):
    """Writes the motion columns (linear, angular; world axes, at the body's origin) of a body whose rotation is R."""
    if kind == SCREW:
        z = column(R, 2)
        store3(work, to, scale(load(parameters, at + SLIDE), z))
        store3(work, to + 3, scale(load(parameters, at + TURN), z))
        return
    if kind != BALL:  # a floating body: three linear columns first
        store3(work, to, column(R, 0))
        store3(work, to + DIRECTION, column(R, 1))
        store3(work, to + 2 * DIRECTION, column(R, 2))
        for k in range(3):
            store3(work, to + DIRECTION * k + 3, ZERO)
        to += 3 * DIRECTION
    for k in range(3):
        store3(work, to + DIRECTION * k, ZERO)
    store3(work, to + 3, column(R, 0))
    store3(work, to + DIRECTION + 3, column(R, 1))
    store3(work, to + 2 * DIRECTION + 3, column(R, 2))


@inlined
def add_column(J, nv, j, l, w):
    """Column j of a row-major (6, nv) matrix grows by (l, w): mimic joints share it."""
    store(J, j, load(J, j) + l[0])
    store(J, nv + j, load(J, nv + j) + l[1])
    store(J, 2 * nv + j, load(J, 2 * nv + j) + l[2])
    store(J, 3 * nv + j, load(J, 3 * nv + j) + w[0])
    store(J, 4 * nv + j, load(J, 4 * nv + j) + w[1])
    store(J, 5 * nv + j, load(J, 5 * nv + j) + w[2])


@inlined
def frame_columns(kind, parameters, at, R, p, J, nv, j):
    """Adds a joint's columns from j on, as seen from a frame at pose (R, p) in the joint's body, in the frame's axes."""
    x, y, z = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])  # the body's axes in the frame
    if kind == SCREW:
        turn, slide = load(parameters, at + TURN), load(parameters, at + SLIDE)
        l = subtract(scale(p[0], y), scale(p[1], x))  # z x p, in the frame
        add_column(J, nv, j, add(scale(turn, l), scale(slide, z)), scale(turn, z))
        return
    zero = scale(0.0, x)
    if kind != BALL:
        add_column(J, nv, j, x, zero)
        add_column(J, nv, j + 1, y, zero)
        add_column(J, nv, j + 2, z, zero)
        j += 3
    add_column(J, nv, j, subtract(scale(p[1], z), scale(p[2], y)), x)
    add_column(J, nv, j + 1, subtract(scale(p[2], x), scale(p[0], z)), y)
    add_column(J, nv, j + 2, subtract(scale(p[0], y), scale(p[1], x)), z)
