"""Scenarios: standing under pushes, squatting, reaching, lifting a foot, walking by a plan of footsteps."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import ConstraintSet, Contact
from freeflyer.control.body_tasks import CenterOfMassTask, FramePoseTask, FramePositionTask
from freeflyer.control.chains import kinematic_chains
from freeflyer.control.dcm import GAIN, StepAdjustment, dcm_feedback, displaced, vrp_at_rest, walking_dcm
from freeflyer.control.footsteps import GAITS, FootstepPlan, Gait, SupportPhase, gait_footsteps, heading, walk_forward
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.control.references import SampledReference, SinusoidReference, TargetMotion, WaypointReference
from freeflyer.control.scenario import COM_STIFFNESS, JOINT_ACCELERATION, Following, MovingTask, Scenario, Stance
from freeflyer.control.support import max_push_impulse, middle_of, pose_weight, support_polygon
from freeflyer.control.tasks import Task
from freeflyer.dynamics import center_of_mass, centroidal_momentum, frame_pose
from freeflyer.errors import InputError
from freeflyer.kernels.control.layout import ACCELERATION
from freeflyer.linkages.rows import support
from freeflyer.model import number, rigid_groups, rotation_of_rpy, shaped, whole_number

PUSH_DURATION, PUSH_INTERVAL = 0.1, 3.0  # s
HEIGHT = 0.95  # m: of a centre of mass above the soles; lengths below are scaled down for robots that are smaller
SQUAT_DEPTH, STEP_LENGTH, CLEARANCE = 0.2, 0.2, 0.05  # m
REACH, REACH_DEPTH = np.array([0.15, 0.05, -0.1]), 0.12  # m: forward, to the left and up; of the centre of mass
LEAN, LEVER = 0.3, 0.1  # rad: of a trunk that reaches; m: from the centre of mass to its frame, at least
ARM_JOINTS = 3  # of an arm at least
HANDS = ("left_palm", "left_hand", "L_Wrist2_Link", "gripper_left_base_link", "arm_left_7_link")
HAND_STIFFNESS = 80.0  # 1/s^2
WALK_DURATION, STRIDE = 10.0, 0.4  # s; of the height of the centre of mass: way in a period
REST = 4.0  # sqrt(height / gravity): before and after a walk
DEFAULT = {2: "walk", 4: "trot"}  # gaits by the number of feet
FOOT_STIFFNESS = 200.0  # 1/s^2
LEG_ACCELERATION = 15.0  # of gravity over height, 1/s^2: of joints of legs that swing
KEPT = 0.2  # share of the error of the DCM that is left after a step whose foothold moves
REACH_ERROR = 1e-3  # m, rad: of footholds in reach
FARTHEST = 0.3  # of the height of the centre of mass: how far a foothold moves beside the error of the centre of mass
PlannedMotion = namedtuple("PlannedMotion", "target velocity acceleration numbers rest")  # of the centre of mass


class Stepping(Scenario):
    """Contacts that come and go by a plan of footsteps, with the centre of mass on its plan, at its height now.

    Over a line between two point feet the DCM cannot be led across the line: footholds move with its error there. Over a foot
    that is a line they do so by `StepAdjustment`, whose plan moves with them."""

    def __init__(self, stance: Stance, footsteps: FootstepPlan) -> None:
        dt, phases = stance.dt, footsteps.phases
        self.stance, self.duration, self.footsteps = stance, dt * np.ceil((footsteps.end + 1.0) / dt - 1e-6), footsteps
        self.plan = walking_dcm(footsteps, stance.height(), gravity=float(-stance.model.gravity[2]))
        self.problems: dict[tuple[str, ...], WholeBodyProblem] = {}
        most = JOINT_ACCELERATION if not _on_lines(stance) else LEG_ACCELERATION * self.plan.omega**2
        tasks, legs = _tasks(stance), {foot.name: _foot_task(stance, foot) for foot in stance.feet}
        for swings in {tuple(phase.swings) for phase in phases}:
            feet = tuple([replace(foot, at=None) for foot in stance.feet if foot.name not in swings])
            self.problems[swings] = stance.problem([*tasks, *[legs[name] for name in swings]], feet, most)

        def planned(t: np.ndarray) -> PlannedMotion:
            motion = self.plan(t)
            return PlannedMotion(*motion, tasks[1].moved(*motion).make_numbers(), vrp_at_rest(self.plan, motion, GAIN))

        self.planned = SampledReference(planned, dt)
        self.soles = {name: SampledReference(footsteps.foot(name), dt) for phase in phases for name in phase.swings}
        yaw = yaw_reference(footsteps)  # of the trunk, from its first orientation; None if the feet do not turn
        self.yaw = None if yaw is None else SampledReference(yaw, dt)
        lines = any(foot.kind == "line" for foot in stance.feet)
        self.adjustment = StepAdjustment(footsteps, self.plan, dt) if lines else None
        self.ways: dict[SupportPhase, list[MovingTask]] = {}  # of feet from where they left to their footholds

    def check_reach(self) -> None:
        """InputError if legs cannot reach the footholds of the plan in its middle, where the robot is fastest."""
        stance, swings = self.stance, [phase for phase in self.footsteps.phases if phase.swings]
        groups = len({tuple(phase.swings) for phase in swings})
        q, middle = stance.q, max(0, (len(swings) - groups) // 2)
        for t in [t for phase in swings[middle : middle + groups] for t in (phase.begin, phase.end)]:
            feet = [(_foot_task(stance, foot, 0), self.footsteps.foot(foot.name)(t)) for foot in stance.feet]
            aimed = [task.moved(*_part(task, motion)) for task, motion in feet]
            tasks = [replace(stance.balance(0), target=self.plan(t).target), self._upright(stance.upright(0), t), *aimed]
            found = inverse_kinematics(stance.model, [*tasks, stance.relaxed()], q)
            q, off = found.q, [float(np.abs(e).max()) for e in found.errors[:-1]]
            if max(off) > REACH_ERROR:
                raise InputError(
                    f"{stance.model.name!r} cannot go so fast with this gait: at {t:.2f} s its footholds are {max(off):.2g} m out "
                    "of reach. Give lower speeds, a freeflyer.control.Gait of a shorter period, or a posture q with legs bent more",
                    error=max(off))  # fmt: skip

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        """The contacts of the phase; the divergent component of motion is led back to its plan."""
        phase, model = self.footsteps.phase(t), self.stance.model
        held = self.problems[tuple(phase.swings)]
        c, speed = center_of_mass(model, q), centroidal_momentum(model, q, v)[:3] / model.mass
        wish, polygon, feet = self.planned(t), phase.polygon, phase.feet
        if self.adjustment is not None:
            self.adjustment.enter(phase)
            shift = self.adjustment.plan_shift
            wish = wish._replace(target=wish.target + shift, numbers=None, rest=wish.rest - GAIN / self.plan.omega * shift)
        if self.adjustment is not None or len(polygon) < 3:
            feet = tuple([foot.held_at(frame_pose(model, q, foot.frame)) for foot in feet])
            polygon = support_polygon(feet)
        acceleration, vrp, dcm = dcm_feedback(self.plan, wish.rest, c, speed, GAIN, polygon)
        flat, height, upright, posture, *swung = held.tasks
        numbers = flat.numbers(0).copy()  # without gains: the target does not count
        numbers[ACCELERATION : ACCELERATION + 3] = acceleration
        flat, height = flat.moved(c, speed, acceleration, numbers), height.moved(*wish[:4])
        if self.adjustment is not None:
            ground, moved = middle_of(feet[0]), self.adjustment.swing
            swinging = [
                task.moved(*_part(task, moved(t, dcm, ground, self.soles[x](t)))) for task, x in zip(swung, phase.swings)]
        elif len(polygon) < 3 and swung:
            shift, span = np.append(self._shift(t, phase, c, vrp, dcm, wish, polygon), 0.0), (phase.begin, phase.end - phase.begin)
            ways = self._ways(t, q, phase, swung)
            swinging = [way.task.moved(*displaced(way.motion(t)[:3], np.zeros(3), shift, t, *span)) for way in ways]
        else:
            swinging = [way(t) for way in self._ways(t, q, phase, swung)]
        return held.with_targets([flat, height, self._upright(upright, t), posture, *swinging])

    def _upright(self, task: Task, t: float) -> Task:
        """The trunk's task, turned with the feet."""
        if self.yaw is None:
            return task
        yaw, rate, change = (np.append([0.0, 0.0], x) for x in self.yaw(t))
        return task.moved(rotation_of_rpy(*yaw) @ self.stance.pose(self.stance.base)[:3, :3], rate, change)

    def _ways(self, t: float, q: np.ndarray, phase: SupportPhase, tasks: Sequence[Task]) -> list[MovingTask]:
        """Feet on their ways: from where they left the ground to their footholds, both beside their places in the plan."""
        if phase not in self.ways:
            self.ways[phase] = [
                self._way(task, sole.reference, (frame_pose(self.stance.model, q, task.frames[0]) - sole(t).target)[:3, 3], phase)
                for task, sole in zip(tasks, [self.soles[name] for name in phase.swings])]
        return self.ways[phase]

    def _way(self, task: Task, sole: Callable[[np.ndarray], TargetMotion], off: np.ndarray, phase: SupportPhase) -> MovingTask:
        begin, duration = phase.begin, phase.end - phase.begin
        return MovingTask(task, lambda t: displaced(_part(task, sole(t)), off, -off, t, begin, duration), self.stance.dt)

    def _shift(self, t: float, phase: SupportPhase, c: np.ndarray, vrp: np.ndarray, dcm: np.ndarray, wish: TargetMotion,
               line: np.ndarray) -> np.ndarray:  # fmt: skip
        """How far (2,) beside their places the feet land, m: the error of the DCM grows across the line, where the ZMP stays, and
        shrinks along it; a foothold beyond it by the right share leaves KEPT of it after the next step."""
        w, after = self.plan.omega, self.footsteps.phase(phase.end)
        double = min(after.end - after.begin, phase.end - phase.begin)
        left = phase.end - t + 0.5 * double
        error = (dcm - wish.target - wish.velocity / w)[:2]
        off = (vrp - wish.target + wish.acceleration / w**2)[:2]
        grown = off + (error - off) * np.exp(w * left)
        if len(line) == 2:
            along = (line[1] - line[0]) / np.linalg.norm(line[1] - line[0])
            grown += along * (along @ (error * np.exp(-GAIN * left) - grown))
        growth = np.exp(w * (phase.end - phase.begin + double))
        beside = (c - wish.target)[:2]
        ahead = (growth - KEPT) / (growth - 1.0) * grown - beside
        return beside + ahead * min(1.0, FARTHEST * self.plan.height / max(float(np.linalg.norm(ahead)), 1e-9))


def _tasks(stance: Stance) -> list[Task]:
    """Those of the body. Lines leave torques about them free: there the trunk stays upright first."""
    c, points = stance.center_of_mass(), _on_lines(stance)
    flat = CenterOfMassTask(c, level=2 if points else 1, weight=[1.0, 1.0, 0.0], stiffness=0.0, damping=0.0)
    height = CenterOfMassTask(c, weight=[0.0, 0.0, 1.0], stiffness=COM_STIFFNESS)
    return [flat, height, stance.upright(1 if points else 2), stance.relaxed()]


def _on_lines(stance: Stance) -> bool:
    """Whether a foot of the robot has no width: it may stand on lines alone."""
    return any(foot.kind != "surface" for foot in stance.feet)


def _part(task: Task, motion: TargetMotion) -> TargetMotion:
    """Of a motion of poses what the task of a foot follows: a point foot only its place."""
    if not isinstance(task, FramePositionTask):
        return motion
    return TargetMotion(motion.target[..., :3, 3], motion.velocity[..., :3], motion.acceleration[..., :3])


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


class Stand(Scenario):
    """Standing under pushes on the base: impulses (n, 2) in N s, one every PUSH_INTERVAL seconds, from `first` (s) on."""

    def __init__(self, stance: Stance, impulses: np.ndarray, first: float) -> None:
        self.stance, self.duration = stance, first + PUSH_INTERVAL * len(impulses)
        self.held, self.first = stance.problem([stance.balance(), stance.upright(2), stance.relaxed()]), first
        self.impulses = np.column_stack([impulses, np.zeros((len(impulses), 4))])

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        return self.held

    def pushes(self, t: float, q: np.ndarray, v: np.ndarray) -> Mapping[str, np.ndarray] | None:
        k, since = divmod(t - self.first + 1e-9, PUSH_INTERVAL)
        if not 0 <= k < len(self.impulses) or since >= PUSH_DURATION:
            return None
        return {self.stance.base: self.impulses[int(k)] / PUSH_DURATION}


def stand(stance: Stance, rng: np.random.Generator, pushes: int = 3, share: float = 0.5, impulses: ArrayLike | None = None,
          first: float = 1.0) -> Stand:  # fmt: skip
    """Pushes in random directions, of up to `share` of what the capture point over the support polygon allows; or impulses (n, 2)
    in N s, the first of them at the time `first`, s."""
    if impulses is None:
        angles = rng.uniform(0.0, 2.0 * np.pi, pushes)
        most = max_push_impulse(stance.model, stance.q, np.zeros(stance.model.nv), angles, stance.feet)
        most = np.nan_to_num(most)  # the capture point is beside feet without area, by rounding
        impulses = along(angles, share * rng.uniform(0.3, 1.0, pushes) * most)
    return Stand(stance, shaped("impulses", impulses, ("n", 2), ", N s"), first)


def along(angles: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Vectors (n, 2) of these directions, rad, and sizes."""
    return np.column_stack([sizes * np.cos(angles), sizes * np.sin(angles)])


def squat(stance: Stance, rng: np.random.Generator, depth: float | None = None) -> Following:
    """The centre of mass goes down by `depth` (m) and up, twice; by default 20 cm, less for smaller robots."""
    c = stance.center_of_mass()
    low = c - [0.0, 0.0, _scaled(stance, SQUAT_DEPTH) if depth is None else number("depth", depth)]
    path = WaypointReference([0.5, 1.5, 2.5, 3.5, 4.5], [c, low, c, low, c])
    return Following(stance, 5.0, [(stance.balance(), path)], [stance.upright(), stance.relaxed()])


def reach(stance: Stance, rng: np.random.Generator, hand: str | None = None) -> Following:
    """A hand goes forwards, to the left and down while the robot squats; without a known hand the link at the end of an arm, and
    without arms the front of the trunk, to the left and down."""
    c, scale = stance.center_of_mass(), _scaled(stance, 1.0)
    chosen = _hand(stance) if hand is None else hand
    X, ahead = stance.pose(chosen), _forward(stance)
    trunk, side = chosen in _trunk(stance), np.array([-ahead[1], ahead[0], 0.0])
    move = scale * (REACH[0] * ahead + REACH[1] * side + [0.0, 0.0, REACH[2]])
    if trunk:  # it turns about the centre of mass, on an arc
        lever = float(np.linalg.norm((X[:3, 3] - c)[:2]))
        if lever < LEVER:
            raise InputError(f"{stance.model.name!r} has no arm, and no frame of its trunk to reach with: name a frame, hand=...")
        move -= (move @ ahead) * ahead
        move *= min(1.0, LEAN * lever / float(np.linalg.norm(move)))
    low = c - [0.0, 0.0, 0.0 if trunk else scale * REACH_DEPTH]
    low_path = WaypointReference([0.5, 1.75, 3.0, 4.25], [c, low, low, c])
    times, weight = [0.5, 1.25, 2.0, 3.0, 3.75, 4.5] if trunk else [0.5, 2.0, 3.0, 4.5], np.ones(3)
    arms = X[:3, 3] - c + np.multiply.outer(np.interp(times, [0.5, 2.0, 3.0, 4.5], [0.0, 1.0, 1.0, 0.0]), move)
    if trunk:  # the distance from the centre of mass is not its choice
        arms *= np.linalg.norm(arms[0]) / np.linalg.norm(arms, axis=1)[:, None]
        weight[np.abs(arms[0]).argmax()] = 0.0
    task = FramePositionTask(chosen, X[:3, 3], level=2, weight=weight, stiffness=HAND_STIFFNESS)
    way = WaypointReference(times, c + arms)
    still = [stance.relaxed()] if trunk else [stance.upright(), stance.relaxed()]
    return Following(stance, 5.0, [(stance.balance(), low_path), (task, way)], still)


def _trunk(stance: Stance) -> list[str]:
    """Frames that are fixed to the base."""
    given = stance.model.tree.description
    groups = rigid_groups(given, with_world=False)
    links = {s.name: s.link for s in given.sites} | {name: name for name in groups}
    return [name for name in stance.model.frame_names if groups[links[name]][0] == groups[stance.base][0]]


def _hand(stance: Stance) -> str:
    """The hand that reaches: one of HANDS, the last link of the longest arm, or the frame of the trunk farthest ahead."""
    model = stance.model
    known = next((name for name in HANDS if name in model.frame_names), None)
    if known is not None:
        return known
    free = set(kinematic_chains(model, contacts=ConstraintSet(model, contacts=stance.feet)).unconstrained.tolist())
    arms = {name: len(free & support(model, name)) for name in model.link_names} if not model.reduction else {}
    if arms and max(arms.values()) >= ARM_JOINTS:
        return max(arms, key=lambda name: arms[name])
    return max(_trunk(stance), key=lambda name: float(stance.pose(name)[0, 3]))


def swing(stance: Stance, rng: np.random.Generator) -> Following:
    """The centre of mass swings from side to side by 4 cm, less for smaller robots, with smooth starts."""
    sway = SinusoidReference(stance.center_of_mass(), [0.0, _scaled(stance, 0.04), 0.0], 0.4, 1.0)
    return Following(stance, 6.0, [(stance.balance(), sway)], [stance.upright(), stance.relaxed()])


def walk(stance: Stance, rng: np.random.Generator, steps: int | None = None, step_length: float | None = None,
         gait: str | Gait | None = None, speed: float | None = None, lateral: float = 0.0,
         turning: float = 0.0) -> Stepping:  # fmt: skip
    """Two feet make steps forward, of 20 cm, shorter ones for smaller robots. Four feet, and two with a gait, speeds (m/s) or a
    turning rate (rad/s), go so fast; `steps` are then those of each foot. By default four feet trot for WALK_DURATION."""
    feet = _walking_feet(stance)
    if len(feet) == 2 and gait is None and speed is None and lateral == turning == 0.0:
        length = _scaled(stance, STEP_LENGTH) if step_length is None else step_length
        period = 0.6 if any(foot.kind == "line" for foot in feet) else 0.8  # feet without width let it fall to a side
        return Stepping(stance, walk_forward(
            feet, length, 10 if steps is None else steps, step_duration=period, double_support=0.25, rest_duration=1.2,
            clearance=_scaled(stance, CLEARANCE)))  # fmt: skip
    if step_length is not None:
        raise InputError("step_length is for two feet without gait, speeds and turning rate, which determine it: leave it out")
    height, gravity = stance.height(), -float(stance.model.gravity[2])
    name = DEFAULT[len(feet)] if gait is None else gait
    chosen = name if isinstance(name, Gait) else Gait.named(name, height, len(feet), gravity=gravity)
    made = Stepping(stance, gait_footsteps(
        feet, chosen, speed=STRIDE * height / chosen.period if speed is None else speed, lateral=lateral, turning=turning,
        cycles=max(2, round(WALK_DURATION / chosen.period)) if steps is None else whole_number("steps", steps, 1),
        rest_duration=REST * float(np.sqrt(height / gravity)), clearance=0.1 * height, forward=_forward(stance)))  # fmt: skip
    made.check_reach()
    return made


def lift(stance: Stance, rng: np.random.Generator) -> Stepping:
    """The weight goes off each foot in turn, which is lifted and put down."""
    feet = _walking_feet(stance)
    phases = GAITS[len(feet)]["walk" if len(feet) == 2 else "crawl"][2]
    period = 2.0 * len(feet)
    return Stepping(stance, gait_footsteps(
        feet, Gait(period, 1.0 - 1.2 / period, phases), cycles=1, rest_duration=1.5, clearance=_scaled(stance, 0.08),
        forward=_forward(stance)))  # fmt: skip


def _walking_feet(stance: Stance) -> tuple[Contact, ...]:
    """The feet; InputError unless they are four, or two that bear the weight one at a time."""
    feet = stance.feet
    if len(feet) not in GAITS or (len(feet) == 2 and any(foot.kind == "point" for foot in feet)):
        raise InputError(f"walking and lifting feet take two feet, soles or lines, or four feet, {stance.model.name!r} stands on "
            f"{', '.join(f'{foot.name} ({foot.kind})' for foot in feet)}: it can stand, squat, reach and swing")
    return feet


def _forward(stance: Stance) -> np.ndarray:
    """(3,): the mean of the x axes of the soles; above points, whose frames turn with the legs, that of the base."""
    return stance.pose(stance.base)[:3, 0] if any(foot.kind == "point" for foot in stance.feet) else heading(stance.feet)


def _scaled(stance: Stance, length: float) -> float:
    """A length (m) for robots with the centre of mass at HEIGHT or above, less for smaller ones in proportion."""
    return length * min(1.0, stance.height() / HEIGHT)


Make = Callable[[Stance, np.random.Generator], Scenario]
SCENARIOS: dict[str, Make] = {"stand": stand, "squat": squat, "reach": reach, "lift": lift, "walk": walk, "swing": swing}
