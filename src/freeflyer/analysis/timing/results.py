"""Results of a benchmark. Times are in microseconds; None where there is nothing to measure. The clock: contestants run blocks
of calls in turn, and the median over blocks counts."""

from __future__ import annotations

import gc
import math
import platform
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from freeflyer import robots
from freeflyer.dynamics import get_threads, gravity_forces, set_threads
from freeflyer.kernels.compiler.calls.running import usable_cores


class Machine(namedtuple("Machine", "cpu cores architecture system python versions")):
    """Where the timings were taken."""


class Timing(namedtuple("Timing", "algorithm call call_out batch batch_fresh batch_threads special_call special_batch",
    defaults=(None, None))):  # fmt: skip
    """One algorithm on one robot: us a call for one state, us a state in a batch; medians over interleaved blocks.

    `call` and `batch_fresh` make new arrays; `call_out` and `batch` write into given ones where there is `out=`. `batch` uses one
    thread, `batch_threads` all `threads`. `special_call`, `special_batch`: by code for the robot alone, as `call_out`, `batch`."""

    @property
    def gain_call(self) -> float | None:
        """How much faster one call is by code for the robot alone."""
        return None if self.special_call is None else (self.call_out or self.call) / self.special_call

    @property
    def gain_batch(self) -> float | None:
        return None if self.special_batch is None else self.batch / self.special_batch

    @property
    def ratio_threads(self) -> float | None:
        return None if self.batch_threads is None else self.batch / self.batch_threads


class RobotTimings(namedtuple("RobotTimings",
    "robot nq nv bodies batch_size threads blocks batch_blocks rows note closed", defaults=(None,))):  # fmt: skip
    """All algorithms on one robot; medians over so many blocks. `note`: why its loops are open; `closed`: the same with loops
    closed."""


class StepTiming(namedtuple("StepTiming", "robot integrator step")):
    """One integrator on a robot: us a step of a whole run."""


class FirstCall(namedtuple("FirstCall", "algorithm cold cached")):
    """The first call of one algorithm in a fresh process, s: compiling (`cold`) and from the cache (`cached`)."""


class Start(namedtuple("Start", "import_cold import_warm first_calls")):
    """Seconds to `import freeflyer`: `cold` without compiled bytecode, `warm` with it; and the first calls."""


def by_algorithm(robots: Sequence[RobotTimings]) -> list[tuple[RobotTimings, Timing]]:
    """Rows of several robots or batch sizes, those of an algorithm together, in order of its sizes."""
    rows = [(x, t) for x in robots for t in x.rows]
    return sorted(rows, key=lambda row: (row[1].algorithm, row[0].bodies, row[0].batch_size))


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of the ratios that exist."""
    logs = [math.log(r) for r in ratios if r is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


Call = Callable[[], object]


def time_interleaved(calls: Sequence[Call], blocks: int, block_seconds: float) -> list[float]:
    """Microseconds a call of each contestant: medians over `blocks` blocks of `block_seconds` each, taken in turn."""
    counts = [_count(call, block_seconds) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    with no_collection():
        for _ in range(blocks):
            for call, count, taken in zip(calls, counts, times, strict=True):
                taken.append(block(call, count))
    return [1e6 * median(taken) for taken in times]


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the collection of garbage, which would count as somebody's time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run batches on `count` threads, and as before afterwards."""
    before = get_threads()
    set_threads(count)
    try:
        yield
    finally:
        set_threads(before)


def power(pairs: Sequence[tuple[int, float | None]]) -> float | None:
    """The power of a size by which a time grows, by least squares: 1 is linear; None with fewer than two times."""
    known = [(n, t) for n, t in pairs if t is not None]
    if len(known) < 2:
        return None
    n, t = np.log(np.array(known, float)).T
    return float(np.polyfit(n, t, 1)[0])


def block(call: Call, count: int) -> float:
    """Seconds a call, over `count` calls in a row, after one that meets what another contestant left in the caches."""
    call()
    repeat = range(count)
    start = perf_counter()
    for _ in repeat:
        call()
    return (perf_counter() - start) / count


def floor() -> tuple[float, float]:
    """Microseconds a call of the smallest function on a robot of one joint, and of an empty Python function."""
    model = robots.chain(1)
    q = model.neutral
    smallest, empty = time_interleaved([lambda: gravity_forces(model, q), lambda: None], 15, 4e-3)
    return smallest - empty, empty


def _count(call: Call, seconds: float) -> int:
    """How many calls fill `seconds`; the calls made to find out also warm up caches and compile."""
    once = block(call, 1)
    if once < seconds:
        once = min(once, block(call, 3))  # a slower call fills the block alone
    return max(1, round(seconds / max(once, 1e-8)))


PACKAGES = ("freeflyer", "numpy", "llvmlite", "pin", "mujoco", "daqp", "tsid", "pin-pink", "mink")


def machine() -> Machine:
    """Describe this machine: CPU, usable cores, versions of the timed packages."""
    return Machine(cpu=_cpu(), cores=usable_cores(), architecture=platform.machine(),
        system=f"{platform.system()} {platform.release()}", python=platform.python_version(),
        versions={name: found for name in PACKAGES if (found := _version(name)) is not None})  # fmt: skip


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.is_file() else []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)
    return platform.processor() or "unknown processor" if named is None else named


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
