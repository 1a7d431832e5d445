"""SE(3): group axioms, adjoints, exp and log and their Jacobians, against 40-digit sums, Pinocchio and differences."""

import numpy as np
import pinocchio as pin
import pytest
from closeness import refused
from freeflyer.errors import InputError
from freeflyer.spatial import quaternion, se3
from spatial_samples import ALL_ANGLES, ROUNDING, TO_PI, close, exact_sum, random_pose, random_twist, twists_at

EPS = np.finfo(float).eps


def test_hats_positions_and_adjoints():
    X, a, b = random_pose((10,)), random_twist((10,)), random_twist((10,), 9)
    close(se3.hat((se3.adjoint(X) @ a[..., None])[..., 0]), X @ se3.hat(a) @ se3.inverse(X))
    close(se3.hat((se3.ad(a) @ b[..., None])[..., 0]), se3.hat(a) @ se3.hat(b) - se3.hat(b) @ se3.hat(a))
    close(np.swapaxes(se3.coadjoint(X), -1, -2) @ se3.adjoint(X), np.broadcast_to(np.eye(6), (10, 6, 6)))
    xi = random_twist((4,))
    close(se3.vee(se3.hat(xi)), xi, 0.0)
    close(se3.hat(xi)[0, :3, :3] @ [1.0, 2.0, 3.0], np.cross(xi[0, 3:], [1.0, 2.0, 3.0]))
    close(se3.skew([1.0, 2.0, 3.0]) @ [4.0, 5.0, 6.0], np.cross([1, 2, 3], [4, 5, 6]))
    refused(InputError, "skew block", se3.vee, np.eye(4))
    refused(InputError, "last row zero", se3.vee, np.outer([0, 0, 0, 1.0], [1.0, 0, 0, 0]))
    X = random_pose((2, 3))
    p, q = se3.to_position_quaternion(X)
    close(se3.from_position_quaternion(p, q), X)
    close(se3.from_position_rotation(p, quaternion.to_matrix(q)), X)
    assert q[..., 3].min() >= 0.0
    p[...] = 0.0
    assert np.abs(X[..., :3, 3]).min() > 0.0  # what came back is the caller's own
    for f in (se3.left_jacobian_inverse, se3.right_jacobian_inverse):
        refused(InputError, "multiple of 2 pi", f, [0.1, 0.2, 0.3, 0.0, 2 * np.pi, 0.0])
        close(f(np.zeros(6)), np.eye(6), 0.0)


@pytest.mark.peers
def test_against_pinocchio():
    for X, Y, xi in zip(random_pose((5,)), random_pose((5,), 9), random_twist((5,))):
        M, N = pin.SE3(X), pin.SE3(Y)
        close(X @ Y, (M * N).homogeneous)
        close(se3.inverse(X), M.inverse().homogeneous)
        close(se3.adjoint(X), M.toActionMatrix())
        close(se3.coadjoint(X), M.toDualActionMatrix())
        close(se3.ad(xi), pin.Motion(xi).action)
        close(se3.exp(xi), pin.exp6(pin.Motion(xi)).homogeneous)
        lost, of_both = (  # by Pinocchio's logarithm, near half a turn
            ROUNDING / min(0.2, np.pi - np.linalg.norm(se3.log(Z)[3:])) ** 2 for Z in (X, se3.inverse(X) @ Y)
        )
        close(se3.log(X), pin.log6(M).vector, lost)
        close(se3.right_jacobian(xi), pin.Jexp6(pin.Motion(xi)))
        close(se3.right_jacobian_inverse(se3.log(X)), pin.Jlog6(M), lost)
        close(se3.interpolate(X, Y, 0.3), pin.SE3.Interpolate(M, N, 0.3).homogeneous, of_both)
        close(se3.from_position_quaternion(X[:3, 3], pin.SE3ToXYZQUAT(M)[3:]), X)


@pytest.mark.parametrize("angle", ALL_ANGLES)
def test_exp_and_jacobians_to_rounding(angle):
    for xi in twists_at((angle,), 2):
        J, K = exact_sum(se3.ad(xi), 1), se3.left_jacobian_inverse(xi)
        close(se3.exp(xi), exact_sum(se3.hat(xi), 0), 16 * EPS)
        close(se3.left_jacobian(xi), J, 16 * EPS)
        close(K @ J, np.eye(6), 32 * EPS * max(1.0, np.abs(K).max()))  # near 2 pi the inverse itself is large
        close(se3.right_jacobian_inverse(xi), se3.left_jacobian_inverse(-xi), 0.0)
        close(se3.right_jacobian(xi), se3.left_jacobian(-xi), 0.0)


@pytest.mark.parametrize("angle", TO_PI)
def test_log_undoes_exp_from_zero_to_pi(angle):
    for xi in twists_at((angle,), 4):
        out = se3.log(se3.exp(xi))
        if angle > np.pi - 1e-14 and out[3:] @ xi[3:] < 0:  # at a half turn the opposite axis is right too
            close(se3.exp(out), se3.exp(xi), 16 * EPS)
            continue
        close(out[3:], xi[3:], 6 * EPS * angle)  # relative: the axis of the smallest turns is kept too
        close(out[:3], xi[:3], 16 * EPS)
