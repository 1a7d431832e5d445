"""Control cycles: each contestant at every state of a slow motion, in turns of some cycles; inverse kinematics."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from freeflyer import contacts
from freeflyer.analysis.timing.robots import (
    ReachPeer,
    ReachTiming,
    Standing,
    motion,
    motion_tasks,
    reach_table,
    reach_times,
    talos,
)
from freeflyer.control.body_tasks import CenterOfMassTask, FrameOrientationTask, FramePoseTask
from freeflyer.control.limits import AccelerationLimits, NormalForceLimits, TorqueLimits
from freeflyer.control.problem import Formulation, WholeBodyProblem
from freeflyer.control.solving import ControlSolution
from freeflyer.dynamics.centroidal import center_of_mass
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.manifold import integrate
from freeflyer.errors import FreeflyerError
from freeflyer.progress import Progress, no_progress
from freeflyer.robots import humanoid
from freeflyer.robots.postures import standing_posture
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


# of states (count, nq), (count, nv); with a note
ControlPeers = Callable[[Standing, np.ndarray, np.ndarray], tuple[Sequence[Contestant], str]]


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


def standing_times(own: Callable[[Standing, np.ndarray, np.ndarray], Sequence[Contestant]] | None = None,
                   peers: ControlPeers | None = None, count: int = 1000, rounds: int = 3,
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


JOINTS = 33
LEVELS = {"com": 1, "pelvis": 1, "hand": 2, "posture": 3}
WAYS: tuple[tuple[str, bool, Formulation], ...] = (
    ("freeflyer, weighted", True, "full"), ("freeflyer, strict levels", False, "full"),
    ("freeflyer, strict levels, reduced", False, "reduced"),
)  # fmt: skip


def control_problem(standing: Standing) -> WholeBodyProblem:
    """Tasks, contacts and limits of the problem; the weighted form leaves the levels out."""
    tasks = [replace(task, level=LEVELS[name]) for name, task in motion_tasks(standing).items()]
    feet = [contacts.surface(name, standing.corners, friction=standing.friction) for name in standing.feet]
    limits = [
        TorqueLimits(standing.torque), AccelerationLimits(standing.acceleration),
        *(NormalForceLimits(name, standing.most, standing.least) for name in standing.feet),
    ]  # fmt: skip
    return WholeBodyProblem(
        standing.model, tasks, feet, limits, force_weight=standing.weights["force"],
        contact_damping=2.0 * float(np.sqrt(standing.stiffness["contact"])),
    )  # fmt: skip


def own_contestants(standing: Standing, q: np.ndarray, v: np.ndarray) -> list[Contestant]:
    """Whole cycles, from a state to torques, each beginning with the answer of the one before."""
    problem = control_problem(standing)
    states = list(zip(q, v, strict=True))
    return [Contestant(name, _cycle(problem, weighted, formulation), states) for name, weighted, formulation in WAYS]


def _cycle(problem: WholeBodyProblem, weighted: bool, formulation: Formulation) -> Callable[[np.ndarray, np.ndarray],
    ControlSolution]:
    last: list[ControlSolution | None] = [None]

    def cycle(q: np.ndarray, v: np.ndarray) -> ControlSolution:
        last[0] = found = problem.solve(q, v, formulation=formulation, weighted=weighted, warm=last[0])
        return found

    return cycle


@dataclass(frozen=True)
class ControlTimings:
    """Cycles on the built-in humanoid and on TALOS, inverse kinematics on TALOS, with notes on peers that are missing."""

    humanoid: tuple[CycleTiming, ...]
    talos: tuple[CycleTiming, ...]
    talos_note: str
    reach: tuple[ReachTiming, ...]
    reach_note: str

    def tables(self) -> list[Table]:
        """One for each of them that was timed."""
        title = f"whole-body control: a humanoid of {JOINTS} joints on two feet, reduced whole-body control paper, Table 1"
        found = [cycles_table(self.humanoid, title=title)]
        found += [cycles_table(self.talos, self.talos_note)] if self.talos or self.talos_note else []
        return found + ([reach_table(self.reach, self.reach_note)] if self.reach or self.reach_note else [])


def humanoid_problem() -> tuple[WholeBodyProblem, np.ndarray]:
    """Double support with all of the reduced whole-body control paper, Table 1: centre of mass, pelvis, a hand; limits of torques
    and accelerations."""
    model = humanoid(JOINTS)
    q = standing_posture(model)
    tasks = [
        CenterOfMassTask(center_of_mass(model, q) - [0.0, 0.0, 0.01], level=1),
        FrameOrientationTask("pelvis", frame_pose(model, q, "pelvis")[:3, :3], level=1),
        FramePoseTask("left_palm", frame_pose(model, q, "left_palm"), level=2),
    ]
    feet = [contacts.surface("left_sole"), contacts.surface("right_sole")]
    return WholeBodyProblem(model, tasks, feet, [TorqueLimits(), AccelerationLimits(300.0)]), q


def control_times(peers: ControlPeers | None = None, reach_peers: Mapping[str, ReachPeer] = MappingProxyType({}),
                  progress: Progress = no_progress, count: int = 1000, rounds: int = 3) -> ControlTimings:  # fmt: skip
    """Cycles at `count` states each, `rounds` times."""
    problem, q = humanoid_problem()
    random = np.random.default_rng(0)
    steps = random.standard_normal((count, 2, problem.model.nv))
    states = [(integrate(problem.model, q, 1e-3 * step), 1e-2 * v) for step, v in steps]
    progress(0.0, "control cycles: humanoid")
    own = cycle_times([Contestant(name, _cycle(problem, strict, way), states) for name, strict, way in WAYS], rounds)
    try:
        progress(0.4, "control cycles: TALOS")
        times, note = standing_times(own_contestants, peers, count, rounds)
        progress(0.9, "inverse kinematics: TALOS")
        reached, missing = reach_times(peers=reach_peers)
    except FreeflyerError as error:  # without the file of TALOS
        times, note, reached, missing = (), str(error), (), str(error)
    return ControlTimings(own, times, note, reached, missing)
