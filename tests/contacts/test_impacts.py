"""Impacts: Newton's law, against dense equations and by what they do to kinetic energy."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, state
from closeness import close, fresh
from constrained_samples import BASES, moving_robot, random_set
from freeflyer import contacts
from freeflyer.contacts.steps import anchor


def dense(model: ff.Model, q: np.ndarray, v: np.ndarray, J: np.ndarray, e: float) -> np.ndarray:
    M, r = ff.mass_matrix(model, q), len(J)
    K = np.block([[M, -J.T], [J, np.zeros((r, r))]])
    return np.linalg.lstsq(K, np.concatenate([M @ v, -e * (J @ v)]), rcond=1e-13)[0]


@pytest.mark.parametrize("base", BASES)
def test_by_dense_equations(base):
    rng = fresh()
    J = np.zeros((0, 0))
    while not len(J):
        model = moving_robot(rng, 8, base=base)
        q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
        s = random_set(rng, model, q, model.nv - 1)
        J = s.jacobian(q)
    for e in (0.0, 0.4, 1.0):
        found, x = ff.impact(model, q, v, constraints=s, restitution=e), dense(model, q, v, J, e)
        close(found.v, x[: model.nv], 1e-9)
        close(found.multipliers, x[model.nv :], 1e-8)
        close(J @ found.v, -e * (J @ v), 1e-9)
        before, after = ff.kinetic_energy(model, q, v), ff.kinetic_energy(model, q, found.v)
        if e == 1.0:
            assert after == pytest.approx(before, rel=1e-8)
        else:
            assert after < before


def test_batches_closed_models_and_redundant_contacts():
    rng = fresh()
    model = ff.robots.quadruped()
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    s = ff.ConstraintSet(model, [contacts.surface(model.frame_names[4]), contacts.point(model.frame_names[8], (0.1, 0.0, 0.0))])
    found = ff.impact(model, q, v, constraints=s)
    batch = ff.impact(model, np.stack([q] * 9), v, constraints=s, restitution=0.3)
    close(batch.v[8], ff.impact(model, q, v, constraints=s, restitution=0.3).v, 1e-10)
    own = ff.impact(model, q, v, constraints=(s.jacobian(q), np.zeros(9)))
    close(own.v, found.v, 1e-9)
    model, st = ff.close_loops(robot("nested")), state(robot("nested"), rng, 0.03)
    s = ff.ConstraintSet(model, [contacts.point("l11", (0.0, 0.1, 0.2))])
    found = ff.impact(model, st.q, st.u, constraints=s, restitution=0.5)
    close(found.v, dense(model, st.q, st.u, s.jacobian(st.q), 0.5)[: model.nv], 1e-9)
    model = ff.robots.quadruped()
    q, v = ff.random_configuration(model, rng), rng.standard_normal(model.nv)
    frame = model.frame_names[5]
    twice = ff.ConstraintSet(model, [contacts.point(frame, name="a"), contacts.point(frame, name="b")])
    found = ff.impact(model, q, v, constraints=twice)
    assert found.redundant == {"a": False, "b": True}
    close(found.impulses["a"], found.impulses["b"], 1e-8)


@pytest.mark.parametrize("closed", [False, True])
def test_projections_take_the_shortest_steps_in_the_kinetic_metric(closed):
    """Rows that depend on each other, too: four corners and the sole itself. By the pseudoinverse of the whitened Jacobian; a step
    in another metric is found."""
    model, rng = ff.close_loops(ff.robots.kangaroo_like()) if closed else ff.robots.humanoid(), fresh("shortest")
    standing = ff.control.stand_on_feet(model)
    q = np.tile(standing.q, (7, 1))
    q[:, :2] += rng.normal(0.0, 0.1, (7, 2))
    moved = ff.integrate(model, q, rng.normal(0.0, 1e-7, (7, model.nv)))
    feet = standing.feet
    for held in (ff.ConstraintSet(model, contacts=feet), ff.ConstraintSet(model, contacts=[*feet, *corners(feet[0])])):
        at = anchor(held, q)
        J, M = held.jacobian(moved), ff.mass_matrix(model, moved)
        found = ff.difference(model, moved, ff.project_configuration(model, moved, constraints=at))
        root = np.linalg.cholesky(np.linalg.inv(M))
        for metric, right in ((root, True), (np.eye(model.nv), False)):
            expected = -(metric @ np.linalg.pinv(J @ metric, rcond=1e-9) @ at.residual(moved)[..., None])[..., 0]
            assert np.allclose(found, expected, rtol=1e-4, atol=1e-11) == right


def corners(foot):
    return [ff.contacts.point(foot.frame, p, name=f"corner {k}") for k, p in enumerate(foot.points)]
