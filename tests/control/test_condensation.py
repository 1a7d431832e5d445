"""Cycles without active limits, condensed to contact forces, against the hierarchy of all their rows."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close
from problems import FEET, standing_problem, standing_state
from seeds import fresh

import freeflyer as ff
from freeflyer import control
from freeflyer.control.assembly import assemble
from freeflyer.control.condensed import solve_condensed
from freeflyer.control.levels import program_of
from freeflyer.control.lexicographic import solve_strictly
from freeflyer.control.motions import own_motion


def both(problem, q, v):
    """The condensed answer, and that of the hierarchy of all rows."""
    s = assemble(problem, q, v, None, "body")
    m = own_motion(s)
    return solve_condensed(s, m), solve_strictly(program_of(s, m))


@pytest.mark.parametrize("case", range(5))
def test_condensed_programs_are_the_whole_ones(case):
    rng, compared = fresh(case), 0
    for _ in range(20):
        model, q, v = standing_state(rng, 0.005)
        problem = standing_problem(model, q, drop=rng.uniform(0.0, 0.03), force_weight=10.0 ** rng.uniform(-6.0, -3.0))
        short, whole = both(problem, q, v)
        if short is None:  # a limit is active
            assert (np.abs(whole.held) == 1.0).any()
            continue
        compared += 1
        close(short.alpha, whole.x[: model.nv], 1e-8, least=np.abs(short.alpha).max())
        close(short.F, whole.x[model.nv :], 1e-8, least=9.81 * model.mass)
    assert compared >= 1


@pytest.mark.parametrize("case", range(5))
def test_a_last_level_that_cannot_be_met_is_violated_least(case):
    """A posture of all joints below balance."""
    rng, compared = fresh(case), 0
    for _ in range(10):
        model, q, v = standing_state(rng, 0.002)
        base = standing_problem(model, q, drop=0.005)
        posture = control.PostureTask(ff.integrate(model, q, 0.02 * rng.standard_normal(model.nv)), level=3, stiffness=20.0)
        short, whole = both(control.Problem(model, [*base.tasks, posture], FEET), q, v)
        if short is not None:
            compared += 1
            close(short.alpha, whole.x[: model.nv], 1e-8, least=np.abs(short.alpha).max())
            close(short.F, whole.x[model.nv :], 1e-6, least=9.81 * model.mass)
    assert compared >= 1
