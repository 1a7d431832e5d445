"""The XML of MJCF: included files are inserted, and only elements that affect the motion are left for MuJoCo."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from freeflyer.errors import FileError
from freeflyer.model.readers.mjcf.meshes import Meshes, find_meshes
from freeflyer.model.readers.mjcf.names import CUSTOM, CUSTOM_FIELDS, CUSTOM_NAMES
from freeflyer.model.readers.safe_file import MAX_DEPTH, MAX_ELEMENTS, Element, numbers, parse_xml, read_bytes, resolve_inside

MAX_FILES = 100
MAX_COPIES = 2_000  # elements that <replicate> may make
MAX_LEFT = 12_000  # elements that go to MuJoCo
MAX_BODIES = 3_000  # MuJoCo's compile time grows with the square of their number
DROPPED_QUIETLY = ("visual", "statistic", "size", "keyframe", "asset", "sensor")
DROPPED = ("contact", "tendon", "deformable", "extension")  # these act on the motion, or may: noted
INNER_QUIETLY = ("camera", "light", "lengthrange")
INNER = ("composite", "flexcomp", "plugin")
ATTRIBUTES = ("material", "user", "meshdir", "texturedir", "assetdir", "strippath", "fusestatic")
EQUALITIES = ("connect", "weld", "joint")
NAMES = re.compile(r"name|model|sep|(child)?class|file|prefix|.*(joint|body|site|geom|mesh|tendon|actuator|plugin|target)[12]?")
COUNT = re.compile(r"[+]?([0-9]+)", re.ASCII)


@dataclass
class VettedFile:
    """The tree that is given to MuJoCo, the place for messages, the meshes, notes on ignored elements; and what is read besides.
    From <custom>, where the writer leaves them, fields of joints, names of fixed joints (by body) and of hidden links; the joints
    that a plugin drives; the elements that are not read, in words; names and qpos of the keyframes, as text."""

    root: Element
    where: str
    meshes: Meshes
    notes: list[str] = field(default_factory=list)
    fields: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    driven: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    keyframes: list[tuple[str, str | None]] = field(default_factory=list)


def expand(root: Element, folder: Path | None, where: str) -> None:
    """Puts the content of every <include> in its place; paths are below `folder`, and each file comes once at most."""
    if root.tag != "mujoco":
        raise FileError(f"{where} has the root element <{root.tag}>; MJCF begins with <mujoco>")
    seen: set[Path] = set()
    elements = sum(1 for _ in root.iter())
    while (include := root.find(".//include")) is not None:
        name = include.get("file", "")
        at = f"{where}, <include> at line {include.sourceline}"
        if folder is None:
            raise FileError(f"{at}: MJCF text has no folder to look for {name[:200]!r} in: give the path of a file")
        path = resolve_inside(folder, name, at)
        if path in seen or len(seen) >= MAX_FILES:
            raise FileError(f"{at}: {name[:200]!r} is included twice, or {MAX_FILES} files are: include each file once")
        seen.add(path)
        part = parse_xml(read_bytes(path, "included MJCF file"), f"included MJCF file {path.name!r}")
        elements += sum(1 for _ in part.iter())
        if elements > MAX_ELEMENTS:
            raise FileError(f"{where} has more than {MAX_ELEMENTS} elements with its included files: refused")
        parent = include.getparent()
        k = parent.index(include)
        parent[k : k + 1] = list(part)
    _check_depth(root, where)


def _check_depth(root: Element, where: str) -> None:
    depth = {root: 1}
    for element in root.iter():
        if element is not root:
            depth[element] = depth[element.getparent()] + 1
            if depth[element] > MAX_DEPTH:
                raise FileError(f"{where} nests elements deeper than {MAX_DEPTH}, MuJoCo's limit")


def strip_unused(root: Element, folder: Path | None, where: str) -> VettedFile:
    """Removes elements but geoms without effect on the motion; notes and data are read from them."""
    robot = VettedFile(root, where, find_meshes(root, folder))
    for element in list(root):
        if element.tag == "custom":
            _read_custom(element, robot)
        if element.tag == "keyframe":
            robot.keyframes += [(key.get("name", ""), key.get("qpos")) for key in element.findall("key")]
        if element.tag in (*DROPPED, *DROPPED_QUIETLY, "custom"):
            if element.tag in DROPPED and len(element):
                robot.notes.append(f"<{element.tag}> is ignored")
                robot.left_out.append(_format_element(element))
            if element.tag == "asset" and element.find("model") is not None:
                raise FileError(f"{where} attaches other models (<model> in <asset>): save it as one file with MuJoCo")
            root.remove(element)
        elif element.tag == "equality":
            for e in [e for e in element if e.tag not in EQUALITIES]:
                robot.notes.append(f"<{e.tag}> equality {e.get('name', '')!r} is ignored")
                element.remove(e)
        elif element.tag == "actuator":
            _keep_joint_actuators(element, robot)
    for tag in (*INNER, *INNER_QUIETLY):
        for element in list(root.iter(tag)):
            if tag in INNER:
                robot.notes.append(f"<{tag}> is ignored")
                robot.left_out.append(_format_element(element))
            element.getparent().remove(element)
    if next(root.iter("attach"), None) is not None:
        raise FileError(f"{where} has an <attach> element: save the whole model as one file with MuJoCo first")
    for mesh in [m for same in robot.meshes.elements.values() for m in same]:
        _check_attributes(mesh, where)
    count = 0
    for element in root.iter():
        element.attrib.pop("file", None)  # MuJoCo opens no files: meshes are attached by their contents
        _check_attributes(element, where)
        count += 1
    if count > MAX_LEFT:
        raise FileError(f"{where} has {count} elements that affect its motion; at most {MAX_LEFT} are read")
    _check_copies(root, where)
    return robot


def _format_element(element: Element) -> str:
    name = element.get("name", element.get("prefix", element.get("plugin")))
    return f"<{element.tag}>" + (f" {name[:40]!r}" if name else "") + f" (line {element.sourceline})"


def _keep_joint_actuators(section: Element, robot: VettedFile) -> None:
    for e in list(section):
        joint = e.get("joint", e.get("jointinparent"))
        if e.tag == "plugin" and joint is not None:
            robot.driven.append(joint)
        if joint is None:
            robot.notes.append(f"actuator {e.get('name', e.tag)!r} does not drive a joint directly: ignored")
            section.remove(e)


def _read_custom(section: Element, robot: VettedFile) -> None:
    for e in section:
        name = e.get("name", "")
        if not name.startswith(CUSTOM) or name.count(":") < 2:
            continue
        what, joint = name[len(CUSTOM) :].split(":", 1)
        if what in CUSTOM_NAMES and e.tag == "text":
            robot.names[what, joint] = e.get("data", "")
        else:
            if what not in CUSTOM_FIELDS:
                known = ", ".join(CUSTOM_NAMES + CUSTOM_FIELDS)
                raise FileError(f"{robot.where}: custom element {name!r} holds {what!r}; known: {known}")
            values = numbers(e.get("data", ""), tuple(range(1, 8)), f"{robot.where}, custom numeric {name!r}")
            robot.fields.setdefault(joint, {})[what] = values


def _check_attributes(element: Element, where: str) -> None:
    """No NaN or infinity reaches MuJoCo, which takes NaN; attributes that only name files and looks go."""
    for name in ATTRIBUTES:
        element.attrib.pop(name, None)
    for name, text in element.attrib.items():
        if re.search(r"nan|inf", text, re.IGNORECASE) and not NAMES.fullmatch(name):
            for word in text.split():
                if re.fullmatch(r"[-+]?(nan.*|inf(inity)?)", word, re.IGNORECASE):
                    at = f"<{element.tag}> at line {element.sourceline}"
                    raise FileError(f"{where}, {at}, {name}: {word!r} is not a finite number")


def _check_copies(root: Element, where: str) -> None:
    """<replicate> copies what it holds; nested ones multiply."""
    bodies = sum(1 for _ in root.iter("body"))
    if bodies > MAX_BODIES:
        raise FileError(f"{where} has {bodies} bodies; at most {MAX_BODIES} are read from MJCF (URDF takes more)")
    copies = {root: 1}
    total = 0
    for element in root.iter():
        if element is root:
            continue
        n = copies[element.getparent()]
        total += n if n > 1 else 0
        copies[element] = n * (_count(element, where) if element.tag == "replicate" else 1)
        if total > MAX_COPIES:
            raise FileError(f"{where}: <replicate> makes more than {MAX_COPIES} elements: refused")


def _count(replicate: Element, where: str) -> int:
    """The count of a <replicate> as MuJoCo reads it: spaces around it, a plus sign and leading zeros change nothing."""
    text = replicate.get("count", "")
    digits = COUNT.fullmatch(text.strip(" \t\r\n\v\f"))
    at = f"{where}, <replicate> at line {replicate.sourceline}"
    if digits is None:
        raise FileError(f"{at} has count={text[:40]!r}: expected a whole number of copies, 0 to {MAX_COPIES}")
    count = digits[1].lstrip("0") or "0"
    if len(count) > 9 or int(count) > MAX_COPIES:
        raise FileError(f"{at} has count={text[:40]!r}; <replicate> makes more than {MAX_COPIES} elements: refused")
    return int(count)
