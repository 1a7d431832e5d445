"""Spatial inertias, twists and wrenches: moments of points, consistency, changes of frame, peers."""

import closeness
import itertools
import numpy as np
import pinocchio as pin
import pytest
from closeness import STEP, central, close_to_differences, close_to_rate, refused, rounding
from freeflyer.errors import InputError
from freeflyer.spatial import consistency, inertia, quaternion, se3, twist, wrench
from hypothesis import given, settings, strategies as st
from spatial_samples import close, point_masses, random_pose, random_twist, rng

BOX = (2.0, np.array([0.1, -0.2, 0.3]), np.diag([0.05, 0.06, 0.08]))
ROUNDING = rounding(450)  # of sums over eight points and two changes of frame


def near(found, expected, tolerance=ROUNDING):
    closeness.close(found, expected, tolerance)


def points(*batch):
    """Masses (..., 8) and places (..., 8, 3): their inertias are consistent and full."""
    return rng().uniform(0.1, 1.0, (*batch, 8)), rng().standard_normal((*batch, 8, 3))


def test_moments_of_points():
    m, p = points()
    V = random_twist()
    speeds = V[:3] + np.cross(V[3:], p)
    energy = 0.5 * np.sum(m * np.sum(speeds**2, -1))
    assert abs(0.5 * V @ inertia.matrix(*point_masses(m, p)) @ V - energy) < 1e-13
    momentum = np.append((m[:, None] * speeds).sum(0), np.cross(p, m[:, None] * speeds).sum(0))
    near(inertia.matrix(*point_masses(m, p)) @ V, momentum)
    p1 = np.c_[p, np.ones(8)]
    near(inertia.pseudo_inertia(*point_masses(m, p)), np.einsum("i,ij,ik->jk", m, p1, p1))
    m, c, I = point_masses(*points(2, 3))
    out = inertia.from_parameters(inertia.parameters(m, c, I))
    near(out.mass, m)
    near(out.com, c)
    near(out.rotational, I)
    m, p = points()
    whole, first, second = point_masses(m, p), point_masses(m[:3], p[:3]), point_masses(m[3:], p[3:])
    for f in (inertia.matrix, inertia.parameters, inertia.pseudo_inertia):
        near(f(*first) + f(*second), f(*whole))
    X, Y = random_pose((2,))
    S = inertia.matrix(*point_masses(m, p))
    moved = p @ X[:3, :3].T + X[:3, 3]
    near(inertia.transform(X, S), inertia.matrix(*point_masses(m, moved)))
    near(inertia.transform(X @ Y, S), inertia.transform(X, inertia.transform(Y, S)))
    P = inertia.pseudo_inertia(*point_masses(m, p))
    near(X @ P @ X.T, inertia.pseudo_inertia(*point_masses(m, moved)))


def test_consistency():
    out = consistency.check(*BOX)
    assert out
    assert out.full
    assert out.reasons == ()
    near(out.moments, np.array([0.05, 0.06, 0.08]))
    near(out.second_moments, np.array([0.015, 0.035, 0.045]))
    plate = np.diag([0.1, 0.2, 0.3 + 1e-12])
    assert consistency.check(1.0, np.zeros(3), plate)
    assert not consistency.check(1.0, np.zeros(3), plate + np.diag([0, 0, 1e-6]))
    assert consistency.check(1.0, np.zeros(3), plate + np.diag([0, 0, 1e-6]), tolerance=1e-5)
    refused(InputError, "mass is 0", inertia.from_parameters, np.zeros((2, 10)))


@pytest.mark.parametrize(("mass", "moments", "expected", "words"), [
    (0.0, (0.1, 0.1, 0.1), ["mass"], "mass is 0 kg"),
    (-1.0, (0.1, 0.1, 0.1), ["mass"], "mass is -1 kg"),
    (1.0, (-0.01, 0.1, 0.1), ["definite", "triangle"], "one is negative"),
    (1.0, (0.1, 0.1, 0.3), ["triangle"], "exceeds the sum of the other two by 0.1"),
    (1.0, (0.1, 0.2, 0.3), ["flat"], "on a plane"),
    (1.0, (0.0, 0.2, 0.2), ["flat"], "on a line"),
    (1.0, (0.0, 0.0, 0.0), ["flat"], "on a point"),
    (0.0, (0.0, 0.0, 0.0), ["mass"], "mass is 0 kg"),
])  # fmt: skip
def test_each_reason(mass, moments, expected, words):
    R = quaternion.to_matrix(quaternion.random(rng()))
    I = R @ np.diag(moments) @ R.T
    out = consistency.check(mass, [0.1, 0.2, 0.3], 0.5 * (I + I.T))
    assert [r.name for r in out.reasons] == expected
    assert words in " ".join(r.text for r in out.reasons)
    assert bool(out) == bool(out.consistent) == (expected == ["flat"])
    assert not out.full
    assert (out.positive_mass, out.positive_definite) == (mass > 0, min(moments) > 0)
    assert out.triangle == ("triangle" not in expected)


@settings(max_examples=60, deadline=None)
@given(st.floats(-1.0, 3.0), st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
       st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6))  # fmt: skip
def test_full_means_a_positive_definite_pseudo_inertia(mass, com, six):
    I = np.empty((3, 3))
    I[np.triu_indices(3)] = six
    I = np.triu(I) + np.triu(I, 1).T + 1.2 * np.eye(3)
    out = consistency.check(mass, com, I)
    smallest = min(np.linalg.eigvalsh(inertia.pseudo_inertia(mass, com, I)))
    if abs(smallest) > 1e-7:
        assert out.full == (smallest > 0)
    assert out.full == (out.reasons == ())


PAIRS = list(itertools.product(twist.EXPRESSIONS, repeat=2))


class Motion:
    """X(t) = X0 exp(t a) exp(t^2 b): a frame whose body twist and acceleration at t = 0 are a and 2 b."""

    X0, a, b = random_pose(), random_twist(seed=1), random_twist(seed=2)

    def pose(self, t):
        return self.X0 @ se3.exp(t * self.a) @ se3.exp(t * t * self.b)

    def body_twist(self, t):
        back = se3.inverse(self.pose(t))
        return central(lambda h: se3.log(back @ self.pose(t + h)))

    def mixed_twist(self, t):
        return np.append(central(lambda h: self.pose(t + h)[:3, 3]), self.world_twist(t)[3:])

    def world_twist(self, t):
        back = se3.inverse(self.pose(t))
        return central(lambda h: se3.log(self.pose(t + h) @ back))

    def twist(self, t, expression):
        return getattr(self, f"{expression}_twist")(t)


def test_derivatives_of_a_moving_frame():
    m = Motion()
    for source, target in PAIRS:
        ours = twist.change_expression(m.twist(0.0, source), m.X0, source, target)
        close(ours, m.twist(0.0, target), 1e-8, what=(source, target))
    close(m.body_twist(0.0), m.a, 1e-8)
    rates = {e: central(lambda t, e=e: m.twist(t, e), 2e-3) for e in twist.EXPRESSIONS}
    close(rates["body"], 2 * m.b, 1e-6)
    for source, target in PAIRS:
        ours = twist.change_rate_expression(rates[source], m.twist(0.0, source), m.X0, source, target)
        close(ours, rates[target], 1e-6, what=(source, target))
    X, V, A = random_pose((5,)), random_twist((5,)), random_twist((5,), 9)
    for source, target in PAIRS:
        V2 = twist.change_expression(V, X, source, target)
        there = twist.change_rate_expression(A, V, X, source, target)
        error = rounding(180) * max(1.0, float(np.abs(there).max()))
        close(twist.change_rate_expression(there, V2, X, target, source), A, error)
    # d/dt of a constant twist or wrench carried along by the twist V
    V, W = random_twist(), random_twist(seed=9)
    close_to_rate(twist.cross(V, W), lambda t: se3.adjoint(se3.exp(t * V)) @ W, STEP, 1e-9)
    close_to_rate(wrench.cross(V, W), lambda t: se3.coadjoint(se3.exp(t * V)) @ W, STEP, 1e-9)


@pytest.mark.peers
def test_inertia_peers():
    m = Motion()

    def second(h):
        return central(lambda t: central(lambda x: m.X0[:3, :3].T @ m.pose(t + x)[:3, 3], h), h)

    ours = twist.classical_acceleration(2 * m.b, m.a)
    close_to_differences(ours[:3], second, 4e-3, 1e-8)
    close(ours[3:], 2 * m.b[3:])
    frame = pin.classicAcceleration(pin.Motion(m.a), pin.Motion(2 * m.b))
    close(ours[:3], frame)
    for X, V, W in zip(random_pose((4,)), random_twist((4,)), random_twist((4,), 9)):
        M, m, n, f = pin.SE3(X), pin.Motion(V), pin.Motion(W), pin.Force(W)
        close(se3.adjoint(X) @ V, M.act(m).vector)
        close(se3.coadjoint(X) @ W, M.act(f).vector)
        close(twist.cross(V, W), m.cross(n).vector)
        close(wrench.cross(V, W), m.cross(f).vector)
        close(wrench.power(W, V), np.asarray(f.dot(m)))


def test_power_and_forces():
    X, V, F = random_pose((6,)), random_twist((6,)), random_twist((6,), 9)
    P = wrench.power(F, V)
    moved = [(A(X) @ x[..., None])[..., 0] for A, x in ((se3.coadjoint, F), (se3.adjoint, V))]
    close(wrench.power(*moved), P, 2e-14)
    for e in twist.EXPRESSIONS:
        F2, V2 = wrench.change_expression(F, X, "body", e), twist.change_expression(V, X, "body", e)
        close(wrench.power(F2, V2), P, 2e-14)
    U = random_twist((6,), 10)
    close(wrench.power(wrench.cross(U, F), V), -wrench.power(F, twist.cross(U, V)), 2e-14)
    shift = se3.from_position_rotation([0.5, 0.0, 0.0], np.eye(3))
    close(se3.coadjoint(shift) @ [0.0, 0.0, -9.81, 0.0, 0.0, 0.0], np.array([0.0, 0.0, -9.81, 0.0, 9.81 * 0.5, 0.0]))
