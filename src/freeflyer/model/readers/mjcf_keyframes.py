"""The keyframes of an MJCF file: named postures. Velocities, controls and activations in them are not read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freeflyer.model.description import Description, Joint
from freeflyer.model.readers.mjcf_layout import TO_OURS
from freeflyer.model.readers.mjcf_names import GROUPED, unique_name
from freeflyer.model.readers.mjcf_tree import Extras
from freeflyer.model.readers.safe_file import numbers
from freeflyer.model.recorded_states import Keyframe, MujocoJoint
from freeflyer.tolerances import ZERO_QUATERNION_LENGTH


def read_keyframes(description: Description, extras: Extras, where: str, notes: list[str]) -> Description:
    """The description with the file's keyframes. One without a name is called by its number, "0" the first; one without qpos stands
    as the file draws it; one for another number of joints is left out, with a note. Quaternions become unit ones, as MuJoCo makes
    them. Errors: FileError for what are no finite numbers."""
    nq = sum(j.nq for j in description.mujoco)
    taken = {name for name, _ in extras.keyframes if name}
    found: list[Keyframe] = []
    for k, (given, text) in enumerate(extras.keyframes):
        name = given or unique_name(str(k), taken)
        if text is None:
            found.append(Keyframe(name))
            continue
        if (count := len(text.split())) != nq:
            notes.append(f"keyframe {name[:80]!r} is not read: it has {count} positions, and the robot {nq}")
            continue
        qpos = numbers(text, (nq,), f"{where}, keyframe {name[:80]!r}")
        found.append(Keyframe(name, _positions(description, qpos)))
    return replace(description, keyframes=tuple(found))


def joint_of(name: str, joints: dict[str, Joint]) -> tuple[str, int]:
    """Our joint that MuJoCo's joint `name` is, or is a part of, and its first coordinate there; "" where there is none."""
    if name in joints:
        return name, 0
    part = GROUPED.fullmatch(name)
    if part and part[1] in joints and joints[part[1]].kind == part[2]:
        return part[1], int(part[3])
    return "", 0


def _positions(description: Description, qpos: tuple[float, ...]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    joints = {j.name: j for j in description.joints}
    found: dict[str, tuple[float, ...]] = {}
    first = 0
    for joint in description.mujoco:
        name, _ = joint_of(joint.name, joints)
        values = tuple(qpos[first + k] for k in TO_OURS[joint.kind])
        found[name] = found.get(name, ()) + _unit(joint, values)  # parts of one joint come in the order of its coordinates
        first += joint.nq
    return tuple(found.items())


def _unit(joint: MujocoJoint, values: tuple[float, ...]) -> tuple[float, ...]:
    if joint.kind not in ("free", "ball"):
        return values
    norm = float(np.linalg.norm(values[-4:]))
    if norm < ZERO_QUATERNION_LENGTH:
        return (*values[:-4], 0.0, 0.0, 0.0, 1.0)
    turn = values[-4:] if norm == 1.0 else tuple(x / norm for x in values[-4:])
    return values[:-4] + turn
