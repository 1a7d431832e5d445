"""The robots of the Kangaroo paper: the public Kangaroo model or our Kangaroo-like one, and TALOS; and the names of their joints.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import freeflyer as ff

OWN = "kangaroo_like"
SOLE_BELOW_ANKLE = 0.031  # m: from the ankle's axes to the lower face of the public model's foot box, which lies level
SOLE_DIGITS = 5  # of m: beyond, the file's rounded rotations bend a rectangle
HOME_LENGTH, HOME_ANKLE = 0.0004, -0.001  # m: length and ankle motors in the public model's keyframe `home`, others at zero
HALF_SITTING = {"3": -0.411354, "4": 0.859395, "5": -0.448041}  # rad: TALOS's usual standing posture, joints leg_*_N_joint


class Names(namedtuple("Names", (
    "hip_link sole yaw_motor hip_motors length_motor ankle_motors yaw roll pitch thigh knee ankle_roll "
    "ankle_pitch"))):  # fmt: skip
    """Joints and frames of a leg; motors are given in the order of Table II."""

    @property
    def foot_middle(self) -> str:
        """The frame in the middle of the foot's sole, with the axes of `sole`."""
        return self.sole.removesuffix("sole") + "foot_middle"

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The motors of each sub-mechanism, from the hip down."""
        return {"hip yaw": (self.yaw_motor,), "hip roll-pitch": self.hip_motors, "knee": (self.length_motor,),
                "ankle": self.ankle_motors}  # fmt: skip


def like_names(side: str) -> Names:
    s = f"{side}_"
    return Names(s + "hip_roll_link", s + "sole", s + "yaw_motor", (s + "hip_outer_motor", s + "hip_inner_motor"),
        s + "length_motor", (s + "ankle_outer_motor", s + "ankle_inner_motor"), s + "hip_yaw", s + "hip_roll",
        s + "hip_pitch", s + "thigh", s + "knee", s + "ankle_roll", s + "ankle_pitch")  # fmt: skip


def real_names(side: str) -> Names:
    s = f"leg_{side}_"
    return Names(f"{side}_hip_roll", f"{side}_sole", s + "1_motor", (s + "2_motor", s + "3_motor"), s + "length_motor",
        (s + "4_motor", s + "5_motor"), s + "1_joint", s + "3_joint", s + "2_joint", s + "femour_joint", s + "knee_joint",
        s + "5_joint", s + "4_joint")  # fmt: skip


class Kangaroo(namedtuple("Kangaroo", "model left right source feet path", defaults=(None,))):
    """A robot to reproduce the paper with: its model, its legs' names, where it comes from, its file, if any. feet: contacts at the
    soles' frames, with the corners of the file's boxes."""

    @property
    def is_real(self) -> bool:
        """Whether it is the public model of the robot itself."""
        return "leg_left_length_motor" in self.model.joint_names


def kangaroo(robot: Path | str | None = None) -> Kangaroo:
    """The robot of a file, or our own where there is none, or its name is given. Errors: InputError for a file with other joints.
    """
    if robot is None or str(robot) == OWN:
        return _kangaroo(ff.robots.kangaroo_like(), like_names, f"{OWN} (made by freeflyer)", None)
    model, path = ff.load(robot), Path(robot)
    for names in (real_names, like_names):
        if all(m in model.joint_names for group in names("left").groups.values() for m in group):
            return _kangaroo(model, names, path.name, path)
    wanted = [m for group in real_names("left").groups.values() for m in group]
    raise ff.InputError(f"{path.name} is no Kangaroo: it has no motors {', '.join(wanted)}; its motors are "
        f"{', '.join(model.actuated[:8])}. Give --robot {OWN} to use the built-in robot.", robot=str(robot))  # fmt: skip


def _kangaroo(model: ff.Model, names: Callable[[str], Names], source: str, path: Path | None) -> Kangaroo:
    """With level frames on the ground below the ankles, and in the middle of the soles."""
    left, right = names("left"), names("right")
    model = _with_soles(model, left, right)
    feet = _feet(model, path, left, right)
    sites = list(model.description.sites)
    for leg, foot in zip((left, right), feet):
        at = next(site for site in sites if site.name == leg.sole)
        shift = np.eye(4)
        shift[:3, 3] = np.asarray(foot.points).mean(axis=0)
        sites.append(ff.Site(leg.foot_middle, at.link, at.placement @ shift))
    return Kangaroo(ff.build(replace(model.description, sites=tuple(sites))), left, right, source, feet, path)


def _feet(model: ff.Model, path: Path | None, *legs: Names) -> tuple[ff.contacts.Contact, ...]:
    """Contacts at the soles' frames: of the file's shapes, or of the corners that are named."""
    if path is None or path.suffix != ".xml":
        return tuple([foot for leg in legs for foot in ff.contacts.feet_by_name(model) if foot.frame == leg.sole])
    made, q = [], ff.linkages.partition(model).q
    for leg, foot in zip(legs, ff.contacts.feet_from_file(ff.close_loops(model), path)):
        X = np.linalg.inv(ff.frame_pose(model, q, leg.sole)) @ ff.frame_pose(model, q, foot.frame)
        points = np.asarray(foot.points) @ X[:3, :3].T + X[:3, 3]
        points[:, 2] = points[:, 2].mean()
        made.append(ff.contacts.contact_from_points(leg.sole, points.round(SOLE_DIGITS), foot.friction))
    return tuple(made)


def home_posture(robot: Kangaroo, length: float = HOME_LENGTH, ankle: float = HOME_ANKLE) -> np.ndarray:
    """q (nq,): the motors as in the keyframe `home`, both length motors at `length`, the ankles' at `ankle` (m), every loop closed.

    The paper's "standard nominal configuration typically adopted for walking", legs "nearly fully extended" (section V), is given
    by a picture only. `home` is the posture in which the public model stands: it is taken, whatever numbers follow."""
    legs = robot.left, robot.right
    motors = {n.length_motor: [length] for n in legs} | {m: [ankle] for n in legs for m in n.ankle_motors}
    return np.asarray(ff.linkages.sweep(robot.model, motors).q.reshape(-1))


def talos(peer: Path | str) -> tuple[ff.Model, np.ndarray]:
    """(model, q): TALOS without arms and head, half sitting. Errors: InputError for another robot."""
    model = ff.load(peer)
    needed = [f"leg_{s}_{n}_joint" for s in ("left", "right") for n in HALF_SITTING]
    missing = [n for n in needed if n not in model.joint_names]
    if missing or "left_sole_link" not in model.frame_names:
        raise ff.InputError(
            f"{Path(peer).name} is no TALOS: it has no {(missing or ['left_sole_link'])[0]!r}; give talos_full_v2.urdf, say",
            peer=str(peer))  # fmt: skip
    d = model.description
    gone = {j.child for j in d.joints if j.name in ("arm_left_1_joint", "arm_right_1_joint", "head_1_joint")}
    while more := {j.child for j in d.joints if j.parent in gone} - gone:
        gone |= more
    bare = [replace(x, inertia=ff.Inertia()) if x.name in gone else x for x in d.links]  # Fig 17 leaves them out
    model = ff.build(replace(d, links=tuple(bare)))
    q = ff.neutral(model)
    for side in ("left", "right"):
        for number, angle in HALF_SITTING.items():
            q[model.joint(f"leg_{side}_{number}_joint").iq] = angle
    return model, q


def _with_soles(model: ff.Model, *legs: Names) -> ff.Model:
    """Adds a level frame on the ground below each ankle, where the file has none."""
    q, sites = ff.linkages.partition(model).q, []
    R_WB = ff.frame_pose(model, q, model.joints[0].child)[:3, :3]
    for names in legs:
        if names.sole in model.frame_names:
            continue
        foot = model.joint(names.ankle_roll).child
        X_WF = ff.frame_pose(model, q, foot)
        X_WS = np.eye(4)
        X_WS[:3, :3], X_WS[:3, 3] = R_WB, X_WF[:3, 3] - SOLE_BELOW_ANKLE * R_WB[:, 2]
        sites.append(ff.Site(names.sole, foot, np.linalg.inv(X_WF) @ X_WS))
    return ff.build(replace(model.description, sites=(*model.description.sites, *sites)))
