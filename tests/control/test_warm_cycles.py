"""Cycles that begin with the answer of the cycle before, at active limits of torques, accelerations and forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from closeness import close
from programs import program_of
from seeds import fresh

import freeflyer as ff
from freeflyer.analysis.timing.control_cycles import LIMITED, humanoid_problem, limited_contestants
from freeflyer.control import TorqueLimits
from freeflyer.kernels.control.layout import AT_ONCE, WAY
from freeflyer.kernels.entries import CONTROL_CYCLE
from freeflyer.optimization.compiled import call, solve_levels


@pytest.mark.parametrize(("limited", "friction"), [(1, 0.6), (2, 0.6), (4, 0.6), (0, 0.02), (0, 0.05), (1, 0.1)])
def test_limits_that_stay_active_need_no_rounds(limited, friction):
    """Cycles that take active limits as equations find what the active set alone finds, begun anew."""
    rng = fresh(limited, round(100 * friction))
    problem, start = humanoid_problem()
    model, problem = problem.model, replace(problem, friction=friction)
    at_once = 0
    for _ in range(6):
        q, speed = start, 10.0 ** rng.uniform(-3.0, -1.0) * rng.standard_normal(model.nv)
        tau = np.abs(problem.solve(q, speed).tau)
        most = np.where(tau >= np.sort(tau)[-limited] if limited else False, rng.uniform(0.9, 0.99) * tau, 1e4)
        motors = replace(problem, limits=[TorqueLimits(most), *problem.limits[1:]])
        last = motors.solve(q, speed)
        for k in range(15):
            v = np.cos(0.3 * k) * speed
            q = ff.integrate(model, q, 1e-3 * v)
            found = motors.solve(q, v, warm=last)
            if last.held is not None and way(found, last) == AT_ONCE:
                p = program_of(motors, q, v)
                cold = solve_levels(p.A, p.lower, p.upper, p.weights, p.program.ends, p.H, p.g)
                assert cold.optimal
                close(found.tau, p.motors @ cold.x + p.h, 1e-6)
                at_once += 1
            last = found
    assert at_once or not limited


def test_limits_that_almost_depend_on_each_other_need_no_rounds():
    """Two torques of each leg: equations of the limits lose seven digits, which a correction gives back."""
    problem, start = humanoid_problem()
    swing, last, at_once = limited_contestants(problem, start, 30)[LIMITED.index(4)], None, 0
    for state in swing.states:
        found = swing.cycle(*state)
        at_once += last is not None and way(found, last) == AT_ONCE
        last = found
    assert at_once >= 20


def test_equations_that_are_missed_are_not_held():
    rng, missed = fresh(), 0
    problem, start = humanoid_problem()
    for _ in range(10):
        v = 10.0 * rng.standard_normal(problem.model.nv)
        found = replace(problem, limits=[TorqueLimits(scale=0.1)]).solve(start, v)
        p = program_of(replace(problem, limits=[TorqueLimits(scale=0.1)]), start, v)
        left = np.abs(p.A @ found.asked[2] - p.upper)[p.lower == p.upper]
        held = np.asarray(found.held)[p.lower == p.upper]
        np.testing.assert_array_equal(held[left > 1e-3], 0.0)
        np.testing.assert_array_equal(held[left < 1e-8], 2.0)
        missed += (held == 0.0).any()
    assert missed > 5


def way(found, last):
    """How a cycle that began with the answer of the last one found its own."""
    program, given, _ = found.asked
    return call(CONTROL_CYCLE, program.sizes, *given, program.weights, last.held, last.asked[2])[5][WAY]


def test_a_cold_start_at_many_limits_takes_few_rounds():
    """Twelve torques limited: programs that begin anew took 200 rounds and more, or ran out of them."""
    rng = fresh()
    problem, start = humanoid_problem()
    model = problem.model
    tau = np.abs(problem.solve(start, 0.01 * rng.standard_normal(model.nv)).tau)
    most = np.where(tau >= np.sort(tau)[-12], 0.97 * tau, 1e4)
    problem, rounds = replace(problem, limits=[TorqueLimits(most), *problem.limits[1:]]), []
    for _ in range(12):
        q = ff.integrate(model, start, 10.0 ** rng.uniform(-6.0, -2.0) * rng.standard_normal(model.nv))
        found = problem.solve(q, 10.0 ** rng.uniform(-5.0, -1.5) * rng.standard_normal(model.nv))
        assert found.status == "solved"
        rounds.append(found.iterations)
    assert np.median(rounds) <= 30, rounds
