"""The passive-state estimator against dense algebra and true motions; motor offsets from encoders on passive joints, and the choice
of these encoders."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused, slopes
from estimation_robots import NAMES, SPRINGS, encoders_of, moving, sensed, sensed_linkage
from freeflyer.estimation import (CalibrationError, calibrate, closed_torques, passive_state, select_encoders, sensors,
    update_passive_state)  # fmt: skip
from freeflyer.estimation.passive import PassiveState
from freeflyer.linkages import LinkageError
from freeflyer.linkages.rows import constraint_bias, constraint_jacobian, constraint_residual
from freeflyer_papers.estimation.estimators import Encoder, calibrations, sinusoids, track
from freeflyer_papers.estimation.stance import random_postures


@pytest.fixture(params=NAMES)
def s(request, models_folder):
    return sensed(request.param, models_folder)


def dense(s, q, target, given):
    """v (nv,) with J[rows] v = target and the independent entries of `given`, in one dense system."""
    J = constraint_jacobian(s.model, q)[s.partition.rows]
    keep = np.eye(s.model.nv)[s.partition.independent]
    return np.linalg.solve(np.vstack([J, keep]), np.concatenate([target, given[s.partition.independent]]))


def test_a_step_is_equations_35_to_40(s):
    q, x, dx = moving(s, 1)
    alpha, beta, dt = 30.0, 200.0, 0.002
    after = update_passive_state(s, PassiveState(q, np.zeros(s.model.nv), 1.0), x, dx, dt, alpha=alpha, beta=beta)
    corrected, clean = np.zeros(s.model.nv), np.zeros(s.model.nv)
    corrected[s.coordinates], clean[s.coordinates] = dx + beta * (x - q[s.positions]), dx
    e = -constraint_residual(s.model, q)[s.partition.rows]
    assert np.abs(e).max() > 1e-5, "the loops are open, or the test would not see alpha"
    rates = dense(s, q, alpha * e, corrected)
    scale = np.abs(rates).max()
    np.testing.assert_allclose(after.q, ff.integrate(s.model, q, dt * rates), atol=1e-10 * max(1.0, dt * scale), rtol=0)
    np.testing.assert_allclose(after.v, dense(s, q, 0.0 * e, clean), atol=1e-9 * scale, rtol=0)


def test_torques_agree_with_the_equations_of_motion_with_multipliers(s):
    m = s.model
    rng = fresh(2)
    q = s.partition.q
    rows, dependent, independent = s.partition.rows, s.partition.dependent, s.partition.independent
    v = dense(s, q, np.zeros(len(rows)), 0.5 * rng.standard_normal(m.nv))
    a = rng.standard_normal(m.nv)
    tau = closed_torques(s, q, v, a)
    J, bias = constraint_jacobian(m, q)[rows], constraint_bias(m, q, v)[rows]
    M, h = ff.mass_matrix(m, q), ff.bias_forces(m, q, v)
    KKT = np.block([[M, -J.T], [J, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.solve(KKT, np.concatenate([tau - h, -bias]))[: m.nv]
    np.testing.assert_allclose(found[independent], a[independent], atol=1e-9 * max(1.0, np.abs(found).max()))
    assert np.abs(tau[dependent]).max() == 0.0


def test_sinusoids_are_tracked_and_loops_stay_closed(s):
    t = track(s, duration=1.3)
    assert np.abs(t.estimated - t.actual)[t.settled :].max() < 2e-5
    assert t.errors()["closure"] < 1e-3
    quick = track(s, duration=1.3, alpha=1000.0).errors()
    assert quick["closure"] < 0.1 * t.errors()["closure"]
    assert quick["passive_largest"] < 2e-5
    assert np.abs(t.actual[t.settled :]).max() > 1e-3, "the motors move"


def test_noise_and_quantisation_show_and_do_not_bias_when_loops_close_at_once():
    s = sensed("kangaroo_like")
    path = sinusoids(s)
    ideal, rough = (track(s, e, duration=1.6, alpha=1000.0, path=path).errors() for e in (Encoder(), Encoder(1e-5, 1e-5)))
    assert ideal["passive_rms"] < 3e-6
    assert 1e-4 < rough["passive_rms"] < 2e-3
    assert rough["bias"] < 0.1 * rough["passive_rms"]


@pytest.mark.parametrize(("change", "words"), [
    (lambda x, dx: (x, np.where(np.arange(12) == 3, np.nan, dx)), "left_ankle_inner_motor"),
    (lambda x, dx: (np.where(np.arange(12) == 1, 0.3, x), dx), "beyond its stroke 0 to 0.15"),
    (lambda x, dx: (np.where(np.arange(12) == 1, -0.1, x), dx), "beyond its stroke 0 to 0.15"),
    (lambda x, dx: (np.where(np.arange(12) == 1, np.nan, x), dx), "positions[1] (joint 'left_length_motor') is nan"),
    (lambda x, dx: (np.ones((2, 12)) * x, np.ones((3, 12)) * dx), "broadcast"),
])  # fmt: skip
def test_bad_measurements_are_refused_by_name(change, words):
    s = sensed("kangaroo_like")
    state = passive_state(s)
    x, dx = change(s.partition.q[s.positions].copy(), np.zeros(12))
    with pytest.raises(ff.InputError) as caught:
        update_passive_state(s, state, x, dx)
    assert words in str(caught.value)


def test_gains_under_which_errors_would_grow_are_refused():
    s = sensed("kangaroo_like")
    given = s, passive_state(s), s.partition.q[s.positions], np.zeros(12), 0.01
    for gains in ({"alpha": 201.0, "beta": 0.0}, {"alpha": 0.0, "beta": 201.0}):
        refused(ff.InputError, "errors would grow. Take at most 200,", update_passive_state, *given, **gains)
    update_passive_state(*given, alpha=199.0, beta=199.0)


def test_a_singular_sub_mechanism_is_named(models_folder):
    s = sensed("five_bar", models_folder)
    q, at = s.partition.q, np.ix_(s.partition.rows, s.partition.dependent)

    def determinant(x):
        return np.linalg.det(constraint_jacobian(s.model, x)[at])

    scanned = [np.where(np.arange(5) == k, z, q) for k in s.passive for z in np.linspace(-np.pi, np.pi, 2001)]
    x = min(scanned, key=lambda x: abs(determinant(x)))
    for _ in range(60):  # to the determinant's root
        slope = slopes(lambda e, x=x: determinant(x + e), 5)
        x = x - determinant(x) * slope / max(slope @ slope, 1e-12)
    with pytest.raises(LinkageError, match="singular"):
        update_passive_state(s, PassiveState(x, np.zeros(5), 1.0), q[s.positions], np.zeros(2))


def test_robots_that_cannot_be_estimated_say_why(models_folder):
    refused(ff.InputError, "has no loops", lambda: sensors(ff.robots.humanoid()))
    cassie = sensed("cassie", models_folder).model
    with pytest.raises(LinkageError, match="'left-heel-spring'") as caught:
        sensors(cassie)
    assert (set(caught.value.data["joints"]), sensors(cassie, also=SPRINGS).names[-4:]) == (set(SPRINGS), SPRINGS)
    refused(ff.UnknownNameError, "left-shin", sensors, cassie, rigid=("left-shim",))
    refused(ff.InputError, "measured or rigid", sensors, cassie, also=("left-shin",), rigid=("left-shin",))
    like = sensed("kangaroo_like").model
    refused(LinkageError, "follows the motors", sensors, like, also=("left_knee",))
    refused(ff.InputError, "rigid must be a list", sensors, like, rigid="left_knee")


each = pytest.mark.parametrize("k", range(8))


@each
def test_encoders_give_the_passive_joints(k: int) -> None:
    """Steps of length one with both gains one are Newton's."""
    s, truth, condition = sensed_linkage(k)
    state = ff.estimation.passive_state(s)
    for _ in range(5):
        state = ff.estimation.update_passive_state(s, state, truth[s.positions], np.zeros(len(s.names)), 1.0, alpha=1.0, beta=1.0)
    assert ff.estimation.constraint_error(s, state.q) < 1e-12
    close(ff.difference(s.model, truth, state.q), np.zeros(s.model.nv), 1e-9 * condition)


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
    c = calibrate(s.model, shown, readings, q, motors=motors, tolerance=1e-9, limit=10)
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
    s = sensed("cassie", models_folder)
    model, q = s.model, s.partition.q
    e = {n: q[model.joint(n).iq] for n in ("left-tarsus", "right-tarsus", "left-foot", "right-foot")}
    motors = [n for n in model.actuated if "knee" in n or "foot" in n]
    refused(CalibrationError, "left-shin", calibrate, model, e, motors=motors)
    c = calibrate(model, e, motors=motors, rigid=SPRINGS)
    np.testing.assert_allclose(c.offsets, [q[model.joint(n).iq] for n in motors], atol=1e-4)
    selection = select_encoders(s)  # motors at joints of the tree are unobservable
    assert "left-hip-roll" in selection.unobservable
    assert "left-knee" in selection.motors


@pytest.mark.parametrize("name", NAMES)
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
