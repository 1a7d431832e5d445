"""A four-legged robot of 12 joints, about the size of a large dog."""

from __future__ import annotations

from freeflyer.model.build import build
from freeflyer.model.description import Description, Joint, Link, Site
from freeflyer.model.model import Model
from freeflyer.model.rigid_bodies import join
from freeflyer.robots._parts import AXES, Motor, box, capsule, cylinder, ellipsoid, floating_joint, hinge, translation

HIP_X, HIP_Y = 0.30, 0.11  # where the hip roll axes are, from the trunk's middle (m)
OUT, THIGH, SHANK = 0.09, 0.28, 0.28  # lengths of a leg's links (m)
FOOT_RADIUS = 0.025
HIP_ROLL = Motor(-0.6, 0.9, 12.0, 50.0, 0.04)  # of a left leg
HIP_PITCH = Motor(-2.0, 2.0, 12.0, 50.0, 0.04)
KNEE = Motor(-2.7, 2.7, 12.0, 75.0, 0.06)


def quadruped() -> Model:
    """Model of a quadruped: 12 actuated joints on a floating trunk (nv = 18), 31.6 kg.

    Legs are front_left, front_right, rear_left, rear_right, each with joints hip_roll, hip_pitch, knee and a site `<leg>_foot` at
    its tip, where it touches the ground. The trunk's frame is midway between the hips, x forward, z up.

    Returns: Model with straight legs 0.56 m from hips to ground.

    Examples:
        >>> model = ff.robots.quadruped()
        >>> [name for name in model.frame_names if name.endswith("_foot")]
        ['front_left_foot', 'front_right_foot', 'rear_left_foot', 'rear_right_foot']
    """
    return build(quadruped_description())


def quadruped_description() -> Description:
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
    return Description("quadruped", tuple(links), tuple(joints), tuple(sites), actuated=actuated)


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
        hinge(f"{leg}_knee", links[1].name, links[2].name, translation(z=-THIGH), AXES["pitch"], KNEE),
    ]
    return links, joints, Site(f"{leg}_foot", links[2].name, translation(z=-SHANK))
