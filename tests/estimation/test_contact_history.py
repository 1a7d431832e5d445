"""The chain of estimators over a record: wrenches of planted postures, drift, and records that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from estimation_robots import sensed

import freeflyer as ff
from freeflyer.analysis.swing import Sway, route
from freeflyer.contacts import contact_from_points as sole, feet_by_name
from freeflyer.estimation import contact_history
from freeflyer.estimation.history import METHODS
from freeflyer.sim.floor_contacts import foot_points

RATE = 200.0


@pytest.fixture(scope="module")
def record():
    """A slow way through postures that hold each other's weight: positions and the forces that hold them."""
    s = sensed("kangaroo_like")
    feet = feet_by_name(s.model)
    way = route(s, feet, Sway(amplitude=0.04))
    order = [s.names.index(n) for n in s.model.actuated]
    t = np.arange(200) / RATE
    at = np.interp(0.04 * np.sin(2 * np.pi * 0.1 * t), way.offsets, np.arange(len(way.offsets)))
    low = np.minimum(at.astype(int), len(way.offsets) - 2)
    share = (at - low)[:, None]
    positions = (1 - share) * way.q[low][:, s.positions] + share * way.q[low + 1][:, s.positions]
    forces = (1 - share) * way.forces[low] + share * way.forces[low + 1]
    return s, feet, way, t, positions, forces[:, order]


def test_wrenches_of_postures_that_hold_themselves_carry_the_weight(record):
    s, feet, way, t, positions, forces = record
    weight = s.model.mass * 9.81
    for start in (None, way.start):
        h = contact_history(s, t, positions, forces, feet, start=start)
        assert h.misfit.max() < 1e-4
        for name in METHODS:
            np.testing.assert_allclose(h.wrenches[name][:, :, 2].sum(axis=1), weight, rtol=2e-3)
        np.testing.assert_allclose(h.wrenches["motors"], h.wrenches["balanced"], atol=0.01 * weight)
    turned = contact_history(s, t, positions, -forces, feet, start=way.start)
    assert abs(turned.wrenches["motors"][-1, :, 2].sum() - weight) > 0.5 * weight, "a wrong sign shows"
    heavy = contact_history(s, t, positions, 1.05 * forces, feet, start=way.start)
    assert abs(heavy.wrenches["motors"][-1, :, 2].sum() - weight) > 0.02 * weight, "so do 5 %"
    np.testing.assert_allclose(heavy.wrenches["balanced"][:, :, 2].sum(axis=1), weight, rtol=1e-9)


def test_without_a_start_the_soles_lie_on_the_floor(record):
    s, feet, _, t, positions, forces = record
    h = contact_history(s, t, positions, forces)
    np.testing.assert_allclose(foot_points(s.model, h.q[0], feet)[:, 2], 0.0, atol=1e-6)
    assert np.ptp(h.q[:, 1]) > 0.01, "the pelvis goes sideways over soles that stay"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"t": lambda x: x[::-1]}, "times must increase: t\\[1\\]"),
        ({"t": lambda x: np.where(np.arange(len(x)) == 7, x[6], x)}, "times must increase: t\\[7\\]"),
        ({"t": lambda x: x**1.5}, "times must be even"),
        ({"t": lambda x: np.where(np.arange(len(x)) == 3, np.nan, x)}, "t\\[3\\] is nan"),
        ({"t": lambda x: x[:1]}, "two times or more"),
        ({"positions": lambda x: x[:-1]}, "positions has shape"),
        ({"positions": lambda x: np.where(np.arange(12) == 2, np.inf, x)}, "positions\\[0, 2\\] is inf"),
        ({"positions": lambda x: 100.0 * x}, "does not follow its motors|beyond its stroke"),
        ({"forces": lambda x: x[:, :5]}, "forces has shape"),
        ({"forces": lambda x: np.where(np.arange(12) == 4, np.nan, x)}, "forces\\[0, 4\\] is nan"),
        ({"rates": lambda _: np.zeros((3, 12))}, "rates has shape"),
        ({"start": lambda _: np.zeros(3)}, "start has shape"),
        ({"start": lambda _: np.zeros((2, 83))}, "start has shape .* one state"),
        ({"feet": lambda _: [sole("left_soul", np.zeros((1, 3)))]}, "left_soul"),
        ({"feet": lambda _: [sole("left_sole", np.eye(3)), sole("right_sole", 0.4 * np.eye(3))]}, "is not on the floor"),
        ({"cutoff": lambda _: 500.0}, "half the rate"),
    ],
)
def test_records_that_cannot_be_are_refused(record, change, words):
    s, feet, _, t, positions, forces = record
    given = {"t": t, "positions": positions, "forces": forces, "feet": feet}
    for name, edit in change.items():
        given[name] = edit(given.get(name))
    with pytest.raises(ff.FreeflyerError, match=words):
        contact_history(s, **given)


def test_a_robot_that_does_not_float_does_not_stand(models_folder):
    s = sensed("five_bar", models_folder)
    with pytest.raises(ff.InputError, match="has a free base"):
        contact_history(s, [0.0, 0.01], np.zeros((2, 2)), np.zeros((2, 2)), [sole(s.model.frame_names[1], np.eye(3))])
