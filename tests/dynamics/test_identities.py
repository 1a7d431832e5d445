"""The laws of mechanics on random trees of all joint kinds and bases, without differences to a few hundred roundings."""

import freeflyer as ff
import numpy as np
import pytest
from answers import EXPRESSED
from closeness import EXACT, central, close, rounding, slope_error
from hypothesis import given
from random_robots import KINDS, Case, cases, few
from tangent import bracket

DIFFERENCED = slope_error(rate=19.0)  # joints of up to nine velocities of order 1 turn one behind another
HOLONOMIC = tuple(k for k in KINDS if k not in ("spherical", "free"))  # velocities are rates of coordinates


def moved(c: Case, h: float) -> np.ndarray:
    """q after h seconds at constant v."""
    return ff.integrate(c.model, c.q, h * c.v)


def solved(M: np.ndarray) -> float:
    """The tolerance of a solve with M: 100 eps times its condition number."""
    return max(EXACT, rounding(100, float(np.linalg.cond(M))))


@few
@given(cases())
def test_terms_of_inverse_dynamics(c: Case) -> None:
    """M a + bias is the torque; the bias is the weight and what grows with the square of v (Coriolis matrices: see decoupling)."""
    bias, weight = ff.bias_forces(c.model, c.q, c.v), ff.gravity_forces(c.model, c.q)
    M, tau = ff.mass_matrix(c.model, c.q), ff.inverse_dynamics(c.model, c.q, c.v, c.a)
    close(M @ c.a + bias, tau, EXACT, 1, least=float(np.abs(M).max()))
    close(ff.bias_forces(c.model, c.q, np.zeros(c.model.nv)), weight, EXACT, 1)
    close(ff.bias_forces(c.model, c.q, 2.0 * c.v) - weight, 4.0 * (bias - weight), EXACT, 1)


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
def test_inverse_and_forward_dynamics_undo_each_other(c: Case) -> None:
    M, inverse = ff.mass_matrix(c.model, c.q), ff.inverse_mass_matrix(c.model, c.q)
    assert np.abs(M - M.T).max() <= 4e-16 * np.abs(M).max()  # coordinates that mimic joints share are sums, in either order
    assert np.array_equal(inverse, inverse.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    close(M @ inverse, np.eye(c.model.nv), solved(M), 2, least=0.0)
    tau = ff.inverse_dynamics(c.model, c.q, c.v, c.a)
    bias = ff.bias_forces(c.model, c.q, c.v)  # may be far larger than M a, and is rounded as it is
    close(ff.forward_dynamics(c.model, c.q, c.v, tau), c.a, solved(M), 1, least=float(np.abs(inverse @ bias).max()))
    a = ff.forward_dynamics(c.model, c.q, c.v, c.tau)
    close(ff.inverse_dynamics(c.model, c.q, c.v, a), c.tau, solved(M), 1, least=float(np.abs(bias).max()))


@few
@given(cases())
def test_momentum_and_energy_are_sums_over_links(c: Case) -> None:
    """From each link's own pose, velocity and inertia, by the textbook."""
    model, mass = c.model, 0.0
    moment, energy, spins, momenta = np.zeros(3), 0.5 * model.armature @ c.v**2, [], []
    for name in c.links:
        x = model.description.link(name).inertia
        X, V = ff.frame_pose(model, c.q, name), ff.frame_velocity(model, c.q, c.v, name, "mixed")
        R, w = X[:3, :3], V[3:]
        p, l = R @ x.com + X[:3, 3], V[:3] + np.cross(w, R @ x.com)
        spin = R @ x.rotational @ R.T @ w
        mass, moment = mass + x.mass, moment + x.mass * p
        energy += 0.5 * (x.mass * l @ l + w @ spin)
        spins.append(spin)
        momenta.append((p, x.mass * l))
    com = moment / mass
    h = np.concatenate([sum(l for _, l in momenta), sum(np.cross(p - com, l) for p, l in momenta) + sum(spins)])
    at_once = ff.all_terms(model, c.q, c.v)
    assert model.mass == pytest.approx(mass, rel=EXACT)
    close(ff.center_of_mass(model, c.q), com, EXACT, 1)
    close(ff.centroidal_momentum(model, c.q, c.v), h, EXACT, 1)
    close(ff.centroidal_momentum_matrix(model, c.q) @ c.v, h, EXACT, 1)
    close(at_once.centroidal_momentum, h, EXACT, 1)
    close(at_once.center_of_mass, com, EXACT, 1)
    close(ff.center_of_mass_velocity(model, c.q, c.v), h[:3] / mass, EXACT, 1)
    assert ff.kinetic_energy(model, c.q, c.v) == pytest.approx(energy, rel=EXACT)
    assert 0.5 * c.v @ at_once.mass_matrix @ c.v == pytest.approx(energy, rel=EXACT)
    assert ff.potential_energy(model, c.q) == pytest.approx(-mass * model.gravity @ com, rel=EXACT, abs=EXACT)
    rate = central(lambda h: ff.centroidal_momentum(c.model, moved(c, h), c.v))
    close(ff.centroidal_bias(c.model, c.q, c.v), rate, DIFFERENCED, 1, least=c.model.mass)
    along = central(lambda h: ff.center_of_mass(c.model, moved(c, h)))
    close(ff.center_of_mass_jacobian(c.model, c.q) @ c.v, along, DIFFERENCED, 1)


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
