"""Derivatives of momenta, of the centre of mass and of frames' motions, and second derivatives of inverse dynamics."""

import freeflyer as ff
import numpy as np
import pytest
from answers import EXPRESSED
from closeness import EXACT, STEP, central, close, close_to_rate, fresh
from collections.abc import Callable
from tangent import DIFFERENCE, State, derivative, robots, state

ROBOTS = dict(robots())
MOMENTA = {  # what is differentiated, and by what
    "momentum": (lambda m, q, v, a: ff.centroidal_momentum(m, q, v),
                 lambda m, q, v, a: ff.centroidal_momentum_derivatives(m, q, v)),
    "momentum rate": (ff.centroidal_momentum_rate, ff.centroidal_momentum_rate_derivatives),
    "com velocity": (lambda m, q, v, a: ff.center_of_mass_velocity(m, q, v),
                     lambda m, q, v, a: ff.center_of_mass_velocity_derivatives(m, q, v)),
    "com acceleration": (ff.center_of_mass_acceleration, ff.center_of_mass_acceleration_derivatives),
}  # fmt: skip
FRAMES_OF = {}
for e in EXPRESSED:
    for k in (-1, 0, 1):
        FRAMES_OF |= {
            f"velocity of frame {k}, {e}": (lambda m, q, v, a, k=k, e=e: ff.frame_velocity(m, q, v, frames(m)[k], e),
                                            lambda m, q, v, a, k=k, e=e: ff.frame_velocity_derivatives(m, q, v, frames(m)[k], e)),
            f"acceleration of frame {k}, {e}": (
                lambda m, q, v, a, k=k, e=e: ff.frame_acceleration(m, q, v, a, frames(m)[k], e),
                lambda m, q, v, a, k=k, e=e: ff.frame_acceleration_derivatives(m, q, v, a, frames(m)[k], e)),
        }  # fmt: skip
FUNCTIONS = MOMENTA | FRAMES_OF
each_robot = pytest.mark.parametrize("robot", ROBOTS)


def frames(model: ff.Model) -> tuple[str, ...]:
    return "site_0", "site_1", model.link_names[-1]


def prepared(robot: str) -> tuple[ff.Model, State]:
    model = ROBOTS[robot]
    return model, state(model, fresh(1))


@each_robot
def test_by_differences(robot: str, poisoned: None) -> None:
    model, x = prepared(robot)
    for name, (f, derivatives) in FUNCTIONS.items():
        for field, ours in derivatives(model, *x)._asdict().items():
            theirs = derivative(lambda q, v, a, f=f: f(model, q, v, a), model, x, field[1:])
            close(ours, theirs, DIFFERENCE, 2, what=(name, field))


@each_robot
def test_momenta_and_centers_of_mass(robot: str) -> None:
    """Each is the rate of the one before along a motion, A_G a + bias; derivatives with velocities are Jacobians."""
    model, (q, v, a) = prepared(robot)
    J = derivative(lambda q, v, a: ff.center_of_mass(model, q), model, (q, v, a), "q")
    close(ff.center_of_mass_jacobian(model, q), J, DIFFERENCE, 2)
    D = ff.center_of_mass_velocity_derivatives(model, q, v)
    close(ff.center_of_mass_velocity(model, q, v), J @ v, DIFFERENCE, 1)
    close(ff.center_of_mass_acceleration(model, q, v, a), D.dq @ v + D.dv @ a, EXACT, 1)
    close(D.dv, ff.center_of_mass_jacobian(model, q), EXACT, 2)
    A, rate = ff.centroidal_momentum_matrix(model, q), ff.centroidal_momentum_rate(model, q, v, a)
    D = ff.centroidal_momentum_derivatives(model, q, v)
    close(rate, A @ a + ff.centroidal_bias(model, q, v), EXACT, 1)
    close(rate, D.dq @ v + D.dv @ a, EXACT, 1)
    close(D.dv, A, EXACT, 2)
    close(ff.centroidal_momentum_rate_derivatives(model, q, v, a).da, A, EXACT, 2)


@pytest.mark.parametrize("expressed", EXPRESSED)
@each_robot
def test_acceleration_is_the_rate_of_velocity(robot: str, expressed: str, poisoned: None) -> None:
    """Along q (+) (t v + t^2 a / 2), v + t a: right to second order in t, which is what a rate needs."""
    model, (q, v, a) = prepared(robot)
    for frame in frames(model):
        A = ff.frame_acceleration(model, q, v, a, frame, expressed)
        J = ff.frame_jacobian(model, q, frame, expressed)
        close(A, J @ a + ff.frame_bias_acceleration(model, q, v, frame, expressed), EXACT, 1)
        close(ff.frame_velocity_derivatives(model, q, v, frame, expressed).dv, J, EXACT, 2)
        close(ff.frame_acceleration_derivatives(model, q, v, a, frame, expressed).da, J, EXACT, 2)

        def velocity(h, frame=frame):
            return ff.frame_velocity(model, ff.integrate(model, q, h * v), v + h * a, frame, expressed)

        close_to_rate(A, velocity, STEP, 10 * DIFFERENCE, 1)


LEAST = 1e-10  # at least: rounding over the step
FIELDS = ("dq", "dv", "da")
def prepared_with_directions(robot: str) -> tuple[ff.Model, State, np.ndarray]:
    """A robot, a state, and directions x, y, z (3, nv)."""
    model, rng = ROBOTS[robot], fresh(1)
    return model, state(model, rng), rng.standard_normal((3, model.nv))


def matrices(model: ff.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """dq, dv, da (3, nv, nv)."""
    D = ff.inverse_dynamics_derivatives(model, q, v, a)
    return np.stack([D.dq, D.dv, D.da])


def along(model: ff.Model, s: State, **directions: np.ndarray) -> np.ndarray:
    """Their rates."""
    D = ff.inverse_dynamics_second_derivatives(model, *s, **directions)
    return np.stack([D.dq, D.dv, D.da])


def scale(model: ff.Model, s: State) -> float:
    return float(np.abs(matrices(model, *s)).max())


def known_difference(f: Callable[[float], np.ndarray]) -> tuple[np.ndarray, float]:
    """df/dt at 0 by steps of 5e-4, and how well it is known, relative: the same by twice the step is 16 times worse."""
    coarse, fine = (central(f, h) for h in (1e-3, 5e-4))
    doubt = float(np.abs(fine - coarse).max() / np.abs(fine).max())
    assert doubt < 1e-7
    return fine, max(LEAST, doubt)


@each_robot
def test_second_derivatives_by_differences(robot: str) -> None:
    model, (q, v, a), (x, y, z) = prepared_with_directions(robot)
    theirs, doubt = known_difference(lambda h: matrices(model, ff.integrate(model, q, h * x), v + h * y, a + h * z))
    ours = along(model, (q, v, a), along_q=x, along_v=y, along_a=z)
    for k, name in enumerate(FIELDS):
        close(ours[k], theirs[k], doubt, 2, least=scale(model, (q, v, a)), what=name)
    weights = fresh(4).standard_normal(model.nv)
    D = ff.inverse_dynamics_hessian_product(model, q, v, a, weights, x, y, z)
    for k, name in enumerate(FIELDS):
        close(getattr(D, name), weights @ theirs[k], doubt * np.abs(weights).sum(), 1, least=scale(model, (q, v, a)))


def test_gravity_is_replaced() -> None:
    model, s, (x, _, _) = prepared_with_directions("tree 1")
    g = (1.0, 2.0, 3.0)
    other = along(ff.with_gravity(model, g), s, along_q=x)
    ours = ff.inverse_dynamics_second_derivatives(model, *s, x, gravity=g)
    np.testing.assert_array_equal(ours.dq, other[0])
    w = np.ones(model.nv)
    product = ff.inverse_dynamics_hessian_product(model, *s, w, x, gravity=g)
    np.testing.assert_allclose(product.dq, w @ other[0], rtol=1e-12)
    assert np.abs(other[0] - along(model, s, along_q=x)[0]).max() > 0.1
