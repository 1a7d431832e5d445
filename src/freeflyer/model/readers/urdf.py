"""URDF to Description. Meshes are neither read nor looked for, and transmissions do not restrict `actuated`.

Whatever is missing or misspelt, which other parsers fill in silence, is refused. What plain URDF lacks is read from our own
elements, which other programs skip; the writer uses the same:

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

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from freeflyer.errors import FileError, format_value, unknown_name
from freeflyer.model.description import (
    JOINT_KINDS, JOINT_SIZES, PER_COORDINATE, POSITIONS, WORLD, Coupling, Description, Inertia, Joint, Keyframe, Link, Loop,
    Mimic, Site,
)
from freeflyer.model.placements import pose_at, rotation_of_rpy
from freeflyer.model.readers.safe_file import Element, numbers
from freeflyer.text import listed
from freeflyer.tolerances import MIN_AXIS_LENGTH, UNIT_LENGTH_ROUNDING

LARGEST_ANGLE = 1e6  # rad: larger ones have lost the digits of a turn
LIMITS = ("lower", "upper", "velocity", "effort")
NAME, TEXT = range(0), None
# element: {attribute: how many numbers, or a NAME that is not empty, or a TEXT that is read later}. In elements but those of LOOSE
# no other attribute may stand, for it would change the meaning.
ATTRIBUTES: dict[str, Mapping[str, int | range | None]] = {
    "origin": {"xyz": 3, "rpy": 3}, "axis": {"xyz": 3}, "axis2": {"xyz": 3}, "pitch": {"value": 1},
    "mass": {"value": 1}, "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1),
    "limit": dict.fromkeys(LIMITS, 1) | {"absent": TEXT}, "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"joint": NAME, "multiplier": 1, "offset": 1}, "parent": {"link": NAME}, "child": {"link": NAME},
    "coordinates": dict.fromkeys((*PER_COORDINATE, *POSITIONS), TEXT), "position": {"joint": TEXT, "values": range(1, 8)}}
EXTENSION: dict[str, Mapping[str, int | range | None]] = {
    "site": {"name": TEXT, "link": TEXT}, "loop": {"name": TEXT, "frame_a": TEXT, "frame_b": TEXT, "mask": 6},
    "coupling": {"name": TEXT, "joint1": TEXT, "joint2": TEXT, "coefficients": range(1, 12)}, "actuated": {"joint": TEXT},
    "gravity": {"xyz": 3}, "keyframe": {"name": TEXT}}
ATTRIBUTES |= EXTENSION
LOOSE = ("limit", "dynamics")
OPTIONAL = ("origin", "coordinates", *LOOSE)  # elements of which no attribute is needed
NEEDED = {tag: tuple(names) for tag, names in ATTRIBUTES.items() if tag not in OPTIONAL} | {"mimic": ("joint",)}


def named(root: Element, tag: str, where: str) -> dict[str, Element]:
    """The robot's elements of that tag by name, in the file's order."""
    found: dict[str, Element] = {}
    for element in root.findall(tag):
        name = _name(element, where)
        if name in found:
            lines = f"{found[name].sourceline} and {element.sourceline}"
            raise FileError(f"{where}: two {tag}s are named {name!r} (lines {lines}): rename one")
        found[name] = element
    return found


def _name(element: Element, where: str) -> str:
    name = element.get("name")
    if name is None or not name.strip():
        raise FileError(f"{where}: <{element.tag}> at line {element.sourceline} has no name: give it name=\"...\"")
    return name


def only(parent: Element, tag: str, who: str) -> Element | None:
    found = parent.findall(tag)
    if len(found) > 1:
        raise FileError(f"{who} has {len(found)} <{tag}> elements (line {found[1].sourceline}): expected one at most")
    return found[0] if found else None


def children(parent: Element, tags: tuple[str, ...], who: str, notes: list[str]) -> dict[str, dict[str, Any]]:
    """{tag: attributes} of those child elements that are there; `notes` receives what is ignored of them."""
    found = {tag: only(parent, tag, who) for tag in tags}
    return {tag: _attributes(e, place(e, who), notes) for tag, e in found.items() if e is not None}


def place(element: Element, who: str) -> str:
    return f"{who}, <{element.tag}> at line {element.sourceline}"


def _attributes(element: Element, at: str, notes: list[str]) -> dict[str, Any]:
    """{attribute: float, tuple of floats or text}."""
    known, tag = ATTRIBUTES[element.tag], element.tag
    for name in NEEDED.get(tag, ()):
        if element.get(name) is None:
            raise FileError(f"{at} has no attribute {name!r}: give it")
    if tag == "limit" and not set(element.get("absent", "").split()) <= set(LIMITS):
        raise FileError(f"{at} has absent={element.get('absent')!r}; expected some of {', '.join(LIMITS)}")
    values: dict[str, Any] = {}
    for name, text in element.attrib.items():
        if name not in known:
            if tag not in LOOSE:
                raise FileError(f"{at} has the unknown attribute {name!r}; known: {', '.join(known)}: correct it")
            note = f"attribute {name!r} of <{tag}> is ignored"
            if note not in notes:
                notes.append(note)
            continue
        count = known[name]
        if count == NAME and not text.strip():
            raise FileError(f"{at} has an empty {name!r}: name a {'joint' if tag == 'mimic' else 'link'}")
        counts = (count,) if isinstance(count, int) else count
        values[name] = numbers(text, counts, f"{at}, {name}") if counts else text
        if name == "rpy" and max(map(abs, values[name])) > LARGEST_ANGLE:
            raise FileError(f"{at}, rpy is {format_value(text)}: expected angles up to {LARGEST_ANGLE:g} rad")
        if count == 1:
            (values[name],) = values[name]
    return values


def pose(origin: dict[str, Any] | None) -> np.ndarray:
    """(4, 4) of an <origin>; the identity where there is none."""
    given = {"xyz": np.zeros(3), "rpy": np.zeros(3)} | (origin or {})
    return pose_at(given["xyz"], rotation_of_rpy(*given["rpy"])) + 0.0  # no negative zeros


KINDS = {kind: kind for kind in JOINT_KINDS if kind != "free"} | {"floating": "free", "ball": "spherical"}
LIMITED = ("revolute", "prismatic", "helical")
SINGLE = (*LIMITED, "continuous")
READ = ("origin", "axis", "axis2", "pitch", "limit", "dynamics", "mimic", "parent", "child", "coordinates")  # of a joint


class Notes(NamedTuple):
    """Sentences on what is ignored and on missing bounds; names of joints without limits."""

    ignored: list[str]
    defaults: list[str]
    unlimited: list[str]


def read_urdf(root: Element, where: str) -> Description:
    """The robot of a URDF file; `where` opens messages.

    Link names, joint names and their order are the file's. Moments of inertia are turned into link axes. A root link has no joint
    to the world yet: see `freeflyer.model.load.with_base`. FileError where the file is broken."""
    prefixed = next((e for e in root.iter() if isinstance(e.tag, str) and e.prefix == "xacro"), None)
    if prefixed is not None:
        raise FileError(f"{where} still has xacro elements (line {prefixed.sourceline}): expand it with xacro first")
    notes, names, robot = Notes([], [], []), named(root, "link", where), _name(root, where)
    if not names:
        raise FileError(f"{where} has no <link>: a robot needs one at least")
    with np.errstate(all="ignore"):  # numbers that overflow are refused by `validate`
        links = [_link(name, element, where, notes) for name, element in names.items()]
        joints = tuple(_joint(name, e, where, names, notes) for name, e in named(root, "joint", where).items())
    said = notes.ignored + notes.defaults
    if notes.unlimited:
        said.append(f"no lower and upper limit, so taken as unlimited: {listed(notes.unlimited)}")
    links = [x for x in links if x.name != WORLD or x.inertia.mass]
    return read_extension(Description(robot, tuple(links), joints, notes=tuple(said)), root, where)


def _link(name: str, element: Element, where: str, notes: Notes) -> Link:
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


def _joint(name: str, element: Element, where: str, links: Collection[str], notes: Notes) -> Joint:
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
        size = JOINT_SIZES[kind][field not in POSITIONS]
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


def read_extension(description: Description, root: Element, where: str) -> Description:
    sites, loops, couplings, actuated, keyframes, gravity = [], [], [], [], [], description.gravity
    for element in [e for block in root.findall("freeflyer") for e in block]:
        at = place(element, f"{where}, <freeflyer>")
        if element.tag not in EXTENSION:
            raise FileError(f"{at}: unknown element; known: {', '.join(EXTENSION)}")
        values = _attributes(element, at, [])
        match element.tag:
            case "site":
                sites.append(Site(**values, placement=pose(children(element, ("origin",), at, []).get("origin"))))
            case "loop":
                if not set(values["mask"]) <= {0.0, 1.0}:
                    raise FileError(f"{at} has mask={element.get('mask')!r}: expected six of 0 and 1, for x y z rx ry rz")
                values["mask"] = tuple(map(int, values["mask"]))
                loops.append(Loop(**values))
            case "coupling":
                couplings.append(Coupling(**values))
            case "actuated":
                actuated.append(values["joint"])
            case "keyframe":
                keyframes.append(Keyframe(values["name"], tuple(_position(e, at) for e in element)))
            case "gravity":
                gravity = values["xyz"]
    return replace(description, sites=tuple(sites), loops=tuple(loops), couplings=tuple(couplings), actuated=tuple(actuated),
        gravity=gravity, keyframes=tuple(keyframes))


def _position(element: Element, at: str) -> tuple[str, tuple[float, ...]]:
    """(joint, position) of a <position> in a <keyframe>."""
    if element.tag != "position":
        raise FileError(f"{at} holds <{element.tag}>: expected <position joint=... values=.../>")
    values = _attributes(element, place(element, at), [])
    return values["joint"], values["values"]
