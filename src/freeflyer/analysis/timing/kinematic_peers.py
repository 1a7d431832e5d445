"""pink and mink beside us: TALOS keeps both feet; its left hand and its centre of mass go to targets, errors weighted alike.

Both are optional: `pin-pink`, `mink`. Their steps go the whole way (gain 1), without limits or up to the position limits of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import qpsolvers

from freeflyer.analysis.timing.clock import time_interleaved
from freeflyer.analysis.timing.peer import NoPeerError, peer_for
from freeflyer.analysis.timing.standing import Standing, talos
from freeflyer.control.body_tasks import CenterOfMassTask
from freeflyer.control.frame_tasks import FramePoseTask
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.mujoco_states import from_mujoco, to_mujoco
from freeflyer.dynamics.pinocchio_states import from_pinocchio, to_pinocchio
from freeflyer.model.writers import to_mjcf
from freeflyer.spatial import quaternion
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

TOLERANCE = 1e-6  # m and rad: where both stop
MOST = 200  # steps
DAMPING = 1e-12  # of all coordinates: pink's own


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


def tasks(r: Reach) -> list[Task]:
    """Ours, of one level and with equal weights."""
    return [*(FramePoseTask(frame, X) for frame, X in r.frames.items()), CenterOfMassTask(r.com)]


def error(r: Reach, q: np.ndarray) -> float:
    """The largest entry of the tasks' errors, m and rad."""
    return float(max(np.abs(task.error(r.problem.model, q)).max() for task in tasks(r)))


def own_solver(r: Reach) -> Callable[[], tuple[np.ndarray, int]]:
    """(q, steps) of inverse_kinematics."""
    wanted = tasks(r)

    def run() -> tuple[np.ndarray, int]:
        found = inverse_kinematics(r.problem.model, wanted, r.q, limits=r.limits, tolerance=TOLERANCE, iterations=MOST)
        return found.q, found.iterations

    return run


def pink_solver(r: Reach) -> Callable[[], tuple[np.ndarray, int]]:
    """(q, steps) of pink; NoPeerError where it is missing."""
    pink = _package("pink", "pin-pink")
    model = r.problem.model
    peer = peer_for(model, r.problem.urdf, r.problem.hand)
    start = to_pinocchio(model, peer.model, r.q).q
    tasks = [pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0) for frame in r.frames]
    poses = [peer.pin.SE3(X[:3, :3], X[:3, 3]) for X in r.frames.values()]
    limits = [pink.limits.ConfigurationLimit(peer.model, 1.0)] if r.limits else []
    return _peer_solver(
        pink, r, lambda: pink.Configuration(peer.model, peer.data, start), [*tasks, pink.tasks.ComTask(1.0)], poses, limits,
        lambda q: from_pinocchio(model, peer.model, q).q,
    )  # fmt: skip


def mink_solver(r: Reach) -> Callable[[], tuple[np.ndarray, int]]:
    """(q, steps) of mink, with MuJoCo's model of the same robot; NoPeerError where it is missing."""
    mink, model = _package("mink", "mink"), r.problem.model
    peer = import_module("mujoco").MjModel.from_xml_string(to_mjcf(model))
    start = to_mujoco(model, r.q).qpos
    tasks = [mink.FrameTask(frame, "body" if frame in model.link_names else "site", 1.0, 1.0) for frame in r.frames]
    limits = [mink.ConfigurationLimit(peer, 1.0)] if r.limits else []
    return _peer_solver(
        mink, r, lambda: mink.Configuration(peer, start), [*tasks, mink.ComTask(1.0)],
        [mink.SE3.from_matrix(X) for X in r.frames.values()], limits, lambda q: from_mujoco(model, q).q,
    )  # fmt: skip


PEERS = {"pink, daqp": pink_solver, "mink, daqp": mink_solver}


def _peer_solver(
    package: Any, r: Reach, start: Callable[[], Any], tasks: list[Any], poses: list[Any], limits: list[Any],
    ours: Callable[[np.ndarray], np.ndarray],
) -> Callable[[], tuple[np.ndarray, int]]:  # fmt: skip
    for task, target in zip(tasks, [*poses, r.com], strict=True):
        task.set_target(target)

    def run() -> tuple[np.ndarray, int]:
        at, steps = start(), 0
        while steps < MOST and max(np.abs(task.compute_error(at)).max() for task in tasks) > TOLERANCE:
            step = qpsolvers.solve_problem(package.build_ik(at, tasks, 1.0, DAMPING, limits=limits), "daqp").x
            at.integrate_inplace(step, 1.0)
            steps += 1
        return ours(at.q), steps

    return run


def _package(name: str, at: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise NoPeerError(f"{name} is not installed: pip install {at}") from None


REACHES = ((0.2, 0.5, False), (0.4, 1.5, True))  # m, rad; at the second one three joints stand at their limits


def reach_times(reaches: Sequence[tuple[float, float, bool]] = REACHES, blocks: int = 15, block_seconds: float = 0.05,
                with_peer: bool = True) -> tuple[tuple[ReachTiming, ...], str]:  # fmt: skip
    """(times of all, alternating in one process, why peers are missing)."""
    found, notes = [], list[str]()
    for distance, turn, limits in reaches:
        r = reach(distance, turn, limits)
        runs = {"freeflyer": own_solver(r)}
        for name, peer in PEERS.items() if with_peer else ():
            try:
                runs[name] = peer(r)
            except NoPeerError as missing:
                notes.append(f"no peer: {missing}")
        times = time_interleaved(list(runs.values()), blocks, block_seconds)
        for (name, run), time in zip(runs.items(), times, strict=True):
            q, steps = run()
            found.append(ReachTiming(name, limits, steps, time, error(r, q)))
    return tuple(found), "; ".join(dict.fromkeys(notes))


def reach_table(timings: Sequence[ReachTiming], note: str = "") -> Table:
    """A row for each contestant."""
    rows = [
        (t.name, "at limits" if t.limits else "no limits", str(t.steps), us(t.time), us(t.time / max(t.steps, 1)), f"{t.error:.0e}")
        for t in timings
    ]
    columns = ("contestant", "target", "steps", "us", "us a step", "error")
    return Table(f"inverse kinematics: TALOS to {TOLERANCE:g} m and rad", columns, rows, (2, 3, 4, 5), note)
