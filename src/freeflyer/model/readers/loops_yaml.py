"""Loop files: which frames of a tree a closed linkage ties together, and which joints have motors, in two YAML formats; posture
files (`read_posture`).

Our own is that of docs/loops.md, with a `type` or a `mask` for each loop. The other format, that of the collections of parallel
robots by Batto and others, has parallel lists:

    closed_loop: [[frame_a, frame_b], ...]    type: ["6d" or "3d", ...]   (6d where `type` is absent)
    name_mot: [motor joints]
    joint_name: [joints that change their kind]    joint_type: [SPHERICAL | FIXED | UJOINT_XY (any two axes), ...]

A UJOINT turns first about the first, then about the second named axis of the joint's frame.

In both, a frame is a link, a site or a joint. A joint's name stands for its frame after its motion, as in Pinocchio: the frame of
its child link. A link or site goes before a joint of the same name. Pinocchio's "universe" is the world, "root_joint" the root
link."""

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer.errors import FileError, format_value, unknown_name
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.model.description import HINGE, POINT, ROOT_JOINT, WELD, WORLD, Description, Joint, Loop, without_joints
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.readers.safe_file import numbers, read_bytes
from freeflyer.spatial import quaternion

MAX_BYTES, MAX_NODES, MAX_DEPTH = 2**18, 20_000, 12
MASKS = {"point": POINT, "hinge": HINGE, "weld": WELD, "slider": (1, 1, 0, 1, 1, 1), "3d": POINT, "6d": WELD}
OURS, THEIRS = ("loops", "actuated"), ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def read_loops(path: str | os.PathLike[str], description: Description) -> Description:
    """The description with the loops, motors and joint kinds of a YAML file added; loops already there are kept."""
    data = read_bytes(path, "loop file", MAX_BYTES)
    where = f"loop file {Path(path).name!r}"
    content = yaml_mapping(parse_yaml(data, where), where, (*OURS, *THEIRS))
    if any(k in content for k in OURS) and any(k in content for k in THEIRS):
        raise FileError(f"{where} mixes two formats: use either {', '.join(OURS)} or {', '.join(THEIRS)}")
    if "loops" in content or "actuated" in content:
        loops, actuated = _our_loops(content, where), content.get("actuated", [])
    else:
        loops, actuated = _their_loops(content, where), content.get("name_mot", [])
        description = _with_joint_types(description, content, where)
    tied, notes = _with_links(loops, description, where)
    motors = _joint_names(actuated, description, f"{where}, motors")
    return replace(description, loops=description.loops + tied, actuated=motors or description.actuated,
        notes=description.notes + notes)


def _with_links(loops: list[Loop], description: Description, where: str) -> tuple[tuple[Loop, ...], tuple[str, ...]]:
    """The loops with joints' names replaced by their child links; notes on names of a joint that a frame has, too."""
    frames = dict.fromkeys([*(x.name for x in description.links), *(s.name for s in description.sites), WORLD])
    roots = description.roots
    children = {"universe": WORLD} | ({ROOT_JOINT: roots[0]} if len(roots) == 1 else {})
    children |= {j.name: j.child for j in description.joints}
    found, notes = [], []
    for loop in loops:
        ends = (loop.frame_a, loop.frame_b)
        for name in ends:
            if name not in frames and name not in children:
                unknown = unknown_name("frame", name, dict.fromkeys([*frames, *children]))
                raise FileError(f"{where}, loop {loop.name!r}: {unknown} A frame is a link, a site or a joint")
            if name in frames and children.get(name, name) != name:
                notes.append(f"{where}, loop {loop.name!r}: {name!r} is also a joint, of link {children[name]!r}; the link or site "
                    "of that name is tied")
        a, b = (name if name in frames else children[name] for name in ends)
        found.append(replace(loop, frame_a=a, frame_b=b))
    return tuple(found), tuple(notes)


def parse_yaml(data: bytes, where: str) -> Any:
    """The content as dicts, lists and strings alone: no aliases (they can grow without bound), no tags, no types."""
    import yaml

    nodes = depth = 0
    large = FileError(f"{where} is refused: deeper than {MAX_DEPTH} levels or more than {MAX_NODES} entries")
    try:
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        for event in yaml.parse(data, Loader=loader):
            nodes += 1
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                raise FileError(f"{where} uses a YAML alias (*{event.anchor}): refused; write the value out")
            if depth > MAX_DEPTH or nodes > MAX_NODES:
                raise large
        return yaml.load(data, Loader=_unique_keys(loader))
    except (yaml.YAMLError, ValueError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        if "nesting depth" in str(error):  # PyYAML 6.0.4 has a limit of its own, which it looks ahead to
            raise large from None
        raise FileError(f"{where} is not YAML that can be read: {' '.join(str(error).split())[:300]}") from None


def _unique_keys(loader: type) -> type:
    """The loader, refusing a key that is written twice (YAML would keep the last in silence)."""
    import yaml

    class Loader(loader):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [k.value for k, _ in node.value if isinstance(k, yaml.ScalarNode)]
            twice = next((k for k in keys if keys.count(k) > 1), None)
            if twice is not None:
                raise yaml.YAMLError(f"the key {twice!r} is written twice")
            return super().construct_mapping(node, deep)

    return Loader


def yaml_mapping(value: Any, where: str, known: Collection[str], what: str = "key") -> dict[str, Any]:
    """The value, a mapping with known keys alone; FileError otherwise."""
    if not isinstance(value, dict):
        raise FileError(f"{where} holds {format_value(value)}; expected a mapping with keys of {', '.join(known)}")
    for key in value:
        if key not in known:
            raise FileError(f"{where}: {unknown_name(what, key, known)}")
    return value


def yaml_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise FileError(f"{where}: expected a list, got {format_value(value)}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise FileError(f"{where}: expected a name, got {format_value(value)}")
    return value


def _joint_names(value: Any, description: Description, where: str) -> tuple[str, ...]:
    known = dict.fromkeys(j.name for j in description.joints)
    names = [_text(x, where) for x in yaml_list(value, where)]
    for name in names:
        if name not in known:
            raise FileError(f"{where}: {unknown_name('joint', name, known)}")
    return tuple(names)


def _our_loops(content: dict[str, Any], where: str) -> list[Loop]:
    loops = []
    for k, entry in enumerate(yaml_list(content.get("loops", []), f"{where}, loops")):
        at = f"{where}, loop {k + 1}"
        entry = yaml_mapping(entry, at, ("name", "frame_a", "frame_b", "type", "mask"))
        for needed in ("frame_a", "frame_b"):
            if needed not in entry:
                raise FileError(f"{at} has no {needed}: name the two frames that it ties")
        if ("type" in entry) == ("mask" in entry):
            raise FileError(f"{at}: give either type ({', '.join(list(MASKS)[:4])}) or mask (six of 0 and 1)")
        mask = _mask(entry["mask"], at) if "mask" in entry else _type(entry["type"], at)
        a, b = (_text(entry[f], f"{at}, {f}") for f in ("frame_a", "frame_b"))
        loops.append(Loop(_text(entry.get("name", f"loop_{k + 1}"), f"{at}, name"), a, b, mask))
    return loops


def _mask(value: Any, where: str) -> tuple[int, ...]:
    items = yaml_list(value, f"{where}, mask")
    if len(items) != 6 or any(x not in ("0", "1") for x in items) or "1" not in items:
        raise FileError(f"{where}, mask: expected six of 0 and 1 for x y z rx ry rz, not all 0; got {format_value(value)}")
    return tuple(int(x) for x in items)


def _type(value: Any, where: str) -> tuple[int, ...]:
    name = _text(value, f"{where}, type").lower()
    if name not in MASKS:
        raise FileError(f"{where} has the type {format_value(value)}; known types: {', '.join(MASKS)}")
    return MASKS[name]


def _their_loops(content: dict[str, Any], where: str) -> list[Loop]:
    pairs = yaml_list(content.get("closed_loop", []), f"{where}, closed_loop")
    types = yaml_list(content.get("type", ["6d"] * len(pairs)), f"{where}, type")
    if len(types) != len(pairs):
        raise FileError(f"{where}: closed_loop has {len(pairs)} entries, type has {len(types)}; expected as many")
    loops = []
    for k, (pair, kind) in enumerate(zip(pairs, types)):
        at = f"{where}, closed_loop {k + 1}"
        frames = [_text(x, at) for x in yaml_list(pair, at)]
        if len(frames) != 2:
            raise FileError(f"{at}: expected two frames, got {format_value(pair)}")
        a, b = frames
        loops.append(Loop(f"{a}~{b}", a, b, _type(kind, at)))
    return loops


def _with_joint_types(description: Description, content: dict[str, Any], where: str) -> Description:
    names = _joint_names(content.get("joint_name", []), description, f"{where}, joint_name")
    types = yaml_list(content.get("joint_type", []), f"{where}, joint_type")
    if len(names) != len(types):
        raise FileError(f"{where}: joint_name has {len(names)} entries, joint_type has {len(types)}; expected as many")
    changed = dict(zip(names, types))
    if len(changed) < len(names):
        raise FileError(f"{where}: joint_name lists a joint twice; name each joint once")
    joints = tuple(_change_kind(j, changed[j.name], where) if j.name in changed else j for j in description.joints)
    return replace(description, joints=joints, keyframes=without_joints(description.keyframes, changed))


def _change_kind(joint: Joint, kind: Any, where: str) -> Joint:
    """The joint with another kind at the same place; limits and losses, given for the old one, are dropped."""
    name = _text(kind, f"{where}, joint_type of {joint.name!r}").upper()
    bare = Joint(joint.name, "fixed", joint.parent, joint.child, joint.placement)
    if name == "FIXED":
        return bare
    if name == "SPHERICAL":
        return replace(bare, kind="spherical")
    a, b = name[-2:-1], name[-1:]
    if name == f"UJOINT_{a}{b}" and a in AXES and b in AXES and a != b:
        return replace(bare, kind="universal", axis=np.array(AXES[a]), axis2=np.array(AXES[b]))
    raise FileError(f"{where}: joint {joint.name!r} has the type {format_value(kind)}; known: SPHERICAL, FIXED, UJOINT_ with two "
        "different axes (UJOINT_XY, UJOINT_ZY, ...)")


MAX_POSTURE_BYTES = 2**20
PARTS = ("position", "rpy")


def read_posture(path: str | os.PathLike[str], model: Model) -> np.ndarray:
    """q (nq,) of a posture file for this model; joints that are not named stay at neutral.

        knee: 0.4                                  # rad or m: joints with one coordinate
        wrist: [0.1, -0.2]                         # joints with several: all of them, in the order of the conventions
        shoulder: [0, 0, 0.6, 0.8]                 # a spherical joint: unit quaternion x, y, z, w
        root_joint: [0, 0, 1.2, 0, 0, 0, 1]        # a free joint: position (m), then unit quaternion
        root_joint: {position: [0, 0, 1.2], rpy: [0, 1.5708, 0]}   # or roll, pitch, yaw (rad); either part may be absent

    Errors: FileError for anything that is no such file (too large, deep, aliased, keys twice, not numbers, not finite), for joints
    that do not exist or have no coordinates of their own, and for quaternions that are not of unit length."""
    where = f"posture file {Path(path).name!r}" if isinstance(path, str | os.PathLike) else "the posture file"
    content = parse_yaml(read_bytes(path, "posture file", MAX_POSTURE_BYTES), where)
    if not isinstance(content, dict):
        raise FileError(f"{where} holds {format_value(content)}; expected joints with their values, as in 'knee: 0.4'")
    q = np.array(model.neutral)
    for name, value in content.items():
        joint = next((j for j in model.joints if j.name == name), None)
        if joint is None:
            raise FileError(f"{where}: {unknown_name('joint', name, model.joint_names)}")
        if joint.mimic is not None:
            raise FileError(f"{where}: joint {name!r} follows {joint.mimic.joint!r}; give the value of that one")
        q[joint.iq : joint.iq + joint.nq] = _values(joint, value, f"{where}, joint {name!r}")
    return q


def _values(joint: JointInfo, value: Any, where: str) -> np.ndarray:
    if joint.kind == "free" and isinstance(value, dict):
        return _pose(value, where)
    x = _check_list(value, joint.nq, where)
    if joint.kind in ("free", "spherical"):
        norm = float(np.linalg.norm(x[-4:]))
        if abs(norm**2 - 1.0) >= UNIT_TOLERANCE:
            raise FileError(f"{where}: the quaternion x, y, z, w has norm {norm:.9g}, expected 1: give more digits, or rpy")
        x[-4:] /= norm
    return x


def _pose(value: dict[Any, Any], where: str) -> np.ndarray:
    strange = [k for k in value if k not in PARTS]
    if strange or not value:
        raise FileError(f"{where}: expected position, rpy or both, got {format_value(value)}")
    position = _check_list(value.get("position", ["0"] * 3), 3, f"{where}, position")
    return np.concatenate([position, quaternion.from_rpy(_check_list(value.get("rpy", ["0"] * 3), 3, f"{where}, rpy"))])


def _check_list(value: Any, n: int, where: str) -> np.ndarray:
    items = value if isinstance(value, list) else [value]
    if len(items) != n or not all(isinstance(x, str) for x in items):
        wanted = "a number" if n == 1 else f"a list of {n} numbers"
        raise FileError(f"{where}: expected {wanted}, got {format_value(value)}")
    return np.array([numbers(x, (1,), where)[0] for x in items])
