"""Equations of planar robots: identities, the kernels' numbers, and the frame that turns with the locked velocity."""

import freeflyer as ff
import numpy as np
import pytest
import sympy as sp
from closeness import close, fresh, refused
from freeflyer.symbolic import is_zero, time_derivative
from freeflyer_papers.planar.chain import PlanarRobot
from planar_cases import Case, hopper_case, planar, random_case
from scipy.integrate import quad

HOPPERS = ("prismatic_hopper", "revolute_hopper")
CASES = {**{name: name for name in HOPPERS}, "one joint": 0, "chain": 1, "tree": 2}
BOUND = 1e-12  # relative to the largest term


@pytest.fixture(params=CASES, scope="module")
def case(request) -> Case:
    which = CASES[request.param]
    if isinstance(which, str):
        return hopper_case(which)
    return random_case(which, joints=(1, 2, 3)[which], line=which != 2)


def near(found, expected, terms: float = 0.0, tolerance: float = BOUND):
    """Closeness relative to the size of the terms, which cancel in sums."""
    close(found, expected, tolerance, least=max(terms, float(np.abs(expected).max(initial=0.0)), 1e-3))


def test_equations_are_those_of_the_kernels(case):
    robot, P = case.robot, case.P
    v, a = sp.Matrix(robot.variables.velocity), sp.Matrix(robot.variables.acceleration)
    M, G = planar.mass_matrix(robot), planar.gravity_forces(robot)
    C, hamel = planar.coriolis_matrix(robot), planar.coriolis_matrix(robot, form="hamel")
    for k in range(3):
        at, x, w, acceleration = case.state(k)
        q = case.q(x)
        near(case.number(M, at), P.T @ ff.mass_matrix(case.model, q) @ P)
        near(case.number(planar.kinetic_energy(case.robot), at), np.array(ff.kinetic_energy(case.model, q, P @ w)))
        U = np.array(ff.potential_energy(case.model, q))
        near(case.number(planar.potential_energy(case.robot), at), U, 10.0 * case.model.mass)
        near(case.number(planar.center_of_mass(case.robot), at)[:, 0], ff.center_of_mass(case.model, q)[[0, 2]])
        near(case.number(G, at)[:, 0], P.T @ ff.gravity_forces(case.model, q))
        tau = ff.inverse_dynamics(case.model, q, P @ w, P @ acceleration)
        near(case.number(M * a + C * v + G, at)[:, 0], P.T @ tau, 100.0)
        theirs = P.T @ ff.coriolis_matrix(case.model, q, P @ w, form="hamel") @ P
        near(case.number(hamel, at), theirs, 10.0)
    h = case.number(planar.momentum(case.robot), at)[:, 0]
    theirs = ff.centroidal_momentum(case.model, q, P @ w)
    c = planar.Pose(0, planar.center_of_mass(case.robot))
    to_base = c.inverse @ planar.frame_pose(case.robot, "base", reference="world")
    ours = np.linalg.solve(case.number(planar.adjoint(to_base), at).T, h)
    near(ours, np.r_[theirs[0], theirs[2], -theirs[4]], 10.0)
    for frame in case.robot.frames:
        name = {"1": "foot" if "foot" in case.model.frame_names else "shank", "foot": "foot_point"}.get(frame.name, frame.name)
        X = ff.frame_pose(case.model, case.q(x), name)
        H = case.number(planar.frame_pose(case.robot, frame.name, reference="world").matrix, at)
        near(H[:2], X[np.ix_([0, 2], [0, 2, 3])])
        J = planar.twist_jacobian(planar.frame_pose(case.robot, frame.name, reference="world"), case.robot.variables)
        near(case.number(J, at), case.P[:6, :3].T @ ff.frame_jacobian(case.model, case.q(x), name) @ case.P)
    # Papers/004: passivity (Mdot = C + C^T), the two Coriolis matrices give one force (proposition 3.1.1), M Minv = 1
    assert is_zero(M - M.T)
    assert is_zero(time_derivative(M, robot.variables) - C - C.T)
    assert is_zero((C - hamel) * v)
    power = (v.T * G)[0]
    assert is_zero(time_derivative(planar.potential_energy(robot), robot.variables) - power)
    assert is_zero(time_derivative(planar.center_of_mass(robot), robot.variables) * robot.mass
                   - planar.frame_pose(robot, "base", reference="world").rotation * planar.momentum(robot)[:2, :])  # fmt: skip


@pytest.mark.parametrize("name", HOPPERS)
def test_hoppers_in_symbols(name):
    robot = getattr(planar, name)()
    assert is_zero(planar.mass_matrix(robot) * planar.inverse_mass_matrix(robot) - sp.eye(4))
    # Against `ff.robots` itself, whose planar joint has rates in the world: v = diag(R, 1, 1) v_b
    case, model = hopper_case(name), getattr(ff.robots, name)()
    at, x, v, _ = case.state()
    T = case.number(case.robot.variables.rates, at)
    near(case.number(planar.mass_matrix(case.robot), at), T.T @ ff.mass_matrix(model, x) @ T)
    near(case.number(planar.kinetic_energy(case.robot), at), np.array(ff.kinetic_energy(model, x, T @ v)))
    near(case.number(planar.gravity_forces(case.robot), at)[:, 0], T.T @ ff.gravity_forces(model, x))


def test_a_body_without_joints():
    m, I, g = sp.symbols("m I g", positive=True)
    robot = planar.robot(planar.variables(0), [], [("base", m, 0, 0, I)], gravity=g)
    assert planar.mass_matrix(robot) == sp.diag(m, m, I)
    assert is_zero(planar.coriolis_matrix(robot) * sp.Matrix(robot.variables.velocity)
                   - planar.coriolis_matrix(robot, form="hamel") * sp.Matrix(robot.variables.velocity))  # fmt: skip
    assert planar.locked_velocity_map(robot).shape == (3, 0)
    assert planar.is_integrable(robot)


m1, m2, m3, l, g = sp.symbols("m1 m2 m3 l g", positive=True)


def arm(n: int) -> PlanarRobot:
    """A base and n point masses on links of length l, hinged to one another."""
    state = planar.variables(n)
    frames = [(f"f{i}", l if i > 1 else 0, 0, q) for i, q in enumerate(state.position[3:], 1)]
    masses = [("base", m1, 0, 0, m1 * l**2), *((f"f{i}", (m2, m3)[i % 2], l, 0, 0) for i in range(1, n + 1))]
    return planar.robot(state, frames, masses, gravity=g)


@pytest.mark.slow
@pytest.mark.parametrize("k", range(2))
def test_the_map_and_its_residuals(k):
    case = random_case(10 + k, joints=2, line=bool(k))
    M, T = planar.mass_matrix(case.robot), planar.locked_velocity_map(case.robot)
    assert ff.symbolic.is_zero(M[:3, :3] * T - M[:3, 3:])
    at, x, v, _ = case.state()
    locked = v[:3] + case.number(T, at) @ v[3:]
    full = ff.mass_matrix(case.model, case.q(x))
    theirs = np.linalg.solve(full[:6, :6], full[:6] @ case.P @ v)
    close(case.P[:6, :3] @ locked, theirs, 1e-12 * np.linalg.cond(full[:6, :6]))
    # (3.72), of which (3.73) is the form on SE(2): dT_i/dq_j - dT_j/dq_i + T_i T_j - T_j T_i with 3 x 3 matrices
    case = random_case(30 + k, joints=2, line=bool(k))
    q, T = case.robot.joints, planar.locked_velocity_map(case.robot)

    def hat(column):
        vx, vy, omega = column
        return sp.Matrix([[0, -omega, vx], [omega, 0, vy], [0, 0, 0]])

    first, second = hat(T[:, 0]), hat(T[:, 1])
    expected = first.diff(q[1]) - second.diff(q[0]) + first * second - second * first
    residual = planar.integrability_residuals(case.robot)[0, 1]
    for n in range(3):
        at = case.state(n)[0]
        theirs = case.number(expected, at)
        close(case.number(hat(residual), at), theirs, 1e-11, least=1e-3)


@pytest.mark.slow
def test_integrable_robots():
    """Papers/004, lemma 3.4, in symbols: masses, lengths and angles."""
    assert all(planar.is_integrable(random_case(20 + k, joints=1).robot) for k in range(3))
    assert planar.is_integrable(planar.revolute_hopper())
    assert not planar.is_integrable(arm(2))
    residual = planar.integrability_residuals(arm(2))[0, 1]
    assert residual[2] != 0
    state = planar.variables(2)
    turn, slide = state.position[3:]
    masses = [("base", m1, 0, 0, m1 * l**2), ("a", m2, l, 0, 0), ("b", m3, 0, l, 0)]
    assert not planar.is_integrable(planar.robot(state, [("a", 0, 0, turn), ("b", slide, 0, 0)], masses, gravity=g))
    # Two prismatic joints on one line through the centre of mass turn nothing
    a, b = state.position[3:]
    masses = [("base", m1, 0, 0, m1 * l**2), ("a", m2, 0, 0, 0), ("b", m3, 0, 0, 0)]
    robot = planar.robot(state, [("a", a, 0, 0), ("b", b, 0, 0)], masses, gravity=g)
    assert planar.is_integrable(robot)
    assert planar.locked_velocity_map(robot)[2, :] == sp.zeros(1, 2)


@pytest.mark.slow
def test_residuals_and_angles():
    """d T_omega around a small square is the residual times its area (Stokes)."""
    robot = arm(2)
    T = planar.locked_velocity_map(robot)[2, :].subs({m1: 1, m2: 0.5, m3: 0.25, l: 0.5})
    r = planar.integrability_residuals(robot)[0, 1][2].subs({m1: 1, m2: 0.5, m3: 0.25, l: 0.5})
    omega = sp.lambdify(robot.joints, list(T), "math")
    x, y = map(float, fresh("square").uniform(-2, 2, 2))
    h = 1e-2
    around = (quad(lambda s: omega(s, y - h)[0] - omega(s, y + h)[0], x - h, x + h)[0]
              + quad(lambda s: omega(x + h, s)[1] - omega(x - h, s)[1], y - h, y + h)[0])  # fmt: skip
    area, expected = (2 * h) ** 2, -float(r.subs(dict(zip(robot.joints, (x, y)))))
    assert abs(around / area - expected) < 100.0 * h**2
    # Its slope is T_omega; it has no jump at half a turn; where the thesis's closed form holds, it is equal to that
    case = hopper_case("revolute_hopper")
    q = case.robot.joints[0]
    angle = planar.com_frame_angle(case.robot)
    rate = planar.locked_velocity_map(case.robot)[2, 0]
    for at in (*fresh("angle").uniform(-8.0, 8.0, 5), np.pi):
        total = quad(lambda s: float(case.number(rate, {q: s})), 0.0, at, epsabs=1e-13, epsrel=1e-13)[0]
        assert abs(float(case.number(angle, {q: at})) - total) < 1e-12
    refused(ff.InputError, "for one joint; 2 joints", lambda: planar.com_frame_angle(arm(2)))
    state = planar.variables(1)
    crooked = planar.robot(state, [("a", l, l, state.position[3])], [("base", m1, 0, 0, m1), ("a", m2, l, 0, 0)], gravity=g)
    refused(ff.InputError, "no closed form here", planar.com_frame_angle, crooked)
    with pytest.raises(ff.InputError, match="all mass is in one point"):
        planar.locked_velocity_map(planar.robot(planar.variables(0), [], [("base", m1, l, 0, 0)], gravity=g))
