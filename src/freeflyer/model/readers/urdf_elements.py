"""The elements of a URDF file as numbers and names; gaps that other parsers fill in silence are errors here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.errors import FileError, format_value
from freeflyer.model.placements import rotation_of_rpy
from freeflyer.model.readers.safe_file import numbers

if TYPE_CHECKING:
    from lxml.etree import _Element

LARGEST_ANGLE = 1e6  # rad: larger ones have lost the digits of a turn
LIMITS = ("lower", "upper", "velocity", "effort")
NAME, TEXT = 0, None
# element: {attribute: how many numbers, or a NAME that is not empty, or a TEXT that is read later}. In a STRICT element no other
# attribute may stand, for it would change the meaning.
ATTRIBUTES: dict[str, dict[str, int | None]] = {
    "origin": {"xyz": 3, "rpy": 3}, "axis": {"xyz": 3}, "axis2": {"xyz": 3}, "pitch": {"value": 1},
    "mass": {"value": 1}, "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1),
    "limit": dict.fromkeys(LIMITS, 1) | {"absent": TEXT}, "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"joint": NAME, "multiplier": 1, "offset": 1}, "parent": {"link": NAME}, "child": {"link": NAME},
    "coordinates": dict.fromkeys(
        ("lower", "upper", "velocity", "effort", "armature", "damping", "friction", "stiffness", "initial", "spring_reference"),
        TEXT)}
STRICT = ("origin", "axis", "axis2", "pitch", "mass", "inertia", "mimic", "parent", "child", "coordinates")
NEEDED = {
    "axis": ("xyz",), "axis2": ("xyz",), "pitch": ("value",), "mass": ("value",), "parent": ("link",),
    "child": ("link",), "inertia": tuple(ATTRIBUTES["inertia"]), "mimic": ("joint",)}


def check_root(root: _Element, where: str) -> None:
    """FileError for what is no URDF robot, or not expanded yet."""
    if root.tag != "robot":
        raise FileError(f"{where} has the root element <{root.tag}>; URDF begins with <robot name=...>")
    _name(root, where)
    prefixed = next((e for e in root.iter() if isinstance(e.tag, str) and e.prefix == "xacro"), None)
    if prefixed is not None:
        raise FileError(f"{where} still has xacro elements (line {prefixed.sourceline}): expand it with xacro first")


def named(root: _Element, tag: str, where: str) -> dict[str, _Element]:
    """The robot's elements of that tag by name, in the file's order."""
    found: dict[str, _Element] = {}
    for element in root.findall(tag):
        name = _name(element, where)
        if name in found:
            lines = f"{found[name].sourceline} and {element.sourceline}"
            raise FileError(f"{where}: two {tag}s are named {name!r} (lines {lines}): rename one")
        found[name] = element
    return found


def _name(element: _Element, where: str) -> str:
    name = element.get("name")
    if name is None or not name.strip():
        raise FileError(f"{where}: <{element.tag}> at line {element.sourceline} has no name: give it name=\"...\"")
    return name


def only(parent: _Element, tag: str, who: str) -> _Element | None:
    """The one child element of that tag, or None."""
    found = parent.findall(tag)
    if len(found) > 1:
        raise FileError(f"{who} has {len(found)} <{tag}> elements (line {found[1].sourceline}): expected one at most")
    return found[0] if found else None


def children(parent: _Element, tags: tuple[str, ...], who: str, notes: list[str]) -> dict[str, dict[str, Any]]:
    """{tag: attributes} of those child elements that are there; `notes` receives what is ignored of them."""
    found = {tag: only(parent, tag, who) for tag in tags}
    return {tag: _attributes(e, place(e, who), notes) for tag, e in found.items() if e is not None}


def place(element: _Element, who: str) -> str:
    """Words for messages that say where an element stands."""
    return f"{who}, <{element.tag}> at line {element.sourceline}"


def _attributes(element: _Element, at: str, notes: list[str]) -> dict[str, Any]:
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
            if tag in STRICT:
                raise FileError(f"{at} has the unknown attribute {name!r}; known: {', '.join(known)}: correct it")
            note = f"attribute {name!r} of <{tag}> is ignored"
            if note not in notes:
                notes.append(note)
            continue
        count = known[name]
        if count == NAME and not text.strip():
            raise FileError(f"{at} has an empty {name!r}: name a {'joint' if tag == 'mimic' else 'link'}")
        values[name] = numbers(text, (count,), f"{at}, {name}") if count else text
        if name == "rpy" and max(map(abs, values[name])) > LARGEST_ANGLE:
            raise FileError(f"{at}, rpy is {format_value(text)}: expected angles up to {LARGEST_ANGLE:g} rad")
        if count == 1:
            (values[name],) = values[name]
    return values


def pose(origin: dict[str, Any] | None) -> np.ndarray:
    """(4, 4) of an <origin>; the identity where there is none."""
    X = np.eye(4)
    if origin is not None:
        X[:3, :3] = rotation_of_rpy(*origin.get("rpy", (0.0, 0.0, 0.0)))
        X[:3, 3] = origin.get("xyz", (0.0, 0.0, 0.0))
    return X + 0.0  # no negative zeros
