"""Encoders chosen for a robot: they calibrate it, and each of them is needed."""

from __future__ import annotations

import numpy as np
import pytest
from estimation_robots import SPRINGS, sensed
from seeds import fresh

import freeflyer as ff
from freeflyer.analysis.estimators import calibrations
from freeflyer.estimation import select_encoders


@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo", "cassie", "battobot", "five_bar"])
def test_chosen_joints_calibrate_every_motor_they_follow(name, models_folder):
    s = sensed(name, models_folder)
    selection = select_encoders(s)
    assert len(selection.joints) == len(selection.motors) > 0
    assert set(selection.motors) | set(selection.unobservable) == set(s.model.actuated)
    assert not set(selection.joints) & set(s.names)
    rigid = SPRINGS if name == "cassie" else ()
    found = calibrations(s, selection.joints, 4, rigid=rigid, motors=selection.motors)
    assert found.starts == 4
    assert all(e[-1] < 1e-4 for e in found.errors)
    if name != "battobot":  # its cranks reach the same ankle in two ways: those starts end at the other assembly, and are counted
        assert found.right >= 3
    with pytest.raises(ff.FreeflyerError, match="do not determine the positions"):
        calibrations(s, selection.joints[:-1], 1, rigid=rigid, motors=selection.motors)


def test_motors_at_joints_of_the_tree_are_unobservable(models_folder):
    selection = select_encoders(sensed("cassie", models_folder))
    assert "left-hip-roll" in selection.unobservable
    assert "left-knee" in selection.motors


def test_joints_are_chosen_by_sensitivity():
    """The smallest singular value of the chosen joints' sensitivity is within a factor of the best of many random choices."""
    from freeflyer.estimation.stance import reach, strokes
    from freeflyer.linkages.maps import motion_map

    s = sensed("kangaroo_like")
    lower, upper = strokes(s)
    q = reach(s, 0.5 * (lower + upper))
    G = motion_map(s.model, s.partition, (s.partition.q if q is None else q)[None])[0]
    columns = [int(np.flatnonzero(s.partition.independent == j)[0]) for j in s.coordinates]

    def smallest_sensitivity(names):
        return np.linalg.svd(G[[s.model.joint(n).iv for n in names]][:, columns] * (upper - lower), compute_uv=False)[-1]

    passive = [j.name for j in s.model.joints if j.nq == j.nv == 1 and j.iv in set(s.passive.tolist())]
    rng = fresh(1)
    best = max(smallest_sensitivity(rng.choice(passive, 12, replace=False)) for _ in range(300))
    assert smallest_sensitivity(select_encoders(s).joints) > 0.5 * best
