"""`load`: reads a robot file, gives the robot a base, checks it and compiles it to a Model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freeflyer.errors import DescriptionError, FileError, InputError
from freeflyer.model.build import compile_description
from freeflyer.model.description import ROOT_JOINT, WORLD, Description, Joint, without_joints
from freeflyer.model.inputs import gravity_vector
from freeflyer.model.model import Model
from freeflyer.model.placements import joint_transform, quaternion
from freeflyer.model.readers.safe_file import is_xml_text, read_xml
from freeflyer.model.readers.urdf import read_urdf
from freeflyer.model.validate import validate
from freeflyer.text import listed

if TYPE_CHECKING:
    from mujoco import MjSpec

BASES = ("free", "fixed", "planar")
AUTO = "auto"


def load(source: str | os.PathLike[str] | Description | MjSpec, base: str | None = AUTO,
         loops: str | os.PathLike[str] | None = None, inertias: str = "strict", gravity: Sequence[float] | None = None) -> Model:
    """Model of a robot file, checked and compiled.

    "free" floats the robot, "planar" moves it in the horizontal plane, "fixed" bolts it to the world. None keeps the base of the
    file (a root link of URDF then stands at the world's origin). "auto" keeps a base that is defined (by an MJCF file, or chosen
    before). It floats the robot of a URDF file, which defines no base. `print(model)` shows which it is.

    A robot with a root link (URDF) gets a joint `root_joint` from the world to it. If the file ties the robot to the world (MJCF,
    or URDF with a link "world"), "free" keeps a free joint and replaces a fixed one. It refuses other joints. "fixed" and
    "planar" replace a free joint at the base pose of the file. "fixed" keeps every other joint. "planar" replaces a fixed joint,
    keeps a planar one, and refuses others.

    Args:
        source: A URDF or MJCF file, its text (a string that begins with '<'), a description, or a specification of MuJoCo.
        base: "auto", "free", "fixed", "planar" or None. It holds the robot in the world as described above.
        loops: YAML file of loop constraints and motors: see freeflyer.model.readers.loops_yaml.
        gravity: (3,) sequence, m/s^2, in place of the file's.
    Raises: FileError for files that are missing, broken or in another format. DescriptionError for robots that are not physical
    or not connected, and for bases that the robot cannot have."""
    return compile_description(describe(source, base, loops, inertias, gravity))


def describe(source: str | os.PathLike[str] | Description | MjSpec, base: str | None = AUTO,
             loops: str | os.PathLike[str] | None = None, inertias: str = "strict",
             gravity: Sequence[float] | None = None) -> Description:
    """The checked Description that `load` compiles; the same arguments."""
    description = source if isinstance(source, Description) else read(source)
    if loops is not None:
        from freeflyer.model.readers.loops_yaml import read_loops

        description = read_loops(loops, description)
    if gravity is not None:
        description = replace(description, gravity=gravity_vector(gravity))
    try:
        description = validate(description, inertias)
    except DescriptionError as error:
        if not isinstance(source, (str, os.PathLike)):
            raise
        raise located(error, source) from None
    return with_base(description, base)


def read(source: str | os.PathLike[str] | MjSpec) -> Description:
    """The Description of a URDF or MJCF file or text (by its root element), or of a mujoco.MjSpec; not yet checked."""
    if isinstance(source, (str, os.PathLike)) and Path(str(source)[:4096]).suffix.lower() in (".yaml", ".yml"):
        raise FileError(f"{str(source)!r} is YAML: give the robot's URDF or MJCF file, and this one as loops=...")
    if type(source).__name__ == "MjSpec":
        from freeflyer.model.readers.mjcf.reading import read_spec

        return read_spec(source)
    if type(source).__name__ in ("MjModel", "MjData"):
        raise InputError(f"a mujoco.{type(source).__name__} keeps no robot file: load the file that it was made from, or its "
            "mujoco.MjSpec; states of it come by freeflyer.from_mujoco(model, data.qpos, ..., mj_model=...)")
    root, where = read_xml(source, "robot file")
    file = "" if is_xml_text(source) else os.path.abspath(source)
    if root.tag == "robot":
        return replace(read_urdf(root, where), file=file)
    if root.tag == "mujoco":
        from freeflyer.model.readers.mjcf.reading import read_mjcf  # imports MuJoCo

        return replace(read_mjcf(source), file=file)
    raise FileError(f"{where} has the root element <{root.tag}>; robots are read from URDF (<robot>) and MJCF (<mujoco>). "
        "Convert SDF and others to one of these first, and expand xacro")


def with_base(description: Description, base: str | None) -> Description:
    """The description of a robot that stands on the given base: see `load`. The description remembers how its base came about."""
    if base not in (*BASES, AUTO, None):
        expected = f"{', '.join(BASES)}, {AUTO!r}, or None for that of the file"
        raise InputError(f"base is {base!r}; expected one of {expected}")
    if base is None or (base == AUTO and description.base):
        return replace(description, base=description.base or "file")
    how = "default" if base == AUTO else "chosen"
    return replace(_with_base(description, "free" if base == AUTO else base), base=how)


def _with_base(description: Description, base: str) -> Description:
    if description.roots:
        root, *others = description.roots
        if others or any(j.parent == WORLD for j in description.joints):
            roots = ", ".join(description.roots[:6])
            raise DescriptionError(f"a base needs one root, but {roots} have no parent: join them, or pass base=None")
        joint = Joint(_free_name(description), base, WORLD, root)
        return replace(description, joints=(joint, *description.joints))
    ties = _moving_ties(description)
    shown = ", ".join(f"{j.name!r} ({j.kind})" for j in ties[:6]) + (", ..." if len(ties) > 6 else "")
    kept = f"the file ties the robot to the world by {shown}: pass base=None to keep that, or change the file"
    if base == "free":
        wrong = [j for j in ties if j.kind != "free"]
        if not wrong:
            return description
        if len(ties) > 1 or wrong[0].kind != "fixed":
            raise DescriptionError(f'base="free" needs one base that can be let go, but {kept}')
        if any(link.name == WORLD and link.inertia.mass > 0.0 for link in description.links):
            raise DescriptionError(f"link {WORLD!r} has a mass but never moves: give it another name, so that it can float")
        tie, X = wrong[0], wrong[0].placement
        drawn = tuple(map(float, (*X[:3, 3], *quaternion(X[:3, :3])[[1, 2, 3, 0]])))
        joint = Joint(_free_name(description), "free", WORLD, tie.child, initial=drawn if any(drawn[:6]) else ())
        return _replace_tie(description, tie, joint)
    free = [j for j in ties if j.kind == "free"]
    if len(free) > 1:
        raise DescriptionError(f"base={base!r} replaces one free joint, but {kept}")
    tie = free[0] if free else ties[0]
    if not free and (base == "fixed" or (len(ties) == 1 and tie.kind == "planar")):
        return description
    if not free and (len(ties) > 1 or tie.kind != "fixed"):
        raise DescriptionError(f'base="planar" needs one base that can be moved, but {kept}')
    X = tie.placement
    if tie.initial:  # where the file draws the child of a free joint
        X = X @ joint_transform(tie, np.array(tie.initial))
    joint = Joint(tie.name if free else _free_name(description), base, WORLD, tie.child, X)
    return _replace_tie(description, tie, replace(joint, axis=X[2, :3].copy()))  # planar: the normal is the world's z


def _free_name(description: Description) -> str:
    name, taken = ROOT_JOINT, {j.name for j in description.joints}
    while name in taken:
        name += "_"
    return name


def _replace_tie(description: Description, old: Joint, new: Joint) -> Description:
    joints = tuple(new if j is old else j for j in description.joints)
    actuated = tuple(n for n in description.actuated if n != old.name)
    return replace(description, joints=joints, actuated=actuated, keyframes=without_joints(description.keyframes, (old.name,)))


def _moving_ties(description: Description) -> list[Joint]:
    """The joints from the world, without those of scenery: fixed links that carry nothing that moves.

    Where nothing moves at all, the joints of all parts."""
    ties = description.joints_below.get(WORLD, ())
    moving = [tie for tie in ties if any(joint.kind != "fixed" for joint in (tie, *description.below([tie.child])))]
    return moving or list(ties)


TAGS = {  # entries of an error's data, and the elements that they name; the first that is there counts
    "actuated": "actuated", "coupling": "coupling", "keyframe": "keyframe", "loop": "loop", "site": "site", "joints": "joint",
    "joint": "joint", "links": "link", "link": "link", "roots": "link"}


def located(error: DescriptionError, source: str | os.PathLike[str]) -> DescriptionError:
    """The error with the file and the lines of what it is about in front; as it is where the file declares none of that."""
    root, where = read_xml(source, "robot file")
    key = next((k for k in TAGS if k in error.data), "joint")
    names = error.data.get(key)
    names = names if isinstance(names, tuple) else (names,)
    parts = [e for e in [*root, *root.findall("freeflyer/*")] if e.tag == TAGS[key]]
    lines = [str(e.sourceline) for e in parts if e.get("name", e.get("joint")) in names]
    if not lines:
        return error
    return DescriptionError(f"{where}, line{'s' * (len(lines) > 1)} {listed(lines)}: {error}", **error.data)
