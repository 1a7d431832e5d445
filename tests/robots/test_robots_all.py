"""What holds for every robot of `make`: valid, physical, named uniquely, with the documented sizes. Legs, wheels, rotors and
panels of the other robots are where they should be. The humanoid: dof as promised, nested joints, a body that is the same at
every dof, left like right."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import refused
from freeflyer import robots
from freeflyer.model.validate import validate
from freeflyer.robots.humanoid import humanoid, moving_joints
from robot_geometry import center_of_mass, poses_at_zero

# name: nv, actuated, mass in kg
SIZES = {"aerial_manipulator": (10, 4, 4.86), "chain": (6, 6, 3.0), "differential_drive_manipulator": (9, 7, 66.6),
         "holonomic_manipulator": (9, 7, 70.2), "humanoid": (39, 33, 100.0), "kangaroo_like": (82, 12, 41.956),
         "prismatic_hopper": (4, 1, 1.007), "quadruped": (18, 12, 31.6), "revolute_hopper": (4, 1, 1.007),
         "space_manipulator": (13, 7, 481.0)}  # fmt: skip
HOPPERS = ("prismatic_hopper", "revolute_hopper")  # point masses on joints without limits, as in the thesis
VARIANTS = [*((name, {}) for name in SIZES), ("humanoid", {"dof": 20}), ("humanoid", {"dof": 45}),
            ("aerial_manipulator", {"rotors": 4, "arm": 3}), ("aerial_manipulator", {"rotors": 8}),
            ("differential_drive_manipulator", {"rolling_wheels": True}), ("chain", {"n": 3, "base": "free"})]  # fmt: skip


@pytest.fixture(params=VARIANTS, ids=str)
def model(request):
    name, options = request.param
    return robots.make(name, **options)


def test_unknown_robots_and_options_list_those_that_exist():
    assert robots.names() == tuple(sorted(SIZES))
    from freeflyer.model.load import ROOT_JOINT
    for name in set(SIZES) - {"chain"}:
        assert robots.make(name).joint_names[0] == ROOT_JOINT
    refused(ff.UnknownNameError, r"'humanod'.*mean 'humanoid'", robots.make, "humanod")
    refused(ff.UnknownNameError, "", robots.make, 3)
    refused(ff.InputError, r"'quadruped' has no option 'dof': it takes none", robots.make, "quadruped", dof=12)
    refused(ff.InputError, "it takes dof", robots.make, "humanoid", legs=2)
    refused(ff.InputError, "rotors must be one of 4, 6, 8, got 5", robots.aerial_manipulator, rotors=5)
    refused(ff.InputError, "arm must be one of 3, 4, got 7", robots.aerial_manipulator, arm=7)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name):
    model = robots.make(name)
    nv, motors, mass = SIZES[name]
    assert ((model.nv, len(model.actuated)), model.mass) == ((nv, motors), pytest.approx(mass, rel=1e-12))


def test_description_is_valid(model):
    assert validate(model.description) is model.description
    for link in model.description.links:
        found = ff.spatial.consistency.check(link.inertia.mass, link.inertia.com, link.inertia.rotational)
        assert found.full != (model.name in HOPPERS), (link.name, found.reasons)
    assert len(set(model.frame_names)) == len(model.frame_names)
    assert not set(model.joint_names) & set(model.frame_names)
    for name in model.actuated if model.name not in HOPPERS else ():
        info = model.joint(name)
        at = slice(info.iv, info.iv + info.nv)
        assert (model.effort_limit[at] > 0).all()
        assert np.isfinite(model.effort_limit[at]).all()
        assert np.isfinite(model.velocity_limit[at]).all()
        assert (model.position_lower[at] <= 0).all()  # a leg's length motor starts at zero
        assert (model.position_upper[at] >= 0).all()
        assert (model.position_lower[at] < model.position_upper[at]).all()


LEGS = ("front_left", "front_right", "rear_left", "rear_right")


def test_quadrupeds():
    description = robots.quadruped().description
    poses = poses_at_zero(description)
    feet = np.array([poses[f"{leg}_foot"][:3, 3] for leg in LEGS])
    np.testing.assert_allclose(feet[:, 2], -0.56, atol=1e-12)
    np.testing.assert_array_equal(np.sign(feet[:, :2]), [[1, 1], [1, -1], [-1, 1], [-1, -1]])
    com = center_of_mass(description)
    assert abs(com[1]) < 1e-15
    assert feet[2, 0] < com[0] < feet[0, 0]
    mirror = np.diag([1.0, -1.0, 1.0])
    for end in ("front", "rear"):
        for part in ("hip", "thigh", "shank"):
            left, right = (description.link(f"{end}_{side}_{part}").inertia for side in ("left", "right"))
            np.testing.assert_allclose(right.com, mirror @ left.com, atol=1e-15)
            np.testing.assert_allclose(right.rotational, mirror @ left.rotational @ mirror, atol=1e-15)
        left, right = (description.joint(f"{end}_{side}_hip_roll") for side in ("left", "right"))
        assert (right.lower[0], right.upper[0]) == (-left.upper[0], -left.lower[0])


def test_bases_with_wheels_and_panels():
    holonomic = robots.holonomic_manipulator()
    driven = robots.differential_drive_manipulator()
    rolling = robots.differential_drive_manipulator(rolling_wheels=True)
    assert [m.joints[0].kind for m in (holonomic, driven, rolling)] == ["planar"] * 3
    assert [m.nv for m in (holonomic, driven, rolling)] == [9, 9, 11]
    assert driven.mass == pytest.approx(rolling.mass, rel=1e-14)
    np.testing.assert_allclose(center_of_mass(driven.description), center_of_mass(rolling.description), rtol=0, atol=1e-14)
    assert "root_joint" not in rolling.actuated
    assert {"left_wheel", "right_wheel"} <= set(rolling.actuated)
    poses = poses_at_zero(robots.differential_drive_manipulator(rolling_wheels=True).description)
    for side in ("left", "right"):
        below = poses[f"{side}_wheel_link"][:3, 3] - poses[f"{side}_wheel_contact"][:3, 3]
        np.testing.assert_allclose(below, [0.0, 0.0, 0.10], atol=1e-15)
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


ALL = range(20, 46)
MIRROR = np.diag([1.0, -1.0, 1.0, 1.0])


def other(name: str) -> str:
    """The name of the same thing on the other side."""
    if name.startswith("left_"):
        return "right_" + name[5:]
    return "left_" + name[6:] if name.startswith("right_") else name


@pytest.mark.parametrize("dof", ALL)
def test_motors_and_their_twins(dof):
    model = robots.humanoid(dof)
    assert (model.nq, model.nv, len(model.actuated)) == (dof + 7, dof + 6, dof)
    assert model.mass == pytest.approx(100.0, rel=1e-12)
    assert set(model.joint_names) == {"root_joint"} | moving_joints(dof)
    names = moving_joints(dof)
    assert {other(name) for name in names} == names


def test_body_is_1_8_m_tall_and_stands_on_its_soles():
    parts = {33: {"leg": 6, "arm": 8, "waist": 3, "neck": 2}, 20: {"leg": 6, "arm": 4, "waist": 0, "neck": 0}}
    leg = ("hip", "knee", "ankle")
    arm = ("clavicle", "shoulder", "upper_arm", "elbow", "forearm", "wrist")
    for dof, expected in parts.items():
        names = moving_joints(dof)
        left = [name[5:] for name in names if name.startswith("left_")]
        assert sum(name.startswith(leg) for name in left) == expected["leg"]
        assert sum(name.startswith(arm) for name in left) == expected["arm"]
        assert sum(name.startswith("waist") for name in names) == expected["waist"]
        assert sum(name.startswith("neck") for name in names) == expected["neck"]
    description = humanoid(33).description
    poses = poses_at_zero(description)
    sole = poses["left_sole"][2, 3]
    assert sole == pytest.approx(-0.93, abs=1e-12)
    head = description.link("head").inertia.com + [0, 0, 0.11]
    assert poses["head"][2, 3] + head[2] - sole == pytest.approx(1.80, abs=1e-12)
    for corner in ("front_left", "front_right", "rear_left", "rear_right"):
        assert poses[f"left_sole_{corner}"][2, 3] == pytest.approx(sole, abs=1e-12)
    com = center_of_mass(description)
    assert 0.50 < (com[2] - sole) / 1.8 < 0.60  # people: 0.55
    assert poses["left_sole_rear_left"][0, 3] < com[0] < poses["left_sole_front_left"][0, 3]
    poses = poses_at_zero(humanoid(33).description)
    corners = [poses[f"right_sole_{c}"][:2, 3] for c in ("front_left", "front_right", "rear_right", "rear_left")]
    (fl, fr, rr, rl), sole = corners, poses["right_sole"][:2, 3]
    assert fl[0] == fr[0] > sole[0] > rl[0] == rr[0]
    assert fl[1] == rl[1] > sole[1] > fr[1] == rr[1]
    few, many = humanoid(20).description, humanoid(45).description
    assert [x.name for x in few.links] == [x.name for x in many.links]
    assert [x.name for x in few.sites] == [x.name for x in many.sites]
    a, b = poses_at_zero(few), poses_at_zero(many)
    assert all((a[name] == b[name]).all() for name in a)


def test_left_mirrors_right():
    description = humanoid(45).description
    poses = poses_at_zero(description)
    for name, X in poses.items():
        if "_sole_" in name:  # corners are named by their own side of the foot
            continue
        np.testing.assert_allclose(poses[other(name)][:3, 3], MIRROR[:3, :3] @ X[:3, 3], atol=1e-15, err_msg=name)
    for link in description.links:
        twin = description.link(other(link.name)).inertia
        np.testing.assert_allclose(twin.com, MIRROR[:3, :3] @ link.inertia.com, atol=1e-15)
        reflected = MIRROR[:3, :3] @ link.inertia.rotational @ MIRROR[:3, :3]
        np.testing.assert_allclose(twin.rotational, reflected, atol=1e-15)
        assert twin.mass == link.inertia.mass
    for joint in description.joints[1:]:
        twin = description.joint(other(joint.name))
        if joint.name == twin.name:
            continue
        pitch = joint.axis[1] == 1.0
        assert (twin.axis == joint.axis).all()
        limits = (joint.lower, joint.upper) if pitch else ((-joint.upper[0],), (-joint.lower[0],))
        assert (twin.lower, twin.upper) == limits, joint.name
        assert (twin.effort, twin.velocity, twin.armature) == (joint.effort, joint.velocity, joint.armature)
