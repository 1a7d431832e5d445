"""Drawing of a robot at one posture: links, and beside them frames, centre of mass, inertias, loops, contact forces."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics import center_of_mass, frame_pose
from freeflyer.estimation.contact import pressure_center
from freeflyer.linkages.assembly import independent_or_all
from freeflyer.linkages.rows import constraint_loops, constraint_residual
from freeflyer.model import Model, pose_at, remembered
from freeflyer.model.visuals.mesh_files import Colour
from freeflyer.model.visuals.reading import Shape, visuals
from freeflyer.model.visuals.triangles import Mesh, along, arrow, ellipsoid, joined, rod
from freeflyer.plots.raster import Piece

LEAST_FORCE = 0.01  # of the weight: smaller contact forces are not drawn
FORCE_SHARE = 0.5  # of the robot: length of the arrow of its weight
OPEN = 1e-5  # m or rad: loops that are open by more are red
ORANGE, INK, RED, LOOP = (0.87, 0.48, 0.20, 1.0), (0.15, 0.18, 0.22, 1.0), (0.85, 0.15, 0.12, 1.0), (0.23, 0.62, 0.42, 1.0)
INERTIA = (0.95, 0.75, 0.3, 0.45)
AXES = ((0.85, 0.2, 0.2, 1.0), (0.2, 0.65, 0.25, 1.0), (0.2, 0.35, 0.85, 1.0))
LAYERS = ("com", "loops", "forces", "frames", "inertias")
SHOWN = ("com", "loops", "forces")  # unless asked otherwise


def link_poses(model: Model, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Poses (..., k, 4, 4) of frames in the world at q (..., nq)."""
    found = [frame_pose(model, q, name) for name in names]
    return np.stack(found, axis=-3) if found else np.zeros((*q.shape[:-1], 0, 4, 4))


@remembered
def _shapes(model: Model, cell: float) -> tuple[Shape, ...]:
    return tuple([s._replace(mesh=s.mesh.coarser(cell)) if cell else s for s in visuals(model).shapes])


def robot_pieces(model: Model, q: np.ndarray, cell: float = 0.0) -> list[Piece]:
    """Shapes of the links in the world at q (nq,). cell: details of meshes that are smaller are left out, m."""
    shapes = _shapes(model, cell)
    poses = link_poses(model, q, [s.link for s in shapes])
    return [Piece(s.mesh.moved(X), s.colour) for s, X in zip(shapes, poses)]


def all_corners(pieces: Sequence[Piece]) -> np.ndarray:
    """(n, 3), m; those of a cube if there are none."""
    return np.vstack([p.mesh.vertices for p in pieces]) if pieces else np.array([[-0.5] * 3, [0.5] * 3])


def floor_under(model: Model, pieces: Sequence[Piece]) -> float | None:
    """Height of the floor, m: below the lowest point of a robot that floats or reaches below 0, else 0; None without a robot."""
    if not pieces:
        return None
    lowest = float(all_corners(pieces)[:, 2].min())
    return lowest if lowest < 0.0 or any(joint.kind in ("free", "planar") for joint in model.tree.joints) else 0.0


@remembered
def robot_size(model: Model) -> float:
    """Largest extent of the robot at its neutral posture, m: by which everything beside it is scaled."""
    return max(float(np.ptp(all_corners(robot_pieces(model, model.neutral)), axis=0).max()), 1e-3)


def loop_lines(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Three lines for each loop at q (nq,), (k, 2, 3), m: link to end, end to end, end to link; gap (k,) of the loop of each, m or
    rad. Gaps are of the independent rows: a file's rounded digits leave the others open."""
    residual, names = np.abs(constraint_residual(model.tree, q)), constraint_loops(model.tree)
    links, gaps, rows = {s.name: s.link for s in model.description.sites}, dict[str, float](), independent_or_all(model.tree)
    for k in range(len(names)) if rows is None else rows:
        gaps[names[k]] = max(gaps.get(names[k], 0.0), float(residual[k]))
    lines = []
    for loop in model.loops:
        a, b = (frame_pose(model, q, frame)[:3, 3] for frame in (loop.frame_a, loop.frame_b))
        at, bt = (frame_pose(model, q, links.get(frame, frame))[:3, 3] for frame in (loop.frame_a, loop.frame_b))
        lines += [(at, a), (a, b), (b, bt)]
    gap = np.array([gaps.get(loop.name, 0.0) for loop in model.loops])
    return np.array(lines).reshape(-1, 2, 3), np.repeat(gap, 3)


def contact_force(model: Model, q: np.ndarray, foot: Contact, wrench: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(where it acts, force) (3,) each, in the world, m and N, of a wrench (6,) on a foot in its frame's axes.

    It acts at the centre of pressure of a surface that presses, else at the middle of the points. None for a force below 1 % of
    the weight, and for NaN."""
    size = float(np.linalg.norm(wrench[:3]))
    if not size > LEAST_FORCE * model.mass * float(np.linalg.norm(model.gravity)) or not np.isfinite(wrench).all():
        return None
    X = frame_pose(model, q, foot.frame)
    center = np.asarray(foot.points).mean(axis=0)
    if foot.kind == "surface" and wrench[2] > 0.0:  # it presses
        center = pressure_center(wrench, float(center[2]))
    return X[:3, :3] @ center + X[:3, 3], X[:3, :3] @ wrench[:3]


def force_arrows(model: Model, q: np.ndarray, forces: Mapping[str, np.ndarray], feet: Sequence[Contact],
                 size: float) -> np.ndarray:  # fmt: skip
    """Arrows (k, 2, 3), m, from where the forces act: their length is FORCE_SHARE of the robot's size for its weight."""
    scale = FORCE_SHARE * size / max(model.mass * float(np.linalg.norm(model.gravity)), 1e-9)
    given = [contact_force(model, q, foot, forces[foot.name]) for foot in feet if foot.name in forces]
    return np.array([(at, at + scale * force) for at, force in filter(None, given)]).reshape(-1, 2, 3)


def inertia_half_axes(model: Model) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """(link, pose (4, 4) in it, half axes (3,), m) of ellipsoids of uniform density with the links' masses and inertias. Lighter
    links than 1e-5 of the robot stand for frames, and their inertias, which are no body's, would be metres wide."""
    found = []
    for link in model.description.links:
        mass = link.inertia.mass
        if mass > 1e-5 * model.mass and link.name in model.frame_index:
            moments, axes = np.linalg.eigh(np.asarray(link.inertia.rotational))
            X = np.eye(4)
            X[:3, :3], X[:3, 3] = axes * np.sign(np.linalg.det(axes)), link.inertia.com
            found.append((link.name, X, np.sqrt(np.clip(2.5 * (moments.sum() - 2.0 * moments) / mass, 1e-8, None))))
    return found


class Mark(namedtuple("Mark", "mesh colour poses stretch through", defaults=(False,))):
    """Copies of a mesh in one colour, at poses (k, 4, 4) in the world, each stretched along its own axes (k, 3), m; through: seen
    faintly behind others."""


ORIGIN, UP = np.zeros(3), np.array([0.0, 0.0, 1.0])
BALL, ROD, ARROW = ellipsoid(np.ones(3)), rod(ORIGIN, UP, 1.0), arrow(ORIGIN, UP, 0.05)  # of length and radius 1


def most_copies(model: Model, layer: str, feet: Sequence[Contact]) -> int:
    """Of each mark of a layer, in any posture."""
    links = len(model.link_names)
    return {"com": 2, "loops": 3 * len(model.loops), "forces": len(feet), "frames": links, "inertias": links}[layer]


def marks(model: Model, layer: str, q: np.ndarray, forces: Mapping[str, np.ndarray], feet: Sequence[Contact],
          floor: float) -> list[Mark]:  # fmt: skip
    """What a layer shows at q (nq,), the same meshes in any posture. forces: wrenches (6,) by name of the foot, in its axes."""
    size = robot_size(model)
    thin = 0.006 * size
    if layer == "com" and model.mass > 0.0:
        c = center_of_mass(model, q)
        below = pose_at(np.array([c[0], c[1], floor]))
        balls = size * np.array([[0.02, 0.02, 0.02], [0.02, 0.02, 0.002]])
        height = max(float(c[2]) - floor, 1e-6)
        return [Mark(BALL, INK, np.array([pose_at(c), below]), balls),
            Mark(ROD, INK, below[None], np.array([[0.3 * thin, 0.3 * thin, height]]))]  # fmt: skip
    if layer == "loops" and model.loops:
        lines, gap = loop_lines(model, q)
        seen = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=-1) > 1e-6
        return [_along(ROD, LOOP, lines[seen & (gap <= OPEN)], thin), _along(ROD, RED, lines[seen & (gap > OPEN)], thin)]
    if layer == "forces":
        return [_along(ARROW, ORANGE, force_arrows(model, q, forces, feet, size), 0.24 * size, through=True)]
    if layer == "frames":
        X = link_poses(model, q, model.link_names)
        ends = X[:, None, :3, 3] + 0.06 * size * np.swapaxes(X[:, :3, :3], -1, -2)
        return [_along(ROD, colour, np.stack([X[:, :3, 3], ends[:, k]], axis=1), 0.4 * thin, through=True)
            for k, colour in enumerate(AXES)]  # fmt: skip
    if layer == "inertias" and (found := inertia_half_axes(model)):
        poses = link_poses(model, q, [link for link, _, _ in found]) @ np.array([X for _, X, _ in found])
        return [Mark(BALL, INERTIA, poses, np.array([half for _, _, half in found]))]
    return []


def _along(mesh: Mesh, colour: Colour, lines: np.ndarray, width: float, through: bool = False) -> Mark:
    """A mark from end to end of lines (k, 2, 3)."""
    ways = lines[:, 1] - lines[:, 0]
    length = np.linalg.norm(ways, axis=-1)
    stretch = np.column_stack([np.full((len(lines), 2), width), length])
    return Mark(mesh, colour, along(lines[:, 0], ways), stretch, through)


def overlay(model: Model, q: np.ndarray, layers: Sequence[str] = SHOWN, forces: Mapping[str, np.ndarray] | None = None,
            feet: Sequence[Contact] = (), floor: float = 0.0) -> list[Piece]:  # fmt: skip
    """Triangles of these layers at q (nq,)."""
    found = [mark for layer in LAYERS if layer in layers for mark in marks(model, layer, q, forces or {}, feet, floor)]
    return [Piece(joined([Mesh(m.mesh.vertices * s, m.mesh.faces).moved(X) for X, s in zip(m.poses, m.stretch)]), m.colour,
                  m.through) for m in found if len(m.poses)]  # fmt: skip
