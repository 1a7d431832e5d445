"""A short run of each kind that the library makes."""

import freeflyer as ff
import numpy as np
from functools import cache


@cache
def control_run():
    return ff.control.run_scenario("squat", "humanoid", duration=0.1)


@cache
def free_flight() -> ff.sim.Run:
    model = ff.robots.make("space_manipulator")
    v = np.linspace(0.1, 0.5, model.nv)
    return ff.sim.simulate(model, model.neutral, v, dt=5e-3, duration=0.2)


@cache
def quadruped() -> ff.sim.Run:
    """On four point feet on a ground, at rest."""
    model = ff.robots.quadruped()
    q = ff.robots.standing_posture(model)
    feet = [ff.contacts.point(name) for name in model.frame_names if name.endswith("_foot")]

    def hold(t: float, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(6), 400.0 * (q - x)[7:] - 20.0 * v[6:]])

    return ff.sim.simulate(model, q, np.zeros(model.nv), hold, dt=2e-3, duration=0.1, ground=ff.sim.Ground(), contacts=feet)


@cache
def batch() -> ff.sim.Run:
    model = ff.robots.chain(3)
    q = np.linspace(-1.0, 1.0, 20)[:, None] * np.ones(3)
    return ff.sim.simulate(model, q, np.zeros((20, 3)), dt=5e-3, duration=0.2)


@cache
def regulated() -> ff.sim.Run:
    model = ff.robots.chain(2)
    regulator = ff.control.lqr(model, np.array([0.1, 0.0]))
    return ff.sim.simulate(model, [0.3, 0.2], [0.0, 0.0], regulator, dt=5e-3, duration=0.2)


@cache
def closed() -> ff.sim.Run:
    model = ff.close_loops(ff.robots.kangaroo_like())
    return ff.sim.simulate(model, model.neutral, np.zeros(model.nv), dt=2e-3, duration=0.02)


@cache
def hopping():
    from freeflyer_papers.hopping import hop

    return hop("prismatic-II", duration=0.6)


KINDS = {f.__name__: f for f in (control_run, free_flight, quadruped, batch, regulated, closed, hopping)}
