"""Kangaroo paper, eqs. (7), (8), (11)-(18) for batches: what one state gives, row by row, with leading axes that broadcast."""

from __future__ import annotations

import numpy as np
import pytest
from kangaroo_leg import leg
from seeds import fresh

import freeflyer as ff
from freeflyer.errors import InputError
from freeflyer.linkages import (
    LinkageError,
    constraint_jacobian,
    constraint_multipliers,
    dependent_accelerations,
    dependent_velocities,
    expand_motion,
    mapping_jacobian,
    partition,
    reduce_forces,
    sweep,
)

RNG = fresh(0)


@pytest.fixture(scope="module")
def states():
    model = leg()
    q = sweep(model, {"left_length_motor": [0.02, 0.06, 0.1], "left_yaw_motor": [0.0, 0.01]}).q
    u, u_dot = 0.1 * RNG.standard_normal((2, 3, 2, 6))
    v, a = expand_motion(model, q, u, u_dot)
    return model, q, u, u_dot, v, a, RNG.standard_normal((2, model.nv))


def same(many, one) -> None:
    """Row [2, 1] of a (3, 2) batch."""
    assert many.shape[:2] == (3, 2)
    np.testing.assert_allclose(many[2, 1], one, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(one).max()))


def test_motion_of_passive_joints(states):
    model, q, u, u_dot, *_ = states
    same(mapping_jacobian(model, q), mapping_jacobian(model, q[2, 1]))
    same(dependent_velocities(model, q, u), dependent_velocities(model, q[2, 1], u[2, 1]))
    same(dependent_accelerations(model, q, u, u_dot), dependent_accelerations(model, q[2, 1], u[2, 1], u_dot[2, 1]))


def test_multipliers_and_forces(states):
    """tau has one leading axis less than q: it is shared by the rows of the batch."""
    model, q, _, _, v, a, tau = states
    same(constraint_multipliers(model, q, v, a=a), constraint_multipliers(model, q[2, 1], v[2, 1], a=a[2, 1]))
    same(constraint_multipliers(model, q, v, tau=tau), constraint_multipliers(model, q[2, 1], v[2, 1], tau=tau[1]))
    same(reduce_forces(model, q, tau), reduce_forces(model, q[2, 1], tau[1]))
    loops = ff.ConstraintSet(model)
    found = ff.constrained_dynamics(model, q, v, tau, constraints=loops).a
    same(found, ff.constrained_dynamics(model, q[2, 1], v[2, 1], tau[1], constraints=loops).a)
    J = constraint_jacobian(model, q)[..., partition(model).rows, :]
    again = ff.constrained_dynamics(model, q, v, 0.0 * tau, constraints=loops).a
    assert np.abs(np.einsum("...ij,...j->...i", J, found - again)).max() < 1e-7 * np.abs(found - again).max()


def test_batches_that_do_not_fit(states):
    model, q, _, _, v, _, tau = states
    with pytest.raises(InputError, match="batch"):
        constraint_multipliers(model, q, v, tau=np.stack([tau[0]] * 5))


@pytest.mark.parametrize("count", [2, 3000])
def test_a_slow_state_that_opens_the_loops_is_found_beside_fast_ones(states, count):
    """Each state by its own size: 1e-3 is nothing beside the fast states' 1e6, and 1000 times too much for the slow one."""
    model, q, _, _, v, *_ = states
    Q, V = np.tile(q[0, 0], (count, 1)), np.tile(1e6 * v[0, 0], (count, 1))
    assert constraint_multipliers(model, Q, V, tau=0.0 * V).shape[0] == count
    V[1] = v[0, 0]
    V[1, partition(model).dependent[0]] += 1e-3
    with pytest.raises(LinkageError, match=r"does not keep the loops closed.* up to 0\.001"):
        constraint_multipliers(model, Q, V, tau=0.0 * V)
