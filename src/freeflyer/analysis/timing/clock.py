"""Timing of calls that alternate: each contestant runs a block of calls in turn, and the median over blocks counts."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter

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
