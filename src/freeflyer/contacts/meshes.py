"""Corners of meshes in files: STL (binary, text), COLLADA and Wavefront OBJ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.safe_file import numbers, parse_xml, read_bytes
from freeflyer.spatial import quaternion

if TYPE_CHECKING:
    from lxml.etree import _Element

STL_HEADER, STL_TRIANGLE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
MAX_MESH_BYTES = 64_000_000
NUMBER = rb"[-+0-9.eE]+"
TEXT_CORNER = {suffix: re.compile(rb"^\s*" + word + rb"\s+(%s)\s+(%s)\s+(%s)" % ((NUMBER,) * 3), re.MULTILINE)
               for suffix, word in ((".stl", rb"vertex"), (".obj", rb"v"))}  # fmt: skip
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
    """(4, 4) of a node's element."""
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
