"""States that a file holds beside the robot: its named postures, and the order of MuJoCo's joints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from freeflyer.model.frozen import Record

SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}  # MuJoCo's joints: nq, nv


@dataclass(frozen=True)
class Keyframe(Record):
    """Named posture of a file: positions of some joints; those that it does not name stand where the file draws them.

    Args:
        positions: (joint, position), the position (nq of the joint,) laid out as in a configuration; m, rad."""

    name: str
    positions: tuple[tuple[str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True)
class MujocoJoint(Record):
    """A joint of an MJCF file, in the order of qpos: its name, MuJoCo's `kind` (free, ball, slide, hinge), the body that it moves,
    and where it stands in robots that lack it: `position` in our order (position, then quaternion x, y, z, w)."""

    name: str
    kind: str
    body: str
    position: tuple[float, ...]

    @property
    def nq(self) -> int:
        return SIZES[self.kind][0]


def without_joints(keyframes: tuple[Keyframe, ...], names: Collection[str]) -> tuple[Keyframe, ...]:
    return tuple(replace(k, positions=tuple(p for p in k.positions if p[0] not in names)) for k in keyframes)


def place_joints(joints: tuple[MujocoJoint, ...], positions: Mapping[str, tuple[float, ...]]) -> tuple[MujocoJoint, ...]:
    return tuple(replace(j, position=positions[j.name]) if j.name in positions else j for j in joints)
