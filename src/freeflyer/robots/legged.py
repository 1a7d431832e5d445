"""Legged robots: a quadruped of 12 joints, about the size of a large dog, hopping legs, and postures in which robots stand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model import (
    ROOT_JOINT, WORLD, Description, Inertia, Joint, Keyframe, Link, Model, Site, build, join, number, positive, public,
)
from freeflyer.robots._parts import AXES, Motor, box, capsule, cylinder, ellipsoid, floating_joint, hinge, translation
from freeflyer.robots.humanoid import ANKLE, SHANK as HUMANOID_SHANK, THIGH as HUMANOID_THIGH

HIP_X, HIP_Y = 0.30, 0.11  # where the hip roll axes are, from the trunk's middle (m)
OUT, THIGH, SHANK = 0.09, 0.28, 0.28  # lengths of a leg's links (m)
FOOT_RADIUS = 0.025
HIP_ROLL = Motor(-0.6, 0.9, 12.0, 50.0, 0.04)  # of a left leg
HIP_PITCH = Motor(-2.0, 2.0, 12.0, 50.0, 0.04)
KNEE = Motor(-2.7, 2.7, 12.0, 75.0, 0.06)


def quadruped() -> Model:
    """Model of a quadruped: 12 actuated joints on a floating trunk (nv = 18), 31.6 kg.

    Legs are front_left, front_right, rear_left, rear_right, each with joints hip_roll, hip_pitch, knee and a site `<leg>_foot` at
    its tip, where it touches the ground. The trunk's frame is midway between the hips, x forward, z up."""
    trunk = join(box(16.0, (0.62, 0.22, 0.14)), ellipsoid(1.5, (0.07, 0.06, 0.05), (0.36, 0.0, 0.03)))
    links, sites = [Link("trunk", trunk)], [Site("imu", "trunk"), Site("camera", "trunk", translation(x=0.43, z=0.03))]
    joints = [floating_joint("trunk")]
    for end, x in (("front", HIP_X), ("rear", -HIP_X)):
        for side, s in (("left", 1.0), ("right", -1.0)):
            leg_links, leg_joints, foot = _leg(f"{end}_{side}", x, s)
            links += leg_links
            joints += leg_joints
            sites.append(foot)
    actuated = tuple(j.name for j in joints[1:])
    return build(Description("quadruped", tuple(links), tuple(joints), tuple(sites), actuated=actuated))


def _leg(leg: str, x: float, s: float) -> tuple[list[Link], list[Joint], Site]:
    """One leg at distance x in front of the trunk's middle; s is +1 on the left, -1 on the right."""
    hip = cylinder(1.6, 0.05, (0.0, -0.01 * s, 0.0), (0.0, 0.07 * s, 0.0))
    knee_motor = cylinder(0.5, 0.045, (0.0, 0.0, 0.0), (0.0, 0.04 * s, 0.0))
    thigh = join(capsule(1.1, 0.03, (0.0, 0.0, 0.0), (0.0, 0.0, -THIGH)), knee_motor)
    ball = ellipsoid(0.075, (FOOT_RADIUS,) * 3, (0.0, 0.0, FOOT_RADIUS - SHANK))
    shank = join(capsule(0.25, 0.015, (0.0, 0.0, 0.0), (0.0, 0.0, FOOT_RADIUS - SHANK)), ball)
    links = [Link(f"{leg}_hip", hip), Link(f"{leg}_thigh", thigh), Link(f"{leg}_shank", shank)]
    roll = HIP_ROLL if s > 0 else HIP_ROLL.mirrored()
    joints = [
        hinge(f"{leg}_hip_roll", "trunk", links[0].name, translation(x, HIP_Y * s), AXES["roll"], roll),
        hinge(f"{leg}_hip_pitch", links[0].name, links[1].name, translation(y=OUT * s), AXES["pitch"], HIP_PITCH),
        hinge(f"{leg}_knee", links[1].name, links[2].name, translation(z=-THIGH), AXES["pitch"], KNEE)]
    return links, joints, Site(f"{leg}_foot", links[2].name, translation(z=-SHANK))


NORMAL = np.array([0.0, -1.0, 0.0])  # of the plane whose first axis is the world's x, and whose second is its z
ALONG = np.array([1.0, 0.0, 0.0])
TRUNK, FOOT, LEG_START = 0.957, 0.050, 0.114  # tables 4.5 and 4.7
THIGH_TRUNK, HOPPER_THIGH, HOPPER_SHANK, LENGTH = 0.835, 0.122, 0.050, 0.12  # tables 4.9 and 4.10
KNEE_START, PITCH_START = 1.7802, -2.5174  # table 4.13
HEIGHT, GRAVITY = 0.3, 9.8  # tables 4.7 and 4.13; m/s^2 of the energy of table 4.8


def prismatic_hopper(*, trunk: float = TRUNK, foot: float = FOOT, gravity: float = GRAVITY) -> Model:
    """Model of a hopping leg in the plane: a trunk and a foot, both point masses, and a prismatic joint between them, nv = 4.

    Joint `root_joint` is planar, q[:3] = (x, z, angle) and v[:3] their rates in the world; at angle 0 the leg points along x, and
    the angle turns x towards z. These are o_ib and theta_ib of the thesis, where v_b is the velocity of o_ib in the trunk's axes.
    Joint `leg` moves the link `foot`, whose frame is site `foot_point`, along the trunk's x. q[3] is the leg's length, and the
    mass matrix is singular at length 0. Keyframe `start` is table 4.7. Joints have no limits.

    Source: M. Feurstein, "Formulation of Decoupled Dynamics for Efficient Control of Floating Base Robots", thesis, TU Munich,
    2021, tables 4.4, 4.5 and 4.7.

    Args:
        trunk, foot: Masses, kg.
        gravity: Along -z, m/s^2."""
    links = (_point("trunk", trunk), _point("foot", foot))
    leg = Joint("leg", "prismatic", "trunk", "foot", axis=ALONG)
    start = (("root_joint", (0.0, HEIGHT, -np.pi / 2.0)), ("leg", (LEG_START,)))
    return _hopper("prismatic_hopper", links, (leg,), Site("foot_point", "foot"), start, gravity)


def revolute_hopper(*, trunk: float = THIGH_TRUNK, thigh: float = HOPPER_THIGH, shank: float = HOPPER_SHANK,
                    length: float = LENGTH, gravity: float = GRAVITY) -> Model:
    """Model of a hopping leg in the plane: a trunk on a thigh, a knee and a shank, all point masses, nv = 4.

    Joint `root_joint` is planar, q[:3] = (x, z, angle) and v[:3] their rates in the world, of the thigh's upper end: at angle 0
    the thigh points along x, and the angle turns x towards z. Joint `knee`, q[3], turns the same way. The links `trunk` and
    `thigh` are welded, base b of the thesis; site `foot_point` is the shank's lower end. Keyframe `start` is that of experiments
    I to IV. Joints have no limits.

    Source: as `prismatic_hopper`, tables 4.9, 4.10 and 4.13.

    Args:
        trunk: Mass at the upper end of the thigh, kg.
        thigh, shank: Masses in the middle of each, kg.
        length: Length of the thigh and of the shank, m.
        gravity: Along -z, m/s^2."""
    length = positive("length", length)
    links = (_point("trunk", trunk), _point("thigh", thigh, length / 2.0), _point("shank", shank, length / 2.0))
    hip = Joint("hip", "fixed", "trunk", "thigh")
    knee = Joint("knee", "revolute", "thigh", "shank", translation(x=length), NORMAL)
    start = (("root_joint", (0.0, HEIGHT, PITCH_START)), ("knee", (KNEE_START,)))
    foot = Site("foot_point", "shank", translation(x=length))
    return _hopper("revolute_hopper", links, (hip, knee), foot, start, gravity)


def _point(link: str, mass: float, along: float = 0.0) -> Link:
    return Link(link, Inertia(positive(link, mass), np.array([along, 0.0, 0.0])))


def _hopper(name: str, links: tuple[Link, ...], joints: tuple[Joint, ...], foot: Site,
            start: Sequence[tuple[str, tuple[float, ...]]], gravity: float) -> Model:
    base = Joint(ROOT_JOINT, "planar", WORLD, links[0].name, axis=NORMAL)
    return build(Description(name, links, (base, *joints), (foot,), actuated=(joints[-1].name,),
        keyframes=(Keyframe("start", tuple(start)),), gravity=(0.0, 0.0, -positive("gravity", gravity))))


LARGEST = 2.4  # rad; every knee can bend so far


@public
def standing_posture(model: Model, knee: float = 0.6) -> np.ndarray:
    """Configuration in which the humanoid or the quadruped stands upright above the world's origin, its feet on the ground.

    Args:
        model: Model of robots.humanoid or robots.quadruped.
        knee: Angle of the knees, rad, 0 to 2.4: at 0 the legs are straight, which is a singular posture.
    Returns: (nq,) array; soles or feet are flat at height 0, below the hips; the humanoid's elbows are bent half a radian."""
    knee = number("knee", knee, 0.0, LARGEST)
    leg = _humanoid(knee) if "left_ankle_pitch" in model.joint_names else _quadruped(knee)
    missing = [name for name in (ROOT_JOINT, *leg[1]) if name not in model.joint_names]
    if missing:
        raise InputError(f"{model.name!r} is neither the humanoid nor the quadruped of freeflyer.robots: it has no joint "
            f"{missing[0]!r}.", missing=missing)
    height, angles = leg
    q = model.neutral.copy()
    q[model.joint(ROOT_JOINT).iq + 2] = height
    for name, angle in angles.items():
        q[model.joint(name).iq] = angle
    return q


def _humanoid(knee: float) -> tuple[float, dict[str, float]]:
    """Base height and joint angles; thigh and shank are equally long, so hip and ankle share the knee's angle."""
    height = ANKLE + (HUMANOID_THIGH + HUMANOID_SHANK) * math.cos(knee / 2.0)
    turns = {"hip_pitch": -knee / 2.0, "knee": knee, "ankle_pitch": -knee / 2.0, "elbow": -0.5}
    return height, {f"{side}_{name}": angle for side in ("left", "right") for name, angle in turns.items()}


def _quadruped(knee: float) -> tuple[float, dict[str, float]]:
    """Base height and joint angles; front knees point back, rear knees forward."""
    height = (THIGH + SHANK) * math.cos(knee / 2.0)
    angles: dict[str, float] = {}
    for end, s in (("front", 1.0), ("rear", -1.0)):
        for side in ("left", "right"):
            angles |= {f"{end}_{side}_hip_pitch": s * knee / 2.0, f"{end}_{side}_knee": -s * knee}
    return height, angles
