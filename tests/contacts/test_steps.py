"""Steps under a constraint set: batches, the run's own step, where they end, and their order."""

import freeflyer as ff
import numpy as np
import pytest
from constrained_samples import BASES, moving_robot, random_set
from dataclasses import replace
from freeflyer.contacts.constrained_dynamics import project_state
from freeflyer.dynamics.integrators import SCHEMES, steps_of
from seeds import fresh


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
