"""Regulators, equilibria and tracking over the group: Riccati equations, poles, costs, and what is refused."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, fresh, refused, slopes
from freeflyer import control, robots
from freeflyer.control.equilibria import complement
from freeflyer.control.regulator import input_linearization
from hypothesis import given, settings, strategies as st
from problems import aerial, cassie, satellite


def test_the_gain_solves_the_riccati_equation() -> None:
    model, inputs, q = satellite()
    Q, R = np.diag(np.linspace(1.0, 9.0, 2 * model.nv)), np.diag(np.linspace(0.1, 2.0, inputs.count))
    found = control.lqr(model, q, inputs, state_cost=Q, input_cost=R)
    A, B, P, K = found.A, found.B, found.P, found.K
    residual = A.T @ P + P @ A - P @ B @ np.linalg.solve(R, B.T @ P) + Q
    assert np.abs(residual).max() < 1e-7 * np.abs(P @ A).max()
    np.testing.assert_allclose(K, np.linalg.solve(R, B.T @ P), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.sort(found.poles.real), np.sort(np.linalg.eigvals(A - B @ K).real), rtol=1e-6)
    assert np.all(found.poles.real < 0.0)
    assert np.all(np.linalg.eigvalsh(P) > 0.0)
    sampled = control.lqr(model, q, inputs, state_cost=Q, input_cost=R, dt=0.02)
    A, B, P, K = sampled.A, sampled.B, sampled.P, sampled.K
    closed = A - B @ K
    assert np.abs(closed.T @ P @ closed + K.T @ R @ K + Q - P).max() < 1e-8 * np.abs(P).max()
    assert np.all(np.abs(sampled.poles) < 1.0)


@pytest.mark.parametrize("integrator", [None, "semi-implicit", "explicit", "rk4"])
def test_thrusters_turn_with_their_links(integrator) -> None:
    """A and B in motion against differences: of accelerations, or of steps of a sampled system under the held inputs."""
    model = ff.robots.chain(3, base="fixed")
    inputs = control.joint_inputs(model) + control.thruster_inputs(model, {"tip": [30.0, 0.0, 0.0, 0.0, 0.0, 1.0]})
    q, n, dt = np.array([0.4, 0.3, -0.5]), model.nv, 0.05 if integrator else None
    v, u0 = np.array([2.0, -3.0, 1.0]), np.array([0.5, -1.0, 0.3, 0.7])
    A_found, B_found = input_linearization(model, q, v, u0, inputs, None, dt, integrator or "semi-implicit")

    def moved(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        tau, external = inputs.forces_and_wrenches(u)
        if dt is None:
            return np.concatenate([x[n:], ff.forward_dynamics(model, x[:n], x[n:], tau, external=external)])
        return np.concatenate(ff.step(model, x[:n], x[n:], tau, dt, integrator, external=external))

    x0 = np.concatenate([q, v])
    np.testing.assert_allclose(A_found, slopes(lambda e: moved(x0 + e, u0), 2 * n), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(B_found, slopes(lambda e: moved(x0, u0 + e), 4), rtol=1e-6, atol=1e-7)


def test_one_bandwidth_for_a_gram_and_a_ton() -> None:
    """A free mass under its wrench: poles at the bandwidth, damped by sqrt(3) / 2, whatever it weighs."""
    for mass in (1e-3, 1e3):
        stone = ff.Link("stone", ff.Inertia(mass, np.zeros(3), mass * np.diag([0.1, 0.2, 0.25])))
        model = ff.build(ff.Description("stone", (stone,), (ff.Joint("root_joint", "free", "world", "stone"),)))
        found = control.lqr(model, ff.neutral(model), control.wrench_inputs(model, "stone"), bandwidth=3.0, gravity=(0, 0, 0))
        np.testing.assert_allclose(np.abs(found.poles), 3.0, rtol=1e-9)
        np.testing.assert_allclose(-found.poles.real / 3.0, np.sqrt(0.75), rtol=1e-9)


def test_a_motion_without_cost_that_does_not_decay_is_refused() -> None:
    model, inputs, q = satellite()
    cost = np.ones(2 * model.nv)
    cost[0] = 0.0  # no cost on the satellite's position along x
    refused(ff.InputError, "state_cost", control.lqr, model, q, inputs, state_cost=cost)


RODS = tuple(f"{side}-achilles-rod rotation about x" for side in ("left", "right"))


@pytest.mark.slow
@pytest.mark.parametrize("dt", [None, 0.005])
def test_a_biped_on_its_feet_is_steadied_while_its_rods_spin(models_folder, dt: float | None) -> None:
    """Rods between two balls spin about their axes, and nothing drives them: the regulator leaves them out and names them."""
    model = cassie(models_folder).model
    q = np.array(model.neutral)
    edge = np.array([0.0084625, 0.041199, 0.0]) + 0.08 * np.array([[-0.757, 0.654, 0.0], [0.757, -0.654, 0.0]])
    stance = ff.ConstraintSet(model, [ff.contacts.line(f"{side}-foot", edge) for side in ("left", "right")]).anchored(q)
    regulator = control.lqr(model, q, constraints=stance, dt=dt)
    assert (regulator.left_out, regulator.controllable.unstabilizable) == (RODS, ())
    assert regulator.basis.shape == (2 * model.nv, 12)  # six motions of the pelvis over its feet
    spins = [model.joint(f"{side}-achilles-rod").iv for side in ("left", "right")]
    assert np.abs(regulator.K[:, [*spins, *(model.nv + k for k in spins)]]).max() <= 1e-8 * np.abs(regulator.K).max()
    x = regulator.basis @ fresh(str(dt)).standard_normal(12)
    x *= 2e-3 / np.linalg.norm(x)
    q1 = ff.project_configuration(model, ff.integrate(model, q, x[: model.nv]), constraints=stance)
    v1 = ff.project_velocity(model, q1, x[model.nv :], constraints=stance)
    v1[spins] += 0.5
    run = ff.sim.simulate(model, q1, v1, regulator, dt=0.005, duration=3.0, constraints=stance)
    errors = np.abs(regulator.error(run.q, run.v) @ regulator.basis).max(axis=-1)
    assert errors[-1] < 0.05 * errors.max()
    close(run.v[-1, spins], v1[spins], 0.02)  # they spin on
    held = ff.sim.simulate(model, q1, v1, regulator.tau(q, np.zeros(model.nv)), dt=0.005, duration=1.0, constraints=stance)
    assert np.abs(regulator.error(held.q, held.v) @ regulator.basis).max(axis=-1)[-1] > 10.0 * errors[0]


def test_spins_that_are_coupled_or_driven_are_not_left_out(models_folder) -> None:
    """A wheel of which the axis runs through its mass centre is; one whose axis does not, in gravity, and the base are not."""
    link = ff.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    for shift, driven, words in ((0.0, False, None), (0.2, False, "wheel"), (0.0, True, None)):
        wheel = ff.Inertia(1.0, np.array([0.0, shift, 0.0]), 0.1 * np.eye(3))
        joints = (ff.Joint("slide", "prismatic", "world", "cart", np.eye(4), np.array([1.0, 0.0, 0.0])),
                  ff.Joint("wheel", "revolute", "cart", "disc", np.eye(4), np.array([0.0, 0.0, 1.0])))  # fmt: skip
        links = (ff.Link("cart", link), ff.Link("disc", wheel))
        model = ff.build(ff.Description("cart", links, joints, gravity=(0.0, 0.0, 0.0), actuated=("slide", "wheel")[: 1 + driven]))
        if words is None:
            regulator = control.lqr(model, model.neutral)
            assert regulator.left_out == (() if driven else ("wheel",))
        else:
            refused(ff.InputError, words, control.lqr, model, model.neutral)
    free = ff.with_gravity(cassie(models_folder).model, (0.0, 0.0, 0.0))
    refused(ff.InputError, r"cannot steady the robot.*base", control.lqr, free, free.neutral)


def test_drones_carry_their_weight_and_level_themselves() -> None:
    model, inputs, q = aerial()
    found = control.equilibrium(model, q, inputs)
    assert found.balanced
    assert found.moved == 0.0
    np.testing.assert_allclose(found.u[4:].sum(), 9.81 * model.mass, rtol=1e-12)
    np.testing.assert_allclose(ff.forward_dynamics(model, q, np.zeros(model.nv), found.tau), 0.0, atol=1e-10)
    tilted = q.copy()
    tilted[3:7] = ff.spatial.quaternion.from_rpy([0.3, -0.5, 1.0])
    found = control.equilibrium(model, tilted, inputs)
    assert found.balanced
    roll, pitch, _ = ff.spatial.quaternion.to_rpy(found.q[3:7])
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
        refused(ff.InputError, "base z translation", control.lqr, model, ff.neutral(model))


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
    system = ff.linearize(model, q, np.zeros(model.nv), np.zeros(model.nv))
    can = control.controllability(model, ff.mass_matrix(model, q), system.A, system.B @ without.matrix(model, q))
    assert (can.rank, can.unstabilizable) == (2 * model.nv - 2, ("arm_joint_1",))


def test_what_decays_by_itself_need_not_be_reached() -> None:
    """Two masses, of which only one is pushed; the other is on a damped spring: uncontrollable, yet stabilisable."""
    model = robots.chain(2, "prismatic")
    M = np.eye(2)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.diag([0.0, -4.0]), np.diag([0.0, -1.0])]])
    B = np.array([[0.0], [0.0], [1.0], [0.0]])
    can = control.controllability(model, M, A, B)
    assert ((can.rank, can.states), can.uncontrollable, can.unstabilizable) == ((2, 4), (model.joint_names[1],), ())
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
    assert (rest.shape[1], sum(d > 0 for d in defects)) == (hidden, hidden)
    np.testing.assert_allclose(rest.T @ B, 0.0, atol=1e-9)
    np.testing.assert_allclose(rest.T @ A, (rest.T @ A @ rest) @ rest.T, atol=1e-7)


STEP, COUNT, BANDWIDTH = 0.02, 150, 4.0


@pytest.fixture(scope="module")
def tracker():
    """Of a satellite that tumbles about all axes while its arm moves."""
    model, inputs, q0 = satellite()
    v0 = np.zeros(model.nv)
    v0[3:6], v0[6:] = (0.6, 1.4, -0.5), 0.2
    t = STEP * np.arange(COUNT)[:, None]
    u = 3.0 * np.sin(t + np.arange(inputs.count))
    states = [(q0, v0)]
    for k in range(COUNT):
        tau, external = inputs.forces_and_wrenches(u[k])
        states.append(ff.step(model, *states[-1], tau, STEP, "semi-implicit", external=external))
    return control.track(model, *map(np.array, zip(*states)), u, STEP, inputs, bandwidth=BANDWIDTH)


def test_the_cost_to_go_is_what_the_motion_costs(tracker) -> None:
    """x^T P x of a small error is the sum of the costs along the simulated motion, to second order."""
    model = tracker.model
    rng = fresh(3)
    Q, R = control.energy_costs(model, tracker.q0[0], tracker.inputs, BANDWIDTH)
    q = ff.integrate(model, tracker.q0[0], 1e-5 * rng.standard_normal(model.nv))
    v = tracker.v0[0] + 1e-5 * rng.standard_normal(model.nv)
    x0 = tracker.error(0, q, v)
    total = 0.0
    for k in range(COUNT):
        x, u = tracker.error(k, q, v), tracker.command(k, q, v)
        du = u - tracker.u0[k]
        total += x @ Q @ x + du @ R @ du
        tau, external = tracker.inputs.forces_and_wrenches(u)
        q, v = ff.step(model, q, v, tau, STEP, "semi-implicit", external=external)
    x = tracker.error(COUNT, q, v)
    total += x @ (Q / STEP) @ x
    assert total == pytest.approx(x0 @ tracker.P[0] @ x0, rel=1e-3)


def test_a_rest_trajectory_gives_the_equilibrium_s_gain() -> None:
    model, inputs, q = aerial()
    held = control.lqr(model, q, inputs, dt=STEP, bandwidth=3.0)
    N = 1500
    still = control.track(model, np.tile(q, (N + 1, 1)), np.zeros((N + 1, model.nv)), np.tile(held.u0, (N, 1)), STEP, inputs,
                          bandwidth=3.0)  # fmt: skip
    np.testing.assert_allclose(still.K[0], held.K, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(still.P[0], held.P, rtol=1e-8, atol=1e-8 * np.abs(held.P).max())


def test_what_is_no_trajectory_and_no_sample_is_refused(tracker) -> None:
    model, broken = tracker.model, np.array(tracker.q0)
    broken[40:] = ff.integrate(model, broken[40:], 1e-3 * np.ones(model.nv))
    error = refused(ff.InputError, "sample 39", control.track, model, broken, tracker.v0, tracker.u0, STEP, tracker.inputs)
    assert error.data["sample"] == 39
    refused(ff.InputError, "samples 0", lambda: tracker.command(COUNT, tracker.q0[-1], tracker.v0[-1]))
