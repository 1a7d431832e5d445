"""Description to URDF, complete: what plain URDF lacks goes into our own elements (see readers.urdf)."""

from __future__ import annotations

import os

import numpy as np

from freeflyer.model.description import PER_COORDINATE, POSITIONS, ROOT_JOINT, WORLD, Description, Inertia, Joint
from freeflyer.model.load import BASES
from freeflyer.model.readers.urdf import LIMITED, SINGLE
from freeflyer.model.readers.safe_file import Element
from freeflyer.model.validate import WITH_AXIS
from freeflyer.model.writers.xml_out import add, append_filled, description_of, finish, text
from freeflyer.spatial.quaternion import from_matrix, to_rpy
from freeflyer.tolerances import UNLIMITED_WRITTEN

TYPES = {"free": "floating"}  # the other kinds are called what URDF calls them


def to_urdf(robot: object, path: str | os.PathLike[str] | None = None, overwrite: bool = False) -> str:
    """URDF text of a robot, also written to a file.

    Links, joints, sites, loops, motors and gravity read back the same, to rounding. The joint `root_joint` that `load` puts
    between the world and the root link is left out, with its initial position and that in keyframes. Load the file with the same
    base. Notes are not written. Other programs read the tree; kinds, loops and sites beyond URDF are ours alone.

    Raises: DescriptionError for descriptions that `build` refuses, and names that no file can hold; FileError for a file that is
    there, or cannot be written."""
    description = description_of(robot)
    base = _base_joint(description)
    joints = [j for j in description.joints if j is not base]
    root = add(None, "robot", name=description.name or "robot")
    if _uses_world(description, joints) and WORLD not in description.link_by_name:
        add(root, "link", name=WORLD)
    for link in description.links:
        _add_inertial(add(root, "link", name=link.name), link.inertia)
    for joint in joints:
        _add_joint(root, joint)
    _add_extension(root, description, joints)
    return finish(root, path, overwrite)


def _uses_world(description: Description, joints: list[Joint]) -> bool:
    frames = {f for loop in description.loops for f in (loop.frame_a, loop.frame_b)}
    return any(j.parent == WORLD for j in joints) or any(s.link == WORLD for s in description.sites) or WORLD in frames


def _base_joint(description: Description) -> Joint | None:
    """The joint that `with_base` added, if nothing else is tied to the world and it has no data of its own."""
    ties = [j for j in description.joints if j.parent == WORLD]
    if len(ties) != 1 or ties[0].name.rstrip("_") != ROOT_JOINT or ties[0].kind not in BASES:
        return None
    tie = ties[0]
    plain = np.array_equal(tie.placement, np.eye(4)) and not any(getattr(tie, f) for f in PER_COORDINATE)
    upright = tie.kind != "planar" or np.array_equal(tie.axis, [0.0, 0.0, 1.0])
    others = [j for j in description.joints if j is not tie]
    alone = WORLD not in description.link_by_name and not _uses_world(description, others)
    return tie if plain and upright and alone and tie.name not in description.actuated else None


def _add_origin(parent: Element, X: np.ndarray) -> None:
    if not np.array_equal(X, np.eye(4)):
        add(parent, "origin", xyz=text(X[:3, 3]), rpy=text(to_rpy(from_matrix(X[:3, :3]))))


def _add_inertial(link: Element, inertia: Inertia) -> None:
    J = np.asarray(inertia.rotational, float)
    if not (inertia.mass or np.any(inertia.com) or J.any()):
        return
    inertial = add(link, "inertial")
    add(inertial, "origin", xyz=text(inertia.com), rpy="0 0 0")
    add(inertial, "mass", value=text([inertia.mass]))
    entries = {"ixx": J[0, 0], "ixy": J[0, 1], "ixz": J[0, 2], "iyy": J[1, 1], "iyz": J[1, 2], "izz": J[2, 2]}
    add(inertial, "inertia", {name: text([x]) for name, x in entries.items()})


def _add_joint(root: Element, joint: Joint) -> None:
    element = add(root, "joint", name=joint.name, type=TYPES.get(joint.kind, joint.kind))
    add(element, "parent", link=joint.parent)
    add(element, "child", link=joint.child)
    _add_origin(element, joint.placement)
    if joint.kind in WITH_AXIS:
        add(element, "axis", xyz=text(joint.axis))
    if joint.kind == "universal":
        add(element, "axis2", xyz=text(joint.axis2))
    if joint.kind == "helical":
        add(element, "pitch", value=text([joint.pitch]))
    if joint.mimic is not None:
        m = joint.mimic
        add(element, "mimic", joint=m.joint, multiplier=text([m.ratio]), offset=text([m.offset]))
    fields: dict[str, dict[str, str]] = {}
    for name in (*PER_COORDINATE, *POSITIONS):
        values = getattr(joint, name)
        if values:
            fields.setdefault(_home(joint, name, values), {})[name] = text(values)
    if joint.kind in LIMITED or "limit" in fields:
        _complete(fields.setdefault("limit", {}), joint.kind)
    for tag, attributes in fields.items():
        add(element, tag, attributes)


def _complete(limit: dict[str, str], kind: str) -> None:
    """Other programs refuse a <limit> with gaps: these get numbers out of reach, which our reader drops by `absent`."""
    names = ("lower", "upper", "velocity", "effort") if kind in LIMITED else ("velocity", "effort")
    absent = [name for name in names if name not in limit]
    for name in absent:
        limit[name] = text([-UNLIMITED_WRITTEN if name == "lower" else UNLIMITED_WRITTEN])
    if absent:
        limit["absent"] = " ".join(absent)


def _home(joint: Joint, field: str, values: tuple[float, ...]) -> str:
    """The element of a joint that holds one of its fields: URDF's own where it can."""
    if joint.kind in SINGLE and np.isfinite(values).all():
        if field in ("damping", "friction"):
            return "dynamics"
        bounds = np.isfinite([*joint.lower, *joint.upper]).all()
        if field in ("velocity", "effort") or (field in ("lower", "upper") and joint.kind in LIMITED and bounds):
            return "limit"
    return "coordinates"


def _add_extension(root: Element, description: Description, joints: list[Joint]) -> None:
    block = add(None, "freeflyer")
    for site in description.sites:
        _add_origin(add(block, "site", name=site.name, link=site.link), site.placement)
    for loop in description.loops:
        mask = " ".join(str(int(m)) for m in loop.mask)
        add(block, "loop", name=loop.name, frame_a=loop.frame_a, frame_b=loop.frame_b, mask=mask)
    for c in description.couplings:
        add(block, "coupling", name=c.name, joint1=c.joint1, joint2=c.joint2, coefficients=text(c.coefficients))
    for name in description.actuated:
        add(block, "actuated", joint=name)
    written = {j.name for j in joints}
    for key in description.keyframes:
        element = add(block, "keyframe", name=key.name)
        for joint, values in key.positions:
            if joint in written:
                add(element, "position", joint=joint, values=text(values))
    if tuple(description.gravity) != Description.gravity:
        add(block, "gravity", xyz=text(description.gravity))
    append_filled(root, block)
