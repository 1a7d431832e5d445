"""Tracking over the group: along a tumbling trajectory, and the whole way through all attitudes."""

import numpy as np
import pytest
from control_robots import aerial, satellite
from seeds import fresh

import freeflyer as ff
from freeflyer import control

STEP, COUNT, BANDWIDTH = 0.02, 150, 4.0


def tumbling() -> tuple:
    """A satellite that tumbles about all axes while its arm moves: (model, inputs, q, v, u)."""
    model, inputs, q0 = satellite()
    v0 = np.zeros(model.nv)
    v0[3:6], v0[6:] = (0.6, 1.4, -0.5), 0.2
    t = STEP * np.arange(COUNT)[:, None]
    u = 3.0 * np.sin(t + np.arange(inputs.count))
    q, v = [q0], [v0]
    for k in range(COUNT):
        tau, external = inputs.forces_and_wrenches(u[k])
        after = ff.step(model, q[-1], v[-1], tau, STEP, "semi-implicit", external=external)
        q.append(after[0])
        v.append(after[1])
    return model, inputs, np.array(q), np.array(v), u


@pytest.fixture(scope="module")
def tracker():
    model, inputs, q, v, u = tumbling()
    return control.track(model, q, v, u, STEP, inputs, bandwidth=BANDWIDTH)


def test_disturbed_motion_comes_back(tracker) -> None:
    model = tracker.model
    rng = fresh(2)
    q = ff.integrate(model, tracker.q0[0], 0.05 * rng.standard_normal(model.nv))
    v = tracker.v0[0] + 0.05 * rng.standard_normal(model.nv)
    motion = ff.sim.simulate(model, q, v, tracker, dt=STEP, duration=STEP * COUNT, integrator="semi-implicit")
    Q, _ = control.energy_costs(model, tracker.q0[0], tracker.inputs, BANDWIDTH)

    def size(k: int, q: np.ndarray, v: np.ndarray) -> float:
        x = tracker.error(k, q, v)
        return float(np.sqrt(x @ Q @ x))

    assert size(COUNT, motion.q[-1], motion.v[-1]) < 0.02 * size(0, q, v)
    adrift = ff.sim.simulate(
        model, q, v, lambda t, q, v: tracker.inputs.matrix(model, q) @ tracker.u0[min(round(t / STEP), COUNT - 1)], dt=STEP,
        duration=STEP * COUNT, integrator="semi-implicit", hold=True,
    )  # fmt: skip
    assert size(COUNT, adrift.q[-1], adrift.v[-1]) > 0.5 * size(0, q, v)


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
    np.testing.assert_allclose(still.K[0], held.K, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(still.P[0], held.P, rtol=1e-5, atol=1e-5 * np.abs(held.P).max())


def test_what_is_no_trajectory_is_refused_with_its_sample() -> None:
    model, inputs, q, v, u = tumbling()
    broken = q.copy()
    broken[40:] = ff.integrate(model, broken[40:], 1e-3 * np.ones(model.nv))
    with pytest.raises(ff.InputError, match="sample 39") as caught:
        control.track(model, broken, v, u, STEP, inputs)
    assert caught.value.data["sample"] == 39


def test_samples_beyond_the_end_are_refused(tracker) -> None:
    with pytest.raises(ff.InputError, match="samples 0"):
        tracker.command(COUNT, tracker.q0[-1], tracker.v0[-1])
