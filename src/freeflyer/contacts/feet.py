"""Feet of a robot: by the names of its frames, or found in its file as the colliding shapes that reach lowest:
MJCF, and URDF with the corners of its meshes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
import scipy

from freeflyer.contacts.description import VERTICAL, Contact, line, point, surface
from freeflyer.contacts.sets.tables import corners_of, surface_points
from freeflyer.dynamics import frame_pose
from freeflyer.errors import FileError, InputError, format_value
from freeflyer.model import (
    WORLD, Element, Model, Solid, compile_model, geom_solid, mesh_path, named, one_row, public, read_mesh, read_xml,
    reference_posture, rigid_groups, shaped, spec_with_shapes, urdf_solid,
)
from freeflyer.tolerances import COLLINEAR_RATIO, POINT_FOOT, SOLE_HEIGHT, SOLE_THICKNESS, SOLE_TILT


def contact_from_points(frame: str, points: ArrayLike, friction: float | None = None, name: str | None = None, *,
         normal: ArrayLike = VERTICAL) -> Contact:
    """Contact of a rigid sole at some points: a point, a line (its two outermost) or a surface, as they lie.

    Args:
        points: (c, 3) array, in the frame's axes, m."""
    given = shaped("points", points, ("c", 3))
    spread = np.linalg.svd(given - given.mean(axis=0), compute_uv=False) if len(given) > 1 else np.zeros(2)
    extent = COLLINEAR_RATIO * max(1.0, float(np.abs(given).max()))
    if spread[0] <= extent:
        return point(frame, given.mean(axis=0), friction, name, normal=normal)
    if len(given) > 2 and spread[1] > COLLINEAR_RATIO * spread[0]:
        return surface(frame, given, friction=friction, name=name, normal=normal)
    along = np.linalg.svd(given - given.mean(axis=0))[2][0]
    ends = [int(np.argmin(given @ along)), int(np.argmax(given @ along))]
    return line(frame, given[ends], friction, name, normal=normal)


@public
def feet_by_name(model: Model) -> tuple[Contact, ...]:
    """Feet of a model by their names: frames `..._sole` with frames `..._sole_*` of their corners, or else sites `..._foot`.

    Returns: tuple of Contact, points, lines or surfaces, as the corners lie; those of a surface are its convex hull,
    counter-clockwise from above."""
    model, found = model.tree, []
    for name in model.frame_names:
        corners = corners_of(model, name) if name.endswith("_sole") else np.zeros((0, 3))
        if len(corners):
            found.append(contact_from_points(name, sole_corners(corners)))
    found = found or [point(x.name) for x in model.description.sites if x.name.endswith("_foot")]
    if not found:
        raise InputError(f"{model.name!r} has no frames '..._sole' with corners '..._sole_*', no sites '..._foot': name its feet "
                         "(feet=), see freeflyer.contacts.contact_from_points, or take feet_from_file(model)", robot=model.name)
    return tuple(found)


@public
def anchored_feet(model: Model, q: ArrayLike, feet: Sequence[Contact] | None = None) -> tuple[Contact, ...]:
    """Feet of a model with their points, held where they stand at a configuration.

    Returns: tuple of Contact with `points` and `at`, the poses of their frames in the world."""
    x = one_row(model, "q", q, "q")
    return tuple(foot.held_at(frame_pose(model, x, foot.frame)) for foot in complete_feet(model, feet))


def contact_points(foot: Contact) -> np.ndarray:
    return np.zeros((0, 3)) if foot.points is None else foot.points


def complete_feet(model: Model, feet: Iterable[Contact] | None) -> tuple[Contact, ...]:
    """The contacts given, their points filled in, or those of the model's feet. Errors: InputError, UnknownNameError."""
    chosen = feet_by_name(model) if feet is None else (feet,) if isinstance(feet, Contact) else tuple(feet)
    if not chosen:
        raise InputError("no foot is given: nothing touches the ground")
    for foot in chosen:
        if not isinstance(foot, Contact):
            raise InputError(f"feet must be contacts (see freeflyer.contacts.contact_from_points), got {format_value(foot)}")
        model.frame(foot.frame)
    return tuple(replace(foot, points=surface_points(model, foot)) for foot in chosen)


@public
def feet_from_file(model: Model, path: str | os.PathLike[str] | None = None, q: ArrayLike | None = None) -> tuple[Contact, ...]:
    """Feet of a model in the file that it was read from, one contact for each foot body.

    A body is all links that fixed joints join. Its shapes count if their lowest points lie within 5 mm of its lowest. Bodies
    count within 1 cm of the lowest of all, faces and lines within 0.17 rad of level. A sole of less than 2 cm is one point. Its
    slightest corners are left out while that costs at most 5 % of its area or more than eight are left.

    Args:
        path: By default the file that `load` read.
        q: (nq,) array, configuration in which it stands; by default the keyframe `home` or `stand...` of the file, else the
            neutral one.
    Returns: tuple of Contact: points, lines and surfaces, as the shapes lie. Frames are links; friction is the least sliding
    coefficient of a foot's shapes, None in URDF.
    Raises: InputError for open loops, models of no file, files without shapes that collide, and meshes that are not found.
    FileError for files that `load` would not read or MuJoCo refuses, and for meshes that cannot be read or hold no triangles.

    Examples:
        >>> box = '<body name="foot"><freejoint/><geom type="box" size="0.1 0.05 0.03" friction="0.8" mass="1"/></body>'
        >>> with open("foot.xml", "w") as file:
        ...     characters = file.write(f"<mujoco><worldbody>{box}</worldbody></mujoco>")
        >>> (foot,) = ff.contacts.feet_from_file(ff.load("foot.xml"))
        >>> foot.kind, foot.friction, foot.points[:, 2]
        ('surface', 0.8, array([-0.03, -0.03, -0.03, -0.03]))
    """
    if model.constraint_rows[0] and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open: the places of its feet are those of freeflyer.close_loops(model)")
    at = reference_posture(model) if q is None else one_row(model, "q", q, "q")
    path = path or model.tree.description.file
    if not path:
        raise InputError(f"{model.name!r} was not read from a file: give the path= of one, or its feet, see "
                         "freeflyer.contacts.contact_from_points")
    root, _ = read_xml(path, "robot file")
    shapes = shapes_in_urdf(root, path) if root.tag == "robot" else _shapes_in_mjcf(path)
    model, groups = model.tree, rigid_groups(model.tree.description)
    bodies: dict[str, list[tuple[str, np.ndarray, float | None]]] = {}  # by their first link: link, points, friction of each shape
    for name in [link for link in shapes if link in model.link_names]:
        body, X = groups[name][0], frame_pose(model, at, name)
        for solid, friction in shapes[name] if body != WORLD else ():
            bodies.setdefault(body, []).append((name, lower_points(solid, X), friction))
    if not bodies:
        raise InputError(f"{Path(path).name} has no shapes that collide: no feet can be found in it. Name the feet (feet=), "
                         "see freeflyer.contacts.contact_from_points", path=str(path))
    heights = {body: min(_height(points) for _, points, _ in parts) for body, parts in bodies.items()}
    lowest, feet = min(heights.values()), []
    for body in sorted(bodies, key=model.link_names.index):
        if heights[body] < lowest + SOLE_HEIGHT:
            parts = sorted(bodies[body], key=lambda part: _height(part[1]))
            stand = [part for part in parts if _height(part[1]) < heights[body] + SOLE_THICKNESS]
            link, X = stand[0][0], frame_pose(model, at, stand[0][0])
            corners = sole_corners(np.vstack([points for _, points, _ in stand]))
            coefficients = [mu for _, _, mu in stand if mu is not None]
            feet.append(contact_from_points(link, (corners - X[:3, 3]) @ X[:3, :3], min(coefficients, default=None)))
    return tuple(feet)


def _height(points: np.ndarray) -> float:
    return float(points[:, 2].min())


def _shapes_in_mjcf(path: str | os.PathLike[str]) -> dict[str, list[Shape]]:
    mj = compile_model(*spec_with_shapes(path))
    found: dict[str, list[Shape]] = {}
    for g in range(mj.ngeom):
        solid = geom_solid(mj, g)
        if (mj.geom_contype[g] or mj.geom_conaffinity[g]) and solid.kind not in ("plane", "hfield"):
            found.setdefault(mj.body(mj.geom_bodyid[g]).name, []).append((solid, float(mj.geom_friction[g, 0])))
    return found


Shape = tuple[Solid, float | None]  # what collides of a link: its mesh's corners in its size; sliding coefficient
MOST_CORNERS, LOST_AREA = 8, 0.05  # the share of a sole's area that left-out corners may cut off
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
RIM = np.linspace(0.0, 2.0 * np.pi, MOST_CORNERS, endpoint=False)
FLAT, UNEVEN = 1e-3, 1e-4  # m: of meshes without volume, of soles that are planes
ENDS = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])


def lower_points(shape: Solid, X_WL: np.ndarray) -> np.ndarray:
    """Points (c, 3) in the world on which a shape stands if its link has the pose X_WL (4, 4).

    Faces, rims and lines count that are level within SOLE_TILT; of others the lowest point."""
    X = X_WL @ shape.placement
    R, p = X[:3, :3], X[:3, 3]
    if shape.kind in ("sphere", "ellipsoid"):
        along = shape.size * R[2]
        return np.asarray(p - R @ (shape.size * along) / np.linalg.norm(along))[None]
    if shape.kind == "mesh" or shape.kind == "box":
        return _lower_face(p + (CORNERS * shape.size if shape.kind == "box" else shape.size) @ R.T)
    radius, half = shape.size
    ends = p + half * ENDS @ R.T
    if shape.kind == "capsule":
        return _level(ends - [0.0, 0.0, radius], abs(R[2, 2]) < np.sin(SOLE_TILT))
    turns = np.arctan2(-R[2, 1], -R[2, 0]) + RIM  # the first corner of a rim is its lowest point
    rim = radius * np.column_stack([np.cos(turns), np.sin(turns)]) @ R[:, :2].T
    if abs(R[2, 2]) > np.cos(SOLE_TILT):
        return np.asarray(ends[ends[:, 2].argmin()] + rim)
    return _level(ends + rim[0], abs(R[2, 2]) < np.sin(SOLE_TILT))


def _level(ends: np.ndarray, level: bool) -> np.ndarray:
    return ends if level else ends[[ends[:, 2].argmin()]]


def _lower_face(points: np.ndarray) -> np.ndarray:
    """Corners of the downward faces of the convex hull of points (k, 3), else the lowest points."""
    try:
        hull = scipy.spatial.ConvexHull(points)
    except (scipy.spatial.QhullError, ValueError):  # flat, or fewer than four points
        return points[points[:, 2] < points[:, 2].min() + FLAT]
    down = hull.equations[:, 2] < -np.cos(SOLE_TILT)
    if not down.any():
        return points[[points[:, 2].argmin()]]
    return points[np.unique(hull.simplices[down])]


def sole_corners(points: np.ndarray) -> np.ndarray:
    """Corners (c, 3) of the sole on which a body with these lower points (k, 3) stands, counter-clockwise from above; one point for
    a sole smaller than POINT_FOOT. Corners are left out while that costs at most LOST_AREA in all, the slightest first, and of
    more than MOST_CORNERS in any case: facets of the friction cone grow with their square."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    _, spread, axes = np.linalg.svd(flat, full_matrices=False)
    sides = np.ptp(flat @ axes.T, axis=0)
    if sides.max() < POINT_FOOT:
        return np.array([[*points[:, :2].mean(axis=0), points[:, 2].min()]])
    if len(points) < 3 or spread[1] <= COLLINEAR_RATIO * spread[0]:
        return points
    corners = points[scipy.spatial.ConvexHull(flat).vertices]
    room = LOST_AREA * scipy.spatial.ConvexHull(flat).volume
    while len(corners) > 3:
        x, y = (np.roll(corners, k, axis=0)[:, :2] - corners[:, :2] for k in (1, -1))
        cut = 0.5 * np.abs(x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0])
        room -= cut.min()
        if room < 0.0 and len(corners) <= MOST_CORNERS:
            break
        corners = np.delete(corners, cut.argmin(), axis=0)
    plane = np.column_stack([corners[:, :2], np.ones(len(corners))])
    if np.ptp(corners[:, 2] - plane @ np.linalg.lstsq(plane, corners[:, 2], rcond=None)[0]) > UNEVEN:  # a mesh with round edges
        corners[:, 2] = points[:, 2].min()
    return corners


def shapes_in_urdf(root: Element, path: str | os.PathLike[str]) -> dict[str, list[Shape]]:
    """Shapes of each link. Errors: FileError for broken elements, InputError for meshes that cannot be read."""
    where = f"URDF {Path(path).name!r}"
    found = {
        name: [_shape(element, Path(path), where) for element in link.findall("collision")]
        for name, link in named(root, "link", where).items()}
    return {name: [shape for shape in shapes if shape is not None] for name, shapes in found.items()}


def _shape(element: Element, path: Path, where: str) -> Shape | None:
    solid = urdf_solid(element, where)
    if solid.kind == "mesh":
        try:
            file = mesh_path(solid.mesh, path)
        except FileError as error:
            raise InputError(f"{error}: name the feet (feet=), see contacts.contact_from_points", path=solid.mesh) from None
        solid = solid._replace(size=np.vstack([mesh.vertices for mesh, _ in read_mesh(file)]) * solid.size)
    return (solid, None) if solid.kind in ("box", "sphere", "capsule", "cylinder", "mesh") else None
