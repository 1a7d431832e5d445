"""Impacts by Newton's law, against dense equations and by what they do to kinetic energy; projections and steps under a
constraint set: batches, the run's own step, where they end, and their order."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import robot, state
from closeness import close, fresh
from constrained_samples import BASES, kkt, moving_robot, random_set
from dataclasses import replace
from freeflyer import contacts
from freeflyer.contacts.constrained_dynamics import project_state
from freeflyer.contacts.steps import anchor
from freeflyer.dynamics.integrators import SCHEMES, steps_of


def dense(model: ff.Model, q: np.ndarray, v: np.ndarray, J: np.ndarray, e: float) -> tuple[np.ndarray, np.ndarray]:
    """(velocity, impulses) after the impact."""
    M = ff.mass_matrix(model, q)
    return kkt(M, np.zeros(model.nv), J, e * (J @ v), M @ v)


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
        found, (expected, impulses) = ff.impact(model, q, v, constraints=s, restitution=e), dense(model, q, v, J, e)
        close(found.v, expected, 1e-9)
        close(found.multipliers, impulses, 1e-8)
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
    close(found.v, dense(model, st.q, st.u, s.jacobian(st.q), 0.5)[0], 1e-9)
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


def stance(model):
    return ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model), locks=[model.actuated[0]])


@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit", "rk4"])
@pytest.mark.parametrize("make", [ff.robots.humanoid, ff.robots.kangaroo_like, lambda: ff.close_loops(ff.robots.kangaroo_like())])
def test_steps_keep_what_is_held_and_are_those_of_runs(make, integrator):
    model, rng, h = make(), fresh("constrained steps"), 2e-3
    held = stance(model)
    q = model.neutral if model.tree.loops else ff.robots.standing_posture(model)
    q = np.stack([q, q])
    v = ff.project_velocity(model, q, rng.normal(0.0, 0.2, (2, model.nv)), constraints=held)
    tau = rng.normal(0.0, 1.0, (2, model.nv))
    x, u = ff.step(model, q, v, tau, h, integrator, constraints=held)
    assert np.abs(held.anchored(q[0]).residual(x)).max() < 1e-10
    assert np.abs(held.jacobian(x) @ u[..., None]).max() < 1e-10
    run = ff.sim.simulate(model, q, v, tau, dt=h, duration=h, constraints=held, integrator=integrator)
    assert np.array_equal(run.q[-1], x)
    assert np.array_equal(run.v[-1], u)
    for k in range(2):
        one = ff.step(model, q[k], v[k], tau[k], h, integrator, constraints=held)
        assert np.abs(one[0] - x[k]).max() < 1e-12
    scheme, anchored = SCHEMES[integrator], held.anchored(q[0])

    def rates(x, y, _):
        return ff.constrained_dynamics(model, x, y, tau, constraints=anchored).a

    plain = scheme(rates, steps_of(model, scheme), q, v, h)
    plain = project_state(model, *plain, anchored)  # the scheme in Python, by other compiled functions
    assert np.abs(ff.difference(model.tree, plain[0], x)).max() < 1e-12
    assert np.abs(plain[1] - u).max() < 1e-9 * (1.0 + np.abs(v).max())
    assert held.names == tuple(run.forces)
    forces = ff.constrained_dynamics(model, q, v, tau, constraints=anchored).forces
    assert all(np.allclose(run.forces[name][0], F, rtol=1e-8, atol=1e-8) for name, F in forces.items())


@pytest.mark.parametrize("base", BASES)
def test_drift_is_removed_as_by_dense_steps(base):
    """Random contacts of all kinds, locks and rolling bodies; the last row of a batch alone, too."""
    rng, fixed, held = fresh("drift"), *[ff.ConstraintSet(ff.robots.chain(1))] * 2
    while not ((fixed.contacts or fixed.locks) and held.rolling):
        model = moving_robot(rng, 8, base=base)
        q = ff.random_configuration(model, rng)
        held = random_set(rng, model, q, model.nv - 1).anchored(q)
        fixed = replace(held, rolling=())
    near = ff.integrate(model, q, rng.normal(0.0, 1e-3, (9, model.nv)))
    near[3] = q
    v = rng.standard_normal((9, model.nv))
    found, u = project_state(model, near, v, held)
    assert np.abs(fixed.residual(found)).max() < 1e-10
    assert np.array_equal(found[3], q)  # what is there stays, whatever its neighbours do
    x = near
    for _ in range(6):
        root = np.linalg.cholesky(np.linalg.inv(ff.mass_matrix(model, x)))
        step = root @ np.linalg.pinv(fixed.jacobian(x) @ root, rcond=1e-9) @ fixed.residual(x)[..., None]
        x = ff.integrate(model, x, -step[..., 0])
    assert np.abs(ff.difference(model, x, found)).max() < 1e-8
    assert np.abs(u - ff.impact(model, found, v, constraints=held).v).max() < 1e-9 * np.abs(v).max()
    alone = project_state(model, near[8], v[8], held)
    assert max(np.abs(alone[0] - found[8]).max(), np.abs(alone[1] - u[8]).max()) < 1e-9
