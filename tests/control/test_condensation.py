"""Accelerations of least energy as functions of a right side, and programs condensed to contact forces."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close
from problems import FEET, standing_problem, standing_state
from seeds import fresh

import freeflyer as ff
from freeflyer import control
from freeflyer.control.assembly import assemble
from freeflyer.control.condensation import condense
from freeflyer.control.condensed import solve_condensed
from freeflyer.control.levels import program_of
from freeflyer.control.lexicographic import solve_strictly
from freeflyer.control.motions import own_motion


@pytest.mark.parametrize(("n", "rows", "free"), [(39, 30, 6), (7, 5, 2), (8, 3, 3), (5, 4, 0), (6, 0, 0), (1, 1, 1)])
def test_least_energy_under_equations(n, rows, free):
    """Against the equations of Lagrange as one system."""
    rng = fresh(n, rows, free)
    L = rng.standard_normal((n, n))
    M, g = L @ L.T + np.eye(n), rng.standard_normal(n)
    K, k, w = rng.standard_normal((rows, n)), rng.standard_normal(rows), rng.standard_normal(free)
    found = condense(M, g, K, k, free)
    side = k + np.concatenate([np.zeros(rows - free), w])
    whole = np.block([[M, K.T], [K, np.zeros((rows, rows))]])
    a = np.linalg.solve(whole, np.concatenate([-g, side]))[:n]
    condition = np.linalg.cond(whole)
    close(found.a + found.A @ w, a, 1e-14 * condition, least=np.abs(a).max())
    beta = found.beta + np.concatenate([np.zeros(rows - free), found.theta @ w])
    energy = 0.5 * a @ M @ a + g @ a + 0.5 * g @ np.linalg.solve(M, g)
    close(0.5 * found.inverses @ beta**2, energy, 1e-13 * condition, least=1.0 + abs(energy))


def test_rows_that_repeat_others_are_told_apart():
    rng = fresh()
    L, K = rng.standard_normal((6, 6)), rng.standard_normal((4, 6))
    K[2] = K[0] - 2.0 * K[1]
    a = rng.standard_normal(6)
    found = condense(L @ L.T + np.eye(6), np.zeros(6), K, K @ a, 1)
    assert (found.inverses > 0.0).tolist() == [True, True, False, True]
    assert abs(found.beta[2]) <= 1e-10
    contradicting = K @ a + [0.0, 0.0, 1.0, 0.0]
    assert abs(condense(L @ L.T + np.eye(6), np.zeros(6), K, contradicting, 1).beta[2] - 1.0) <= 1e-10


@pytest.mark.parametrize("case", range(5))
def test_condensed_programs_are_the_whole_ones(case):
    rng = fresh(case)
    model, q, v = standing_state(rng, 0.02)
    problem = standing_problem(model, q, drop=rng.uniform(0.0, 0.06), force_weight=10.0 ** rng.uniform(-6.0, -3.0))
    s = assemble(problem, q, v, None, "body")
    m = own_motion(s)
    short, whole = solve_condensed(s, m, "daqp"), solve_strictly(program_of(s, m), solver="daqp")
    assert whole.way == "together"
    assert short is not None
    close(short.alpha, whole.x[: model.nv], 1e-6, least=np.abs(short.alpha).max())
    close(short.F, whole.x[model.nv :], 1e-6, least=9.81 * model.mass)


@pytest.mark.parametrize("case", range(5))
def test_a_last_level_that_cannot_be_met_is_violated_least(case):
    """A posture of all joints below balance: condensed, and level by level."""
    rng = fresh(case)
    model, q, v = standing_state(rng, 0.005)
    base = standing_problem(model, q, drop=0.005)
    posture = control.PostureTask(ff.integrate(model, q, 0.02 * rng.standard_normal(model.nv)), level=3, stiffness=20.0)
    problem = control.Problem(model, [*base.tasks, posture], FEET)
    s = assemble(problem, q, v, None, "body")
    m = own_motion(s)
    short, whole = solve_condensed(s, m, "daqp"), solve_strictly(program_of(s, m), solver="daqp")
    assert whole.way == "level by level"
    assert short is not None
    close(short.alpha, whole.x[: model.nv], 1e-6, least=np.abs(short.alpha).max())
    close(short.F, whole.x[model.nv :], 1e-4, least=9.81 * model.mass)
