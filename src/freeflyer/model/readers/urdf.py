"""URDF to Description. Meshes are neither read nor looked for, and transmissions do not restrict `actuated`.

yourdfpy parses links and joints. It fills gaps in silence (a missing moment of inertia becomes 1, broken XML is
mended), so `urdf_check` refuses broken input before it. What plain URDF lacks is read from our own elements, which
other programs skip; the writer uses the same:

    <joint type="helical">    with <pitch value="..."/> (m/rad)
    <joint type="universal">  with <axis2 xyz="..."/>
    <joint type="spherical">  or "ball"
    <joint type="cylindrical">  its coordinates: slide, then turn
    <limit absent="effort velocity" .../>  names those whose numbers stand in for none: URDF must have them all
    <coordinates lower velocity ... initial spring_reference/>  in a joint: numbers, the attributes named as the fields of `Joint`
    <freeflyer>  in the robot, with
        <site name link> <origin/> </site>, <loop name frame_a frame_b mask="1 1 1 0 0 0"/>,
        <coupling name joint1 joint2 coefficients/>, <actuated joint/>, <gravity xyz/>,
        <keyframe name> <position joint values/> ... </keyframe>
"""

from __future__ import annotations

import copy
import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.errors import FileError
from freeflyer.model.description import WORLD, Description, Inertia, Joint, Link, Mimic, joint_sizes
from freeflyer.model.readers.safe_file import numbers, read_xml
from freeflyer.model.readers.urdf_check import check_urdf
from freeflyer.model.readers.urdf_extension import read_extension

if TYPE_CHECKING:
    from lxml.etree import _Element

KINDS = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "planar": "planar",
    "floating": "free", "spherical": "spherical", "ball": "spherical", "helical": "helical", "universal": "universal",
    "cylindrical": "cylindrical",
}  # fmt: skip
LIMITED = ("revolute", "prismatic", "helical")
SINGLE = (*LIMITED, "continuous")
READ = ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic")  # the elements of a joint that yourdfpy reads


def read_urdf(source: str | os.PathLike[str]) -> Description:
    """The robot of a URDF file, or of URDF text (a string that begins with '<').

    Link names, joint names and their order are the file's. Moments of inertia are turned into link axes. A root link
    has no joint to the world yet: see `freeflyer.model.load.with_base`. FileError where the file is broken.
    """
    root, where = read_xml(source, "URDF")
    notes = check_urdf(root, where, KINDS)
    robot = _parse(root, where)
    elements = {e.get("name"): e for e in root.findall("joint")}
    unlimited: list[str] = []
    with np.errstate(all="ignore"):  # numbers that overflow are refused by `validate`
        links = tuple(_link(x) for x in robot.links if x.name != WORLD or (x.inertial and x.inertial.mass))
        joints = tuple(_joint(j, elements[j.name], where, notes, unlimited) for j in robot.joints)
    if unlimited:
        shown = ", ".join(unlimited[:6]) + (f", ... ({len(unlimited)} in all)" if len(unlimited) > 6 else "")
        notes.append(f"no lower and upper limit, so taken as unlimited: {shown}")
    return read_extension(Description(robot.name, links, joints, notes=tuple(notes)), root, where)


def _parse(root: _Element, where: str) -> Any:
    """yourdfpy's Robot, made from links' inertials and joints alone."""
    import yourdfpy
    from lxml import etree

    lean = etree.Element("robot", name=root.get("name"))
    for element in root:
        if element.tag == "link":
            link = etree.SubElement(lean, "link", name=element.get("name"))
            link.extend(copy.deepcopy(element.findall("inertial")))
        elif element.tag == "joint":
            lean.append(joint := copy.deepcopy(element))
            for extra in [e for e in joint if e.tag not in READ]:
                joint.remove(extra)
            for limit in joint.findall("limit"):
                for name in limit.attrib.pop("absent", "").split():
                    limit.attrib.pop(name, None)
    try:
        return yourdfpy.URDF.load(
            io.BytesIO(etree.tostring(lean)), build_scene_graph=False, build_collision_scene_graph=False,
            load_meshes=False, load_collision_meshes=False, filename_handler=lambda name: name,
        ).robot  # fmt: skip
    except Exception as error:  # check_urdf should have refused it before
        raise FileError(f"{where} is not read by yourdfpy: {type(error).__name__}: {error}") from error


def _link(link: Any) -> Link:
    inertial = link.inertial
    if inertial is None:
        return Link(link.name)
    X = np.eye(4) if inertial.origin is None else inertial.origin
    R = X[:3, :3]
    J = R @ inertial.inertia @ R.T
    return Link(link.name, Inertia(float(inertial.mass), X[:3, 3].copy(), 0.5 * (J + J.T)))


def _joint(joint: Any, element: _Element, where: str, notes: list[str], unlimited: list[str]) -> Joint:
    kind = KINDS[joint.type]
    who = f"{where}, joint {joint.name!r}"
    given: dict[str, Any] = {}
    if kind in SINGLE:
        given |= _limits(joint, element, kind, notes, unlimited)
        losses = joint.dynamics
        if losses is not None:
            given |= {n: (float(x),) for n in ("damping", "friction") if (x := getattr(losses, n)) is not None}
    given |= _coordinates(element, kind, who)
    axis2, pitch = np.array([0.0, 1.0, 0.0]), 0.0
    if kind == "universal":
        axis2 = _unit(np.array(numbers(element.find("axis2").get("xyz"), (3,), f"{who}, axis2")))
    if kind == "helical":
        (pitch,) = numbers(element.find("pitch").get("value"), (1,), f"{who}, pitch")
    moves = kind not in ("fixed", "spherical", "free")
    return Joint(
        joint.name, kind, joint.parent, joint.child,
        placement=np.eye(4) if joint.origin is None else joint.origin,
        axis=_unit(joint.axis) if moves else np.array([0.0, 0.0, 1.0]),
        axis2=axis2, pitch=pitch, **given,
        mimic=None if joint.mimic is None or kind == "fixed" else
        Mimic(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset),
    )  # fmt: skip


def _unit(axis: np.ndarray) -> np.ndarray:
    """The axis with length 1; as it is where rounding cannot improve it, or where `validate` will refuse it."""
    norm = float(np.linalg.norm(axis))
    return axis if abs(norm - 1.0) < 4e-16 or norm < 1e-9 else axis / norm


def _limits(
    joint: Any, element: _Element, kind: str, notes: list[str], unlimited: list[str]
) -> dict[str, tuple[float, ...]]:
    """Limits of a joint with one coordinate. URDF has 0 for a missing bound, but files without either mean "none"."""
    limit, said = joint.limit, "absent" in element.find("limit").attrib if joint.limit is not None else False
    given: dict[str, tuple[float, ...]] = {
        n: (x,) for n in ("velocity", "effort") if limit is not None and (x := getattr(limit, n)) is not None
    }
    if kind not in LIMITED:
        return given
    if limit is None or (limit.lower is None and limit.upper is None):
        if not said:
            unlimited.append(joint.name)
        return given
    for name in ("lower", "upper"):
        if getattr(limit, name) is None:
            notes.append(f"joint {joint.name!r} has no {name} limit: 0, URDF's default")
    return given | {"lower": (limit.lower or 0.0,), "upper": (limit.upper or 0.0,)}


def _coordinates(element: _Element, kind: str, who: str) -> dict[str, tuple[float, ...]]:
    """Per-coordinate data in our <coordinates> element."""
    found = element.find("coordinates")
    if found is None:
        return {}
    nq, nv = joint_sizes(kind)
    sizes = {"initial": nq, "spring_reference": nq}
    return {
        name: numbers(text, (sizes.get(name, nv),), f"{who}, {name} of <coordinates>", infinite=True)
        for name, text in found.attrib.items()
    }
