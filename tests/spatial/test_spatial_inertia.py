"""Inertias: sums over point masses as definition, Pinocchio, and every way to be no physical body."""

import closeness
import numpy as np
import pytest
from closeness import refused, rounding
from freeflyer.errors import InputError
from freeflyer.spatial import consistency, inertia, quaternion
from hypothesis import given, settings, strategies as st
from spatial_samples import point_masses, random_inertia, random_pose, random_twist, rng

BOX = (2.0, np.array([0.1, -0.2, 0.3]), np.diag([0.05, 0.06, 0.08]))
ROUNDING = rounding(450)  # of sums over eight points and two changes of frame


def close(found, expected, tolerance=ROUNDING):
    closeness.close(found, expected, tolerance)


def points():
    return rng().uniform(0.1, 1.0, 8), rng().standard_normal((8, 3))


def test_moments_of_points():
    m, p = points()
    V = random_twist()
    speeds = V[:3] + np.cross(V[3:], p)
    energy = 0.5 * np.sum(m * np.sum(speeds**2, -1))
    assert abs(0.5 * V @ inertia.matrix(*point_masses(m, p)) @ V - energy) < 1e-13
    momentum = np.append((m[:, None] * speeds).sum(0), np.cross(p, m[:, None] * speeds).sum(0))
    close(inertia.matrix(*point_masses(m, p)) @ V, momentum)
    p1 = np.c_[p, np.ones(8)]
    close(inertia.pseudo_inertia(*point_masses(m, p)), np.einsum("i,ij,ik->jk", m, p1, p1))
    m, c, I = random_inertia((2, 3))
    out = inertia.from_parameters(inertia.parameters(m, c, I))
    close(out.mass, m)
    close(out.com, c)
    close(out.rotational, I)
    m, p = points()
    whole, first, second = point_masses(m, p), point_masses(m[:3], p[:3]), point_masses(m[3:], p[3:])
    for f in (inertia.matrix, inertia.parameters, inertia.pseudo_inertia):
        close(f(*first) + f(*second), f(*whole))
    X, Y = random_pose((2,))
    S = inertia.matrix(*point_masses(m, p))
    moved = p @ X[:3, :3].T + X[:3, 3]
    close(inertia.transform(X, S), inertia.matrix(*point_masses(m, moved)))
    close(inertia.transform(X @ Y, S), inertia.transform(X, inertia.transform(Y, S)))
    P = inertia.pseudo_inertia(*point_masses(m, p))
    close(X @ P @ X.T, inertia.pseudo_inertia(*point_masses(m, moved)))


def test_consistency():
    out = consistency.check(*BOX)
    assert out
    assert out.full
    assert out.reasons == ()
    close(out.moments, np.array([0.05, 0.06, 0.08]))
    close(out.second_moments, np.array([0.015, 0.035, 0.045]))
    plate = np.diag([0.1, 0.2, 0.3 + 1e-12])
    assert consistency.check(1.0, np.zeros(3), plate)
    assert not consistency.check(1.0, np.zeros(3), plate + np.diag([0, 0, 1e-6]))
    assert consistency.check(1.0, np.zeros(3), plate + np.diag([0, 0, 1e-6]), tolerance=1e-5)
    refused(InputError, "mass is 0", inertia.from_parameters, np.zeros((2, 10)))


@pytest.mark.parametrize(("mass", "moments", "expected", "words"), [
    (0.0, (0.1, 0.1, 0.1), ["mass"], "mass is 0 kg"), (-1.0, (0.1, 0.1, 0.1), ["mass"], "mass is -1 kg"),
    (1.0, (-0.01, 0.1, 0.1), ["definite", "triangle"], "one is negative"),
    (1.0, (0.1, 0.1, 0.3), ["triangle"], "exceeds the sum of the other two by 0.1"),
    (1.0, (0.1, 0.2, 0.3), ["flat"], "on a plane"), (1.0, (0.0, 0.2, 0.2), ["flat"], "on a line"),
    (1.0, (0.0, 0.0, 0.0), ["flat"], "on a point"), (0.0, (0.0, 0.0, 0.0), ["mass"], "mass is 0 kg"),
])  # fmt: skip
def test_each_reason(mass, moments, expected, words):
    R = quaternion.to_matrix(quaternion.random(rng()))
    I = R @ np.diag(moments) @ R.T
    out = consistency.check(mass, [0.1, 0.2, 0.3], 0.5 * (I + I.T))
    assert [r.name for r in out.reasons] == expected
    assert words in " ".join(r.text for r in out.reasons)
    assert bool(out) == bool(out.consistent) == (expected == ["flat"])
    assert not out.full
    assert out.positive_mass == (mass > 0)
    assert out.positive_definite == (min(moments) > 0)
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
