"""Control cycles in their parts, each with its time: the conventional method, and the two programs of the reduced one; Table 3 and
Fig 5, times of both along a motion; and the identity of each cycle: the base rows of the dynamics vanish.

Here programs are made by matrices, and a clock stands between the steps; WholeBodyProblem.solve does all of it in one compiled
call."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean
from time import thread_time as clock
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csc_matrix

import freeflyer as ff
from freeflyer.analysis.timing.results import no_collection
from freeflyer.control.inputs import base_coordinates
from freeflyer.control.problem import Formulation, WholeBodyProblem
from freeflyer.control.scenario import Following, Stance as Standing
from freeflyer.optimization import hierarchy
from freeflyer.optimization.problem import QuadraticProgram, quadratic_program
from freeflyer.progress import Progress
from freeflyer.tolerances import CONTROL_TOLERANCE
from freeflyer_papers.reduced_wbc import two_programs
from freeflyer_papers.reduced_wbc.robot import Robot, Stance, robot, stance, sway


class Way(namedtuple("Way", "name solver")):
    """A way of solving a cycle: its programs by a solver of quadratic programs level by level, or all of it by
    WholeBodyProblem.solve."""

    def solve(self, program: two_programs.Lqp) -> tuple[np.ndarray, int]:
        """x, and how many quadratic programs were solved. Errors: SolverError."""
        return program.solve(self.solver), 1 + len(program.levels())


WAYS = (Way("OSQP by qpsolvers, level by level", "osqp"), Way("WholeBodyProblem.solve, compiled", hierarchy.ACTIVE_SET))


class Cycle(namedtuple("Cycle", "a F seconds programs again")):
    """a (nv,), F (k,) of one cycle; seconds for the terms of the state, the reduced dynamics, the first and the second program;
    programs: quadratic programs in all; again: whether the first part was solved twice."""

    @property
    def total(self) -> float:
        """s."""
        return sum(self.seconds)


def conventional(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, way: Way) -> Cycle:
    """All accelerations at once."""
    if way.solver == hierarchy.ACTIVE_SET:
        return _compiled(problem, q, v, "full")
    t, n = [clock()], problem.model.nv
    whole = two_programs.conventional_program(problem, q, v)
    t.append(clock())
    x, programs = way.solve(whole)
    t.append(clock())
    return Cycle(x[:n], x[n:], (t[1] - t[0], 0.0, t[2] - t[1], 0.0), programs, False)


def reduced(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, way: Way) -> Cycle:
    """The contacts' chains with the centroidal accelerations of the others, then these; once more if they cannot have those."""
    if way.solver == hierarchy.ACTIVE_SET:
        return _compiled(problem, q, v, "reduced")
    t = [clock()]
    whole = two_programs.conventional_program(problem, q, v)
    t.append(clock())
    split = two_programs.split_program(problem, q, whole)
    t.append(clock())
    p, u, k = problem.chains.kept, problem.chains.unconstrained, len(split.A)
    first, second, programs, again = 0.0, 0.0, 0, False
    while True:
        start = clock()
        x, one = way.solve(split.first)
        middle = clock()
        y, two = way.solve(two_programs.second_program(problem, whole, split, x))
        reached, end = split.A @ y, clock()
        first, second, programs = first + middle - start, second + end - middle, programs + one + two
        missed = np.abs(reached - x[len(p) : len(p) + k]).max()
        if again or missed <= CONTROL_TOLERANCE * (1.0 + (np.abs(split.A) @ np.abs(y)).max()):
            break
        split, again = two_programs.with_centroidal(problem, split, reached), True
    a = np.empty(problem.model.nv)
    a[p], a[u] = x[: len(p)], y
    return Cycle(a, x[len(p) + k :], (t[1] - t[0], t[2] - t[1], first, second), programs, again)


def _compiled(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, formulation: Formulation) -> Cycle:
    """A cycle of WholeBodyProblem.solve, whose time has no parts."""
    begin = clock()
    found = problem.solve(q, v, formulation=formulation)
    seconds = clock() - begin
    assert found.asked is not None
    F, programs = found.asked[2][len(found.a) :], 2 if found.formulation == "reduced" else 1
    return Cycle(found.a, F, (0.0, 0.0, seconds, 0.0), programs, again=False)


METHODS: dict[str, Callable[..., Cycle]] = {"conventional": conventional, "reduced": reduced}

TRACKED_METHODS: dict[str, Formulation] = {"conventional": "full", "reduced": "reduced"}
DURATION, PERIOD = 4.0, 1e-3  # s
WAY_OF_MASS, WAY_OF_HAND = (0.0, 0.03, -0.08), (0.08, 0.06, 0.1)  # m
HAND_STIFFNESS = 80.0  # 1/s^2
THIN = 5  # of the samples, one in so many is kept for the picture
SAME = 0.1  # of an error: a difference that counts as none


class Tracked(namedtuple("Tracked", "method t center hand largest torque solved fell")):
    """One run. Errors (n,) at the times t (n,) s, thinned: of the centre of mass and the hand, m. largest: of these and of the
    hand's orientation, m, m, rad, over all samples. torque: the largest, N m; solved: share of cycles that were."""


def reach(hand: str) -> Callable[[Standing], Following]:
    """A scenario: the centre of mass goes down and to the side and returns, while the hand goes up and outwards.

    The levels are those of Table 1, with a posture below: without it nothing holds what the tasks leave free."""

    def scenario(stance: Standing) -> Following:
        c, X = stance.center_of_mass(), stance.pose(hand)
        there = X.copy()
        there[:3, 3] += WAY_OF_HAND
        times = DURATION * np.array([0.1, 0.45, 0.55, 0.9])
        path = ff.control.WaypointReference(times, [c, c + WAY_OF_MASS, c + WAY_OF_MASS, c])
        way = ff.control.move_pose(X, there, duration=0.6 * DURATION, begin=0.2 * DURATION)
        task = ff.control.FramePoseTask(hand, X, level=2, stiffness=HAND_STIFFNESS)
        return Following(stance, DURATION, [(stance.balance(), path), (task, way)], [stance.upright(), stance.relaxed(3)])

    return scenario


def agree(runs: tuple[Tracked, ...]) -> bool:
    """Whether the largest errors of both methods are within SAME of each other."""
    first, second = (np.array(x.largest) for x in runs)
    return bool((np.abs(first - second) <= SAME * np.maximum(first, second)).all())


def track(r: Robot, method: str, progress: Progress) -> Tracked:
    """A method on the way."""
    found = ff.control.run_scenario(reach(r.hands[0]), r.model, formulation=TRACKED_METHODS[method], q=r.q, feet=r.feet, dt=PERIOD,
        duration=DURATION, progress=lambda fraction, what: progress(fraction, f"Fig 4, {method} method: {what}"))  # fmt: skip
    center, hand, *_ = found.errors.values()
    position, turn = np.linalg.norm(hand[:, :3], axis=1), np.linalg.norm(hand[:, 3:], axis=1)
    center_size = np.linalg.norm(center, axis=1)
    keep = slice(None, None, THIN)
    largest = (float(center_size.max()), float(position.max()), float(turn.max()))
    return Tracked(method, found.run.t[: len(center)][keep], center_size[keep], position[keep], largest,
        float(np.abs(found.tau).max()), found.statuses.get("solved", 0) / len(center), found.fell)  # fmt: skip


CYCLES = 100  # of Table 3
CYCLES_OF_SIZES = 30  # of each robot of Fig 5
SIZES = (20, 25, 30, 35, 40, 45)
FIRST = 3  # cycles that do not count: caches, compiled functions


class Timing(namedtuple("Timing",
    "support joints method way cycles mean largest terms dynamics first second programs again base")):  # fmt: skip
    """One method, solved in one way: mean and largest us of a cycle; means of its parts, as in Cycle; quadratic programs a cycle;
    `again`: cycles in which LQP 1 was solved twice; `base`: the largest base row of M a + h - J^T F over the weight."""

    @property
    def solving(self) -> float:
        """us of LQP 1 and LQP 2, or of the conventional program."""
        return self.first + self.second


def times(st: Stance, count: int) -> tuple[Timing, ...]:
    """Both methods in each way whose solver is installed, at so many states of a sway about the posture, the methods in turn; the
    thread's own time, as others may use the machine."""
    q, v = sway(st.problem.constraints, st.q, count)
    found: list[Timing] = []
    installed = (hierarchy.ACTIVE_SET, *ff.optimization.solvers())
    for way in [way for way in WAYS if way.solver in installed]:  # not in turn: after another solver caches are cold
        cycles: dict[str, list[Cycle]] = {method: [] for method in METHODS}
        with no_collection():
            for k in [*range(min(FIRST, count)), *range(count)]:
                for method, cycle in METHODS.items():
                    cycles[method].append(cycle(st.problem, q[k], v[k], way))
        for method, every in cycles.items():
            kept = every[-count:]
            terms, dynamics, first, second = (1e6 * fmean(c.seconds[k] for c in kept) for k in range(4))
            found.append(Timing(st.support, st.problem.model.nv - 6, method, way.name, count, terms + dynamics + first + second,
                1e6 * max(c.total for c in kept), terms, dynamics, first, second, fmean(c.programs for c in kept),
                sum(c.again for c in kept), max(base_residual(st.problem, *x) for x in zip(q, v, kept))))  # fmt: skip
    return tuple(found)


def sizes(progress: Progress) -> tuple[tuple[Timing, ...], tuple[SolverTiming, ...]]:
    """Our humanoid in double support with more and more joints, all of which no contact needs: cycles, and OSQP alone."""
    found: list[Timing] = []
    alone: list[SolverTiming] = []
    for k, joints in enumerate(SIZES):
        progress(k / len(SIZES), f"Fig 5: {joints} joints")
        st = stance(robot(None, joints), "double", orientation=False)
        found += times(st, CYCLES_OF_SIZES)
        alone += solver_times(st)
    return tuple(found), tuple(alone)


def saving(timings: Sequence[Timing | SolverTiming], field: str) -> float:
    """Share of the conventional method's time that the reduced one saves; of one robot, and one way or tolerance."""
    by = {t.method: getattr(t, field) for t in timings}
    return 1.0 - by["reduced"] / by["conventional"]


def base_residual(problem: WholeBodyProblem, q: np.ndarray, v: np.ndarray, cycle: Cycle) -> float:
    """The largest base row of M a + h - J^T F over the weight; inverse dynamics knows nothing of how a and F were found."""
    model = problem.model
    left = ff.inverse_dynamics(model, q, v, cycle.a) - problem.constraints.jacobian(q).T @ cycle.F
    weight = model.mass * float(np.linalg.norm(model.gravity))
    return float(np.abs(left[base_coordinates(model)]).max() / weight)


TOLERANCES = (1e-3, 1e-4)  # absolute and relative; the first is OSQP's default
STATES = 20
REPEATS = 3  # of each program, the least time counts: OSQP's clock does not stop while others have the processor
MOST_ITERATIONS = 20000
RECORDED = Way("daqp, level by level", "daqp")


class SolverTiming(namedtuple("SolverTiming",
    "support joints method tolerance states programs iterations setup solve unsolved")):  # fmt: skip
    """OSQP alone for one method at one tolerance: sums over the programs of a cycle, means over states. Times in us; unsolved:
    programs of all states that OSQP did not solve to the tolerance."""

    @property
    def total(self) -> float:
        """us: setup and solution."""
        return self.setup + self.solve


def solver_times(st: Stance) -> tuple[SolverTiming, ...]:
    """Both methods at both tolerances, on programs of a sway about the posture; none if OSQP is not installed."""
    if "osqp" not in ff.optimization.solvers():
        return ()
    q, v = sway(st.problem.constraints, st.q, STATES)
    recorded: dict[str, list[list[QuadraticProgram]]] = {method: [] for method in METHODS}
    for method, cycle in METHODS.items():
        for k in range(STATES):
            with recording() as programs:
                cycle(st.problem, q[k], v[k], RECORDED)
            recorded[method].append(programs)
    found = []
    for tolerance in TOLERANCES:
        for method, states in recorded.items():
            infos = [[[solve_by_osqp(p, tolerance).info for _ in range(REPEATS)] for p in programs] for programs in states]
            counted, setup, solve = (fmean(sum(min(getattr(info, field) for info in repeats) for repeats in programs)
                for programs in infos) for field in ("iter", "setup_time", "solve_time"))  # fmt: skip
            found.append(SolverTiming(st.support, st.problem.model.nv - 6, method, tolerance, len(states),
                fmean(len(programs) for programs in states), counted, 1e6 * setup, 1e6 * solve,
                sum(repeats[0].status != "solved" for programs in infos for repeats in programs)))  # fmt: skip
    return tuple(found)


@contextmanager
def recording() -> Iterator[list[QuadraticProgram]]:
    """The programs of all hierarchies that are solved within; those of an attempt that fails are left out."""
    programs: list[QuadraticProgram] = []

    def program(H: Any, g: Any, A: Any, lower: Any, upper: Any, **options: Any) -> Any:
        programs.append(quadratic_program(H, g, A, lower, upper))
        return ff.optimization.solve_qp(H, g, A, lower, upper, **options)

    def levels(*given: Any, **options: Any) -> Any:
        before = len(programs)
        try:
            return hierarchy.solve_hierarchy(*given, **options)
        except ff.errors.SolverError:
            del programs[before:]
            raise

    with patch.object(hierarchy, "solve_qp", program), patch.object(two_programs, "solve_hierarchy", levels):
        yield programs


def solve_by_osqp(p: QuadraticProgram, tolerance: float) -> Any:
    """OSQP's answer to a program: x, and info with its own times."""
    import osqp

    solver = osqp.OSQP()
    solver.setup(csc_matrix(np.triu(p.H)), p.g, csc_matrix(p.rows()), p.lower, p.upper, eps_abs=tolerance, eps_rel=tolerance,
        max_iter=MOST_ITERATIONS, verbose=False)  # fmt: skip
    return solver.solve(raise_error=False)
