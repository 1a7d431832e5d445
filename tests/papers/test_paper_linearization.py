"""Geometric linearisation paper reproduced: its requirements, Tables 5 to 9."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import close, complex_slopes, fresh, refused, rounding
from collections import Counter
from freeflyer.formulations.geometric import base_transform, cross, transform, wedge
from freeflyer_papers import linearization
from freeflyer_papers.linearization import requirements, robot
from freeflyer_papers.linearization.tables import pictures, tables
from freeflyer_papers.printed import geometric
from tangent import CASES, rates, robot_and_state, solved, state
from whole import briefly, check_tables

MODEL = robot.branched_robot()
STATE = robot.perturbed_state(MODEL)


@pytest.fixture(scope="module")
def result():
    """All of it, but on small chains."""
    small, said = {"SIZES": (3, 6, 24), "LARGEST_TABLES": 6, "BLOCKS": 3, "BLOCK_SECONDS": 1e-3, "COUNTED_SIZES": (2, 4, 6, 8)}, []
    made = briefly(lambda _: linearization.compute(lambda _, what: said.append(what)),
        *((requirements, name, value) for name, value in small.items()))  # fmt: skip
    assert len(said) >= 5
    return made


def test_exact_derivatives():
    kinds = Counter(j.kind for j in MODEL.joints)
    assert set(kinds) == {"free", "revolute", "prismatic", "helical"}
    children = Counter(j.parent for j in MODEL.joints)
    assert max(children.values()) >= 3  # branched, at the base and further out
    assert sum(n > 1 for n in children.values()) >= 3
    assert MODEL.nv == 16
    np.testing.assert_array_equal(STATE.q[7:], 0.3)
    assert np.linalg.norm(STATE.v[:6]) > 0.5
    np.testing.assert_allclose(ff.forward_dynamics(MODEL, STATE.q, STATE.v, STATE.tau), STATE.a, atol=1e-11)
    d = ff.inverse_dynamics_derivatives(MODEL, STATE.q, STATE.v, STATE.a)
    for mine, theirs in zip((d.dq, d.dv, d.da), robot.by_complex_steps("rnea", MODEL, STATE.q, STATE.v, STATE.a), strict=True):
        assert robot.distance(mine, theirs) < 1e-13
    for mine, theirs in zip((d.dq, d.dv, d.da), requirements.differences(MODEL, STATE.q, STATE.v, STATE.a), strict=True):
        np.testing.assert_allclose(theirs, mine, atol=1e-5)


def test_the_result(result):
    assert {c.requirement for c in result.checks} == {"SF", "MB", "RF", "ED"}
    for name in ("SF", "MB", "RF", "ED"):
        ours = [c for c in result.checks if c.requirement == name and c.bound is not None]
        assert ours
        assert all(c.holds for c in ours), ours
    assert sum(c.holds is None for c in result.checks) == 5
    assert result.exact_error < 1e-12
    # Only roll, pitch and yaw are singular; only the two algorithms are exact; the compiled one needs fewest operations
    assert [a.singularity_free for a in result.approaches] == [True, True, True, False]
    assert [a.exact for a in result.approaches] == [True, True, False, False]
    assert all(a.base < 1e-7 for a in result.approaches)
    assert result.approaches[1].operations == min(a.operations for a in result.approaches)
    upright = np.abs(result.sweep.pitch) == np.pi / 2
    assert upright.sum() == 2
    assert np.all(result.sweep.condition[upright] > 1e12)
    assert np.all(result.sweep.condition[~upright] < 100.0)
    assert np.all(result.sweep.error < 1e-12)
    # First order one-sided, second order central; round-off over the step
    one_sided, central = result.differences
    for d, order, smallest in ((one_sided, 1.0, 1e-9), (central, 2.0, 1e-12)):
        assert (d.delta[0], d.delta[-1]) == (pytest.approx(1e-1), pytest.approx(1e-12))
        assert (d.fall, d.rise) == (pytest.approx(order, abs=0.05), pytest.approx(-1.0, abs=0.1))
        assert 10 < d.best < len(d.delta) - 10
        assert np.all(d.average <= d.maximal)
        assert smallest < d.maximal[d.best] < 1e-3 * min(d.maximal[0], d.maximal[-1])
    assert central.maximal[central.best] < 0.1 * one_sided.maximal[one_sided.best]
    assert central.delta[central.best] > one_sided.delta[one_sided.best]
    assert result.exact_error < 1e-3 * central.maximal[central.best]
    assert result.prediction.order == pytest.approx(2.0, abs=0.05)
    assert np.all(np.diff(result.prediction.remainder) < 0.0)
    # Linear and quadratic exactly; the printed way to the base's rows costs more, and ever more
    bodies = np.array([c.bodies for c in result.counts])
    assert np.ptp(np.diff([c.eidamb_as_printed for c in result.counts], 2)) == 0.0
    assert all(c.eidamb_as_printed > c.eidamb for c in result.counts)
    assert np.ptp(np.diff([c.eidamb for c in result.counts]) / np.diff(bodies)) == 0.0
    ratio = [c.by_shape_through_wrenches / c.by_shape for c in result.counts]
    assert np.all(np.diff(ratio) > 0.0)
    comparison = next(c for c in result.checks if c.requirement == "RF" and c.holds is None)
    assert comparison.value > 1.0
    assert [c.bodies for c in result.costs] == [3, 6, 24]
    assert all(c.compiled > 0.0 and c.differences > 0.0 for c in result.costs)
    assert [c.tables is None for c in result.costs] == [False, False, True]
    assert requirements.exponent(result.costs, "compiled") is None  # a single size is no slope
    assert ff.get_threads() >= 1
    zeroth, first, second, third, fourth = tables(result)
    assert (len(zeroth.rows), len(first.rows)) == (len(result.approaches), len(result.checks))
    assert (len(second.rows), len(third.rows), len(fourth.rows)) == (3, len(result.counts), len(result.costs))
    check_tables((zeroth, first, second, third, fourth))
    drawn = pictures(result)
    assert set(drawn) == set(linearization.REPRODUCTION.captions)
    assert set(drawn) == {"fig4_robot", "table1_requirements", "fig5_differences", "cost"}
    curves = [
        line
        for line in drawn["fig5_differences"].axes[0].lines
        if len(line.get_xdata()) == len(result.differences[0].delta)
    ]
    np.testing.assert_array_equal(curves[0].get_ydata(), result.differences[0].maximal)
    assert len(curves) == 4


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

    def forces(self, q=0.0, r=0.0, pose=None, body_twist=None) -> np.ndarray:
        pose = self.pose if pose is None else pose
        inertial = self.twist if body_twist is None else transform(pose[:3, :3], pose[:3, 3]) @ body_twist
        e = geometric.eidamb(self.tree, self.q + q, self.r + r, self.rdot, pose, inertial, self.a)
        return np.concatenate([e.tau_base, e.tau])

    def turned(self, eta: np.ndarray) -> np.ndarray:
        """H exp(hat(eta)) for a complex step eta, of which only the first order counts."""
        return self.pose @ (np.eye(4) + 1j * ff.spatial.se3.hat(eta.imag))


@pytest.fixture(params=TREES, ids=str, scope="module")
def point(request):
    return Point(*request.param)


def test_tables_5_to_8(point):
    e, v = point.passed, point.body_twist
    inertial, body = geometric.derivative_by_pose(e), geometric.derivative_by_pose(e, held="body")
    by_velocity = geometric.derivative_by_base_velocity(e)
    close(inertial, complex_slopes(lambda eta: point.forces(pose=point.turned(eta)), 6), EXACT)
    close(body, complex_slopes(lambda eta: point.forces(pose=point.turned(eta), body_twist=v), 6), EXACT)
    close(by_velocity, complex_slopes(lambda u: point.forces(body_twist=v + u), 6), EXACT)
    assert np.abs(inertial - body).max() > 1.0
    close(geometric.pose_derivative_with_inertial_twist(body, by_velocity, v), inertial, EXACT)
    close(geometric.pose_derivative_with_inertial_twist(inertial, -by_velocity, v), body, EXACT)
    # In inertial quantities; the cross products of the code are the same matrices
    R, o = e.X[0][:3, :3], point.pose[:3, 3]
    for inertial, body in ((point.twist, e.v[0]), (point.tree.gravity, e.a_r[0])):
        linear, angular = inertial[:3], inertial[3:]
        corner = R @ wedge(angular) @ R.T
        right = R @ wedge(linear - wedge(o) @ angular) @ R.T
        printed = np.block([[corner, right], [np.zeros((3, 3)), corner]])
        close(cross(body), printed, EXACT)
    # Both readings; complex steps where columns are coordinates (mimic joints: see the library's coordinates below)
    long, short = (geometric.derivative_by_shape(e, through_wrenches=x) for x in (True, False))
    close(long, short, EXACT)
    if not point.model.shared_coordinates:
        expected = complex_slopes(lambda u: point.forces(q=column_step(point, u)), point.tree.n_joint_columns)
        close(long, expected, EXACT)
    expected = complex_slopes(lambda u: point.forces(r=u), point.tree.n_joint_columns)
    close(geometric.derivative_by_joint_velocity(e), expected, EXACT)


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


def test_joints_that_move_nothing_are_named():
    links = (ff.Link("body", ff.Inertia(1.0, np.zeros(3), np.eye(3))), ff.Link("flag"))
    joints = (ff.Joint("root", "free", "world", "body"), ff.Joint("pole", "revolute", "body", "flag"))
    model = ff.build(ff.Description("flagship", links, joints))
    q = ff.neutral(model)
    refused(ff.InputError, "'pole'", geometric.inverse_mass_matrix, model, q)
    refused(ff.InputError, "'pole'", geometric.forward_dynamics_derivatives, model, q, np.zeros(7), np.zeros(7))
    rotor = ff.Joint("pole", "revolute", "body", "flag", armature=(0.01,))
    model = ff.build(ff.Description("flagship", links, (joints[0], rotor)))
    assert geometric.inverse_mass_matrix(model, q)[6, 6] == pytest.approx(ff.inverse_mass_matrix(model, q)[6, 6], rel=1e-12)
    # Finger tips without mass, turning with the knuckle: the tree's mass matrix has no inverse, the robot's has
    solid = ff.Inertia(1.0, np.array([0.1, 0.2, 0.0]), 0.1 * np.eye(3))
    links = (ff.Link("hand", solid), ff.Link("knuckle", solid), ff.Link("tip"), ff.Link("nail"))
    joints = (ff.Joint("root", "free", "world", "hand"),
              ff.Joint("lead", "revolute", "hand", "knuckle"),
              ff.Joint("follow", "prismatic", "knuckle", "tip", mimic=ff.Mimic("lead", -0.5, 0.1)),
              ff.Joint("follow_too", "revolute", "tip", "nail", mimic=ff.Mimic("lead", 2.0)))  # fmt: skip
    model = ff.build(ff.Description("finger", links, joints))
    q, v, tau = state(model, fresh(3))
    close(geometric.inverse_mass_matrix(model, q), np.linalg.inv(ff.mass_matrix(model, q)), solved(model, q))
    ours, compiled = (geometric.forward_dynamics_derivatives(model, q, v, tau),
                      ff.forward_dynamics_derivatives(model, q, v, tau))  # fmt: skip
    close(ours.dq, compiled.dq, solved(model, q))
    close(ours.dv, compiled.dv, solved(model, q))
    model = ff.build(ff.Description("ghost", (ff.Link("ghost"),), (ff.Joint("root", "free", "world", "ghost"),)))
    refused(ff.InputError, "'root'", lambda: geometric.inverse_mass_matrix(model, ff.neutral(model)))
    # Base first, then the joints' columns; the columns below the base, which the print leaves empty, are filled
    model, q, _, _ = robot_and_state("free", 0.0, 1)
    tree = geometric.tree_of(model)
    ours = geometric.immamb(tree, q)
    close(ours, np.linalg.inv(ff.mass_matrix(model, q)), solved(model, q))
    assert np.abs(ours[6:, :6]).max() > 1e-3
