"""Motor offsets from absolute encoders: found from anywhere inside the limits, refused where they are unobservable."""

from __future__ import annotations

import numpy as np
import pytest
from estimation_robots import SPRINGS, encoders_of, sensed
from seeds import fresh

import freeflyer as ff
from freeflyer import robots
from freeflyer.estimation import CalibrationError, calibrate
from freeflyer.estimation.stance import random_postures


def shown(s, q):
    return {name: float(q[s.model.joint(name).iq]) for name in encoders_of(s.model)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo"])
def test_offsets_are_found_from_a_hundred_starts_inside_the_limits(name, models_folder):
    s = sensed(name, models_folder)
    postures = random_postures(s, 101, fresh(4))
    truth, steps = postures[0], []
    readings = np.linspace(-0.01, 0.02, len(s.names))
    for begin in postures[1:]:
        c = calibrate(s.model, shown(s, truth), readings, begin, tolerance=1e-5)  # offsets err a few times as much
        np.testing.assert_allclose(readings + c.offsets, truth[s.positions], atol=1e-4)
        assert c.errors[-1] == pytest.approx(np.hypot(c.closure, c.misread), rel=1e-9)
        assert c.errors[-1] < 1e-5 < c.errors[0]
        steps.append(c.iterations)
    assert max(steps) <= 8
    assert np.median(steps) <= 4


def test_newton_s_steps_square_the_error(models_folder):
    s = sensed("kangaroo_like")
    truth, begin = random_postures(s, 2, fresh(5))
    e = calibrate(s.model, shown(s, truth), q=begin, tolerance=1e-10).errors
    assert e[-1] < 1e-10
    assert e[-1] < 20.0 * e[-2] ** 2 + 1e-12  # curvatures are those of cranks of 5 cm and more


def test_more_encoders_than_motors_average_their_noise():
    s = sensed("kangaroo_like")
    (truth,) = random_postures(s, 1, fresh(6))
    rng = fresh(7)
    names = [j.name for j in s.model.joints if j.nq == 1 and j.name not in s.names]
    few, many = [], []
    for _ in range(12):
        noise = {n: truth[s.model.joint(n).iq] + 1e-4 * rng.standard_normal() for n in names}
        few.append(calibrate(s.model, {n: noise[n] for n in encoders_of(s.model)}).offsets - truth[s.positions])
        many.append(calibrate(s.model, noise, tolerance=1e-2).offsets - truth[s.positions])
    assert np.sqrt(np.mean(np.square(many))) < 0.9 * np.sqrt(np.mean(np.square(few)))


def test_unseen_offsets_are_named():
    s = sensed("kangaroo_like")
    q = s.partition.q
    e = shown(s, q)
    del e["left_knee"]
    with pytest.raises(CalibrationError, match="left_length_motor") as caught:
        calibrate(s.model, e)
    assert "right_length_motor" not in caught.value.data["joints"]
    others = [n for n in s.names if n not in caught.value.data["joints"]]
    c = calibrate(s.model, e, motors=others, q=q)
    assert c.motors == tuple(others)
    with pytest.raises(CalibrationError, match="on no joint"):
        calibrate(s.model, {})


def test_encoders_that_no_posture_explains():
    s = sensed("kangaroo_like")
    e = shown(s, s.partition.q) | {"left_knee": 9.0}
    with pytest.raises(CalibrationError, match="no posture near the start"):
        calibrate(s.model, e)


def test_springs_are_held_or_unseen(models_folder):
    model = sensed("cassie", models_folder).model
    q = sensed("cassie", models_folder).partition.q
    e = {n: q[model.joint(n).iq] for n in ("left-tarsus", "right-tarsus", "left-foot", "right-foot")}
    motors = [n for n in model.actuated if "knee" in n or "foot" in n]
    with pytest.raises(CalibrationError, match="left-shin"):
        calibrate(model, e, motors=motors)
    c = calibrate(model, e, motors=motors, rigid=SPRINGS)
    np.testing.assert_allclose(c.offsets, [q[model.joint(n).iq] for n in motors], atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"encoders": {"left_kneee": 0.1}}, "no joint is named"),
        ({"encoders": {"root_joint": 0.1}}, "joint with one coordinate"),
        ({"encoders": {"left_knee": np.nan}}, "finite number"),
        ({"encoders": ["left_knee"]}, "map joint names"),
        ({"readings": np.zeros(3)}, "expected \\(12,\\)"),
        ({"motors": ["left_knee"]}, "no motor is named"),
        ({"motors": "left_yaw_motor"}, "motors must be a list"),
        ({"q": np.zeros(5)}, "expected"),
        ({"q": np.zeros((2, 83))}, "one state"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    s = sensed("kangaroo_like")
    given = {"encoders": shown(s, s.partition.q)} | arguments
    with pytest.raises(ff.FreeflyerError, match=words):
        calibrate(s.model, **given)


def test_a_tree_has_nothing_to_calibrate():
    with pytest.raises(ff.InputError, match="no loops"):
        calibrate(robots.humanoid(), {})
