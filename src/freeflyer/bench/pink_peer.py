"""pink beside us: TALOS keeps both feet while its left hand and its centre of mass go to targets, all errors weighted alike.

`pin-pink` is optional. Its steps go the whole way (gain 1), without limits, and so without its check of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import qpsolvers

from freeflyer.bench.clock import time_interleaved
from freeflyer.bench.peer import NoPeerError, peer_for
from freeflyer.bench.standing import Standing, talos
from freeflyer.control.body_tasks import CenterOfMassTask
from freeflyer.control.frame_tasks import FramePoseTask
from freeflyer.control.kinematics import inverse_kinematics
from freeflyer.control.tasks import Task
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.pinocchio_states import from_pinocchio, to_pinocchio
from freeflyer.spatial import quaternion
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

TOLERANCE = 1e-6  # m and rad: where both stop
MOST = 200  # steps
DAMPING = 1e-12  # of all coordinates: pink's own


@dataclass(frozen=True, eq=False)
class Reach:
    """Start q (nq,), and targets: poses of frames by name, a place of the centre of mass."""

    problem: Standing
    q: np.ndarray
    frames: dict[str, np.ndarray]
    com: np.ndarray


@dataclass(frozen=True)
class ReachTiming:
    """One contestant: steps, us to the tolerance, and the largest error there, m and rad."""

    name: str
    steps: int
    time: float
    error: float


def reach(distance: float = 0.2, turn: float = 0.5) -> Reach:
    """TALOS in its bent posture; the hand goes so far (m) and turns by so much (rad), the centre of mass goes a tenth of that."""
    p = talos()
    X = frame_pose(p.model, p.posture, p.hand)
    axis = np.array([2.0, 1.0, 2.0]) / 3.0
    X[:3, 3] += distance * axis
    X[:3, :3] = quaternion.to_matrix(quaternion.exp(turn * axis)) @ X[:3, :3]
    com = center_of_mass(p.model, p.posture) + 0.1 * distance * np.array([0.0, 1.0, 0.0])
    return Reach(p, p.posture, dict(zip(p.feet, p.places, strict=True)) | {p.hand: X}, com)


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
        found = inverse_kinematics(r.problem.model, wanted, r.q, limits=False, tolerance=TOLERANCE, iterations=MOST)
        return found.q, found.iterations

    return run


def pink_solver(r: Reach, solver: str = "daqp") -> Callable[[], tuple[np.ndarray, int]]:
    """(q, steps) of pink, with a solver of qpsolvers; NoPeerError where pink is missing."""
    pink = _pink()
    peer = peer_for(r.problem.model, r.problem.urdf, r.problem.hand)
    start = to_pinocchio(peer.model, r.problem.model, r.q).q
    wanted = []
    for frame, X in r.frames.items():
        task = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0)
        task.set_target(peer.pin.SE3(X[:3, :3], X[:3, 3]))
        wanted.append(task)
    wanted.append(pink.tasks.ComTask(cost=1.0))
    wanted[-1].set_target(r.com)

    def run() -> tuple[np.ndarray, int]:
        at, steps = pink.Configuration(peer.model, peer.data, start), 0
        while steps < MOST and max(np.abs(task.compute_error(at)).max() for task in wanted) > TOLERANCE:
            step = qpsolvers.solve_problem(pink.build_ik(at, wanted, 1.0, DAMPING, limits=[]), solver).x
            at.integrate_inplace(step, 1.0)
            steps += 1
        return from_pinocchio(peer.model, r.problem.model, at.q).q, steps

    return run


def _pink() -> Any:
    try:
        import pink
    except ImportError:
        raise NoPeerError("pink is not installed: pip install pin-pink") from None
    return pink


def reach_times(distance: float = 0.2, blocks: int = 15, block_seconds: float = 0.05,
                with_peer: bool = True) -> tuple[tuple[ReachTiming, ...], str]:  # fmt: skip
    """(times of both, alternating in one process, why the peer is missing)."""
    r, note = reach(distance), ""
    runs = {"freeflyer": own_solver(r)}
    try:
        if with_peer:
            runs["pink, daqp"] = pink_solver(r)
    except NoPeerError as missing:
        note = f"no peer: {missing}"
    times = time_interleaved(list(runs.values()), blocks, block_seconds)
    ends = [run() for run in runs.values()]
    found = [ReachTiming(name, steps, time, error(r, q)) for name, (q, steps), time in zip(runs, ends, times, strict=True)]
    return tuple(found), note


def reach_table(timings: Sequence[ReachTiming], note: str = "") -> Table:
    """A row for each contestant."""
    rows = [(t.name, str(t.steps), us(t.time), us(t.time / max(t.steps, 1)), f"{t.error:.0e}") for t in timings]
    columns = ("contestant", "steps", "us", "us a step", "error")
    return Table(f"inverse kinematics: TALOS to {TOLERANCE:g} m and rad", columns, rows, (1, 2, 3, 4), note)
