"""URDF to Description. Meshes are neither read nor looked for, and transmissions do not restrict `actuated`.

Whatever is missing or misspelt is refused (`urdf_elements`). What plain URDF lacks is read from our own elements, which other
programs skip; the writer uses the same:

    <joint type="helical">    with <pitch value="..."/> (m/rad)
    <joint type="universal">  with <axis2 xyz="..."/>
    <joint type="spherical">  or "ball"
    <joint type="cylindrical">  its coordinates: slide, then turn
    <limit absent="effort velocity" .../>  names those whose numbers stand in for none: URDF must have them all
    <coordinates lower velocity ... initial spring_reference/>  in a joint: numbers, the attributes named as the fields of `Joint`
    <freeflyer>  in the robot, with
        <site name link> <origin/> </site>, <loop name frame_a frame_b mask="1 1 1 0 0 0"/>,
        <coupling name joint1 joint2 coefficients/>, <actuated joint/>, <gravity xyz/>,
        <keyframe name> <position joint values/> ... </keyframe>"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.errors import FileError, unknown_name
from freeflyer.model.description import (
    WORLD,
    Coupling,
    Description,
    Inertia,
    Joint,
    Link,
    Loop,
    Mimic,
    Site,
    joint_sizes,
)
from freeflyer.model.readers.safe_file import numbers, read_xml
from freeflyer.model.readers.urdf_elements import LIMITS, check_root, children, named, only, place, pose
from freeflyer.model.recorded_states import Keyframe
from freeflyer.text import listed
from freeflyer.tolerances import MIN_AXIS_LENGTH, UNIT_LENGTH_ROUNDING

if TYPE_CHECKING:
    from lxml.etree import _Element

KINDS = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "planar": "planar",
    "floating": "free", "spherical": "spherical", "ball": "spherical", "helical": "helical", "universal": "universal",
    "cylindrical": "cylindrical"}
LIMITED = ("revolute", "prismatic", "helical")
SINGLE = (*LIMITED, "continuous")
READ = ("origin", "axis", "axis2", "pitch", "limit", "dynamics", "mimic", "parent", "child", "coordinates")  # of a joint


class Notes(NamedTuple):
    """Sentences on what is ignored and on missing bounds; names of joints without limits."""

    ignored: list[str]
    defaults: list[str]
    unlimited: list[str]


def read_urdf(source: str | os.PathLike[str]) -> Description:
    """The robot of a URDF file, or of URDF text (a string that begins with '<').

    Link names, joint names and their order are the file's. Moments of inertia are turned into link axes. A root link has no joint
    to the world yet: see `freeflyer.model.load.with_base`. FileError where the file is broken."""
    return robot_of_urdf(*read_xml(source, "URDF"))


def robot_of_urdf(root: _Element, where: str) -> Description:
    """The robot of a <robot> element; `where` opens messages."""
    check_root(root, where)
    notes, names = Notes([], [], []), named(root, "link", where)
    if not names:
        raise FileError(f"{where} has no <link>: a robot needs one at least")
    with np.errstate(all="ignore"):  # numbers that overflow are refused by `validate`
        links = [_link(name, element, where, notes) for name, element in names.items()]
        joints = tuple(_joint(name, e, where, names, notes) for name, e in named(root, "joint", where).items())
    said = notes.ignored + notes.defaults
    if notes.unlimited:
        said.append(f"no lower and upper limit, so taken as unlimited: {listed(notes.unlimited)}")
    links = [x for x in links if x.name != WORLD or x.inertia.mass]
    return read_extension(Description(root.get("name"), tuple(links), joints, notes=tuple(said)), root, where)


def _link(name: str, element: _Element, where: str, notes: Notes) -> Link:
    who = f"{where}, link {name!r}"
    inertial = only(element, "inertial", who)
    if inertial is None:
        return Link(name)
    found = children(inertial, ("origin", "mass", "inertia"), f"{who}, inertial", notes.ignored)
    for tag in ("mass", "inertia"):
        if tag not in found:
            raise FileError(f"{place(inertial, who)} has no <{tag}>: give it, or drop <inertial> for a massless link")
    X, J = pose(found.get("origin")), found["inertia"]
    R = X[:3, :3]
    J = R @ np.array([[J["ixx"], J["ixy"], J["ixz"]], [J["ixy"], J["iyy"], J["iyz"]], [J["ixz"], J["iyz"], J["izz"]]]) @ R.T
    return Link(name, Inertia(found["mass"]["value"], X[:3, 3], 0.5 * (J + J.T)))


def _joint(name: str, element: _Element, where: str, links: Collection[str], notes: Notes) -> Joint:
    who = f"{where}, joint {name!r}"
    if element.get("type") not in KINDS:
        known = ", ".join(KINDS)
        raise FileError(f"{who} at line {element.sourceline} has the type {element.get('type')!r}; known types: {known}")
    kind = KINDS[element.get("type")]
    found = children(element, READ, who, notes.ignored)
    for tag in ("parent", "child", *{"universal": ("axis2",), "helical": ("pitch",)}.get(kind, ())):
        if tag not in found:
            raise FileError(f"{who} at line {element.sourceline} has no <{tag}>: a {kind} joint needs it")
    ends = [found[tag]["link"] for tag in ("parent", "child")]
    for tag, link in zip(("parent", "child"), ends):
        if link not in links:  # the world too: a name that is mistyped would be a second world
            error = unknown_name("link", link, links)
            raise FileError(f"{place(element.find(tag), who)}: {error} Correct it, or declare it, <link name=\"{link}\"/>")
    given: dict[str, Any] = {}
    if kind in SINGLE:
        given = _limits(name, kind, found, notes) | {n: (x,) for n, x in found.get("dynamics", {}).items()}
    elif kind != "fixed" and (unread := " and ".join(f"<{tag}>" for tag in ("limit", "dynamics") if tag in found)):
        notes.ignored.append(f"joint {name!r} is {element.get('type')}: its {unread} is ignored (use <coordinates>)")
    for field, text in found.get("coordinates", {}).items():
        size = joint_sizes(kind)[field not in ("initial", "spring_reference")]
        given[field] = numbers(text, (size,), f"{place(element.find('coordinates'), who)}, {field}", infinite=True)
    if kind not in ("fixed", "spherical", "free"):
        given["axis"] = _unit(found["axis"]["xyz"] if "axis" in found else (1.0, 0.0, 0.0))
    if kind == "universal":
        given["axis2"] = _unit(found["axis2"]["xyz"])
    if kind == "helical":
        given["pitch"] = found["pitch"]["value"]
    if kind != "fixed" and (mimic := found.get("mimic")):
        given["mimic"] = Mimic(mimic["joint"], mimic.get("multiplier", 1.0), mimic.get("offset", 0.0))
    return Joint(name, kind, ends[0], ends[1], pose(found.get("origin")), **given)


def _unit(xyz: tuple[float, ...]) -> np.ndarray:
    """The axis with length 1; as it is where rounding cannot improve it, or where `validate` will refuse it."""
    axis = np.array(xyz) / max(1.0, *np.abs(xyz))  # the square of a large number may be none
    norm = float(np.linalg.norm(axis))
    return axis if abs(norm - 1.0) < UNIT_LENGTH_ROUNDING or norm < MIN_AXIS_LENGTH else axis / norm


def _limits(name: str, kind: str, found: dict[str, dict[str, Any]], notes: Notes) -> dict[str, Any]:
    """Limits of a joint with one coordinate. URDF has 0 for a missing bound, but files without either mean "none"."""
    limit, elsewhere = found.get("limit", {}), found.get("coordinates", {})
    fields = LIMITS if kind in LIMITED else ("velocity", "effort")
    given = {n: (limit[n],) for n in fields if n in limit and n not in limit.get("absent", "").split()}
    missing = [n for n in ("lower", "upper") if n in fields and n not in given and n not in elsewhere]
    if len(missing) == 1:
        notes.defaults.append(f"joint {name!r} has no {missing[0]} limit: 0, URDF's default")
        given[missing[0]] = (0.0,)
    elif missing and "absent" not in limit:
        notes.unlimited.append(name)
    return given


EXTENSION = {
    "site": ("name", "link"), "loop": ("name", "frame_a", "frame_b", "mask"), "actuated": ("joint",),
    "coupling": ("name", "joint1", "joint2", "coefficients"), "gravity": ("xyz",),
    "keyframe": ("name",)}


def read_extension(description: Description, root: _Element, where: str) -> Description:
    """The description with what the <freeflyer> element adds; as it is where there is none."""
    sites, loops, couplings, actuated, keyframes, gravity = [], [], [], [], [], description.gravity
    for element in [e for block in root.findall("freeflyer") for e in block]:
        at = place(element, f"{where}, <freeflyer>")
        expected = EXTENSION.get(str(element.tag))
        if expected is None:
            raise FileError(f"{at}: unknown element; known: {', '.join(EXTENSION)}")
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
                couplings.append(Coupling(element.get("name"), element.get("joint1"), element.get("joint2"), coefficients))
            case "actuated":
                actuated.append(element.get("joint"))
            case "keyframe":
                keyframes.append(Keyframe(element.get("name"), tuple(_position(e, at) for e in element)))
            case "gravity":
                x, y, z = numbers(element.get("xyz"), (3,), f"{at}, xyz")
                gravity = (x, y, z)
    return replace(
        description, sites=tuple(sites), loops=tuple(loops), couplings=tuple(couplings), actuated=tuple(actuated),
        gravity=gravity, keyframes=tuple(keyframes))


def _position(element: _Element, at: str) -> tuple[str, tuple[float, ...]]:
    """(joint, position) of a <position> in a <keyframe>."""
    if element.tag != "position" or sorted(element.attrib) != ["joint", "values"]:
        raise FileError(f"{at} holds <{element.tag}>: expected <position joint=... values=.../>")
    return element.get("joint"), numbers(element.get("values"), tuple(range(1, 8)), f"{at}, {element.get('joint')!r}")
