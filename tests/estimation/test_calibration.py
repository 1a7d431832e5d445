"""Motor offsets from encoders on passive joints, and the choice of these encoders."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused
from estimation_robots import SPRINGS, encoders_of, sensed, sensed_linkage
from freeflyer.estimation import (CalibrationError, calibrate, select_encoders)  # fmt: skip
from freeflyer_papers.estimation.estimators import calibrations
from freeflyer_papers.estimation.stance import random_postures


each = pytest.mark.parametrize("k", range(8))


def observed_motors(s: ff.estimation.Sensors, truth: np.ndarray) -> tuple[list[str], list[str], dict[str, int]]:
    """Motors that encoders on the passive joints tell apart, these joints, and each motor's independent velocity."""
    G = ff.velocity_map(ff.close_loops(s.model), truth)
    passive = [j.name for j in s.model.joints if j.nv == 1 and j.iv in s.partition.dependent]
    seen = G[[s.model.joint(n).iv for n in passive]]
    at = {n: int(np.flatnonzero(s.partition.independent == c)[0]) for n, c in zip(s.names, s.coordinates)}
    motors: list[str] = []
    for name in s.names:
        more = np.linalg.svd(seen[:, [at[n] for n in (*motors, name)]], compute_uv=False)
        if len(more) > len(motors) and more[-1] > 0.05:
            motors.append(name)
    return motors, passive, at


@each
def test_planted_offsets_are_found(k: int) -> None:
    for draw in range(50):  # until the encoders show some motor of the linkage
        s, truth, condition = sensed_linkage(k, draw)
        motors, passive, at = observed_motors(s, truth)
        if motors:
            break
    assert motors
    closed = ff.close_loops(s.model)
    readings = fresh(k).uniform(-0.1, 0.1, len(motors))
    begin = ff.difference(closed, s.partition.q, truth)
    begin[[at[n] for n in motors]] = 0.0  # other motors stand where they are
    shown = {n: float(truth[s.model.joint(n).iq]) for n in passive}
    q = ff.integrate(closed, s.partition.q, begin)
    c = ff.estimation.calibrate(s.model, shown, readings, q, motors=motors, tolerance=1e-9, limit=10)
    close(readings + c.offsets, truth[[s.model.joint(n).iq for n in motors]], 1e-7 * condition)


def shown(s, q):
    return {name: float(q[s.model.joint(name).iq]) for name in encoders_of(s.model)}


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


def test_what_cannot_be_calibrated_is_named():
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
    refused(CalibrationError, "on no joint", calibrate, s.model, {})
    e = shown(s, s.partition.q) | {"left_knee": 9.0}
    refused(CalibrationError, "no posture near the start", calibrate, s.model, e)
    refused(ff.InputError, "no loops", lambda: calibrate(ff.robots.humanoid(), {}))


def test_springs_are_held_or_unseen(models_folder):
    model = sensed("cassie", models_folder).model
    q = sensed("cassie", models_folder).partition.q
    e = {n: q[model.joint(n).iq] for n in ("left-tarsus", "right-tarsus", "left-foot", "right-foot")}
    motors = [n for n in model.actuated if "knee" in n or "foot" in n]
    refused(CalibrationError, "left-shin", calibrate, model, e, motors=motors)
    c = calibrate(model, e, motors=motors, rigid=SPRINGS)
    np.testing.assert_allclose(c.offsets, [q[model.joint(n).iq] for n in motors], atol=1e-4)


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
