"""Visuals of URDF links."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.safe_file import Element, numbers
from freeflyer.model.readers.urdf import named
from freeflyer.model.visuals.mesh_files import GREY, Colour, mesh_path, read_mesh
from freeflyer.model.visuals.triangles import Mesh, simple, urdf_solid

Parts = dict[str, list[tuple[Mesh, Colour]]]  # of each link, in its own axes


def urdf_visuals(root: Element, path: Path) -> tuple[Parts, list[str]]:
    """Triangles with colours of each link, and notes on visuals that cannot be read."""
    where = f"URDF {path.name!r}"
    materials = {str(x.get("name")): _rgba(x, where) for x in root.findall("material")}
    found, notes, read = Parts(), list[str](), dict[str, list[tuple[Mesh, Colour | None]]]()
    for name, link in named(root, "link", where).items():
        for element in link.findall("visual"):
            try:
                found.setdefault(name, []).extend(_parts(element, path, where, materials, read))
            except FileError as error:
                notes.append(f"link {name!r}: {error}")
    return found, notes


def _parts(element: Element, path: Path, where: str, materials: dict[str, Colour | None],
           read: dict[str, list[tuple[Mesh, Colour | None]]]) -> list[tuple[Mesh, Colour]]:  # fmt: skip
    material, solid, given = element.find("material"), urdf_solid(element, where), None
    if material is not None:
        given = _rgba(material, where) or materials.get(str(material.get("name")))
    if not solid.kind:
        raise FileError(f"{where} has a <visual> without geometry")
    if solid.kind != "mesh":
        if (shape := simple(solid)) is None:
            raise FileError(f"{where} has a <visual> with <{solid.kind}>, which is not read")
        return [(shape, given or GREY)]
    name, scale, X = solid.mesh, solid.size, solid.placement
    if name not in read:
        read[name] = read_mesh(mesh_path(name, path))
    mirrored = np.prod(np.broadcast_to(scale, 3)) < 0.0
    return [(Mesh(mesh.vertices * scale, mesh.faces[:, ::-1] if mirrored else mesh.faces).moved(X), given or colour or GREY)
            for mesh, colour in read[name]]  # fmt: skip


def _rgba(material: Element, where: str) -> Colour | None:
    color = material.find("color")
    if color is None or material.find("texture") is not None:  # the mesh has colours of its own
        return None
    return numbers(color.get("rgba", ""), (4,), where)
