"""Second derivatives of inverse dynamics: by differences, and by identities that hold without them."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import central, close, fresh
from collections.abc import Callable
from tangent import State, robots, state

DIFFERENCE = 1e-10  # at least: rounding over the step
ROBOTS = dict(robots())
FIELDS = ("dq", "dv", "da")
each_robot = pytest.mark.parametrize("robot", ROBOTS)


def prepared(robot: str) -> tuple[ff.Model, State, np.ndarray]:
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
    return fine, max(DIFFERENCE, doubt)


@each_robot
def test_by_differences(robot: str) -> None:
    model, (q, v, a), (x, y, z) = prepared(robot)
    theirs, doubt = known_difference(lambda h: matrices(model, ff.integrate(model, q, h * x), v + h * y, a + h * z))
    ours = along(model, (q, v, a), along_q=x, along_v=y, along_a=z)
    for k, name in enumerate(FIELDS):
        close(ours[k], theirs[k], doubt, 2, least=scale(model, (q, v, a)), what=name)
    # Of scalar differences of weights^T [dq dv da], which never see the second derivatives' matrices
    model, s, (x, y, z) = prepared(robot)
    weights = fresh(4).standard_normal(model.nv)
    D = ff.inverse_dynamics_hessian_product(model, *s, weights, x, y, z)
    q, v, a = s
    theirs, doubt = known_difference(lambda h: weights @ matrices(model, ff.integrate(model, q, h * x), v + h * y, a + h * z))
    for k, name in enumerate(FIELDS):
        close(getattr(D, name), theirs[k], doubt, 1, least=scale(model, s))


def test_gravity_is_replaced() -> None:
    model, s, (x, _, _) = prepared("tree 1")
    g = (1.0, 2.0, 3.0)
    other = along(ff.with_gravity(model, g), s, along_q=x)
    ours = ff.inverse_dynamics_second_derivatives(model, *s, x, gravity=g)
    np.testing.assert_array_equal(ours.dq, other[0])
    w = np.ones(model.nv)
    product = ff.inverse_dynamics_hessian_product(model, *s, w, x, gravity=g)
    np.testing.assert_allclose(product.dq, w @ other[0], rtol=1e-12)
    assert np.abs(other[0] - along(model, s, along_q=x)[0]).max() > 0.1
