"""Rigid inertias and motions of bodies in world axes, and their shift along the tree; records of bodies and columns as rows.

A record of a body or column is summed along the tree a register at a time; formulas take the same entry of eight of them.
"""

from freeflyer.kernels.backend import (
    block, inlined, kernel, like, load, load_int, load_row, put_block, row_step, store, store_row, transposed,
)
from freeflyer.kernels.math.algebra import (
    ZERO, accumulate3, accumulate6, add, load3, load6, point_inertia, rotate, scale, store3, store6, sym_add,
    sym_rotate,
)
from freeflyer.kernels.math.spatial import load_spatial, shift_motion, spatial_add_scaled, store_spatial
from freeflyer.kernels.model.access import body_floats, body_ints
from freeflyer.kernels.model.layout import (
    COLUMN_BODY, COLUMN_COUNT, COLUMN_INTS, COLUMNS_AT, COM, COORDINATE, DIRECTION, DIRECTIONS_AT, FIRST_COLUMN,
    INERTIA, MASS, N_BODIES, PARENT, SUBTREE_MASS,
)
from freeflyer.kernels.model.poses import offset, rotation

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


OF_NUMBER, OF_BODY, OF_PARENT = 0, 1, 2  # whose record: number i's; of column i's body; of that body's parent


@inlined
def record_of(topology, whose, i):
    if whose == OF_NUMBER:
        return i
    b = load_int(topology, load_int(topology, COLUMNS_AT) + COLUMN_INTS * i + COLUMN_BODY)
    return b if whose == OF_BODY else parent_of(topology, b)


@inlined
def record_at(topology, at, size, whose, i, end):
    return at + size * record_of(topology, whose, min(i, end - 1))


@inlined
def record_rows(topology, work, at, size, whose, i, end):
    """Eight entries from `at` on of the records, `size` apart, of i, i + 1, ... (those from `end` on: of the last)."""
    if row_step(work) == 1:
        return block(work, record_at(topology, at, size, whose, i, end), 1)
    return transposed((
        load_row(work, record_at(topology, at, size, whose, i, end)),
        load_row(work, record_at(topology, at, size, whose, i + 1, end)),
        load_row(work, record_at(topology, at, size, whose, i + 2, end)),
        load_row(work, record_at(topology, at, size, whose, i + 3, end)),
        load_row(work, record_at(topology, at, size, whose, i + 4, end)),
        load_row(work, record_at(topology, at, size, whose, i + 5, end)),
        load_row(work, record_at(topology, at, size, whose, i + 6, end)),
        load_row(work, record_at(topology, at, size, whose, i + 7, end)),
    ))  # fmt: skip


@inlined
def put_records(work, at, size, i, rows):
    """Eight entries from `at` on of the records i, i + 1, ... become those rows."""
    if row_step(work) == 1:
        put_block(work, at + size * i, 1, rows)
    else:
        put_block(work, at + size * i, size, transposed(rows))


@inlined
def add_record(work, to, at, size):
    """A record of `size` entries (if a row scalar holds eight, of so many times eight) grows by another."""
    for k in range(0, size, row_step(work)):
        store_row(work, to + k, load_row(work, to + k) + load_row(work, at + k))
