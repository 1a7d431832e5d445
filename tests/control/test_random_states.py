"""Whole-body control at random states, gentle to absurd (more: python tests/control/test_random_states.py 10000)."""

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from time import thread_time

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh
from freeflyer import control
from freeflyer.optimization.compiled import solve_levels
from problems import on_disk, program_of
from robots_on_disk import example, needs_examples
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

ROBOTS = {"humanoid": None, "talos": "talos_reduced.urdf", "go2": "go2.urdf", "icub": "icub.urdf"}
ROBOT_FILES = ["humanoid", *(pytest.param(name, marks=needs_examples) for name in ("talos", "go2", "icub"))]


@cache
def standing(name):
    return control.stand_on_feet(ff.robots.make(name)) if ROBOTS[name] is None else on_disk(example(ROBOTS[name]))


def random_case(rng, robot):
    """(problem, q, v, strict); `size` is how far all is from standing still."""
    model, size = robot.model, 10.0 ** rng.uniform(-3.0, 0.5)
    q = ff.integrate(model, robot.q, size * rng.standard_normal(model.nv)) if rng.random() < 0.7 else robot.q
    tasks = [
        control.CenterOfMassTask(ff.center_of_mass(model, robot.q) + size * rng.standard_normal(3), level=int(rng.integers(1, 3))),
        control.PostureTask(robot.q, level=int(rng.integers(2, 4)), weight=10.0 ** rng.uniform(-1.0, 1.0, model.nv - 6)),
    ]
    for frame in rng.choice(model.link_names, rng.integers(0, 4)):
        X = ff.frame_pose(model, robot.q, frame).copy()
        X[:3, 3] += size * rng.standard_normal(3)
        tasks.append(control.FramePoseTask(frame, X, level=int(rng.integers(1, 4)), stiffness=10.0 ** rng.uniform(1.0, 3.0)))
    limits = [control.TorqueLimits(scale=10.0 ** rng.uniform(-1.5, 0.0)),
        control.JointLimits(dt=10.0 ** rng.uniform(-3.0, -1.5), acceleration=10.0 ** rng.uniform(1.0, 3.0))]  # fmt: skip
    problem = control.WholeBodyProblem(model, tasks, [foot for foot in robot.feet if rng.random() < 0.85],
        [x for x in limits if rng.random() < 0.8], friction=float(rng.choice([0.0, 0.1, 0.6, 1.0])),
        contact_damping=float(rng.choice([0.0, 20.0])))  # fmt: skip
    return problem, q, 10.0 * size * rng.standard_normal(model.nv), bool(rng.random() < 0.7)


def least_slope(A, lower, upper, weights, ends, H, x):
    """The largest share of a level's slope that multipliers of the levels above and of right sign do not balance: 0 at an optimum.

    Slopes in coordinates in which H is the identity; 1e-12 of a row's terms is rounding. Levels are optimal for slopes that differ
    by the share found: what is left of one may be added to the slopes of levels below, as rows of levels above may be.
    """
    T = solve_triangular(np.linalg.cholesky(H), A.T, lower=True).T
    lengths = np.linalg.norm(T, axis=1) + 1e-300
    T /= lengths[:, None]
    value, begin, worst, left_over = A @ x, 0, 0.0, np.zeros((1, len(x)))
    room = 1e-9 * (np.linalg.norm(A, axis=1) * np.linalg.norm(x) + 1e-6)
    missed = value - np.clip(value, lower, upper)
    for end in ends:
        own = slice(begin, end)
        push = weights[own] * missed[own] * lengths[own]
        size = np.abs(push).sum() + 1e3 * weights[own] @ (room[own] * lengths[own])
        if (np.abs(missed[own]) > 10.0 * room[own]).any():
            fixed = (lower[:begin] == upper[:begin]) | (np.abs(missed[:begin]) > room[:begin])
            up = ~fixed & (value[:begin] > upper[:begin] - room[:begin])
            low = ~fixed & (value[:begin] < lower[:begin] + room[:begin])
            _, values, V = np.linalg.svd(np.concatenate([T[:begin][fixed], left_over]))
            N = V[int((values > 1e-9).sum()) :].T
            columns, slope = N.T @ np.concatenate([T[:begin][up], -T[:begin][low]]).T, N.T @ (T[own].T @ push)
            rest = slope + columns @ nnls(columns, -slope, maxiter=5000)[0] if columns.size else slope
            left = np.linalg.norm(rest)
            worst = max(worst, float(left / size))
            if 1e-13 * size < left <= 1e-6 * size:
                left_over = np.concatenate([left_over, (N @ rest / left)[None]])
        begin = end
    return worst


def measure(count, rng, names=tuple(ROBOTS), repeats=1):
    """Of each case: robot, status, whether torques are finite, least processor time of a cycle, whether the active set ended, the
    share of a level's violation that an independent program takes away if a slope is left (`least_slope`)."""
    found = []
    for k in range(count):
        name = names[k % len(names)]
        problem, q, v, strict = random_case(rng, standing(name))
        time = np.inf
        for _ in range(repeats):  # the first makes the program, and the machine may pause
            begin = thread_time()
            solution = problem.solve(q, v, weighted=not strict)
            time = min(time, thread_time() - begin)
        gain, ended = 0.0, solution.status in ("solved", "relaxed")
        if solution.asked is not None and ended:
            p = program_of(problem, q, v, weighted=not strict)
            if least_slope(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, solution.asked[2]) > 1e-8:
                gain = gain_of(p, solution.asked[2])
        found.append((name, solution.status, bool(np.isfinite(solution.tau).all()), time, ended, gain))
    return found


@pytest.mark.parametrize("name", ROBOT_FILES)
def test_torques_are_finite_and_levels_optimal(name):
    found = measure(100, fresh(list(ROBOTS).index(name)), (name,))
    assert all(case[2] for case in found)
    assert all(case[4] for case in found)
    assert sum(case[5] > 1e-6 for case in found) <= 1


@needs_examples
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("humanoid", 301004995), ("talos", 301002158), ("talos", 302003811), ("talos", 302005923), ("talos", 302001420),
        ("talos", 303003673), ("humanoid", 383), ("humanoid", 12462), ("humanoid", 111), ("humanoid", 13059), ("humanoid", 12333),
    ],
)  # fmt: skip
def test_states_that_went_in_circles_end_soon(name, seed):
    """States at which a limit stayed barred, optimal levels moved on, or rounding made rows independent: rounds then ran out, or
    took ten times as many. Copies differ by rounding."""
    rounds = []
    for p, found in solved_copies(20, name, seed):
        rounds.append(found.rounds)
        assert least_slope(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, found.x) < 1e-6
    assert np.median(rounds) <= 40


def solved_copies(count, name, *seed):
    """Programs of a random state, which differ by rounding, and their solutions."""
    problem, q, v, strict = random_case(np.random.default_rng(seed), standing(name))
    rng = fresh(name, *seed)
    for _ in range(count):
        p = program_of(problem, q * (1.0 + 1e-13 * rng.standard_normal(q.shape)), v, weighted=not strict)
        found = solve_levels(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, p.g)
        assert found.optimal
        yield p, found


@pytest.mark.peers
@pytest.mark.parametrize("seed", [1028574, 1042349, 1067775, 1122390, 1086974, 1109158, 1135174])
def test_levels_that_only_seemed_to_be_least(seed):
    """States at which a level had 1e-5 to 0.1 of its violation left: it hardly falls along the steepest direction, though far
    along another; limits that meet in one point were not yet held; a row was barred, by which the level changes."""
    for p, found in solved_copies(5, "humanoid", seed, 0):
        assert gain_of(p, found.x) <= 1e-6


@pytest.mark.peers
@pytest.mark.parametrize("name", ROBOT_FILES)
def test_no_level_could_be_better(name):
    """An independent program for each level, by PIQP, finds no step that would lessen its violation by 1e-6."""
    rng, gains = fresh(list(ROBOTS).index(name)), []
    for _ in range(30):
        problem, q, v, strict = random_case(rng, standing(name))
        p = program_of(problem, q, v, weighted=not strict)
        found = solve_levels(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, p.g)
        assert found.optimal
        gains.append(gain_of(p, found.x))
    assert sum(gain > 1e-6 for gain in gains) <= 1


def gain_of(p, x):
    """The largest share of a level's violation that PIQP finds to be too much at x."""
    pytest.importorskip("piqp")
    from levels_by_piqp import improvements

    return max(improvements(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, x))


if __name__ == "__main__":
    cases = measure(int(sys.argv[1]), np.random.default_rng(), repeats=4)
    print(Counter(case[:2] for case in cases))
    print("torques not finite", sum(not case[2] for case in cases), "rounds ran out", sum(not case[4] for case in cases))
    print("not optimal by more than 1e-6, 1e-4:", [sum(case[5] > x for case in cases) for x in (1e-6, 1e-4)])
    for robot in ROBOTS:
        times = 1e3 * np.array([case[3] for case in cases if case[0] == robot])
        print(robot, "ms: median, p99, p99.9, worst", np.quantile(times, [0.5, 0.99, 0.999, 1.0]).round(2))
