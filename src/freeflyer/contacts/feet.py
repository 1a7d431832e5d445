"""Feet of a robot: by the names of its frames, or found in its file as the colliding shapes that reach lowest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import VERTICAL, Contact, check_points, line, point, surface
from freeflyer.contacts.sets.tables import corners_of, surface_points
from freeflyer.contacts.shapes import Shape, lower_points, shapes_in_urdf, sole_corners
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.model.configuration import reference_posture
from freeflyer.model.description import WORLD
from freeflyer.model.inputs import one_row
from freeflyer.model.model import Model
from freeflyer.model.placements import placement, rigid_groups
from freeflyer.model.public import public
from freeflyer.model.readers.mjcf.gate import compile_model, spec_with_shapes
from freeflyer.model.readers.safe_file import read_xml
from freeflyer.tolerances import COLLINEAR_RATIO, SOLE_HEIGHT, SOLE_THICKNESS


def contact_from_points(frame: str, points: ArrayLike, friction: float | None = None, name: str | None = None, *,
         normal: ArrayLike = VERTICAL) -> Contact:
    """Contact of a rigid sole at some points: a point, a line (its two outermost) or a surface, as they lie.

    Args:
        points: (c, 3) array, in the frame's axes, m."""
    given = check_points("points", points)
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
    """Feet of a model by their names: each frame `..._sole` that has frames `..._sole_*` of its corners.

    Returns: tuple of Contact, points, lines or surfaces, as the corners lie; those of a surface are its convex hull,
    counter-clockwise from above.
    Raises: InputError if there are none."""
    model, found = model.tree, []
    for name in model.frame_names:
        corners = corners_of(model, name) if name.endswith("_sole") else np.zeros((0, 3))
        if len(corners):
            found.append(contact_from_points(name, sole_corners(corners)))
    if not found:
        raise InputError(f"{model.name!r} has no frames named '..._sole' with corners '..._sole_*': name its feet, "
                         "feet=[freeflyer.contacts.contact_from_points(frame, points), ...]", robot=model.name)
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
def feet_from_file(model: Model, path: str | os.PathLike[str], q: ArrayLike | None = None) -> tuple[Contact, ...]:
    """Feet of a model in the file that it was read from, one contact for each foot body.

    A body is all links that fixed joints join. Its shapes count if their lowest points lie within 5 mm of its lowest. Bodies
    count within 1 cm of the lowest of all, faces and lines within 0.17 rad of level. A sole of less than 2 cm is one point. Its
    slightest corners are left out while that costs at most 5 % of its area or more than eight are left.

    Args:
        q: (nq,) array, configuration in which it stands; by default the keyframe `home` or `stand...` of the file, else the
            neutral one.
    Returns: tuple of Contact: points, lines and surfaces, as the shapes lie. Frames are links; friction is the least sliding
    coefficient of a foot's shapes, None in URDF.
    Raises: InputError for open loops, files without shapes that collide, and meshes that are not found. FileError for files that
    `load` would not read or MuJoCo refuses, and for meshes without corners.

    Examples:
        >>> box = '<body name="foot"><freejoint/><geom type="box" size="0.1 0.05 0.03" friction="0.8" mass="1"/></body>'
        >>> with open("foot.xml", "w") as file:
        ...     characters = file.write(f"<mujoco><worldbody>{box}</worldbody></mujoco>")
        >>> (foot,) = ff.contacts.feet_from_file(ff.load("foot.xml"), "foot.xml")
        >>> foot.kind, foot.friction, foot.points[:, 2]
        ('surface', 0.8, array([-0.03, -0.03, -0.03, -0.03]))
    """
    if model.constraint_rows[0] and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open: the places of its feet are those of freeflyer.close_loops(model)")
    at = reference_posture(model) if q is None else one_row(model, "q", q, "q")
    root, _ = read_xml(path, "robot file")
    shapes = shapes_in_urdf(root, path) if root.tag == "robot" else _shapes_in_mjcf(path)
    model, groups = model.tree, rigid_groups(model.tree.description)
    bodies: dict[str, list[tuple[str, np.ndarray, float | None]]] = {}  # by their first link: link, points, friction of each shape
    for name in [link for link in shapes if link in model.link_names]:
        body, X = groups[name][0], frame_pose(model, at, name)
        for shape in shapes[name] if body != WORLD else ():
            bodies.setdefault(body, []).append((name, lower_points(shape, X), shape.friction))
    if not bodies:
        raise InputError(f"{Path(path).name} has no shapes that collide: no feet can be found in it. Name the feet, "
                         "feet=[freeflyer.contacts.contact_from_points(frame, points), ...]", path=str(path))
    heights = {body: min(_height(points) for _, points, _ in parts) for body, parts in bodies.items()}
    lowest, feet = min(heights.values()), []
    for body in sorted(bodies, key=model.link_names.index):
        if heights[body] < lowest + SOLE_HEIGHT:
            parts = sorted(bodies[body], key=lambda part: _height(part[1]))
            stand = [part for part in parts if _height(part[1]) < heights[body] + SOLE_THICKNESS]
            link, X = stand[0][0], frame_pose(model, at, stand[0][0])
            corners = sole_corners(np.vstack([points for _, points, _ in stand]))
            friction = [mu for _, _, mu in stand if mu is not None]
            feet.append(contact_from_points(link, (corners - X[:3, 3]) @ X[:3, :3], min(friction, default=None)))
    return tuple(feet)


def _height(points: np.ndarray) -> float:
    return float(points[:, 2].min())


def _shapes_in_mjcf(path: str | os.PathLike[str]) -> dict[str, list[Shape]]:
    import mujoco

    mj = compile_model(*spec_with_shapes(path))
    found: dict[str, list[Shape]] = {}
    for g in range(mj.ngeom):
        kind, size = mujoco.mjtGeom(mj.geom_type[g]).name.removeprefix("mjGEOM_").lower(), mj.geom_size[g]
        if not (mj.geom_contype[g] or mj.geom_conaffinity[g]) or kind in ("plane", "hfield"):
            continue
        if kind == "mesh":
            first = mj.mesh_vertadr[mj.geom_dataid[g]]
            size = mj.mesh_vert[first : first + mj.mesh_vertnum[mj.geom_dataid[g]]].astype(float)
        elif kind in ("capsule", "cylinder"):
            size = size[:2]
        elif kind == "sphere":
            size = np.repeat(size[0], 3)
        pose = placement(mj.geom_pos[g], mj.geom_quat[g])
        found.setdefault(mj.body(mj.geom_bodyid[g]).name, []).append(Shape(kind, size, pose, float(mj.geom_friction[g, 0])))
    return found
