"""A humanoid of 1.8 m and 100 kg with 20 to 45 actuated joints: one body, whose joints are motors or fixed."""

from __future__ import annotations

import numpy as np

from freeflyer.model import Description, Inertia, Joint, Link, Model, Site, build, join, whole_number
from freeflyer.robots._parts import AXES, Motor, box, capsule, cylinder, ellipsoid, floating_joint, hinge, sole_sites, translation

HIP_Y, THIGH, SHANK, ANKLE = 0.10, 0.42, 0.42, 0.09  # hip offset; lengths down to the ankle, ankle to ground (m)
TOE, HEEL, SOLE_HALF_WIDTH = 0.16, 0.09, 0.05  # the sole, from below the ankle
SHOULDER_Y, CLAVICLE, UPPER_ARM, FOREARM = 0.21, 0.14, 0.30, 0.27
FINGERS = {"thumb": 0.045, "index": 0.03, "middle": 0.01, "ring": -0.01, "little": -0.03}  # towards the front (m)

# limits of the left side; joints that turn about x or z are mirrored on the right
MOTORS = {
    "hip_yaw": Motor(-0.6, 1.0, 10.0, 150.0, 0.10),
    "hip_roll": Motor(-0.5, 0.9, 8.0, 250.0, 0.15),
    "hip_pitch": Motor(-2.1, 0.8, 10.0, 350.0, 0.25),
    "knee": Motor(-0.05, 2.5, 12.0, 400.0, 0.25),
    "ankle_pitch": Motor(-0.9, 0.8, 12.0, 250.0, 0.15),
    "ankle_roll": Motor(-0.5, 0.5, 10.0, 120.0, 0.06),
    "clavicle_yaw": Motor(-0.6, 0.8, 6.0, 100.0, 0.06),
    "shoulder_pitch": Motor(-3.0, 1.5, 8.0, 100.0, 0.06),
    "shoulder_roll": Motor(-0.3, 2.8, 8.0, 100.0, 0.06),
    "upper_arm_yaw": Motor(-1.6, 1.6, 8.0, 60.0, 0.03),
    "elbow": Motor(-2.4, 0.05, 10.0, 60.0, 0.03),
    "forearm_yaw": Motor(-2.0, 2.0, 10.0, 25.0, 0.01),
    "wrist_pitch": Motor(-1.0, 1.0, 10.0, 20.0, 0.008),
    "wrist_roll": Motor(-0.6, 0.6, 10.0, 20.0, 0.008),
    "finger": Motor(-0.2, 1.6, 10.0, 3.0, 0.0005)}


Part = tuple[Joint, Link, tuple[Site, ...]]  # a joint, the link that it carries, and sites of this link


def part(joint: str, parent: str, link: str, placement: np.ndarray, turn: str, motor: Motor, inertia: Inertia,
         sites: tuple[Site, ...] = ()) -> Part:
    return hinge(joint, parent, link, placement, AXES[turn], motor), Link(link, inertia), sites


def leg(side: str) -> list[Part]:
    """Six joints from the pelvis to the foot; hip axes meet, ankle axes meet."""
    s, thigh, shank, foot = _sign(side), f"{side}_thigh", f"{side}_shank", f"{side}_foot"
    yaw_link, roll_link, ankle_link = f"{side}_hip_yaw_link", f"{side}_hip_roll_link", f"{side}_ankle_link"
    hip = cylinder(1.5, 0.05, (0.0, 0.0, -0.04), (0.0, 0.0, 0.06))
    hip_cross = capsule(1.5, 0.05, (-0.04, 0.0, 0.0), (0.04, 0.0, 0.0))
    hip_motor, knee_motor = (cylinder(1.5, r, (0.0, -0.05, 0.0), (0.0, 0.05, 0.0)) for r in (0.06, 0.05))
    upper = join(capsule(6.0, 0.07, (0.0, 0.0, -0.05), (0.0, 0.0, -0.36)), hip_motor)
    lower = join(capsule(3.0, 0.05, (0.0, 0.0, -0.05), (0.0, 0.0, -0.38)), knee_motor)
    ankle = capsule(0.7, 0.03, (0.0, -0.02, 0.0), (0.0, 0.02, 0.0))
    sole = join(box(1.5, (TOE + HEEL, 2.0 * SOLE_HALF_WIDTH, 0.03), ((TOE - HEEL) / 2.0, 0.0, -ANKLE + 0.015)),
        box(0.5, (0.08, 0.07, 0.06), (0.0, 0.0, -0.03)))
    return [
        _part(side, "hip_yaw", "pelvis", yaw_link, translation(y=s * HIP_Y), "yaw", hip),
        _part(side, "hip_roll", yaw_link, roll_link, translation(), "roll", hip_cross),
        _part(side, "hip_pitch", roll_link, thigh, translation(), "pitch", upper),
        _part(side, "knee", thigh, shank, translation(z=-THIGH), "pitch", lower),
        _part(side, "ankle_pitch", shank, ankle_link, translation(z=-SHANK), "pitch", ankle),
        _part(side, "ankle_roll", ankle_link, foot, translation(), "roll", sole,
              sole_sites(f"{side}_sole", foot, ANKLE, TOE, HEEL, SOLE_HALF_WIDTH))]


def arm(side: str) -> list[Part]:
    """Eight joints from the chest to the hand and one for each finger; the arm hangs when they are zero."""
    s, hand = _sign(side), f"{side}_hand"
    clavicle, pitch_link, roll_link = f"{side}_clavicle", f"{side}_shoulder_pitch_link", f"{side}_shoulder_roll_link"
    upper_arm, elbow_link = f"{side}_upper_arm", f"{side}_elbow_link"
    forearm, wrist = f"{side}_forearm", f"{side}_wrist_link"
    palm = join(box(0.3, (0.07, 0.03, 0.08), (0.0, 0.0, -0.05)), cylinder(0.1, 0.025, (0, 0, 0), (0, 0, -0.02)))
    bone = capsule(1.2, 0.035, (0.0, 0.0, 0.0), (0.0, s * CLAVICLE, 0.0))
    shoulder = capsule(0.8, 0.045, (0.0, 0.0, 0.0), (0.0, s * 0.03, 0.0))
    shoulder_cross = capsule(0.8, 0.045, (-0.02, 0.0, 0.0), (0.02, 0.0, 0.0))
    upper = capsule(2.4, 0.045, (0.0, 0.0, -0.04), (0.0, 0.0, -0.26))
    elbow = capsule(1.2, 0.04, (0.0, -0.02, 0.0), (0.0, 0.02, 0.0))
    lower = capsule(0.8, 0.035, (0.0, 0.0, -0.06), (0.0, 0.0, -0.24))
    grip = translation(z=-0.09)
    return [
        _part(side, "clavicle_yaw", "chest", clavicle, translation(y=s * (SHOULDER_Y - CLAVICLE), z=0.22), "yaw", bone),
        _part(side, "shoulder_pitch", clavicle, pitch_link, translation(y=s * CLAVICLE), "pitch", shoulder),
        _part(side, "shoulder_roll", pitch_link, roll_link, translation(), "roll", shoulder_cross),
        _part(side, "upper_arm_yaw", roll_link, upper_arm, translation(), "yaw", upper),
        _part(side, "elbow", upper_arm, elbow_link, translation(z=-UPPER_ARM), "pitch", elbow),
        _part(side, "forearm_yaw", elbow_link, forearm, translation(), "yaw", lower),
        _part(side, "wrist_pitch", forearm, wrist, translation(z=-FOREARM), "pitch", ellipsoid(0.3, (0.03, 0.03, 0.03))),
        _part(side, "wrist_roll", wrist, hand, translation(), "roll", palm, (Site(f"{side}_palm", hand, grip),)),
        *(_finger(side, name, x) for name, x in FINGERS.items())]


def _finger(side: str, name: str, x: float) -> Part:
    """A finger that closes towards the body's middle; the thumb starts higher on the hand."""
    length, z = (0.05, -0.03) if name == "thumb" else (0.07, -0.09)
    solid = capsule(0.06, 0.008, (0.0, 0.0, 0.0), (0.0, 0.0, -length))
    motor = MOTORS["finger"] if side == "right" else MOTORS["finger"].mirrored()
    return part(f"{side}_{name}", f"{side}_hand", f"{side}_{name}_link", translation(x, 0.0, z), "roll", motor, solid)


def _part(side: str, name: str, parent: str, link: str, placement: np.ndarray, turn: str, inertia: Inertia,
          sites: tuple[Site, ...] = ()) -> Part:
    motor = MOTORS[name] if side == "left" or turn == "pitch" else MOTORS[name].mirrored()
    return part(f"{side}_{name}", parent, link, placement, turn, motor, inertia, sites)


def _sign(side: str) -> float:
    return 1.0 if side == "left" else -1.0


SIDES = ("left", "right")
LOWEST, HIGHEST = 20, 45
CORE = (
    "hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll",
    "shoulder_pitch", "shoulder_roll", "upper_arm_yaw", "elbow")
SINGLES = ("waist_yaw", "waist_pitch", "waist_roll", "neck_yaw", "neck_pitch", "neck_roll", "chest_pitch")
PAIRS = ("clavicle_yaw", "forearm_yaw", "wrist_pitch", "wrist_roll", "thumb", "index", "middle", "ring", "little")


def moving_joints(dof: int) -> frozenset[str]:
    """Names of the `dof` joints that move, e.g. "left_knee" and "waist_yaw"; all others of the robot are fixed."""
    dof = whole_number("dof", dof, LOWEST, HIGHEST)
    if dof <= 33:
        singles, pairs = _share(dof - 20, 5)
    else:
        singles, pairs = _share(dof - 33, 2)
        singles, pairs = singles + 5, pairs + 4
    both = CORE + PAIRS[:pairs]
    return frozenset(SINGLES[:singles]) | {f"{side}_{name}" for side in SIDES for name in both}


def _share(count: int, singles: int) -> tuple[int, int]:
    """Splits `count` joints into singles, of which there are `singles`, and pairs beyond them."""
    if count <= singles:
        return count, 0
    pairs = (count - singles + 1) // 2
    return count - 2 * pairs, pairs


NECK_YAW = Motor(-1.4, 1.4, 8.0, 20.0, 0.01)
NECK_ROLL = Motor(-0.5, 0.5, 8.0, 20.0, 0.01)
NECK_PITCH = Motor(-0.7, 0.9, 8.0, 20.0, 0.01)
WAIST_YAW = Motor(-1.2, 1.2, 8.0, 200.0, 0.12)
WAIST_PITCH = Motor(-0.5, 1.2, 6.0, 300.0, 0.20)
WAIST_ROLL = Motor(-0.5, 0.5, 6.0, 300.0, 0.20)
CHEST_PITCH = Motor(-0.3, 0.5, 6.0, 250.0, 0.15)


def humanoid(dof: int = 33) -> Model:
    """Model of a humanoid of 1.8 m and 100 kg on a floating base: nv = dof + 6.

    The pelvis frame lies between the hips, 0.93 m above the soles when all joints are zero; x is forward, y left, z up. Each foot
    has the site `left_sole` (on the ground below the ankle) and four corners `left_sole_front_left`, `..._front_right`,
    `..._rear_left`, `..._rear_right`; other sites are `left_palm`, `camera`, `imu`, and the same on the right.

    Args:
        dof: Number of actuated joints, 20 to 45; the others of the body are fixed at zero: freeflyer.robots.humanoid."""
    moving = moving_joints(dof)
    parts = [*leg("left"), *leg("right"), *_trunk(), *arm("left"), *arm("right")]
    pelvis = join(box(8.0, (0.16, 0.24, 0.14), (0.0, 0.0, 0.05)), capsule(3.0, 0.06, (0, -0.10, 0), (0, 0.10, 0)))
    links = (Link("pelvis", pelvis), *(link for _, link, _ in parts))
    joints = tuple(j if j.name in moving else Joint(j.name, "fixed", j.parent, j.child, j.placement) for j, _, _ in parts)
    sites: tuple[Site, ...] = (Site("imu", "pelvis", translation(z=0.05)), Site("camera", "head", translation(x=0.10, z=0.12)))
    sites += tuple(site for *_, own in parts for site in own)
    actuated = tuple(j.name for j in joints if j.kind != "fixed")
    return build(Description(f"humanoid_{dof}", links, (floating_joint("pelvis"), *joints), sites, actuated=actuated))


def _trunk() -> list[Part]:
    """Waist, chest, neck and head, bottom up. The chest's frame is 1.23 m, the head's 1.59 m above the ground."""
    motor = capsule(2.0, 0.06, (0.0, -0.04, 0.0), (0.0, 0.04, 0.0))
    abdomen = box(10.0, (0.20, 0.30, 0.18), (0.0, 0.0, 0.09))
    collar = capsule(3.0, 0.06, (0.0, -0.11, 0.22), (0.0, 0.11, 0.22))
    chest = join(box(15.6, (0.22, 0.34, 0.22), (0.0, 0.0, 0.12)), collar)
    neck = capsule(0.6, 0.04, (0.0, 0.0, 0.0), (0.0, 0.0, 0.06))
    head = ellipsoid(3.6, (0.10, 0.08, 0.11), (0.0, 0.0, 0.10))
    return [
        part("waist_yaw", "pelvis", "waist_yaw_link", translation(z=0.12), "yaw", WAIST_YAW, motor),
        part("waist_pitch", "waist_yaw_link", "waist_pitch_link", translation(), "pitch", WAIST_PITCH, motor),
        part("waist_roll", "waist_pitch_link", "abdomen", translation(), "roll", WAIST_ROLL, abdomen),
        part("chest_pitch", "abdomen", "chest", translation(z=0.18), "pitch", CHEST_PITCH, chest),
        part("neck_yaw", "chest", "neck", translation(z=0.28), "yaw", NECK_YAW, neck),
        part("neck_roll", "neck", "neck_roll_link", translation(z=0.08), "roll", NECK_ROLL, ellipsoid(0.4, (0.04, 0.04, 0.04))),
        part("neck_pitch", "neck_roll_link", "head", translation(), "pitch", NECK_PITCH, head)]
