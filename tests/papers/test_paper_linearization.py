"""Geometric linearisation paper reproduced: what its tables and figures must show, and that a wrong algorithm would not."""

import freeflyer as ff
import numpy as np
import pytest
from collections import Counter
from freeflyer_papers import linearization
from freeflyer_papers.linearization import requirements, robot
from freeflyer_papers.linearization.tables import pictures, tables
from freeflyer_papers.printed import geometric

MODEL = robot.branched_robot()
STATE = robot.perturbed_state(MODEL)


@pytest.fixture(scope="module")
def result():
    """All of it, but on small chains."""
    patch = pytest.MonkeyPatch()
    patch.setattr(requirements, "SIZES", (3, 6, 24))
    patch.setattr(requirements, "LARGEST_TABLES", 6)
    patch.setattr(requirements, "BLOCKS", 3)
    patch.setattr(requirements, "BLOCK_SECONDS", 1e-3)
    patch.setattr(requirements, "COUNTED_SIZES", (2, 4, 6, 8))
    said = []
    made = linearization.compute(lambda _, what: said.append(what))
    patch.undo()
    assert len(said) >= 5
    return made


def test_exact_derivatives():
    kinds = Counter(j.kind for j in MODEL.joints)
    assert set(kinds) == {"free", "revolute", "prismatic", "helical"}
    children = Counter(j.parent for j in MODEL.joints)
    assert max(children.values()) >= 3  # branched, at the base and further out
    assert sum(n > 1 for n in children.values()) >= 3
    assert MODEL.nv == 16
    np.testing.assert_array_equal(STATE.q[7:], 0.3)
    assert np.linalg.norm(STATE.v[:6]) > 0.5
    np.testing.assert_allclose(ff.forward_dynamics(MODEL, STATE.q, STATE.v, STATE.tau), STATE.a, atol=1e-11)
    d = ff.inverse_dynamics_derivatives(MODEL, STATE.q, STATE.v, STATE.a)
    for mine, theirs in zip((d.dq, d.dv, d.da), robot.by_complex_steps("rnea", MODEL, STATE.q, STATE.v, STATE.a), strict=True):
        assert robot.distance(mine, theirs) < 1e-13
    for mine, theirs in zip((d.dq, d.dv, d.da), requirements.differences(MODEL, STATE.q, STATE.v, STATE.a), strict=True):
        np.testing.assert_allclose(theirs, mine, atol=1e-5)


def test_the_result(result):
    assert {c.requirement for c in result.checks} == {"SF", "MB", "RF", "ED"}
    for name in ("SF", "MB", "RF", "ED"):
        ours = [c for c in result.checks if c.requirement == name and c.bound is not None]
        assert ours
        assert all(c.holds for c in ours), ours
    assert sum(c.holds is None for c in result.checks) == 5
    assert result.exact_error < 1e-12
    # Only roll, pitch and yaw are singular; only the two algorithms are exact; the compiled one needs fewest operations
    assert [a.singularity_free for a in result.approaches] == [True, True, True, False]
    assert [a.exact for a in result.approaches] == [True, True, False, False]
    assert all(a.base < 1e-7 for a in result.approaches)
    assert result.approaches[1].operations == min(a.operations for a in result.approaches)
    upright = np.abs(result.sweep.pitch) == np.pi / 2
    assert upright.sum() == 2
    assert np.all(result.sweep.condition[upright] > 1e12)
    assert np.all(result.sweep.condition[~upright] < 100.0)
    assert np.all(result.sweep.error < 1e-12)
    # First order one-sided, second order central; round-off over the step
    one_sided, central = result.differences
    for d, order, smallest in ((one_sided, 1.0, 1e-9), (central, 2.0, 1e-12)):
        assert d.delta[0] == pytest.approx(1e-1)
        assert d.delta[-1] == pytest.approx(1e-12)
        assert d.fall == pytest.approx(order, abs=0.05)
        assert d.rise == pytest.approx(-1.0, abs=0.1)
        assert 10 < d.best < len(d.delta) - 10
        assert np.all(d.average <= d.maximal)
        assert smallest < d.maximal[d.best] < 1e-3 * min(d.maximal[0], d.maximal[-1])
    assert central.maximal[central.best] < 0.1 * one_sided.maximal[one_sided.best]
    assert central.delta[central.best] > one_sided.delta[one_sided.best]
    assert result.exact_error < 1e-3 * central.maximal[central.best]
    assert result.prediction.order == pytest.approx(2.0, abs=0.05)
    assert np.all(np.diff(result.prediction.remainder) < 0.0)
    # Linear and quadratic exactly; the printed way to the base's rows costs more, and ever more
    bodies = np.array([c.bodies for c in result.counts])
    assert np.ptp(np.diff([c.eidamb_as_printed for c in result.counts], 2)) == 0.0
    assert all(c.eidamb_as_printed > c.eidamb for c in result.counts)
    assert np.ptp(np.diff([c.eidamb for c in result.counts]) / np.diff(bodies)) == 0.0
    ratio = [c.by_shape_through_wrenches / c.by_shape for c in result.counts]
    assert np.all(np.diff(ratio) > 0.0)
    comparison = next(c for c in result.checks if c.requirement == "RF" and c.holds is None)
    assert comparison.value > 1.0
    assert [c.bodies for c in result.costs] == [3, 6, 24]
    assert all(c.compiled > 0.0 and c.differences > 0.0 for c in result.costs)
    assert [c.tables is None for c in result.costs] == [False, False, True]
    assert requirements.exponent(result.costs, "compiled") is None  # a single size is no slope
    assert ff.get_threads() >= 1
    zeroth, first, second, third, fourth = tables(result)
    assert len(zeroth.rows) == len(result.approaches)
    assert len(first.rows) == len(result.checks)
    assert not any("FAILS" in row for row in first.rows)
    assert len(second.rows) == 3
    assert len(third.rows) == len(result.counts)
    assert len(fourth.rows) == len(result.costs)
    for table in (zeroth, first, second, third, fourth):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
    drawn = pictures(result)
    assert set(drawn) == set(linearization.REPRODUCTION.captions)
    assert set(drawn) == {"fig4_robot", "table1_requirements", "fig5_differences", "cost"}
    curves = [
        line
        for line in drawn["fig5_differences"].axes[0].lines
        if len(line.get_xdata()) == len(result.differences[0].delta)
    ]
    np.testing.assert_array_equal(curves[0].get_ydata(), result.differences[0].maximal)
    assert len(curves) == 4


@pytest.mark.parametrize("planted", ["derivative_by_pose", "derivative_by_base_velocity", "derivative_by_shape"])
def test_a_wrong_table_fails_the_checks(planted, monkeypatch):
    from freeflyer_papers.printed import geometric as library

    right = getattr(library, planted)

    def wrong(*args, **options):
        out = right(*args, **options)
        return out + 1e-9 * np.abs(out).max()

    monkeypatch.setattr(library, planted, wrong)
    monkeypatch.setattr(requirements, "PITCHES", np.radians([-90.0, 10.0, 90.0]))
    sweep = requirements.pitch_sweep(MODEL, STATE)
    checks = requirements.exact_derivatives(MODEL, STATE, ())
    assert not any(c.holds for c in (*requirements.singularity_free(sweep)[:2], *checks))


def test_wrong_derivatives_show(monkeypatch):
    right = geometric.linearize

    def wrong(model, q, v, tau):
        L = right(model, q, v, tau)
        L.A[:6, :6] *= -1.0
        return L

    monkeypatch.setattr(geometric, "linearize", wrong)
    assert abs(robot.predict(MODEL, STATE).order - 2.0) > 0.1
    right = geometric.forward_dynamics_derivatives

    def wrong(*args):
        d = right(*args)
        d.dq[0, 0] += 1e-2 * np.abs(d.dq).max()
        return d

    monkeypatch.setattr(geometric, "forward_dynamics_derivatives", wrong)
    assert min(d.maximal.min() for d in requirements.finite_differences(MODEL, STATE)) > 1e-6
