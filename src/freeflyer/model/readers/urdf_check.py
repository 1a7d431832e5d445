"""What a URDF file must have before it is parsed: each gap that a parser would fill in silence is an error here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from freeflyer.errors import FileError, unknown_name
from freeflyer.model.readers.safe_file import numbers

if TYPE_CHECKING:
    from lxml.etree import _Element

LIMITS = ("lower", "upper", "velocity", "effort")
# element: {attribute: how many numbers; 0 for a name, None for any}. In a STRICT element no other attribute may stand,
# for it would change the meaning.
NUMBERS: dict[str, dict[str, int | None]] = {
    "origin": {"xyz": 3, "rpy": 3}, "axis": {"xyz": 3}, "axis2": {"xyz": 3}, "pitch": {"value": 1},
    "mass": {"value": 1}, "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1),
    "limit": dict.fromkeys(LIMITS, 1) | {"absent": None}, "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"joint": 0, "multiplier": 1, "offset": 1}, "parent": {"link": 0}, "child": {"link": 0},
    "coordinates": dict.fromkeys(
        ("lower", "upper", "velocity", "effort", "armature", "damping", "friction", "stiffness", "initial", "spring_reference"),
        None),
}  # fmt: skip
STRICT = ("origin", "axis", "axis2", "pitch", "mass", "inertia", "mimic", "parent", "child", "coordinates")
NEEDED = {
    "axis": ("xyz",), "axis2": ("xyz",), "pitch": ("value",), "mass": ("value",), "parent": ("link",),
    "child": ("link",), "inertia": tuple(NUMBERS["inertia"]), "mimic": ("joint",),
}  # fmt: skip


def check_urdf(root: _Element, where: str, kinds: Iterable[str]) -> list[str]:
    """Refuses with a FileError what is broken; returns notes on what will be ignored."""
    if root.tag != "robot":
        raise FileError(f"{where} has the root element <{root.tag}>; URDF begins with <robot name=...>")
    _name(root, where)
    prefixed = next((e for e in root.iter() if isinstance(e.tag, str) and e.prefix == "xacro"), None)
    if prefixed is not None:
        raise FileError(f"{where} still has xacro elements (line {prefixed.sourceline}): expand it with xacro first")
    notes: list[str] = []
    for tag in ("link", "joint"):
        seen: dict[str, int] = {}
        for element in root.findall(tag):
            name = _name(element, where)
            if name in seen:
                raise FileError(
                    f"{where}: two {tag}s are named {name!r} (lines {seen[name]} and {element.sourceline}): rename one"
                )
            seen[name] = element.sourceline
            (_check_link if tag == "link" else _check_joint)(element, f"{where}, {tag} {name!r}", notes, tuple(kinds))
        if tag == "link" and not seen:
            raise FileError(f"{where} has no <link>: a robot needs one at least")
    _check_declared(root, where)
    return notes


def _check_declared(root: _Element, where: str) -> None:
    """Every link that a joint names is declared, the world too: a name that is mistyped would be a second world."""
    links = dict.fromkeys(link.get("name") for link in root.findall("link"))
    for joint in root.findall("joint"):
        for tag in ("parent", "child"):
            end = joint.find(tag)
            name = end.get("link")
            if name not in links:
                at = f"{where}, joint {joint.get('name')!r}, <{tag}> at line {end.sourceline}"
                raise FileError(f"{at}: {unknown_name('link', name, links)} Correct it, or declare it, <link name=\"{name}\"/>")


def _name(element: _Element, where: str) -> str:
    name = element.get("name")
    if name is None or not name.strip():
        raise FileError(f"{where}: <{element.tag}> at line {element.sourceline} has no name: give it name=\"...\"")
    return name


def _check_link(link: _Element, who: str, notes: list[str], _kinds: tuple[str, ...]) -> None:
    inertial = _only(link, "inertial", who)
    if inertial is None:
        return
    for tag in ("origin", "mass", "inertia"):
        element = _only(inertial, tag, f"{who}, inertial")
        if element is not None:
            _check_attributes(element, f"{who}, inertial", notes)
        elif tag != "origin":
            raise FileError(f"{who}: its <inertial> has no <{tag}>: give it, or drop <inertial> for a massless link")


def _check_joint(joint: _Element, who: str, notes: list[str], kinds: tuple[str, ...]) -> None:
    kind = joint.get("type")
    if kind not in kinds:
        raise FileError(f"{who} has the type {kind!r}; known types: {', '.join(kinds)}")
    for tag in NUMBERS:
        element = _only(joint, tag, who)
        if element is not None:
            _check_attributes(element, who, notes)
        elif tag in ("parent", "child") or (tag, kind) in (("axis2", "universal"), ("pitch", "helical")):
            raise FileError(f"{who} has no <{tag}>: a {kind} joint needs it")
    several = kind in ("planar", "floating", "spherical", "ball", "cylindrical", "universal")
    unread = [t for t in ("limit", "dynamics") if several and joint.find(t) is not None]
    if unread:
        shown = " and ".join(f"<{t}>" for t in unread)
        notes.append(f"joint {joint.get('name')!r} is {kind}: its {shown} is ignored (use <coordinates>)")


def _only(parent: _Element, tag: str, who: str) -> _Element | None:
    """The one child element of that tag, or None."""
    found = parent.findall(tag)
    if len(found) > 1:
        raise FileError(f"{who} has {len(found)} <{tag}> elements (line {found[1].sourceline}): expected one at most")
    return found[0] if found else None


def _check_attributes(element: _Element, who: str, notes: list[str]) -> None:
    known, tag = NUMBERS[element.tag], element.tag
    at = f"{who}, <{tag}> at line {element.sourceline}"
    if tag == "limit" and not set(element.get("absent", "").split()) <= set(LIMITS):
        raise FileError(f"{at} has absent={element.get('absent')!r}; expected some of {', '.join(LIMITS)}")
    for name in NEEDED.get(tag, ()):
        if element.get(name) is None:
            raise FileError(f"{at} has no attribute {name!r}: give it")
    for name, text in element.attrib.items():
        if name not in known:
            if tag in STRICT:
                raise FileError(f"{at} has the unknown attribute {name!r}; known: {', '.join(known)}: correct it")
            note = f"attribute {name!r} of <{tag}> is ignored"
            if note not in notes:
                notes.append(note)
        elif known[name] == 0:
            if not text.strip():
                raise FileError(f"{at} has an empty {name!r}: name a {'joint' if tag == 'mimic' else 'link'}")
        elif (count := known[name]) is not None:
            numbers(text, (count,), f"{at}, {name}")
