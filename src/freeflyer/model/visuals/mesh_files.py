"""Mesh files within limits: where a robot file names them, and their triangles through trimesh."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.safe_file import Element, numbers, parse_xml, read_bytes, resolve_inside
from freeflyer.model.visuals.triangles import Mesh

READ = (".stl", ".dae", ".obj")
MAX_BYTES = 64_000_000  # of one file
MAX_FACES = 1_000_000  # of one file
MAX_ANCESTORS = 8  # folders above the robot file in which a ROS package is looked for
GREY = (0.66, 0.69, 0.73, 1.0)
UPWARD = {
    "Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "X_UP": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])}  # turns to z upwards
MATERIALS = re.compile(rb"<bind_material>.*?</bind_material>", re.DOTALL)
Colour = tuple[float, ...]  # red, green, blue, opacity, 0 to 1


def mesh_path(name: str, robot: Path) -> Path:
    """The file of a mesh that a URDF names: package://PACKAGE/..., file://..., or relative to the robot file.

    It lies below the folder above the robot's, or below a folder that holds the package. Errors: FileError."""
    where, parts = f"robot file {robot.name!r}", name.replace("\\", "/")
    folders: Sequence[Path] = [x for x in robot.resolve().parents if x != x.parent][:MAX_ANCESTORS]
    if parts.startswith("package://"):
        inside = parts.removeprefix("package://").lstrip("/")
        places = [(folder, part) for folder in folders for part in (inside, inside.partition("/")[2]) if part]
    else:
        local = parts.removeprefix("file://")
        top = folders[min(1, len(folders) - 1)] if folders else robot.resolve().parent
        places = [(top, str(robot.resolve().parent / local))]
    for folder, part in places:
        path = resolve_inside(folder, part, where)
        if path.is_file():
            if path.suffix.lower() not in READ:
                raise FileError(f"the mesh {name[:200]!r} of {robot.name} is no {' or '.join(READ)} file", path=name)
            return path
    raise FileError(f"the mesh {name[:200]!r} of {robot.name} is not found beside this file", path=name)


def read_mesh(path: Path) -> list[tuple[Mesh, Colour | None]]:
    """Triangles of a file in its own axes, m, each part with its colour, if it has one. Errors: FileError."""
    data, kind = read_bytes(path, "mesh", MAX_BYTES), path.suffix.lower().removeprefix(".")
    axes = np.eye(3)
    if kind == "dae":  # the parser refuses entities and absurd nesting
        axes = collada_axes(parse_xml(data, f"mesh {path.name!r}"), f"mesh {path.name!r}")
    try:
        parts = _parts(data, kind)
        if not parts and kind == "dae":  # pycollada leaves out what has a broken material
            parts = _parts(MATERIALS.sub(b"", data), kind)
    except Exception as error:
        raise FileError(f"mesh {path.name!r} cannot be read: {' '.join(str(error).split())[:200]}", path=str(path)) from None
    if not all(np.isfinite(part.vertices).all() for part in parts):
        raise FileError(f"mesh {path.name!r} holds numbers that are not finite", path=str(path))
    faces = sum(len(part.faces) for part in parts)
    if not parts or faces > MAX_FACES:
        fault = f"has {faces} triangles, more than {MAX_FACES}" if parts else "holds no triangles"
        raise FileError(f"mesh {path.name!r} {fault}", path=str(path))
    return [(Mesh(np.asarray(x.vertices, np.float64) @ axes.T, np.asarray(x.faces, np.int64)), _colour(x)) for x in parts]


def collada_axes(root: Element, where: str) -> np.ndarray:
    """(3, 3): from the file's axes and unit to z upward and m.

    Files of MeshLab call y upward whatever their axes are, so they are taken as they stand."""
    unit, upward = root.find("asset/unit"), (root.findtext("asset/up_axis") or "Y_UP").strip()
    tool = root.findtext("asset/contributor/authoring_tool") or ""
    metres = 1.0 if unit is None else numbers(unit.get("meter", "1"), (1,), where)[0]
    return metres * (np.eye(3) if "MeshLab" in tool else UPWARD.get(upward, np.eye(3)))


def _parts(data: bytes, kind: str) -> list[Any]:
    """Meshes of a file's content, each at its place in the file's own axes."""
    import trimesh

    scene: Any = trimesh.load_scene(io.BytesIO(data), file_type=kind, process=False, resolver=None)
    return [x for x in scene.dump() if isinstance(x, trimesh.Trimesh) and len(x.faces)]


def _colour(part: Any) -> Colour | None:
    """Of the material, if the file has one."""
    material = getattr(part.visual, "material", None)
    given = getattr(material, "main_color", None)
    if part.visual.kind != "texture" or given is None or getattr(material, "image", None) is not None:
        return None
    return tuple(float(x) / 255.0 for x in given)
