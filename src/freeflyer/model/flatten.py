"""The compiled tree's bodies, columns and frames as the two flat arrays of kernels/model/layout.py.

The z axis of a screw's body is the joint's axis, but which way its x axis points is free. A resting rotation is a product
Rz(azimuth) Rx(twist) Rz(rest): the rest becomes an offset of the joint's angle, and x axes are chosen so that the azimuth of each
body's first screw is zero (J. Denavit, R. S. Hartenberg 1955). Azimuths then remain at branches only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import atan2, hypot

import numpy as np

from freeflyer.kernels.model import layout as L
from freeflyer.model.description import Inertia, Loop
from freeflyer.tolerances import AXIS_ROUNDING


@dataclass(frozen=True)
class Coupled:
    """A joint of a coupling: its position is ratio q[position] + offset, its rate ratio v[velocity]."""

    position: int = -1
    velocity: int = -1
    ratio: float = 0.0
    offset: float = 0.0


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
             armature: np.ndarray, gravity: tuple[float, float, float], loops: Sequence[Loop] = (),
             couplings: Sequence[tuple[Coupled, Coupled, tuple[float, ...]]] = ()) -> tuple[np.ndarray, np.ndarray]:
    n = len(bodies) - 1
    columns = [(i, j) for i, b in enumerate(bodies) for j in b.coordinates]
    first_column = np.cumsum([0] + [len(b.coordinates) for b in bodies])
    last_body = list(range(n + 1))
    for i in range(n, 0, -1):
        last_body[bodies[i].parent] = max(last_body[bodies[i].parent], last_body[i])
    tip = [-1] * (n + 1)  # last column on the way from the world to a body
    for i in range(1, n + 1):
        tip[i] = int(first_column[i + 1]) - 1 if bodies[i].coordinates else tip[bodies[i].parent]
    quaternions = [b.first_q + L.QUATERNION[b.kind] for b in bodies[1:] if b.kind in L.QUATERNION]

    columns_at = L.HEADER + L.BODY_INTS * (n + 1)
    coordinates_at = columns_at + L.COLUMN_INTS * len(columns)
    frames_at = coordinates_at + L.COORDINATE_INTS * nv
    quaternions_at = frames_at + L.FRAME_INTS * len(frames)
    loops_at = quaternions_at + len(quaternions)
    couplings_at = loops_at + L.LOOP_INTS * len(loops)
    order_at = couplings_at + L.COUPLING_INTS * len(couplings)
    moving = [(i, b.coordinates) for i, b in enumerate(bodies) if i and b.kind != L.SCREW]
    armed = [i for i, coordinates in moving if np.any(armature[list(coordinates)])]
    armatures_at = order_at + n
    topology = np.zeros(armatures_at + len(armed), np.int64)
    armature_at = L.BODIES + L.BODY_FLOATS * (n + 1)
    placements_at = armature_at + nv
    padded = -(-max(n, 1) // 8) * 8
    numbers_at = placements_at + L.PLACEMENT_FLOATS * len(frames)
    tiles_at = numbers_at + sum(L.COUPLING_RATIOS + len(c) for _, _, c in couplings)
    parameters = np.zeros(tiles_at + L.TILE * (padded + 8))
    poses_at = 3 * (padded + 8)
    pose_vectors_at = poses_at + L.POSE * (padded + 8)
    directions_at = pose_vectors_at + L.POSE_VECTORS * (padded + 8)
    topology[: L.MAX_DEPTH] = (
        n, nq, nv, len(columns), len(frames), columns_at, coordinates_at, frames_at, armature_at, placements_at,
        padded, poses_at, directions_at, directions_at + L.DIRECTION * len(columns), len(quaternions), quaternions_at)
    references = reference_bodies(bodies)
    parameters[:3] = gravity
    depth = [0] * (n + 1)
    for i, b in enumerate(bodies):
        at = L.HEADER + L.BODY_INTS * i
        depth[i] = depth[b.parent] + 1 if i else 0
        topology[at : at + L.BODY_INTS] = (
            b.parent, b.kind, b.first_q, first_column[i], len(b.coordinates), last_body[i],
            b.coordinates[0] if i else 0, depth[i], i in references)
        at = L.BODIES + L.BODY_FLOATS * i
        com = b.moment / b.mass if b.mass > 0.0 else np.zeros(3)
        about_com = b.rotational - b.mass * (com @ com * np.eye(3) - np.outer(com, com))
        second = np.trace(b.rotational) / 2.0 * np.eye(3) - b.rotational
        parameters[at : at + L.BODY_FLOATS] = (
            *b.placement[:3, :3].ravel(), *b.placement[:3, 3], b.mass, *com, *about_com[np.triu_indices(3)], *b.screw, b.mass,
            *b.moment, *second[np.triu_indices(3)], 0.0)
    topology[L.MAX_DEPTH], topology[L.TILES_AT] = max(depth), tiles_at
    topology[L.POSE_VECTORS_AT], topology[L.ORDER_AT] = pose_vectors_at, order_at
    topology[order_at:armatures_at] = 1 + np.argsort(depth[1:], kind="stable")
    topology[L.N_ARMATURES], topology[L.ARMATURES_AT] = len(armed), armatures_at
    topology[armatures_at:] = armed
    topology[L.N_PAIRS] = sum(math.comb(len(b.coordinates), 2) for b in bodies)
    records = parameters[L.BODIES : L.BODIES + L.BODY_FLOATS * (n + 1)].reshape(n + 1, L.BODY_FLOATS)
    tiles = np.zeros((padded + 8, L.TILE))
    tiles[1 : n + 1] = records[1:, : L.TILE]
    parameters[tiles_at:] = tiles.reshape(-1, 8, L.TILE).transpose(0, 2, 1).ravel()
    for i in range(n, 0, -1):
        at = L.BODIES + L.SUBTREE_MASS
        parameters[at + L.BODY_FLOATS * bodies[i].parent] += parameters[at + L.BODY_FLOATS * i]
    records[:, L.SUBTREE_SPREAD] = spreads(bodies, records[:, L.SUBTREE_MASS])
    topology[L.COLUMN_ROW] = -(-len(columns) // 8) * 8
    for c, (i, j) in enumerate(columns):
        before = c - 1 if c > first_column[i] else tip[bodies[i].parent]
        at = columns_at + L.COLUMN_INTS * c
        topology[at : at + L.COLUMN_INTS] = (i, j, before, first_column[last_body[i] + 1] - 1)
    topology[coordinates_at:frames_at] = coordinate_tree(topology, columns, columns_at, nv, shared).ravel()
    for k, (_, body, X) in enumerate(frames):
        topology[frames_at + k] = body
        at = placements_at + L.PLACEMENT_FLOATS * k
        parameters[at : at + 12] = (*X[:3, :3].ravel(), *X[:3, 3])
    topology[quaternions_at:loops_at] = quaternions
    index = {name: k for k, (name, _, _) in enumerate(frames)}
    row = 0
    for k, loop in enumerate(loops):
        at = loops_at + L.LOOP_INTS * k
        bits = sum(int(m) << i for i, m in enumerate(loop.mask))
        topology[at : at + L.LOOP_INTS] = (index[loop.frame_a], index[loop.frame_b], bits, row)
        row += sum(int(m) for m in loop.mask)
    for k, (one, two, coefficients) in enumerate(couplings):
        at, end = couplings_at + L.COUPLING_INTS * k, numbers_at + L.COUPLING_RATIOS + len(coefficients)
        topology[at : at + L.COUPLING_INTS] = (
            one.position, one.velocity, two.position, two.velocity, numbers_at, len(coefficients))
        parameters[numbers_at:end] = (one.ratio, one.offset, two.ratio, two.offset, *coefficients)
        numbers_at = end
    topology[L.N_LOOPS : L.N_ROWS + 1] = (len(loops), loops_at, len(couplings), couplings_at, row + len(couplings))
    parameters[armature_at:placements_at] = armature
    return topology, parameters


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


def coordinate_tree(topology: np.ndarray, columns: list[tuple[int, int]], at: int, nv: int, shared: bool) -> np.ndarray:
    """(nv, 3): parent, last descendant and start of the line of each velocity coordinate; one chain (dense M) where coordinates are
    shared."""
    if shared:
        return np.stack([np.arange(-1, nv - 1), np.full(nv, nv - 1), np.zeros(nv, np.int64)], axis=1)
    parent = topology[at + L.PARENT_COLUMN : at + L.COLUMN_INTS * len(columns) : L.COLUMN_INTS]
    last = np.arange(nv)
    for c in range(nv - 1, 0, -1):
        if parent[c] >= 0:
            last[parent[c]] = max(last[parent[c]], last[c])
    start = np.arange(nv)
    for c in range(1, nv):
        if parent[c] == c - 1:
            start[c] = start[c - 1]
    return np.stack([parent, last, start], axis=1)


def align(
    bodies: Sequence[Body], frames: Sequence[tuple[str, int, np.ndarray]]
) -> tuple[list[Body], list[tuple[str, int, np.ndarray]]]:
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
