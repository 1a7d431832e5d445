"""Contact wrenches from motor forces: planted ones, least squares, known motions, records."""

import copy
import freeflyer as ff
import numpy as np
import pickle
import pytest
from closeness import close, fresh, refused, rounding
from estimation_robots import KINDS, resting_forces, sensed
from freeflyer.contacts import contact_from_points as sole, feet_by_name
from freeflyer.estimation import (closed_torques, contact_history, contact_model, contact_wrenches, low_pass, pressure_centers,
    screw_force, zero_moment_point)  # fmt: skip
from freeflyer.estimation.history import METHODS
from freeflyer.linkages import complete_velocity, expand_motion
from freeflyer.sim.floor_contacts import foot_points
from freeflyer_papers.estimation.stance import random_postures
from freeflyer_papers.estimation.swing import Sway, route
from linkage_samples import driven_linkage

SOLE = np.array([[x, y, -0.02] for x in (0.1, -0.08) for y in (0.04, -0.05)])


def posed(name, folder, seed):
    s = sensed(name, folder)
    (q,) = random_postures(s, 1, fresh(seed), 0.6)
    feet = None if name == "kangaroo_like" else [sole("left_ankle_roll", SOLE), sole("right_ankle_roll", SOLE)]
    return s, contact_model(s.model, q, feet)


@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo"])
def test_planted_wrenches_come_back(name, models_folder):
    s, c = posed(name, models_folder, 1)
    W = fresh(2).normal(0.0, 50.0, (2, 6))
    tau, _ = resting_forces(s, c, W)
    found = contact_wrenches(c, tau)
    np.testing.assert_allclose(found.wrenches, W, atol=1e-9)
    for k, foot in enumerate(c.feet):
        F = found.forces[4 * k : 4 * k + 4]
        np.testing.assert_allclose(np.concatenate([F.sum(axis=0), np.cross(foot.points, F).sum(axis=0)]), W[k], atol=1e-9)
    S = c.resultant @ c.spread.T  # wrenches of point forces, on their span
    np.testing.assert_allclose(found.forces.ravel(), np.linalg.pinv(S) @ W.ravel(), atol=1e-9)


@pytest.mark.parametrize("k", range(4))
def test_wrenches_come_back_from_more_motors_than_they_have_numbers(k: int) -> None:
    """A foot on the first link, of a random robot, that six motors or more support."""
    rng = fresh("wrenches", k)
    while True:
        tree, _ = driven_linkage(rng, loops=1, kinds=KINDS, to_world=False, joints=(14, 18))
        s = ff.estimation.sensors(tree)
        for link in tree.link_names[::-1]:
            corners = 0.1 * np.array([[x, y, 0.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]) + rng.standard_normal(3)
            c = contact_model(tree, s.partition.q, [sole(link, corners)]) if link != "world" else None
            if c is not None and np.linalg.matrix_rank(c.A, 1e-3 * np.abs(c.A).max()) == 6:
                break
        else:
            continue
        break
    W = rng.normal(0.0, 50.0, (1, 6))
    tau, _ = resting_forces(s, c, W)
    close(contact_wrenches(c, tau).wrenches, W, rounding(4500, np.linalg.cond(c.A)))


@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo"])
def test_balanced_wrenches_carry_the_weight_whatever_the_motors_say(name, models_folder):
    s, c = posed(name, models_folder, 3)
    weight = s.model.mass * 9.81
    y = np.linalg.lstsq(c.base_view, c.base, rcond=None)[0]
    W = (c.resultant @ y).reshape(2, 6)
    tau, base = resting_forces(s, c, W)
    np.testing.assert_allclose(base, 0.0, atol=1e-8)
    for method in ("motors", "balanced"):
        np.testing.assert_allclose(contact_wrenches(c, tau, method).wrenches, W, atol=1e-8)
    wrong = tau + fresh(4).normal(0.0, 20.0, 12)
    rotated = [X[:3, :3] @ w[:3] for X, w in zip(c.poses, contact_wrenches(c, wrong, "balanced").wrenches)]
    np.testing.assert_allclose(np.sum(rotated, axis=0), [0.0, 0.0, weight], atol=1e-9 * weight)
    zmp = zero_moment_point(c, contact_wrenches(c, tau))
    np.testing.assert_allclose(zmp[:2], ff.center_of_mass(s.model, c.q)[:2], atol=1e-9)


@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo"])
def test_balanced_wrenches_are_the_least_squares_of_motors_over_the_base_s_null_space(name, models_folder):
    _, c = posed(name, models_folder, 5)
    tau = c.motors + fresh(6).normal(0.0, 300.0, 12)
    y0 = np.linalg.pinv(c.base_view) @ c.base
    Z = np.linalg.svd(c.base_view)[2][6:].T
    y = y0 + Z @ np.linalg.lstsq(c.A @ Z, c.motors - tau - c.A @ y0, rcond=None)[0]
    found = contact_wrenches(c, tau, "balanced")
    np.testing.assert_allclose(found.wrenches.ravel(), c.resultant @ y, atol=1e-9)
    np.testing.assert_allclose(found.forces.ravel(), c.spread @ y, atol=1e-9)


@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo"])
def test_a_known_motion_counts(name, models_folder):
    """Forces of the motion without contacts are those of `closed_torques`; bad motions are refused by name."""
    s, c = posed(name, models_folder, 7)
    rng = fresh(8)
    v, a = 0.3 * rng.standard_normal(s.model.nv), rng.standard_normal(s.model.nv)
    v = complete_velocity(s.model, c.q, v)
    a = expand_motion(s.model, c.q, v[s.partition.independent], a[s.partition.independent])[1]
    moving = contact_model(s.model, c.q, c.feet, v, a)
    tau = closed_torques(s, c.q, v, a)
    order = [s.model.joint(n).iv for n in s.model.actuated]
    np.testing.assert_allclose(moving.motors, tau[order], atol=1e-9)
    np.testing.assert_allclose(moving.base, tau[s.partition.base], atol=1e-9)
    np.testing.assert_array_equal(moving.A, c.A)
    assert np.abs(moving.motors - c.motors).max() > 1.0
    refused(ff.InputError, "a\\[3\\]", contact_model, s.model, c.q, c.feet, v, np.where(np.arange(s.model.nv) == 3, np.nan, a))
    refused(ff.InputError, "one state", lambda: contact_model(s.model, c.q, c.feet, np.zeros((2, s.model.nv))))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
def test_contact_models_are_copied_and_pickled(copied):
    """Bit for bit; their text is a line."""
    model = ff.robots.kangaroo_like()
    contacts = contact_model(model, model.neutral)
    again = copied(contacts)
    for name in ("motors", "A", "base", "base_view", "poses", "spread", "resultant", "q"):
        assert getattr(again, name).tobytes() == getattr(contacts, name).tobytes(), name
    tau = fresh().standard_normal(len(contacts.motors))
    for method in ("motors", "balanced"):
        assert contact_wrenches(again, tau, method).forces.tobytes() == contact_wrenches(contacts, tau, method).forces.tobytes()
    assert len(repr(contacts)) < 300
    assert "Standing(model=<freeflyer.Model" in repr(contacts)


def test_other_points_of_the_same_foot_are_other_feet():
    """What is remembered of feet is theirs; contacts keep their points though the array that they were made of changes."""
    s = sensed("kangaroo_like")
    points = SOLE.copy()
    feet = [sole("left_sole", points), sole("right_sole", SOLE)]
    first = contact_model(s.model, s.partition.q, feet)
    points += [0.05, 0.0, 0.0]
    assert np.array_equal(feet[0].points, SOLE)
    second = contact_model(s.model, s.partition.q, [sole("left_sole", points), sole("right_sole", SOLE)])
    W = np.zeros((2, 6))
    W[:, 2] = 200.0
    tau = resting_forces(s, second, W)[0]
    np.testing.assert_allclose(contact_wrenches(second, tau).wrenches, W, atol=1e-9)
    assert np.abs(contact_wrenches(first, tau).forces - contact_wrenches(second, tau).forces).max() > 1.0
    q = s.partition.q.copy()
    q[3:7] *= 1.1
    refused(ff.InputError, "quaternion", contact_model, s.model, q, feet)


def test_center_of_pressure_is_where_one_point_presses():
    s = sensed("kangaroo_like")
    c = contact_model(s.model, s.partition.q)
    W, feet = [], []
    for k, X in enumerate(c.poses):
        p = c.feet[k].points[k + 1]
        f = X[:3, :3].T @ [3.0, -2.0, 200.0]
        W.append(np.concatenate([f, np.cross(p, f)]))
        feet.append(X[:3, :3] @ p + X[:3, 3])
    found = contact_wrenches(c, resting_forces(s, c, W)[0])
    for k, at in enumerate(feet):
        np.testing.assert_allclose(pressure_centers(c, found, at[2])[k], at, atol=1e-7)


def test_screws_and_filter():
    assert screw_force(1.0, 0.1) == pytest.approx(2 * np.pi * 0.95 / 0.1)
    t = np.arange(4000) / 1000.0
    gain = [np.ptp(low_pass(np.sin(2 * np.pi * f * t), 1000.0)[2000:]) / 2 for f in (0.5, 5.0, 50.0)]
    np.testing.assert_allclose(gain, [1.0, np.sqrt(0.5), 0.01], rtol=0.03)
    np.testing.assert_allclose(low_pass(np.full((50, 2), 3.0), 1000.0), 3.0)
    refused(ff.InputError, "half the rate", low_pass, t, 8.0)
    refused(ff.InputError, "lead must be positive", screw_force, 1.0, 0.0)


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
    np.testing.assert_allclose(foot_points(s.model, h.q[0], feet)[:, 2], 0.0, atol=1e-9)
    assert np.ptp(h.q[:, 1]) > 0.01, "the pelvis goes sideways over soles that stay"


@pytest.mark.parametrize(("change", "words"), [
    ({"t": lambda x: x[::-1]}, "times must increase: t\\[1\\]"),
    ({"t": lambda x: np.where(np.arange(len(x)) == 7, x[6], x)}, "times must increase: t\\[7\\]"),
    ({"t": lambda x: x**1.5}, "times must be even"),
    ({"t": lambda x: np.where(np.arange(len(x)) == 3, np.nan, x)}, "t\\[3\\] is nan"),
    ({"t": lambda x: x[:1]}, "two times or more"), ({"positions": lambda x: x[:-1]}, "positions has shape"),
    ({"positions": lambda x: np.where(np.arange(12) == 2, np.inf, x)}, "positions\\[0, 2\\] is inf"),
    ({"positions": lambda x: 100.0 * x}, "does not follow its motors|beyond its stroke"),
    ({"forces": lambda x: x[:, :5]}, "forces has shape"),
    ({"forces": lambda x: np.where(np.arange(12) == 4, np.nan, x)}, "forces\\[0, 4\\] is nan"),
    ({"rates": lambda _: np.zeros((3, 12))}, "rates has shape"), ({"start": lambda _: np.zeros(3)}, "start has shape"),
    ({"start": lambda _: np.zeros((2, 83))}, "start has shape .* one state"),
    ({"feet": lambda _: [sole("left_soul", np.zeros((1, 3)))]}, "left_soul"),
    ({"feet": lambda _: [sole("left_sole", np.eye(3)), sole("right_sole", 0.4 * np.eye(3))]}, "is not on the floor"),
    ({"cutoff": lambda _: 500.0}, "half the rate"),
])  # fmt: skip
def test_records_that_cannot_be_are_refused(record, change, words):
    s, feet, _, t, positions, forces = record
    given = {"t": t, "positions": positions, "forces": forces, "feet": feet}
    for name, edit in change.items():
        given[name] = edit(given.get(name))
    refused(ff.FreeflyerError, words, contact_history, s, **given)


def test_a_robot_that_does_not_float_does_not_stand(models_folder):
    s = sensed("five_bar", models_folder)
    with pytest.raises(ff.InputError, match="has a free base"):
        contact_history(s, [0.0, 0.01], np.zeros((2, 2)), np.zeros((2, 2)), [sole(s.model.frame_names[1], np.eye(3))])
