"""Forces of velocity that armature takes in joints with quaternions: balls and floating joints.

Armature adds 1/2 v^T A v to the kinetic energy, A diagonal and constant in velocity coordinates: it moves as a body would that
weighs nothing and has these inertias in the child's axes. Where velocities are rates of coordinates, A a is all that the equations
of motion gain. Twists and angular velocities are none; by the equations of Euler and Poincare their joints also need v x* (A v):

    force = w x (A_l l),        moment = l x (A_l l) + w x (A_w w)

A_l and A_w being the linear and angular parts of A. With one number for all coordinates, as MuJoCo has it, a (w x l) is left: the
acceleration of the origin in body axes. Topology lists the bodies of those joints that have armature; robots without any do nothing
here."""

from freeflyer.kernels.backend import (
    from_entry, kernel, load, load_int, load_row, row_step, store, store_row, workspace, zero_entries,
)
from freeflyer.kernels.math.algebra import accumulate, cross, load3, scale, subtract
from freeflyer.kernels.model.access import body_ints
from freeflyer.kernels.model.layout import ARMATURE_AT, ARMATURES_AT, BALL, FIRST_V, KIND, N_ARMATURES, N_V

RATES = 36  # derivatives of one joint's forces by its velocities
ONES, MINUS = (1.0, 1.0, 1.0), (-1.0, -1.0, -1.0)


def has_armature(topology):
    """Whether any joint with a quaternion has armature."""
    return load_int(topology, N_ARMATURES) > 0


def armature_joint(topology, k):
    """(whether it is a ball, its first velocity coordinate) of the joint number k that is listed."""
    ints = body_ints(load_int(topology, load_int(topology, ARMATURES_AT) + k))
    return load_int(topology, ints + KIND) == BALL, load_int(topology, ints + FIRST_V)


def product(d, x):
    """The entries of d times those of x."""
    return d[0] * x[0], d[1] * x[1], d[2] * x[2]


def cross_scaled(d, x):
    """x x (D x) for a diagonal D: exactly zero where its entries are equal."""
    return (d[2] - d[1]) * x[1] * x[2], (d[0] - d[2]) * x[2] * x[0], (d[1] - d[0]) * x[0] * x[1]


@kernel
def add_armature_forces(topology, parameters, v, sign, out, to):
    """out, nv entries from `to` on, grows by sign * (v x* (A v)) of every joint."""
    for k in range(load_int(topology, N_ARMATURES)):
        ball, j = armature_joint(topology, k)
        at = load_int(topology, ARMATURE_AT) + j
        if not ball:
            a, l, w = load3(parameters, at), load3(v, j), load3(v, j + 3)
            accumulate(out, to + j, scale(sign, cross(w, product(a, l))))
            accumulate(out, to + j + 3, scale(sign, cross_scaled(a, l)))
            j, at = j + 3, at + 3
        accumulate(out, to + j, scale(sign, cross_scaled(load3(parameters, at), load3(v, j))))


def put_armature(topology, parameters, v, a, tau):
    """tau (nv,) becomes what armature takes, which no link has."""
    armature = load_int(topology, ARMATURE_AT)
    for j in range(load_int(topology, N_V)):
        store(tau, j, load(parameters, armature + j) * load(a, j))
    add_armature_forces(topology, parameters, v, 1.0, tau, 0)


def add_skew(out, at, stride, x, d):
    """The (3, 3) block at `at`, in rows `stride` long, grows by [x]x D, D diagonal."""
    store(out, at + 1, load(out, at + 1) - d[1] * x[2])
    store(out, at + 2, load(out, at + 2) + d[2] * x[1])
    store(out, at + stride, load(out, at + stride) + d[0] * x[2])
    store(out, at + stride + 2, load(out, at + stride + 2) - d[2] * x[0])
    store(out, at + 2 * stride, load(out, at + 2 * stride) - d[0] * x[1])
    store(out, at + 2 * stride + 1, load(out, at + 2 * stride + 1) + d[1] * x[0])


def trace_minus(d):
    """The diagonal of tr(D) - D: x x (D y) + D (x x y) = ((tr(D) - D) x) x y for all x and y."""
    return d[1] + d[2], d[0] + d[2], d[0] + d[1]


@kernel
def add_armature_coriolis(topology, parameters, v, C):
    """C (nv, nv), of all but armature, grows by the part C_J of every joint: skew, with C_J(v) v = v x* (A v) and C_J(x) y -
    C_J(y) x = A [x, y], which leaves one matrix. With one number a in all linear coordinates it is that of a particle of mass a
    at the origin."""
    nv = load_int(topology, N_V)
    for k in range(load_int(topology, N_ARMATURES)):
        ball, j = armature_joint(topology, k)
        at, to = load_int(topology, ARMATURE_AT) + j, (nv + 1) * j
        if not ball:
            a, l, w = load3(parameters, at), load3(v, j), load3(v, j + 3)
            half = scale(0.5, a)
            aside, p = product(trace_minus(half), l), product(half, l)
            add_skew(C, to, nv, product(trace_minus(half), w), ONES)
            for x, d in ((aside, ONES), (l, scale(-1.0, half)), (p, MINUS)):
                add_skew(C, to + 3, nv, x, d)
            add_skew(C, to + 3 * nv, nv, l, half)
            add_skew(C, to + 3 * nv, nv, p, MINUS)
            j, at, to = j + 3, at + 3, to + 3 * (nv + 1)
        b = load3(parameters, at)
        rest = subtract(scale(0.5, trace_minus(b)), scale(0.5, b))  # half of the trace, less twice a half
        add_skew(C, to, nv, product(rest, load3(v, j)), ONES)


@kernel
def put_armature_rates(topology, parameters, v, out, to):
    """Writes, from `to` on, RATES numbers a joint: derivatives of its forces by its velocities, in rows of 3 or 6."""
    for k in range(load_int(topology, N_ARMATURES)):
        ball, j = armature_joint(topology, k)
        at, begin, stride = load_int(topology, ARMATURE_AT) + j, to + RATES * k, 3 if ball else 6
        zero_entries(from_entry(out, begin), RATES)
        if not ball:
            a, l, w = load3(parameters, at), load3(v, j), load3(v, j + 3)
            p, below = product(a, l), begin + 3 * stride
            add_skew(out, begin, stride, w, a)
            add_skew(out, begin + 3, stride, p, MINUS)
            add_skew(out, below, stride, l, a)
            add_skew(out, below, stride, p, MINUS)
            j, at, begin = j + 3, at + 3, below + 3
        b, w = load3(parameters, at), load3(v, j)
        add_skew(out, begin, stride, w, b)
        add_skew(out, begin, stride, product(b, w), MINUS)


def add_armature_rates(topology, rates, at, dv, width):
    """dv (nv rows, `width` long) grows by the derivatives that `rates` holds from `at` on."""
    for k in range(load_int(topology, N_ARMATURES)):
        ball, j = armature_joint(topology, k)
        n = 3 if ball else 6
        for r in range(n):
            for c in range(n):
                to = width * (j + r) + j + c
                store(dv, to, load(dv, to) + load(rates, at + RATES * k + n * r + c))


def add_armature_tangents(topology, parameters, v, changes, out):
    """Forces' changes (nv rows) grow by those that come from changes (nv rows) of v."""
    step, size = row_step(out), RATES * load_int(topology, N_ARMATURES)
    rates = workspace(v, size + 1)
    put_armature_rates(topology, parameters, v, rates, 0)
    for k in range(load_int(topology, N_ARMATURES)):
        ball, j = armature_joint(topology, k)
        n = 3 if ball else 6
        for r in range(n):
            to = step * (j + r)
            for c in range(n):
                rate = load(rates, RATES * k + n * r + c)
                store_row(out, to, load_row(out, to) + rate * load_row(changes, step * (j + c)))
