"""The visible shapes of each frame of a robot, with notes on shapes that cannot be read."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.description import WORLD
from freeflyer.model.model import Model, remembered
from freeflyer.model.placements import rigid_groups
from freeflyer.model.readers.safe_file import read_xml
from freeflyer.model.visuals.inertia_shapes import inertia_shape, link_points
from freeflyer.model.visuals.mesh_files import Colour
from freeflyer.model.visuals.mjcf import mjcf_visuals
from freeflyer.model.visuals.triangles import Mesh, joined
from freeflyer.model.visuals.urdf import Parts, urdf_visuals

INERTIA_COLOUR = (0.55, 0.66, 0.78, 1.0)
MAX_FACES = 3_000_000  # of a robot


class Shape(NamedTuple):
    """Triangles of a link in one colour (red, green, blue, opacity), in the link's axes. origin: "file" or "inertia"."""

    link: str
    mesh: Mesh
    colour: Colour
    origin: str


class Visuals(NamedTuple):
    """Shapes of a robot, and notes on meshes that are missing or broken."""

    shapes: tuple[Shape, ...]
    notes: tuple[str, ...]


@remembered
def visuals(model: Model) -> Visuals:
    """Visuals of the robot's file. Links with mass get shapes of their inertias if their rigid body has none there, or if a loop
    ends on them: a rod would end in the air where a joint is locked."""
    d = model.description
    parts, notes = _of_file(model)
    faces, shapes = 0, list[Shape]()
    points, groups = link_points(d), rigid_groups(d, with_world=False)
    seen = {groups[name][0] for name, own in parts.items() if own and name in groups}  # rigid bodies with shapes of the file
    links = {site.name: site.link for site in d.sites}
    tied = {links.get(frame, frame) for loop in d.loops for frame in (loop.frame_a, loop.frame_b)}
    for link in d.links:
        if link.name not in model.frame_index:
            continue
        own = parts.get(link.name, [])
        count = sum(len(mesh.faces) for mesh, _ in own)
        if own and faces + count > MAX_FACES:
            notes.append(f"link {link.name!r}: the robot has more than {MAX_FACES} triangles before it")
            own = []
        faces += count if own else 0
        for colour in dict.fromkeys(colour for _, colour in own):
            shapes.append(Shape(link.name, joined([mesh for mesh, c in own if c == colour]), colour, "file"))
        bare = not own and link.name != WORLD and (groups[link.name][0] not in seen or link.name in tied)
        if bare and link.inertia.mass > 0.0 and np.isfinite(np.vstack(points[link.name])).all():
            shapes.append(Shape(link.name, inertia_shape(link.inertia, points[link.name]), INERTIA_COLOUR, "inertia"))
    return Visuals(tuple(shapes), tuple(notes))


def _of_file(model: Model) -> tuple[Parts, list[str]]:
    path = model.description.file
    if not path:
        return {}, []
    try:
        root, _ = read_xml(path, "robot file")
        return urdf_visuals(root, Path(path)) if root.tag == "robot" else mjcf_visuals(Path(path))
    except FileError as error:
        return {}, [str(error)]
