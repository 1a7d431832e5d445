"""What a state costs in short and long batches, and what a call costs beside its states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from freeflyer.analysis.timing.results import BatchPoint
from freeflyer.analysis.timing.robots import BenchRobot
from freeflyer.analysis.timing.runner import Effort, MakePeer, time_robot
from freeflyer.progress import Progress

SIZES = (16, 64, 512, 4096)
ALGORITHMS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
    "inverse_dynamics, 2 wrenches", "all_terms, 4 frames",
)  # fmt: skip


def batches(
    robots: Iterable[BenchRobot], make_peer: MakePeer | None, effort: Effort, progress: Progress
) -> tuple[BatchPoint, ...]:
    """Time batches of SIZES states on each robot, interleaved with the peer's."""
    points = []
    for robot in robots:
        for n in SIZES:
            progress(0.0, f"{robot.model.name}: batches of {n}")
            its = replace(effort, batch=n)
            timed = time_robot(robot.model, urdf=robot.urdf, mjcf=robot.mjcf, make_peer=make_peer, effort=its,
                               algorithms=ALGORITHMS, closed=False)  # fmt: skip
            points += [BatchPoint(timed.robot, timed.batch_size, row) for row in timed.rows]
    return tuple(points)


def call_overhead(points: Iterable[BatchPoint], robot: str, algorithm: str) -> float | None:
    """Microseconds beside the states: where the line through the two shortest batches begins."""
    times = sorted(
        (p.states, p.states * p.timing.batch) for p in points if (p.robot, p.timing.algorithm) == (robot, algorithm)
    )
    if len(times) < 2:
        return None
    (a, first), (b, second), *_ = times
    return first - a * (second - first) / (b - a)
