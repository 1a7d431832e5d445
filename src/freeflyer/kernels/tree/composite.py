"""Rigid inertias and motions of bodies in world axes, and their shift along the tree."""

from freeflyer.kernels.backend.buffers import load, load_int, store
from freeflyer.kernels.backend.pack import like
from freeflyer.kernels.marks import inlined, kernel
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate3, accumulate6, add, load3, load6, point_inertia, rotate, scale, store3, store6, sym_add,
    sym_rotate,
)
from freeflyer.kernels.math.spatial import load_spatial, shift_motion, spatial_add_scaled, store_spatial
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.layout import (
    COLUMN_COUNT, COLUMN_INTS, COLUMNS_AT, COM, COORDINATE, DIRECTION, DIRECTIONS_AT, FIRST_COLUMN, INERTIA, MASS,
    N_BODIES, PARENT, SUBTREE_MASS,
)
from freeflyer.kernels.tree.poses import offset, rotation

COMPOSITE, SECOND_MOMENT = 9, 3  # first moment (3), then inertia (6) of a subtree at its root body's origin
MOTION = 6  # velocity of a body: a motion at its origin


@inlined
def inertia_about(m, c, I):
    """(first moment, inertia) about a point, of mass m at c from it whose inertia about its centre is I."""
    h = scale(m, c)
    return h, sym_add(I, point_inertia(h, c))


@inlined
def inertia_from(parameters, i, R, x):
    """(first moment, inertia) of body i about the point from which x leads to its origin, in the axes that R leads to."""
    at = body_floats(i)
    c = add(x, rotate(R, load3(parameters, at + COM)))
    return inertia_about(load(parameters, at + MASS), c, sym_rotate(R, load6(parameters, at + INERTIA)))


@inlined
def body_inertia(parameters, i, R):
    """(first moment, inertia) of body i about its origin, in the axes that R leads to."""
    at = body_floats(i)
    c = rotate(R, load3(parameters, at + COM))
    return inertia_about(load(parameters, at + MASS), c, sym_rotate(R, load6(parameters, at + INERTIA)))


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
def add_joint_motion(topology, work, i, rates, V):
    """V plus the sum of body i's columns times their rates."""
    first, end = column_range(topology, i)
    for c in range(first, end):
        V = spatial_add_scaled(V, load(rates, coordinate(topology, c)), load_spatial(work, direction_at(topology, c)))
    return V


@inlined
def zeros(example):
    """Three zeros of the kind of a scalar."""
    return like(example, 0.0), like(example, 0.0), like(example, 0.0)


@kernel
def composite_inertias(topology, parameters, work, to):
    """Writes first moment and inertia of every subtree, at its root body's origin, from `to` on (body 0: the world)."""
    n = load_int(topology, N_BODIES)
    for k in range(COMPOSITE):
        store(work, to + k, 0.0)
    for i in range(1, n + 1):
        h, I = body_inertia(parameters, i, rotation(topology, work, i))
        store3(work, to + COMPOSITE * i, h)
        store6(work, to + COMPOSITE * i + SECOND_MOMENT, I)
    for i in range(n, 0, -1):
        h, I = load3(work, to + COMPOSITE * i), load6(work, to + COMPOSITE * i + SECOND_MOMENT)
        m, r = load(parameters, body_floats(i) + SUBTREE_MASS), offset(topology, work, i)
        there = to + COMPOSITE * parent_of(topology, i)
        mr = scale(m, r)
        accumulate3(work, there, add(h, mr))
        accumulate6(work, there + SECOND_MOMENT, sym_add(I, point_inertia(add(add(h, h), mr), r)))


@kernel
def velocities(topology, work, v, to):
    """Writes every body's origin velocity and angular velocity, in world axes, from `to` on."""
    store_spatial(work, to, (ZERO, ZERO))
    for i in range(1, load_int(topology, N_BODIES) + 1):
        V = shift_motion(load_spatial(work, to + MOTION * parent_of(topology, i)), offset(topology, work, i))
        store_spatial(work, to + MOTION * i, add_joint_motion(topology, work, i, v, V))
