"""From a body's axes to its parent's and back: plane rotations, which cost half of a full one.

A screw's axes follow from its parent's by an azimuth about z (zero but at branches), a twist about x and the joint's turn
about z: see model/alignment.py. Balls and floating bodies turn freely: their whole rotation is formed.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int
from freeflyer.kernels.compiler.marks import inlined
from freeflyer.kernels.math.algebra import (
    add,
    add_scaled,
    column,
    compose,
    load3,
    load9,
    rotate,
    rotate_back,
    sym_rotate,
    transpose,
)  # fmt: skip
from freeflyer.kernels.model.joints import body_ints, joint_row, lift, quaternion
from freeflyer.kernels.model.layout import BALL, FIRST_Q, KIND, ROTATION, SCREW, SLIDE, SLIDE_OFFSET, TRANSLATION

COS_AZIMUTH, SIN_AZIMUTH, SIN_TWIST, COS_TWIST = ROTATION, ROTATION + 3, ROTATION + 7, ROTATION + 8


@inlined
def about_z(s, c, a):
    return c * a[0] - s * a[1], s * a[0] + c * a[1], a[2]


@inlined
def about_x(s, c, a):
    return a[0], c * a[1] - s * a[2], s * a[1] + c * a[2]


@inlined
def sym_about_z(s, c, I):
    """R I R^T of a symmetric I."""
    w = s * (I[0] - I[3]) + 2.0 * c * I[1]
    return I[0] - s * w, c * w - I[1], c * I[2] - s * I[4], I[3] + s * w, s * I[2] + c * I[4], I[5]


@inlined
def sym_about_x(s, c, I):
    w = s * (I[3] - I[5]) + 2.0 * c * I[4]
    return I[0], c * I[1] - s * I[2], s * I[1] + c * I[2], I[3] - s * w, c * w - I[4], I[5] + s * w


@inlined
def full_about_z(s, c, B):
    """R B R^T"""
    w = s * (B[0] - B[4]) + c * (B[1] + B[3])
    return (
        B[0] - s * w, c * w - B[3], c * B[2] - s * B[5], c * w - B[1], B[4] + s * w, s * B[2] + c * B[5],
        c * B[6] - s * B[7], s * B[6] + c * B[7], B[8],
    )  # fmt: skip


@inlined
def full_about_x(s, c, B):
    w = s * (B[4] - B[8]) + c * (B[5] + B[7])
    return (
        B[0], c * B[1] - s * B[2], s * B[1] + c * B[2], c * B[3] - s * B[6], B[4] - s * w, c * w - B[7],
        s * B[3] + c * B[6], c * w - B[5], B[8] + s * w,
    )  # fmt: skip


@inlined
def azimuth(s, c, a):
    """About z, if there is an angle: there is none but at branches."""
    return a if s == 0.0 else about_z(s, c, a)


@inlined
def inertia_azimuth(s, c, A, B, C):
    return (A, B, C) if s == 0.0 else (sym_about_z(s, c, A), full_about_z(s, c, B), sym_about_z(s, c, C))


@inlined
def joint_of(topology, work, i):
    """Kind and first coordinate of body i's joint; of a screw its coordinate, sine and cosine."""
    ints, row = body_ints(i), joint_row(topology)
    kind, first = load_int(topology, ints + KIND), load_int(topology, ints + FIRST_Q)
    return kind, first, load(work, i), load(work, row + i), load(work, 2 * row + i)


@inlined
def origin(kind, parameters, at, q, first, coordinate):
    """A body's origin in its parent."""
    r, P = load3(parameters, at + TRANSLATION), load9(parameters, at + ROTATION)
    if kind == SCREW:
        slide = load(parameters, at + SLIDE) * coordinate + load(parameters, at + SLIDE_OFFSET)
        return add_scaled(r, slide, column(P, 2))
    if kind == BALL:
        return lift(coordinate, r)
    return add(r, rotate(P, load3(q, first)))


@inlined
def whole(kind, parameters, at, q, first):
    """The rotation of a ball or a floating body."""
    P = load9(parameters, at + ROTATION)
    return compose(P, quaternion(q, first if kind == BALL else first + 3))


@inlined
def to_child(kind, parameters, at, q, first, s, c, a, b, d):
    """Three vectors in the axes of a body's parent, in its own."""
    if kind != SCREW:
        R = whole(kind, parameters, at, q, first)
        return rotate_back(R, a), rotate_back(R, b), rotate_back(R, d)
    y, x = -load(parameters, at + SIN_AZIMUTH), load(parameters, at + COS_AZIMUTH)
    a, b, d = azimuth(y, x, a), azimuth(y, x, b), azimuth(y, x, d)
    y, x = -load(parameters, at + SIN_TWIST), load(parameters, at + COS_TWIST)
    a, b, d = about_x(y, x, a), about_x(y, x, b), about_x(y, x, d)
    return about_z(-s, c, a), about_z(-s, c, b), about_z(-s, c, d)


@inlined
def to_parent(kind, parameters, at, q, first, s, c, a, b):
    """Two vectors in a body's axes, in those of its parent."""
    if kind != SCREW:
        R = whole(kind, parameters, at, q, first)
        return rotate(R, a), rotate(R, b)
    a, b = about_z(s, c, a), about_z(s, c, b)
    y, x = load(parameters, at + SIN_TWIST), load(parameters, at + COS_TWIST)
    a, b = about_x(y, x, a), about_x(y, x, b)
    y, x = load(parameters, at + SIN_AZIMUTH), load(parameters, at + COS_AZIMUTH)
    return azimuth(y, x, a), azimuth(y, x, b)


@inlined
def inertia_to_parent(kind, parameters, at, q, first, s, c, A, B, C):
    """The blocks of an articulated inertia in a body's axes, in those of its parent."""
    if kind != SCREW:
        R = whole(kind, parameters, at, q, first)
        return sym_rotate(R, A), compose(compose(R, B), transpose(R)), sym_rotate(R, C)
    A, B, C = sym_about_z(s, c, A), full_about_z(s, c, B), sym_about_z(s, c, C)
    y, x = load(parameters, at + SIN_TWIST), load(parameters, at + COS_TWIST)
    A, B, C = sym_about_x(y, x, A), full_about_x(y, x, B), sym_about_x(y, x, C)
    return inertia_azimuth(load(parameters, at + SIN_AZIMUTH), load(parameters, at + COS_AZIMUTH), A, B, C)
