"""Dual quaternions: the algebra by its axioms, poses, twists and wrenches against SE(3), lemma (9), sclerp."""

import numpy as np
import pytest
from closeness import STEP, close_to_rate, fresh
from freeflyer.spatial import dual_quaternion as D, quaternion, se3, twist, wrench
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
    X, Y = random_pose((2, 10))
    x, y = D.from_pose(X), D.from_pose(Y)
    close(D.to_pose(D.multiply(x, y)), X @ Y)
    close(D.to_pose(D.conjugate(x)), se3.inverse(X))
    close(D.to_pose(-x), X)
    close(D.norm(x), np.broadcast_to([1.0, 0.0], (10, 2)))
    p, q = D.to_position_quaternion(x)
    close(p, X[:, :3, 3])
    close(quaternion.to_matrix(q), X[:, :3, :3])
    close(D.from_position_quaternion(p, q), x)
    x, p = poses(), rng().standard_normal((10, 3))
    point = np.concatenate([np.broadcast_to([0, 0, 0, 1.0], (10, 4)), p, np.zeros((10, 1))], -1)
    moved = D.multiply(D.multiply(x, point), D.full_conjugate(x))
    close(moved[:, 4:7], se3.act(D.to_pose(x), p))
    close(moved[:, [0, 1, 2, 3, 7]], np.broadcast_to([0, 0, 0, 1.0, 0], (10, 5)))
    X, V, F = random_pose((10,)), random_twist((10,)), random_twist((10,), 9)
    x = D.from_pose(X)
    close(D.to_twist(D.adjoint(x, D.from_twist(V))), twist.change_frame(X, V))
    close(D.to_wrench(D.adjoint(x, D.from_wrench(F))), wrench.change_frame(X, F))
    close(D.power(D.from_wrench(F), D.from_twist(V)), wrench.power(F, V))
    assert np.array_equal(D.from_twist([1, 2, 3, 4, 5, 6]), [4, 5, 6, 0, 1, 2, 3, 0])
    assert np.array_equal(D.from_wrench([1, 2, 3, 4, 5, 6]), [1, 2, 3, 0, 4, 5, 6, 0])


def test_rates_and_orders():
    a, b = fresh(0).standard_normal((2, 10, 8))
    left, right = D.hamilton_left(a), D.hamilton_right(b)
    close((left @ b[..., None])[..., 0], D.multiply(a, b), 1e-14)
    close((right @ a[..., None])[..., 0], D.multiply(a, b), 1e-14)
    close(left @ right, right @ left, 1e-13)  # associativity
    h = np.arange(1.0, 9.0)
    assert np.array_equal(D.to_vec8(h), [4, 1, 2, 3, 8, 5, 6, 7])
    assert np.array_equal(D.from_vec8(D.to_vec8(h)), h)
    e = np.arange(1.0, 7.0)
    assert np.array_equal(D.from_vec6(e), [1, 2, 3, 0, 4, 5, 6, 0])
    assert np.array_equal(D.to_vec6(D.from_vec6(e)), e)
    m = Motion()
    body = 2.0 * m.a
    world = D.adjoint(m.x0, body)
    close_to_rate(D.rate_from_twist(m.x0, body, "body"), m.pose, STEP, 1e-9)
    close_to_rate(D.rate_from_twist(m.x0, world, "world"), m.pose, STEP, 1e-9)
    close(D.twist_from_rate(m.x0, D.rate_from_twist(m.x0, body, "body"), "body"), body)
    close(D.twist_from_rate(m.x0, D.rate_from_twist(m.x0, body, "body"), "world"), world)
    # World: omega + eps (pdot + p x omega). Body: omega + eps (pdot in body axes)
    X = D.to_pose(m.x0)

    def place(t):
        return D.to_pose(m.pose(t))[:3, 3]

    world, body = (D.twist_from_rate(m.x0, D.rate_from_twist(m.x0, 2 * m.a, "body"), e) for e in ("world", "body"))
    close_to_rate(world[4:7] - np.cross(X[:3, 3], world[:3]), place, STEP, 1e-9)
    close_to_rate(X[:3, :3] @ body[4:7], place, STEP, 1e-9)


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
