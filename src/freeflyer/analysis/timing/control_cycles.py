"""Control cycles: each contestant at every state of a slow motion, in turns of some cycles."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.results import no_collection
from freeflyer.control import AccelerationLimits, CenterOfMassTask, FrameOrientationTask, FramePoseTask, TorqueLimits
from freeflyer.control.problem import ControlSolution, Formulation, WholeBodyProblem
from freeflyer.dynamics import center_of_mass, frame_pose, integrate
from freeflyer.progress import Progress
from freeflyer.robots import humanoid, standing_posture
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

SLOWEST = 99.9  # percentile


class Contestant(namedtuple("Contestant", "name cycle states")):
    """`cycle` is called with each of `states`, tuples of its arguments, in their order: it may begin with the last answer."""


class CycleTiming(namedtuple("CycleTiming", "name cycles median slow slowest")):
    """Times of one contestant, us a cycle: the median, the 99.9th percentile and the slowest of so many cycles."""


def cycle_times(contestants: Sequence[Contestant], rounds: int = 3, clock: Callable[[], float] = perf_counter,
                turn: int = 50) -> tuple[CycleTiming, ...]:  # fmt: skip
    """Times of the contestants, in turns of `turn` cycles; a round before, for caches and compiling, does not count. Turns of
    one cycle show the cost of a cycle between other work, which takes its place in the processor's caches.

    `clock` gives seconds: on a machine that others use, time.thread_time leaves out what they take."""
    times = [np.empty(rounds * len(c.states)) for c in contestants]
    for k in range(min(len(c.states) for c in contestants)):
        for c in contestants:
            c.cycle(*c.states[k])
    with no_collection():
        for first in range(0, rounds * max(len(c.states) for c in contestants), turn):
            for c, taken in zip(contestants, times, strict=True):
                for i in range(first, min(first + turn, len(taken))):
                    state, cycle = c.states[i % len(c.states)], c.cycle
                    start = clock()
                    cycle(*state)
                    taken[i] = clock() - start
    return tuple(CycleTiming(c.name, len(x), float(np.median(x)), float(np.percentile(x, SLOWEST)), float(x.max()))
        for c, x in zip(contestants, (1e6 * taken for taken in times), strict=True))  # fmt: skip


def cycles_table(timings: Sequence[CycleTiming], title: str, note: str = "") -> Table:
    """A row for each contestant."""
    rows = [(t.name, str(t.cycles), us(t.median), us(t.slow), us(t.slowest)) for t in timings]
    columns = ("contestant", "cycles", "us a cycle", f"{SLOWEST}th percentile", "slowest")
    return Table(title, columns, rows, (1, 2, 3, 4), note)


LIMITED, LIMITED_SHARE, LOOSE = (0, 1, 4, 12), 0.97, 1e4  # torques that are limited, to this share of what they need; N m
SWING, PERIOD = 0.02, 1e-3  # rad/s, of a swing of one second; s, from state to state
LIMITED_TITLE = f"the same, torques limited to {LIMITED_SHARE} of what they need; states of a swing, {1e3 * PERIOD:g} ms apart"

JOINTS = 33
WAYS: tuple[tuple[str, bool, Formulation], ...] = (("freeflyer, weighted", True, "full"),
    ("freeflyer, strict levels", False, "full"), ("freeflyer, strict levels, reduced", False, "reduced"))  # fmt: skip


def contestants_of(problem: WholeBodyProblem, states: Sequence[tuple[Any, ...]]) -> list[Contestant]:
    """Cycles in all WAYS, each beginning with the answer of the one before."""
    return [Contestant(name, _cycle(problem, weighted, formulation), states) for name, weighted, formulation in WAYS]


def _cycle(problem: WholeBodyProblem, weighted: bool, formulation: Formulation) -> Callable[..., ControlSolution]:
    last: list[ControlSolution | None] = [None]

    def cycle(q: np.ndarray, v: np.ndarray) -> ControlSolution:
        last[0] = found = problem.solve(q, v, formulation=formulation, weighted=weighted, warm=last[0])
        return found

    return cycle


class ControlTimings(namedtuple("ControlTimings", "humanoid limited")):
    """Cycles on the built-in humanoid, also with limited torques."""

    def tables(self) -> list[Table]:
        """One for each of them."""
        title = f"whole-body control: a humanoid of {JOINTS} joints on two feet, reduced whole-body control paper, Table 1"
        return [cycles_table(self.humanoid, title), cycles_table(self.limited, LIMITED_TITLE)]


def humanoid_problem() -> tuple[WholeBodyProblem, np.ndarray]:
    """Double support with all of the reduced whole-body control paper, Table 1: centre of mass, pelvis, a hand; limits of torques
    and accelerations."""
    model = humanoid(JOINTS)
    q = standing_posture(model)
    tasks = [CenterOfMassTask(center_of_mass(model, q) - [0.0, 0.0, 0.01], level=1),
        FrameOrientationTask("pelvis", frame_pose(model, q, "pelvis")[:3, :3], level=1),
        FramePoseTask("left_palm", frame_pose(model, q, "left_palm"), level=2)]  # fmt: skip
    feet = [contacts.surface("left_sole"), contacts.surface("right_sole")]
    return WholeBodyProblem(model, tasks, feet, [TorqueLimits(), AccelerationLimits(300.0)]), q


def limited_contestants(problem: WholeBodyProblem, q: np.ndarray, count: int) -> list[Contestant]:
    """Cycles at states one after the other, the largest torques limited to LIMITED_SHARE of what they are at the first state."""
    model = problem.model
    speed = SWING * np.random.default_rng(0).standard_normal(model.nv)
    states = []
    for k in range(count):
        v = speed * np.cos(2.0 * np.pi * PERIOD * k)
        q = integrate(model, q, PERIOD * v)
        states.append((q, v))
    needed = np.abs(problem.solve(*states[0]).tau)
    found = []
    for n in LIMITED:
        most = np.where(needed >= np.sort(needed)[len(needed) - n] if n else False, LIMITED_SHARE * needed, LOOSE)
        limited = replace(problem, limits=[TorqueLimits(most), *(x for x in problem.limits if type(x) is not TorqueLimits)])
        name = f"{n} torques limited" if n > 1 else ("no torque limited", "one torque limited")[n]
        found.append(Contestant(name, _cycle(limited, False, "full"), states))
    return found


def control_times(progress: Progress, count: int = 1000, rounds: int = 3) -> ControlTimings:
    """Cycles at `count` states each, `rounds` times."""
    problem, q = humanoid_problem()
    steps = np.random.default_rng(0).standard_normal((count, 2, problem.model.nv))
    states = [(integrate(problem.model, q, 1e-3 * step), 1e-2 * v) for step, v in steps]
    progress(0.0, "control cycles: humanoid")
    own = cycle_times(contestants_of(problem, states), rounds)
    return ControlTimings(own, cycle_times(limited_contestants(problem, q, count), rounds))
