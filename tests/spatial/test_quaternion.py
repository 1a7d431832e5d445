"""Unit quaternions: rotations, logarithms, roll-pitch-yaw, interpolation."""

import numpy as np
import pinocchio as pin
import pytest
from closeness import EPS, fresh, refused
from freeflyer.errors import InputError
from freeflyer.spatial import quaternion as Q
from freeflyer.spatial.quaternion import rotation_vector
from scipy.spatial.transform import Rotation, Slerp
from spatial_samples import ALL_ANGLES, TO_PI, directions, rng



def same_rotation(a, b):
    """Distance of quaternions, or of half turns, up to sign."""
    return np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1))


def test_products_and_axes():
    i, j, k, one = np.eye(4)
    for a, b, ab in ((i, j, k), (j, k, i), (k, i, j), (j, i, -k), (i, i, -one), (one, j, j)):
        assert np.array_equal(Q.multiply(a, b), ab)
    a, b, c = Q.random(rng(), (3, 20))
    assert np.allclose(Q.multiply(Q.multiply(a, b), c), Q.multiply(a, Q.multiply(b, c)), rtol=0.0, atol=8 * EPS)
    assert np.allclose(Q.multiply(a, Q.conjugate(a)), [0, 0, 0, 1], rtol=0.0, atol=8 * EPS)
    assert np.allclose(Q.conjugate(Q.multiply(a, b)), Q.multiply(Q.conjugate(b), Q.conjugate(a)), rtol=0.0, atol=8 * EPS)
    assert np.allclose(Q.to_matrix(Q.multiply(a, b)), Q.to_matrix(a) @ Q.to_matrix(b), rtol=0.0, atol=16 * EPS)
    assert np.array_equal(Q.to_wxyz([1, 2, 3, 4]), [4, 1, 2, 3])
    assert np.array_equal(Q.from_wxyz(Q.to_wxyz(np.arange(8.0).reshape(2, 4))), np.arange(8.0).reshape(2, 4))
    for scale in (1e-200, 1e-5, 7.0, 1e200):
        assert np.allclose(Q.normalize(scale * np.array([1.0, 2.0, 3.0, 4.0])), np.array([1, 2, 3, 4]) / np.sqrt(30))
    refused(InputError, "zero quaternion", Q.normalize, [[0, 0, 0, 1], [0, 0, 0, 0]])
    q = Q.exp([0.0, 0.0, 4.0])
    assert np.allclose(Q.log(q), [0, 0, 4.0 - 2 * np.pi])
    assert np.array_equal(Q.log(q), Q.log(-q))
    assert np.array_equal(Q.log([0.0, 1.0, 0.0, 0.0]), [0.0, np.pi, 0.0])
    axes, angles = directions(20), np.linspace(0.0, np.pi, 20)
    q = Q.from_axis_angle(3.0 * axes, angles)
    assert np.allclose(Q.log(q), angles[:, None] * axes, rtol=0.0, atol=16 * EPS)
    tiny = 1e170 * Q.log(Q.from_axis_angle([1e-170, 1e-170, 0.0], 1e-170))
    assert np.allclose(tiny, [np.sqrt(0.5), np.sqrt(0.5), 0.0])
    refused(InputError, "zero vector", Q.from_axis_angle, [0, 0, 0], 1.0)
    a, b = Q.random(rng(), (2, 20))
    t = np.linspace(-0.5, 1.5, 9)
    for x, y in zip(a, b):
        inside = Slerp([0.0, 1.0], Rotation.from_quat([x, y]))(t[2:7]).as_quat()
        assert same_rotation(Q.slerp(x, y, t[2:7]), inside).max() < 1e-14
    assert same_rotation(Q.slerp(a, b, 0.0), a).max() < 8 * EPS
    assert same_rotation(Q.slerp(a, b, 1.0), b).max() < 8 * EPS
    assert np.allclose(Q.slerp(a, -b, 0.3), Q.slerp(a, b, 0.3), rtol=0.0, atol=8 * EPS)  # the same rotation, the same way
    # Haar measure: a turned vector is uniform on the sphere, its square components average 1/3, and E q q^T = 1/4
    q = Q.random(fresh(0), (20000,))
    turned = Q.rotate(q, [0.0, 0.0, 1.0])
    assert np.abs(turned.mean(0)).max() < 0.02
    assert np.abs((turned**2).mean(0) - 1 / 3).max() < 0.01
    assert np.abs(q.T @ q / len(q) - np.eye(4) / 4).max() < 0.01
    refused(InputError, "default_rng", Q.random, 3)
    # Six digits as in a file: accepted, and the matrix is orthogonal to rounding
    R = Q.to_matrix(np.round(Q.random(rng(), (20,)), 6))
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 16 * EPS


@pytest.mark.peers
def test_peers():
    q, v = Q.random(rng(), (40,)), rng().standard_normal((40, 3))
    R = Rotation.from_quat(q)
    assert np.allclose(Q.to_matrix(q), R.as_matrix(), rtol=0.0, atol=16 * EPS)
    assert np.allclose(Q.rotate(q, v), R.apply(v), rtol=0.0, atol=16 * EPS * np.abs(v).max())
    assert np.allclose(Q.log(q), R.as_rotvec(), rtol=0.0, atol=16 * EPS)
    assert same_rotation(Q.exp(3 * v), Rotation.from_rotvec(3 * v).as_quat()).max() < 16 * EPS
    for one in q:
        assert np.allclose(Q.to_matrix(one), pin.Quaternion(one).toRotationMatrix(), rtol=0.0, atol=16 * EPS)
    rpy = rng().uniform(-1.5, 1.5, (30, 3)) * [2.0, 1.0, 2.0]
    R = Q.to_matrix(Q.from_rpy(rpy))
    assert np.allclose(R, Rotation.from_euler("xyz", rpy).as_matrix(), rtol=0.0, atol=16 * EPS)
    assert np.allclose(R[0], pin.rpy.rpyToMatrix(*rpy[0]), rtol=0.0, atol=16 * EPS)
    assert np.allclose(Q.to_rpy(Q.from_rpy(rpy)), rpy, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("angle", ALL_ANGLES)
def test_matrix_round_trip_at_every_angle(angle):
    """Every branch of from_matrix: near the identity, near half turns about each axis, between."""
    q = Q.exp(angle * directions(30))
    assert same_rotation(Q.from_matrix(Q.to_matrix(q)), q).max() < 8 * EPS


@pytest.mark.parametrize("angle", TO_PI)
def test_log_keeps_all_digits_from_zero_to_pi(angle):
    w = angle * directions(30)
    R = Q.to_matrix(Q.exp(w))
    for found, bound in ((Q.log(Q.exp(w)), 4), (Q.log(Q.from_matrix(R)), 6), (rotation_vector(R), 16)):
        error = np.abs(found - w).max(-1)
        if angle > np.pi - 1e-14:  # both half turns are right
            error = same_rotation(found, w)
        assert error.max() <= bound * EPS * angle


@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-4, 1e-2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rpy_round_trip_through_gimbal_lock(gap, sign):
    angles = rng().uniform(-3.1, 3.1, (50, 3))
    angles[:, 1] = sign * (np.pi / 2 - gap)
    q = Q.from_rpy(angles)
    out = Q.to_rpy(q)
    assert same_rotation(Q.from_rpy(out), q).max() < 8 * EPS
    assert np.abs(out[:, 1] - angles[:, 1]).max() < 8 * EPS
    assert np.abs(out).max() <= np.pi
