"""Poses of all bodies in a work array, and 3-vectors kept as one value.

Poses lie in tiles of eight, so that one register holds an entry of eight bodies. A body's pose are six vectors in world axes: the
columns of its rotation, position from the origin of the tree's reference body, offset from the parent's origin, position. Entries
of one record are `row_step` apart; of one state, only the first four vectors are in the records, all six in the pose vectors beside
them.

A state's numbers are floats, and a vector fills one register, a Vector4 (its fourth entry is undefined): the recursion along the
tree is then a quarter of the instructions for one state. A Pack fills a register by itself, so a vector of Packs is a tuple of
three. The primitives here take either. Compiled meanings: compiler/meanings/vectors.py."""

from typing import Any

from freeflyer.kernels.backend import LANES, block, kernel, load_int, primitive, row_step, tile_at, transposed
from freeflyer.kernels.math.algebra import accumulate_strided, cross, load3, rows3, store3, store_rows, strided3
from freeflyer.kernels.model.layout import N_BODIES, POSE, POSE_VECTORS, POSE_VECTORS_AT, POSES_AT

WIDTH = 4


@primitive
def load_vector(work: Any, at: int) -> Any:
    return load3(work, at)


@primitive
def store_vector(work: Any, at: int, a: Any) -> None:
    """Writes a vector; the entry behind it may be overwritten."""
    store3(work, at, a)


@primitive
def vector(work: Any, a: Any) -> Any:
    return a


@primitive
def plus(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@primitive
def times(s: Any, a: Any) -> Any:
    return s * a[0], s * a[1], s * a[2]


@primitive
def vector_product(a: Any, b: Any) -> Any:
    return cross(a, b)


@primitive
def entries(a: Any) -> Any:
    """A vector's three numbers, or Packs."""
    return a


def turned(s, c, a, b):
    """Two of a body's axes, from those after a turn about the third that takes the first towards the second; sine, cosine."""
    return plus(times(c, a), times(-s, b)), plus(times(s, a), times(c, b))


def along(X, Y, Z, s):
    """X s[0] + Y s[1] + Z s[2]"""
    return plus(plus(times(s[0], X), times(s[1], Y)), times(s[2], Z))


@primitive
def vector_step(work: Any) -> int:
    """How far apart vectors lie: four entries of a float buffer, three of Packs."""
    return 3


def pose_vectors_at(topology, work, i):
    """Where the vectors of body i's pose lie: in its record, or, of one state, beside it until `transpose_poses`."""
    if vector_step(work) == WIDTH:
        return load_int(topology, POSE_VECTORS_AT) + POSE_VECTORS * i
    return load_int(topology, POSES_AT) + tile_at(work, POSE, i)


@primitive
def transpose_poses(topology: Any, work: Any) -> None:
    """Puts what is read as rows of bodies into the poses' records: rotations, positions from the reference body."""


@kernel
def transpose_vectors(topology, work):
    """`transpose_poses` for one state: the vectors of eight bodies become rows of their records."""
    vectors, poses = load_int(topology, POSE_VECTORS_AT), load_int(topology, POSES_AT)
    for i in range(0, load_int(topology, N_BODIES) + 1, LANES):
        for pair in range(2):  # X and Y; Z and the position from the reference body
            rows = transposed(block(work, vectors + POSE_VECTORS * i + LANES * pair, POSE_VECTORS))
            store_rows(work, poses + POSE * i + 6 * LANES * pair, LANES, (*rows[:3], *rows[4:7]))


X_AXIS, Y_AXIS, Z_AXIS, FROM_REFERENCE, FROM_PARENT, POSITION = range(6)  # a pose's vectors, counted in vectors


def pose_at(topology, work, i):
    return load_int(topology, POSES_AT) + tile_at(work, POSE, i)


def spaced3(work, at):
    """Three entries of a record."""
    return strided3(work, at, row_step(work))


def add_spaced(work, at, a):
    accumulate_strided(work, at, row_step(work), a)


def row3(work, at):
    """Three entries of as many records as a row scalar holds."""
    return rows3(work, at, row_step(work))


def put_spaced_rows(work, at, a):
    store_rows(work, at, row_step(work), a)


def from_columns(X, Y, Z):
    return X[0], Y[0], Z[0], X[1], Y[1], Z[1], X[2], Y[2], Z[2]


def row_rotation(work, at):
    step = row_step(work)
    return from_columns(row3(work, at), row3(work, at + 3 * step), row3(work, at + 6 * step))


def rotation(topology, work, i):
    at, step = pose_vectors_at(topology, work, i), vector_step(work)
    return from_columns(load3(work, at), load3(work, at + Y_AXIS * step), load3(work, at + Z_AXIS * step))


def root_position(topology, work, i):
    """Body i's origin from its root body's."""
    return load3(work, pose_vectors_at(topology, work, i) + FROM_REFERENCE * vector_step(work))


def offset(topology, work, i):
    """Body i's origin from its parent's."""
    return load3(work, pose_vectors_at(topology, work, i) + FROM_PARENT * vector_step(work))


def position(topology, work, i):
    """Body i's origin in the world."""
    return load3(work, pose_vectors_at(topology, work, i) + POSITION * vector_step(work))
