"""Legs, wheels, rotors and panels of the other robots are where they should be."""

from __future__ import annotations

import numpy as np
import pytest
from robot_geometry import center_of_mass, poses_at_zero

from freeflyer import robots
from freeflyer.errors import InputError

LEGS = ("front_left", "front_right", "rear_left", "rear_right")


def test_quadruped_feet_stand_at_the_corners_on_one_level():
    description = robots.quadruped().description
    poses = poses_at_zero(description)
    feet = np.array([poses[f"{leg}_foot"][:3, 3] for leg in LEGS])
    np.testing.assert_allclose(feet[:, 2], -0.56, atol=1e-12)
    np.testing.assert_array_equal(np.sign(feet[:, :2]), [[1, 1], [1, -1], [-1, 1], [-1, -1]])
    com = center_of_mass(description)
    assert abs(com[1]) < 1e-15
    assert feet[2, 0] < com[0] < feet[0, 0]


def test_quadruped_left_mirrors_right():
    description = robots.quadruped().description
    mirror = np.diag([1.0, -1.0, 1.0])
    for end in ("front", "rear"):
        for part in ("hip", "thigh", "shank"):
            left, right = (description.link(f"{end}_{side}_{part}").inertia for side in ("left", "right"))
            np.testing.assert_allclose(right.com, mirror @ left.com, atol=1e-15)
            np.testing.assert_allclose(right.rotational, mirror @ left.rotational @ mirror, atol=1e-15)
        left, right = (description.joint(f"{end}_{side}_hip_roll") for side in ("left", "right"))
        assert (right.lower[0], right.upper[0]) == (-left.upper[0], -left.lower[0])


def test_mobile_bases_are_planar_and_differ_by_their_wheels():
    holonomic = robots.holonomic_manipulator()
    driven = robots.differential_drive_manipulator()
    rolling = robots.differential_drive_manipulator(rolling_wheels=True)
    assert [m.joints[0].kind for m in (holonomic, driven, rolling)] == ["planar"] * 3
    assert [m.nv for m in (holonomic, driven, rolling)] == [9, 9, 11]
    assert driven.mass == pytest.approx(rolling.mass, rel=1e-14)
    np.testing.assert_allclose(
        center_of_mass(driven.description), center_of_mass(rolling.description), rtol=0, atol=1e-14
    )
    assert "root_joint" not in rolling.actuated
    assert {"left_wheel", "right_wheel"} <= set(rolling.actuated)


def test_wheels_touch_the_ground_below_their_axles():
    poses = poses_at_zero(robots.differential_drive_manipulator(rolling_wheels=True).description)
    for side in ("left", "right"):
        below = poses[f"{side}_wheel_link"][:3, 3] - poses[f"{side}_wheel_contact"][:3, 3]
        np.testing.assert_allclose(below, [0.0, 0.0, 0.10], atol=1e-15)


def test_space_manipulator_has_no_gravity_and_symmetric_panels():
    model = robots.space_manipulator()
    assert (model.gravity == 0.0).all()
    poses = poses_at_zero(model.description)
    np.testing.assert_allclose(poses["left_panel_tip"][:3, 3], [0.0, 3.1, 0.0], atol=1e-15)
    np.testing.assert_allclose(poses["right_panel_tip"][:3, 3], [0.0, -3.1, 0.0], atol=1e-15)
    np.testing.assert_allclose(poses["end_effector"][:3, 3], [2.8, 0.0, 0.0], atol=1e-12)  # the arm grows along x


@pytest.mark.parametrize("rotors", [4, 6, 8])
def test_rotors_lie_on_a_circle_and_push_up(rotors):
    poses = poses_at_zero(robots.aerial_manipulator(rotors).description)
    hubs = [poses[f"rotor_{i}"] for i in range(1, rotors + 1)]
    assert f"rotor_{rotors + 1}" not in poses
    positions = np.array([X[:3, 3] for X in hubs])
    np.testing.assert_allclose(np.linalg.norm(positions[:, :2], axis=1), 0.45, rtol=1e-14)
    np.testing.assert_allclose(positions.mean(axis=0)[:2], 0.0, atol=1e-15)
    turns = np.diff(np.unwrap(np.arctan2(positions[:, 1], positions[:, 0])))
    np.testing.assert_allclose(turns, 2 * np.pi / rotors, rtol=1e-13)
    assert all((X[:3, 2] == [0, 0, 1]).all() for X in hubs)
    assert poses["end_effector"][2, 3] == pytest.approx(-0.08 - 0.60, abs=1e-12)  # the arm hangs


def test_wrong_rotors_and_arms_are_refused():
    with pytest.raises(InputError, match="rotors must be one of 4, 6, 8, got 5"):
        robots.aerial_manipulator(rotors=5)
    with pytest.raises(InputError, match="arm must be one of 3, 4, got 7"):
        robots.aerial_manipulator(arm=7)
