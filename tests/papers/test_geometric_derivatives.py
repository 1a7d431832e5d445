"""Tables 5 to 8 of the geometric linearisation paper: against complex steps, the compiled inverse dynamics, and Pinocchio."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import STEP, central, close, close_to_slopes, complex_slopes, fresh, rounding
from freeflyer.formulations.geometric.eidamb import base_transform
from freeflyer.formulations.geometric.tree import cross, transform, wedge
from freeflyer_papers.printed import geometric
from geometric_cases import CASES, rates, robot_and_state, solved

EXACT = rounding(450)  # of robots of eight joints
TREES = [("free", 0.0, 1), ("free", 0.4, 2), ("fixed", 0.0, 3)]


class Point:
    """A state in EIDAmb's own variables, and the algorithm at states beside it."""

    def __init__(self, base: str, mimics: float, seed: int) -> None:
        model, self.q, _, _ = robot_and_state(base, mimics, seed)
        self.model, self.tree = model, geometric.tree_of(model)
        n, rng = self.tree.n_joint_columns, fresh(seed)
        self.r, self.rdot = rng.standard_normal((2, n))
        self.a = rng.standard_normal(6)
        self.pose = ff.spatial.se3.exp(rng.standard_normal(6))
        self.twist = rng.standard_normal(6)  # inertial
        self.X = base_transform(self.pose)
        self.body_twist = self.X @ self.twist
        self.passed = geometric.eidamb(self.tree, self.q, self.r, self.rdot, self.pose, self.twist, self.a)

    def forces(self, q=0.0, r=0.0, pose=None, twist=0.0, body_twist=None) -> np.ndarray:
        pose = self.pose if pose is None else pose
        inertial = self.twist + twist if body_twist is None else transform(pose[:3, :3], pose[:3, 3]) @ body_twist
        e = geometric.eidamb(self.tree, self.q + q, self.r + r, self.rdot, pose, inertial, self.a)
        return np.concatenate([e.tau_base, e.tau])

    def turned(self, eta: np.ndarray) -> np.ndarray:
        """H exp(hat(eta)) for a complex step eta, of which only the first order counts."""
        return self.pose @ (np.eye(4) + 1j * ff.spatial.se3.hat(eta.imag))


@pytest.fixture(params=TREES, ids=str, scope="module")
def point(request):
    return Point(*request.param)


def test_table_5_with_the_inertial_twist_held(point):
    expected = complex_slopes(lambda eta: point.forces(pose=point.turned(eta)), 6)
    close(geometric.derivative_by_pose(point.passed), expected, EXACT)


def test_tables_5_to_8(point):
    expected = complex_slopes(lambda eta: point.forces(pose=point.turned(eta), body_twist=point.body_twist), 6)
    close(geometric.derivative_by_pose(point.passed, held="body"), expected, EXACT)
    e, v = point.passed, point.body_twist
    inertial, body = geometric.derivative_by_pose(e), geometric.derivative_by_pose(e, held="body")
    by_velocity = geometric.derivative_by_base_velocity(e)
    assert np.abs(inertial - body).max() > 1.0
    close(geometric.pose_derivative_with_inertial_twist(body, by_velocity, v), inertial, EXACT)
    close(geometric.pose_derivative_with_body_twist(inertial, by_velocity, v), body, EXACT)
    # In inertial quantities; the cross products of the code are the same matrices
    e = point.passed
    R, o = e.X[0][:3, :3], point.pose[:3, 3]
    for inertial, body in ((point.twist, e.v[0]), (point.tree.gravity, e.a_r[0])):
        linear, angular = inertial[:3], inertial[3:]
        corner = R @ wedge(angular) @ R.T
        right = R @ wedge(linear - wedge(o) @ angular) @ R.T
        printed = np.block([[corner, right], [np.zeros((3, 3)), corner]])
        close(cross(body), printed, EXACT)
    # Both readings; complex steps where columns are coordinates (mimic joints: see the library's coordinates below)
    long, short = (geometric.derivative_by_shape(point.passed, through_wrenches=x) for x in (True, False))
    close(long, short, EXACT)
    if not point.model.shared_coordinates:
        expected = complex_slopes(lambda u: point.forces(q=column_step(point, u)), point.tree.n_joint_columns)
        close(long, expected, EXACT)
    body = complex_slopes(lambda u: point.forces(body_twist=point.body_twist + u), 6)
    inertial = complex_slopes(lambda u: point.forces(twist=u), 6)
    ours = geometric.derivative_by_base_velocity(point.passed)
    close(ours, body, EXACT)
    close(geometric.derivative_by_inertial_twist(ours, point.X), inertial, EXACT)
    expected = complex_slopes(lambda u: point.forces(r=u), point.tree.n_joint_columns)
    close(geometric.derivative_by_joint_velocity(point.passed), expected, EXACT)


def column_step(point: Point, step: np.ndarray) -> np.ndarray:
    """The step of q that a complex step of the joint columns makes, where these are velocity coordinates."""
    base = 6 * point.tree.moving
    v = np.concatenate([np.zeros(base), step.imag])
    return 1j * rates(point.model, point.q, v)


@pytest.mark.parametrize(("base", "mimics", "seed"), CASES)
def test_in_the_library_s_coordinates(base, mimics, seed):
    """Complex steps through EIDAmb for digits, differences of the compiled inverse dynamics for independence."""
    model, q, v, a = robot_and_state(base, mimics, seed)
    tree, n = geometric.tree_of(model), model.nv
    d = geometric.inverse_dynamics_derivatives(model, q, v, a)
    close(d.dq, complex_slopes(lambda u: geometric.forces_of(tree, q + 1j * rates(model, q, u.imag), v, a), n), EXACT)
    close(d.dv, complex_slopes(lambda u: geometric.forces_of(tree, q, v + u, a), n), EXACT)
    close(d.da, ff.mass_matrix(model, q), EXACT)
    close_to_slopes(d.dq, lambda u: ff.inverse_dynamics(model, ff.integrate(model, q, u), v, a), STEP, 1e-9)
    close_to_slopes(d.dv, lambda u: ff.inverse_dynamics(model, q, v + u, a), STEP, 1e-9)
    ours, compiled = (geometric.inverse_dynamics_derivatives(model, q, v, a),
                      ff.inverse_dynamics_derivatives(model, q, v, a))  # fmt: skip
    for name in ("dq", "dv", "da"):
        close(getattr(ours, name), getattr(compiled, name), 1e-12)
    ours, compiled = (geometric.forward_dynamics_derivatives(model, q, v, a),
                      ff.forward_dynamics_derivatives(model, q, v, a))  # fmt: skip
    for name in ("dq", "dv", "dtau"):
        close(getattr(ours, name), getattr(compiled, name), solved(model, q))
    ours, compiled = geometric.linearize(model, q, v, a), ff.linearize(model, q, v, a)
    for name in ("A", "B", "C"):
        close(getattr(ours, name), getattr(compiled, name), solved(model, q))


@pytest.mark.peers
@pytest.mark.parametrize(("base", "mimics", "seed"), CASES)
def test_equals_pinocchio(base, mimics, seed):
    pin = pytest.importorskip("pinocchio")
    from peers import armature_forces
    from pin_built import built

    model, q, v, a = robot_and_state(base, mimics, seed)
    p = built(model)
    rotors, rates_of_rotors = armature_forces(p.model, p.spread @ v)
    G, m, data = p.spread, p.model, p.data
    d = geometric.inverse_dynamics_derivatives(model, q, v, a)
    dq, dv, _ = pin.computeRNEADerivatives(m, data, p.q(q), G @ v, G @ a)
    close(d.dq, G.T @ dq @ G, 1e-12)
    close(d.dv, G.T @ (dv + rates_of_rotors) @ G, 1e-12)
    if mimics:
        return
    d = geometric.forward_dynamics_derivatives(model, q, v, a)
    B = np.linalg.inv(G)
    dq, dv, dtau = pin.computeABADerivatives(m, data, p.q(q), G @ v, B.T @ a - rotors)
    close(d.dq, B @ dq @ G, solved(model, q))
    close(d.dv, B @ (dv - dtau @ rates_of_rotors) @ G, solved(model, q))
    close(d.dtau, B @ dtau @ B.T, solved(model, q))


def test_exactly_at_the_pitch_of_ninety_degrees():
    """Where roll, pitch and yaw fail; with the base turned everywhere else, too."""
    model, q, v, a = robot_and_state("free", 0.0, 7)
    tree, s = geometric.tree_of(model), np.sqrt(0.5)
    for quaternion in (
        [0.0, s, 0.0, s],
        [0.0, -s, 0.0, s],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.5, 0.5, 0.5, 0.5],
    ):
        q[3:7] = quaternion
        expected = complex_slopes(lambda u: geometric.forces_of(tree, q + 1j * rates(model, q, u.imag), v, a), model.nv)
        close(geometric.inverse_dynamics_derivatives(model, q, v, a).dq, expected, EXACT)


@pytest.mark.parametrize(("base", "mimics", "seed"), CASES[:6])
def test_linearisation_of_forward_dynamics(base, mimics, seed):
    """The columns of A and B beside the motion of a neighbour: positions by the manifold's own maps."""
    model, q, v, tau = robot_and_state(base, mimics, seed)
    L, n = geometric.linearize(model, q, v, tau), model.nv
    assert L.A.shape == (2 * n, 2 * n)
    assert L.B.shape == (2 * n, n)

    def drift(eta: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """Rate of the error between a state and its neighbour, each moving with its own velocity."""
        start = ff.integrate(model, q, eta)

        def error(t: float) -> np.ndarray:
            return ff.difference(model, ff.integrate(model, q, t * v), ff.integrate(model, start, t * (v + dv)))

        return central(error, 1e-3)

    zero = np.zeros(n)
    close_to_slopes(L.A[:n, :n], lambda u: drift(u, zero), STEP, 1e-7)
    close_to_slopes(L.A[:n, n:], lambda u: drift(zero, u), STEP, 1e-7)
    close_to_slopes(L.A[n:, :n], lambda u: ff.forward_dynamics(model, ff.integrate(model, q, u), v, tau), STEP, 1e-6)
    close_to_slopes(L.A[n:, n:], lambda u: ff.forward_dynamics(model, q, v + u, tau), STEP, 1e-6)
    close_to_slopes(L.B[n:], lambda u: ff.forward_dynamics(model, q, v, tau + u), 1.0, 1e-9)
    assert not L.B[:n].any()
