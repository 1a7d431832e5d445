"""Pushes: which are borne, where the boundary lies, what predicts a state over a delay."""

from __future__ import annotations

import numpy as np
import pytest
from closeness import close

import freeflyer as ff
from freeflyer import control
from freeflyer.control.running import predict

pytestmark = pytest.mark.slow

SLOW = {"dt": 2e-3}


@pytest.fixture(scope="module")
def humanoid() -> control.Standing:
    return control.stand_on_feet(ff.robots.humanoid(20))


def test_half_of_the_limit_is_borne_and_twice_is_lost(humanoid):
    J = control.max_push_impulse(humanoid.model, humanoid.q, np.zeros(humanoid.model.nv), [2.0], humanoid.feet)[0]
    way = np.array([np.cos(2.0), np.sin(2.0)])
    stands = control.survives_push(humanoid, [0.5 * J * way, 2.0 * J * way], **SLOW)
    np.testing.assert_array_equal(stands, [True, False])


def test_random_pushes_are_the_seeds_and_within_their_share(humanoid):
    J = control.random_pushes(humanoid, 200, share=0.5, seed=1)
    np.testing.assert_array_equal(J, control.random_pushes(humanoid, 200, share=0.5, seed=1))
    angles = np.arctan2(J[:, 1], J[:, 0])
    most = control.max_push_impulse(humanoid.model, humanoid.q, np.zeros(humanoid.model.nv), angles, humanoid.feet)
    share = np.linalg.norm(J, axis=1) / most
    assert share.max() <= 0.5 + 1e-12
    assert share.max() > 0.4
    assert share.min() < 0.1
    assert {tuple(x) for x in np.sign(J)} >= {(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)}


def test_the_boundary_lies_between_what_is_borne_and_what_is_lost(humanoid):
    found = control.push_boundary(humanoid, [0.0], rounds=3, **SLOW)
    assert 0.5 < found.borne[0] / found.limits[0] < found.lost[0] / found.limits[0] <= 1.5
    close(found.lost - found.borne, found.limits / 4.0)


@pytest.mark.slow
def test_processes_find_the_same(humanoid):
    J = control.random_pushes(humanoid, 2, seed=5)
    np.testing.assert_array_equal(control.survives_push(humanoid, J, dt=5e-3, processes=2), [True, True])


def test_prediction_over_a_delay_is_the_motion_at_these_accelerations():
    model, rng = ff.robots.humanoid(20), np.random.default_rng(3)
    q, v = ff.robots.standing_posture(model), 0.1 * rng.standard_normal(model.nv)
    a = rng.standard_normal(model.nv)
    later, faster = predict(model, q, v, [a, -2.0 * a], 1e-3)
    close(faster, v - 1e-3 * a)
    joints = slice(6, None)
    close(later[7:] - q[7:], 2e-3 * v[joints] + (0.5 + 1.0 - 1.0) * 1e-6 * a[joints], 1e3)
    same = predict(model, q, v, [], 1e-3)
    assert same[0] is q
    assert same[1] is v


@pytest.mark.parametrize(("call", "words"), [
    (lambda r: control.survives_push("humanoid", [[1.0, 0.0]]), "stand_on_feet"),
    (lambda r: control.survives_push(r, [1.0, 0.0]), r"\(n, 2\)"),
    (lambda r: control.survives_push(r, [[1.0, 0.0]], processes=0), "processes"),
    (lambda r: control.push_boundary(r, 0.0), r"\(k,\)"), (lambda r: control.push_boundary(r, [0.0], rounds=0), "rounds"),
    (lambda r: control.random_pushes(r, 0), "count"),
])  # fmt: skip
def test_bad_arguments_are_refused(humanoid, call, words):
    with pytest.raises(ff.FreeflyerError, match=words):
        call(humanoid)


def test_the_figure_shows_the_boundary_and_the_pushes():
    from freeflyer.plots.controlled import push_figure

    angles = np.linspace(0.0, 5.0, 6)
    found = control.PushBoundary(angles, np.full(6, 30.0), np.full(6, 32.0), np.full(6, 40.0))
    axes = push_figure(100.0, found, [[1.0, 2.0], [3.0, 4.0]], [False, True]).axes[0]
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown[-2:] == ["1 random pushes, borne", "1 random pushes, lost"]
    with pytest.raises(ff.InputError, match="nothing to draw"):
        push_figure(100.0)
    with pytest.raises(ff.InputError, match="fell has shape"):
        push_figure(100.0, impulses=[[1.0, 0.0]])
