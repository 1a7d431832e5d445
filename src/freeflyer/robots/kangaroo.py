"""A lower body like PAL Robotics' Kangaroo (Kangaroo paper): two legs that twelve linear actuators move through linkages."""

from __future__ import annotations

from freeflyer.model.build import build
from freeflyer.model.description import Description, Link, Loop, Site
from freeflyer.model.model import Model
from freeflyer.model.rigid_bodies import join
from freeflyer.robots._parts import box, floating_joint, sole_sites, translation
from freeflyer.robots.kangaroo_ankle import HEEL, SOLE, SOLE_HALF_WIDTH, TOE, ankle
from freeflyer.robots.kangaroo_hip import hip, hip_yaw
from freeflyer.robots.kangaroo_knee import ANKLE, knee
from freeflyer.robots.kangaroo_parts import ties, tree
from freeflyer.robots.kangaroo_pieces import SubMechanism

BASE = "base_link"
GROUND = ANKLE[2] - SOLE  # height of the soles at the reference posture, in the base frame
NAMES = ("hip_yaw", "hip", "knee", "ankle")


def kangaroo_like() -> Model:
    """Model of a floating lower body of 42 kg whose legs are closed linkages, like PAL Robotics' Kangaroo.

    Each leg has 6 linear motors and 32 passive joints in four sub-mechanisms (Kangaroo paper, Table II). Hip yaw (RRPR)
    and hip (U-2RRPU) are in `kangaroo_hip`, the others in `kangaroo_knee` (RRRR-RRRP-R) and `kangaroo_ankle` (U-2(RRRP-RRRR-UU)).
    Dimensions are our own, chosen so that strokes, joint limits and singularities come out near the paper's. The loops have 64
    independent rows.

    The reference posture (all joint coordinates zero) closes every loop exactly, with legs nearly stretched and length motors at
    the start of their stroke. Motors are `left_yaw_motor`, `left_hip_outer_motor`, `left_hip_inner_motor`, `left_length_motor`,
    `left_ankle_outer_motor`, `left_ankle_inner_motor`; the joints one thinks in are `left_hip_yaw`, `_hip_pitch`, `_hip_roll`,
    `_knee`, `_ankle_pitch`, `_ankle_roll`. The right leg mirrors the left: turns about y and slides keep their sign, other turns
    change it. x is forward, y left, z up; soles are the sites `left_sole` (on the ground below the ankle) and its corners
    `left_sole_front_left` ..., 1.05 m below the base.

    Returns: Model with open loops: nq = 83, nv = 82; freeflyer.close_loops closes them, nv = 18.

    Examples:
        >>> model = ff.robots.kangaroo_like()
        >>> closed = ff.close_loops(model)
        >>> model.nv - 64, closed.nv, len(closed.actuated)     # a floating base and the motors
        (18, 18, 12)
    """
    # pelvis and electronics, batteries, the cage around them
    trunk = join(box(4.0, (0.16, 0.22, 0.08), (-0.04, 0.0, 0.0)), box(12.4, (0.20, 0.26, 0.40), (-0.06, 0.0, 0.22)))
    links, joints = [Link(BASE, trunk)], [floating_joint(BASE)]
    sites, loops, motors = [Site("imu", BASE, translation(z=0.1))], list[Loop](), list[str]()
    for side in ("left", "right"):
        pieces = [piece for mechanism in sub_mechanisms().values() for piece in mechanism.pieces]
        cuts = [cut for mechanism in sub_mechanisms().values() for cut in mechanism.cuts]
        (more_links, more_joints), (more_sites, more_loops) = tree(side, BASE, pieces), ties(side, pieces, cuts)
        links, joints, loops = links + more_links, joints + more_joints, loops + more_loops
        sites += [*more_sites, *sole_sites(f"{side}_sole", f"{side}_ankle_roll_link", SOLE, TOE, HEEL, SOLE_HALF_WIDTH)]
        motors += [joint.name for joint in more_joints if joint.kind == "prismatic"]
    return build(Description("kangaroo_like", tuple(links), tuple(joints), tuple(sites), tuple(loops), actuated=tuple(motors)))


def sub_mechanisms() -> dict[str, SubMechanism]:
    """The four closed sub-mechanisms of a left leg by name, from the hip down."""
    return dict(zip(NAMES, (hip_yaw(BASE), hip(), knee(), ankle())))
