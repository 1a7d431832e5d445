"""Free fall: energy stays, and the drift falls with the fourth power of the step (the fifth for plain swinging)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freeflyer as ff
from freeflyer import linkages, robots
from freeflyer.analysis import free_fall


@pytest.mark.parametrize(
    "robot", [robots.chain(3), robots.chain(3, "spherical", base="free"), robots.make("quadruped")]
)
def test_the_drift_is_small_and_of_order_four(robot):
    study = free_fall(robot)
    assert 3.5 < study.order < 5.5
    assert study.runs[-1].worst < 1e-6
    assert [len(run.time) for run in study.runs] == [21, 41, 81, 161, 321]


def test_linkages_fall_with_their_loops_closed():
    study = free_fall(robots.kangaroo_like())
    assert study.runs[-1].worst < 1e-12
    assert study.runs[0].worst < 1e-9
    lame = ff.build(replace(robots.kangaroo_like().description, actuated=tuple(robots.kangaroo_like().joint_names[1:])))
    with pytest.raises(linkages.LinkageError, match="too many motors"):
        free_fall(lame)


def test_a_falling_body_follows_the_parabola_and_keeps_its_spin_axis():
    model = robots.chain(1, "fixed", base="free")
    q, v = ff.neutral(model), np.array([1.0, 0, 2.0, 0, 0, 3.0])
    com = ff.center_of_mass(model, q)
    start = ff.centroidal_momentum(model, q, v)[:3] / model.mass
    for _ in range(20):
        q, v = ff.step(model, q, v, np.zeros(6), 0.02, "rk4")
    expected = com + 0.4 * start + 0.5 * 0.4**2 * model.gravity
    np.testing.assert_allclose(ff.center_of_mass(model, q), expected, atol=1e-7)


def test_the_same_seed_falls_the_same_way():
    model = robots.chain(2)
    assert np.array_equal(free_fall(model, seed=3).runs[0].drift, free_fall(model, seed=3).runs[0].drift)


def test_a_step_too_long_ends_as_an_infinite_drift_and_is_drawn():
    from freeflyer.analysis.flight import Fall, FallStudy
    from freeflyer.plots import figures

    time = np.linspace(0, 0.4, 5)
    diverged = Fall(0.1, time, np.array([0, 1e-3, 1e9, np.nan, np.nan]))
    fine = [Fall(h, time, h**4 * np.arange(5.0)) for h in (0.05, 0.025)]
    study = FallStudy(0.4, (diverged, *fine))
    assert diverged.worst == np.inf
    assert study.order == pytest.approx(4.0)
    assert len(figures.energy_drift(study).axes) == 2
    assert np.isnan(FallStudy(0.4, (diverged,)).order)
    figures.energy_drift(FallStudy(0.4, (diverged,)))
