"""Motions across a joint and forces along its columns, in body axes.

Accelerations are classical ones of body origins. A motion is that of a body's origin (linear) and of its axes (angular). Or, last,
pure dual quaternions as pairs (primary, dual): twists angular + eps linear, wrenches force + eps moment."""

from freeflyer.kernels.backend import load, store
from freeflyer.kernels.math.algebra import add, add_scaled, cross, dot
from freeflyer.kernels.model.joints.columns import body_column
from freeflyer.kernels.model.joints.kinds import add_twist, is_screw, joint_twist
from freeflyer.kernels.model.layout import SLIDE, TURN


def cross_z(a, s):
    """x and y of a x (0, 0, s); z is zero."""
    return s * a[1], -(s * a[0])


def velocity_terms(joint, parameters, v, w, dw, acc):
    """Angular velocity, angular acceleration and origin acceleration of a body whose joint does not accelerate, in its axes.
    Given those of the point of the parent at the body's origin, in the same axes, and the joint's velocity (l_J, w_J) of v: w +
    w_J; dw + w x w_J; acc + 2 w x l_J + w_J x l_J."""
    kind, at, _, j, _, _, _ = joint
    if is_screw(kind):
        turn, slide, rate = load(parameters, at + TURN), load(parameters, at + SLIDE), load(v, j)
        x, y = cross_z(w, turn * rate)
        X, Y = cross_z(w, 2.0 * slide * rate)
        dw = (dw[0] + x, dw[1] + y, dw[2])
        acc = (acc[0] + X, acc[1] + Y, acc[2])
        return (w[0], w[1], w[2] + turn * rate), dw, acc
    slip, spin = joint_twist(kind, v, j, 1)
    acc = add(acc, add(cross(add(w, spin), slip), cross(w, slip)))
    return add(w, spin), add(dw, cross(w, spin)), acc


def acceleration_terms(joint, parameters, a, dw, acc):
    """Angular and origin acceleration of a body, in its axes, with its joint's, of the coordinates a, added; or velocities."""
    kind, at, _, j, _, _, _ = joint
    if is_screw(kind):
        rate = load(a, j)
        dw = (dw[0], dw[1], dw[2] + load(parameters, at + TURN) * rate)
        return dw, (acc[0], acc[1], acc[2] + load(parameters, at + SLIDE) * rate)
    linear, angular = joint_twist(kind, a, j, 1)
    return add(dw, angular), add(acc, linear)


def add_along_column(joint, parameters, k, rate, linear, angular):
    """A motion (linear, angular) in body axes, plus `rate` times the joint's column k."""
    kind, at, _, _, _, _, _ = joint
    if not is_screw(kind):
        l, w = body_column(kind, k)
        return add_scaled(linear, rate, l), add_scaled(angular, rate, w)
    x, y = linear[2] + load(parameters, at + SLIDE) * rate, angular[2] + load(parameters, at + TURN) * rate
    return (linear[0], linear[1], x), (angular[0], angular[1], y)


def add_joint_forces(joint, parameters, force, moment, tau):
    """Entries of tau grow by the power of a wrench at the body's origin, in body axes, along the joint's columns."""
    kind, at, _, j, _, _, _ = joint
    if is_screw(kind):
        power = load(parameters, at + TURN) * moment[2] + load(parameters, at + SLIDE) * force[2]
        store(tau, j, load(tau, j) + power)
    else:
        add_twist(kind, tau, j, 1, force, moment)


def column_power(joint, parameters, k, force, moment):
    """The power of a wrench at the body's origin, in body axes, along the joint's column k."""
    kind, at, _, _, _, _, _ = joint
    if is_screw(kind):
        return load(parameters, at + SLIDE) * force[2] + load(parameters, at + TURN) * moment[2]
    l, w = body_column(kind, k)
    return dot(l, force) + dot(w, moment)


def add_cross_joint_twist(joint, parameters, v, h, rate):
    """rate + h x xi, xi being the joint's twist of the velocities v: the cross product (8) of pure dual quaternions."""
    kind, at, _, j, _, _, _ = joint
    (w, l), (dw, dl) = h, rate
    if is_screw(kind):
        turn, slide = load(parameters, at + TURN) * load(v, j), load(parameters, at + SLIDE) * load(v, j)
        return (dw[0] + turn * w[1], dw[1] - turn * w[0], dw[2]), (
            dl[0] + (slide * w[1] + turn * l[1]), dl[1] - (slide * w[0] + turn * l[0]), dl[2])  # fmt: skip
    linear, angular = joint_twist(kind, v, j, 1)
    return add(dw, cross(w, angular)), add(dl, add(cross(w, linear), cross(l, angular)))
