"""Equilibria that are found, and what is said of those that cannot be reached or steadied."""

import numpy as np
import pytest
from control_robots import aerial, satellite
from hypothesis import given, settings, strategies as st
from seeds import fresh

import freeflyer as ff
from freeflyer import control, robots
from freeflyer.control.controllable import complement
from freeflyer.spatial import quaternion


def test_propellers_carry_the_weight() -> None:
    model, inputs, q = aerial()
    found = control.equilibrium(model, q, inputs)
    assert found.balanced
    assert found.moved == 0.0
    np.testing.assert_allclose(found.u[4:].sum(), 9.81 * model.mass, rtol=1e-12)
    np.testing.assert_allclose(ff.forward_dynamics(model, q, np.zeros(model.nv), found.tau), 0.0, atol=1e-10)


def test_a_tilted_drone_levels_itself_in_the_search() -> None:
    model, inputs, q = aerial()
    tilted = q.copy()
    tilted[3:7] = quaternion.from_rpy([0.3, -0.5, 1.0])
    found = control.equilibrium(model, tilted, inputs)
    assert found.balanced
    roll, pitch, _ = quaternion.to_rpy(found.q[3:7])
    assert abs(roll) < 1e-8
    assert abs(pitch) < 1e-8
    assert 0.3 < found.moved < 0.8
    assert "nearest found" in found.sentence
    still = control.equilibrium(model, tilted, inputs, search=False)
    assert not still.balanced
    assert "base x translation" in still.sentence


def test_a_flying_robot_without_propellers_names_the_missing_forces() -> None:
    for model in (aerial()[0], robots.humanoid()):
        found = control.equilibrium(model, ff.neutral(model))
        assert not found.balanced
        assert f"base z translation {9.81 * model.mass:.4g} N" in found.sentence
        np.testing.assert_allclose(found.missing[2], 9.81 * model.mass, rtol=1e-9)
        with pytest.raises(ff.InputError, match="base z translation"):
            control.lqr(model, ff.neutral(model))


def test_a_passive_joint_hangs_or_stands() -> None:
    """A chain with a motor on its first joint alone: the others come to where gravity does not turn them."""
    model = robots.chain(3, "revolute")
    inputs = control.joint_inputs(model, [model.joint_names[0]])
    found = control.equilibrium(model, np.array([0.3, 0.2, 0.4]), inputs)
    assert found.balanced
    np.testing.assert_allclose(ff.gravity_forces(model, found.q)[1:], 0.0, atol=1e-8)


def test_directions_out_of_reach_are_named() -> None:
    model, _, q = satellite()
    base = ("x translation", "y translation", "z translation", "rotation about x", "rotation about y", "rotation about z")
    with pytest.raises(ff.InputError) as caught:
        control.lqr(model, q)
    assert caught.value.data["directions"] == tuple(f"base {d}" for d in base)
    assert "base rotation about z" in str(caught.value)
    wheels = control.joint_inputs(model) + control.thruster_inputs(
        model, {"satellite": [0, 0, 0, 1, 0, 0], "left_panel_tip": [0, 0, 0, 0, 1, 0], "right_panel_tip": [0, 0, 0, 0, 0, 1]}
    )  # fmt: skip
    with pytest.raises(ff.InputError) as caught:
        control.lqr(model, q, wheels)
    assert caught.value.data["directions"] == tuple(f"base {d}" for d in base[:3])  # torques alone push nothing along
    without = control.joint_inputs(model, model.actuated[1:]) + control.wrench_inputs(model, "satellite")
    A, B = ff.linearize(model, q, np.zeros(model.nv), np.zeros(model.nv)).A, None
    B = ff.linearize(model, q, np.zeros(model.nv), np.zeros(model.nv)).B @ without.matrix(model, q)
    can = control.controllability(model, ff.mass_matrix(model, q), A, B)
    assert can.rank == 2 * model.nv - 2
    assert can.unstabilizable == ("arm_joint_1",)


def test_what_decays_by_itself_need_not_be_reached() -> None:
    """Two masses, of which only one is pushed; the other is on a damped spring: uncontrollable, yet stabilisable."""
    model = robots.chain(2, "prismatic")
    M = np.eye(2)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.diag([0.0, -4.0]), np.diag([0.0, -1.0])]])
    B = np.array([[0.0], [0.0], [1.0], [0.0]])
    can = control.controllability(model, M, A, B)
    assert (can.rank, can.states) == (2, 4)
    assert can.uncontrollable == (model.joint_names[1],)
    assert can.unstabilizable == ()
    np.testing.assert_allclose(can.modes.real, -0.5, atol=1e-12)
    sampled = control.controllability(model, M, np.eye(4) + 0.1 * A, 0.1 * B, discrete=True)
    assert (sampled.rank, sampled.unstabilizable) == (2, ())
    growing = control.controllability(model, M, -A, B)
    assert growing.unstabilizable == (model.joint_names[1],)


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 4), st.integers(1, 3))
def test_the_staircase_agrees_with_popov_belevitch_hautus(seed: int, reached: int, hidden: int, m: int) -> None:
    """A pair made with so many states out of reach, mixed by a random basis: the rank, and w A = lambda w, w B = 0."""
    rng = fresh(seed)
    n = reached + hidden
    A = rng.standard_normal((n, n))
    A[reached:, :reached] = 0.0
    B = np.vstack([rng.standard_normal((reached, m)), np.zeros((hidden, m))])
    T = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A, B = T @ A @ T.T, T @ B
    rest = complement(A, B)
    defects = [n - np.linalg.matrix_rank(np.hstack([A - s * np.eye(n), B]), tol=1e-8) for s in np.linalg.eigvals(A)]
    assert rest.shape[1] == hidden
    assert sum(d > 0 for d in defects) == hidden
    np.testing.assert_allclose(rest.T @ B, 0.0, atol=1e-9)
    np.testing.assert_allclose(rest.T @ A, (rest.T @ A @ rest) @ rest.T, atol=1e-7)
