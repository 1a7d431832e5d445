"""The passive-state estimator and motor offsets from encoders, against dense algebra, differences and true motions."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, refused, rounding, slopes
from estimation_robots import NAMES, SPRINGS, encoders_of, moving, resting_forces, sensed
from freeflyer import estimation, linkages, robots
from freeflyer.contacts import contact_from_points as sole
from freeflyer.estimation import (CalibrationError, calibrate, closed_torques, constraint_error, passive_state, select_encoders,
    sensors, update_passive_state)  # fmt: skip
from freeflyer.estimation.passive import PassiveState
from freeflyer.linkages import LinkageError
from freeflyer.linkages.rows import constraint_bias, constraint_jacobian, constraint_residual
from freeflyer_papers.estimation.estimators import Encoder, calibrations, sinusoids, track
from freeflyer_papers.estimation.stance import random_postures
from functools import cache
from linkage_samples import driven_linkage
from seeds import fresh

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


def test_closure_fades_with_alpha(s):
    q, x, _ = moving(s, 3)
    x, still = q[s.positions], np.zeros(len(s.names))
    if not ((x >= s.lower) & (x <= s.upper)).all():
        x = np.clip(x, s.lower, s.upper)
    state = PassiveState(q, still, 1.0)
    before = constraint_error(s, q)
    for _ in range(100):
        state = update_passive_state(s, state, x, still, 0.001, alpha=50.0)
    assert constraint_error(s, state.q) == pytest.approx(before * 0.95**100, rel=0.3)


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


def test_what_came_in_is_not_changed():
    s = sensed("kangaroo_like")
    state = passive_state(s)
    q, x, dx = state.q.copy(), s.partition.q[s.positions], np.full(len(s.names), 0.01)
    update_passive_state(s, state, x, dx)
    np.testing.assert_array_equal(state.q, q)


@pytest.mark.parametrize(("change", "words"), [
    (lambda x, dx: (x[:-1], dx), "expected (..., 12)"),
    (lambda x, dx: (x, np.where(np.arange(12) == 3, np.nan, dx)), "left_ankle_inner_motor"),
    (lambda x, dx: (np.where(np.arange(12) == 1, 0.3, x), dx), "beyond its stroke 0 to 0.15"),
    (lambda x, dx: (np.where(np.arange(12) == 1, -0.1, x), dx), "beyond its stroke 0 to 0.15"),
    (lambda x, dx: (np.where(np.arange(12) == 1, np.nan, x), dx), "positions[1] (joint 'left_length_motor') is nan"),
    (lambda x, dx: (x.astype(complex), dx), "real numbers"),
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
    refused(ff.InputError, "has no loops", lambda: sensors(robots.humanoid()))
    cassie = sensed("cassie", models_folder).model
    with pytest.raises(LinkageError, match="'left-heel-spring'") as caught:
        sensors(cassie)
    assert (set(caught.value.data["joints"]), sensors(cassie, also=SPRINGS).names[-4:]) == (set(SPRINGS), SPRINGS)
    refused(ff.UnknownNameError, "left-shin", sensors, cassie, rigid=("left-shim",))
    refused(ff.InputError, "measured or rigid", sensors, cassie, also=("left-shin",), rigid=("left-shin",))
    like = sensed("kangaroo_like").model
    refused(LinkageError, "follows the motors", sensors, like, also=("left_knee",))
    refused(ff.InputError, "rigid must be a list", sensors, like, rigid="left_knee")


KINDS = ("revolute", "prismatic", "helical", "continuous")  # joints that one motor drives
FIRST_FLOATING = 6
each = pytest.mark.parametrize("k", range(8))


@cache
def robot(k: int, draw: int = 0) -> tuple[estimation.Sensors, np.ndarray, float]:
    """(sensors, a closed posture, condition number)"""
    rng = fresh("estimation", k, draw)
    tree, condition = driven_linkage(rng, loops=1 + k % 2, kinds=KINDS, base=("free", "fixed")[k % 2], to_world=bool(k % 2))
    s, closed = estimation.sensors(tree), ff.close_loops(tree)
    step = 0.05 / condition * rng.uniform(-1.0, 1.0, closed.nv)
    step[: FIRST_FLOATING * (tree.joints[0].kind == "free")] = 0.0  # encoders do not see where the base is
    return s, ff.integrate(closed, s.partition.q, step), condition


@each
def test_encoders_give_the_passive_joints(k: int) -> None:
    """Steps of length one with both gains one are Newton's."""
    s, truth, condition = robot(k)
    state = estimation.passive_state(s)
    for _ in range(5):
        state = estimation.update_passive_state(s, state, truth[s.positions], np.zeros(len(s.names)), 1.0, alpha=1.0, beta=1.0)
    assert estimation.constraint_error(s, state.q) < 1e-12
    close(ff.difference(s.model, truth, state.q), np.zeros(s.model.nv), 1e-9 * condition)


@each
def test_rates_are_those_of_the_closed_motion(k: int) -> None:
    s, truth, condition = robot(k)
    rates = fresh(k).standard_normal(len(s.names))
    u = np.zeros(s.model.nv)
    u[s.coordinates] = rates
    v = linkages.expand_motion(s.model, truth, u[s.partition.independent], 0.0 * u[s.partition.independent])[0]
    state = estimation.PassiveState(truth, np.zeros(s.model.nv), 1.0)
    close(estimation.update_passive_state(s, state, truth[s.positions], rates).v, v, 1e-7 * condition)


def observed_motors(s: estimation.Sensors, truth: np.ndarray) -> tuple[list[str], list[str], dict[str, int]]:
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
        s, truth, condition = robot(k, draw)
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
    c = estimation.calibrate(s.model, shown, readings, q, motors=motors, tolerance=1e-9, limit=10)
    close(readings + c.offsets, truth[[s.model.joint(n).iq for n in motors]], 1e-7 * condition)


@pytest.mark.parametrize("k", range(4))
def test_planted_wrenches_come_back(k: int) -> None:
    """A foot on the first link, of a random robot, that six motors or more support."""
    rng = fresh("wrenches", k)
    while True:
        tree, _ = driven_linkage(rng, loops=1, kinds=KINDS, to_world=False, joints=(14, 18))
        s = estimation.sensors(tree)
        for link in tree.link_names[::-1]:
            corners = 0.1 * np.array([[x, y, 0.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]) + rng.standard_normal(3)
            c = estimation.contact_model(tree, s.partition.q, [sole(link, corners)]) if link != "world" else None
            if c is not None and np.linalg.matrix_rank(c.A, 1e-3 * np.abs(c.A).max()) == 6:
                break
        else:
            continue
        break
    W = rng.normal(0.0, 50.0, (1, 6))
    tau, _ = resting_forces(s, c, W)
    close(estimation.contact_wrenches(c, tau).wrenches, W, rounding(4500, np.linalg.cond(c.A)))


def shown(s, q):
    return {name: float(q[s.model.joint(name).iq]) for name in encoders_of(s.model)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kangaroo_like", "kangaroo"])
def test_offsets_are_found_from_many_starts_inside_the_limits(name, models_folder):
    s = sensed(name, models_folder)
    postures = random_postures(s, 41, fresh(4))
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
    refused(ff.InputError, "no loops", lambda: calibrate(robots.humanoid(), {}))


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


def test_joints_are_chosen_by_sensitivity():
    """The smallest singular value of the chosen joints' sensitivity is within a factor of the best of many random choices."""
    from freeflyer.estimation.stance import reach, strokes
    from freeflyer.linkages.sweeping import motion_map

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
