"""Equivalent inertia and angular momentum, against the forces that accelerate and the momentum that moves."""

import freeflyer as ff
import numpy as np
import pytest
from freeflyer_papers.kangaroo.comparison import angular_momentum, cartesian_inertia
from seeds import fresh

SOLE, LENGTH = "left_sole", "left_length_motor"


@pytest.fixture(scope="module")
def model():
    return ff.robots.kangaroo_like()


@pytest.fixture(scope="module")
def bent(model):
    return ff.linkages.follow(model, LENGTH, np.linspace(0.0, 0.05, 6)).q[-1]


def test_inertia_is_wrench_over_acceleration(model, bent):
    """A robot at rest, base held: Lagrange's equations with multipliers on *all* loop rows, no projection."""
    leg = ff.linkages.extract_limb(model, SOLE, bent)
    q = ff.linkages.extract_configuration(leg, model, bent)
    J, Jl, M = ff.frame_jacobian(leg, q, SOLE, expressed="mixed"), ff.linkages.constraint_jacobian(leg, q), ff.mass_matrix(leg, q)
    system = np.block([[M, Jl.T], [Jl, np.zeros((len(Jl), len(Jl)))]])
    right = np.vstack([J.T, np.zeros((len(Jl), 6))])
    acceleration = J @ np.linalg.solve(system, right)[: leg.nv]
    found = cartesian_inertia(model, SOLE, bent, epsilon=0.0)
    np.testing.assert_allclose(found.Lambda @ acceleration, np.eye(6), atol=1e-7)
    np.testing.assert_allclose(found.columns, np.linalg.norm(np.linalg.inv(acceleration), axis=0), rtol=1e-7)
    exact, soft = (cartesian_inertia(model, SOLE, bent, epsilon=e).Lambda for e in (0.0, 0.1))
    np.testing.assert_allclose(np.linalg.inv(soft) - np.linalg.inv(exact), 0.1 * np.eye(6), atol=1e-7)
    moved = bent.copy()
    moved[:7] = [3.0, -2.0, 1.0, 0.0, 0.0, np.sin(0.4), np.cos(0.4)]
    one, two = (cartesian_inertia(model, SOLE, q).Lambda for q in (bent, moved))
    np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(angular_momentum(model, bent).columns, angular_momentum(model, moved).columns, rtol=1e-9)
    # A v for a velocity that keeps the loops closed: centroidal momentum of the whole tree
    split = ff.linkages.partition(model, bent)
    rng = fresh(3)
    v = np.zeros(model.nv)
    v[split.independent] = rng.normal(size=len(split.independent))
    J = ff.linkages.constraint_jacobian(model, bent)[split.rows]
    v[split.dependent] = -np.linalg.solve(J[:, split.dependent], J @ v)
    momentum = ff.centroidal_momentum(model, bent, v)[3:]
    np.testing.assert_allclose(angular_momentum(model, bent).A @ v[split.independent], momentum, rtol=1e-9, atol=1e-9)


def test_trees_work_too():
    """The last link of a free pendulum with six joints: J M^-1 J^T by hand."""
    arm = ff.robots.humanoid()
    q = ff.robots.standing_posture(arm)
    leg = ff.linkages.extract_limb(arm, SOLE, q)
    x = ff.linkages.extract_configuration(leg, arm, q)
    J = ff.frame_jacobian(leg, x, SOLE, expressed="mixed")
    expected = np.linalg.inv(J @ ff.inverse_mass_matrix(leg, x) @ J.T + 1e-5 * np.eye(6))
    np.testing.assert_allclose(cartesian_inertia(arm, SOLE, q).Lambda, expected, rtol=1e-8)
