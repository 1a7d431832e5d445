"""Control cycles in their parts, each with its time: the conventional method, and the two programs of the reduced one.

Here programs are made by matrices, and a clock stands between the steps; WholeBodyProblem.solve does all of it in one compiled
call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import thread_time
from typing import NamedTuple

import numpy as np

from freeflyer.control.body_tasks import FramePoseTask
from freeflyer.control.problem import Formulation, WholeBodyProblem
from freeflyer.control.references import WaypointReference, move_pose
from freeflyer.control.running import ControlRun, run_scenario
from freeflyer.control.scenario import Following, Stance
from freeflyer.optimization.hierarchy import ACTIVE_SET
from freeflyer.progress import Progress
from freeflyer.tolerances import CONTROL_TOLERANCE
from freeflyer_papers.reduced_wbc.robot import Robot
from freeflyer_papers.reduced_wbc.two_programs import (
    Lqp,
    conventional_program,
    second_program,
    split_program,
    with_centroidal,
)


@dataclass(frozen=True)
class Way:
    """A way of solving a cycle: its programs by a solver of quadratic programs level by level, or all of it by
    WholeBodyProblem.solve."""

    name: str
    solver: str

    def solve(self, program: Lqp) -> tuple[np.ndarray, int]:
        """x, and how many quadratic programs were solved. Errors: SolverError."""
        return program.solve(self.solver), 1 + len(program.levels())


WAYS = (Way("OSQP by qpsolvers, level by level", "osqp"), Way("WholeBodyProblem.solve, compiled", ACTIVE_SET))


class Cycle(NamedTuple):
    """a (nv,), F (k,) of one cycle; seconds for the terms of the state, the reduced dynamics, the first and the second program;
    programs: quadratic programs in all; again: whether the first part was solved twice."""

    a: np.ndarray
    F: np.ndarray
    seconds: tuple[float, float, float, float]
    programs: int
    again: bool

    @property
    def total(self) -> float:
        """s."""
        return sum(self.seconds)


def conventional(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, way: Way, clock: Callable[[],
    float] = thread_time) -> Cycle:
    """All accelerations at once."""
    if way.solver == ACTIVE_SET:
        return _compiled(problem, q, v, "full", clock)
    t, n = [clock()], problem.model.nv
    whole = conventional_program(problem, q, v)
    t.append(clock())
    x, programs = way.solve(whole)
    t.append(clock())
    return Cycle(x[:n], x[n:], (t[1] - t[0], 0.0, t[2] - t[1], 0.0), programs, False)


def reduced(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, way: Way, clock: Callable[[], float] = thread_time) -> Cycle:
    """The contacts' chains with the centroidal accelerations of the others, then these; once more if they cannot have those."""
    if way.solver == ACTIVE_SET:
        return _compiled(problem, q, v, "reduced", clock)
    t = [clock()]
    whole = conventional_program(problem, q, v)
    t.append(clock())
    split = split_program(problem, q, whole)
    t.append(clock())
    p, u, k, first, second, programs, again = *_parts(problem), len(split.A), 0.0, 0.0, 0, False
    while True:
        start = clock()
        x, one = way.solve(split.first)
        middle = clock()
        y, two = way.solve(second_program(problem, whole, split, x))
        reached, end = split.A @ y, clock()
        first, second, programs = first + middle - start, second + end - middle, programs + one + two
        missed = np.abs(reached - x[len(p) : len(p) + k]).max()
        if again or missed <= CONTROL_TOLERANCE * (1.0 + (np.abs(split.A) @ np.abs(y)).max()):
            break
        split, again = with_centroidal(problem, split, reached), True
    a = np.empty(problem.model.nv)
    a[p], a[u] = x[: len(p)], y
    return Cycle(a, x[len(p) + k :], (t[1] - t[0], t[2] - t[1], first, second), programs, again)


def _compiled(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, formulation: Formulation, clock: Callable[[],
    float]) -> Cycle:
    """A cycle of WholeBodyProblem.solve, whose time has no parts."""
    begin = clock()
    found = problem.solve(q, v, formulation=formulation)
    seconds = clock() - begin
    assert found.asked is not None
    F, programs = found.asked[2][len(found.a) :], 2 if found.formulation == "reduced" else 1
    return Cycle(found.a, F, (0.0, 0.0, seconds, 0.0), programs, again=False)


def _parts(problem: WholeBodyProblem) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of the contacts' chains, and of the others."""
    return problem.chains.kept, problem.chains.unconstrained


METHODS: dict[str, Callable[..., Cycle]] = {"conventional": conventional, "reduced": reduced}


TRACKED_METHODS: dict[str, Formulation] = {"conventional": "full", "reduced": "reduced"}
DURATION, PERIOD = 4.0, 1e-3  # s
WAY_OF_MASS, WAY_OF_HAND = (0.0, 0.03, -0.08), (0.08, 0.06, 0.1)  # m
HAND_STIFFNESS = 80.0  # 1/s^2
THIN = 5  # of the samples, one in so many is kept for the picture
SAME = 0.1  # of an error: a difference that counts as none


@dataclass(frozen=True)
class Tracked:
    """One run. Errors (n,) at the times t (n,) s, thinned: of the centre of mass and the hand, m. largest: of these and of the
    hand's orientation, m, m, rad, over all samples. torque: the largest, N m; solved: share of cycles that were."""

    method: str
    t: np.ndarray
    center: np.ndarray
    hand: np.ndarray
    largest: tuple[float, float, float]
    torque: float
    solved: float
    fell: bool


def track(r: Robot, progress: Progress) -> tuple[Tracked, ...]:
    """Both methods on the same way."""
    return tuple([_tracked(r, method, progress) for method in TRACKED_METHODS])


def reach(hand: str) -> Callable[[Stance], Following]:
    """A scenario: the centre of mass goes down and to the side and returns, while the hand goes up and outwards.

    The levels are those of Table 1, with a posture below: without it nothing holds what the tasks leave free."""

    def scenario(stance: Stance) -> Following:
        c, X = stance.center_of_mass(), stance.pose(hand)
        there = X.copy()
        there[:3, 3] += WAY_OF_HAND
        times = DURATION * np.array([0.1, 0.45, 0.55, 0.9])
        path = WaypointReference(times, [c, c + WAY_OF_MASS, c + WAY_OF_MASS, c])
        way = move_pose(X, there, duration=0.6 * DURATION, begin=0.2 * DURATION)
        task = FramePoseTask(hand, X, level=2, stiffness=HAND_STIFFNESS)
        return Following(stance, DURATION, [(stance.balance(), path), (task, way)], [stance.upright(), stance.relaxed(3)])

    return scenario


def agree(runs: tuple[Tracked, ...]) -> bool:
    """Whether the largest errors of both methods are within SAME of each other."""
    first, second = (np.array(x.largest) for x in runs)
    return bool((np.abs(first - second) <= SAME * np.maximum(first, second)).all())


def _tracked(r: Robot, method: str, progress: Progress) -> Tracked:
    found = run_scenario(
        reach(r.hands[0]), r.model, formulation=TRACKED_METHODS[method], q=r.q, dt=PERIOD, duration=DURATION,
        progress=lambda fraction, what: progress(fraction, f"Fig 4, {method} method: {what}"),
    )  # fmt: skip
    return _summary(found, method)


def _summary(found: ControlRun, method: str) -> Tracked:
    errors = list(found.errors.values())
    center, hand = errors[0], errors[1]
    position, turn = _pose_error(hand)
    center_size = np.linalg.norm(center, axis=1)
    keep = slice(None, None, THIN)
    largest = (float(center_size.max()), float(position.max()), float(turn.max()))
    return Tracked(
        method, found.run.t[: len(center)][keep], center_size[keep], position[keep], largest, float(np.abs(found.tau).max()),
        found.statuses.get("solved", 0) / len(center), found.fell,
    )  # fmt: skip


def _pose_error(e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Norms (T,) of position and orientation errors (T, 6)."""
    return np.linalg.norm(e[:, :3], axis=1), np.linalg.norm(e[:, 3:], axis=1)
