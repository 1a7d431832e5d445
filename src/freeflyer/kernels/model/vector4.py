"""3-vectors kept as one value: the recursion along the tree is then a quarter of the instructions for one state.

A state's numbers are floats, and a vector fills one register, a Vector4 (its fourth entry is undefined). A Pack fills a register by
itself, so a vector of Packs is a tuple of three. The functions here take either. Compiled meanings: compiler/meanings/vectors.py.
"""

from __future__ import annotations

from typing import Any

from freeflyer.kernels.backend.buffers import load_int, store_row, tile_at
from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.backend.transpose import block, transposed
from freeflyer.kernels.marks import inlined, kernel, primitive
from freeflyer.kernels.math.algebra import load3, store3
from freeflyer.kernels.model.layout import N_BODIES, POSE, POSE_VECTORS, POSE_VECTORS_AT, POSES_AT

WIDTH = 4


@primitive
def load_vector(work: Any, at: int) -> Any:
    """The vector whose three entries lie at `at`."""
    return load3(work, at)


@primitive
def store_vector(work: Any, at: int, a: Any) -> None:
    """Writes a vector; the entry behind it may be overwritten."""
    store3(work, at, a)


@primitive
def vector(work: Any, a: Any) -> Any:
    """Three scalars as a vector."""
    return a


@primitive
def plus(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@primitive
def times(s: Any, a: Any) -> Any:
    return s * a[0], s * a[1], s * a[2]


@inlined
def along(X, Y, Z, s):
    """X s[0] + Y s[1] + Z s[2]"""
    return plus(plus(times(s[0], X), times(s[1], Y)), times(s[2], Z))


@primitive
def vector_step(work: Any) -> int:
    """How far apart vectors lie: four entries of a float buffer, three of Packs."""
    return 3


@inlined
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
            to = poses + POSE * i + 6 * LANES * pair
            store_row(work, to, rows[0])
            store_row(work, to + LANES, rows[1])
            store_row(work, to + 2 * LANES, rows[2])
            store_row(work, to + 3 * LANES, rows[4])
            store_row(work, to + 4 * LANES, rows[5])
            store_row(work, to + 5 * LANES, rows[6])
