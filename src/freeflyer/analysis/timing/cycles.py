"""Control cycles: each contestant at every state of a slow motion, in turns of some cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from freeflyer.analysis.timing.standing import Standing, motion, talos
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

TITLE = "whole-body control: TALOS on two feet, from a state to torques and accelerations"
SLOWEST = 99.9  # percentile


@dataclass(frozen=True)
class Contestant:
    """`cycle` is called with each of `states`, tuples of its arguments, in their order: it may begin with the last answer."""

    name: str
    cycle: Callable[..., object]
    states: Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class CycleTiming:
    """Of one contestant: us a cycle, the median, the 99.9th percentile and the slowest of so many cycles."""

    name: str
    cycles: int
    median: float
    slow: float
    slowest: float


ControlPeers = Callable[[Standing, np.ndarray, np.ndarray], tuple[Sequence[Contestant], str]]  # with a note; of states (count, nq), (count, nv)


def cycle_times(contestants: Sequence[Contestant], rounds: int = 3, clock: Callable[[], float] = perf_counter,
                turn: int = 50) -> tuple[CycleTiming, ...]:  # fmt: skip
    """Times of the contestants, in turns of `turn` cycles; a round before, for caches and compiling, does not count. Turns of one
    cycle show what a cycle costs between other work, which takes its place in the processor's caches.

    `clock` gives seconds: on a machine that others use, time.thread_time leaves out what they take."""
    times = [np.empty(rounds * len(c.states)) for c in contestants]
    for k in range(min(len(c.states) for c in contestants)):
        for c in contestants:
            c.cycle(*c.states[k])
    was_on = gc.isenabled()
    gc.disable()
    try:
        for first in range(0, rounds * max(len(c.states) for c in contestants), turn):
            for c, taken in zip(contestants, times, strict=True):
                for i in range(first, min(first + turn, len(taken))):
                    taken[i] = _seconds(c, i % len(c.states), clock)
    finally:
        if was_on:
            gc.enable()
    return tuple(_timing(c.name, 1e6 * taken) for c, taken in zip(contestants, times, strict=True))


def _seconds(c: Contestant, k: int, clock: Callable[[], float]) -> float:
    state, cycle = c.states[k], c.cycle
    start = clock()
    cycle(*state)
    return clock() - start


def _timing(name: str, taken: np.ndarray) -> CycleTiming:
    return CycleTiming(name, len(taken), float(np.median(taken)), float(np.percentile(taken, SLOWEST)), float(taken.max()))


def standing_times(own: Callable[[Standing, np.ndarray, np.ndarray], Sequence[Contestant]] | None = None, peers: ControlPeers | None = None,
                   count: int = 1000, rounds: int = 3,
                   clock: Callable[[], float] = perf_counter) -> tuple[tuple[CycleTiming, ...], str]:  # fmt: skip
    """TALOS on two feet: (times of our contestants and of peers, the note of these)."""
    problem = talos()
    q, v = motion(problem, count)
    contestants = list(own(problem, q, v)) if own else []
    more, note = peers(problem, q, v) if peers else ((), "")
    contestants += more
    return cycle_times(contestants, rounds, clock) if contestants else (), note


def cycles_table(timings: Sequence[CycleTiming], note: str = "", title: str = TITLE) -> Table:
    """A row for each contestant."""
    rows = [(t.name, str(t.cycles), us(t.median), us(t.slow), us(t.slowest)) for t in timings]
    columns = ("contestant", "cycles", "us a cycle", f"{SLOWEST}th percentile", "slowest")
    return Table(title, columns, rows, (1, 2, 3, 4), note)
