"""Arguments of functions of one state, and of records, that have other shapes: an InputError that says which are expected."""

from __future__ import annotations

import numpy as np
import pytest

import freeflyer as ff
from freeflyer import control, estimation
from freeflyer_papers.printed import geometric

CHAIN, SPACE = ff.robots.chain(2), ff.robots.space_manipulator()
TRACKER = control.track(CHAIN, np.zeros((11, 2)), np.zeros((11, 2)), np.zeros((10, 2)), 0.01)
SHORT = geometric.motion_pass(geometric.tree_of(SPACE), SPACE.neutral, np.zeros(13), np.zeros(13), wrenches=False)
EYE = np.eye(4)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: control.energy_costs(CHAIN, np.zeros((3, 2)), control.joint_inputs(CHAIN)), "expected that of one state"),
    (lambda: control.controllability(CHAIN, np.eye(2), EYE, EYE[:, :1], basis=np.ones((3, 2))), "basis has shape"),
    (lambda: control.controllability(CHAIN, np.eye(2), EYE, EYE[:, :1], basis=np.full((4, 2), np.nan)), "basis.0, 0. is nan"),
    (lambda: control.controllability(CHAIN, np.diag([1.0, 0.0]), EYE, EYE[:, :1]), "positive on its diagonal"),
    (lambda: TRACKER.error(99, np.zeros(2), np.zeros(2)), "samples 0 ... 10, got k = 99"),
    (lambda: estimation.low_pass(3.0, 100.0, 10.0), "expected samples"),
    (lambda: estimation.low_pass(np.zeros((0, 3)), 100.0, 10.0), "expected samples"),
    (lambda: estimation.base_over_soles(CHAIN, np.zeros(2), [], np.zeros((3, 3))), "the base of 'chain_2' does not move"),
    (lambda: estimation.base_over_soles(CHAIN, np.zeros((4, 2)), [], np.zeros((3, 3))), "expected that of one state"),
    (lambda: geometric.mass_matrix_of(SHORT), "this pass has no wrenches"),
    (lambda: geometric.derivative_by_shape(SHORT), "this pass has no wrenches"),
    (lambda: ff.normalize_configuration(CHAIN, [np.nan, 0.0]), "q.0. is nan"),
    (lambda: ff.spatial.quaternion.random(np.random.default_rng(0), (2, -1)), "whole numbers of 0 or more"),
    (lambda: ff.spatial.consistency.check(1.0, np.zeros(3), np.eye(3), tolerance=np.nan), "tolerance is nan"),
])  # fmt: skip
def test_is_refused(call, words):
    with pytest.raises(ff.InputError, match=words):
        call()


def test_a_negative_moment_is_not_consistent():
    for smallest, word in ((-1.5e-9, "definite"), (-0.5e-9, "flat")):
        found = ff.spatial.consistency.check(1.0, np.zeros(3), np.diag([smallest, 1.0, 1.0]))
        assert found.reasons[0].name == word
        assert bool(found) == (word == "flat")


def test_one_axis_of_random_rotations():
    assert ff.spatial.quaternion.random(np.random.default_rng(0), 3).shape == (3, 4)
