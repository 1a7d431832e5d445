"""Simulations that cannot go well: the reason in words with time, joint and cause, and the run so far kept."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused

UPRIGHT = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
LATE = 0.02  # s
WAYS = {"ground": {"ground": True}, "compiled": {"hold": True}, "rk4": {}, "rk45": {"integrator": "rk45"},
        "batch": {"hold": True, "lead": 3}, "batch on ground": {"ground": True, "lead": 3}}  # fmt: skip


def standing(inputs=None, dt=1e-3, duration=0.05, ground=None, lead=0, friction=0.8, **options):
    model = ff.robots.humanoid()
    q = ff.robots.standing_posture(model)
    if ground:
        options |= {"ground": ff.sim.Ground(friction=friction), "contacts": ff.contacts.feet_by_name(model)}
    q = np.tile(q, (lead, 1)) if lead else q
    return model, ff.sim.simulate(model, q, np.zeros(model.nv), inputs, dt=dt, duration=duration, **options)


def block(foot_mass: float, lower: float = -1.0) -> ff.Model:
    foot = ff.Link("foot", ff.Inertia(foot_mass)) if foot_mass else ff.Link("foot")
    links = ff.Link("body", ff.Inertia(1.0, rotational=np.diag([0.1] * 3))), foot
    ankle = ff.Joint("ankle", "prismatic", "body", "foot", lower=(lower,), upper=(1.0,))
    joints = ff.Joint("base", "free", "world", "body"), ankle
    return ff.build(ff.Description("block", links, joints))


def on_ground(model, q, v=None, dt=1e-3, **ground):
    v = np.zeros(model.nv) if v is None else v
    return ff.sim.simulate(model, q, v, dt=dt, duration=0.05, ground=ff.sim.Ground(**ground), contacts=ff.contacts.point("foot"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e140])
def test_a_controller_that_goes_wrong_ends_the_run_with_its_joint(way, value):
    options = WAYS[way]

    def inputs(t, q, v):
        tau = np.zeros(v.shape)
        tau[..., -3] = value if t > LATE + 1e-9 else 0.0
        return tau

    if value == 1e140 and way in ("rk4", "rk45"):
        pytest.skip("these evaluate the law within a step")
    model, run = standing(inputs, **options)
    joint = next(j.name for j in model.joints if j.iv == model.nv - 3)
    assert run.failure.startswith("at 0.02")
    assert repr(joint) in run.failure
    assert 20 <= len(run.t) <= 22
    assert np.isfinite(run.q).all()
    reference = standing(**options)[1]
    assert np.allclose(run.q[:20], reference.q[:20], rtol=0.0, atol=1e-12)
    if not np.isfinite(value):
        assert f"is {value}: every entry must be finite" in run.failure


def test_a_start_below_the_ground_or_with_endless_forces_is_refused():
    with pytest.raises(ff.InputError, match="inputs"):
        standing(lambda t, q, v: np.full(v.shape, np.inf))
    model = block(0.1)
    q = np.r_[UPRIGHT, 0.0]
    sunk = q - 0.01 * np.eye(8)[2]
    refused(ff.InputError, r"the robot begins 0.01 m below the ground: lift it", on_ground, model, sunk)
    refused(ff.InputError, r"robot \[1\] begins 0.01 m below the ground", lambda: on_ground(model, np.stack([q, sunk, q])))
    with pytest.raises(ff.InputError, match=r"robot \[2\] begins 1 m below the ground"):
        on_ground(model, np.stack([q] * 3), height=[0.0, 0.0, 1.0])
    with pytest.raises(ff.InputError, match=r"joint .ankle. of the robot begins 0.5 .* beyond its limit"):
        on_ground(block(0.1, lower=-0.5), np.r_[UPRIGHT, -1.0] + 5.0 * np.eye(8)[2])
    run = on_ground(model, q - 5e-4 * np.eye(8)[2])  # less than a millimetre: comes out
    assert run.ground["penetration"][-1] < 1e-5


@pytest.mark.parametrize("friction", [1e4, 1e12, 1e40])
def test_huge_friction_sticks(friction):
    run = standing(ground=True, friction=friction, lead=0)[1]
    assert run.failure is None
    assert run.ground["residual"].max() < 1e-8
    v = np.r_[1.0, np.zeros(6)]
    stuck = on_ground(block(0.1), np.r_[UPRIGHT, 0.0], v, friction=friction)
    assert stuck.ground["residual"].max() < 1e-8
    assert abs(ff.frame_velocity(block(0.1), stuck.q[0], stuck.v[1], "foot", "mixed")[0]) < 1e-9
    refused(ff.InputError, "friction must be", lambda: on_ground(block(0.1), np.r_[UPRIGHT, 0.0], friction=np.inf))


def test_feet_without_mass_are_named():
    with pytest.raises(ff.InputError, match="joint 'ankle' moves no inertia") as caught:
        on_ground(block(0.0), np.r_[UPRIGHT, 0.0])
    assert "dt" not in str(caught.value)
    run = on_ground(block(1e-9), np.r_[UPRIGHT, 0.0])
    assert run.failure is None
