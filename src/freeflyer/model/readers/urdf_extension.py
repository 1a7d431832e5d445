"""The <freeflyer> element of a URDF file: sites, loops, couplings, motors and gravity, which plain URDF cannot hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.description import Coupling, Description, Loop, Site
from freeflyer.model.readers.safe_file import numbers
from freeflyer.model.recorded_states import Keyframe
from freeflyer.model.rotations import rotation_of_rpy

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
        at = f"{where}, <freeflyer>, <{element.tag}> at line {element.sourceline}"
        expected = ATTRIBUTES.get(str(element.tag))
        if expected is None:
            raise FileError(f"{at}: unknown element; known: {', '.join(ATTRIBUTES)}")
        if sorted(element.attrib) != sorted(expected):
            raise FileError(f"{at} has the attributes {sorted(element.attrib)}; expected {sorted(expected)}")
        match element.tag:
            case "site":
                sites.append(Site(element.get("name"), element.get("link"), _placement(element, at)))
            case "loop":
                mask = tuple(int(m) for m in numbers(element.get("mask"), (6,), f"{at}, mask"))
                loops.append(Loop(element.get("name"), element.get("frame_a"), element.get("frame_b"), mask))
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


def _placement(element: _Element, at: str) -> np.ndarray:
    """(4, 4) of the <origin> inside; the identity where there is none."""
    origin = element.find("origin")
    X = np.eye(4)
    if origin is not None:
        X[:3, 3] = numbers(origin.get("xyz", "0 0 0"), (3,), f"{at}, origin xyz")
        X[:3, :3] = rotation_of_rpy(*numbers(origin.get("rpy", "0 0 0"), (3,), f"{at}, origin rpy"))
    return X
