"""The one switch of joint kinds: where a joint puts its body, how it moves it, which forces it feels.

A screw turns and slides about its z axis in proportion to one coordinate (revolute, prismatic, helical; with ratio and
offset, mimic); a ball turns by a unit quaternion; a floating body has position and quaternion, and its body twist as
velocity. All columns are constant in the body's own axes, so no joint has a velocity-product term of its own.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, load_row, number_row, row_step, store, store_row
from freeflyer.kernels.backend.pack import LANES, like
from freeflyer.kernels.backend.vector4 import store_vector, times
from freeflyer.kernels.compiler.marks import inlined, kernel
from freeflyer.kernels.math.algebra import (
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
    subtract,
)  # fmt: skip
from freeflyer.kernels.math.trig import sincos_row
from freeflyer.kernels.model.layout import (
    BALL,
    BODIES,
    BODY_FLOATS,
    BODY_INTS,
    DIRECTION,
    FIRST_Q,
    HEADER,
    KIND,
    N_BODIES,
    ORDER_AT,
    ROTATION,
    SCREW,
    SINES_AT,
    SLIDE,
    SLIDE_OFFSET,
    TILE,
    TILES_AT,
    TRANSLATION,
    TURN,
    TURN_OFFSET,
)  # fmt: skip


@inlined
def body_ints(i):
    """Where body i's record begins in topology."""
    return HEADER + BODY_INTS * i


@inlined
def body_floats(i):
    """Where body i's record begins in parameters."""
    return BODIES + BODY_FLOATS * i


@inlined
def by_depth(topology, k):
    """Body number k, counted by depth: neighbours in this order rarely wait for each other."""
    return load_int(topology, load_int(topology, ORDER_AT) + k)


@inlined
def numbers_at(topology, i):
    """Where the first number of body i's record lies among the tiles of parameters; the others follow, LANES apart."""
    return load_int(topology, TILES_AT) + LANES * TILE * (i >> 3) + (i & 7)


@inlined
def numbers3(work, parameters, at):
    """Three numbers, from `at` on, of as many bodies as a row scalar of work holds."""
    return (
        number_row(work, parameters, at), number_row(work, parameters, at + LANES),
        number_row(work, parameters, at + 2 * LANES),
    )  # fmt: skip


@inlined
def joint_row(topology):
    """The length of work's first three rows: of every body's joint (entry i is body i's) coordinate, sine, cosine."""
    return load_int(topology, SINES_AT) + LANES


@kernel
def joint_angles(topology, parameters, q, work):
    """Fills the first three rows of work."""
    n, row, step = load_int(topology, N_BODIES), joint_row(topology), row_step(work)
    count = (n + step) // step * step
    store(work, 0, 0.0)
    for i in range(1, n + 1):
        store(work, i, load(q, load_int(topology, body_ints(i) + FIRST_Q)))
    for i in range(n + 1, count):
        store(work, i, 0.0)
    for i in range(0, count, step):
        at = numbers_at(topology, i)
        turn, offset = number_row(work, parameters, at + LANES * TURN), number_row(work, parameters, at + LANES * TURN_OFFSET)
        store_row(work, row + i, turn * load_row(work, i) + offset)
    sincos_row(work, row, row, 2 * row, count)


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
def coast(kind, parameters, at, v, j, w, dw, acc):
    """Angular velocity, angular acceleration and origin acceleration of a body whose joint does not accelerate, in its axes.

    Given those of the point of the parent that the body's origin passes, in the same axes, and the joint's rates v[j:]:
    w + spin; dw + w x spin; acc + 2 w x slip + spin x slip.
    """
    if kind == SCREW:
        turn, slide, rate = load(parameters, at + TURN), load(parameters, at + SLIDE), load(v, j)
        x, y = cross_z(w, turn * rate)
        X, Y = cross_z(w, 2.0 * slide * rate)
        dw = (dw[0] + x, dw[1] + y, dw[2])
        acc = (acc[0] + X, acc[1] + Y, acc[2])
        return (w[0], w[1], w[2] + turn * rate), dw, acc
    if kind != BALL:
        slip, spin = load3(v, j), load3(v, j + 3)
        acc = add(acc, add(cross(add(w, spin), slip), cross(w, slip)))
        j += 3
    spin = load3(v, j)
    return add(w, spin), add(dw, cross(w, spin)), acc


@inlined
def drive(kind, parameters, at, a, j, dw, acc):
    """Angular and origin acceleration of a body, in its axes, once its joint accelerates at a[j:]."""
    if kind == SCREW:
        rate = load(a, j)
        dw = (dw[0], dw[1], dw[2] + load(parameters, at + TURN) * rate)
        return dw, (acc[0], acc[1], acc[2] + load(parameters, at + SLIDE) * rate)
    if kind != BALL:
        acc = add(acc, load3(a, j))
        j += 3
    return add(dw, load3(a, j)), acc


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
def directions(kind, parameters, at, X, Y, Z, work, to):
    """Writes the motion columns (linear, angular; world axes, at the body's origin) of a body with axes X, Y, Z."""
    if kind == SCREW:
        store_vector(work, to, times(load(parameters, at + SLIDE), Z))
        store_vector(work, to + 3, times(load(parameters, at + TURN), Z))
        return
    none = times(0.0, X)
    if kind != BALL:  # a floating body: three linear columns first
        put_direction(work, to, X, none)
        put_direction(work, to + DIRECTION, Y, none)
        put_direction(work, to + 2 * DIRECTION, Z, none)
        to += 3 * DIRECTION
    put_direction(work, to, none, X)
    put_direction(work, to + DIRECTION, none, Y)
    put_direction(work, to + 2 * DIRECTION, none, Z)


@inlined
def put_direction(work, to, l, w):
    store_vector(work, to, l)
    store_vector(work, to + 3, w)


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
