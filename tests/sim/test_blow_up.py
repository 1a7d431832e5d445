"""Motions that blow up end before speeds that no robot has, with time, joint and cause; other robots of a batch go on."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh
from concurrent.futures import ThreadPoolExecutor
from sim_samples import check_equal

FASTEST = 1e8  # m/s or rad/s, as the page on simulation says
WAYS = {
    "compiled": {}, "semi-implicit": {"integrator": "semi-implicit"}, "explicit": {"integrator": "explicit"},
    "controller": {"inputs": lambda t, q, v: np.zeros(v.shape), "hold": True}, "law": {"inputs": lambda t, q, v: -1e-3 * v},
    "ground": {"ground": ff.sim.Ground()}, "sparse": {"ground": ff.sim.Ground(), "every": 10},
}  # fmt: skip


def thrown(rng, way, lead=(), speed=5.0):
    """A humanoid that is thrown over the ground, or an arm on a table; arguments of `simulate`."""
    model, options = ff.robots.chain(3), dict(WAYS[way])
    if "ground" in options:
        model = ff.robots.humanoid()
        options["contacts"] = ff.contacts.feet_by_name(model)
    q = np.broadcast_to(model.neutral, (*lead, model.nq)).copy()
    if "ground" in options:
        q[..., 2] = 1.2
    return {"model": model, "q": q, "v": speed * rng.standard_normal((*lead, model.nv)), "inputs": None} | options


def run_of(given, dt, count):
    every = {"every": given["every"] * dt} if "every" in given else {}
    return ff.sim.simulate(**given | every, dt=dt, duration=count * dt)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.1, 1.0])
def test_a_run_ends_where_a_speed_is_beyond_the_bound(way, dt):
    given = thrown(fresh("blow up", way), way)
    model, run = given["model"], run_of(given, dt, 100)
    assert np.isfinite(run.q).all()
    assert np.abs(run.v).max() <= FASTEST
    if dt == 1.0:
        assert run.failure is not None
    elif dt == 1e-3:
        assert run.failure is None
    if run.failure is None:
        return
    assert run.failure.startswith(f"at {run.t[-1]:.6g} s: the motion blows up")
    assert "take a shorter dt" in run.failure
    assert "no inertia" not in run.failure
    for more in (0, 1, 2, 20):  # the last of the steps of one compiled call, or in its middle
        assert len(run_of(given, dt, round(run.t[-1] / dt) + 1 + more).t) == len(run.t)
    if "ground" in given:
        assert any(repr(joint.name) in run.failure for joint in model.joints)
        return
    tau = np.zeros(model.nv) if way != "law" else -1e-3 * run.v[-1]
    _, v = ff.step(model, run.q[-1], run.v[-1], tau, dt, given.get("integrator", "rk4"))
    assert np.abs(v).max() > FASTEST
    if way != "law":
        assert repr(model.joints[int(np.abs(v).argmax())].name) in run.failure


@pytest.mark.parametrize("way", WAYS)
def test_other_robots_of_a_batch_go_on_with_the_same_bits(way):
    rng = fresh("others", way)
    given = thrown(rng, way, lead=(11,))
    given["v"][[3, 8]] = rng.choice([-1.0, 1.0], (2, given["model"].nv)) * rng.uniform(5e3, 2e4, (2, given["model"].nv))
    dt, count, others = 2e-3, 40, [0, 1, 2, 4, 5, 6, 7, 9, 10]
    run = run_of(given, dt, count)
    assert np.isfinite(run.q[:, others]).all()
    check_equal_robots(run, run_of(given | {"q": given["q"][others], "v": given["v"][others]}, dt, count), others)
    for k in (3, 8):
        assert f"robot {k}: at " in run.failure
        assert np.isnan(run.q[-1, k]).all()
        assert np.isnan(run.tau[-1, k]).all()
        alone = run_of(given | {"q": given["q"][k], "v": given["v"][k], "every": 1}, dt, count)
        ended = int(np.isnan(run.q[:, k, 0]).argmax())
        assert run.t[ended - 1] <= alone.t[-1] + 1e-12 < run.t[ended]
        assert f"at {alone.t[-1]:.6g} s: the motion blows up" in alone.failure
    with ThreadPoolExecutor(2) as executor:
        spread = run_of(given | {"executor": executor}, dt, count)
    check_equal_robots(run, spread, range(11))
    assert "of robots 0 to 7: robot 3: at " in spread.failure


def check_equal_robots(run, other, places):
    assert np.array_equal(run.t, other.t)
    for name in ("q", "v", "tau"):
        assert np.array_equal(getattr(run, name)[:, places], getattr(other, name), equal_nan=True), name
    for x, y in ((run.forces, other.forces), (run.ground, other.ground)):
        assert all(np.array_equal(x[name][:, places], y[name], equal_nan=True) for name in x)


def test_a_batch_ends_with_its_last_robot(tmp_path):
    given = thrown(fresh("last robot"), "ground", lead=(20,), speed=2e4)
    given["v"][12:] *= 0.1
    run = run_of(given, 2e-3, 200)
    assert run.failure.startswith(f"at {run.t[-1]:.6g} s: no robot is left; robot ")
    assert "12 more robots blow up" in run.failure
    assert len(run.t) < 200
    with ThreadPoolExecutor(2) as executor:
        spread = run_of(given | {"executor": executor}, 2e-3, 200)
    check_equal_robots(run, spread, range(20))
    recorded = run_of(given | {"record": tmp_path / "run"}, 2e-3, 200)
    assert recorded.failure == run.failure
    check_equal(ff.sim.load(tmp_path / "run"), run)


def test_constraints_and_huge_forces_name_their_robot_and_joint():
    model = ff.robots.humanoid()
    stance = ff.ConstraintSet(model, contacts=[ff.contacts.surface("left_sole")])
    q = np.tile(ff.robots.standing_posture(model), (3, 1))
    v = ff.project_velocity(model, q, np.diag([0.1, 0.1, 1e6]) @ fresh("set").standard_normal((3, model.nv)), constraints=stance)
    run = ff.sim.simulate(model, q, v, dt=2e-3, duration=0.02, constraints=stance)
    assert run.failure.startswith("at 0 s: robot 2: the motion blows up")
    push = np.zeros((3, 3))
    push[1, 2] = 1e20
    run = ff.sim.simulate(ff.robots.chain(3), np.zeros((3, 3)), np.zeros((3, 3)), push, dt=1e-3, duration=0.02)
    assert "robot 1: at 0 s: the motion blows up" in run.failure
    assert "forces of up to 1e+20 N or N m act: take smaller ones" in run.failure
