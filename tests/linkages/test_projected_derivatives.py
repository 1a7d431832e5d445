"""Exact derivatives of the projected dynamics against central differences of the assembled motion; linearisation."""

import freeflyer as ff
import numpy as np
import pytest
from closed_robots import State, robot, robots, shared, state
from closeness import close, close_to_differences, close_to_rate, close_to_slopes, fresh, rounding, slopes
from freeflyer import close_loops
from freeflyer.dynamics.closed import project_forces


def check(model: ff.Model, s: State, h: float, tolerance: float, wrenches: dict[str, np.ndarray] | None = None,
          **loads: object) -> None:  # fmt: skip
    given, model = loads, ff.close_loops(model)
    d = ff.inverse_dynamics_derivatives(model, s.q, s.u, s.u_dot, external=wrenches, **given)

    def moved(e: np.ndarray) -> np.ndarray:
        return ff.inverse_dynamics(model, ff.integrate(model, s.q, e), s.u, s.u_dot, external=wrenches, **given)

    close_to_slopes(d.dq, moved, h, tolerance)
    close_to_slopes(d.dv, lambda e: ff.inverse_dynamics(model, s.q, s.u + e, s.u_dot, external=wrenches, **given), 1e-3, 1e-9)
    close(d.da, ff.mass_matrix(model, s.q), 1e-12)


@pytest.mark.parametrize("expressed", ["body", "mixed", "world"])
@pytest.mark.parametrize("name", ["point", "nested", "weld"])
def test_loads_of_closed_linkages(name: str, expressed: str) -> None:
    """Wrenches act through the tree's Jacobians and the map of velocities; gravity is another model's."""
    model, rng = robot(name), fresh(12)
    s, g, frame = state(model, rng, 0.02), rng.standard_normal(3), model.link_names[-2]
    w, loads = 10.0 * rng.standard_normal(6), {"expressed": expressed, "gravity": g}
    check(model, s, 2e-4, 1e-8, {frame: w}, **loads)
    other, n = ff.with_gravity(model, g), len(s.u)
    forces = project_forces(close_loops(model), s.q, ff.frame_jacobian(model, s.q, frame, expressed=expressed).T @ w)
    tau = ff.inverse_dynamics(ff.close_loops(other), s.q, s.u, s.u_dot) - forces
    close(ff.inverse_dynamics(ff.close_loops(model), s.q, s.u, s.u_dot, external={frame: w}, **loads), tau, 1e-11)
    bias = ff.bias_forces(ff.close_loops(other), s.q, s.u) - forces
    close(ff.bias_forces(ff.close_loops(model), s.q, s.u, external={frame: w}, **loads), bias, 1e-11)
    close(ff.gravity_forces(ff.close_loops(model), s.q, gravity=g), ff.gravity_forces(ff.close_loops(other), s.q), 1e-11)
    close(ff.forward_dynamics(ff.close_loops(model), s.q, s.u, tau, external={frame: w}, **loads), s.u_dot, 1e-9)
    d = ff.forward_dynamics_derivatives(ff.close_loops(model), s.q, s.u, tau, external={frame: w}, **loads)
    line = ff.linearize(ff.close_loops(model), s.q, s.u, tau, external={frame: w}, **loads)
    close(line.A[n:, :n], d.dq, 1e-12)
    close(line.B[n:], d.dtau, 1e-12)


@pytest.mark.parametrize(("name", "steps", "tolerances"), [
    ("kangaroo", (2e-5, 2e-5), (1e-6, 1e-6)), ("cassie", (1e-4, 3e-3), (1e-8, 1e-6)), ("battobot", (1e-3, 1e-4), (1e-8, 1e-7)),
])  # fmt: skip
def test_derivatives_of_shared_robots(name: str, steps: tuple[float, ...], tolerances: tuple[float, ...], models_folder) -> None:
    """Kangaroo's strokes of 2 cm need short steps, and its file closes redundant loops to 1e-8 only."""
    tree, rng = shared(models_folder, name), fresh(18)
    s, model = state(tree, rng, 0.002), ff.close_loops(tree)
    check(tree, s, steps[0], tolerances[0])
    tau = rng.standard_normal(len(s.u))
    d = ff.forward_dynamics_derivatives(model, s.q, s.u, tau)
    close_to_slopes(d.dq, lambda e: ff.forward_dynamics(model, ff.integrate(model, s.q, e), s.u, tau), steps[1], tolerances[1])
    close_to_slopes(d.dv, lambda e: ff.forward_dynamics(model, s.q, s.u + e, tau), 1e-2, 1e-8)


@pytest.mark.parametrize("name", ["weld", "nested", "coupled", "turn"])
def test_derivative_of_projected_forces(name: str) -> None:
    """G^T tau at fixed tau: what torques in passive joints are worth at the motors."""
    from freeflyer.dynamics.closed import run
    from freeflyer.kernels import entries as E

    model = robot(name)
    rng = fresh(12)
    s, tau, p = state(model, rng, 0.02), rng.standard_normal(model.nv), close_loops(model)
    exact = run(E.PROJECTED_FORCE_DERIVATIVES, p, (s.q, tau), ("q", "tau"))
    close_to_slopes(exact, lambda e: project_forces(p, ff.integrate(ff.close_loops(model), s.q, e), tau), 2e-4, 1e-8)


@pytest.mark.parametrize("name", robots())
def test_linearised_rates(name: str) -> None:
    """x = [eta; du] a short time later, by a step of order four, is (1 + A t + ..) x + B t dtau: difference of flows over time."""
    model = robot(name)
    rng = fresh(13)
    s, h = state(model, rng, 0.02), 2e-4
    tau, n = rng.standard_normal(len(s.u)), len(s.u)
    lin = ff.linearize(ff.close_loops(model), s.q, s.u, tau)
    assert lin.A.shape == (2 * n, 2 * n)
    assert lin.B.shape == (2 * n, n)

    def flow(x: np.ndarray, time: float) -> np.ndarray:
        q1, u1 = ff.step(ff.close_loops(model), ff.integrate(ff.close_loops(model), s.q, x[:n]), s.u + x[n:], tau, abs(time), "rk4")
        q0, u0 = ff.step(ff.close_loops(model), s.q, s.u, tau, abs(time), "rk4")
        return np.concatenate([ff.difference(ff.close_loops(model), q0, q1), u1 - u0])

    if (
        name == "slider"
    ):  # its ball joint is independent in part, so that its coordinates make no position: rates of u only
        rows = slice(n, None)
    else:
        rows = slice(None)

    def rate(t: float) -> np.ndarray:
        later, much_later = (slopes(lambda x, time=k * t: flow(x, time), 2 * n, h) - np.eye(2 * n) for k in (1.0, 2.0))
        return (4.0 * later - much_later)[rows] / (2.0 * t)

    close_to_differences(lin.A[rows], rate, 1e-4, 5e-7)


@pytest.mark.parametrize("name", ["point", "nested", "coupled", "weld", "slider", "held"])
@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_linearised_steps(name: str, integrator: str) -> None:
    model = robot(name)
    rng = fresh(14)
    s, t = state(model, rng, 0.02), 0.01
    tau, n = rng.standard_normal(len(s.u)), len(s.u)
    lin = ff.linearize(ff.close_loops(model), s.q, s.u, tau, dt=t, integrator=integrator)
    q0, u0 = ff.step(ff.close_loops(model), s.q, s.u, tau, t, integrator)

    def flow(x: np.ndarray) -> np.ndarray:
        start = ff.integrate(ff.close_loops(model), s.q, x[:n]), s.u + x[n : 2 * n], tau + x[2 * n :]
        q1, u1 = ff.step(ff.close_loops(model), *start, t, integrator)
        return np.concatenate([ff.difference(ff.close_loops(model), q0, q1), u1 - u0])

    close_to_slopes(np.hstack([lin.A, lin.B]), flow, 4e-4, 1e-8)


@pytest.mark.parametrize("integrator", ["explicit", "semi-implicit", "rk4"])
def test_linearised_steps_of_cassie(integrator: str, models_folder) -> None:
    """Its rods hang between balls: independent in one coordinate of three. One state, and the same within a batch."""
    model = ff.load(models_folder / "cassie/cassie.xml")
    rng, t = fresh(15), 2e-3
    n = len(ff.linkages.partition(model).independent)
    q = ff.integrate(ff.close_loops(model), ff.linkages.partition(model).q, 0.05 * rng.standard_normal(n))
    q = np.stack([q, ff.integrate(ff.close_loops(model), q, 0.05 * rng.standard_normal(n))])
    u, tau = 0.3 * rng.standard_normal((2, n)), rng.standard_normal((2, n))
    direction = rng.standard_normal(3 * n) / np.sqrt(3 * n)
    both = ff.linearize(ff.close_loops(model), q, u, tau, dt=t, integrator=integrator)
    one = ff.linearize(ff.close_loops(model), q[1], u[1], tau[1], dt=t, integrator=integrator)
    close(both.A[1], one.A, rounding(4500, ff.linkages.partition(model, q[1]).condition))
    q0, u0 = ff.step(ff.close_loops(model), q[1], u[1], tau[1], t, integrator)

    def flow(x: float) -> np.ndarray:
        d = x * direction
        start = ff.integrate(ff.close_loops(model), q[1], d[:n]), u[1] + d[n : 2 * n], tau[1] + d[2 * n :]
        q1, u1 = ff.step(ff.close_loops(model), *start, t, integrator)
        return np.concatenate([ff.difference(ff.close_loops(model), q0, q1), u1 - u0])

    close_to_rate(np.hstack([one.A, one.B]) @ direction, flow, 1e-3, 1e-7)
