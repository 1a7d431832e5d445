"""Points of the colliding shapes in a URDF file: corners of boxes, lowest points of spheres, vertices of STL meshes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import FileError, InputError
from freeflyer.model.model import Model
from freeflyer.model.readers.safe_file import numbers, read_bytes
from freeflyer.model.readers.urdf_elements import named
from freeflyer.model.rotations import rotation_of_rpy

if TYPE_CHECKING:
    from lxml.etree import _Element

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
STL_HEADER, STL_TRIANGLE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
MAX_MESH_BYTES = 64_000_000


def colliding_points(model: Model, q: np.ndarray, root: _Element, path: str | os.PathLike[str]) -> dict[str, list[np.ndarray]]:
    """Of each link of the model (a tree), points (c, 3) in the world at a configuration q (nq,), one array for each of the link's
    shapes. Cylinders are left out. Errors: FileError for broken elements, InputError for meshes that cannot be read."""
    where, found = f"URDF {Path(path).name!r}", dict[str, list[np.ndarray]]()
    for name, link in named(root, "link", where).items():
        if name not in model.link_names:
            continue
        X_WL = frame_pose(model, q, name)
        for element in link.findall("collision"):
            X_WG = X_WL @ _placement(element, where)
            points = _points(element.find("geometry"), X_WG, path, where)
            if points is not None:
                found.setdefault(name, []).append(points)
    return found


def _placement(element: _Element, where: str) -> np.ndarray:
    X, origin = np.eye(4), element.find("origin")
    if origin is not None:
        X[:3, :3] = rotation_of_rpy(*numbers(origin.get("rpy", "0 0 0"), (3,), where))
        X[:3, 3] = numbers(origin.get("xyz", "0 0 0"), (3,), where)
    return X


def _points(geometry: _Element | None, X: np.ndarray, path: str | os.PathLike[str], where: str) -> np.ndarray | None:
    shape = None if geometry is None or not len(geometry) else geometry[0]
    if shape is None or shape.tag not in ("box", "sphere", "mesh"):
        return None
    if shape.tag == "sphere":
        (radius,) = numbers(shape.get("radius", ""), (1,), where)
        return (X[:3, 3] - [0.0, 0.0, radius])[None]
    if shape.tag == "box":
        points = CORNERS * numbers(shape.get("size", ""), (3,), where)
    else:
        points = _vertices(shape.get("filename", ""), Path(path)) * numbers(shape.get("scale", "1 1 1"), (3,), where)
    return np.asarray(X[:3, 3] + points @ X[:3, :3].T)


def _vertices(name: str, robot: Path) -> np.ndarray:
    """(k, 3) of a binary STL file, named as ROS does: package://PACKAGE/..., in a folder above the robot's file."""
    inside = name.removeprefix("package://").removeprefix("file://")
    rest = inside.partition("/")[2]
    places = [folder / part for folder in robot.resolve().parents for part in (inside, rest) if part]
    file = next((place for place in places if place.is_file()), None)
    advice = "Name the feet, feet=[freeflyer.contacts.sole(frame, points), ...]"
    if file is None or file.suffix.lower() != ".stl":
        raise InputError(f"the mesh {name!r} of {robot.name} is {'no STL file' if file else 'not found'}: {advice}", path=name)
    data = read_bytes(file, "mesh", MAX_MESH_BYTES)
    count = int.from_bytes(data[STL_HEADER - 4 : STL_HEADER], "little")
    if len(data) != STL_HEADER + count * STL_TRIANGLE.itemsize or not count:
        raise FileError(f"mesh {file.name!r} is no binary STL file: {advice}", path=str(file))
    return np.frombuffer(data, STL_TRIANGLE, count, STL_HEADER)["corners"].reshape(-1, 3).astype(float)
