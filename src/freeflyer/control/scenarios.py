"""Scenarios: standing under pushes, squatting, reaching, lifting a foot, walking."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.control.body_tasks import FramePositionTask
from freeflyer.control.chains import kinematic_chains
from freeflyer.control.checks import shaped
from freeflyer.control.footsteps import GAITS, Gait, gait_footsteps, heading, walk_forward
from freeflyer.control.problem import WholeBodyProblem
from freeflyer.control.references import SinusoidReference, WaypointReference
from freeflyer.control.scenario import Following, Scenario, Stance
from freeflyer.control.stepping import Stepping
from freeflyer.control.support import max_push_impulse
from freeflyer.errors import InputError
from freeflyer.linkages.rows import support
from freeflyer.model.inputs import number, whole_number
from freeflyer.model.rigid_bodies import rigid_groups

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


class Stand(Scenario):
    """Standing under pushes on the base: impulses (n, 2) in N s, one every PUSH_INTERVAL seconds, from `first` (s) on."""

    def __init__(self, stance: Stance, impulses: np.ndarray, first: float) -> None:
        self.stance, self.duration = stance, first + PUSH_INTERVAL * len(impulses)
        self.held, self.first = stance.problem([stance.balance(), stance.upright(2), stance.relaxed()]), first
        self.impulses = np.column_stack([impulses, np.zeros((len(impulses), 4))])

    def problem(self, t: float, q: np.ndarray, v: np.ndarray) -> WholeBodyProblem:
        """The same at all times."""
        return self.held

    def pushes(self, t: float, q: np.ndarray, v: np.ndarray) -> Mapping[str, np.ndarray] | None:
        """A constant force for PUSH_DURATION, at the beginning of each interval."""
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
        size = share * rng.uniform(0.3, 1.0, pushes) * most
        impulses = along(angles, size)
    return Stand(stance, shaped("impulses", impulses, "n", 2, more=", N s"), first)


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
    X = stance.pose(chosen)
    ahead = _forward(stance)
    trunk, side = chosen in _trunk(stance), np.array([-ahead[1], ahead[0], 0.0])
    move = scale * (REACH[0] * ahead + REACH[1] * side + [0.0, 0.0, REACH[2]])
    if trunk:  # it turns about the centre of mass
        lever = float(np.linalg.norm((X[:3, 3] - c)[:2]))
        if lever < LEVER:
            raise InputError(f"{stance.model.name!r} has no arm, and no frame of its trunk to reach with: name a frame, hand=...")
        move -= (move @ ahead) * ahead
        move *= min(1.0, LEAN * lever / float(np.linalg.norm(move)))
    low = c - [0.0, 0.0, 0.0 if trunk else scale * REACH_DEPTH]
    low_path = WaypointReference([0.5, 1.75, 3.0, 4.25], [c, low, low, c])
    there = X[:3, 3] + move
    way = WaypointReference([0.5, 2.0, 3.0, 4.5], [X[:3, 3], there, there, X[:3, 3]])
    task = FramePositionTask(chosen, X[:3, 3], level=2, stiffness=HAND_STIFFNESS)
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
            clearance=_scaled(stance, CLEARANCE),
        ))  # fmt: skip
    if step_length is not None:
        raise InputError("step_length is for two feet without gait, speeds and turning rate, which determine it: leave it out")
    height, gravity = stance.height(), -float(stance.model.gravity[2])
    name = DEFAULT[len(feet)] if gait is None else gait
    chosen = name if isinstance(name, Gait) else Gait.named(name, height, len(feet), gravity=gravity)
    made = Stepping(stance, gait_footsteps(
        feet, chosen, speed=STRIDE * height / chosen.period if speed is None else speed, lateral=lateral, turning=turning,
        cycles=max(2, round(WALK_DURATION / chosen.period)) if steps is None else whole_number("steps", steps, 1),
        rest_duration=REST * float(np.sqrt(height / gravity)), clearance=0.1 * height, forward=_forward(stance),
    ))  # fmt: skip
    made.check_reach()
    return made


def lift(stance: Stance, rng: np.random.Generator) -> Stepping:
    """The weight goes off each foot in turn, which is lifted and put down."""
    feet = _walking_feet(stance)
    phases = GAITS[len(feet)]["walk" if len(feet) == 2 else "crawl"][2]
    period = 2.0 * len(feet)
    return Stepping(stance, gait_footsteps(
        feet, Gait(period, 1.0 - 1.2 / period, phases), cycles=1, rest_duration=1.5, clearance=_scaled(stance, 0.08),
        forward=_forward(stance),
    ))  # fmt: skip


def _walking_feet(stance: Stance) -> tuple[Contact, ...]:
    """The feet; InputError unless they are four, or two that bear the weight one at a time."""
    feet = stance.feet
    if len(feet) not in GAITS or (len(feet) == 2 and any(foot.kind == "point" for foot in feet)):
        raise InputError(
            f"walking and lifting feet take two feet, soles or lines, or four feet, {stance.model.name!r} stands on "
            f"{', '.join(f'{foot.name} ({foot.kind})' for foot in feet)}: it can stand, squat, reach and swing"
        )
    return feet


def _forward(stance: Stance) -> np.ndarray:
    """(3,): the mean of the x axes of the soles; above points, whose frames turn with the legs, that of the base."""
    return stance.pose(stance.base)[:3, 0] if any(foot.kind == "point" for foot in stance.feet) else heading(stance.feet)


def _scaled(stance: Stance, length: float) -> float:
    """A length (m) for robots with the centre of mass at HEIGHT or above, less for smaller ones in proportion."""
    return length * min(1.0, stance.height() / HEIGHT)


Make = Callable[[Stance, np.random.Generator], Scenario]
SCENARIOS: dict[str, Make] = {"stand": stand, "squat": squat, "reach": reach, "lift": lift, "walk": walk, "swing": swing}
