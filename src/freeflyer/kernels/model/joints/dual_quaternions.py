"""Joints acting on pure dual quaternions: twists angular + eps linear, wrenches force + eps moment, as pairs (primary, dual).

The adjoint Ad(x) h = x h x* of a rotation about an axis leaves the part of h along the axis, and multiplies the rest by x^2: by
sine and cosine of the whole angle. So a screw costs two or three plane rotations, as everywhere in this folder.
"""

from freeflyer.kernels.backend.buffers import load
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import add, cross, rotate_back
from freeflyer.kernels.math.turns import about_x, about_z
from freeflyer.kernels.model.joints.kinds import is_screw, joint_twist
from freeflyer.kernels.model.joints.placement import (
    COS_AZIMUTH, COS_TWIST, SIN_AZIMUTH, SIN_TWIST, azimuth, full_rotation,
)
from freeflyer.kernels.model.layout import SLIDE, TURN


@inlined
def to_child_axes(joint, parameters, q, g, h):
    """Ad(r*) of two pure dual quaternions: from the axes of a body's parent to its own, about the same point."""
    kind, at, _, _, _, s, c = joint
    if not is_screw(kind):
        R = full_rotation(joint, parameters, q)
        return (rotate_back(R, g[0]), rotate_back(R, g[1])), (rotate_back(R, h[0]), rotate_back(R, h[1]))
    y, x = -load(parameters, at + SIN_AZIMUTH), load(parameters, at + COS_AZIMUTH)
    sine, cosine = -load(parameters, at + SIN_TWIST), load(parameters, at + COS_TWIST)
    return (
        (about_z(-s, c, about_x(sine, cosine, azimuth(y, x, g[0]))), about_z(-s, c, about_x(sine, cosine, azimuth(y, x, g[1])))),
        (about_z(-s, c, about_x(sine, cosine, azimuth(y, x, h[0]))), about_z(-s, c, about_x(sine, cosine, azimuth(y, x, h[1])))),
    )


@inlined
def add_joint_twist(joint, parameters, x, h):
    """h plus the joint's twist of the coordinates x (velocities or accelerations), in body axes at the body's origin."""
    kind, at, _, j, _, _, _ = joint
    (w, l) = h
    if is_screw(kind):
        rate = load(x, j)
        return (w[0], w[1], w[2] + load(parameters, at + TURN) * rate), (l[0], l[1], l[2] + load(parameters, at + SLIDE) * rate)
    linear, angular = joint_twist(kind, x, j, 1)
    return add(w, angular), add(l, linear)


@inlined
def add_cross_joint_twist(joint, parameters, v, h, rate):
    """rate + h x xi, xi being the joint's twist of the velocities v: the cross product (8) of pure dual quaternions."""
    kind, at, _, j, _, _, _ = joint
    (w, l), (dw, dl) = h, rate
    if is_screw(kind):
        turn, slide = load(parameters, at + TURN) * load(v, j), load(parameters, at + SLIDE) * load(v, j)
        return (dw[0] + turn * w[1], dw[1] - turn * w[0], dw[2]), (
            dl[0] + (slide * w[1] + turn * l[1]), dl[1] - (slide * w[0] + turn * l[0]), dl[2],
        )  # fmt: skip
    linear, angular = joint_twist(kind, v, j, 1)
    return add(dw, cross(w, angular)), add(dl, add(cross(w, linear), cross(l, angular)))
