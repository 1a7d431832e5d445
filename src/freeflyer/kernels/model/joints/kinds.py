"""The switch between kinds of joints: a screw, or which of the six unit twists of its body a joint of several columns has.

Moving on the configuration manifold, q (+) dv: coordinates of screws add; a joint's quaternion is multiplied by exp(dv); a floating
body's pose by exp of a body twist, so that q (+) dv is where a constant body velocity dv leads in one second."""

from freeflyer.kernels.backend import kernel, load, load_int, store
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate_strided, add, load3, quaternion_rotation, rotate, rotate_back, store3, strided3, subtract,
)
from freeflyer.kernels.math.turns import displacement, integrate_quaternion, linear_log, rotation_vector
from freeflyer.kernels.model.access import body_ints, like3
from freeflyer.kernels.model.layout import BALL, FIRST_Q, FIRST_V, KIND, N_BODIES, SCREW


def is_screw(kind):
    return kind == SCREW


def kind_of(topology, i):
    return load_int(topology, body_ints(i) + KIND)


def quaternion(q, i):
    return quaternion_rotation(load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3))


def joint_rotation(kind, q, first):
    """Rotation of the body in its resting frame; q[first] is the joint's first coordinate. Not for screws."""
    return quaternion(q, first if kind == BALL else first + 3)


def translated(kind, q, first, R, r):
    """r + R t, t being the translation of the body in its resting frame. Not for screws."""
    return r if kind == BALL else add(r, rotate(R, load3(q, first)))


def twist_column(kind, n):
    """Which column is unit twist n (0, 1, 2: along x, y, z; 3, 4, 5: about them), negative if there is none. Not for screws."""
    return n - 3 if kind == BALL else n


def joint_twist(kind, x, first, step):
    """(linear, angular) in body axes of the coordinates x[first], x[first + step], ... of a twist. Not for screws."""
    if kind == BALL:
        w = strided3(x, first, step)
        return like3(w[0], ZERO), w
    return strided3(x, first, step), strided3(x, first + 3 * step, step)


def add_twist(kind, x, first, step, l, w):
    """Coordinates x[first], x[first + step], ... grow by those of (l, w) in body axes: a twist or a wrench. Not for screws."""
    if kind != BALL:
        accumulate_strided(x, first, step, l)
        first += 3 * step
    accumulate_strided(x, first, step, w)


def places(topology, i):
    """(kind, first entry of q, first entry of v) of body i's joint."""
    return kind_of(topology, i), load_int(topology, body_ints(i) + FIRST_Q), load_int(topology, body_ints(i) + FIRST_V)


@kernel
def integrate(topology, parameters, q, dv, out):
    """out (nq,): q (+) dv."""
    for i in range(1, load_int(topology, N_BODIES) + 1):
        kind, first, j = places(topology, i)
        if kind == SCREW:
            store(out, first, load(q, first) + load(dv, j))
        elif kind == BALL:
            integrate_quaternion(q, first, load3(dv, j), out)
        else:
            l, w = load3(dv, j), load3(dv, j + 3)
            store3(out, first, add(load3(q, first), rotate(quaternion(q, first + 3), displacement(l, w))))
            integrate_quaternion(q, first + 3, w, out)


@kernel
def difference(topology, parameters, q0, q1, dv):
    """dv (nv,): q0 (+) dv = q1, by the shortest turns."""
    for i in range(1, load_int(topology, N_BODIES) + 1):
        kind, first, j = places(topology, i)
        if kind == SCREW:
            store(dv, j, load(q1, first) - load(q0, first))
        elif kind == BALL:
            w, _, _, _ = rotation_vector(q0, q1, first)
            store3(dv, j, w)
        else:
            w, t, norm, angle = rotation_vector(q0, q1, first + 3)
            p = rotate_back(quaternion(q0, first + 3), subtract(load3(q1, first), load3(q0, first)))
            store3(dv, j, linear_log(p, w, t, norm, angle))
            store3(dv, j + 3, w)
