"""Postures and velocities brought back to a set."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused

FEET = ("front_left_foot", "front_right_foot", "rear_left_foot", "rear_right_foot")


def robots() -> list[tuple[ff.Model, ff.ConstraintSet, float]]:
    """(model, its set held at the neutral posture, how far states lie off it)"""
    quadruped, humanoid, closed = ff.robots.quadruped(), ff.robots.humanoid(), ff.close_loops(ff.robots.kangaroo_like())
    return [
        (quadruped, ff.ConstraintSet(quadruped, contacts=list(map(ff.contacts.point, FEET))), 0.05),
        (humanoid, ff.ConstraintSet(humanoid, contacts=[ff.contacts.surface("left_sole")], locks=["neck_yaw"]), 0.05),
        (closed, ff.ConstraintSet(closed, contacts=[ff.contacts.surface("left_sole")]), 0.003),
        (closed.tree, ff.ConstraintSet(closed.tree, contacts=[ff.contacts.surface("left_sole")]), 0.003),
    ]


@pytest.mark.parametrize("k", range(4))
def test_states_come_back(k: int) -> None:
    model, free, far = robots()[k]
    q0, rng = ff.neutral(ff.close_loops(model)), fresh()
    stance = free.anchored(q0)
    q = ff.integrate(model, q0, far * rng.uniform(-1.0, 1.0, (3, model.nv)))
    assert np.abs(stance.residual(q)).max() > 1e-4
    found = ff.project_configuration(model, q, constraints=stance)
    assert found.shape == q.shape
    assert np.abs(stance.residual(found)).max() < 1e-9
    assert np.abs(ff.difference(model, q, found)).max() < 20.0 * far
    assert np.array_equal(ff.project_configuration(model, found, constraints=stance), found)
    v = rng.standard_normal((3, model.nv))
    held = ff.project_velocity(model, found, v, constraints=stance)
    J, M = stance.jacobian(found), ff.mass_matrix(model, found)
    assert np.abs(np.einsum("bij,bj->bi", J, held)).max() < 1e-9 * np.abs(J).max() * np.abs(v).max()
    left = np.einsum("bij,bj->bi", M, v - held)  # momentum that only the rows can take
    rest = left - np.einsum("bij,bj->bi", J.swapaxes(-1, -2) @ np.linalg.pinv(J.swapaxes(-1, -2)), left)
    assert np.abs(rest).max() < 1e-8 * np.abs(left).max()


def test_what_cannot_be_is_refused() -> None:
    model, free, _ = robots()[0]
    q = ff.neutral(model)
    refused(ff.InputError, "held nowhere", ff.project_configuration, model, q, constraints=free)
    refused(ff.InputError, "ConstraintSet", ff.project_velocity, model, q, np.zeros(18), constraints=(np.eye(18), np.zeros(18)))
    far = np.eye(4)
    far[:3, 3] = 9.0, 9.0, 9.0
    there = ff.ConstraintSet(model, contacts=[ff.contacts.point(FEET[0], at=far), ff.contacts.point(FEET[1], at=np.eye(4))])
    with pytest.raises((ff.linkages.AssemblyError, ff.InputError), match=r"no configuration near|contradict"):
        ff.project_configuration(model, q, constraints=there)
