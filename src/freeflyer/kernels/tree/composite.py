"""Rigid inertias and motions of bodies in world axes, and their shift along the tree."""

from __future__ import annotations

from freeflyer.kernels.backend.buffers import load, load_int
from freeflyer.kernels.backend.pack import like
from freeflyer.kernels.compiler._jit import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO,
    accumulate3,
    accumulate6,
    add,
    add_scaled,
    cross,
    load3,
    load6,
    point_inertia,
    rotate,
    scale,
    store3,
    store6,
    sym_add,
    sym_apply,
    sym_rotate,
)  # fmt: skip
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.layout import (
    COLUMN_COUNT,
    COLUMN_INTS,
    COLUMNS_AT,
    COM,
    COORDINATE,
    DIRECTION,
    DIRECTIONS_AT,
    FIRST_COLUMN,
    INERTIA,
    MASS,
    N_BODIES,
    PARENT,
    SUBTREE_MASS,
)  # fmt: skip
from freeflyer.kernels.tree.poses import offset, rotation

COMPOSITE = 9  # first moment (3) and inertia (6) of a subtree at its root body's origin
H_AT, I_AT = 0, 3
MOTION = 6  # linear (of the origin) and angular velocity of a body
LINEAR, ANGULAR = 0, 3


@inlined
def body_inertia(parameters, i, R):
    """First moment and rotational inertia of body i at its origin, in the axes that R leads to."""
    at = body_floats(i)
    c, m = rotate(R, load3(parameters, at + COM)), load(parameters, at + MASS)
    I = sym_rotate(R, load6(parameters, at + INERTIA))
    h = scale(m, c)
    return h, sym_add(I, point_inertia(h, c))


@inlined
def momentum(m, h, I, linear, angular):
    """Force-like vector (linear, angular) of an inertia at a point, times a motion of that point."""
    return add_scaled(cross(angular, h), m, linear), add(sym_apply(I, angular), cross(h, linear))


@inlined
def column_range(topology, i):
    """(first column, one past the last) of body i."""
    first = load_int(topology, body_ints(i) + FIRST_COLUMN)
    return first, first + load_int(topology, body_ints(i) + COLUMN_COUNT)


@inlined
def coordinate(topology, column):
    """The velocity coordinate of a column."""
    return load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * column + COORDINATE)


@inlined
def parent_of(topology, i):
    return load_int(topology, body_ints(i) + PARENT)


@inlined
def direction_at(topology, column):
    """Where a column's direction lies in work."""
    return load_int(topology, DIRECTIONS_AT) + DIRECTION * column


@inlined
def joint_motion(topology, work, i, rates, linear, angular):
    """(linear, angular) plus the sum of body i's columns times their rates."""
    first, end = column_range(topology, i)
    for c in range(first, end):
        rate, to = load(rates, coordinate(topology, c)), direction_at(topology, c)
        linear = add_scaled(linear, rate, load3(work, to))
        angular = add_scaled(angular, rate, load3(work, to + 3))
    return linear, angular


@inlined
def zeros(example):
    """Three zeros of the type of a scalar."""
    return like(example, 0.0), like(example, 0.0), like(example, 0.0)


@kernel
def composite_inertias(topology, parameters, work, to):
    """Writes first moment and inertia of every subtree, at its root body's origin, from `to` on (body 0: the world)."""
    n = load_int(topology, N_BODIES)
    for k in range(3):
        store3(work, to + 3 * k, ZERO)
    for i in range(1, n + 1):
        h, I = body_inertia(parameters, i, rotation(topology, work, i))
        store3(work, to + COMPOSITE * i + H_AT, h)
        store6(work, to + COMPOSITE * i + I_AT, I)
    for i in range(n, 0, -1):
        h, I = load3(work, to + COMPOSITE * i + H_AT), load6(work, to + COMPOSITE * i + I_AT)
        m, r = load(parameters, body_floats(i) + SUBTREE_MASS), offset(topology, work, i)
        there = to + COMPOSITE * parent_of(topology, i)
        mr = scale(m, r)
        accumulate3(work, there + H_AT, add(h, mr))
        accumulate6(work, there + I_AT, sym_add(I, point_inertia(add(add(h, h), mr), r)))


@kernel
def velocities(topology, work, v, to):
    """Writes every body's origin velocity and angular velocity, in world axes, from `to` on."""
    store3(work, to + LINEAR, ZERO)
    store3(work, to + ANGULAR, ZERO)
    for i in range(1, load_int(topology, N_BODIES) + 1):
        there, r = to + MOTION * parent_of(topology, i), offset(topology, work, i)
        w = load3(work, there + ANGULAR)
        linear, angular = joint_motion(topology, work, i, v, add(load3(work, there + LINEAR), cross(w, r)), w)
        store3(work, to + MOTION * i + LINEAR, linear)
        store3(work, to + MOTION * i + ANGULAR, angular)
