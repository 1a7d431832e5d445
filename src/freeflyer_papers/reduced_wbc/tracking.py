"""Fig 4: the centre of mass and a hand on their ways in double support, both methods in MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freeflyer.control.frame_tasks import FramePoseTask
from freeflyer.control.problem import Formulation
from freeflyer.control.references import WaypointReference, move_pose
from freeflyer.control.running import ControlRun, run
from freeflyer.control.scenario import Following, Stance
from freeflyer.progress import Progress
from freeflyer_papers.reduced_wbc.robot import Robot

METHODS: dict[str, Formulation] = {"conventional": "full", "reduced": "reduced"}
DURATION, PERIOD = 4.0, 1e-3  # s
WAY_OF_MASS, WAY_OF_HAND = (0.0, 0.03, -0.08), (0.08, 0.06, 0.1)  # m
HAND_STIFFNESS = 80.0  # 1/s^2
THIN = 5  # of the samples, one in so many is kept for the picture
SAME = 0.1  # of an error: a difference that counts as none


@dataclass(frozen=True)
class Tracked:
    """One run. Errors (n,) at the times t (n,) s, thinned: of the centre of mass and the hand, m. largest: of these and of the
    hand's orientation, m, m, rad, over all samples. torque: the largest, N m; solved: share of cycles that were."""

    method: str
    t: np.ndarray
    center: np.ndarray
    hand: np.ndarray
    largest: tuple[float, float, float]
    torque: float
    solved: float
    fell: bool


def track(r: Robot, progress: Progress) -> tuple[Tracked, ...]:
    """Both methods on the same way."""
    return tuple([_tracked(r, method, progress) for method in METHODS])


def reach(hand: str) -> Callable[[Stance], Following]:
    """A scenario: the centre of mass goes down and to the side and returns, while the hand goes up and outwards.

    The levels are those of Table 1, with a posture below: without it nothing holds what the tasks leave free."""

    def scenario(stance: Stance) -> Following:
        c, X = stance.center_of_mass(), stance.pose(hand)
        there = X.copy()
        there[:3, 3] += WAY_OF_HAND
        times = DURATION * np.array([0.1, 0.45, 0.55, 0.9])
        path = WaypointReference(times, [c, c + WAY_OF_MASS, c + WAY_OF_MASS, c])
        way = move_pose(X, there, duration=0.6 * DURATION, begin=0.2 * DURATION)
        task = FramePoseTask(hand, X, level=2, stiffness=HAND_STIFFNESS)
        return Following.of(stance, DURATION, [(stance.balance(), path), (task, way)], [stance.upright(), stance.relaxed(3)])

    return scenario


def agree(runs: tuple[Tracked, ...]) -> bool:
    """Whether the largest errors of both methods are within SAME of each other."""
    first, second = (np.array(x.largest) for x in runs)
    return bool((np.abs(first - second) <= SAME * np.maximum(first, second)).all())


def _tracked(r: Robot, method: str, progress: Progress) -> Tracked:
    found = run(
        reach(r.hands[0]), r.model, formulation=METHODS[method], q=r.q, dt=PERIOD, duration=DURATION,
        progress=lambda fraction, what: progress(fraction, f"Fig 4, {method} method: {what}"),
    )  # fmt: skip
    return _summary(found, method)


def _summary(found: ControlRun, method: str) -> Tracked:
    errors = list(found.errors.values())
    center, hand = errors[0], errors[1]
    position, turn = _pose_error(hand)
    center_size = np.linalg.norm(center, axis=1)
    keep = slice(None, None, THIN)
    largest = (float(center_size.max()), float(position.max()), float(turn.max()))
    return Tracked(
        method, found.run.t[: len(center)][keep], center_size[keep], position[keep], largest, float(np.abs(found.tau).max()),
        found.statuses.get("solved", 0) / len(center), found.fell,
    )  # fmt: skip


def _pose_error(e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Norms (T,) of position and orientation errors (T, 6)."""
    return np.linalg.norm(e[:, :3], axis=1), np.linalg.norm(e[:, 3:], axis=1)
