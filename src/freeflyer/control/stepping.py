"""Scenario of footsteps: contacts come and go by a plan, the divergent component of motion is led back to its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.control.body_tasks import CenterOfMassTask, FramePoseTask, FramePositionTask
from freeflyer.control.dcm import GAIN, DCMCommand, DCMPlan, dcm_command, walking_dcm
from freeflyer.control.footsteps import FootstepPlan, SupportPhase, heading
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.control.references import SampledReference, TargetMotion, WaypointReference, minimum_jerk
from freeflyer.control.scenario import COM_STIFFNESS, JOINT_ACCELERATION, Scenario, Stance
from freeflyer.control.support import convex_polygon, middle_of, pose_weight, support_polygon
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass, centroidal_momentum
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.model.placements import rotation_of_rpy

FOOT_STIFFNESS = 200.0  # 1/s^2
ACCELERATION = 15.0  # of gravity over height, 1/s^2: of joints of legs that swing
KEPT = 0.2  # share of the error of the DCM that is left after a step whose foothold moves
REACH_ERROR = 1e-3  # m, rad: of footholds in reach
FARTHEST = 0.3  # of the height of the centre of mass: how far a foothold moves beside the error of the centre of mass
SMOOTHING = 0.02  # s, of the displacement: the measured DCM has noise
SETTLED = 0.85  # share of a swing after which its foot lands where it was aimed at


class Stepping(Scenario):
    """Contacts that come and go by a plan of footsteps, with the centre of mass on its plan, at its height now.

    Over a line between two point feet the DCM cannot be led across the line: footholds move with its error there. Over a foot that
    is a line they do so by `StepAdjustment`, whose plan moves with them."""

    def __init__(self, stance: Stance, footsteps: FootstepPlan) -> None:
        dt, phases = stance.dt, footsteps.phases
        self.stance, self.duration = stance, dt * np.ceil((footsteps.end + 1.0) / dt - 1e-6)
        self.footsteps, self.plan = footsteps, walking_dcm(footsteps, stance.height(), gravity=float(-stance.model.gravity[2]))
        self.planned = SampledReference(self.plan, dt)
        self.problems: dict[tuple[str, ...], WholeBodyProblem] = {}
        most = JOINT_ACCELERATION if not _on_lines(stance) else ACCELERATION * self.plan.omega**2
        for phase in phases:
            feet = tuple([replace(foot, at=None) for foot in stance.feet if foot.name not in phase.swings])
            self.problems.setdefault(tuple(phase.swings), stance.problem(_tasks(stance, phase), feet, most))
        self.soles = {name: SampledReference(footsteps.foot(name), dt) for phase in phases for name in phase.swings}
        yaw = yaw_reference(footsteps)  # of the trunk, from its first orientation; None if the feet do not turn
        self.yaw = None if yaw is None else SampledReference(yaw, dt)
        lines = any(foot.kind == "line" for foot in stance.feet)
        self.adjustment = StepAdjustment(footsteps, self.plan, dt) if lines else None
        self.lifted: dict[tuple[str, float], np.ndarray] = {}  # by foot and time: how far off its plan it left

    def check_reach(self) -> None:
        """InputError if legs cannot reach the footholds of the plan in its middle, where the robot is fastest."""
        stance, swings = self.stance, [phase for phase in self.footsteps.phases if phase.swings]
        groups = len({tuple(phase.swings) for phase in swings})
        q, middle = stance.q, max(0, (len(swings) - groups) // 2)
        for t in [t for phase in swings[middle : middle + groups] for t in (phase.begin, phase.end)]:
            feet = [_foot_task(stance, foot, 0) for foot in stance.feet]
            aimed = [_at(task, *self.footsteps.foot(foot.name)(t)) for task, foot in zip(feet, stance.feet)]
            tasks = [replace(stance.balance(0), target=self.plan(t).target), self._upright(stance.upright(0), t), *aimed]
            found = inverse_kinematics(stance.model, [*tasks, stance.relaxed()], q)
            q, off = found.q, [float(np.abs(e).max()) for e in found.errors[:-1]]
            if max(off) > REACH_ERROR:
                raise InputError(
                    f"{stance.model.name!r} cannot go so fast with this gait: at {t:.2f} s its footholds are {max(off):.2g} m out "
                    "of reach. Give lower speeds, a freeflyer.control.Gait of a shorter period, or a posture q with legs bent more",
                    error=max(off),
                )  # fmt: skip

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        """The contacts of the phase; the divergent component of motion is led back to its plan."""
        phase, model = self.footsteps.phase(t), self.stance.model
        held = self.problems[tuple(phase.swings)]
        c, speed = center_of_mass(model, q), centroidal_momentum(model, q, v)[:3] / model.mass
        wish, polygon = self.planned(t), phase.polygon
        if self.adjustment is not None:
            self.adjustment.enter(phase)
            wish = wish._replace(target=wish.target + self.adjustment.plan_shift)
            polygon = support_polygon([foot.held_at(frame_pose(model, q, foot.frame)) for foot in phase.feet])
        elif len(polygon) < 3:
            places = [foot.held_at(frame_pose(model, q, foot.frame)) for foot in phase.feet]
            polygon = convex_polygon(np.array([middle_of(foot)[:2] for foot in places]))
        command = dcm_command(self.plan, wish, c, speed, GAIN, polygon)
        shift = np.zeros(3)
        if self.adjustment is None and phase.swings and len(polygon) < 3:
            shift[:2] = self._shift(t, phase, c, command, wish, polygon)
        flat, height, upright, posture, *feet = held.tasks
        flat = flat.with_target(c, speed, command.acceleration)
        height = height.with_target(wish.target, wish.velocity, wish.acceleration)
        if self.adjustment is None:
            swinging = [self._aimed(task, t, q, phase, name, shift) for task, name in zip(feet, phase.swings)]
        else:
            ground = middle_of(phase.feet[0].held_at(frame_pose(model, q, phase.feet[0].frame)))
            swinging = [
                _at(task, *self.adjustment.swing(t, command.dcm, ground, self.soles[name](t)))
                for task, name in zip(feet, phase.swings)
            ]
        return held.with_tasks([flat, height, self._upright(upright, t), posture, *swinging])

    def _upright(self, task: Task, t: float) -> Task:
        """The trunk's task, turned with the feet."""
        if self.yaw is None:
            return task
        yaw, rate, change = (np.append([0.0, 0.0], x) for x in self.yaw(t))
        return task.with_target(rotation_of_rpy(*yaw) @ self.stance.pose(self.stance.base)[:3, :3], rate, change)

    def _aimed(self, task: Task, t: float, q: np.ndarray, phase: SupportPhase, name: str, shift: np.ndarray) -> Task:
        """The task of a foot on its way: from where it left the ground to its foothold, both beside their places in the plan."""
        wish, step = self.soles[name](t), (name, phase.begin)
        if step not in self.lifted:
            self.lifted[step] = (frame_pose(self.stance.model, q, task.frames[0]) - wish.target)[:3, 3]
        before, way = self.lifted[step], np.append(shift - self.lifted[step], np.zeros(3))
        share, rate, change = minimum_jerk(np.asarray(t), phase.begin, phase.end - phase.begin)
        X = np.array(wish.target)
        X[:3, 3] += before + share * way[:3]
        return _at(task, X, wish.velocity + rate * way, wish.acceleration + change * way)

    def _shift(self, t: float, phase: SupportPhase, c: np.ndarray, command: DCMCommand, wish: TargetMotion,
               line: np.ndarray) -> np.ndarray:  # fmt: skip
        """How far (2,) beside their places the feet land, m: the error of the DCM grows across the line, where the ZMP stays, and
        shrinks along it; a foothold beyond it by the right share leaves KEPT of it after the next step."""
        w, after = self.plan.omega, self.footsteps.phase(phase.end)
        double = min(after.end - after.begin, phase.end - phase.begin)
        left = phase.end - t + 0.5 * double
        error = (command.dcm - wish.target - wish.velocity / w)[:2]
        off = (command.zmp - wish.target + wish.acceleration / w**2)[:2]
        grown = off + (error - off) * np.exp(w * left)
        if len(line) == 2:
            along = (line[1] - line[0]) / np.linalg.norm(line[1] - line[0])
            grown += along * (along @ (error * np.exp(-GAIN * left) - grown))
        growth = np.exp(w * (phase.end - phase.begin + double))
        beside = (c - wish.target)[:2]
        ahead = (growth - KEPT) / (growth - 1.0) * grown - beside
        return beside + ahead * min(1.0, FARTHEST * self.plan.height / max(float(np.linalg.norm(ahead)), 1e-9))


def _tasks(stance: Stance, phase: SupportPhase) -> list[Task]:
    """Lines leave torques about them free: there the trunk stays upright first."""
    c, points = stance.center_of_mass(), _on_lines(stance)
    flat = CenterOfMassTask(c, level=2 if points else 1, weight=[1.0, 1.0, 0.0], stiffness=0.0, damping=0.0)
    height = CenterOfMassTask(c, weight=[0.0, 0.0, 1.0], stiffness=COM_STIFFNESS)
    swinging = [_foot_task(stance, foot) for name in phase.swings for foot in stance.feet if foot.name == name]
    return [flat, height, stance.upright(1 if points else 2), stance.relaxed(), *swinging]


def _on_lines(stance: Stance) -> bool:
    """Whether a foot of the robot has no width: it may stand on lines alone."""
    return any(foot.kind != "surface" for foot in stance.feet)


def _at(task: Task, X: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> Task:
    """The task of a foot at a pose; a point foot only at its place."""
    if isinstance(task, FramePositionTask):
        return task.with_target(X[:3, 3], velocity[:3], acceleration[:3])
    return task.with_target(X, velocity, acceleration)


def _foot_task(stance: Stance, foot: Contact, level: int = 1) -> Task:
    X = stance.pose(foot.frame)
    if foot.kind == "point":
        return FramePositionTask(foot.frame, X[:3, 3], level=level, stiffness=FOOT_STIFFNESS)
    return FramePoseTask(foot.frame, X, level=level, weight=pose_weight(foot, X[:3, :3]), stiffness=FOOT_STIFFNESS)


def yaw_reference(footsteps: FootstepPlan) -> WaypointReference | None:
    """The mean yaw (1,) of the feet on the ground beside that of all at first, rad; None if they do not turn."""
    first = {foot.name: np.asarray(foot.at) for foot in footsteps.phases[0].feet}
    times, turns = [footsteps.begin], [0.0]
    for phase in footsteps.phases[1:]:
        turned = [np.asarray(foot.at)[:3, :3] @ first[foot.name][:3, :3].T for foot in phase.feet]
        times.append(phase.end if phase is footsteps.phases[-1] else 0.5 * (phase.begin + phase.end))
        turns.append(float(np.mean([np.unwrap([turns[-1], np.arctan2(R[1, 0], R[0, 0])])[1] for R in turned])))
    return WaypointReference(times, np.array(turns)[:, None]) if np.abs(turns).max() > 1e-9 else None


class StepAdjustment:
    """Displacements, over one run, of a plan and its feet: (3,), m, world axes.

    Khadiv, Herzog, Moosavian and Righetti, "Walking control based on step timing adaptation", IEEE Transactions on Robotics 36(3),
    2020, with steps of fixed duration. In single support the DCM grows away from the foot, xi(end) = p + (xi - p) e^(omega (end -
    t)): the foot in the air lands farther by what xi(end) is off its plan, which goes on displaced by as much."""

    def __init__(self, footsteps: FootstepPlan, plan: DCMPlan, dt: float) -> None:
        ahead = heading(footsteps.phases[0].feet)
        self.side = np.array([-ahead[1], ahead[0], 0.0])
        self.plan, self.share = plan, min(1.0, dt / SMOOTHING)
        self.phase = footsteps.phases[0]
        self.plan_shift = self.aim = np.zeros(3)  # of the plan in this phase, of the next place of the foot in the air
        self.foot_shifts = {foot.name: np.zeros(3) for foot in self.phase.feet}  # of those on the ground

    def enter(self, phase: SupportPhase) -> None:
        """The phase of now: a foot that landed keeps its displacement, and the plan takes it on."""
        if phase is not self.phase:
            for name in self.phase.swings:
                self.foot_shifts[name] = self.plan_shift = self.aim
            self.phase, self.aim = phase, self.plan_shift

    def swing(self, t: float, dcm: np.ndarray, foot: np.ndarray, planned: TargetMotion) -> TargetMotion:
        """Motion of the foot in the air at the time t (s), given the DCM and the middle (3,) of the foot on the ground, m."""
        phase = self.phase
        length = phase.end - phase.begin
        s = (t - phase.begin) / (SETTLED * length)
        if s < 1.0:
            landing = foot + (dcm - foot) * np.exp(self.plan.omega * (phase.end - t))
            off = (landing - self.plan.dcm(phase.end) - self.plan_shift) @ self.side
            self.aim = self.aim + self.share * (self.plan_shift + off * self.side - self.aim)
        s = min(s, 1.0)
        (name,) = phase.swings
        before = self.foot_shifts[name]
        rate, way = 1.0 / (SETTLED * length), self.aim - before
        target, velocity, acceleration = (np.array(x) for x in planned)
        target[:3, 3] += before + way * (s**3 * (10.0 - 15.0 * s + 6.0 * s * s))  # minimum jerk
        velocity[:3] += way * rate * 30.0 * (s * (1.0 - s)) ** 2
        acceleration[:3] += way * rate**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        return TargetMotion(target, velocity, acceleration)
