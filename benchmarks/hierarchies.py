"""Strict hierarchies of control cycles, recorded at random states: our active set beside cascades of quadratic programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.linalg import solve_triangular

import freeflyer as ff
from freeflyer.contacts.description import point, surface
from freeflyer.control.body_tasks import CenterOfMassTask, FrameOrientationTask, FramePositionTask, PostureTask
from freeflyer.control.limits import AccelerationLimits, TorqueLimits
from freeflyer.control.problem import WholeBodyProblem, asked_of
from freeflyer.kernels.entries import CONTROL_PROGRAM
from freeflyer.optimization.compiled import call, solve_levels
from freeflyer.progress import Progress
from freeflyer.robots import humanoid, quadruped
from freeflyer.tables import Table
from freeflyer.text import microseconds as us

PROBLEMS = 500
SHARE = 10  # of the problems every tenth for cascades, which take a hundred times as long
WORSE = 1e-6  # of a level's violation: a solution that misses it by more than the best is worse
OWN = "active set"


@dataclass(frozen=True)
class Recorded:
    """Levels, the metric and slope below them; how many limits hold the solution."""

    levels: tuple[ff.optimization.Level, ...]
    H: np.ndarray
    g: np.ndarray


@dataclass(frozen=True)
class HierarchyTiming:
    """One solver: problems, median and 99th percentile of us; problems that it fails at, and at which a level is missed by more
    than by the best of all."""

    solver: str
    problems: int
    median: float
    p99: float
    failed: int
    worse: int


def record(count: int, seed: int = 0) -> Iterator[Recorded]:
    """Programs of a humanoid and a quadruped that stand, at velocities from rest to fast; limits of torques are often active."""
    rng, both = np.random.default_rng(seed), (_problem(humanoid(33), surface), _problem(quadruped(), point))
    for k in range(count):
        problem, q = both[k % 2]
        model, speed = problem.model, 10.0 ** rng.uniform(-3.0, 0.5)
        v = ff.project_velocity(model, q, speed * rng.standard_normal(model.nv), constraints=problem.constraints)
        program, numbers = asked_of(problem, q, v, "full")
        found = call(CONTROL_PROGRAM, program.sizes, q, v, np.zeros(model.nv), numbers)
        assert found is not None
        A, lower, upper, H, g = found[:5]
        parts = [slice(i, k) for i, k in zip((0, *program.ends), program.ends) if k > i]
        yield Recorded(tuple([ff.optimization.Level(A[p], lower[p], upper[p], program.weights[p]) for p in parts]), H, g)


def hierarchy_times(progress: Progress, count: int = PROBLEMS) -> tuple[HierarchyTiming, ...]:
    """Our active set on all problems, cascades by every installed solver on some of them."""
    problems = list(record(count))
    progress(0.0, "recorded hierarchies")
    some = problems[::SHARE]
    answers = {OWN: [_timed(_ours, p) for p in problems]}
    for solver in ff.optimization.solvers()[1:]:
        progress(0.5, f"recorded hierarchies: {solver}")
        answers[solver] = [_timed(lambda p, solver=solver: _cascade(p, solver), p) for p in some]  # type: ignore[misc]
    best = [np.min([_missed(p, x) for x in found if x is not None], axis=0)
            for p, found in zip(some, zip(*[[x for _, x in a] for a in (answers[OWN][::SHARE], *list(answers.values())[1:])]))]
    rows = []
    for solver, found in answers.items():
        beside = found[::SHARE] if solver == OWN else found
        worse = sum(x is not None and _worse(_missed(p, x), b) for p, (_, x), b in zip(some, beside, best))
        times = 1e6 * np.array([t for t, _ in found])
        failed = sum(x is None for _, x in found)
        rows.append(HierarchyTiming(solver, len(found), float(np.median(times)), float(np.quantile(times, 0.99)), failed, worse))
    return tuple(rows)


def hierarchies_table(timings: tuple[HierarchyTiming, ...]) -> Table:
    """One row for each solver."""
    columns = ("solver", "problems", "median us", "99 % below us", "fails", "a level worse than the best")
    rows = [(t.solver, str(t.problems), us(t.median), us(t.p99), str(t.failed), str(t.worse)) for t in timings]
    note = "levels of control cycles of a humanoid (51 unknowns) and a quadruped (30), cold; others level by level, solve_hierarchy"
    return Table("strict hierarchies of control cycles", columns, rows, range(1, len(columns)), note)


def _problem(model: ff.Model, contact: Callable[[str], object]) -> tuple[WholeBodyProblem, np.ndarray]:
    q = ff.robots.standing_posture(model)
    soles = [name for name in model.frame_names if name.endswith("_sole")]
    feet = [contact(name) for name in soles or [name for name in model.frame_names if name.endswith("_foot")]]
    end = "left_palm" if "left_palm" in model.frame_names else model.frame_names[-1]
    base = model.joints[0].child
    tasks = [CenterOfMassTask(ff.center_of_mass(model, q) - [0.0, 0.0, 0.03]),
        FrameOrientationTask(base, ff.frame_pose(model, q, base)[:3, :3]),
        FramePositionTask(end, ff.frame_pose(model, q, end)[:3, 3] + 0.05, level=2), PostureTask(q, level=3)]  # fmt: skip
    return WholeBodyProblem(model, tasks, feet, [TorqueLimits(scale=0.5), AccelerationLimits(200.0)]), q  # type: ignore[arg-type]


def _timed(solve: Callable[[Recorded], np.ndarray], p: Recorded) -> tuple[float, np.ndarray | None]:
    """Seconds, and x; None if the solver fails."""
    begin = perf_counter()
    try:
        x = solve(p)
    except ff.FreeflyerError:
        return perf_counter() - begin, None
    return perf_counter() - begin, x


def _ours(p: Recorded) -> np.ndarray:
    A, lower, upper, weights = (np.concatenate(part) for part in zip(*p.levels))
    ends = tuple(np.cumsum([len(level.lower) for level in p.levels]).tolist())
    found = solve_levels(A, lower, upper, weights, ends, p.H, p.g)
    if found is None or not found.optimal:
        raise ff.FreeflyerError("the rounds ran out")
    return found.x


def _cascade(p: Recorded, solver: str) -> np.ndarray:
    L = np.linalg.cholesky(p.H)
    b = -solve_triangular(L, p.g, lower=True)
    return ff.optimization.solve_hierarchy([*p.levels, ff.optimization.Level(L.T, b, b)], solver=solver).x


def _missed(p: Recorded, x: np.ndarray) -> np.ndarray:
    """By how much each level is missed, beside the size of its terms."""
    found = []
    for level in p.levels:
        value = level.A @ x
        size = 1.0 + np.abs(level.A) @ np.abs(x)
        w = np.ones(len(value)) if level.weights is None else level.weights
        found.append(np.sqrt(w @ ((value - np.clip(value, level.lower, level.upper)) / size.max()) ** 2))
    return np.array(found)


def _worse(missed: np.ndarray, best: np.ndarray) -> bool:
    """Whether the first level that differs is missed by more."""
    off = np.flatnonzero(np.abs(missed - best) > WORSE)
    return len(off) > 0 and bool(missed[off[0]] > best[off[0]])
