"""Scenarios: standing under pushes, squatting, reaching, lifting a foot, walking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.control.body_tasks import CenterOfMassTask
from freeflyer.control.capture import impulse_limits
from freeflyer.control.dcm import DCMPlan
from freeflyer.control.dcm_walking import GAIN, dcm_command, walking_dcm
from freeflyer.control.footsteps import FootstepPlan, walk_forward
from freeflyer.control.frame_tasks import FramePoseTask, FramePositionTask
from freeflyer.control.problem import Problem
from freeflyer.control.references import SampledReference, SinusoidReference, WaypointReference
from freeflyer.control.scenario import COM_STIFFNESS, Following, Scenario, Stance
from freeflyer.control.support import middle_of
from freeflyer.dynamics.centroidal import center_of_mass, centroidal_momentum
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_array, number

PUSH_DURATION, PUSH_INTERVAL = 0.1, 3.0  # s
SQUAT_DEPTH, SQUAT_SHARE = 0.2, 0.2  # m, and of the height of the centre of mass
HANDS = ("left_palm", "left_hand", "L_Wrist2_Link", "gripper_left_base_link", "arm_left_7_link")
HAND_STIFFNESS = 80.0  # 1/s^2
FOOT_STIFFNESS = 200.0  # 1/s^2


@dataclass(frozen=True, eq=False)
class Stand(Scenario):
    """Standing under pushes on the base: impulses (n, 3) in N s, one every PUSH_INTERVAL seconds, from `first` (s) on."""

    stance: Stance
    duration: float
    held: Problem
    impulses: np.ndarray
    first: float

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> Problem:
        """The same at all times."""
        return self.held

    def pushes(self, t: float, q: np.ndarray, v: np.ndarray) -> Mapping[str, np.ndarray] | None:
        """A constant force for PUSH_DURATION, at the beginning of each interval."""
        k, since = divmod(t - self.first + 1e-9, PUSH_INTERVAL)
        if not 0 <= k < len(self.impulses) or since >= PUSH_DURATION:
            return None
        return {self.stance.base: np.concatenate([self.impulses[int(k)] / PUSH_DURATION, np.zeros(3)])}


def stand(stance: Stance, rng: np.random.Generator, pushes: int = 3, share: float = 0.5, impulses: ArrayLike | None = None,
          first: float = 1.0) -> Stand:  # fmt: skip
    """Pushes in random directions, of up to `share` of what the capture point over the support polygon allows; or impulses (n, 2)
    in N s, the first of them at the time `first`, s."""
    if impulses is None:
        angles = rng.uniform(0.0, 2.0 * np.pi, pushes)
        most = impulse_limits(stance.model, stance.q, np.zeros(stance.model.nv), angles, stance.feet)
        size = share * rng.uniform(0.3, 1.0, pushes) * most
        impulses = np.column_stack([size * np.cos(angles), size * np.sin(angles)])
    given = finite_array("impulses", impulses)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"impulses has shape {given.shape}, expected (n, 2), N s", shape=given.shape)
    held = stance.problem([stance.balance(), stance.upright(2), stance.relaxed()])
    return Stand(stance, first + PUSH_INTERVAL * len(given), held, np.column_stack([given, np.zeros(len(given))]), first)


def squat(stance: Stance, rng: np.random.Generator, depth: float | None = None) -> Following:
    """The centre of mass goes down by `depth` (m) and up, twice; by default 20 cm, for smaller robots a fifth of its height."""
    c = stance.center_of_mass()
    height = float(c[2] - np.mean([middle_of(foot)[2] for foot in stance.feet]))
    low = c - [0.0, 0.0, min(SQUAT_DEPTH, SQUAT_SHARE * height) if depth is None else number("depth", depth)]
    path = WaypointReference([0.5, 1.5, 2.5, 3.5, 4.5], [c, low, c, low, c])
    return Following.of(stance, 5.0, [(stance.balance(), path)], [stance.upright(), stance.relaxed()])


def reach(stance: Stance, rng: np.random.Generator, hand: str | None = None) -> Following:
    """A hand goes forwards and down while the robot squats."""
    if hand is None:
        hand = _frame(stance, HANDS, "a hand: give one, hand=...")
    c, X = stance.center_of_mass(), stance.pose(hand)
    path = WaypointReference([0.5, 1.75, 3.0, 4.25], [c, c - [0.0, 0.0, 0.12], c - [0.0, 0.0, 0.12], c])
    there = X[:3, 3] + [0.15, 0.05, -0.1]
    way = WaypointReference([0.5, 2.0, 3.0, 4.5], [X[:3, 3], there, there, X[:3, 3]])
    task = FramePositionTask(hand, X[:3, 3], level=2, stiffness=HAND_STIFFNESS)
    return Following.of(stance, 5.0, [(stance.balance(), path), (task, way)], [stance.upright(), stance.relaxed()])


def swing(stance: Stance, rng: np.random.Generator) -> Following:
    """The centre of mass swings from side to side by 4 cm, with smooth starts."""
    c = stance.center_of_mass()
    path = SinusoidReference(c, [0.0, 0.04, 0.0], 0.4, 1.0)
    return Following.of(stance, 6.0, [(stance.balance(), path)], [stance.upright(), stance.relaxed()])


@dataclass(frozen=True, eq=False)
class Stepping(Scenario):
    """Contacts that come and go by a plan of footsteps, with the centre of mass on its plan."""

    stance: Stance
    duration: float
    footsteps: FootstepPlan
    plan: DCMPlan
    problems: Mapping[tuple[str, ...], Problem]
    planned: SampledReference  # of the plan
    soles: Mapping[str, SampledReference]  # of the feet that swing

    @staticmethod
    def of(stance: Stance, footsteps: FootstepPlan) -> Stepping:
        """Over footsteps, at the height of the centre of mass now."""
        height = float(stance.center_of_mass()[2] - np.mean([middle_of(foot)[2] for foot in stance.feet]))
        plan = walking_dcm(footsteps, height, gravity=float(-stance.model.gravity[2]))
        problems: dict[tuple[str, ...], Problem] = {}
        for phase in footsteps.phases:
            feet = tuple([replace(foot, at=None) for foot in stance.feet if foot.name in {f.name for f in phase.feet}])
            problems.setdefault(tuple([foot.name for foot in feet]), stance.problem(_tasks(stance, phase.swing), feet))
        swinging = {phase.swing for phase in footsteps.phases if phase.swing is not None}
        soles = {name: SampledReference(footsteps.foot(name), stance.dt) for name in swinging}
        return Stepping(stance, footsteps.end + 1.0, footsteps, plan, problems, SampledReference(plan, stance.dt), soles)

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> Problem:
        """The contacts of the phase; the divergent component of motion is led back to its plan."""
        phase, model = self.footsteps.phase(t), self.stance.model
        names = {foot.name for foot in phase.feet}
        held = self.problems[tuple([foot.name for foot in self.stance.feet if foot.name in names])]
        c, speed = center_of_mass(model, q), centroidal_momentum(model, q, v)[:3] / model.mass
        wish = self.planned(t)
        command = dcm_command(self.plan, wish, c, speed, GAIN, phase.polygon)
        flat, height, *rest = held.tasks
        flat = flat.with_target(c, speed, command.acceleration)
        height = height.with_target(wish.target, wish.velocity, wish.acceleration)
        if phase.swing is not None:
            rest[0] = rest[0].with_target(*self.soles[phase.swing](t))
        return held.with_tasks([flat, height, *rest])


def _tasks(stance: Stance, swing: str | None) -> list[FramePoseTask | CenterOfMassTask]:
    c = stance.center_of_mass()
    flat = CenterOfMassTask(c, weight=[1.0, 1.0, 0.0], stiffness=0.0, damping=0.0)
    found = [flat, CenterOfMassTask(c, weight=[0.0, 0.0, 1.0], stiffness=COM_STIFFNESS)]
    if swing is not None:
        found.append(FramePoseTask(_foot(stance, swing).frame, np.eye(4), stiffness=FOOT_STIFFNESS))  # type: ignore[arg-type]
    return [*found, stance.upright(2), stance.relaxed()]  # type: ignore[list-item]


def _foot(stance: Stance, name: str) -> Contact:
    return next(foot for foot in stance.feet if foot.name == name)


def walk(stance: Stance, rng: np.random.Generator, steps: int = 10, step_length: float = 0.2) -> Stepping:
    """Steps forward."""
    plan = walk_forward(stance.feet, step_length, steps, step_duration=0.8, double_support=0.25, rest_duration=1.2)
    return Stepping.of(stance, plan)


def lift(stance: Stance, rng: np.random.Generator) -> Stepping:
    """The weight goes to one foot, the other is lifted and put down; then the other way round."""
    plan = walk_forward(stance.feet, 0.0, 2, step_duration=2.0, double_support=0.4, rest_duration=1.5, clearance=0.08)
    return Stepping.of(stance, plan)


Make = Callable[[Stance, np.random.Generator], Scenario]
SCENARIOS: dict[str, Make] = {"stand": stand, "squat": squat, "reach": reach, "lift": lift, "walk": walk, "swing": swing}


def _frame(stance: Stance, names: tuple[str, ...], what: str) -> str:
    for name in names:
        if name in stance.model.frame_names:
            return name
    raise InputError(f"{stance.model.name!r} has no frame that is known as {what}: it has none of {', '.join(names)}")
