"""Equations of planar robots: the identities that define them, and the kernels' numbers."""

import freeflyer as ff
import numpy as np
import pytest
import sympy as sp
from closeness import close
from freeflyer.symbolic import is_zero, time_derivative
from planar_cases import Case, hopper_case, planar, random_case

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
    for k in range(3):
        at, x, v, _ = case.state(k)
        q, P = case.q(x), case.P
        near(case.number(planar.mass_matrix(case.robot), at), P.T @ ff.mass_matrix(case.model, q) @ P)
        near(case.number(planar.kinetic_energy(case.robot), at), np.array(ff.kinetic_energy(case.model, q, P @ v)))
        U = np.array(ff.potential_energy(case.model, q))
        near(case.number(planar.potential_energy(case.robot), at), U, 10.0 * case.model.mass)
        near(case.number(planar.center_of_mass(case.robot), at)[:, 0], ff.center_of_mass(case.model, q)[[0, 2]])
    robot = case.robot
    v, a = sp.Matrix(robot.variables.velocity), sp.Matrix(robot.variables.acceleration)
    C, G = planar.coriolis_matrix(robot), planar.gravity_forces(robot)
    for k in range(3):
        at, x, w, acceleration = case.state(k)
        q, P = case.q(x), case.P
        near(case.number(G, at)[:, 0], P.T @ ff.gravity_forces(case.model, q))
        tau = ff.inverse_dynamics(case.model, q, P @ w, P @ acceleration)
        near(case.number(planar.mass_matrix(robot) * a + C * v + G, at)[:, 0], P.T @ tau, 100.0)
    C = planar.coriolis_matrix(case.robot, form="hamel")
    for k in range(3):
        at, x, v, _ = case.state(k)
        theirs = case.P.T @ ff.coriolis_matrix(case.model, case.q(x), case.P @ v, form="hamel") @ case.P
        near(case.number(C, at), theirs, 10.0)
    at, x, v, _ = case.state()
    q, h = case.q(x), case.number(planar.momentum(case.robot), at)[:, 0]
    theirs = ff.centroidal_momentum(case.model, q, case.P @ v)
    c = planar.Pose(0, planar.center_of_mass(case.robot))
    to_base = c.inverse @ planar.frame_pose(case.robot, "base", reference="world")
    ours = np.linalg.solve(case.number(planar.adjoint(to_base), at).T, h)
    near(ours, np.r_[theirs[0], theirs[2], -theirs[4]], 10.0)
    at, x, _, _ = case.state()
    for frame in case.robot.frames:
        name = {"1": "foot" if "foot" in case.model.frame_names else "shank", "foot": "foot_point"}.get(frame.name, frame.name)
        X = ff.frame_pose(case.model, case.q(x), name)
        H = case.number(planar.frame_pose(case.robot, frame.name, reference="world").matrix, at)
        near(H[:2], X[np.ix_([0, 2], [0, 2, 3])])
        J = planar.twist_jacobian(planar.frame_pose(case.robot, frame.name, reference="world"), case.robot.variables)
        near(case.number(J, at), case.P[:6, :3].T @ ff.frame_jacobian(case.model, case.q(x), name) @ case.P)
    # Papers/004: passivity (Mdot = C + C^T), the two Coriolis matrices give one force (proposition 3.1.1), M Minv = 1
    M, C, v = planar.mass_matrix(robot), planar.coriolis_matrix(robot), sp.Matrix(robot.variables.velocity)
    assert is_zero(M - M.T)
    assert is_zero(time_derivative(M, robot.variables) - C - C.T)
    assert is_zero((C - planar.coriolis_matrix(robot, form="hamel")) * v)
    power = (v.T * planar.gravity_forces(robot))[0]
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


def test_equations_hold_all_of_it():
    robot = planar.revolute_hopper()
    e = planar.equations(robot)
    assert e.mass_matrix == planar.mass_matrix(robot)
    assert e.coriolis_matrix == planar.coriolis_matrix(robot)
    assert e.momentum == planar.momentum(robot)
    assert e.center_of_mass == planar.center_of_mass(robot)
    assert is_zero(e.mass_matrix_rate - e.coriolis_matrix - e.coriolis_matrix.T)
    m, I, g = sp.symbols("m I g", positive=True)
    robot = planar.robot(planar.variables(0), [], [("base", m, 0, 0, I)], gravity=g)
    assert planar.mass_matrix(robot) == sp.diag(m, m, I)
    assert is_zero(planar.coriolis_matrix(robot) * sp.Matrix(robot.variables.velocity)
                   - planar.coriolis_matrix(robot, form="hamel") * sp.Matrix(robot.variables.velocity))  # fmt: skip
    assert planar.locked_velocity_map(robot).shape == (3, 0)
    assert planar.is_integrable(robot)
