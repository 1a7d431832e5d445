"""Flying manipulators: a multirotor with an arm below it, and a satellite with an arm."""

from __future__ import annotations

import math

from freeflyer.model.build import build
from freeflyer.model.description import Description, Inertia, Link, Site
from freeflyer.model.inputs import choice
from freeflyer.model.model import Model
from freeflyer.model.rigid_bodies import join
from freeflyer.robots._parts import arm_segments, box, capsule, cylinder, floating_joint, serial_arm, translation

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
    hubs = [_hub(i, rotors) for i in range(rotors)]
    below = translation(z=-0.08)
    below[1, 1] = below[2, 2] = -1.0  # the arm's z points down
    arm_links, arm_joints, arm_sites = serial_arm("body", below, arm_segments(arm, 0.60, 0.90, 4.0))
    sites = (
        *(Site(f"rotor_{i}", "body", translation(*hub)) for i, hub in enumerate(hubs, start=1)),
        Site("imu", "body"), Site("arm_mount", "body", below), *arm_sites)
    return build(Description("aerial_manipulator", (Link("body", _body(hubs)), *arm_links), (floating_joint("body"), *arm_joints),
        sites, actuated=tuple(j.name for j in arm_joints)))


def _hub(i: int, rotors: int) -> tuple[float, float, float]:
    angle = 2.0 * math.pi * (i + 0.5) / rotors
    return ROTOR_CIRCLE * math.cos(angle), ROTOR_CIRCLE * math.sin(angle), ROTOR_HEIGHT


def _body(hubs: list[tuple[float, float, float]]) -> Inertia:
    """Electronics, battery, and for every rotor a boom, a motor and a propeller."""
    core = [box(1.4, (0.26, 0.20, 0.08)), box(1.0, (0.18, 0.10, 0.05), (0.0, 0.0, -0.05))]
    for x, y, z in hubs:
        core += [capsule(0.12, 0.012, (0.2 * x, 0.2 * y, 0.0), (x, y, 0.0)), cylinder(0.14, 0.02, (x, y, 0.0), (x, y, z))]
    return join(*core)


BODY_SIZE, BODY_MASS = (1.2, 1.0, 1.0), 400.0
PANEL_SIZE, PANEL_MASS = (1.0, 2.4, 0.04), 18.0
GAP = 0.2  # between body and panel (m)
ARM = arm_segments(7, 2.2, 45.0, 80.0)


def space_manipulator() -> Model:
    """Model of a satellite with two solar panels and an arm of seven joints in zero gravity: nv = 13, 481 kg.

    Link `satellite` (frame in the middle of its body) floats, and panels stretch out along y. The arm grows from its front
    face along z of site `arm_mount`, which is x of the satellite. Only the arm is actuated."""
    front = translation(x=BODY_SIZE[0] / 2.0)
    front[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]  # z turned to x
    arm_links, arm_joints, arm_sites = serial_arm("satellite", front, ARM)
    tips = {side: s * (BODY_SIZE[1] / 2.0 + GAP + PANEL_SIZE[1]) for side, s in (("left", 1.0), ("right", -1.0))}
    sites = (Site("arm_mount", "satellite", front),
        *(Site(f"{side}_panel_tip", "satellite", translation(y=y)) for side, y in tips.items()), *arm_sites)
    middle = BODY_SIZE[1] / 2.0 + GAP + PANEL_SIZE[1] / 2.0
    body = join(box(BODY_MASS, BODY_SIZE), *(box(PANEL_MASS, PANEL_SIZE, (0.0, s * middle, 0.0)) for s in (1.0, -1.0)))
    links, joints = (Link("satellite", body), *arm_links), (floating_joint("satellite"), *arm_joints)
    return build(Description("space_manipulator", links, joints, sites, actuated=tuple(j.name for j in arm_joints),
        gravity=(0.0, 0.0, 0.0)))
