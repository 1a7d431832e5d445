"""Derivatives of momenta, of the centre of mass and of frames' motions, and second derivatives of inverse dynamics."""

import freeflyer as ff
import numpy as np
import pytest
from answers import EXPRESSED
from closeness import EXACT, STEP, close, close_to_rate, fresh
from itertools import product
from tangent import DIFFERENCE, State, derivative, robots, state

ROBOTS = dict(robots())
FUNCTIONS = {  # how many of q, v and a each takes
    "centroidal_momentum": 2, "centroidal_momentum_rate": 3, "center_of_mass_velocity": 2, "center_of_mass_acceleration": 3,
    "frame_velocity": 2, "frame_acceleration": 3,
}  # fmt: skip
each_robot = pytest.mark.parametrize("robot", ROBOTS)


def frames(model: ff.Model) -> tuple[str, ...]:
    return "site_0", "site_1", model.link_names[-1]


def prepared(robot: str) -> tuple[ff.Model, State]:
    model = ROBOTS[robot]
    return model, state(model, fresh(1))


@each_robot
def test_by_differences(robot: str, poisoned: None) -> None:
    model, x = prepared(robot)
    calls = [(name, *more) for name in FUNCTIONS for more in (product(frames(model), EXPRESSED) if "frame" in name else [()])]
    for name, *more in calls:
        f, count = getattr(ff, name), FUNCTIONS[name]
        for field, ours in getattr(ff, f"{name}_derivatives")(model, *x[:count], *more)._asdict().items():
            theirs = derivative(lambda *x, f=f, n=count, more=more: f(model, *x[:n], *more), model, x, field[1:])
            close(ours, theirs, DIFFERENCE, 2, what=(name, more, field))


@each_robot
def test_momenta_and_centers_of_mass(robot: str) -> None:
    """Each is the rate of the one before along a motion, A_G a + bias."""
    model, (q, v, a) = prepared(robot)
    J = derivative(lambda q, v, a: ff.center_of_mass(model, q), model, (q, v, a), "q")
    close(ff.center_of_mass_jacobian(model, q), J, DIFFERENCE, 2)
    close(ff.center_of_mass_velocity(model, q, v), J @ v, DIFFERENCE, 1)
    A, rate = ff.centroidal_momentum_matrix(model, q), ff.centroidal_momentum_rate(model, q, v, a)
    close(rate, A @ a + ff.centroidal_bias(model, q, v), EXACT, 1)
    close(ff.center_of_mass_acceleration(model, q, v, a), rate[:3] / model.mass, EXACT, 1)


@pytest.mark.parametrize("expressed", EXPRESSED)
@each_robot
def test_acceleration_is_the_rate_of_velocity(robot: str, expressed: str, poisoned: None) -> None:
    """Along q (+) (t v + t^2 a / 2), v + t a: right to second order in t, which is what a rate needs."""
    model, (q, v, a) = prepared(robot)
    for frame in frames(model):
        A = ff.frame_acceleration(model, q, v, a, frame, expressed)
        J = ff.frame_jacobian(model, q, frame, expressed)
        close(A, J @ a + ff.frame_bias_acceleration(model, q, v, frame, expressed), EXACT, 1)

        def velocity(h, frame=frame):
            return ff.frame_velocity(model, ff.integrate(model, q, h * v), v + h * a, frame, expressed)

        close_to_rate(A, velocity, STEP, 10 * DIFFERENCE, 1)


@each_robot
def test_second_derivatives_by_differences(robot: str) -> None:
    """Under a wrench; along all directions at once and one by one; and products with weights, under a gravity of their own."""
    model, rng = ROBOTS[robot], fresh(1)
    (q, v, a), (x, y, z, weights) = state(model, rng), rng.standard_normal((4, model.nv))
    W, second = {"site_0": rng.standard_normal(6)}, ff.inverse_dynamics_second_derivatives

    def matrices(h: float) -> np.ndarray:
        return np.stack(ff.inverse_dynamics_derivatives(model, ff.integrate(model, q, h * x), v + h * y, a + h * z, external=W))

    ours = np.stack(second(model, q, v, a, along_q=x, along_v=y, along_a=z, external=W))
    size = float(np.abs(matrices(0.0)).max())
    close_to_rate(ours, matrices, STEP, 1e-10, least=size)
    each = [second(model, q, v, a, external=W, **one) for one in ({"along_q": x}, {"along_v": y}, {"along_a": z})]
    close(sum(np.stack(one) for one in each), ours, EXACT, least=size)
    g = (1.0, 2.0, 3.0)
    other = second(ff.with_gravity(model, g), q, v, a, x, y, z, external=W)
    found = ff.inverse_dynamics_hessian_product(model, q, v, a, weights, x, y, z, external=W, gravity=g)
    close(np.stack(found), weights @ np.stack(other), EXACT, least=size * float(np.abs(weights).sum()))
