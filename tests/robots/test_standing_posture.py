"""The posture to start a legged robot in: feet flat on the ground, hips above them, knees bent as given."""

import numpy as np
import pytest

import freeflyer as ff
from freeflyer import robots
from freeflyer.errors import InputError

MAKERS = {"humanoid": robots.humanoid, "quadruped": robots.quadruped}
LEGS = {"humanoid": ("left", "right"), "quadruped": ("front_left", "front_right", "rear_left", "rear_right")}


@pytest.mark.parametrize("knee", [0.0, 0.6, 1.7])
def test_humanoid_soles_are_flat_on_the_ground_below_the_hips(knee):
    model = robots.humanoid()
    q = robots.standing_posture(model, knee)
    for side, y in (("left", 0.10), ("right", -0.10)):
        sole = ff.frame_pose(model, q, f"{side}_sole")
        np.testing.assert_allclose(sole[:3, :3], np.eye(3), atol=1e-14)
        np.testing.assert_allclose(sole[:3, 3], [0.0, y, 0.0], atol=1e-14)


@pytest.mark.parametrize("knee", [0.0, 0.6, 1.7])
def test_quadruped_feet_are_on_the_ground_below_the_hips(knee):
    model = robots.quadruped()
    q = robots.standing_posture(model, knee)
    for leg in LEGS["quadruped"]:
        foot = ff.frame_pose(model, q, f"{leg}_foot")[:3, 3]
        expected = [0.30 if "front" in leg else -0.30, 0.20 if "left" in leg else -0.20, 0.0]
        np.testing.assert_allclose(foot, expected, atol=1e-14)


@pytest.mark.parametrize("name", MAKERS)
def test_knees_are_bent_as_given_and_all_joints_within_limits(name):
    model = MAKERS[name]()
    q = robots.standing_posture(model, 0.9)
    for leg in LEGS[name]:
        assert abs(q[model.joint(f"{leg}_knee").iq]) == 0.9
    joints = q[7:]
    assert (model.position_lower[6:] <= joints).all()
    assert (joints <= model.position_upper[6:]).all()


@pytest.mark.parametrize("name", MAKERS)
def test_center_of_mass_is_above_the_feet(name):
    model = MAKERS[name]()
    for knee in (0.3, 0.6, 1.2):
        com = ff.center_of_mass(model, robots.standing_posture(model, knee))
        assert abs(com[1]) < 1e-14
        assert -0.09 < com[0] < 0.16


def test_other_robots_have_no_standing_posture():
    with pytest.raises(InputError, match="'chain_6' is neither the humanoid nor the quadruped"):
        robots.standing_posture(robots.chain())


@pytest.mark.parametrize("knee", [-0.1, 2.5, float("nan"), "bent", None])
def test_impossible_knees_are_refused(knee):
    with pytest.raises(InputError, match=r"knee must be a number from 0 to 2\.4"):
        robots.standing_posture(robots.humanoid(), knee)
