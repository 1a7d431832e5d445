"""Feet found in a robot's file: the colliding shapes that reach lowest, and their friction."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import sole
from freeflyer.contacts.urdf_soles import colliding_points
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.model.readers.mjcf_gate import compile_model, spec_with_shapes
from freeflyer.model.readers.safe_file import read_xml
from freeflyer.tolerances import SOLE_HEIGHT, SOLE_THICKNESS

MOST_CORNERS, DIAGONALS = 8, np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


@public
def feet_in_file(model: Model, path: str | os.PathLike[str]) -> tuple[Contact, ...]:
    """Feet of a model in the file that it was read from: a contact for each link that stands there.

    Parameters
    ----------
    model : Model
        With closed loops, if it has any.
    path : path
        The file.

    Returns
    -------
    tuple of Contact
        Frames are links; points lie on the shapes; friction is the least sliding coefficient of a foot's shapes, None in URDF.

    Raises
    ------
    InputError
        Where loops are open, where no box or sphere collides, or another shape of an MJCF file collides; for meshes of a URDF file
        that are not found.
    FileError
        For files that `load` would not read, or MuJoCo refuses.

    Notes
    -----
    Points are, at the neutral posture (of robots with loops: the assembled one of freeflyer.close_loops), the lower corners of
    boxes and the lowest points of spheres that collide and lie within 1 cm of the lowest of all. URDF files may have meshes (binary
    STL), too, and cylinders, which are no feet; of a sole with more than eight corners the outermost along the diagonals count.

    Examples
    --------
    >>> box = '<body name="foot"><freejoint/><geom type="box" size="0.1 0.05 0.03" friction="0.8" mass="1"/></body>'
    >>> with open("foot.xml", "w") as file:
    ...     characters = file.write(f"<mujoco><worldbody>{box}</worldbody></mujoco>")
    >>> (foot,) = ff.contacts.feet_in_file(ff.load("foot.xml"), "foot.xml")
    >>> foot.kind, foot.friction, foot.points[:, 2]
    ('surface', 0.8, array([-0.03, -0.03, -0.03, -0.03]))
    """
    if model.constraint_rows[0] and not model.reduction:
        raise InputError(f"the loops of {model.name!r} are open: the places of its feet are those of freeflyer.close_loops(model)")
    model, q = model.tree, model.neutral
    root, _ = read_xml(path, "robot file")
    if root.tag == "robot":
        points, friction = colliding_points(model, q, root, path), dict[str, float]()
    else:
        points, friction = _in_mjcf(model, q, path)
    if not points:
        raise InputError(
            f"{Path(path).name} has no shapes that collide: no feet can be found in it. Name the feet, "
            "feet=[freeflyer.contacts.sole(frame, points), ...]",
            path=str(path),
        )  # fmt: skip
    lowest = min(float(p[:, 2].min()) for shapes in points.values() for p in shapes)
    feet = []
    for body, shapes in points.items():
        near = np.vstack(shapes)
        near = near[near[:, 2] < lowest + SOLE_HEIGHT]
        if len(near):
            X = frame_pose(model, q, body)
            feet.append(sole(body, (_few(near) - X[:3, 3]) @ X[:3, :3], friction.get(body)))
    return tuple(feet)


def _in_mjcf(model: Model, q: np.ndarray, path: str | os.PathLike[str]) -> tuple[dict[str, list[np.ndarray]], dict[str, float]]:
    """Lower points of each link's colliding shapes in the world, and their least friction."""
    import mujoco

    mj = compile_model(*spec_with_shapes(path))
    points: dict[str, list[np.ndarray]] = {}
    friction: dict[str, float] = {}
    for g in range(mj.ngeom):
        body = mj.body(mj.geom_bodyid[g]).name
        if body not in model.link_names or not (mj.geom_contype[g] or mj.geom_conaffinity[g]):
            continue
        X_WG = frame_pose(model, q, body) @ _pose(mj.geom_pos[g], mj.geom_quat[g])
        points.setdefault(body, []).append(_lower(mujoco, mj, g, X_WG, path))
        friction[body] = min(friction.get(body, np.inf), float(mj.geom_friction[g, 0]))
    return points, friction


def _few(points: np.ndarray) -> np.ndarray:
    """Points (c, 3) of a sole: of more than MOST_CORNERS, the outermost ones along the four diagonals."""
    if len(points) <= MOST_CORNERS:
        return points
    return points[[int((points[:, :2] @ way).argmax()) for way in DIAGONALS]]


def _pose(position: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
    from freeflyer.model.rotations import placement

    return placement(position, wxyz)


def _lower(mujoco: Any, mj: Any, g: int, X: np.ndarray, path: str | os.PathLike[str]) -> np.ndarray:
    """Points (c, 3) of the shape's sole in the world."""
    kind, size = mj.geom_type[g], mj.geom_size[g]
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        corners = X[:3, 3] + (CORNERS * size) @ X[:3, :3].T
        return corners[corners[:, 2] < corners[:, 2].min() + SOLE_THICKNESS]
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return (X[:3, 3] - [0.0, 0.0, size[0]])[None]
    word = mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()
    raise InputError(
        f"geom {mj.geom(g).name or g!r} of {Path(path).name} collides and is a {word}: feet are found on boxes and spheres. "
        "Name the feet, feet=[freeflyer.contacts.sole(frame, points), ...]",
        path=str(path),
    )  # fmt: skip
