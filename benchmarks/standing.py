"""TALOS on two feet, timed beside TSID, pink and mink: it holds its posture by control cycles, or reaches by inverse kinematics.

Problems are numbers alone: another library builds its own from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType

import numpy as np

import freeflyer as ff
from benchmarks import NoPeerError
from freeflyer import control
from freeflyer.analysis.timing.algorithms import example_urdf
from freeflyer.analysis.timing.control_cycles import Contestant, CycleTiming, contestants_of, cycle_times, cycles_table
from freeflyer.analysis.timing.results import time_interleaved
from freeflyer.spatial import quaternion
from freeflyer.tables import Table
from freeflyer.text import microseconds as us
from freeflyer_papers.reduced_wbc.robot import sway

TITLE = "whole-body control: TALOS on two feet, from a state to torques and accelerations"
LEVELS = {"com": 1, "pelvis": 1, "hand": 2, "posture": 3}
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

    model: ff.Model
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
        raise ff.InputError("talos_reduced.urdf is not on this machine: pip install example-robot-data")
    model = ff.load(urdf)
    angles = {f"{name.format(side)}_joint": angle for name, angle in BENT.items() for side in ("left", "right")}
    angles |= {"arm_left_2_joint": 0.2, "arm_right_2_joint": -0.2}
    q = ff.configuration(model, angles)
    feet = ("left_sole_link", "right_sole_link")
    q[2] -= ff.frame_pose(model, q, feet[0])[2, 3]
    hand, pelvis, tilt = "gripper_left_base_link", "base_link", quaternion.to_matrix(quaternion.exp([0.1, 0.0, 0.0]))
    X = ff.frame_pose(model, q, hand)
    X[:3, 3] += (0.03, 0.02, 0.02)
    return Standing(model, urdf, feet, tuple(ff.frame_pose(model, q, foot) for foot in feet),
        np.array([[x, y, 0.0] for x in (-0.11, 0.1) for y in (-0.06, 0.07)]), q,
        ff.center_of_mass(model, q) + [0.01, 0.02, -0.01], pelvis, tilt @ ff.frame_pose(model, q, pelvis)[:3, :3], hand, X,
        model.effort_limit[6:], model.velocity_limit[6:], np.full(model.nv - 6, 100.0))  # fmt: skip


def motion_tasks(problem: Standing) -> dict[str, control.Task]:
    """Our tasks whose squared errors of accelerations are the costs, by their names in `weights`."""
    tasks = {"com": control.CenterOfMassTask(problem.com), "pelvis": control.FrameOrientationTask(problem.pelvis, problem.attitude),
        "hand": control.FramePoseTask(problem.hand, problem.pose), "posture": control.PostureTask(problem.posture)}  # fmt: skip
    return {name: replace(x, weight=problem.weights[name], stiffness=problem.stiffness[name]) for name, x in tasks.items()}


def motion(problem: Standing, count: int, period: float = 2.0, amplitude: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """States q (count, nq), v (count, nv) of `sway` about the problem's posture, on both feet."""
    stance = ff.ConstraintSet(problem.model, contacts=tuple(map(ff.contacts.surface, problem.feet)))
    return sway(stance, problem.posture, count, period, amplitude)


def control_problem(standing: Standing) -> control.WholeBodyProblem:
    """Tasks, contacts and limits of the problem; the weighted form leaves the levels out."""
    tasks = [replace(task, level=LEVELS[name]) for name, task in motion_tasks(standing).items()]
    feet = [ff.contacts.surface(name, standing.corners, friction=standing.friction) for name in standing.feet]
    limits = [control.TorqueLimits(standing.torque), control.AccelerationLimits(standing.acceleration),
        *(control.NormalForceLimits(name, standing.most, standing.least) for name in standing.feet)]  # fmt: skip
    return control.WholeBodyProblem(standing.model, tasks, feet, limits, force_weight=standing.weights["force"],
        contact_damping=2.0 * float(np.sqrt(standing.stiffness["contact"])))  # fmt: skip


def own_contestants(standing: Standing, q: np.ndarray, v: np.ndarray) -> list[Contestant]:
    """Whole cycles, from a state to torques, each beginning with the answer of the one before."""
    return contestants_of(control_problem(standing), list(zip(q, v, strict=True)))


# of states (count, nq), (count, nv); with a note
ControlPeers = Callable[[Standing, np.ndarray, np.ndarray], tuple[Sequence[Contestant], str]]


def standing_times(peers: ControlPeers | None = None, count: int = 1000, rounds: int = 3) -> tuple[tuple[CycleTiming, ...], str]:
    """TALOS on two feet: (times of our contestants and of peers, the note of these)."""
    problem = talos()
    q, v = motion(problem, count)
    more, note = peers(problem, q, v) if peers else ((), "")
    return cycle_times([*own_contestants(problem, q, v), *more], rounds), note


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
    X = ff.frame_pose(p.model, p.posture, p.hand)
    axis = np.array([2.0, 1.0, 2.0]) / 3.0
    X[:3, 3] += distance * axis
    X[:3, :3] = quaternion.to_matrix(quaternion.exp(turn * axis)) @ X[:3, :3]
    com = ff.center_of_mass(p.model, p.posture) + 0.1 * distance * np.array([0.0, 1.0, 0.0])
    return Reach(p, p.posture, dict(zip(p.feet, p.places, strict=True)) | {p.hand: X}, com, limits)


Reaching = Callable[[], tuple[np.ndarray, int]]  # (q, steps)
ReachPeer = Callable[[Reach], Reaching]  # NoPeerError where it is missing


def reach_tasks(r: Reach) -> list[control.Task]:
    """Ours, of one level and with equal weights."""
    return [*(control.FramePoseTask(frame, X) for frame, X in r.frames.items()), control.CenterOfMassTask(r.com)]


def reach_error(r: Reach, q: np.ndarray) -> float:
    """The largest entry of the tasks' errors, m and rad."""
    return float(max(np.abs(task.error(r.problem.model, q)).max() for task in reach_tasks(r)))


def own_solver(r: Reach) -> Reaching:
    """(q, steps) of inverse_kinematics."""
    solve = partial(control.inverse_kinematics, r.problem.model, reach_tasks(r), r.q, limits=r.limits, tolerance=TOLERANCE,
        iterations=MOST)  # fmt: skip
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


@dataclass(frozen=True)
class Standings:
    """Control cycles and inverse kinematics of TALOS beside peers, with notes on those that are missing."""

    cycles: tuple[CycleTiming, ...]
    cycles_note: str
    reach: tuple[ReachTiming, ...]
    reach_note: str

    def tables(self) -> list[Table]:
        """Both, as far as they were timed."""
        return [cycles_table(self.cycles, TITLE, self.cycles_note), reach_table(self.reach, self.reach_note)]


def talos_times(peers: ControlPeers, reach_peers: Mapping[str, ReachPeer]) -> Standings:
    """Both of them; only notes if the file of TALOS is missing."""
    try:
        return Standings(*standing_times(peers), *reach_times(peers=reach_peers))
    except ff.FreeflyerError as error:
        return Standings((), str(error), (), str(error))
