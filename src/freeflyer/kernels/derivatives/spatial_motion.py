"""Spatial motions and forces of all bodies in world axes, seen from one point: what derivatives along motions start from.

A motion is (linear, angular), a force (force, moment), both at the origin of body 1, so that they add up along the tree.
Accelerations are spatial ones, rates of these motions at a point at rest; gravity enters as the acceleration of the world.
"""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int, store
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import (
    add,
    cross,
    load3,
    load6,
    rotate,
    scale,
    store3,
    store6,
    subtract,
    sym_apply,
    sym_rotate,
)
from freeflyer.kernels.model.access import body_floats
from freeflyer.kernels.model.layout import COM, GRAVITY, INERTIA, MASS, N_BODIES
from freeflyer.kernels.tree.composite import column_range, coordinate, direction_at, parent_of
from freeflyer.kernels.tree.poses import position, rotation

STATE = (
    40  # velocity, acceleration, own joint's velocity, momentum, force (6 each), centre of mass (3), inertia (6), mass
)
VELOCITY, ACCELERATION, RATE, MOMENTUM, FORCE, CENTRE, SPIN, WEIGHT = 0, 6, 12, 18, 24, 30, 33, 39


@inlined
def motion_cross(a, b):
    """The rate of motion b where all is carried along by motion a."""
    return add(cross(a[1], b[0]), cross(a[0], b[1])), cross(a[1], b[1])


@inlined
def force_cross(a, f):
    """The rate of force f where all is carried along by motion a."""
    return cross(a[1], f[0]), add(cross(a[1], f[1]), cross(a[0], f[0]))


@inlined
def plus(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


@inlined
def minus(a, b):
    return subtract(a[0], b[0]), subtract(a[1], b[1])


@inlined
def at_point(a, x):
    """The linear velocity of the point x."""
    return add(a[0], cross(a[1], x))


@inlined
def pair(work, at):
    """A motion or a force."""
    return load3(work, at), load3(work, at + 3)


@inlined
def put_pair(work, at, a):
    store3(work, at, a[0])
    store3(work, at + 3, a[1])


@inlined
def inertia_times(m, c, I, a):
    """Momentum of mass m at c with inertia I about c, at the motion a."""
    p = scale(m, add(a[0], cross(a[1], c)))
    return p, add(sym_apply(I, a[1]), cross(c, p))


@inlined
def inertia_at(states, at):
    """(m, c, I) of the body whose state begins there."""
    return load(states, at + WEIGHT), load3(states, at + CENTRE), load6(states, at + SPIN)


@inlined
def spatial_column(topology, work, i, c):
    """Column c of body i as a motion at the common point."""
    at = direction_at(topology, c)
    w = load3(work, at + 3)
    return add(load3(work, at), cross(subtract(position(topology, work, i), position(topology, work, 1)), w)), w


@kernel
def spatial_states(topology, parameters, work, v, a, states):
    """Writes STATE numbers a body from the kinematics of `work`, v (nv,) and a (nv,)."""
    g = load3(parameters, GRAVITY)
    for k in range(STATE):
        store(states, k, 0.0)
    store3(states, ACCELERATION, (-g[0], -g[1], -g[2]))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        here, there, at = STATE * i, STATE * parent_of(topology, i), body_floats(i)
        before, R = pair(states, there + VELOCITY), rotation(topology, work, i)
        zero = 0.0 * R[0]
        rate = (zero, zero, zero), (zero, zero, zero)
        change = rate
        first, end = column_range(topology, i)
        for c in range(first, end):
            S, j = spatial_column(topology, work, i, c), coordinate(topology, c)
            rate = plus(rate, (scale(load(v, j), S[0]), scale(load(v, j), S[1])))
            change = plus(change, (scale(load(a, j), S[0]), scale(load(a, j), S[1])))
        V = plus(before, rate)
        A = plus(plus(pair(states, there + ACCELERATION), change), motion_cross(before, rate))
        m = load(parameters, at + MASS) + zero
        c = add(
            subtract(position(topology, work, i), position(topology, work, 1)), rotate(R, load3(parameters, at + COM))
        )
        I = sym_rotate(R, load6(parameters, at + INERTIA))
        P = inertia_times(m, c, I, V)
        put_pair(states, here + VELOCITY, V)
        put_pair(states, here + ACCELERATION, A)
        put_pair(states, here + RATE, rate)
        put_pair(states, here + MOMENTUM, P)
        put_pair(states, here + FORCE, plus(inertia_times(m, c, I, A), force_cross(V, P)))
        store3(states, here + CENTRE, c)
        store6(states, here + SPIN, I)
        store(states, here + WEIGHT, m)
