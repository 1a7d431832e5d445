"""The robots of papers/000: the public Kangaroo model or our Kangaroo-like one, and TALOS; and the names of their joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.mechanisms import partition, sweep
from freeflyer.model.build import build
from freeflyer.model.configuration import neutral
from freeflyer.model.description import Inertia, Site
from freeflyer.model.load import load
from freeflyer.model.model import Model
from freeflyer.robots import kangaroo_like

SOLE_BELOW_ANKLE = 0.031  # m: from the ankle's axes to the lower face of the public model's foot box, which lies level
HOME_LENGTH, HOME_ANKLE = 0.0004, -0.001  # m: length and ankle motors in the public model's keyframe `home`, others at zero
HALF_SITTING = {
    "3": -0.411354,
    "4": 0.859395,
    "5": -0.448041,
}  # rad: TALOS's usual standing posture, joints leg_*_N_joint


@dataclass(frozen=True)
class Names:
    """Joints and frames of a leg; motors are given in the order of Table II."""

    hip_link: str
    sole: str
    yaw_motor: str
    hip_motors: tuple[str, str]
    length_motor: str
    ankle_motors: tuple[str, str]
    yaw: str
    roll: str
    pitch: str
    thigh: str
    knee: str
    ankle_roll: str
    ankle_pitch: str

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The motors of each sub-mechanism, from the hip down."""
        return {"hip yaw": (self.yaw_motor,), "hip roll-pitch": self.hip_motors, "knee": (self.length_motor,),
                "ankle": self.ankle_motors}  # fmt: skip


def like_names(side: str) -> Names:
    s = f"{side}_"
    return Names(
        s + "hip_roll_link", s + "sole", s + "yaw_motor", (s + "hip_outer_motor", s + "hip_inner_motor"), s + "length_motor",
        (s + "ankle_outer_motor", s + "ankle_inner_motor"), s + "hip_yaw", s + "hip_roll", s + "hip_pitch", s + "thigh",
        s + "knee", s + "ankle_roll", s + "ankle_pitch",
    )  # fmt: skip


def real_names(side: str) -> Names:
    s = f"leg_{side}_"
    return Names(
        f"{side}_hip_roll", f"{side}_sole", s + "1_motor", (s + "2_motor", s + "3_motor"), s + "length_motor",
        (s + "4_motor", s + "5_motor"), s + "1_joint", s + "3_joint", s + "2_joint", s + "femour_joint", s + "knee_joint",
        s + "5_joint", s + "4_joint",
    )  # fmt: skip


@dataclass(frozen=True)
class Kangaroo:
    """A robot to reproduce the paper with: its model, its legs' names, and where it comes from."""

    model: Model
    left: Names
    right: Names
    source: str

    @property
    def is_real(self) -> bool:
        """Whether it is the public model of the robot itself."""
        return "leg_left_length_motor" in self.model.joint_names


def kangaroo(robot: Path | str | None = None) -> Kangaroo:
    """The robot of a file, or our own where there is none. Errors: InputError for a file with other joints."""
    if robot is None:
        return Kangaroo(kangaroo_like(), like_names("left"), like_names("right"), "kangaroo_like (made by freeflyer)")
    model = load(robot)
    for names in (real_names, like_names):
        left = names("left")
        if all(m in model.joint_names for group in left.groups.values() for m in group):
            return Kangaroo(_with_soles(model, left, names("right")), left, names("right"), Path(robot).name)
    wanted = [m for group in real_names("left").groups.values() for m in group]
    raise InputError(
        f"{Path(robot).name} is no Kangaroo: it has no motors {', '.join(wanted)}; its motors are "
        f"{', '.join(model.actuated[:8])}. Leave --robot out to use the built-in kangaroo_like.", robot=str(robot),
    )  # fmt: skip


def home_posture(robot: Kangaroo, length: float = HOME_LENGTH) -> np.ndarray:
    """q (nq,): the motors as in the keyframe `home`, both length motors at `length`, every loop closed.

    The paper's "standard nominal configuration typically adopted for walking", legs "nearly fully extended" (section V), is
    given by a picture only. `home` is the posture in which the public model stands: it is taken, whatever numbers follow.
    """
    legs = robot.left, robot.right
    motors = {n.length_motor: [length] for n in legs} | {m: [HOME_ANKLE] for n in legs for m in n.ankle_motors}
    q: np.ndarray = sweep(robot.model, motors).q.reshape(-1)
    return q


def talos(peer: Path | str) -> tuple[Model, np.ndarray]:
    """(model, q): TALOS without arms and head, half sitting. Errors: InputError for another robot."""
    model = load(peer)
    needed = [f"leg_{s}_{n}_joint" for s in ("left", "right") for n in HALF_SITTING]
    missing = [n for n in needed if n not in model.joint_names]
    if missing or "left_sole_link" not in model.frame_names:
        raise InputError(
            f"{Path(peer).name} is no TALOS: it has no {(missing or ['left_sole_link'])[0]!r}; give talos_full_v2.urdf, say",
            peer=str(peer),
        )  # fmt: skip
    model = _without(model, ("arm_left_1_joint", "arm_right_1_joint", "head_1_joint"))
    q = neutral(model)
    for side in ("left", "right"):
        for number, angle in HALF_SITTING.items():
            q[model.joint(f"leg_{side}_{number}_joint").iq] = angle
    return model, q


def _without(model: Model, branches: tuple[str, ...]) -> Model:
    """The robot with the links beyond these joints weightless (Fig 17 leaves arms and head out)."""
    d = model.description
    gone = {j.child for j in d.joints if j.name in branches}
    while more := {j.child for j in d.joints if j.parent in gone} - gone:
        gone |= more
    bare = [replace(x, inertia=Inertia()) if x.name in gone else x for x in d.links]
    return build(replace(d, links=tuple(bare)))


def _with_soles(model: Model, *legs: Names) -> Model:
    """Adds a level frame on the ground below each ankle, where the file has none."""
    q, sites = partition(model).q, []
    R_WB = frame_pose(model, q, model.joints[0].child)[:3, :3]
    for names in legs:
        if names.sole in model.frame_names:
            continue
        foot = model.joint(names.ankle_roll).child
        X_WF = frame_pose(model, q, foot)
        X_WS = np.eye(4)
        X_WS[:3, :3], X_WS[:3, 3] = R_WB, X_WF[:3, 3] - SOLE_BELOW_ANKLE * R_WB[:, 2]
        sites.append(Site(names.sole, foot, np.linalg.inv(X_WF) @ X_WS))
    return build(replace(model.description, sites=(*model.description.sites, *sites)))
