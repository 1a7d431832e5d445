"""Steps under a constraint set: batches, the run's own step, where they end, and their order."""

import freeflyer as ff
import numpy as np
import pytest
from seeds import fresh


def stance(model):
    return ff.ConstraintSet(model, contacts=ff.contacts.feet_by_name(model), locks=[model.actuated[0]])


@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit", "rk4"])
@pytest.mark.parametrize("make", [ff.robots.humanoid, lambda: ff.close_loops(ff.robots.kangaroo_like())])
def test_steps_keep_what_is_held_and_are_those_of_runs(make, integrator):
    model, rng, h = make(), fresh("constrained steps"), 2e-3
    held = stance(model)
    q = model.neutral if model.reduction else ff.robots.standing_posture(model)
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
    a = ff.constrained_dynamics(model, q, v, tau, constraints=held).a
    assert np.abs((u - v) / h - a).max() < 0.2 * (1.0 + np.abs(a).max())
