"""Motors are as strong as the robot is heavy: arms hold themselves in any posture, legs carry the body standing."""

import numpy as np
import pytest
from seeds import fresh

import freeflyer as ff
from freeflyer import robots


@pytest.mark.parametrize("name", ["holonomic_manipulator", "aerial_manipulator"])
def test_arms_hold_themselves_in_any_posture(name):
    model = robots.make(name)
    arm = [model.joint(n) for n in model.actuated if n.startswith("arm_joint")]
    rng = fresh(0)
    load = np.zeros(model.nv)
    for _ in range(300):
        q = model.neutral.copy()
        q[[j.iq for j in arm]] = rng.uniform(-2.9, 2.9, len(arm))
        load = np.maximum(load, np.abs(ff.gravity_forces(model, q)))
    columns = [j.iv for j in arm]
    share = load[columns] / model.effort_limit[columns]
    assert (share < 0.9).all()
    assert share.max() > 0.2  # nor are they out of proportion


@pytest.mark.parametrize(("name", "feet"), [("humanoid", 2), ("quadruped", 4)])
def test_legs_carry_the_body_standing(name, feet):
    model = robots.make(name)
    q = robots.standing_posture(model, 0.8)
    sites = ("left_sole", "right_sole") if name == "humanoid" else tuple(
        f"{leg}_foot" for leg in ("front_left", "front_right", "rear_left", "rear_right")
    )  # fmt: skip
    torque = ff.gravity_forces(model, q)
    for site in sites:
        J = ff.frame_jacobian(model, q, site, expressed="mixed")
        torque = torque - J[2] * model.mass * 9.81 / feet
    legs = slice(6, 18)
    assert torque[2] == pytest.approx(0.0, abs=1e-9)  # the ground carries the weight
    assert (np.abs(torque[legs]) < 0.5 * model.effort_limit[legs]).all()
    assert (np.abs(torque[legs]) / model.effort_limit[legs]).max() > 0.1
