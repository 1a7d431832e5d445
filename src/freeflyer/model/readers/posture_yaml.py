"""Posture files: where each joint stands, in YAML; joints that are not named stay at neutral.

knee: 0.4                                  # rad or m: joints with one coordinate
wrist: [0.1, -0.2]                         # joints with several: all of them, in the order of the conventions
shoulder: [0, 0, 0.6, 0.8]                 # a spherical joint: unit quaternion x, y, z, w
root_joint: [0, 0, 1.2, 0, 0, 0, 1]        # a free joint: position (m), then unit quaternion
root_joint: {position: [0, 0, 1.2], rpy: [0, 1.5708, 0]}   # or roll, pitch, yaw (rad); either part may be absent"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.errors import FileError, format_value, unknown_name
from freeflyer.kernels.entry import UNIT_TOLERANCE
from freeflyer.model.readers.loops_yaml import parse_yaml
from freeflyer.model.readers.safe_file import numbers, read_bytes
from freeflyer.spatial import quaternion

if TYPE_CHECKING:
    from freeflyer.model.model import JointInfo, Model

MAX_BYTES = 2**20
PARTS = ("position", "rpy")


def read_posture(path: str | os.PathLike[str], model: Model) -> np.ndarray:
    """q (nq,) of a posture file for this model.

    Errors: FileError for what is no such file (too large, deep, aliased, keys twice, not numbers, not finite), for joints that do
    not exist or have no coordinates of their own, and for quaternions that are not of unit length."""
    where = f"posture file {Path(path).name!r}" if isinstance(path, str | os.PathLike) else "the posture file"
    content = parse_yaml(read_bytes(path, "posture file", MAX_BYTES), where)
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
