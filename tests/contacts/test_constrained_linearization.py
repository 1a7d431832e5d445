"""Linearisation in contact against differences of the constrained flow, and regulators on what contacts leave free."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close_to_slopes, fresh, refused, slopes
from collections.abc import Callable
from freeflyer import control

FEET = ("front_left_foot", "front_right_foot", "rear_left_foot", "rear_right_foot")


def standing() -> tuple[ff.Model, np.ndarray, ff.ConstraintSet]:
    """The quadruped on two diagonal feet, knees bent."""
    model = ff.robots.quadruped()
    q = ff.neutral(model)
    q[7:] += 0.2 * fresh().uniform(-1.0, 1.0, model.nq - 7)
    return model, q, ff.ConstraintSet(model, contacts=[ff.contacts.point(FEET[0]), ff.contacts.point(FEET[3])])


def closed_stance() -> tuple[ff.Model, np.ndarray, ff.ConstraintSet]:
    model = ff.close_loops(ff.robots.kangaroo_like())
    q = ff.integrate(model, ff.neutral(model), 0.003 * fresh().standard_normal(model.nv))
    return model, q, ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])


def held(stance: ff.ConstraintSet, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The velocity nearest to v with J v = 0."""
    J = stance.jacobian(q)
    return v - np.linalg.pinv(J) @ (J @ v)


@pytest.mark.parametrize("made", [standing, closed_stance])
def test_rates_and_basis(made: Callable[[], tuple[ff.Model, np.ndarray, ff.ConstraintSet]]) -> None:
    model, q, stance = made()
    rng, n = fresh(), model.nv
    v, tau = held(stance, q, rng.standard_normal(n)), 5.0 * rng.standard_normal(n)
    v *= 0.5 / np.abs(ff.velocity_map(model, q) @ v).max()  # passive joints outrun motors
    line = ff.linearize(model, q, v, tau, constraints=stance, frames=(model.link_names[-1],))

    def rate(x: np.ndarray) -> np.ndarray:
        return ff.constrained_dynamics(model, ff.integrate(model, q, x[:n]), v + x[n:], tau, constraints=stance).a

    h, tolerance = (1e-5, 1e-6) if model.reduction else (1e-4, 1e-7)  # motors move by millimetres there
    close_to_slopes(line.A[n:], rate, h, tolerance)
    close_to_slopes(line.B[n:], lambda t: ff.constrained_dynamics(model, q, v, tau + t, constraints=stance).a, 1.0, 1e-9)
    assert line.C.shape == (12, 2 * n)
    rows = len(stance.row_names)
    assert line.basis is not None
    assert line.basis.shape == (2 * n, 2 * (n - rows))
    assert np.abs(line.basis.T @ line.basis - np.eye(2 * (n - rows))).max() < 1e-12

    def velocity_of_rows(x: np.ndarray) -> np.ndarray:
        at = ff.integrate(model, q, x[:n])
        return np.concatenate([stance.jacobian(q) @ x[:n], stance.jacobian(at) @ (v + x[n:])])

    numeric = slopes(velocity_of_rows, 2 * n, h)
    assert np.abs(numeric @ line.basis).max() < 1e-7 * max(1.0, np.abs(numeric).max())


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_steps_against_the_simulated_flow(integrator: str) -> None:
    """Geometric linearisation paper, and beyond it: the exact derivative of a step in contact, of which the flow is differenced."""
    model, q, stance = standing()
    rng, n, h = fresh(), model.nv, 2e-3
    v, tau = held(stance, q, 0.3 * rng.standard_normal(n)), 5.0 * rng.standard_normal(n)
    line = ff.linearize(model, q, v, tau, constraints=stance, dt=h, integrator=integrator)
    from freeflyer.dynamics.integrators import scheme_of

    def flow(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return scheme_of(integrator)(lambda q, v, _: ff.constrained_dynamics(model, q, v, tau, constraints=stance).a,
                                     lambda q, dv: ff.integrate(model, q, dv), ff.integrate(model, q, x[:n]), v + x[n:],
                                     h)  # fmt: skip

    q1, v1 = flow(np.zeros(2 * n))

    def moved(x: np.ndarray) -> np.ndarray:
        a, b = flow(x)
        return np.concatenate([ff.difference(model, q1, a), b - v1])

    close_to_slopes(line.A, moved, 1e-4, 1e-8)


def test_batches_and_loops_as_rows() -> None:
    model, q, stance = standing()
    n = model.nv
    v = np.stack([held(stance, q, x) for x in fresh().standard_normal((3, n))])
    many = ff.linearize(model, q, v, np.zeros(n), constraints=stance)
    one = ff.linearize(model, q, v[1], np.zeros(n), constraints=stance)
    assert np.abs(many.A[1] - one.A).max() < 1e-9 * np.abs(one.A).max()
    assert many.basis.shape == (3, *one.basis.shape)
    refused(ff.InputError, "ConstraintSet", ff.linearize, model, q, v[0], np.zeros(n), constraints=(np.eye(n), np.zeros(n)))
    with pytest.raises(ff.InputError, match="another model"):
        ff.linearize(ff.robots.humanoid(), ff.neutral(ff.robots.humanoid()), np.zeros(39), np.zeros(39), constraints=stance)
    # A cut tree whose loops are rows of the set is held as its closed model is
    tree = ff.robots.kangaroo_like()
    closed = ff.close_loops(tree)
    q = ff.neutral(closed)
    soles = [ff.contacts.surface("left_sole"), ff.contacts.surface("right_sole")]
    model = closed
    found = control.equilibrium(model, q, constraints=ff.ConstraintSet(model, contacts=soles))
    assert found.balanced
    assert control.equilibrium(tree, q, constraints=ff.ConstraintSet(tree, contacts=soles)).balanced
    with pytest.raises(ff.InputError, match="close_loops"):
        control.equilibrium(tree, q, constraints=ff.ConstraintSet(tree, contacts=soles, loops=False))


@pytest.mark.parametrize("step", [None, 0.002])
def test_a_regulator_on_four_feet(step: float | None) -> None:
    """Twelve motors, twelve rows: on its feet the quadruped has six free velocities, and comes back to its posture."""
    model = ff.robots.quadruped()
    q = ff.neutral(model)
    stance = ff.ConstraintSet(model, contacts=[ff.contacts.point(foot) for foot in FEET])
    rest = control.equilibrium(model, q, constraints=stance)
    assert rest.balanced
    regulator = control.lqr(model, q, constraints=stance, dt=step, bandwidth=4.0)
    assert regulator.basis is not None
    assert (regulator.poles.shape, regulator.controllable.rank) == ((12,), 12)
    decay = np.abs(regulator.poles) if step else np.exp(regulator.poles.real)
    assert (decay < 1.0).all()
    eta = 0.02 * regulator.basis[:18, :6] @ fresh().standard_normal(6)
    x, v, h = ff.integrate(model, q, eta), np.zeros(18), 0.002
    before = np.abs(regulator.error(x, v)).max()
    for _ in range(1500):
        tau = regulator.tau(x, v)
        v = v + h * ff.constrained_dynamics(model, x, v, tau, constraints=stance).a
        x = ff.integrate(model, x, h * v)
    assert np.abs(regulator.basis.T @ regulator.error(x, v)).max() < 0.02 * before
    refused(ff.InputError, "lack", control.lqr, model, q)
