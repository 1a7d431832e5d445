"""The paper's robot, TOCABI, on the soles of its file's boxes; without its file our humanoid, as large."""

from __future__ import annotations

from collections import namedtuple
import dataclasses
from pathlib import Path

import numpy as np

import freeflyer as ff
from freeflyer.control.support import middle_of

JOINTS = 33
FRICTION = 0.7
KNEE = 0.8  # rad
POSTURE_TOLERANCE = 1e-8  # m, rad
LIFT = 0.08  # m: of the foot that stands on nothing
# of hip, knee and ankle pitch as shares of the knee's angle, so that soles are level; arms in front of the body, rad: right ones
# turn the other way
LEG = {"HipPitch": -0.5, "Knee": 1.0, "AnklePitch": -0.5}
ARM = {"Shoulder1": 0.3, "Shoulder2": 0.3, "Shoulder3": 1.5, "Armlink": -1.27, "Elbow": -1.0, "Wrist1": -1.0}
TOCABI_HANDS = ("L_Wrist2_Link", "R_Wrist2_Link")
HUMANOID_ARM = {"shoulder_pitch": -0.3, "shoulder_roll": 0.3, "upper_arm_yaw": -0.3, "elbow": -1.0}


class Robot(namedtuple("Robot", "name model q feet base hands")):
    """A robot on two feet: q (nq,), feet as contacts held at the ground, the link that floats, the frames of its hands."""


def robot(path: Path | None = None, joints: int = JOINTS) -> Robot:
    """TOCABI of a URDF file, or our humanoid of so many joints. Errors: FileError, InputError for another robot's file."""
    if path is None:
        model = ff.robots.humanoid(joints)
        q = ff.robots.standing_posture(model)
        for side, sign in (("left", 1.0), ("right", -1.0)):  # arms that hang straight down are singular
            for joint, angle in HUMANOID_ARM.items():
                q[model.joint(f"{side}_{joint}").iq] = angle if joint in ("shoulder_pitch", "elbow") else sign * angle
        name, feet, hands = f"humanoid({joints}) of freeflyer.robots", ff.contacts.feet_by_name(model), ("left_palm", "right_palm")
    else:
        given = ff.load(path)
        angles = {f"{side}_{joint}_Joint": share * KNEE for side in "LR" for joint, share in LEG.items()}
        angles |= {f"{side}_{joint}_Joint": sign * angle for side, sign in (("L", 1), ("R", -1)) for joint, angle in ARM.items()}
        model, q, found = ff.control.stand_on_feet(given, q=ff.configuration(given, angles))
        name, feet, hands = f"{model.name} of {path.name}", tuple(sorted(found, key=lambda foot: foot.frame)), TOCABI_HANDS
    left, right = (dataclasses.replace(foot, friction=FRICTION) for foot in ff.contacts.anchored_feet(model, q, feet))
    return Robot(name, model, q, (left, right), model.joints[0].child, hands)


def on_one_foot(r: Robot) -> np.ndarray:
    """(nq,): the robot over its left foot, the right one lifted. Errors: InputError where it cannot stand so."""
    left, right = (ff.frame_pose(r.model, r.q, foot.frame) for foot in r.feet)
    right[2, 3] += LIFT
    tasks = [ff.control.FramePoseTask(foot.frame, X, level=0) for foot, X in zip(r.feet, (left, right))]
    balance = ff.control.CenterOfMassTask(middle_of(r.feet[0]), level=0, weight=(1.0, 1.0, 0.0))
    upright = ff.control.FrameOrientationTask(r.base, np.eye(3), level=0)
    found = ff.control.inverse_kinematics(r.model, [*tasks, balance, upright, ff.control.PostureTask(r.q, level=1)], r.q)
    if (off := found.levels[0].residual) > POSTURE_TOLERANCE:
        raise ff.InputError(f"{r.model.name!r} does not stand so: its feet, balance or pelvis are off by {off:.1e} m or rad")
    return found.q


SUPPORTS = ("double", "single")
ACCELERATION_LIMIT = 300.0  # rad/s^2; the paper gives no number
LOWER = 0.01  # m: the centre of mass is led so far below its place


class Stance(namedtuple("Stance", "support problem q contacts ends")):
    """A problem at a posture q (nq,): `contacts` and `ends` are c and k of Tables 1 and 2."""


def stance(r: Robot, support: str, orientation: bool = True) -> Stance:
    """Double support: both feet and a hand as end effector; single support: the left foot, the right one and a hand.

    orientation: whether that of end effectors is controlled, too; an arm of four joints would need the body for it."""
    both = support == "double"
    model, q = r.model, r.q if both else on_one_foot(r)
    feet = r.feet if both else r.feet[:1]
    ends = [r.hands[0]] if both else [r.hands[0], r.feet[1].frame]
    tasks = [ff.control.CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, LOWER], level=1),
        ff.control.FrameOrientationTask(r.base, ff.frame_pose(model, q, r.base)[:3, :3], level=1),
        *(ff.control.FramePoseTask(end, X, level=2) if orientation else ff.control.FramePositionTask(end, X[:3, 3], level=2)
          for end in ends for X in [ff.frame_pose(model, q, end)])]  # fmt: skip
    limits = [ff.control.TorqueLimits(), ff.control.AccelerationLimits(ACCELERATION_LIMIT)]
    return Stance(support, ff.control.WholeBodyProblem(model, tasks, feet, limits), q, len(feet), len(ends))


def sway(stance: ff.ConstraintSet, posture: np.ndarray, count: int, period: float = 2.0,
         amplitude: float = 0.05) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """States q (count, nq), v (count, nv) of a slow sway about a posture (nq,), over one period (s); amplitude in rad.

    To first order the contacts rest: the sway is the motion nearest to all joints at once along which they do."""
    model = stance.model
    wish = np.concatenate([np.zeros(6), np.cos(np.arange(model.nv - 6))])
    way = ff.project_velocity(model, posture, wish, constraints=stance)
    way = way * (amplitude / np.abs(way[6:]).max())
    phase = 2.0 * np.pi * np.arange(count)[:, None] / count
    q = ff.integrate(model, posture, np.sin(phase) * way)
    return q, 2.0 * np.pi / period * np.cos(phase) * way
