"""The <freeflyer> element of a URDF file: sites, loops, couplings, motors and gravity, which plain URDF cannot hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from freeflyer.errors import FileError
from freeflyer.model.description import Coupling, Description, Loop, Site
from freeflyer.model.readers.safe_file import numbers
from freeflyer.model.readers.urdf_elements import children, place, pose
from freeflyer.model.recorded_states import Keyframe

if TYPE_CHECKING:
    from lxml.etree import _Element

ATTRIBUTES = {
    "site": ("name", "link"), "loop": ("name", "frame_a", "frame_b", "mask"), "actuated": ("joint",),
    "coupling": ("name", "joint1", "joint2", "coefficients"), "gravity": ("xyz",),
    "keyframe": ("name",),
}  # fmt: skip


def read_extension(description: Description, root: _Element, where: str) -> Description:
    """The description with what the <freeflyer> element adds; as it is where there is none."""
    sites, loops, couplings, actuated, keyframes, gravity = [], [], [], [], [], description.gravity
    for element in [e for block in root.findall("freeflyer") for e in block]:
        at = place(element, f"{where}, <freeflyer>")
        expected = ATTRIBUTES.get(str(element.tag))
        if expected is None:
            raise FileError(f"{at}: unknown element; known: {', '.join(ATTRIBUTES)}")
        if sorted(element.attrib) != sorted(expected):
            raise FileError(f"{at} has the attributes {sorted(element.attrib)}; expected {sorted(expected)}")
        match element.tag:
            case "site":
                origin = children(element, ("origin",), at, []).get("origin")
                sites.append(Site(element.get("name"), element.get("link"), pose(origin)))
            case "loop":
                mask = numbers(element.get("mask"), (6,), f"{at}, mask")
                if not set(mask) <= {0.0, 1.0}:
                    raise FileError(f"{at} has mask={element.get('mask')!r}: expected six of 0 and 1, for x y z rx ry rz")
                ends = element.get("frame_a"), element.get("frame_b")
                loops.append(Loop(element.get("name"), *ends, tuple(int(m) for m in mask)))
            case "coupling":
                coefficients = numbers(element.get("coefficients"), tuple(range(1, 12)), f"{at}, coefficients")
                couplings.append(
                    Coupling(element.get("name"), element.get("joint1"), element.get("joint2"), coefficients)
                )
            case "actuated":
                actuated.append(element.get("joint"))
            case "keyframe":
                keyframes.append(Keyframe(element.get("name"), tuple(_position(e, at) for e in element)))
            case "gravity":
                x, y, z = numbers(element.get("xyz"), (3,), f"{at}, xyz")
                gravity = (x, y, z)
    return replace(
        description, sites=tuple(sites), loops=tuple(loops), couplings=tuple(couplings), actuated=tuple(actuated),
        gravity=gravity, keyframes=tuple(keyframes),
    )  # fmt: skip


def _position(element: _Element, at: str) -> tuple[str, tuple[float, ...]]:
    """(joint, position) of a <position> in a <keyframe>."""
    if element.tag != "position" or sorted(element.attrib) != ["joint", "values"]:
        raise FileError(f"{at} holds <{element.tag}>: expected <position joint=... values=.../>")
    return element.get("joint"), numbers(element.get("values"), tuple(range(1, 8)), f"{at}, {element.get('joint')!r}")
