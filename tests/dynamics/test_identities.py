"""The laws of mechanics on random trees of all joint kinds and bases, without differences to a few hundred roundings."""

import freeflyer as ff
import numpy as np
from answers import EXPRESSED
from cases import Case, cases, few
from closeness import EXACT, central, close, slope_error
from hypothesis import given
from random_robots import KINDS
from tangent import bracket

DIFFERENCED = slope_error(rate=19.0)  # joints of up to nine velocities of order 1 turn one behind another
HOLONOMIC = tuple(k for k in KINDS if k not in ("spherical", "free"))  # velocities are rates of coordinates


def moved(c: Case, h: float) -> np.ndarray:
    """q after h seconds at constant v."""
    return ff.integrate(c.model, c.q, h * c.v)


@few
@given(cases())
def test_coriolis_matrix_is_the_one_without_torsion(c: Case) -> None:
    """C(x) y - C(y) x = M [x, y]: with Mdot = C + C^T this leaves one matrix, the Levi-Civita connection's."""
    M = ff.mass_matrix(c.model, c.q)
    left = ff.coriolis_matrix(c.model, c.q, c.v) @ c.a - ff.coriolis_matrix(c.model, c.q, c.a) @ c.v
    close(left, M @ bracket(c.model, c.v, c.a), 1e-12, 1, least=float(np.abs(M).max()))


@few
@given(cases(kinds=HOLONOMIC, bases=("free",)))
def test_hamel_form_is_the_one_of_the_thesis(c: Case) -> None:
    """Decoupling thesis, eq. (3.39), its derivatives of M taken by differences along each joint coordinate."""
    l, w, nv = c.v[:3], c.v[3:6], c.model.nv
    q, v, n = c.q, c.v, nv - 6
    skew = [np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) for x, y, z in (l, w)]
    ad = np.block([[skew[1], skew[0]], [np.zeros((3, 3)), skew[1]]])
    M = ff.mass_matrix(c.model, q)
    rate = central(lambda h: ff.mass_matrix(c.model, moved(c, h)))
    along = np.hstack([np.zeros((n, 6)), np.eye(n)])
    slope = central(lambda h: ff.mass_matrix(c.model, ff.integrate(c.model, q, h * along)))  # (n, nv, nv)
    M_b_q = np.einsum("j,ijk->ik", v[:6], slope[:, :6, :6])
    M_bq_q = np.einsum("j,ijk->ik", v[:6], slope[:, :6, 6:])
    M_q_q = np.einsum("j,ijk->ik", v[6:], slope[:, 6:, 6:])
    expected = np.block([[rate[:6, :6] - ad.T @ M[:6, :6], rate[:6, 6:] - ad.T @ M[:6, 6:]],
                         [rate[6:, :6] - 0.5 * M_b_q, rate[6:, 6:] - M_bq_q - 0.5 * M_q_q]])  # fmt: skip
    C = ff.coriolis_matrix(c.model, q, v, "hamel")
    close(C, expected, DIFFERENCED, 2, least=float(np.abs(M).max()))


@few
@given(cases())
def test_frames_move_by_their_jacobians(c: Case) -> None:
    model, q, v = c.model, c.q, c.v
    for frame in (c.links[-1], "site_0", "site_1"):
        X = ff.frame_pose(model, q, frame)
        R, p = X[:3, :3], X[:3, 3]
        rate = central(lambda h, f=frame: ff.frame_pose(model, moved(c, h), f))
        W = rate[:3, :3] @ R.T
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        l = rate[:3, 3]
        expected = {"body": np.concatenate([R.T @ l, R.T @ w]), "mixed": np.concatenate([l, w]),
                    "world": np.concatenate([l + np.cross(p, w), w])}  # fmt: skip
        for e in EXPRESSED:
            J, V = ff.frame_jacobian(model, q, frame, e), ff.frame_velocity(model, q, v, frame, e)
            close(V, expected[e], DIFFERENCED, 1)
            close(J @ v, V, EXACT, 1)
            turning = central(lambda h, f=frame, e=e: ff.frame_jacobian(model, moved(c, h), f, e))
            close(ff.frame_bias_acceleration(model, q, v, frame, e), turning @ v, DIFFERENCED, 1)
