"""Colliding shapes: the face, edge or point of one that faces down, the sole of several together, and those of a URDF file with the
corners of its meshes: STL (binary, text), COLLADA and Wavefront OBJ."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from freeflyer.errors import FileError, InputError
from freeflyer.model.placements import rotation_of_rpy
from freeflyer.model.readers.safe_file import numbers, parse_xml, read_bytes
from freeflyer.model.readers.urdf import named
from freeflyer.spatial import quaternion
from freeflyer.tolerances import COLLINEAR_RATIO, POINT_FOOT, SOLE_TILT

if TYPE_CHECKING:
    from lxml.etree import _Element

MOST_CORNERS, LOST_AREA = 8, 0.05  # the share of a sole's area that left-out corners may cut off
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
RIM = np.linspace(0.0, 2.0 * np.pi, MOST_CORNERS, endpoint=False)
FLAT, UNEVEN = 1e-3, 1e-4  # m: of meshes without volume, of soles that are planes
ENDS = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])


class Shape(NamedTuple):
    """A shape of a link that collides.

    Attributes:
        kind: "box", "sphere", "ellipsoid", "capsule", "cylinder" or "mesh".
        size: Half sides (3,) of boxes, half axes (3,) of ellipsoids and spheres, [radius, half length] of capsules and cylinders
            along z, corners (k, 3) of meshes, m.
        placement: (4, 4) array, its pose at the link.
        friction: Sliding coefficient."""

    kind: str
    size: np.ndarray
    placement: np.ndarray
    friction: float | None


def lower_points(shape: Shape, X_WL: np.ndarray) -> np.ndarray:
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
    """Of a body's corners (k, 3) those of the faces of its convex hull that look down, else its lowest ones."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # flat, or fewer than four points
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
    corners = points[ConvexHull(flat).vertices]
    room = LOST_AREA * ConvexHull(flat).volume
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


STL_HEADER, STL_TRIANGLE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
MAX_MESH_BYTES = 64_000_000
NUMBER = rb"[-+0-9.eE]+"
TEXT_CORNER = {suffix: re.compile(rb"^\s*" + word + rb"\s+(%s)\s+(%s)\s+(%s)" % ((NUMBER,) * 3), re.MULTILINE)
               for suffix, word in ((".stl", rb"vertex"), (".obj", rb"v"))}
READ = (".stl", ".dae", ".obj")
UPWARD = {"Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
          "X_UP": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])}  # turns to z upwards
MOVES = {"matrix": 16, "translate": 3, "scale": 3, "rotate": 4}  # elements of a node in COLLADA, and how many numbers they hold


def mesh_corners(file: Path) -> np.ndarray:
    """(k, 3) of a mesh file, in its own axes, m. Errors: FileError for files that hold no corners."""
    data, suffix = read_bytes(file, "mesh", MAX_MESH_BYTES), file.suffix.lower()
    count = int.from_bytes(data[STL_HEADER - 4 : STL_HEADER], "little")
    if suffix == ".stl" and count and len(data) == STL_HEADER + count * STL_TRIANGLE.itemsize:
        corners = np.frombuffer(data, STL_TRIANGLE, count, STL_HEADER)["corners"].reshape(-1, 3).astype(float)
    elif suffix == ".dae":
        corners = _collada(parse_xml(data, f"mesh {file.name!r}"), f"mesh {file.name!r}")
    else:
        found = TEXT_CORNER[suffix].findall(data)
        try:
            corners = np.array(found, float).reshape(-1, 3)
        except ValueError:
            corners = np.zeros((0, 3))
    if not len(corners) or not np.isfinite(corners).all():
        raise FileError(f"mesh {file.name!r} holds no corners that can be read", path=str(file))
    return corners


def _collada(root: _Element, where: str) -> np.ndarray:
    """(k, 3): positions of all geometries in the places of their nodes, the file's upward axis along z."""
    found, unit, upward = [], root.find("asset/unit"), (root.findtext("asset/up_axis") or "Y_UP").strip()
    geometries = {f"#{g.get('id')}": _positions(g, where) for g in root.iter("geometry")}

    def collect(node: _Element, X: np.ndarray) -> None:
        for child in node:
            if child.tag in MOVES:
                X = X @ _move(child.tag, np.array(numbers(child.text or "", (MOVES[child.tag],), where)))
            elif child.tag == "instance_geometry" and child.get("url") in geometries:
                found.append(geometries[child.get("url", "")] @ X[:3, :3].T + X[:3, 3])
            elif child.tag == "node":
                collect(child, X)

    for scene in root.iter("visual_scene"):
        collect(scene, np.eye(4))
    metres = 1.0 if unit is None else numbers(unit.get("meter", "1"), (1,), where)[0]
    return metres * np.vstack(found) @ UPWARD.get(upward, np.eye(3)).T if found else np.zeros((0, 3))


def _move(tag: str, x: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    if tag == "matrix":
        X = x.reshape(4, 4)
    elif tag == "translate":
        X[:3, 3] = x
    elif tag == "scale":
        X[:3, :3] = np.diag(x)
    else:
        X[:3, :3] = quaternion.to_matrix(quaternion.exp(np.radians(x[3]) * x[:3]))
    return X


def _positions(geometry: _Element, where: str) -> np.ndarray:
    """(k, 3): the source that the vertices of a geometry name."""
    given = geometry.find("mesh/vertices/input[@semantic='POSITION']")
    for source in geometry.iterfind("mesh/source"):
        if given is not None and given.get("source") == f"#{source.get('id')}":
            words = (source.findtext("float_array") or "").split()
            return np.reshape(numbers(" ".join(words), (len(words) // 3 * 3,), where), (-1, 3))
    return np.zeros((0, 3))


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
        raise InputError(f"the mesh {name!r} of {robot.name} is {fault}: name the feet, "
                         "feet=[freeflyer.contacts.contact_from_points(frame, points), ...]", path=name)
    return file
