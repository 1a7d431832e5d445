"""Where joints place their bodies, and how vectors and inertias change from a body's axes to its parent's and back.

A screw's axes follow from its parent's by an azimuth about z (zero but at branches), a twist about x and the joint's angle about z
(see model/flatten.py): two or three plane rotations, which cost half of a full one."""

from freeflyer.kernels.backend import LANES, load, load_int, load_row, number_row, row_step, store, store_row
from freeflyer.kernels.math.algebra import (
    add_scaled, column, compose, load3, load9, rotate, rotate_back, spin_z, sym_rotate, transpose,
)
from freeflyer.kernels.math.trig import sincos_row
from freeflyer.kernels.math.turns import about_x, about_z, azimuth, full_about_x, full_about_z, sym_about_x, sym_about_z
from freeflyer.kernels.model.access import body_floats, body_ints, joint_row, like3, numbers3, numbers_at
from freeflyer.kernels.model.joints.kinds import is_screw, joint_rotation, kind_of, translated
from freeflyer.kernels.model.layout import (
    FIRST_Q, FIRST_V, N_BODIES, ROTATION, SCREW, SLIDE, SLIDE_OFFSET, TRANSLATION, TURN, TURN_OFFSET,
)
from freeflyer.kernels.model.poses import along, plus, times, turned

COS_AZIMUTH, SIN_AZIMUTH, SIN_TWIST, COS_TWIST = ROTATION, ROTATION + 3, ROTATION + 7, ROTATION + 8


def joint_angles(topology, parameters, q, work):
    """Fills the first three rows of work: coordinate, sine and cosine of every body's joint, as far as it is a screw."""
    n, row, step = load_int(topology, N_BODIES), joint_row(topology), row_step(work)
    count = (n + step) // step * step
    store(work, 0, 0.0)
    for i in range(1, n + 1):
        store(work, i, load(q, load_int(topology, body_ints(i) + FIRST_Q)))
    for i in range(n + 1, count):
        store(work, i, 0.0)
    for i in range(0, count, step):
        at = numbers_at(topology, i)
        turn = number_row(work, parameters, at + LANES * TURN)
        offset = number_row(work, parameters, at + LANES * TURN_OFFSET)
        store_row(work, row + i, turn * load_row(work, i) + offset)
    sincos_row(work, row, row, 2 * row, count)


def joint_at(topology, work, i):
    """Body i's joint, for the functions that take one: (kind, record in parameters, first coordinates in q and in v; first
    coordinate itself, sine, cosine)."""
    ints, row = body_ints(i), joint_row(topology)
    first_q, first_v = load_int(topology, ints + FIRST_Q), load_int(topology, ints + FIRST_V)
    return kind_of(topology, i), body_floats(i), first_q, first_v, *tuple(load(work, k * row + i) for k in range(3))


def one_column_joint(topology, work, i):
    """As `joint_at`, of a joint that has one column: it is a screw."""
    return SCREW, *joint_at(topology, work, i)[1:]


def relative_pose(topology, parameters, q, i, s, c):
    """Pose (rotation, offset) of body i in its parent, from its joint's sine and cosine."""
    at, first, kind = body_floats(i), load_int(topology, body_ints(i) + FIRST_Q), kind_of(topology, i)
    joint = kind, at, first, 0, load(q, first), s, c
    R = spin_z(load9(parameters, at + ROTATION), s, c) if is_screw(kind) else full_rotation(joint, parameters, q)
    return R, origin(joint, parameters, q)


def axes_of_parent(topology, parameters, q, i, s, c, X, Y, Z, d):
    """(axes of body i's parent, vector from its origin to a point) from the body's axes and the vector d from its own origin."""
    at, first, kind = body_floats(i), load_int(topology, body_ints(i) + FIRST_Q), kind_of(topology, i)
    if is_screw(kind):
        r, (sine, cosine, y, x) = load3(parameters, at + TRANSLATION), azimuth_and_twist(parameters, at)
        d = plus(d, times(load(parameters, at + SLIDE) * load(q, first) + load(parameters, at + SLIDE_OFFSET), Z))
        X, Y = turned(s, c, X, Y)
        Y, Z = turned(y, x, Y, Z)
        if sine != 0.0:
            X, Y = turned(sine, cosine, X, Y)
    else:
        R, r = relative_pose(topology, parameters, q, i, s, c)
        X, Y, Z = along(X, Y, Z, R[:3]), along(X, Y, Z, R[3:6]), along(X, Y, Z, R[6:])
    return X, Y, Z, plus(d, along(X, Y, Z, r))


def relative_rows(topology, parameters, work, i):
    """As `relative_pose`, of as many bodies from i on as a row scalar holds, right where `row_pose_holds`."""
    at, row = numbers_at(topology, i), joint_row(topology)
    R = tuple(number_row(work, parameters, at + LANES * (ROTATION + k)) for k in range(9))
    slide = number_row(work, parameters, at + LANES * SLIDE) * load_row(work, i)
    slide = slide + number_row(work, parameters, at + LANES * SLIDE_OFFSET)
    r = add_scaled(numbers3(work, parameters, at + LANES * TRANSLATION), slide, column(R, 2))
    return spin_z(R, load_row(work, row + i), load_row(work, 2 * row + i)), r


def row_pose_holds(topology, i):
    """Whether `relative_rows` is right for body i; else use `relative_pose`."""
    return is_screw(kind_of(topology, i))


def origin(joint, parameters, q):
    """A body's origin in its parent, in the parent's axes."""
    kind, at, first, _, coordinate, _, _ = joint
    r, R = load3(parameters, at + TRANSLATION), load9(parameters, at + ROTATION)
    if is_screw(kind):
        slide = load(parameters, at + SLIDE) * coordinate + load(parameters, at + SLIDE_OFFSET)
        return add_scaled(r, slide, column(R, 2))
    return translated(kind, q, first, R, like3(coordinate, r))


def full_rotation(joint, parameters, q):
    """Rotation of a body in its parent. Not for screws."""
    kind, at, first, _, _, _, _ = joint
    return compose(load9(parameters, at + ROTATION), joint_rotation(kind, q, first))


def azimuth_and_twist(parameters, at):
    """Sines and cosines by which a screw's axes follow from its parent's: of the azimuth, then of the twist."""
    return tuple(load(parameters, at + k) for k in (SIN_AZIMUTH, COS_AZIMUTH, SIN_TWIST, COS_TWIST))


def to_child(joint, parameters, q, vectors):
    """Vectors in the axes of a body's parent, in its own."""
    kind, at, _, _, _, s, c = joint
    if not is_screw(kind):
        R = full_rotation(joint, parameters, q)
        return tuple(rotate_back(R, a) for a in vectors)
    sine, cosine, y, x = azimuth_and_twist(parameters, at)
    return tuple(about_z(-s, c, about_x(-y, x, azimuth(-sine, cosine, a))) for a in vectors)


def to_parent(joint, parameters, q, vectors):
    """Vectors in a body's axes, in those of its parent."""
    kind, at, _, _, _, s, c = joint
    if not is_screw(kind):
        R = full_rotation(joint, parameters, q)
        return tuple(rotate(R, a) for a in vectors)
    sine, cosine, y, x = azimuth_and_twist(parameters, at)
    return tuple(azimuth(sine, cosine, about_x(y, x, about_z(s, c, a))) for a in vectors)


def inertia_to_parent(joint, parameters, q, A, B, C):
    """The blocks of an articulated inertia in a body's axes, in those of its parent."""
    kind, at, _, _, _, s, c = joint
    if not is_screw(kind):
        R = full_rotation(joint, parameters, q)
        return sym_rotate(R, A), compose(compose(R, B), transpose(R)), sym_rotate(R, C)
    A, B, C = sym_about_z(s, c, A), full_about_z(s, c, B), sym_about_z(s, c, C)
    s, c, y, x = azimuth_and_twist(parameters, at)
    A, B, C = sym_about_x(y, x, A), full_about_x(y, x, B), sym_about_x(y, x, C)
    return (A, B, C) if s == 0.0 else (sym_about_z(s, c, A), full_about_z(s, c, B), sym_about_z(s, c, C))
