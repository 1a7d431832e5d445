"""A benchmark: its parts measured, ours alone or beside others, and shown as tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from tempfile import TemporaryDirectory

from freeflyer.analysis.timing.clock import floor, machine
from freeflyer.analysis.timing.closed_loops import MakeClosedPeers
from freeflyer.analysis.timing.control_cycles import ControlPeers, ControlTimings, control_times
from freeflyer.analysis.timing.larger_calls import StepPeer, solver_times, step_times
from freeflyer.analysis.timing.results import (
    BatchPoint,
    FirstCall,
    Machine,
    RobotTimings,
    ScalingPoint,
    SolverTiming,
    Start,
    StepTiming,
)
from freeflyer.analysis.timing.robots import BenchRobot, ReachPeer, default_robots
from freeflyer.analysis.timing.runner import CHAIN_SIZES, NAMES, Effort, MakePeer, batches, scaling, time_robot
from freeflyer.analysis.timing.tables import (
    batches_table,
    closed_table,
    robot_table,
    scaling_table,
    solvers_table,
    start_table,
    steps_table,
)
from freeflyer.errors import FreeflyerError
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


def measure(parts: Collection[str], named: Sequence[BenchRobot], effort: Effort, progress: Progress,
        peers: Peers | None = None) -> Bench:  # fmt: skip
    """Times of some of PARTS, on the named robots or the usual ones."""
    beside = peers or Peers()

    def first() -> Iterable[BenchRobot]:
        return named or islice(default_robots(), 1)

    wanted = {part: part in parts for part in PARTS}
    return Bench(machine(), floor() if wanted["robots"] else None,
        tuple(time_robot(c.model, urdf=c.urdf, mjcf=c.mjcf, make_peer=beside.robot, closed_peers=beside.closed, effort=effort,
        progress=progress) for c in named or default_robots()) if wanted["robots"] else (),
        batches(first(), beside.robot, effort, progress) if wanted["batches"] else (),
        scaling(CHAIN_SIZES, beside.robot, progress) if wanted["scaling"] else (),
        start_times(NAMES, progress) if wanted["start"] else None,
        step_times(first(), beside.step, effort.blocks, progress) if wanted["simulation"] else (),
        solver_times(effort.blocks, effort.block_seconds, progress) if wanted["solvers"] else (),
        control_times(beside.control, beside.reach, progress) if wanted["control"] else None)  # fmt: skip


IMPORT = """
from time import perf_counter
start = perf_counter()
import freeflyer
print(perf_counter() - start)
"""

FIRST_CALL = """
import json, sys
from time import perf_counter
import freeflyer as ff
from freeflyer import robots
from freeflyer.analysis.timing.algorithms import BY_NAME, outermost_frame, single_call
from freeflyer.analysis.checks.laws import States
import numpy as np
model = robots.make("humanoid")
q, zero = model.neutral[None], np.zeros((1, model.nv))
call = single_call(model, BY_NAME[sys.argv[1]], States(q, zero, zero, zero), outermost_frame(model))
start = perf_counter()
call()
print(perf_counter() - start)
"""

REPEATS = 5  # of an import


def start_times(algorithms: tuple[str, ...], progress: Progress) -> Start:
    """Measure imports and the first calls on the built-in humanoid, one process each."""
    progress(0.0, "import, without bytecode")
    with TemporaryDirectory() as folder:
        bytecode = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}  # written, but to a fresh folder
        cold = _run(IMPORT, **bytecode)
        progress(0.0, "import, with bytecode")
        warm = sorted(_run(IMPORT, **bytecode) for _ in range(REPEATS))[REPEATS // 2]
    return Start(cold, warm, tuple(_first_call(name, progress) for name in algorithms))


def _first_call(name: str, progress: Progress) -> FirstCall:
    progress(0.0, f"first call of {name}")
    with TemporaryDirectory() as folder:
        cold = _run(FIRST_CALL, name, FREEFLYER_CACHE_DIR=folder)
        return FirstCall(name, cold, _run(FIRST_CALL, name, FREEFLYER_CACHE_DIR=folder))


def _run(script: str, *arguments: str, **environment: str) -> float:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FreeflyerError(f"a fresh Python process for timing ended with code {done.returncode}: {last}")
    return float(json.loads(done.stdout.strip().splitlines()[-1]))
