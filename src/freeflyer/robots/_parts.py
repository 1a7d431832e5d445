"""Pieces that several robots are made of: poses, motors with their numbers, arms given segment by segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.model.description import ROOT_JOINT, WORLD, Inertia, Joint, Link, Site
from freeflyer.robots._solids import capsule

AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}




def translation(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """A pose (4, 4) that shifts and does not turn."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def floating_joint(link: str) -> Joint:
    """The joint by which a robot's root link flies free."""
    return Joint(ROOT_JOINT, "free", WORLD, link)


@dataclass(frozen=True)
class Motor:
    """Limits of a revolute joint: position (rad), speed (rad/s), effort (Nm); the rotor inertia at it (kg m^2)."""

    lower: float
    upper: float
    velocity: float
    effort: float
    armature: float

    def mirrored(self) -> Motor:
        """The same motor on the other side of the body, where positive turns are negative ones."""
        return Motor(-self.upper, -self.lower, self.velocity, self.effort, self.armature)


def hinge(
    name: str, parent: str, child: str, placement: np.ndarray, axis: Sequence[float], motor: Motor | None
) -> Joint:
    """A revolute joint driven by `motor`, or a fixed joint where there is none."""
    if motor is None:
        return Joint(name, "fixed", parent, child, placement)
    return Joint(
        name, "revolute", parent, child, placement, np.array(axis, float),
        lower=(motor.lower,), upper=(motor.upper,), velocity=(motor.velocity,), effort=(motor.effort,),
        armature=(motor.armature,),
    )  # fmt: skip


@dataclass(frozen=True)
class Segment:
    """One joint of an arm and the tube it carries: `length` along the arm's z axis, then the next joint."""

    turn: str  # roll, pitch or yaw, in the arm's axes
    length: float
    mass: float
    motor: Motor
    radius: float = 0.05

    @property
    def inertia(self) -> Inertia:
        return capsule(self.mass, self.radius, (0.0, 0.0, 0.0), (0.0, 0.0, self.length))


def serial_arm(
    parent: str, placement: np.ndarray, segments: Sequence[Segment]
) -> tuple[tuple[Link, ...], tuple[Joint, ...], tuple[Site, ...]]:
    """Links, joints and sites of an arm on `parent`: `arm_joint_1`, `arm_link_1`, ... and the site `end_effector`."""
    links, joints = [], []
    for i, segment in enumerate(segments, start=1):
        link = Link(f"arm_link_{i}", segment.inertia)
        joints.append(hinge(f"arm_joint_{i}", parent, link.name, placement, AXES[segment.turn], segment.motor))
        links.append(link)
        parent, placement = link.name, translation(z=segment.length)
    return tuple(links), tuple(joints), (Site("end_effector", parent, placement),)
