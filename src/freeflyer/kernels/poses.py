"""Records of all bodies in a work array, laid out in tiles of eight so that one register holds an entry of eight bodies.

A body's pose has 18 entries in world axes: rotation (9), offset from the parent's origin (3), position (3), position
from the origin of the tree's reference body (3). Entries of one record are `row_step` apart.
"""

from __future__ import annotations

from freeflyer.kernels._jit import inlined
from freeflyer.kernels.layout import POSE, POSES_AT
from freeflyer.kernels.memory import load, load_int, load_row, row_step, store, store_row, tile_at


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
def row_rotation(work, at):
    step = row_step(work)
    return row3(work, at) + row3(work, at + 3 * step) + row3(work, at + 6 * step)


@inlined
def rotation(topology, work, i):
    """Body i's rotation."""
    at, step = pose_at(topology, work, i), row_step(work)
    return spaced3(work, at) + spaced3(work, at + 3 * step) + spaced3(work, at + 6 * step)


@inlined
def offset(topology, work, i):
    """Body i's origin from its parent's."""
    return spaced3(work, pose_at(topology, work, i) + 9 * row_step(work))


@inlined
def position(topology, work, i):
    """Body i's origin in the world."""
    return spaced3(work, pose_at(topology, work, i) + 12 * row_step(work))


@inlined
def root_position(topology, work, i):
    """Body i's origin from its root body's."""
    return spaced3(work, pose_at(topology, work, i) + 15 * row_step(work))


@inlined
def put_pose(topology, work, i, R, r, p, x):
    """Writes body i's pose."""
    at, step = pose_at(topology, work, i), row_step(work)
    put_spaced3(work, at, (R[0], R[1], R[2]))
    put_spaced3(work, at + 3 * step, (R[3], R[4], R[5]))
    put_spaced3(work, at + 6 * step, (R[6], R[7], R[8]))
    put_spaced3(work, at + 9 * step, r)
    put_spaced3(work, at + 12 * step, p)
    put_spaced3(work, at + 15 * step, x)


@inlined
def put_root_position(topology, work, i, x):
    put_spaced3(work, pose_at(topology, work, i) + 15 * row_step(work), x)
