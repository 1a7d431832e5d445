"""The compiled tree's bodies, columns and frames as the two flat arrays of kernels/model/layout.py.

The z axis of a screw's body is the joint's axis, but which way its x axis points is free. A resting rotation is a product
Rz(azimuth) Rx(twist) Rz(rest): the rest becomes an offset of the joint's angle, and x axes are chosen so that the azimuth of each
body's first screw is zero (J. Denavit, R. S. Hartenberg 1955). Azimuths then remain at branches only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import atan2, hypot

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.kernels.backend import LANES
from freeflyer.kernels.model import layout as L
from freeflyer.model.description import Inertia, Loop
from freeflyer.tolerances import AXIS_ROUNDING


Coordinate = tuple[int, int, float, float]  # (i, j, ratio, offset): a joint's position is ratio q[i] + offset, its rate ratio v[j]
NO_COORDINATE = (-1, -1, 0.0, 0.0)


@dataclass
class Body:
    """One row of the compiled tree; `inertia` gathers the links that are fixed to it (mass, first moment, about origin)."""

    parent: int
    kind: int
    first_q: int
    coordinates: tuple[int, ...]
    placement: np.ndarray
    screw: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # turn, slide and their offsets
    mass: float = 0.0
    moment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotational: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def carry(self, inertia: Inertia, X: np.ndarray) -> None:
        """Adds a link whose frame has pose X (4, 4) in this body."""
        R, c = X[:3, :3], X[:3, :3] @ inertia.com + X[:3, 3]
        self.mass += inertia.mass
        self.moment = self.moment + inertia.mass * c
        about_com = R @ inertia.rotational @ R.T
        self.rotational = self.rotational + about_com + inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))


def flatten(bodies: Sequence[Body], frames: list[tuple[str, int, np.ndarray]], nq: int, nv: int, shared: bool,
            armature: np.ndarray, gravity: tuple[float, float, float], loops: Sequence[Loop],
            couplings: Sequence[tuple[Coordinate, Coordinate, tuple[float, ...]]]) -> tuple[np.ndarray, np.ndarray]:
    """(topology, parameters) of a tree whose frames are (name, body, pose there); couplings: both joints' coordinates, and the
    coefficients."""
    n, references = len(bodies) - 1, reference_bodies(bodies)
    columns = [(i, j) for i, b in enumerate(bodies) for j in b.coordinates]
    first_column = np.cumsum([0] + [len(b.coordinates) for b in bodies]).tolist()
    last_body, depth, tip = list(range(n + 1)), [0] * (n + 1), [-1] * (n + 1)  # tip: last column between the world and a body
    for i in range(n, 0, -1):
        last_body[bodies[i].parent] = max(last_body[bodies[i].parent], last_body[i])
    for i, b in enumerate(bodies[1:], 1):
        depth[i] = depth[b.parent] + 1
        tip[i] = first_column[i + 1] - 1 if b.coordinates else tip[b.parent]
    body_rows = [
        (b.parent, b.kind, b.first_q, first_column[i], len(b.coordinates), last_body[i], b.coordinates[0] if i else 0, depth[i],
         i in references) for i, b in enumerate(bodies)]
    column_rows = [
        (i, j, c - 1 if c > first_column[i] else tip[bodies[i].parent], first_column[last_body[i] + 1] - 1)
        for c, (i, j) in enumerate(columns)]
    quaternions = [b.first_q + L.QUATERNION[b.kind] for b in bodies[1:] if b.kind in L.QUATERNION]
    index = {name: k for k, (name, _, _) in enumerate(frames)}
    first_rows = list(accumulate((sum(map(int, loop.mask)) for loop in loops), initial=0))
    loop_rows = [
        (index[loop.frame_a], index[loop.frame_b], sum(int(m) << k for k, m in enumerate(loop.mask)), row)
        for loop, row in zip(loops, first_rows)]
    moving = [(i, list(b.coordinates)) for i, b in enumerate(bodies) if i and b.kind != L.SCREW]
    armed = [i for i, coordinates in moving if np.any(armature[coordinates])]
    numbers = [(*one[2:], *two[2:], *coefficients) for one, two, coefficients in couplings]
    padded = -(-max(n, 1) // LANES) * LANES
    records = body_records(bodies)
    tiles = np.zeros((padded + LANES, L.TILE))
    tiles[1 : n + 1] = records[1:, : L.TILE]
    placements = [(*X[:3, :3].ravel(), *X[:3, 3]) for _, _, X in frames]
    parameters, (_, _, armature_at, placements_at, numbers_at, tiles_at) = joined(np.float64, [
        (*gravity, 0.0), records, armature, placements, [x for row in numbers for x in row],
        tiles.reshape(-1, LANES, L.TILE).transpose(0, 2, 1)])
    coupling_rows = [
        (*one[:2], *two[:2], at, len(coefficients))
        for (one, two, coefficients), at in zip(couplings, accumulate(map(len, numbers), initial=numbers_at))]
    coordinates = coordinate_tree([row[L.PARENT_COLUMN] for row in column_rows], nv, shared)
    topology, starts = joined(np.int64, [
        [0] * L.HEADER, body_rows, column_rows, coordinates, [body for _, body, _ in frames], quaternions, loop_rows,
        coupling_rows, 1 + np.argsort(depth[1:], kind="stable"), armed])
    _, _, columns_at, coordinates_at, frames_at, quaternions_at, loops_at, couplings_at, order_at, armatures_at = starts
    poses_at = 3 * (padded + LANES)
    pose_vectors_at = poses_at + L.POSE * (padded + LANES)
    directions_at = pose_vectors_at + L.POSE_VECTORS * (padded + LANES)
    header = {
        L.N_BODIES: n, L.N_Q: nq, L.N_V: nv, L.N_COLUMNS: len(columns), L.N_FRAMES: len(frames), L.COLUMNS_AT: columns_at,
        L.COORDINATES_AT: coordinates_at, L.FRAMES_AT: frames_at, L.ARMATURE_AT: armature_at, L.PLACEMENTS_AT: placements_at,
        L.SINES_AT: padded, L.POSES_AT: poses_at, L.DIRECTIONS_AT: directions_at,
        L.FREE_AT: directions_at + L.DIRECTION * len(columns), L.N_QUATERNIONS: len(quaternions),
        L.QUATERNIONS_AT: quaternions_at, L.MAX_DEPTH: max(depth), L.COLUMN_ROW: -(-len(columns) // LANES) * LANES,
        L.TILES_AT: tiles_at, L.N_LOOPS: len(loops), L.LOOPS_AT: loops_at, L.N_COUPLINGS: len(couplings),
        L.COUPLINGS_AT: couplings_at, L.N_ROWS: first_rows[-1] + len(couplings), L.POSE_VECTORS_AT: pose_vectors_at,
        L.ORDER_AT: order_at, L.N_ARMATURES: len(armed), L.ARMATURES_AT: armatures_at,
        L.N_PAIRS: sum(math.comb(len(b.coordinates), 2) for b in bodies)}
    topology[list(header)] = list(header.values())
    return topology, parameters


def joined(kind: type, parts: Sequence[ArrayLike]) -> tuple[np.ndarray, list[int]]:
    """One array of all entries, and where each part begins."""
    rows: list[np.ndarray] = [np.asarray(part, kind).ravel() for part in parts]
    return np.concatenate(rows), np.cumsum([0] + [len(row) for row in rows[:-1]]).tolist()


def body_records(bodies: Sequence[Body]) -> np.ndarray:
    """(bodies, BODY_FLOATS)"""
    records = np.zeros((len(bodies), L.BODY_FLOATS))
    for b, record in zip(bodies, records):
        com = b.moment / b.mass if b.mass > 0.0 else np.zeros(3)
        about_com = b.rotational - b.mass * (com @ com * np.eye(3) - np.outer(com, com))
        second = np.trace(b.rotational) / 2.0 * np.eye(3) - b.rotational
        record[: L.SUBTREE_SPREAD] = (
            *b.placement[:3, :3].ravel(), *b.placement[:3, 3], b.mass, *com, *about_com[np.triu_indices(3)], *b.screw, b.mass,
            *b.moment, *second[np.triu_indices(3)])
    for i in range(len(bodies) - 1, 0, -1):
        records[bodies[i].parent, L.SUBTREE_MASS] += records[i, L.SUBTREE_MASS]
    records[:, L.SUBTREE_SPREAD] = spreads(bodies, records[:, L.SUBTREE_MASS])
    return records


def spreads(bodies: Sequence[Body], masses: np.ndarray) -> list[float]:
    """Upper bounds of each body's integral of squared distance from its origin over the mass that it carries, in any posture.

    Joints that slide are taken to do so by a metre. This is the scale of an inertia's rounding error."""
    squares = [max(float(np.trace(b.rotational)) / 2.0, 0.0) for b in bodies]  # inertias may be taken as they are: negative
    for i in range(len(bodies) - 1, 0, -1):
        b = bodies[i]
        slide = 1.0 if b.kind in L.TRANSLATED else abs(b.screw[1]) + abs(b.screw[3])
        reach = float(np.linalg.norm(b.placement[:3, 3])) + slide
        squares[b.parent] += (squares[i] ** 0.5 + reach * max(float(masses[i]), 0.0) ** 0.5) ** 2
    return squares


def reference_bodies(bodies: Sequence[Body]) -> set[int]:
    """For each tree on the world its first body with mass (or that branches): the point of reference of matrices.

    A planar base begins with massless bodies that stay where it came from: about their origins, far out, digits would be lost."""
    below: list[list[int]] = [[] for _ in bodies]
    for i, body in enumerate(bodies[1:], 1):
        below[body.parent].append(i)
    references = set()
    for i in below[0]:
        while bodies[i].mass == 0.0 and len(below[i]) == 1:
            i = below[i][0]
        references.add(i)
    return references


def coordinate_tree(parent: Sequence[int], nv: int, shared: bool) -> np.ndarray:
    """(nv, 3): parent, last descendant and start of the line of each velocity coordinate, given the columns before each column; one
    chain (dense M) where coordinates are shared."""
    if shared:
        return np.stack([np.arange(-1, nv - 1), np.full(nv, nv - 1), np.zeros(nv, np.int64)], axis=1)
    last, start = np.arange(nv), np.arange(nv)
    for c in range(nv - 1, 0, -1):
        if parent[c] >= 0:
            last[parent[c]] = max(last[parent[c]], last[c])
    for c in range(1, nv):
        if parent[c] == c - 1:
            start[c] = start[c - 1]
    return np.stack([parent, last, start], axis=1)


def align(bodies: Sequence[Body],
          frames: Sequence[tuple[str, int, np.ndarray]]) -> tuple[list[Body], list[tuple[str, int, np.ndarray]]]:
    """The same tree with the x axes of its screws chosen; no result depends on it."""
    first = {}
    for i, b in reversed(list(enumerate(bodies))):
        if i and b.kind == L.SCREW:
            first[b.parent] = b
    spins = [np.eye(3)]
    result = [bodies[0]]
    for i, b in enumerate(bodies[1:], 1):
        X = _spun(spins[b.parent], b.placement)
        spin, screw = np.eye(3), b.screw
        if b.kind == L.SCREW:
            azimuth, tilted = _azimuth(X[:3, :3])
            rest = tilted.T @ azimuth.T @ X[:3, :3]
            if i in first:
                spin = _azimuth(first[i].placement[:3, :3])[0].T
            X[:3, :3] = azimuth @ tilted
            offset = rest @ spin.T
            screw = (*b.screw[:2], b.screw[2] + atan2(_clean(offset[1, 0]), _clean(offset[0, 0])), b.screw[3])
        spins.append(spin)
        result.append(replace(b, placement=X, screw=screw, moment=spin @ b.moment, rotational=spin @ b.rotational @ spin.T))
    return result, [(name, body, _spun(spins[body], X)) for name, body, X in frames]


def _spun(R: np.ndarray, X: np.ndarray) -> np.ndarray:
    Y = X.copy()
    Y[:3] = R @ X[:3]
    return Y


def _clean(x: float) -> float:
    return 0.0 if abs(x) < AXIS_ROUNDING else float(x)


def _azimuth(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rz(azimuth) and Rx(twist) (3, 3) of a rotation Rz(azimuth) Rx(twist) Rz(rest); the azimuth within a quarter turn."""
    x, y, z = map(_clean, R[:, 2])
    size = hypot(x, y)
    if size == 0.0:
        return np.eye(3), np.diag([1.0, np.copysign(1.0, z), np.copysign(1.0, z)])
    if y > 0.0:
        size = -size
    s, c = x / size, -y / size
    return (np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
            np.array([[1.0, 0.0, 0.0], [0.0, z, -size], [0.0, size, z]]))
