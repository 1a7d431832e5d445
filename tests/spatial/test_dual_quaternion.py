"""Dual quaternions: the algebra by its axioms, poses, twists and wrenches against SE(3), lemma (9), sclerp."""

import numpy as np
import pytest
from closeness import STEP, close_to_rate
from freeflyer.spatial import dual_quaternion as D, se3, wrench
from hypothesis import settings, strategies as st
from spatial_samples import ALL_ANGLES, close, exact_sum, random_pose, random_twist, rng, twists_at

EPS = np.finfo(float).eps
twists = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6).map(np.array)
fast = settings(max_examples=40, deadline=None)
I, J, K, ONE, E_I, E_J, E_K, EPSILON = np.eye(8)


def poses(seed=4):
    return D.from_pose(random_pose((10,), seed))


def test_algebra():
    for a, b, ab in ((I, J, K), (J, K, I), (K, I, J), (I, I, -ONE), (EPSILON, EPSILON, 0 * ONE), (EPSILON, J, E_J)):
        assert np.array_equal(D.multiply(a, b), ab)
    assert np.array_equal(D.multiply(I, E_J), E_K)
    assert np.array_equal(D.multiply(E_I, J), E_K)
    assert np.array_equal(D.multiply(E_I, E_J), 0 * ONE)
    X = random_pose((10,))
    x = D.from_pose(X)
    close(D.to_pose(x), X)
    close(D.to_pose(-x), X)
    close(D.from_position_quaternion(*D.to_position_quaternion(x)), x)
    x, p = poses(), rng().standard_normal((10, 3))
    point = np.concatenate([np.broadcast_to([0, 0, 0, 1.0], (10, 4)), p, np.zeros((10, 1))], -1)
    moved, X = D.multiply(D.multiply(x, point), D.conjugate(D.dual_conjugate(x))), D.to_pose(x)
    close(moved[:, 4:7], (X[:, :3, :3] @ p[..., None])[..., 0] + X[:, :3, 3])
    close(moved[:, [0, 1, 2, 3, 7]], np.broadcast_to([0, 0, 0, 1.0, 0], (10, 5)))
    X, V, F = random_pose((10,)), random_twist((10,)), random_twist((10,), 9)
    x = D.from_pose(X)
    close(D.to_twist(D.adjoint(x, D.from_twist(V))), (se3.adjoint(X) @ V[..., None])[..., 0])
    close(D.to_vec6(D.adjoint(x, D.from_wrench(F))), (se3.coadjoint(X) @ F[..., None])[..., 0])
    close(D.power(D.from_wrench(F), D.from_twist(V)), wrench.power(F, V))
    assert np.array_equal(D.from_twist([1, 2, 3, 4, 5, 6]), [4, 5, 6, 0, 1, 2, 3, 0])
    assert np.array_equal(D.from_wrench([1, 2, 3, 4, 5, 6]), [1, 2, 3, 0, 4, 5, 6, 0])


def test_rate_equation_4():
    m = Motion()
    body = 2.0 * m.a
    world = D.adjoint(m.x0, body)
    close_to_rate(D.rate_from_twist(m.x0, body, "body"), m.pose, STEP, 1e-9)
    close_to_rate(D.rate_from_twist(m.x0, world, "world"), m.pose, STEP, 1e-9)
    close(D.rate_from_twist(m.x0, body, "body"), D.rate_from_twist(m.x0, world, "world"))


class Motion:
    """x(t) = x0 exp(t a) exp(t^2 b), differentiated by central differences."""

    x0, a, b = poses()[0], D.from_twist(random_twist(seed=1)), D.from_twist(random_twist(seed=2))

    def pose(self, t):
        return D.multiply(D.multiply(self.x0, D.exp(t * self.a)), D.exp(t * t * self.b))


@pytest.mark.parametrize("angle", ALL_ANGLES)
def test_exp_is_se3s_and_its_own_series(angle):
    for xi in twists_at((angle,), 2):
        h = 0.5 * D.from_twist(xi)
        close(D.exp(h), exact_sum(D.hamilton_left(h), 0) @ ONE, 8 * EPS)
        close(D.to_pose(D.exp(h)), se3.exp(xi), 24 * EPS)


def test_sclerp_is_the_screw_of_se3():
    X, Y, t = random_pose((10,)), random_pose((10,), 9), np.linspace(-0.2, 1.2, 10)
    x, y = D.from_pose(X), D.from_pose(Y)
    close(D.to_pose(D.sclerp(x, y, t)), se3.interpolate(X, Y, t), 1e-13)
    close(D.to_pose(D.sclerp(x, -y, t)), se3.interpolate(X, Y, t), 1e-13)
    close(D.to_pose(D.sclerp(x, y, 0.0)), X)
    close(D.to_pose(D.sclerp(x, y, 1.0)), Y, 4e-14)
