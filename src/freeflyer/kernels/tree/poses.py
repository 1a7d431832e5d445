"""Records of all bodies in a work array, laid out in tiles of eight so that one register holds an entry of eight bodies.

A body's pose are six vectors in world axes: the columns of its rotation, position from the origin of the tree's reference body,
offset from the parent's origin, position. Entries of one record are `row_step` apart; of one state, only the first four vectors are
in the records, all six in the pose vectors beside them (see vector4.py).
"""

from freeflyer.kernels.backend.buffers import load, load_int, load_row, row_step, store, store_row, tile_at
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.math.algebra import load3
from freeflyer.kernels.model.layout import POSE, POSES_AT
from freeflyer.kernels.model.vector4 import pose_vectors_at, vector_step

X_AXIS, Y_AXIS, Z_AXIS, FROM_REFERENCE, FROM_PARENT, POSITION = range(6)  # a pose's vectors, counted in vectors


@inlined
def pose_at(topology, work, i):
    """Where body i's pose begins in work."""
    return load_int(topology, POSES_AT) + tile_at(work, POSE, i)


@inlined
def spaced3(work, at):
    """Three entries of a record."""
    step = row_step(work)
    return load(work, at), load(work, at + step), load(work, at + 2 * step)


@inlined
def spaced6(work, at):
    """Six entries of a record."""
    return spaced3(work, at) + spaced3(work, at + 3 * row_step(work))


@inlined
def put_spaced3(work, at, a):
    step = row_step(work)
    store(work, at, a[0])
    store(work, at + step, a[1])
    store(work, at + 2 * step, a[2])


@inlined
def add_spaced3(work, at, a):
    step = row_step(work)
    store(work, at, load(work, at) + a[0])
    store(work, at + step, load(work, at + step) + a[1])
    store(work, at + 2 * step, load(work, at + 2 * step) + a[2])


@inlined
def row3(work, at):
    """Three entries of as many records as a row scalar holds."""
    step = row_step(work)
    return load_row(work, at), load_row(work, at + step), load_row(work, at + 2 * step)


@inlined
def put_row3(work, at, a):
    step = row_step(work)
    store_row(work, at, a[0])
    store_row(work, at + step, a[1])
    store_row(work, at + 2 * step, a[2])


@inlined
def from_columns(X, Y, Z):
    return X[0], Y[0], Z[0], X[1], Y[1], Z[1], X[2], Y[2], Z[2]


@inlined
def row_rotation(work, at):
    step = row_step(work)
    return from_columns(row3(work, at), row3(work, at + 3 * step), row3(work, at + 6 * step))


@inlined
def rotation(topology, work, i):
    """Body i's rotation."""
    at, step = pose_vectors_at(topology, work, i), vector_step(work)
    return from_columns(load3(work, at), load3(work, at + Y_AXIS * step), load3(work, at + Z_AXIS * step))


@inlined
def root_position(topology, work, i):
    """Body i's origin from its root body's."""
    return load3(work, pose_vectors_at(topology, work, i) + FROM_REFERENCE * vector_step(work))


@inlined
def offset(topology, work, i):
    """Body i's origin from its parent's."""
    return load3(work, pose_vectors_at(topology, work, i) + FROM_PARENT * vector_step(work))


@inlined
def position(topology, work, i):
    """Body i's origin in the world."""
    return load3(work, pose_vectors_at(topology, work, i) + POSITION * vector_step(work))
