"""Geoms of MJCF bodies, as MuJoCo compiles them."""

from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.readers.mjcf.gate import compile_model, parse_spec, spec_with_meshes, vet
from freeflyer.model.readers.mjcf.meshes import content, geoms_by_inertia, mesh_of
from freeflyer.model.readers.mjcf.names import body_names
from freeflyer.model.visuals.mesh_files import Colour
from freeflyer.model.visuals.triangles import Mesh, geom_solid, simple
from freeflyer.model.visuals.urdf import Parts

SHOWN_GROUPS = 2  # MuJoCo's viewer shows geoms of groups 0 to 2


def mjcf_visuals(path: Path) -> tuple[Parts, list[str]]:
    """Triangles with colours of each body, and notes on meshes that cannot be read. Errors: FileError."""
    robot = vet(path)
    named = {mesh for _, geom, _ in geoms_by_inertia(parse_spec(robot)) if (mesh := mesh_of(geom))}
    notes, usable = list[str](), dict[str, str]()
    for mesh in sorted(named):
        try:
            for element in robot.meshes.elements.get(mesh, ()):
                if (file := element.get("file")) is not None:
                    content(robot.meshes, file, f"mesh {mesh!r}")
            usable[mesh] = f"mesh {mesh!r} is"
        except FileError as error:
            notes.append(str(error).partition(". Put the mesh")[0])
    spec = spec_with_meshes(robot, lambda body, geom, shaping: usable.get(mesh_of(geom), ""))
    for body in spec.bodies[1:]:  # inertias are not asked for, and may lack their meshes
        if not body.explicitinertial:
            body.explicitinertial, body.mass, body.inertia, body.ipos = True, 1.0, [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]
    mj = compile_model(spec, robot)
    found, bodies = Parts(), body_names(mj)
    groups = np.asarray(mj.geom_group)
    for b, name in enumerate(bodies):
        own = np.flatnonzero(np.asarray(mj.geom_bodyid) == b)
        shown = own[groups[own] <= SHOWN_GROUPS] if (groups[own] <= SHOWN_GROUPS).any() else own
        parts = [(_mesh(mj, int(g)), _colour(mj, int(g))) for g in shown]
        if kept := [(mesh, colour) for mesh, colour in parts if mesh is not None]:
            found[name] = kept
    return found, notes


def _colour(mj: Any, g: int) -> Colour:
    red, green, blue, alpha = (float(x) for x in mj.geom_rgba[g])
    return red, green, blue, max(alpha, 0.2)


def _mesh(mj: Any, g: int) -> Mesh | None:
    """Shape in the axes of the body; None for planes."""
    solid = geom_solid(mj, g)
    if solid.kind != "mesh":
        return simple(solid)
    first, count = (x[mj.geom_dataid[g]] for x in (mj.mesh_faceadr, mj.mesh_facenum))
    return Mesh(solid.size, np.asarray(mj.mesh_face[first : first + count], np.int64)).moved(solid.placement)
