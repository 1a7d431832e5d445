"""Compiled steps of inverse kinematics are those of the hierarchy of their rows, as long as weighted squares lessen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from closeness import close
from seeds import fresh

import freeflyer as ff
from freeflyer import control
from freeflyer.control.limits import PositionBounds
from freeflyer.control.linearized_tasks import CONTRACTION, LinearizedTasks
from freeflyer.optimization import Level, solve_hierarchy


def problem(rng, limits):
    """(model, q, linearised tasks of two levels) of an arm whose target is far, with weights that differ a lot."""
    model = ff.robots.chain(8, base="free")
    q = ff.integrate(model, model.neutral, 0.3 * rng.standard_normal(model.nv))
    X = ff.frame_pose(model, ff.random_configuration(model, rng), "tip")
    tasks = [control.FramePoseTask("tip", X, level=1, weight=10.0 ** rng.uniform(-3.0, 0.0, 6)),
             control.CenterOfMassTask(rng.uniform(-0.3, 0.3, 3), level=2)]  # fmt: skip
    return model, q, LinearizedTasks.of(model, tasks, PositionBounds.of(model, limits), q)


def step(tasks, at, count, held):
    """The step of the first levels within limits, by a solver of quadratic programs, at most 1 rad or m."""
    low, high = np.minimum(at.low, 0.0), np.maximum(at.high, 0.0)
    low, high = np.where(held > 0.0, high, low), np.where(held < 0.0, low, high)
    rows = [Level(at.J[x], -at.e[x], -at.e[x], tasks.weights[x]) for x in tasks.levels[:count]]
    n = at.J.shape[1]
    least = Level(np.eye(n), np.zeros(n), np.zeros(n))
    d = solve_hierarchy([Level(at.G, low, high), *rows, least], solver="daqp", tolerance=1e-11).x
    return d * min(1.0, 1.0 / np.abs(d).max())


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("limits", [True, False])
def test_a_step_is_that_of_the_rows_that_count(limits, count):
    rng, kept, apart = fresh(limits, count), [], 0
    for k in range(400):
        if k >= 40 and (apart or not limits):
            break
        model, q, tasks = problem(rng, limits)
        at = tasks.at(q)
        held = rng.choice([-1.0, 0.0, 0.0, 0.0, 1.0], len(at.low)) * (np.minimum(-at.low, at.high) < 0.3)
        upto = tasks.levels[count - 1].stop
        new, tried = tasks.walk(q, upto, 1e-9, 1, upto, held)
        there = ff.integrate(model, q, step(tasks, at, count, held))
        squares = [tasks.square(x, slice(0, upto)) for x in (at, tasks.at(there))]
        plain = [float(np.sum(x.e[:upto] ** 2)) for x in (at, tasks.at(there))]
        kept.append(squares[1] <= CONTRACTION * squares[0])
        apart += kept[-1] != (plain[1] <= CONTRACTION * plain[0])
        assert tried == 1
        close(new.q, there if kept[-1] else q, 1e-6)
    assert any(kept)
    assert apart or not limits  # weights decide


def test_steps_go_on_as_long_as_squares_lessen_and_steps_are_left():
    rng, longest = fresh(), 0
    for k in range(200):
        if k >= 20 and longest > 3:
            break
        _, q, tasks = problem(rng, limits=True)
        upto = tasks.levels[0].stop
        found = [tasks.walk(q, upto, 1e-6, most) for most in range(7)]
        for most, ((at, tried), (new, more)) in enumerate(pairwise(found)):
            assert more <= most + 1
            assert more >= tried
            less = tasks.square(new, slice(0, upto)) <= CONTRACTION * tasks.square(at, slice(0, upto))
            assert less if not np.array_equal(new.q, at.q) else more == tried or more == most + 1
            assert max(new.low.max(), -new.high.min()) <= 1e-9
        longest = max(longest, found[-1][1])
    assert longest > 3
