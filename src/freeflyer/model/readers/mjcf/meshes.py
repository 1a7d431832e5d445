"""Mesh files of MJCF, read here within limits and below the folder of the robot file; which geoms shape inertias and collide."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.safe_file import Element, read_bytes, resolve_inside

MAX_BYTES = 32 * 2**20  # of one file
MAX_TOTAL = 256 * 2**20
KEPT = (
    "name", "class", "file", "content_type", "vertex", "normal", "texcoord", "face", "scale", "refpos", "refquat", "inertia",
    "smoothnormal", "maxhullvert")
ADVICE = (
    "Put the mesh file there, or write an <inertial> in the body. Where the mesh files are, MuJoCo writes one for every "
    'body if the file has <compiler saveinertial="true"/>: mujoco.mj_saveLastXML(new_file, model)')


@dataclass(frozen=True)
class Meshes:
    """The <mesh> elements by name, and where their files are: `folder` / `directory` / file. XML text has no folder."""

    elements: dict[str, list[Element]]
    folder: Path | None
    directory: str
    stripped: bool  # folders in the names of files are left out


def find_meshes(root: Element, folder: Path | None) -> Meshes:
    """The meshes that the file declares; nothing is opened yet."""
    assets = directory = ""
    stripped = False
    for compiler in root.findall("compiler"):
        assets = compiler.get("assetdir", assets)
        directory = compiler.get("meshdir", directory)
        stripped = compiler.get("strippath", str(stripped)).lower() == "true"
    elements: dict[str, list[Element]] = {}
    for mesh in root.findall("asset/mesh"):
        file = PurePosixPath(mesh.get("file", "").replace("\\", "/"))
        elements.setdefault(mesh.get("name", file.stem), []).append(mesh)
    return Meshes(elements, folder, directory or assets, stripped)


def attach_meshes(root: Element, meshes: Meshes, needed: dict[str, str], where: str) -> dict[str, bytes]:
    """Puts <mesh> elements back into the tree, their files under names that exist nowhere; the contents by these names.

    needed: names of meshes, and for what each is needed, in words. Errors: FileError for a mesh that is not declared, is made by
        a
    plugin or by MuJoCo, whose file is not below the folder, is not a plain file or is too large."""
    from lxml import etree

    contents: dict[str, bytes] = {}
    section = etree.SubElement(root, "asset") if needed else root
    for name, why in needed.items():
        at = f"{where}: {why} the mesh {name!r}"
        if name not in meshes.elements:
            raise FileError(f"{at}, which <asset> does not declare: declare it with its file, or write an <inertial>")
        for element in meshes.elements[name]:  # MuJoCo refuses two of one name
            section.append(mesh := _plain(element, name, at))
            if (file := mesh.get("file")) is not None:
                own = f"freeflyer_mesh_{len(contents)}{PurePosixPath(file).suffix[:8]}"
                mesh.set("file", own)
                contents[own] = content(meshes, file, at)
        if sum(map(len, contents.values())) > MAX_TOTAL:
            raise FileError(f"{where}: the mesh files have more than {MAX_TOTAL} bytes together: refused. {ADVICE}")
    return contents


def _plain(element: Element, name: str, at: str) -> Element:
    if element.get("builtin") is not None or element.find("plugin") is not None:
        raise FileError(f"{at}, which has no file: only meshes of files and of vertices are read. {ADVICE}")
    mesh = copy.deepcopy(element)
    for child in list(mesh):
        mesh.remove(child)
    for attribute in [a for a in mesh.attrib if a not in KEPT]:
        mesh.attrib.pop(attribute)
    mesh.set("name", name)
    return mesh


def content(meshes: Meshes, file: str, at: str) -> bytes:
    """The bytes of a mesh's file, found as MuJoCo finds it."""
    if meshes.folder is None:
        raise FileError(f"{at}; MJCF text has no folder to look for {file[:200]!r} in: give the path of a file. {ADVICE}")
    path = PurePosixPath(file.replace("\\", "/"))
    path = PurePosixPath(meshes.directory.replace("\\", "/")) / (path.name if meshes.stripped else path)
    try:
        return read_bytes(resolve_inside(meshes.folder, str(path), at), "mesh file", MAX_BYTES)
    except FileError as error:
        words = str(error) if str(error).startswith(at) else f"{at}: {error}"
        raise FileError(f"{words}. {ADVICE}", mesh=file) from None


def geoms_by_inertia(spec: Any) -> list[tuple[Any, Any, bool]]:
    """(body, geom, whether the body takes its inertia from it) of every geom.

    Inertias come from geoms in moving bodies without <inertial>, in the file's group range, of positive mass."""
    import mujoco

    rule = mujoco.mjtInertiaFromGeom
    always = spec.compiler.inertiafromgeom == rule.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == rule.mjINERTIAFROMGEOM_FALSE
    first, last = spec.compiler.inertiagrouprange
    found, stack = [], [(spec.worldbody, False)]
    while stack:
        body, moving = stack.pop()
        moving = moving or len(body.joints) > 0
        stack += [(child, moving) for child in body.bodies]
        needed = moving and not never and (always or not body.explicitinertial)
        for geom in body.geoms:
            weightless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
            found.append((body, geom, needed and not weightless and first <= geom.group <= last))
    return found


def drop_shapes(spec: Any) -> None:
    """Makes of each geom that shapes no inertia a weightless ball; to delete one takes MuJoCo milliseconds."""
    import mujoco

    for _, geom, shaping in geoms_by_inertia(spec):
        if not shaping:
            geom.type, geom.meshname, geom.hfieldname = mujoco.mjtGeom.mjGEOM_SPHERE, "", ""
            geom.size, geom.fromto, geom.mass = np.ones(3), np.full(6, np.nan), 0.0


def collides(geom: Any) -> bool:
    return bool(geom.contype or geom.conaffinity)


def mesh_of(geom: Any) -> str:
    """The name of the mesh that gives the geom its shape, a primitive that is fitted to one included; "" if none does."""
    return str(geom.meshname or "")


def delete(spec: Any, element: Any) -> None:
    if hasattr(spec, "delete"):
        spec.delete(element)
    else:  # MuJoCo before 3.3
        element.delete()
