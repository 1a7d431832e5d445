"""Manipulators on moving bases: a platform in the plane, a multirotor, a satellite."""

from __future__ import annotations

import math

import numpy as np

from freeflyer.model import ROOT_JOINT, WORLD, Description, Inertia, Joint, Link, Model, Site, build, choice, join
from freeflyer.robots._parts import box, capsule, cylinder, floating_joint, serial_arm, translation

BASE_SIZE, BASE_MASS = (0.70, 0.50, 0.24), 45.0
WHEEL_RADIUS, WHEEL_WIDTH, WHEEL_MASS = 0.10, 0.05, 1.8
TRACK = 0.56  # between the middles of the two driven wheels (m)
WHEEL_BASE = 0.50  # between the axles of the holonomic base (m)
MOUNT = translation(x=0.15, z=0.34)  # of the arm, in the base
ARM = (6, 1.10, 18.0, 150.0)  # joints, length (m), mass (kg), effort of the first motor (Nm)


def holonomic_manipulator() -> Model:
    """Model of a base on four omnidirectional wheels with an arm of six: 9 velocities, all actuated, 70.2 kg.

    Joint `root_joint` is planar: q[:3] = (x, y, yaw), v[:3] their rates in world axes. Wheels are part of the base's mass."""
    wheels = [_wheel(x, y) for x in (-WHEEL_BASE / 2, WHEEL_BASE / 2) for y in (-TRACK / 2, TRACK / 2)]
    return _manipulator("holonomic_manipulator", join(_platform(), *wheels), (600.0, 600.0, 200.0))


def differential_drive_manipulator(rolling_wheels: bool = False) -> Model:
    """Model of a base on two driven wheels (and a caster) with an arm of six: 8 degrees of freedom, 66.6 kg.

    The model has the 9 coordinates (x, y, yaw) of joint `root_joint` and those of the arm. Equation (64) of the dual quaternion
    paper, (-sin yaw, cos yaw, 0) v[:3] = 0, keeps the wheels from slipping sideways. It is no part of the model, but a
    nonholonomic constraint added to the equations of motion, so 9 - 1 = 8. The drive acts on the base's coordinates.

    Args:
        rolling_wheels: Whether the wheels turn, by joints left_wheel and right_wheel: 11 velocities, and two more constraints of
            that sort, radius * wheel rate = forward speed -+ track / 2 * yaw rate."""
    sides = {"left": TRACK / 2, "right": -TRACK / 2}
    contacts = tuple(Site(f"{side}_wheel_contact", "platform", translation(y=y)) for side, y in sides.items())
    name = "differential_drive_manipulator"
    if not rolling_wheels:
        wheels = [_wheel(0.0, y) for y in sides.values()]
        return _manipulator(name, join(_platform(), *wheels), (600.0, 600.0, 200.0), sites=contacts)
    links = tuple(Link(f"{side}_wheel_link", _wheel(0.0, 0.0, height=0.0)) for side in sides)
    joints = tuple(Joint(f"{side}_wheel", "continuous", "platform", f"{side}_wheel_link", translation(y=y, z=WHEEL_RADIUS),
        np.array([0.0, 1.0, 0.0]), velocity=(20.0,), effort=(30.0,), armature=(0.02,)) for side, y in sides.items())
    return _manipulator(name, _platform(), None, links, joints, contacts)


def _manipulator(name: str, platform: Inertia, drive: tuple[float, ...] | None, links: tuple[Link, ...] = (),
                 joints: tuple[Joint, ...] = (), sites: tuple[Site, ...] = ()) -> Model:
    """Base, wheels if they turn, and the arm; `drive` is the base's effort (N, N, Nm), None if wheels drive it."""
    base = Joint(ROOT_JOINT, "planar", WORLD, "platform", velocity=(1.5, 1.5, 2.0), effort=drive or ())
    arm_links, arm_joints, arm_sites = serial_arm("platform", MOUNT, *ARM)
    joints = (base, *joints, *arm_joints)
    return build(Description(name, (Link("platform", platform), *links, *arm_links), joints, (*sites, *arm_sites),
        actuated=tuple(j.name for j in joints if j is not base or drive)))


def _platform() -> Inertia:
    """Box with the batteries low, and the arm's pedestal; its frame lies on the ground below the middle."""
    pedestal = cylinder(BASE_MASS * 0.08, 0.09, (0.15, 0.0, 0.28), (0.15, 0.0, 0.34))
    return join(box(BASE_MASS * 0.92, BASE_SIZE, (0.0, 0.0, 0.16)), pedestal)


def _wheel(x: float, y: float, height: float = WHEEL_RADIUS) -> Inertia:
    half = WHEEL_WIDTH / 2.0
    return cylinder(WHEEL_MASS, WHEEL_RADIUS, (x, y - half, height), (x, y + half, height))


ROTOR_CIRCLE, ROTOR_HEIGHT = 0.45, 0.06  # rotors above the body's frame (m)


def aerial_manipulator(rotors: int = 6, arm: int = 4) -> Model:
    """Model of a multirotor with an arm below it: nv = 6 + arm.

    Each site `rotor_1` ... `rotor_n` is a rotor's hub, whose thrust acts along the site's z. They are numbered counter-clockwise
    seen from above, the first half a step left of the nose; odd ones spin counter-clockwise. The arm hangs from site `arm_mount`,
    its tool is site `end_effector`. Only the arm's joints are actuated, because thrusts are external forces at the rotor sites.

    Args:
        rotors: 6, 4 or 8, number of rotors.
        arm: 4 or 3, number of joints of the arm.
    Returns: Model, 4.34, 4.86 or 5.38 kg with 4, 6 or 8 rotors."""
    choice("rotors", rotors, (4, 6, 8))
    choice("arm", arm, (3, 4))
    angles = [2.0 * math.pi * (i + 0.5) / rotors for i in range(rotors)]
    hubs = [(ROTOR_CIRCLE * math.cos(angle), ROTOR_CIRCLE * math.sin(angle), ROTOR_HEIGHT) for angle in angles]
    below = translation(z=-0.08)
    below[1, 1] = below[2, 2] = -1.0  # the arm's z points down
    arm_links, arm_joints, arm_sites = serial_arm("body", below, arm, 0.60, 0.90, 4.0)
    sites = (
        *(Site(f"rotor_{i}", "body", translation(*hub)) for i, hub in enumerate(hubs, start=1)),
        Site("imu", "body"), Site("arm_mount", "body", below), *arm_sites)
    return build(Description("aerial_manipulator", (Link("body", _body(hubs)), *arm_links), (floating_joint("body"), *arm_joints),
        sites, actuated=tuple(j.name for j in arm_joints)))


def _body(hubs: list[tuple[float, float, float]]) -> Inertia:
    """Electronics, battery, and for every rotor a boom, a motor and a propeller."""
    core = [box(1.4, (0.26, 0.20, 0.08)), box(1.0, (0.18, 0.10, 0.05), (0.0, 0.0, -0.05))]
    for x, y, z in hubs:
        core += [capsule(0.12, 0.012, (0.2 * x, 0.2 * y, 0.0), (x, y, 0.0)), cylinder(0.14, 0.02, (x, y, 0.0), (x, y, z))]
    return join(*core)


BODY_SIZE, BODY_MASS = (1.2, 1.0, 1.0), 400.0
PANEL_SIZE, PANEL_MASS = (1.0, 2.4, 0.04), 18.0
GAP = 0.2  # between body and panel (m)
SPACE_ARM = (7, 2.2, 45.0, 80.0)


def space_manipulator() -> Model:
    """Model of a satellite with two solar panels and an arm of seven joints in zero gravity: nv = 13, 481 kg.

    Link `satellite` (frame in the middle of its body) floats, and panels stretch out along y. The arm grows from its front
    face along z of site `arm_mount`, which is x of the satellite. Only the arm is actuated."""
    front = translation(x=BODY_SIZE[0] / 2.0)
    front[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]  # z turned to x
    arm_links, arm_joints, arm_sites = serial_arm("satellite", front, *SPACE_ARM)
    tips = {side: s * (BODY_SIZE[1] / 2.0 + GAP + PANEL_SIZE[1]) for side, s in (("left", 1.0), ("right", -1.0))}
    sites = (Site("arm_mount", "satellite", front),
        *(Site(f"{side}_panel_tip", "satellite", translation(y=y)) for side, y in tips.items()), *arm_sites)
    middle = BODY_SIZE[1] / 2.0 + GAP + PANEL_SIZE[1] / 2.0
    body = join(box(BODY_MASS, BODY_SIZE), *(box(PANEL_MASS, PANEL_SIZE, (0.0, s * middle, 0.0)) for s in (1.0, -1.0)))
    links, joints = (Link("satellite", body), *arm_links), (floating_joint("satellite"), *arm_joints)
    return build(Description("space_manipulator", links, joints, sites, actuated=tuple(j.name for j in arm_joints),
        gravity=(0.0, 0.0, 0.0)))
