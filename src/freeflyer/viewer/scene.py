"""Drawing of a robot at one posture: links, and beside them frames, centre of mass, inertias, loops, contact forces."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.linkages.assembly import independent_or_all
from freeflyer.linkages.rows import constraint_loops, constraint_residual
from freeflyer.model.model import Model, remembered
from freeflyer.model.visuals.reading import visuals
from freeflyer.model.visuals.triangles import Mesh, arrow, ellipsoid, joined, rod
from freeflyer.plots.film_scene import FORCE_SHARE, contact_force
from freeflyer.viewer.raster import Piece

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


def robot_pieces(model: Model, q: np.ndarray) -> list[Piece]:
    """Shapes of the links in the world at q (nq,)."""
    shapes = visuals(model).shapes
    poses = link_poses(model, q, [s.link for s in shapes])
    return [Piece(s.mesh.moved(X), s.colour) for s, X in zip(shapes, poses)]


def all_corners(pieces: Sequence[Piece]) -> np.ndarray:
    """(n, 3), m; those of a cube if there are none."""
    return np.vstack([p.mesh.vertices for p in pieces]) if pieces else np.array([[-0.5] * 3, [0.5] * 3])


@remembered
def robot_size(model: Model) -> float:
    """Largest extent of the robot at its neutral posture, m: by which everything beside it is scaled."""
    return max(float(np.ptp(all_corners(robot_pieces(model, model.neutral)), axis=0).max()), 1e-3)


class Loops(namedtuple("Loops", "lines gap")):
    """Lines (k, 2, 3) from the links to the ends of the loops and between these, m; gap (k,) of the loop of each, m or rad."""


def loop_lines(model: Model, q: np.ndarray) -> Loops:
    """Three lines for each loop at q (nq,): link to end, end to end, end to link. Gaps are of the independent rows: a file's
    rounded digits leave the others open."""
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
    return Loops(np.array(lines).reshape(-1, 2, 3), np.repeat(gap, 3))


def force_arrows(model: Model, q: np.ndarray, forces: Mapping[str, np.ndarray], feet: Sequence[Contact],
                 size: float) -> np.ndarray:  # fmt: skip
    """Arrows (k, 2, 3), m, from where the forces act: their length is FORCE_SHARE of the robot's size for its weight."""
    scale = FORCE_SHARE * size / max(model.mass * float(np.linalg.norm(model.gravity)), 1e-9)
    given = [contact_force(model, q, foot, forces[foot.name]) for foot in feet if foot.name in forces]
    return np.array([(at, at + scale * force) for at, force in filter(None, given)]).reshape(-1, 2, 3)


def inertia_half_axes(model: Model) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """(link, pose (4, 4) in it, half axes (3,), m) of ellipsoids of uniform density with the links' masses and inertias."""
    found = []
    for link in model.description.links:
        mass = link.inertia.mass
        if mass > 0.0 and link.name in model.frame_index:
            moments, axes = np.linalg.eigh(np.asarray(link.inertia.rotational))
            X = np.eye(4)
            X[:3, :3], X[:3, 3] = axes * np.sign(np.linalg.det(axes)), link.inertia.com
            found.append((link.name, X, np.sqrt(np.clip(2.5 * (moments.sum() - 2.0 * moments) / mass, 1e-8, None))))
    return found


def overlay(model: Model, q: np.ndarray, layers: Sequence[str] = SHOWN, forces: Mapping[str, np.ndarray] | None = None,
            feet: Sequence[Contact] = (), floor: float = 0.0) -> list[Piece]:  # fmt: skip
    """Triangles of these layers at q (nq,). forces: wrenches (6,) by name of the foot, in its frame's axes."""
    size, pieces = robot_size(model), list[Piece]()
    thin = 0.006 * size
    if "com" in layers and model.mass > 0.0:
        c = center_of_mass(model, q)
        below = np.array([c[0], c[1], floor])
        ball, disc = ellipsoid(np.full(3, 0.02 * size)), ellipsoid(np.array([0.02, 0.02, 0.002]) * size)
        parts = [Mesh(ball.vertices + c, ball.faces), Mesh(disc.vertices + below, disc.faces), rod(below, c, 0.3 * thin)]
        pieces.append(Piece(joined(parts), INK))
    if "loops" in layers and model.loops:
        lines, gap = loop_lines(model, q)
        for colour, chosen in ((LOOP, gap <= OPEN), (RED, gap > OPEN)):
            rods = [rod(a, b, thin) for a, b in lines[chosen] if np.linalg.norm(b - a) > 1e-6]
            pieces += [Piece(joined(rods), colour)] if rods else []
    if "forces" in layers and forces:
        found = [arrow(a, b - a, 2.0 * thin) for a, b in force_arrows(model, q, forces, feet, size)]
        pieces += [Piece(joined(found), ORANGE, through=True)] if found else []
    if "frames" in layers:
        for k, colour in enumerate(AXES):
            poses = link_poses(model, q, model.link_names)
            axes = [rod(X[:3, 3], X[:3, 3] + 0.06 * size * X[:3, k], 0.4 * thin) for X in poses]
            pieces.append(Piece(joined(axes), colour, through=True))
    if "inertias" in layers:
        balls = [ellipsoid(half).moved(frame_pose(model, q, link) @ X) for link, X, half in inertia_half_axes(model)]
        pieces += [Piece(joined(balls), INERTIA)] if balls else []
    return pieces
