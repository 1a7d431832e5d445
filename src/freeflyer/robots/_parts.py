"""Parts of several robots: checked arguments, inertias of homogeneous solids (m, kg), motors, arms given by segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.model import ROOT_JOINT, WORLD, Inertia, Joint, Link, Site, pose_at


def box(mass: float, size: Sequence[float], center: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    xx, yy, zz = np.square(size)
    return Inertia(mass, np.array(center, float), mass / 12.0 * np.diag([yy + zz, xx + zz, xx + yy]))


def ellipsoid(mass: float, semi_axes: Sequence[float], center: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    xx, yy, zz = np.square(semi_axes)
    return Inertia(mass, np.array(center, float), mass / 5.0 * np.diag([yy + zz, xx + zz, xx + yy]))


def cylinder(mass: float, radius: float, start: Sequence[float], end: Sequence[float]) -> Inertia:
    length = float(np.linalg.norm(np.subtract(end, start)))
    along, across = mass * radius**2 / 2.0, mass * (3.0 * radius**2 + length**2) / 12.0
    return _round(mass, start, end, along, across)


def capsule(mass: float, radius: float, start: Sequence[float], end: Sequence[float]) -> Inertia:
    """A cylinder from `start` to `end` with a half ball on both ends: the shape of limbs. A ball where start = end."""
    length = float(np.linalg.norm(np.subtract(end, start)))
    ball = mass * (4.0 * radius) / (4.0 * radius + 3.0 * length)  # volumes: 4/3 pi r^3 and pi r^2 l
    tube = mass - ball
    along = tube * radius**2 / 2.0 + ball * 0.4 * radius**2
    across = tube * (3.0 * radius**2 + length**2) / 12.0
    # half a ball about its own centre of mass, then moved out to l/2 + 3/8 r from the middle
    across += ball * (83.0 / 320.0 * radius**2 + (length / 2.0 + 0.375 * radius) ** 2)
    return _round(mass, start, end, along, across)


def _round(mass: float, start: Sequence[float], end: Sequence[float], along: float, across: float) -> Inertia:
    """A body of revolution about the line from start to end."""
    a, b = np.array(start, float), np.array(end, float)
    length = np.linalg.norm(b - a)
    line = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    return Inertia(mass, (a + b) / 2.0, across * np.eye(3) + (along - across) * np.outer(line, line))


AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}


def translation(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return pose_at((x, y, z))


def sole_sites(name: str, foot: str, height: float, toe: float, heel: float, half_width: float) -> tuple[Site, ...]:
    corners = [(f"{end}_{edge}", x, y) for end, x in (("front", toe), ("rear", -heel))
        for edge, y in (("left", half_width), ("right", -half_width))]
    return (Site(name, foot, translation(z=-height)),
        *(Site(f"{name}_{corner}", foot, translation(x, y, -height)) for corner, x, y in corners))


def floating_joint(link: str) -> Joint:
    return Joint(ROOT_JOINT, "free", WORLD, link)


@dataclass(frozen=True)
class Motor:
    """Limits of a driven joint: position (rad, m), speed (rad/s, m/s), effort (Nm, N); the rotor inertia at it (kg m^2, kg)."""

    lower: float
    upper: float
    velocity: float
    effort: float
    armature: float

    def mirrored(self) -> Motor:
        """The same motor on the other side of the body, where positive turns are negative ones."""
        return Motor(-self.upper, -self.lower, self.velocity, self.effort, self.armature)


def hinge(name: str, parent: str, child: str, placement: np.ndarray, axis: Sequence[float] | np.ndarray, motor: Motor) -> Joint:
    """A revolute joint driven by `motor`."""
    return Joint(name, "revolute", parent, child, placement, np.array(axis, float), lower=(motor.lower,), upper=(motor.upper,),
        velocity=(motor.velocity,), effort=(motor.effort,), armature=(motor.armature,))


TURNS = {  # how the joints of an arm turn, from the mount to the tool
    3: ("yaw", "pitch", "pitch"),
    4: ("yaw", "pitch", "pitch", "pitch"),
    6: ("yaw", "pitch", "pitch", "yaw", "pitch", "yaw"),
    7: ("yaw", "pitch", "yaw", "pitch", "yaw", "pitch", "yaw")}
LENGTHS = {  # of each segment, as parts of the arm's length
    3: (0.10, 0.45, 0.45),
    4: (0.10, 0.40, 0.35, 0.15),
    6: (0.14, 0.36, 0.14, 0.18, 0.08, 0.10),
    7: (0.14, 0.18, 0.18, 0.16, 0.16, 0.08, 0.10)}


def serial_arm(parent: str, placement: np.ndarray, dof: int, length: float, mass: float,
               effort: float) -> tuple[tuple[Link, ...], tuple[Joint, ...], tuple[Site, ...]]:
    """Links, joints and sites of an arm on `parent`: `arm_joint_1`, `arm_link_1`, ... and the site `end_effector`.

    It has 3, 4, 6 or 7 joints, is `length` (m) long when straight, along z, and weighs `mass` (kg); `effort` (Nm): of its first
    motor. Tubes between the joints get thinner, lighter per metre and weaker towards the tool."""
    taper = [1.0 - 0.7 * i / (dof - 1) for i in range(dof)]  # 1 at the mount, 0.3 at the tool
    total = sum(part * t for part, t in zip(LENGTHS[dof], taper))
    links, joints = [], []
    for i, (turn, part, t) in enumerate(zip(TURNS[dof], LENGTHS[dof], taper), start=1):
        motor = Motor(-2.9, 2.9, 2.5 / t, effort * t**2, 0.004 * effort * t**2)
        tube = capsule(mass * part * t / total, 0.06 * length * t, (0.0, 0.0, 0.0), (0.0, 0.0, length * part))
        links.append(Link(f"arm_link_{i}", tube))
        joints.append(hinge(f"arm_joint_{i}", parent, links[-1].name, placement, AXES[turn], motor))
        parent, placement = links[-1].name, translation(z=length * part)
    return tuple(links), tuple(joints), (Site("end_effector", parent, placement),)
