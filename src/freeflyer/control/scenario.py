"""Scenarios: a problem for each moment of a motion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from freeflyer.contacts import ConstraintSet, Contact
from freeflyer.control.body_tasks import CenterOfMassTask, FrameOrientationTask, PostureTask
from freeflyer.control.chains import kinematic_chains
from freeflyer.control.inputs import joint_coordinates
from freeflyer.control.limits import JointLimits, Limit, NormalForceLimits, TorqueLimits
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.control.references import Reference, SampledReference, TargetMotion
from freeflyer.control.support import middle_of
from freeflyer.control.tasks import Task
from freeflyer.dynamics import center_of_mass, frame_pose
from freeflyer.model import Model

JOINT_ACCELERATION = 150.0  # rad/s^2, m/s^2: arms that pass a singular posture are thrown about with more
COM_STIFFNESS, BODY_STIFFNESS, POSTURE_STIFFNESS = 60.0, 100.0, 40.0  # 1/s^2
UPPER_BODY = 10.0  # weight of joints that carry no foot, legs having 1: legs bend, not the trunk
DAMPING_OF_CONTACTS = 20.0  # 1/s
LEAST_LOAD = 0.02  # share of what each foot bears on the average
NumberedMotion = namedtuple("NumberedMotion", "target velocity acceleration numbers")  # of a task


@dataclass(frozen=True, eq=False)
class Stance:
    """A robot that stands.

    Attributes:
        q: (nq,) array, configuration.
        feet: Feet on the ground, with points, poses and friction.
        base: Link that floats.
        dt: Control period, s."""

    model: Model
    q: np.ndarray
    feet: tuple[Contact, ...]
    base: str
    dt: float

    def problem(self, tasks: Sequence[Task], feet: Sequence[Contact] | None = None,
                acceleration: float = JOINT_ACCELERATION) -> WholeBodyProblem:  # fmt: skip
        """Tasks with the contacts of the feet, and the limits of the robot, `acceleration` (rad/s^2, m/s^2) that of its joints.

        If none are given, all feet bear LEAST_LOAD: without load they lift for small errors, and turn if they bear again."""
        limits: list[Limit] = [TorqueLimits(), JointLimits(dt=2.0 * self.dt, acceleration=acceleration)]
        contacts, weight = self.feet if feet is None else feet, self.model.mass * float(np.linalg.norm(self.model.gravity))
        if feet is None:
            limits += [NormalForceLimits(foot.name, 10.0 * weight, LEAST_LOAD * weight / len(contacts)) for foot in contacts]
        return WholeBodyProblem(self.model, tasks, contacts, limits, contact_damping=DAMPING_OF_CONTACTS)

    def center_of_mass(self) -> np.ndarray:
        """(3,), m."""
        return center_of_mass(self.model, self.q)

    def height(self) -> float:
        """Height of the centre of mass above the middle of the feet, m."""
        return float(self.center_of_mass()[2] - np.mean([middle_of(foot)[2] for foot in self.feet]))

    @cached_property
    def upright_state(self) -> tuple[float, np.ndarray]:
        """Height of the centre of mass, m, and the vertical (3,) in the axes of the base."""
        return float(self.center_of_mass()[2]), self.pose(self.base)[2, :3]

    def pose(self, frame: str) -> np.ndarray:
        """Pose (4, 4) of a frame."""
        return frame_pose(self.model, self.q, frame)

    def upright(self, level: int = 1) -> FrameOrientationTask:
        """The base keeps its orientation."""
        return FrameOrientationTask(self.base, self.pose(self.base)[:3, :3], level=level, stiffness=BODY_STIFFNESS)

    def balance(self, level: int = 1) -> CenterOfMassTask:
        """The centre of mass stays."""
        return CenterOfMassTask(self.center_of_mass(), level=level, stiffness=COM_STIFFNESS)

    def relaxed(self, level: int = 3) -> PostureTask:
        """All joints near their first angles, those of the upper body above all."""
        chains = kinematic_chains(self.model, contacts=ConstraintSet(self.model, contacts=self.feet))
        upper = np.isin(joint_coordinates(self.model), chains.unconstrained)
        return PostureTask(self.q, level=level, weight=np.where(upper, UPPER_BODY, 1.0), stiffness=POSTURE_STIFFNESS)


class Scenario(ABC):
    """Scenario from a stance, of a duration (s); your own needs the method `problem`, as in docs/whole_body_control.md."""

    stance: Stance
    duration: float

    @abstractmethod
    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        """The problem at a time (s) and a measured state."""

    def pushes(self, t: float, q: np.ndarray, v: np.ndarray) -> Mapping[str, np.ndarray] | None:
        """Wrenches (6,) on frames, in world axes at their origins, that disturb the robot; the controller does not know them."""
        return None


class Following(Scenario):
    """Scenario of tasks that follow references, over contacts that stay: (task, reference), others as they are."""

    def __init__(self, stance: Stance, duration: float, moving: Sequence[tuple[Task, Reference]], still: Sequence[Task]) -> None:
        self.stance, self.duration = stance, duration
        self.held = stance.problem([*[task for task, _ in moving], *still])
        self.moving = [MovingTask(task, reference, stance.dt) for task, reference in moving]

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        return self.held.with_targets([*[moving(t) for moving in self.moving], *self.held.tasks[len(self.moving) :]])


class MovingTask:
    """A task that follows a reference, at the cycles of a control loop of period dt (s); its numbers are made for many at once."""

    def __init__(self, task: Task, reference: Callable[[np.ndarray], TargetMotion], dt: float) -> None:
        def numbered(t: np.ndarray) -> Any:
            motion = reference(t)
            return NumberedMotion(*motion, task.moved(*motion).make_numbers()) if task.compiled and task.target_shape else motion

        self.task, self.motion = task, SampledReference(numbered, dt)

    def __call__(self, t: float) -> Task:
        return self.task.moved(*self.motion(t))
