"""The projected equations of motion against dense algebra on the tree's own, and their identities."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import reference, robot, robots, shared, state
from closeness import close, close_to_rate, fresh

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
