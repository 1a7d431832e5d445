"""The projected equations of motion against dense algebra on the tree's own, and their identities. Velocities, Jacobians,
momentum and moves in independent velocities, against differences along the assembled motion."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import State, reference, robot, robots, shared, state
from closeness import STEP, close, close_to_rate, fresh, refused
from collections.abc import Callable
from freeflyer.tolerances import WARNING_GAP

SHARED = ("kangaroo", "cassie", "five_bar", "battobot")


def check_equations(model: ff.Model, amplitude: float) -> None:
    """M_p, h_p, inverse and forward dynamics, gravity, energy, wrenches: all against G and gamma of dense solves."""
    rng = fresh(1)
    s = state(model, rng, amplitude)
    r = reference(model, s)
    M = ff.mass_matrix(model, s.q)
    M_p = r.G.T @ M @ r.G
    bias = r.G.T @ (ff.bias_forces(model, s.q, r.v) + M @ r.gamma)
    close(ff.mass_matrix(ff.close_loops(model), s.q), M_p, 1e-11)
    close(ff.inverse_mass_matrix(ff.close_loops(model), s.q) @ M_p, np.eye(len(s.u)), 1e-8)
    close(ff.bias_forces(ff.close_loops(model), s.q, s.u), bias, 1e-11)
    close(ff.gravity_forces(ff.close_loops(model), s.q), r.G.T @ ff.gravity_forces(model, s.q), 1e-11)
    tau = M_p @ s.u_dot + bias
    close(ff.inverse_dynamics(ff.close_loops(model), s.q, s.u, s.u_dot), tau, 1e-11)
    close(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, tau), s.u_dot, 1e-8)
    close(ff.kinetic_energy(ff.close_loops(model), s.q, s.u), 0.5 * s.u @ M_p @ s.u, 1e-11)
    wrench = {model.frame_names[-1]: rng.standard_normal(6), model.link_names[-1]: rng.standard_normal(6)}
    push = sum(ff.frame_jacobian(model, s.q, f).T @ w for f, w in wrench.items())
    close(ff.inverse_dynamics(ff.close_loops(model), s.q, s.u, s.u_dot, external=wrench), tau - r.G.T @ push, 1e-11)
    close(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, tau - r.G.T @ push, external=wrench), s.u_dot, 1e-8)
    there = np.array([1.0, -2.0, 0.5])
    h = r.G.T @ (ff.bias_forces(model, s.q, r.v, gravity=there) + M @ r.gamma)
    close(ff.bias_forces(ff.close_loops(model), s.q, s.u, gravity=there), h, 1e-11)
    C = ff.coriolis_matrix(ff.close_loops(model), s.q, s.u)
    close(C @ s.u, bias - ff.gravity_forces(ff.close_loops(model), s.q), 1e-10)
    J = ff.linkages.constraint_jacobian(model, s.q)
    assert np.abs(J @ r.G).max() < 1e-4 * max(
        1.0, np.abs(r.G).max()
    )  # the redundant rows follow as closely as the file closes


@pytest.mark.parametrize("name", robots())
def test_projection_agrees_with_dense_algebra(name: str) -> None:
    check_equations(robot(name), 0.04)
    model = ff.close_loops(robot(name))
    s = state(model.tree, fresh(2), 0.04)
    C = ff.coriolis_matrix(model, s.q, s.u)
    close_to_rate(C + C.T, lambda t: ff.mass_matrix(model, ff.integrate(model, s.q, t * s.u)), 2e-4, 1e-7)


@pytest.mark.parametrize("name", SHARED)
def test_projection_of_shared_robots_agrees_with_dense_algebra(name: str, models_folder) -> None:
    check_equations(shared(models_folder, name), 0.003)


def test_without_loops_both_coordinates_are_one() -> None:
    model = ff.robots.humanoid()
    rng = fresh(4)
    q, v, a = ff.random_configuration(model, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)
    assert np.array_equal(ff.mass_matrix(ff.close_loops(model), q), ff.mass_matrix(model, q))
    assert np.array_equal(ff.inverse_dynamics(ff.close_loops(model), q, v, a), ff.inverse_dynamics(model, q, v, a))
    assert np.array_equal(ff.integrate(ff.close_loops(model), q, v), ff.integrate(model, q, v))


PARTIAL = ("weld", "slider", "held")  # a ball joint is independent in some of its coordinates, which make no position


def check_rate(rate: np.ndarray, f: Callable[[np.ndarray, np.ndarray], np.ndarray], model: ff.Model, s: State) -> None:
    """That of f(q, u) on a smooth motion through (q, u, u_dot)."""
    closed = ff.close_loops(model)

    def along(t: float) -> np.ndarray:
        return f(ff.integrate(closed, s.q, t * s.u + 0.5 * t * t * s.u_dot), s.u + t * s.u_dot)

    close_to_rate(rate, along, STEP, 1e-7)


@pytest.mark.parametrize("name", robots())
def test_frames_and_momentum(name: str) -> None:
    model = robot(name)
    s = state(model, fresh(6), 0.04)
    r = reference(model, s)
    frame = model.frame_names[-1]
    for expressed in ("body", "mixed", "world"):
        J = ff.frame_jacobian(model, s.q, frame, expressed)
        close(ff.frame_jacobian(ff.close_loops(model), s.q, frame, expressed), J @ r.G, 1e-11)
        close(ff.frame_velocity(ff.close_loops(model), s.q, s.u, frame, expressed), J @ r.v, 1e-11)
        bias = ff.frame_bias_acceleration(ff.close_loops(model), s.q, s.u, frame, expressed)
        rate = ff.frame_jacobian(ff.close_loops(model), s.q, frame, expressed) @ s.u_dot + bias
        check_rate(rate, lambda q, u, e=expressed: ff.frame_velocity(ff.close_loops(model), q, u, frame, e), model, s)
    A = ff.centroidal_momentum_matrix(ff.close_loops(model), s.q)
    close(A, ff.centroidal_momentum_matrix(model, s.q) @ r.G, 1e-11)
    close(ff.centroidal_momentum(ff.close_loops(model), s.q, s.u), A @ s.u, 1e-11)
    close(ff.center_of_mass_jacobian(ff.close_loops(model), s.q), A[:3] / model.mass, 1e-11)
    rate = A @ s.u_dot + ff.centroidal_bias(ff.close_loops(model), s.q, s.u)
    check_rate(rate, lambda q, u: ff.centroidal_momentum(ff.close_loops(model), q, u), model, s)


@pytest.mark.parametrize("name", robots())
def test_integrate_moves_the_independent_joints_and_keeps_the_loops_closed(name: str) -> None:
    model = robot(name)
    rng = fresh(7)
    s = state(model, rng, 0.04)
    du = 0.04 * rng.uniform(-1.0, 1.0, len(s.u))
    q = ff.integrate(ff.close_loops(model), s.q, du)
    assert np.abs(ff.linkages.constraint_residual(model, q)).max() < 1e-11
    if name not in PARTIAL:
        close(ff.difference(ff.close_loops(model), s.q, q), du, 1e-12)
    r = reference(model, s)
    close_to_rate(r.v, lambda t: ff.difference(model, s.q, ff.integrate(ff.close_loops(model), s.q, t * s.u)), STEP, 1e-8)


def test_kangaroo_moves_over_its_strokes(models_folder) -> None:
    model = shared(models_folder, "kangaroo")
    rng = fresh(8)
    for _ in range(5):
        open_by = np.abs(ff.linkages.constraint_residual(model, state(model, rng, 0.004).q))
        assert open_by[ff.linkages.partition(model).rows].max() < 1e-9
        assert open_by.max() < WARNING_GAP  # what redundant rows stay open by is the digits of the file


@pytest.mark.parametrize("name", ["frame_jacobian", "centroidal_momentum_matrix"])
def test_results_are_written_into_arrays_that_fit_alone(name: str) -> None:
    closed = ff.close_loops(ff.robots.kangaroo_like())
    q, arguments = closed.neutral, (closed.frame_names[-1],) if name == "frame_jacobian" else ()
    function, shape = getattr(ff, name), (6, closed.nv)
    wanted, out = function(closed, q, *arguments), np.zeros(shape)
    assert function(closed, q, *arguments, out=out) is out
    assert np.array_equal(out, wanted)
    fixed = np.zeros(shape)
    fixed.setflags(write=False)
    for wrong in (np.zeros((2, *shape)), np.zeros((*shape, 1)), np.zeros(shape, np.float32), np.zeros(shape[::-1]).T, fixed, [0.0]):
        before = np.array(wrong)
        refused(ff.InputError, "out must be", function, closed, q, *arguments, out=wrong)
        assert np.array_equal(wrong, before)
