"""Colliding shapes of a URDF file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.contacts.meshes import READ, mesh_corners
from freeflyer.contacts.shapes import Shape
from freeflyer.errors import InputError
from freeflyer.model.placements import rotation_of_rpy
from freeflyer.model.readers.safe_file import numbers
from freeflyer.model.readers.urdf_elements import named

if TYPE_CHECKING:
    from lxml.etree import _Element


def shapes_in_urdf(root: _Element, path: str | os.PathLike[str]) -> dict[str, list[Shape]]:
    """Of each link its shapes. Errors: FileError for broken elements, InputError for meshes that cannot be read."""
    where = f"URDF {Path(path).name!r}"
    found = {
        name: [_shape(element, Path(path), where) for element in link.findall("collision")]
        for name, link in named(root, "link", where).items()
    }
    return {name: [shape for shape in shapes if shape is not None] for name, shapes in found.items()}


def _shape(element: _Element, path: Path, where: str) -> Shape | None:
    X, origin, geometry = np.eye(4), element.find("origin"), element.find("geometry")
    if origin is not None:
        X[:3, :3] = rotation_of_rpy(*numbers(origin.get("rpy", "0 0 0"), (3,), where))
        X[:3, 3] = numbers(origin.get("xyz", "0 0 0"), (3,), where)
    shape = None if geometry is None or not len(geometry) else geometry[0]
    if shape is None or shape.tag not in ("box", "sphere", "capsule", "cylinder", "mesh"):
        return None
    if shape.tag == "sphere":
        size = np.repeat(numbers(shape.get("radius", ""), (1,), where), 3)
    elif shape.tag == "box":
        size = 0.5 * np.array(numbers(shape.get("size", ""), (3,), where))
    elif shape.tag == "mesh":
        scale = numbers(shape.get("scale", "1 1 1"), (1, 3), where)
        size = mesh_corners(_file(shape.get("filename", ""), path)) * scale
    else:
        size = np.array([*numbers(shape.get("radius", ""), (1,), where), 0.5 * numbers(shape.get("length", ""), (1,), where)[0]])
    return Shape(shape.tag, size, X, None)


def _file(name: str, robot: Path) -> Path:
    """The file of a mesh, named as ROS does: package://PACKAGE/..., in a folder above the robot's file."""
    inside = name.removeprefix("package://").removeprefix("file://")
    rest = inside.partition("/")[2]
    places = [folder / part for folder in robot.resolve().parents for part in (inside, rest) if part]
    file = next((place for place in places if place.is_file()), None)
    if file is None or file.suffix.lower() not in READ:
        fault = f"no {' or '.join(READ)} file" if file else "not found"
        raise InputError(
            f"the mesh {name!r} of {robot.name} is {fault}: name the feet, "
            "feet=[freeflyer.contacts.contact_from_points(frame, points), ...]", path=name,
        )  # fmt: skip
    return file
