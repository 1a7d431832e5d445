"""Clock and machine of timings: contestants run blocks of calls in turn, and the median over blocks counts."""

from __future__ import annotations

import gc
import os
import platform
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median
from time import perf_counter

from freeflyer.analysis.timing.results import Machine

Call = Callable[[], object]


class NoPeerError(Exception):
    """Why a robot cannot be put beside another library; the sentence goes under its table."""


def time_interleaved(calls: Sequence[Call], blocks: int, block_seconds: float) -> list[float]:
    """Microseconds a call of each contestant: medians over `blocks` blocks of `block_seconds` each, taken in turn."""
    counts = [_count(call, block_seconds) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(blocks):
            for call, count, taken in zip(calls, counts, times, strict=True):
                taken.append(block(call, count))
    finally:
        if was_on:
            gc.enable()
    return [1e6 * median(taken) for taken in times]


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
    from freeflyer import gravity_forces, robots

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
    """Describe this machine: CPU, usable cores, versions of what is timed."""
    return Machine(cpu=_cpu(), cores=usable_cores(), architecture=platform.machine(),
        system=f"{platform.system()} {platform.release()}", python=platform.python_version(),
        versions={name: found for name in PACKAGES if (found := _version(name)) is not None})  # fmt: skip


def usable_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
