"""The paper's robot, TOCABI, with the soles of its file's boxes, standing; without its file our humanoid, as large."""

from __future__ import annotations

from collections import namedtuple
import dataclasses
from pathlib import Path

import numpy as np

import freeflyer as ff
from freeflyer.control.limits import AccelerationLimits, TorqueLimits
from freeflyer.errors import InputError
from freeflyer.model import ROOT_JOINT, Site, possible

JOINTS = 33
FRICTION = 0.7
# the box of each foot in TOCABI's file: its lower side in the axes of the foot's link, m
SOLE_LINKS = {"left_sole": "L_Foot_Link", "right_sole": "R_Foot_Link"}
SOLE_CENTER = (0.03, 0.0, -0.1585)
SOLE_LENGTH, SOLE_WIDTH = 0.3, 0.17
CORNERS = {"front_left": (1, 1), "front_right": (1, -1), "rear_right": (-1, -1), "rear_left": (-1, 1)}
KNEE = 0.8  # rad
POSTURE_TOLERANCE = 1e-8  # m, rad
LIFT = 0.08  # m: of the foot that stands on nothing
# of hip, knee and ankle pitch as shares of the knee's angle, so that soles are level; arms in front of the body, rad: right ones
# turn the other way
LEG = {"HipPitch": -0.5, "Knee": 1.0, "AnklePitch": -0.5}
ARM = {"Shoulder1": 0.3, "Shoulder2": 0.3, "Shoulder3": 1.5, "Armlink": -1.27, "Elbow": -1.0, "Wrist1": -1.0}
HUMANOID_ARM = {"shoulder_pitch": -0.3, "shoulder_roll": 0.3, "upper_arm_yaw": -0.3, "elbow": -1.0}


class Robot(namedtuple("Robot", "name model q feet base hands")):
    """A robot on two feet: q (nq,), feet as contacts held at the ground, the link that floats, the frames of its hands."""


def robot(path: Path | None = None, joints: int = JOINTS) -> Robot:
    """TOCABI of a URDF file, or our humanoid of so many joints. Errors: FileError, InputError for another robot's file."""
    if path is None:
        model = ff.robots.humanoid(joints)
        return _on_its_feet(f"humanoid({joints}) of freeflyer.robots", model, _arms_in_front(model), ("left_palm", "right_palm"))
    model, q = standing_tocabi(path)
    return _on_its_feet(f"{model.name} of {path.name}", model, q, ("L_Wrist2_Link", "R_Wrist2_Link"))


def _arms_in_front(model: ff.Model) -> np.ndarray:
    """The humanoid's standing posture (nq,) with arms that do not hang straight down: that is singular."""
    q = ff.robots.standing_posture(model)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, angle in HUMANOID_ARM.items():
            q[model.joint(f"{side}_{name}").iq] = angle if name in ("shoulder_pitch", "elbow") else sign * angle
    return q


def standing_tocabi(path: Path, knee: float = KNEE) -> tuple[ff.Model, np.ndarray]:
    """(model, q): TOCABI with frames of its soles and their corners, as freeflyer.contacts.feet_by_name finds them, and a posture
    (nq,): knees bent by about `knee` rad, pelvis upright, soles flat on the ground, centre of mass over their middle.

    It is what freeflyer.control.run takes: run("squat", model, q=q). Errors: FileError, InputError for another robot's file, for
    knees that are nearly straight or bent too far."""
    if not 0.1 <= knee <= 2.0:
        raise InputError(f"knee must be an angle from 0.1 to 2 rad, got {knee!r}", knee=knee)
    model = with_soles(ff.load(path))
    angles = {f"{side}_{name}_Joint": share * knee for side in "LR" for name, share in LEG.items()}
    angles |= {f"{side}_{name}_Joint": sign * angle for side, sign in (("L", 1), ("R", -1)) for name, angle in ARM.items()}
    q = ff.configuration(model, angles)
    at = model.joint(ROOT_JOINT).iq
    q[at : at + 3] -= 0.5 * (ff.frame_pose(model, q, "left_sole") + ff.frame_pose(model, q, "right_sole"))[:3, 3]
    feet = [ff.control.FramePoseTask(name, ff.frame_pose(model, q, name), level=0) for name in SOLE_LINKS]
    return model, _balanced(model, q, feet, np.zeros(3))


def on_one_foot(r: Robot) -> np.ndarray:
    """(nq,): the robot over its left foot, the right one lifted. Errors: InputError where it cannot stand so."""
    left, right = (ff.frame_pose(r.model, r.q, foot.frame) for foot in r.feet)
    right[2, 3] += LIFT
    tasks = [ff.control.FramePoseTask(foot.frame, X, level=0) for foot, X in zip(r.feet, (left, right))]
    return _balanced(r.model, r.q, tasks, left[:3, 3])


def _balanced(model: ff.Model, q: np.ndarray, feet: list[ff.control.FramePoseTask], over: np.ndarray) -> np.ndarray:
    """The posture near q with these poses of the feet, the centre of mass over a point of the ground, and the pelvis upright."""
    balance = ff.control.CenterOfMassTask(over, level=0, weight=(1.0, 1.0, 0.0))
    upright = ff.control.FrameOrientationTask(model.joints[0].child, np.eye(3), level=0)
    found = ff.control.inverse_kinematics(model, [*feet, balance, upright, ff.control.PostureTask(q, level=1)], q)
    errors = [np.abs(e[:2] if task is balance else e).max() for task, e in zip([*feet, balance, upright], found.errors)]
    if max(errors) > POSTURE_TOLERANCE:
        raise InputError(f"{model.name!r} finds no such posture: its feet, balance or pelvis are off by {max(errors):.1e} m or rad")
    return found.q


def with_soles(model: ff.Model) -> ff.Model:
    """TOCABI with a frame at the centre of each sole, z up from the ground, and one at each corner; inertias that no body has,
    which MuJoCo refuses, are changed as in `possible`. Errors: InputError for another robot."""
    missing = [link for link in SOLE_LINKS.values() if link not in model.link_names]
    if missing:
        raise InputError(f"{model.name!r} is not TOCABI: it has no link {missing[0]!r}", missing=missing)
    given = model.description
    sites = list(given.sites)
    for name, link in SOLE_LINKS.items():
        sites.append(Site(name, link, _translation(0.0, 0.0)))
        sites += [Site(f"{name}_{corner}", link, _translation(0.5 * x * SOLE_LENGTH, 0.5 * y * SOLE_WIDTH)) for corner,
            (x, y) in CORNERS.items()]  # fmt: skip
    links = tuple([dataclasses.replace(link, inertia=possible(link.inertia)) for link in given.links])
    return ff.build(dataclasses.replace(given, links=links, sites=tuple(sites)))


def _translation(x: float, y: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = np.add(SOLE_CENTER, (x, y, 0.0))
    return X


def _on_its_feet(name: str, model: ff.Model, q: np.ndarray, hands: tuple[str, str]) -> Robot:
    left, right = (dataclasses.replace(foot, friction=FRICTION) for foot in ff.contacts.anchored_feet(model, q))
    return Robot(name, model, q, (left, right), model.joints[0].child, hands)


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
    problem = ff.control.WholeBodyProblem(model, tasks, feet, [TorqueLimits(), AccelerationLimits(ACCELERATION_LIMIT)])
    return Stance(support, problem, q, len(feet), len(ends))


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
