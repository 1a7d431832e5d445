"""A humanoid of 1.8 m and 100 kg with 20 to 45 actuated joints: one body, whose joints are motors or fixed."""

from __future__ import annotations

from freeflyer.model.build import build
from freeflyer.model.description import Description, Link, Site
from freeflyer.model.inputs import whole_number
from freeflyer.model.model import Model
from freeflyer.model.rigid_bodies import join
from freeflyer.robots._parts import AXES, Motor, box, capsule, ellipsoid, floating_joint, hinge, translation
from freeflyer.robots.humanoid_limbs import Part, arm, leg

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
        dof: Number of actuated joints, 20 to 45; the others of the body are fixed at zero: freeflyer.robots.humanoid.

    Examples:
        >>> model = ff.robots.humanoid(45)
        >>> model.nv, round(model.mass, 6)
        (51, 100.0)
    """
    moving = moving_joints(dof)
    parts = [part for side in SIDES for part in leg(side)] + _trunk() + [part for side in SIDES for part in arm(side)]
    pelvis = join(box(8.0, (0.16, 0.24, 0.14), (0.0, 0.0, 0.05)), capsule(3.0, 0.06, (0, -0.10, 0), (0, 0.10, 0)))
    links = (Link("pelvis", pelvis), *(Link(part.link, part.inertia) for part in parts))
    joints = tuple(hinge(p.joint, p.parent, p.link, p.placement, AXES[p.turn], p.motor if p.joint in moving else None)
        for p in parts)
    sites: tuple[Site, ...] = (Site("imu", "pelvis", translation(z=0.05)), Site("camera", "head", translation(x=0.10, z=0.12)))
    sites += tuple(site for part in parts for site in part.sites)
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
        Part("waist_yaw", "pelvis", "waist_yaw_link", translation(z=0.12), "yaw", WAIST_YAW, motor),
        Part("waist_pitch", "waist_yaw_link", "waist_pitch_link", translation(), "pitch", WAIST_PITCH, motor),
        Part("waist_roll", "waist_pitch_link", "abdomen", translation(), "roll", WAIST_ROLL, abdomen),
        Part("chest_pitch", "abdomen", "chest", translation(z=0.18), "pitch", CHEST_PITCH, chest),
        Part("neck_yaw", "chest", "neck", translation(z=0.28), "yaw", NECK_YAW, neck),
        Part("neck_roll", "neck", "neck_roll_link", translation(z=0.08), "roll", NECK_ROLL, ellipsoid(0.4, (0.04, 0.04, 0.04))),
        Part("neck_pitch", "neck_roll_link", "head", translation(), "pitch", NECK_PITCH, head),
    ]
