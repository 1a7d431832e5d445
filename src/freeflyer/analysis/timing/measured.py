"""A benchmark: its parts measured, ours alone or beside others, and shown as tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from freeflyer.analysis.timing.batches import batches
from freeflyer.analysis.timing.clock import floor
from freeflyer.analysis.timing.closed.runner import MakeClosedPeers
from freeflyer.analysis.timing.closed.tables import closed_table
from freeflyer.analysis.timing.control_cycles import ControlTimings, control_times
from freeflyer.analysis.timing.cycles import ControlPeers
from freeflyer.analysis.timing.machine import machine
from freeflyer.analysis.timing.results import (
    BatchPoint,
    Machine,
    RobotTimings,
    ScalingPoint,
    SolverTiming,
    Start,
    StepTiming,
)
from freeflyer.analysis.timing.robots import BenchRobot, default_robots
from freeflyer.analysis.timing.runner import NAMES, Effort, MakePeer, time_robot
from freeflyer.analysis.timing.scaling import SIZES, scaling
from freeflyer.analysis.timing.solvers import solver_times
from freeflyer.analysis.timing.standing import ReachPeer
from freeflyer.analysis.timing.start import start_times
from freeflyer.analysis.timing.steps import StepPeer, step_times
from freeflyer.analysis.timing.tables import (
    batches_table,
    robot_table,
    scaling_table,
    solvers_table,
    start_table,
    steps_table,
)
from freeflyer.progress import Progress
from freeflyer.tables import Table, html_tables
from freeflyer.text import microseconds as us, short_repr

PARTS = ("robots", "batches", "scaling", "simulation", "solvers", "control", "start")


@dataclass(frozen=True)
class Peers:
    """Other libraries that are timed beside us, of each part; none of them by default."""

    robot: MakePeer | None = None
    closed: MakeClosedPeers | None = None
    step: StepPeer | None = None
    control: ControlPeers | None = None
    reach: Mapping[str, ReachPeer] = field(default_factory=dict)


@dataclass(frozen=True)
class Bench:
    """`floor`: us a call of the smallest function on a robot of one joint, and of an empty Python function."""

    machine: Machine
    floor: tuple[float, float] | None
    robots: tuple[RobotTimings, ...]
    batches: tuple[BatchPoint, ...]
    scaling: tuple[ScalingPoint, ...]
    start: Start | None
    steps: tuple[StepTiming, ...] = ()
    solvers: tuple[SolverTiming, ...] = ()
    control: ControlTimings | None = None

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return html_tables(self.conditions(), self.tables())

    def conditions(self) -> str:
        """The machine, its versions, and what a call costs at least."""
        m = self.machine
        versions = ", ".join(f"{k} {v}" for k, v in m.versions.items())
        line = f"{m.cpu}, {m.cores} cores, {m.architecture}, {m.system}, Python {m.python}; {versions}"
        if not self.floor:
            return line
        least, empty = self.floor
        call = f"a call of gravity_forces on a robot of one joint takes {us(least)} us"
        return f"{line}; {call}, of an empty Python function {us(empty)}"

    def tables(self) -> list[Table]:
        """A table for whatever was measured."""
        tables = []
        for robot in self.robots:
            tables.append(robot_table(robot))
            if robot.closed is not None:
                tables.append(closed_table(robot.robot, robot.closed))
        tables += [batches_table(name, self.batches) for name in dict.fromkeys(p.robot for p in self.batches)]
        tables += [scaling_table(self.scaling)] if self.scaling else []
        tables += [steps_table(self.steps)] if self.steps else []
        tables += [solvers_table(self.solvers)] if self.solvers else []
        tables += self.control.tables() if self.control else []
        return tables + ([start_table(self.start)] if self.start else [])


def measure(
    parts: Collection[str], named: Sequence[BenchRobot], effort: Effort, progress: Progress, peers: Peers | None = None
) -> Bench:
    """Times of some of PARTS, on the named robots or the usual ones."""
    beside = peers or Peers()

    def first() -> Iterable[BenchRobot]:
        return named or islice(default_robots(), 1)

    wanted = {part: part in parts for part in PARTS}
    return Bench(
        machine(),
        floor() if wanted["robots"] else None,
        tuple(
            time_robot(c.model, urdf=c.urdf, mjcf=c.mjcf, make_peer=beside.robot, closed_peers=beside.closed, effort=effort,
                       progress=progress)
            for c in named or default_robots()
        ) if wanted["robots"] else (),
        batches(first(), beside.robot, effort, progress) if wanted["batches"] else (),
        scaling(SIZES, beside.robot, progress) if wanted["scaling"] else (),
        start_times(NAMES, progress) if wanted["start"] else None,
        step_times(first(), beside.step, effort.blocks, progress) if wanted["simulation"] else (),
        solver_times(effort.blocks, effort.block_seconds, progress) if wanted["solvers"] else (),
        control_times(beside.control, beside.reach, progress) if wanted["control"] else None,
    )  # fmt: skip
