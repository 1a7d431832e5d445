"""The problems of the paper's Table 1 in double and in single support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.control.body_tasks import CenterOfMassTask
from freeflyer.control.frame_tasks import FrameOrientationTask, FramePoseTask, FramePositionTask
from freeflyer.control.limits import AccelerationLimits, TorqueLimits
from freeflyer.control.problem import Problem
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer_papers.reduced_wbc.robot import Robot, on_one_foot

SUPPORTS = ("double", "single")
ACCELERATION_LIMIT = 300.0  # rad/s^2; the paper gives no number
LOWER = 0.01  # m: the centre of mass is led so far below its place


@dataclass(frozen=True, eq=False)
class Stance:
    """A problem at a posture q (nq,): `contacts` and `ends` are c and k of Tables 1 and 2."""

    support: str
    problem: Problem
    q: np.ndarray
    contacts: int
    ends: int


def stance(r: Robot, support: str, orientation: bool = True) -> Stance:
    """Double support: both feet and a hand as end effector; single support: the left foot, the right one and a hand.

    orientation: whether that of end effectors is controlled, too; an arm of four joints would need the body for it."""
    both = support == "double"
    model, q = r.model, r.q if both else on_one_foot(r)
    feet = r.feet if both else r.feet[:1]
    ends = [r.hands[0]] if both else [r.hands[0], r.feet[1].frame]
    tasks = [
        CenterOfMassTask(center_of_mass(model, q) - [0.0, 0.0, LOWER], level=1),
        FrameOrientationTask(r.base, frame_pose(model, q, r.base)[:3, :3], level=1),
        *(_end(end, frame_pose(model, q, end), orientation) for end in ends),
    ]
    problem = Problem(model, tasks, feet, [TorqueLimits(), AccelerationLimits(ACCELERATION_LIMIT)])
    return Stance(support, problem, q, len(feet), len(ends))


def _end(frame: str, X: np.ndarray, orientation: bool) -> Task:
    return FramePoseTask(frame, X, level=2) if orientation else FramePositionTask(frame, X[:3, 3], level=2)
