"""Recoveries from any attitude, the roll-pitch-yaw way beside ours, and modes in words."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from control.problems import aerial, satellite
from freeflyer import control, robots
from freeflyer.analysis.linearization import EulerRegulator, angle_map, body_rates, recovery, study
from freeflyer.report.poles import poles, radius_of, recovery as draw_recovery
from freeflyer.spatial import quaternion
from robots_on_disk import example, needs_examples


def angle_linearization(model: ff.Model, q: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(A, B) at rest, in the angles' coordinates: T A T^-1 and T B."""
    T = np.kron(np.eye(2), np.linalg.inv(angle_map(model, q)))
    return T @ A @ np.linalg.inv(T), T @ B


def test_goals_of_any_attitude() -> None:
    model, inputs, q = aerial()
    found = recovery(control.lqr(model, q, inputs, bandwidth=4.0), (60.0, 100.0, 120.0, 150.0), dt=0.01, duration=8.0)
    np.testing.assert_allclose(np.degrees(found.group[0]), found.pitches, atol=1e-9)
    assert found.group_recovers.all()
    assert found.group_distance.max() < 0.5
    assert found.euler_recovers[0]
    assert not found.euler_recovers[2:].any()
    assert draw_recovery(found).axes[0].get_ylabel() == "angle from the goal (°)"
    model, inputs, q = satellite()
    found = recovery(control.lqr(model, q, inputs, bandwidth=0.2), (100.0, 150.0), dt=0.2, duration=80.0)
    assert found.group_recovers.all()
    assert np.all(np.diff(found.group[found.time < 20.0], axis=0) < 1e-9)  # straight back
    assert found.group_distance.max() < 0.1
    assert found.euler_distance[:, 0].max() > 1.0
    late = found.time > 30.0
    assert np.degrees(found.group[late].max()) < 2.0
    assert np.degrees(found.euler[late, 0].max()) > 20.0
    # The regulator there is the level one's, to rounding: only the attitude differs, and gravity is off
    level, up = (control.lqr(*(lambda m, i, q: (m, q, i))(*satellite(p)), bandwidth=0.2) for p in (0.0, np.pi / 2))
    np.testing.assert_allclose(up.K, level.K, rtol=1e-10, atol=1e-10 * np.abs(level.K).max())
    assert recovery(up, (100.0,), dt=0.2, duration=80.0).group_recovers.all()


def test_angles_and_the_group() -> None:
    sizes = []
    for pitch in (0.0, 1.5, np.pi / 2 - 1e-4):
        model, inputs, q = satellite(pitch)
        found = control.lqr(model, q, inputs)
        turns = slice(model.nv + 3, model.nv + 6)
        angles = angle_linearization(model, q, found.A, found.B)[1]
        sizes.append(np.linalg.norm(angles[turns], 2) / np.linalg.norm(found.B[turns], 2))
    assert sizes[0] == pytest.approx(1.0, rel=1e-6)
    assert sizes[1] > 5.0
    assert sizes[2] > 3e3
    model, inputs, q = satellite(0.4)
    regulator = control.lqr(model, q, inputs)
    angles = EulerRegulator(regulator)
    rng = fresh(4)
    for size, tolerance in ((1e-4, 1e-3), (1e-6, 1e-5)):
        near, v = ff.integrate(model, q, size * rng.standard_normal(model.nv)), size * rng.standard_normal(model.nv)
        ours, theirs = regulator.tau(near, v) - regulator.tau(q, 0.0 * v), angles.tau(near, v) - angles.tau(q, 0.0 * v)
        assert np.linalg.norm(ours - theirs) < tolerance * np.linalg.norm(ours)
    # Against differences: of roll-pitch-yaw along a turn, and of accelerations in the angles' coordinates
    rpy, h = np.array([0.3, -0.7, 1.1]), 1e-5
    for k, d in enumerate(np.eye(3)):
        turn = quaternion.multiply(quaternion.conjugate(quaternion.from_rpy(rpy - h * d)), quaternion.from_rpy(rpy + h * d))
        np.testing.assert_allclose(quaternion.log(turn) / (2 * h), body_rates(rpy)[:, k], atol=1e-9)
    A, B = angle_linearization(model, q, regulator.A, regulator.B)
    n = model.nv
    np.testing.assert_allclose(A[:n, n:], np.eye(n), atol=1e-9)
    np.testing.assert_allclose(angle_map(model, q) @ B[n:], regulator.B[n:], atol=1e-12)
    np.testing.assert_allclose(np.sort(np.abs(np.linalg.eigvals(A))), np.sort(np.abs(np.linalg.eigvals(regulator.A))), atol=1e-6)


def test_modes() -> None:
    model = robots.chain(1, "revolute")
    hanging = study(model, ff.neutral(model), control.joint_inputs(model))
    standing = study(model, np.array([np.pi]), control.joint_inputs(model))
    turned = {m.behaviour for m in (*hanging.modes, *standing.modes)}
    M, K = ff.mass_matrix(model, np.zeros(1))[0, 0], abs(hanging.A[1, 0]) * ff.mass_matrix(model, np.zeros(1))[0, 0]
    rate = np.sqrt(K / M)
    for result, pole in ((hanging, 1j * rate), (standing, rate)):
        pair = np.array([[0.0, 1.0, 0.0], [result.A[1, 0], 0.0, M**-0.5]])  # in coordinates of unit mass
        least = np.linalg.svd(pair - pole * np.eye(2, 3), compute_uv=False)[-1]
        assert result.distance == pytest.approx(least / np.linalg.norm(pair, 2))
        if result.A[1, 0] < 0.0:
            (mode,) = result.modes
            assert (mode.behaviour, mode.count, mode.motion) == ("swings", 2, "joint_1")
            assert (mode.imaginary, mode.period) == (pytest.approx(rate), pytest.approx(2 * np.pi / rate))
        else:
            assert [m.behaviour for m in result.modes] == ["grows", "decays"]
            assert result.modes[0].time == pytest.approx(1 / rate)
    assert turned == {"swings", "grows", "decays"}
    model = robots.chain(2)
    refused(ff.InputError, "free joint", lambda: recovery(control.lqr(model, ff.neutral(model))))


@needs_examples
def test_fingers_that_nothing_moves_are_in_no_other_mode() -> None:
    """Rounding of 2e-32 in A led LAPACK's balancing to eigenvectors whose residual was as large as A."""
    model = ff.load(example("panda.urdf"), base="fixed")
    modes = study(model, model.neutral, control.joint_inputs(model)).modes
    assert all("finger" not in m.motion for m in modes if m.behaviour != "drifts")
    (swing,) = [m for m in modes if m.imaginary > 5.0]
    assert swing.motion == "panda_joint6"


def test_poles() -> None:
    model, inputs, q = aerial()
    result = study(model, q, inputs, bandwidth=4.0)
    axes = poles(result).axes[0]
    assert axes.get_aspect() == 1.0
    for points, expected in zip([x.get_offsets() for x in axes.collections], (result.poles, result.closed), strict=True):
        assert points.shape == expected.shape
        moves = np.linalg.norm(expected, axis=1) > 1e-6 * np.linalg.norm(np.vstack([result.poles, result.closed]), axis=1).max()
        turned = np.arctan2(*np.asarray(points)[moves].T[::-1]) - np.arctan2(*expected[moves].T[::-1])
        np.testing.assert_allclose(np.sin(turned), 0.0, atol=1e-9)  # the angle, and so the damping, is the plane's
        np.testing.assert_allclose(np.asarray(points)[~moves], 0.0, atol=1e-12)
    counted = [int(t.get_text()) for t in axes.texts if t.get_fontweight() == "bold"]
    assert max(counted) >= 2
    assert sum(counted) <= len(result.poles) + len(result.closed)
    linear, wide = radius_of(np.array([0.0, 1.0, 3.0])), radius_of(np.array([0.0, 0.02, 5.0, 300.0]))
    np.testing.assert_allclose(linear(np.array([0.0, 1.5, 3.0])), [0.0, 0.5, 1.0])
    steps = np.diff(wide(np.array([0.3, 3.0, 30.0, 300.0])))
    np.testing.assert_allclose(steps, steps[0])
    assert wide(np.array([300.0]))[0] == 1.0
    assert wide(np.array([0.02]))[0] > 0.0
    for radius in (linear, wide, radius_of(np.zeros(3))):
        assert 1 <= len(radius.rings) <= 6
        assert (radius.rings <= radius.outer * (1 + 1e-9)).all()


def test_robots_with_loops(models_folder):
    tree = ff.load(models_folder / "cassie" / "cassie.xml", base="fixed")
    springs = {f"{side}-{name}": 0.0 for side in ("left", "right") for name in ("shin", "heel-spring")}
    model = ff.close_loops(ff.lock_joints(tree, springs))
    found = study(model, model.neutral, ff.control.joint_inputs(model))
    assert not found.refusal
    assert "left-achilles-rod rotation about x, right-achilles-rod rotation about x" in found.notes[-1]
    # With soft springs that nothing holds: the study is of the posture itself, and says what is missing
    model = ff.close_loops(ff.load(models_folder / "cassie" / "cassie.xml", base="fixed"))
    found = study(model, model.neutral, ff.control.joint_inputs(model))
    assert "left-shin" in found.refusal
