"""Computed torques in decoupled velocities: the external and the internal motion, each unmoved by the other."""

from __future__ import annotations

import closed_robots
import numpy as np
import pytest
from seeds import fresh

import freeflyer as ff
from freeflyer import decoupling
from freeflyer.control import DecoupledController, MinimumJerkReference

SAME = 1e-8  # m, rad, rad/s: what the integrator leaves


def run(model: ff.Model, q: np.ndarray, v: np.ndarray, move: np.ndarray, swing: np.ndarray, start: np.ndarray) -> ff.sim.Run:
    """From q, v; references begin at the centre of mass and the joints of `start`."""
    center, joints = ff.center_of_mass(model, start), start[7:]
    controller = DecoupledController(
        model, MinimumJerkReference(center, center + move, duration=0.6),
        MinimumJerkReference(joints, joints + swing, duration=0.6), 6.0, 6.0,
    )  # fmt: skip
    found = ff.sim.simulate(
        model, q, v, controller, dt=0.02, duration=1.0, hold=False, integrator="dop853", rtol=1e-11, atol=1e-12
    )
    assert found.failure is None
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["space_manipulator", "aerial_manipulator"])
def test_each_motion_leaves_the_other(name: str) -> None:
    model = ff.robots.make(name)
    rng = fresh(name)
    n = model.nv - 6
    q = ff.integrate(model, model.neutral, np.concatenate([rng.uniform(-0.5, 0.5, 6), rng.uniform(-0.5, 0.5, n)]))
    v = np.concatenate([rng.uniform(-0.1, 0.1, 6), np.zeros(n)])
    move, swing, zero = rng.uniform(-0.3, 0.3, 3), rng.uniform(-0.8, 0.8, n), np.zeros(n)
    external, both = run(model, q, v, move, zero, q), run(model, q, v, move, swing, q)
    internal = run(model, q, np.zeros(model.nv), np.zeros(3), swing, q)

    def outside(found: ff.sim.Run) -> np.ndarray:
        spin = decoupling.external_velocity(model, found.q, found.v)[:, 3:]
        return np.hstack([ff.center_of_mass(model, found.q), spin])

    assert np.abs(outside(both) - outside(external)).max() < SAME
    assert np.abs(both.q[:, 7:] - internal.q[:, 7:]).max() < SAME
    assert np.abs(external.q[:, 7:] - q[7:]).max() < SAME
    assert np.abs(outside(internal) - outside(internal)[0]).max() < SAME
    assert np.abs(outside(external)[-1, :3] - ff.center_of_mass(model, q) - move).max() < 0.05
    assert np.abs(internal.q[-1, 7:] - q[7:] - swing).max() < 1e-4
    assert np.abs(outside(both)[0, 3:]).max() > 1e-3 > np.abs(outside(both)[-1, 3:]).max()  # the turn is damped
    base = both.q[:, :3] - external.q[:, :3]
    assert np.abs(base).max() > 1e-4  # the base does move with the joints: it is not what is regulated


def test_errors_decay_as_promised() -> None:
    """e'' + 2 w e' + w^2 e = 0: an offset e0 at rest becomes e0 (1 + w t) exp(-w t); a turn decays with exp(-2 w t)."""
    model = ff.robots.space_manipulator()
    q = ff.integrate(model, model.neutral, np.concatenate([np.zeros(6), np.full(7, 0.3)]))
    away = q.copy()
    away[:3] += [0.1, -0.2, 0.05]
    A = decoupling.frame_map(model, away, np.zeros(13)).matrix
    turn = np.linalg.solve(A, [0.0, 0.0, 0.0, 0.1, -0.05, 0.08])  # as one body, about the centre of mass
    found = run(model, away, np.concatenate([turn, np.zeros(7)]), np.zeros(3), np.zeros(7), q)
    spin = decoupling.external_velocity(model, found.q, found.v)[:, 3:]
    np.testing.assert_allclose(spin, spin[0] * np.exp(-12.0 * found.t)[:, None], atol=1e-7)
    error = ff.center_of_mass(model, found.q) - ff.center_of_mass(model, q)
    decay = (1.0 + 6.0 * found.t) * np.exp(-6.0 * found.t)
    np.testing.assert_allclose(error, error[0] * decay[:, None], atol=1e-6)


def test_closed_robots() -> None:
    model = ff.close_loops(closed_robots.robot("point"))
    q = closed_robots.state(closed_robots.robot("point"), fresh(), 0.02).q
    places = [j.iq for j in model.joints if j.nv and j.kind != "free"]
    center = ff.center_of_mass(model, q)
    controller = DecoupledController(
        model, MinimumJerkReference(center, center + 0.01, duration=0.1), MinimumJerkReference(q[places], q[places], duration=0.1)
    )
    assert controller.tau_at(0.0, q, np.zeros(model.nv)).shape == (model.nv,)
    found = ff.sim.simulate(model, q, np.zeros(model.nv), controller, dt=0.01, duration=0.1, hold=False)
    assert np.abs(found.q[:, places] - q[places]).max() < 1e-6


def test_bad_input() -> None:
    model = ff.robots.space_manipulator()
    center = MinimumJerkReference(np.zeros(3), np.ones(3), duration=1.0)
    joints = MinimumJerkReference(np.zeros(7), np.ones(7), duration=1.0)
    for arguments, words in (
        ((None, center, joints), "model"), ((model, joints, joints), "center"), ((model, center, center), "posture"),
        ((model, np.zeros(3), joints), "center must be a freeflyer R"), ((model, center, joints, 0.0), "external_bandwidth"),
        ((model, center, joints, 1.0, np.inf), "internal_bandwidth"), ((model, center, joints, 1.0, 1.0, [0.0]), "spin"),
    ):  # fmt: skip
        with pytest.raises(ff.InputError, match=words):
            DecoupledController(*arguments)
    arm = ff.robots.chain(3)
    with pytest.raises(ff.InputError):
        DecoupledController(arm, center, MinimumJerkReference(np.zeros(3), np.ones(3), duration=1.0))
