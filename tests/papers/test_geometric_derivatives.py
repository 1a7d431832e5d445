"""Tables 5 to 8 of the geometric linearisation paper: against complex steps and the compiled inverse dynamics."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, complex_slopes, fresh, rounding
from freeflyer.formulations.geometric import base_transform, cross, transform, wedge
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


def test_tables_5_to_8(point):
    expected = complex_slopes(lambda eta: point.forces(pose=point.turned(eta)), 6)
    close(geometric.derivative_by_pose(point.passed), expected, EXACT)
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
    """Complex steps through EIDAmb for digits, compiled derivatives for independence."""
    model, q, v, a = robot_and_state(base, mimics, seed)
    tree, n = geometric.tree_of(model), model.nv
    d = geometric.inverse_dynamics_derivatives(model, q, v, a)
    close(d.dq, complex_slopes(lambda u: geometric.forces_of(tree, q + 1j * rates(model, q, u.imag), v, a), n), EXACT)
    close(d.dv, complex_slopes(lambda u: geometric.forces_of(tree, q, v + u, a), n), EXACT)
    close(d.da, ff.mass_matrix(model, q), EXACT)
    for function, fields, tolerance in (("inverse_dynamics_derivatives", ("dq", "dv", "da"), 1e-12),
                                        ("forward_dynamics_derivatives", ("dq", "dv", "dtau"), solved(model, q)),
                                        ("linearize", ("A", "B", "C"), solved(model, q))):  # fmt: skip
        ours, compiled = (getattr(room, function)(model, q, v, a) for room in (geometric, ff))
        for name in fields:
            close(getattr(ours, name), getattr(compiled, name), tolerance, what=(function, name))


def test_exactly_at_the_pitch_of_ninety_degrees():
    """Where roll, pitch and yaw fail; with the base turned everywhere else, too."""
    model, q, v, a = robot_and_state("free", 0.0, 7)
    tree, s = geometric.tree_of(model), np.sqrt(0.5)
    for quaternion in ([0.0, s, 0.0, s], [0.0, -s, 0.0, s], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 0.5]):
        q[3:7] = quaternion
        expected = complex_slopes(lambda u: geometric.forces_of(tree, q + 1j * rates(model, q, u.imag), v, a), model.nv)
        close(geometric.inverse_dynamics_derivatives(model, q, v, a).dq, expected, EXACT)
