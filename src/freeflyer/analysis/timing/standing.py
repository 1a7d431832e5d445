"""A whole-body problem for every contestant: TALOS on two feet holds its centre of mass, pelvis, left hand and posture.

Numbers alone: a peer builds its own problem from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.robots import example_urdf
from freeflyer.contacts.projection import project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.control.body_tasks import CenterOfMassTask, PostureTask
from freeflyer.control.frame_tasks import FrameOrientationTask, FramePoseTask
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.manifold import integrate
from freeflyer.dynamics.named_postures import configuration
from freeflyer.errors import InputError
from freeflyer.model.load import load
from freeflyer.model.model import Model
from freeflyer.spatial import quaternion

WEIGHTS = MappingProxyType({"com": 100.0, "pelvis": 10.0, "hand": 10.0, "posture": 0.1, "force": 1e-5})
STIFFNESS = MappingProxyType({"com": 40.0, "pelvis": 30.0, "hand": 100.0, "posture": 10.0, "contact": 50.0})
# of a foot's wrench, in the foot's axes about the frame's origin: forces along the sole, the normal force, torques
FORCE_ROWS = (1.0, 1.0, 1e-3, 2.0, 2.0, 2.0)
BENT = {"leg_{}_3": -0.411, "leg_{}_4": 0.859, "leg_{}_5": -0.448, "arm_{}_4": -0.5}  # rad: knees, ankles and elbows


@dataclass(frozen=True, eq=False)
class Standing:
    """Robot on two feet: targets, weights of the squared errors of accelerations, gains, limits.

    `corners` (4, 3): of each sole, in the axes of the foot, whose z is the normal; `least` and `most`: its normal force, N;
    `torque`, `velocity`, `acceleration` (nv - 6,): symmetric limits of the joints; `dt`: the time in which a joint may reach its
    velocity limit, s; `posture` (nq,): where it begins, and the target of the posture task; `place` (4, 4) of each foot. Damping is
    critical, 2 sqrt(stiffness)."""

    model: Model
    urdf: Path
    feet: tuple[str, ...]
    places: tuple[np.ndarray, ...]
    corners: np.ndarray
    posture: np.ndarray
    com: np.ndarray
    pelvis: str
    attitude: np.ndarray
    hand: str
    pose: np.ndarray
    torque: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    friction: float = 0.6
    least: float = 5.0
    most: float = 1500.0
    dt: float = 1e-2
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    stiffness: Mapping[str, float] = field(default_factory=lambda: STIFFNESS)


def talos() -> Standing:
    """TALOS of example-robot-data, knees and elbows bent; the targets are 1 to 3 cm and 0.1 rad from where it stands."""
    urdf = example_urdf("talos_reduced.urdf")
    if urdf is None:
        raise InputError("talos_reduced.urdf is not on this machine: pip install example-robot-data")
    model = load(urdf)
    angles = {f"{name.format(side)}_joint": angle for name, angle in BENT.items() for side in ("left", "right")}
    angles |= {"arm_left_2_joint": 0.2, "arm_right_2_joint": -0.2}
    q = configuration(model, angles)
    feet = ("left_sole_link", "right_sole_link")
    q[2] -= frame_pose(model, q, feet[0])[2, 3]
    hand, pelvis, tilt = "gripper_left_base_link", "base_link", quaternion.to_matrix(quaternion.exp([0.1, 0.0, 0.0]))
    X = frame_pose(model, q, hand)
    X[:3, 3] += (0.03, 0.02, 0.02)
    return Standing(
        model, urdf, feet, tuple(frame_pose(model, q, foot) for foot in feet),
        np.array([[x, y, 0.0] for x in (-0.11, 0.1) for y in (-0.06, 0.07)]), q,
        center_of_mass(model, q) + [0.01, 0.02, -0.01], pelvis, tilt @ frame_pose(model, q, pelvis)[:3, :3],
        hand, X, model.effort_limit[6:], model.velocity_limit[6:], np.full(model.nv - 6, 100.0),
    )  # fmt: skip


def motion_tasks(problem: Standing) -> dict[str, Task]:
    """Our tasks whose squared errors of accelerations are the costs, by their names in `weights`."""
    def common(name: str) -> dict[str, Any]:
        return {"weight": problem.weights[name], "stiffness": problem.stiffness[name]}

    return {
        "com": CenterOfMassTask(problem.com, **common("com")),
        "pelvis": FrameOrientationTask(problem.pelvis, problem.attitude, **common("pelvis")),
        "hand": FramePoseTask(problem.hand, problem.pose, **common("hand")),
        "posture": PostureTask(problem.posture, **common("posture")),
    }


def motion(problem: Standing, count: int, period: float = 2.0, amplitude: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """States q (count, nq), v (count, nv) of `sway` about the problem's posture, on both feet."""
    stance = ConstraintSet(problem.model, contacts=tuple(map(contacts.surface, problem.feet)))
    return sway(stance, problem.posture, count, period, amplitude)


def sway(stance: ConstraintSet, posture: np.ndarray, count: int, period: float = 2.0,
         amplitude: float = 0.05) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """States q (count, nq), v (count, nv) of a slow sway about a posture (nq,), over one period (s); amplitude in rad.

    To first order the contacts rest: the sway is the motion nearest to all joints at once along which they do."""
    model = stance.model
    wish = np.concatenate([np.zeros(6), np.cos(np.arange(model.nv - 6))])
    way = project_velocity(model, posture, wish, constraints=stance)
    way = way * (amplitude / np.abs(way[6:]).max())
    phase = 2.0 * np.pi * np.arange(count)[:, None] / count
    q = integrate(model, posture, np.sin(phase) * way)
    return q, 2.0 * np.pi / period * np.cos(phase) * way
