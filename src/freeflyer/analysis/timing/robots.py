"""Robots and problems that are timed: those that this machine has, and TALOS on two feet, which holds its posture or reaches.

Problems are numbers alone: another library builds its own from them."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from freeflyer import contacts, robots
from freeflyer.analysis.timing.results import NoPeerError, time_interleaved
from freeflyer.contacts.constrained_dynamics import project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.control.body_tasks import CenterOfMassTask, FrameOrientationTask, FramePoseTask, PostureTask
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.manifold import configuration, integrate
from freeflyer.errors import InputError
from freeflyer.model.load import load
from freeflyer.model.model import Model
from freeflyer.spatial import quaternion
from freeflyer.tables import Table
from freeflyer.text import microseconds as us


@dataclass(frozen=True)
class BenchRobot:
    """A robot to time, and the URDF or MJCF file it comes from, which a peer can read too."""

    model: Any
    urdf: Path | None
    mjcf: Path | None = None


def default_robots() -> Iterator[BenchRobot]:
    """TALOS (example-robot-data), a floating chain of 50 links, the humanoid, a quadruped, arms of 1, 2 and 6 joints; of folder
    FREEFLYER_MODELS TOCABI, and with loops the five-bar, Cassie and Kangaroo."""
    talos = example_urdf("talos_reduced.urdf")
    if talos is not None:
        yield from_file(talos)
    for model in (robots.chain(50, base="free"), robots.make("humanoid"), robots.make("quadruped"), *map(robots.chain, (6, 2, 1))):
        yield BenchRobot(model, None)
    if not os.environ.get("FREEFLYER_MODELS"):
        return
    folder = Path(os.environ["FREEFLYER_MODELS"])
    if tocabi := sorted((folder / "tocabi").glob("*.urdf")):
        yield from_file(tocabi[0])
    five_bar = folder / "five_bar"
    if (five_bar / "robot.yaml").is_file():
        yield from_file(five_bar / "robot.urdf", base="fixed", loops=five_bar / "robot.yaml")
    for path in (folder / "cassie" / "cassie.xml", folder / "kangaroo" / "kangaroo.xml"):
        if path.is_file():
            yield from_file(path)


def from_file(path: Path, **options: Any) -> BenchRobot:
    """A robot from a file; a URDF file is handed to the peer as it is."""
    return robot_of_file(load(path, **options), path)


def robot_of_file(model: Any, path: Path | None) -> BenchRobot:
    """A model and the file it was loaded from, if any."""
    kind = "" if path is None else path.suffix.lower()
    return BenchRobot(model, path if kind == ".urdf" else None, path if kind in (".xml", ".mjcf") else None)


def example_urdf(name: str) -> Path | None:
    """The URDF of that name in the example-robot-data package, None where it is not installed."""
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    return next(iter(sorted(folder.rglob(name))), None) if folder.is_dir() else None


WEIGHTS = MappingProxyType({"com": 100.0, "pelvis": 10.0, "hand": 10.0, "posture": 0.1, "force": 1e-5})
STIFFNESS = MappingProxyType({"com": 40.0, "pelvis": 30.0, "hand": 100.0, "posture": 10.0, "contact": 50.0})
# of a foot's wrench, in the foot's axes about the frame's origin: forces along the sole, the normal force, torques
FORCE_ROWS = (1.0, 1.0, 1e-3, 2.0, 2.0, 2.0)
TOLERANCE = 1e-6  # m and rad: where both stop
MOST = 200  # steps
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
    return Standing(model, urdf, feet, tuple(frame_pose(model, q, foot) for foot in feet),
        np.array([[x, y, 0.0] for x in (-0.11, 0.1) for y in (-0.06, 0.07)]), q,
        center_of_mass(model, q) + [0.01, 0.02, -0.01], pelvis, tilt @ frame_pose(model, q, pelvis)[:3, :3], hand, X,
        model.effort_limit[6:], model.velocity_limit[6:], np.full(model.nv - 6, 100.0))  # fmt: skip


def motion_tasks(problem: Standing) -> dict[str, Task]:
    """Our tasks whose squared errors of accelerations are the costs, by their names in `weights`."""
    tasks = {"com": CenterOfMassTask(problem.com), "pelvis": FrameOrientationTask(problem.pelvis, problem.attitude),
        "hand": FramePoseTask(problem.hand, problem.pose), "posture": PostureTask(problem.posture)}  # fmt: skip
    return {name: replace(x, weight=problem.weights[name], stiffness=problem.stiffness[name]) for name, x in tasks.items()}


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


@dataclass(frozen=True, eq=False)
class Reach:
    """Start q (nq,), and targets: poses of frames by name, a place of the centre of mass; whether position limits hold."""

    problem: Standing
    q: np.ndarray
    frames: dict[str, np.ndarray]
    com: np.ndarray
    limits: bool


@dataclass(frozen=True)
class ReachTiming:
    """One contestant: steps, us to the tolerance, and the largest error there, m and rad; whether limits hold."""

    name: str
    limits: bool
    steps: int
    time: float
    error: float


def reach(distance: float = 0.2, turn: float = 0.5, limits: bool = False) -> Reach:
    """TALOS in its bent posture; the hand goes so far (m) and turns by so much (rad), the centre of mass goes a tenth of that."""
    p = talos()
    X = frame_pose(p.model, p.posture, p.hand)
    axis = np.array([2.0, 1.0, 2.0]) / 3.0
    X[:3, 3] += distance * axis
    X[:3, :3] = quaternion.to_matrix(quaternion.exp(turn * axis)) @ X[:3, :3]
    com = center_of_mass(p.model, p.posture) + 0.1 * distance * np.array([0.0, 1.0, 0.0])
    return Reach(p, p.posture, dict(zip(p.feet, p.places, strict=True)) | {p.hand: X}, com, limits)


Reaching = Callable[[], tuple[np.ndarray, int]]  # (q, steps)
ReachPeer = Callable[[Reach], Reaching]  # NoPeerError where it is missing


def reach_tasks(r: Reach) -> list[Task]:
    """Ours, of one level and with equal weights."""
    return [*(FramePoseTask(frame, X) for frame, X in r.frames.items()), CenterOfMassTask(r.com)]


def reach_error(r: Reach, q: np.ndarray) -> float:
    """The largest entry of the tasks' errors, m and rad."""
    return float(max(np.abs(task.error(r.problem.model, q)).max() for task in reach_tasks(r)))


def own_solver(r: Reach) -> Reaching:
    """(q, steps) of inverse_kinematics."""
    solve = partial(inverse_kinematics, r.problem.model, reach_tasks(r), r.q, limits=r.limits, tolerance=TOLERANCE, iterations=MOST)
    return lambda: attrgetter("q", "iterations")(solve())


REACHES = ((0.2, 0.5, False), (0.4, 1.5, True))  # m, rad; at the second one three joints stand at their limits


def reach_times(reaches: Sequence[tuple[float, float, bool]] = REACHES, blocks: int = 15, block_seconds: float = 0.05,
                peers: Mapping[str, ReachPeer] = MappingProxyType({})) -> tuple[tuple[ReachTiming, ...], str]:  # fmt: skip
    """(times of all, alternating in one process, why peers are missing)."""
    found, notes = [], list[str]()
    for distance, turn, limits in reaches:
        r = reach(distance, turn, limits)
        runs = {"freeflyer": own_solver(r)}
        for name, peer in peers.items():
            try:
                runs[name] = peer(r)
            except NoPeerError as missing:
                notes.append(f"no peer: {missing}")
        times = time_interleaved(list(runs.values()), blocks, block_seconds)
        for (name, run), time in zip(runs.items(), times, strict=True):
            q, steps = run()
            found.append(ReachTiming(name, limits, steps, time, reach_error(r, q)))
    return tuple(found), "; ".join(dict.fromkeys(notes))


def reach_table(timings: Sequence[ReachTiming], note: str = "") -> Table:
    """A row for each contestant."""
    rows = [(t.name, "at limits" if t.limits else "no limits", str(t.steps), us(t.time), us(t.time / max(t.steps, 1)),
        f"{t.error:.0e}") for t in timings]  # fmt: skip
    columns = ("contestant", "target", "steps", "us", "us a step", "error")
    return Table(f"inverse kinematics: TALOS to {TOLERANCE:g} m and rad", columns, rows, (2, 3, 4, 5), note)
