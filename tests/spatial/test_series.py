"""The scalar functions behind exp and log, against 60 digits, on both sides of their switch; SE(3)."""

import mpmath as mp
import numpy as np
import pytest
from closeness import EPS, refused
from freeflyer.errors import InputError
from freeflyer.spatial import _series as series, quaternion, se2, se3
from freeflyer.tolerances import SERIES_SWITCH
from spatial_samples import ALL_ANGLES, TO_PI, close, exact_sum, random_pose, random_twist, rng, twists_at

X = np.unique(np.concatenate([np.square(ALL_ANGLES), SERIES_SWITCH * (1.0 + np.array([-1e-15, 0.0, 1e-15]))]))


def sinc(x):
    return mp.sin(mp.sqrt(x)) / mp.sqrt(x)


def cosc(x):
    return (1 - mp.cos(mp.sqrt(x))) / x


def sinc3(x):
    return (1 - sinc(x)) / x


def half_cot(x):
    return mp.sqrt(x) / 2 * mp.cot(mp.sqrt(x) / 2)


def cotc(x):
    return (1 - half_cot(x)) / x


def slope(f):
    return lambda x: mp.diff(f, x, h=x * mp.mpf("1e-20"))


CASES = {"sinc": sinc, "cosc": cosc, "sinc3": sinc3, "half_cot": half_cot, "cotc": cotc, "sinc_slope": slope(sinc),
         "cosc_slope": slope(cosc), "sinc3_slope": slope(sinc3), "cotc_slope": slope(cotc)}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_accuracy(name):
    """Relative to |f| + |x f'|, the change of f when x is rounded; zero stands for 1e-40, the same to 40 digits."""
    f = CASES[name]
    with mp.workdps(120):
        xs = [mp.mpf(float(x)) if x > 1e-40 else mp.mpf("1e-40") for x in X]
        truth = np.array([float(f(x)) for x in xs])
        scale = np.abs(truth) + np.array([float(abs(x * slope(f)(x))) for x in xs])
    error = np.abs(getattr(series, name)(X) - truth) / scale
    assert error.max() < (2e-14 if "slope" in name else 2e-15), (error.max(), np.sqrt(X[error.argmax()]))


@pytest.mark.parametrize("turns", [1, 2])
def test_full_turns_have_no_inverse_jacobian(turns):
    for f in (series.half_cot, series.cotc, series.cotc_slope):
        refused(InputError, "multiple of 2 pi", f, np.array([1.0, (2 * np.pi * turns) ** 2]))


def test_absurd_angles_are_refused():
    refused(InputError, "1e154", series.squared_angle, np.array([1e200, 0.0, 0.0]))


IN_PLANE = np.array([0, 1, 5])  # vx, vy, omega among [linear; angular]


def lifted(xi):
    out = np.zeros((*np.shape(xi)[:-1], 6))
    out[..., IN_PLANE] = xi
    return out


def flat(A):
    """The planar rows and columns of a pose (4, 4) or of a matrix on twists (6, 6)."""
    keep = IN_PLANE if A.shape[-1] == 6 else np.array([0, 1, 3])
    return A[..., keep[:, None], keep]


def sample(angle):
    return np.append(rng().standard_normal(2), angle)


@pytest.mark.parametrize("angle", [*ALL_ANGLES, -1e-9, -1.0, -3.0])
def test_is_se3_in_the_plane(angle):
    xi = sample(angle)
    big = lifted(xi)
    close(se2.hat(xi), flat(se3.hat(big)), 0.0)
    close(se2.ad(xi), flat(se3.ad(big)), 0.0)
    close(se2.exp(xi), flat(se3.exp(big)), 8 * EPS)
    close(se2.adjoint(se2.exp(xi)), flat(se3.adjoint(se3.exp(big))), 8 * EPS)
    close(se2.right_jacobian(xi), flat(se3.right_jacobian(big)), 16 * EPS)


@pytest.mark.parametrize("angle", TO_PI)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_log_undoes_exp_from_zero_to_pi(angle, sign):
    xi = sample(sign * angle)
    out = se2.log(se2.exp(xi))
    assert abs(out[2] - xi[2]) <= 2 * EPS * angle
    close(out[:2], xi[:2], 16 * EPS)


def test_half_turns_and_positions():
    X = np.diag([-1.0, -1.0, 1.0])
    assert se2.log(X)[2] == np.pi
    X[1, 0] = -0.0
    assert se2.log(X)[2] == np.pi
    close(se2.exp(se2.log(X)), X)
    p, t = rng().standard_normal((2, 3, 2)), rng().uniform(-3.1, 3.1, (2, 3))
    X = se2.from_position_angle(p, t)
    close(X[..., :2, 2], p, 0.0)
    close(se2.log(X)[..., 2], t, 4 * EPS)
    close((X[0, 0] @ [1.0, 0.0, 1.0])[:2], p[0, 0] + [np.cos(t[0, 0]), np.sin(t[0, 0])])
    refused(InputError, "transpose it", lambda: se2.inverse(se2.from_position_angle([1.0, 2.0], 0.3).T))
    refused(InputError, "reflection", se2.log, np.diag([1.0, -1.0, 1.0]))
    refused(InputError, "multiple of 2 pi", se2.right_jacobian_inverse, [1.0, 0.0, 2 * np.pi])


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
def test_se3_log_undoes_exp(angle):
    for xi in twists_at((angle,), 4):
        out = se3.log(se3.exp(xi))
        if angle > np.pi - 1e-14 and out[3:] @ xi[3:] < 0:  # at a half turn the opposite axis is right too
            close(se3.exp(out), se3.exp(xi), 16 * EPS)
            continue
        close(out[3:], xi[3:], 6 * EPS * angle)  # relative: the axis of the smallest turns is kept too
        close(out[:3], xi[:3], 16 * EPS)
