"""A benchmark: its parts measured, and shown as tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from tempfile import TemporaryDirectory

from freeflyer.analysis.timing import results as R, runner
from freeflyer.analysis.timing.algorithms import default_robots, step_times
from freeflyer.analysis.timing.control_cycles import ControlTimings, control_times
from freeflyer.errors import FreeflyerError
from freeflyer.model import Model
from freeflyer.progress import Progress
from freeflyer.tables import Table, html_tables
from freeflyer.text import microseconds as us, short_repr

PARTS = ("robots", "batches", "scaling", "simulation", "control", "start")


@dataclass(frozen=True)
class Bench:
    """`floor`: us a call of the smallest function on a robot of one joint, and of an empty Python function."""

    machine: R.Machine
    floor: tuple[float, float] | None
    robots: tuple[R.RobotTimings, ...]
    batches: tuple[R.RobotTimings, ...]
    scaling: tuple[R.RobotTimings, ...]
    start: R.Start | None
    steps: tuple[R.StepTiming, ...] = ()
    control: ControlTimings | None = None

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return html_tables(self.conditions(), self.tables())

    def conditions(self) -> str:
        """The machine, its versions, and the least cost of a call."""
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
        tables = [robot_table(x) for robot in self.robots for x in (robot, robot.closed) if x is not None]
        tables += [batches_table(name, self.batches) for name in dict.fromkeys(p.robot for p in self.batches)]
        tables += [scaling_table(self.scaling)] if self.scaling else []
        tables += [steps_table(self.steps)] if self.steps else []
        tables += self.control.tables() if self.control else []
        return tables + ([start_table(self.start)] if self.start else [])


def measure(parts: Collection[str], named: Sequence[Model], effort: runner.Effort, progress: Progress) -> Bench:
    """Times of some of PARTS, on the named robots or the usual ones."""
    def first() -> Iterable[Model]:
        return named or islice(default_robots(), 1)

    wanted = {part: part in parts for part in PARTS}
    return Bench(R.machine(), R.floor() if wanted["robots"] else None,
        tuple(runner.time_robot(model, effort=effort, progress=progress) for model in named or default_robots())
            if wanted["robots"] else (),
        runner.batches(first(), effort, progress) if wanted["batches"] else (),
        runner.scaling(runner.CHAIN_SIZES, progress) if wanted["scaling"] else (),
        start_times(runner.NAMES, progress) if wanted["start"] else None,
        step_times(first(), effort.blocks, progress) if wanted["simulation"] else (),
        control_times(progress) if wanted["control"] else None)  # fmt: skip


IMPORT = "from time import perf_counter; start = perf_counter(); import freeflyer; print(perf_counter() - start)"

FIRST_CALL = """
import json, sys
from time import perf_counter
import freeflyer as ff
from freeflyer import robots
from freeflyer.analysis.timing.algorithms import BY_NAME, call_of, outermost_frame
from freeflyer.analysis.checks.laws import States
import numpy as np
model = robots.make("humanoid")
q, zero = model.neutral[None], np.zeros((1, model.nv))
call = call_of(model, BY_NAME[sys.argv[1]], States(q, zero, zero, zero), outermost_frame(model))
start = perf_counter()
call()
print(perf_counter() - start)
"""

REPEATS = 5  # of an import


def start_times(algorithms: tuple[str, ...], progress: Progress) -> R.Start:
    """Measure imports and the first calls on the built-in humanoid, one process each."""
    progress(0.0, "import, without bytecode")
    with TemporaryDirectory() as folder:
        bytecode = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}  # written, but to a fresh folder
        cold = _run(IMPORT, **bytecode)
        progress(0.0, "import, with bytecode")
        warm = sorted(_run(IMPORT, **bytecode) for _ in range(REPEATS))[REPEATS // 2]
    calls = []
    for name in algorithms:
        progress(0.0, f"first call of {name}")
        with TemporaryDirectory() as folder:  # without code, then with it
            calls.append(R.FirstCall(name, *(_run(FIRST_CALL, name, FREEFLYER_CACHE_DIR=folder) for _ in range(2))))
    return R.Start(cold, warm, tuple(calls))


def _run(script: str, *arguments: str, **environment: str) -> float:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise FreeflyerError(f"a fresh Python process for timing ended with code {done.returncode}: {last}")
    return float(json.loads(done.stdout.strip().splitlines()[-1]))


def times(x: float | None) -> str:
    """How many times as fast, as tables show it."""
    return "-" if x is None else f"{x:.2f}x" if x < 10 else f"{x:.0f}x"


def robot_table(r: R.RobotTimings) -> Table:
    columns = ["algorithm", "us a call", "out=", "us a state", "fresh", f"{r.threads} threads", "gain"]
    special = any(t.special_call for t in r.rows)
    columns += ["own code: call", "gain", "batch", "gain"] if special else []
    rows = []
    for t in r.rows:
        row = [t.algorithm, *map(us, (t.call, t.call_out, t.batch, t.batch_fresh, t.batch_threads)), times(t.ratio_threads)]
        if special:
            row += [us(t.special_call), times(t.gain_call), us(t.special_batch), times(t.gain_batch)]
        rows.append(row)
    title = f"{r.robot}: nq {r.nq}, nv {r.nv}; batches of {r.batch_size} states"
    return Table(title, columns, rows, range(1, len(columns)), _summary(r))


def _summary(r: R.RobotTimings) -> str:
    parts = [f"medians of {r.blocks} blocks of calls ({r.batch_blocks} for batches)"]
    fields = ("ratio_threads", "gain_call", "gain_batch")
    means = [R.geometric_mean(getattr(t, field) for t in r.rows) for field in fields]
    words = ("{}x more with " + f"{r.threads} threads", "one call {}x by code for the robot alone", "a batch {}x")
    parts += [word.format(f"{mean:.2f}") for word, mean in zip(words, means, strict=True) if mean is not None]
    parts += [r.note] if r.note else []
    return "geometric means and notes: " + "; ".join(parts)


def batches_table(name: str, sizes: Sequence[R.RobotTimings]) -> Table:
    own = [x for x in sizes if x.robot == name]
    rows = [(t.algorithm, str(x.batch_size), us(t.batch), us(t.batch_fresh), us(t.batch_threads), times(t.ratio_threads))
        for x, t in R.by_algorithm(own)]  # fmt: skip
    prices = {t.algorithm: runner.call_overhead(own, t.algorithm) for t in own[0].rows}
    shown = ", ".join(f"{a} {price:.1f}" for a, price in prices.items() if price is not None)
    columns = ("algorithm", "states", "us a state", "fresh", "threads", "gain")
    return Table(f"{name}: batches on one thread and on several", columns, rows, range(1, len(columns)),
        f"us of a call beside its states, by the two shortest batches: {shown}")  # fmt: skip


def scaling_table(chains: Sequence[R.RobotTimings]) -> Table:
    rows = [(str(x.bodies), str(x.nv), t.algorithm, us(t.call), us(t.batch), f"{1e3 * t.batch / x.bodies:.2f}")
        for x, t in R.by_algorithm(chains)]  # fmt: skip
    columns = ("bodies", "nv", "algorithm", "us a call", "us a state", "ns a body")
    growth = []
    for algorithm in runner.CHAIN_ALGORITHMS:
        call, batch = (runner.exponent(chains, algorithm, field) for field in ("call", "batch"))
        if call is not None and batch is not None:
            growth.append(f"{algorithm} grows as bodies^{call:.2f} a call, ^{batch:.2f} a state of a batch")
    title = "scaling: chains, batches of 256 states on one thread"
    return Table(title, columns, rows, (0, 1, 3, 4, 5), "; ".join(growth))


def steps_table(steps: tuple[R.StepTiming, ...]) -> Table:
    rows = [(s.robot, s.integrator, us(s.step)) for s in steps]
    return Table("simulation: a step of whole runs, called from Python", ("robot", "integrator", "us a step"), rows, (2,))


def start_table(s: R.Start) -> Table:
    rows = [("import freeflyer (cold: without bytecode)", f"{s.import_cold:.2f}", f"{s.import_warm:.2f}")]
    rows += [(f"first call of {c.algorithm}", f"{c.cold:.2f}", f"{c.cached:.2f}") for c in s.first_calls]
    return Table("start: seconds in a fresh process", ("what", "cold (compiling)", "cached"), rows, (1, 2))
