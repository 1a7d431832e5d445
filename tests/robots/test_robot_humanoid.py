"""The humanoid: dof as promised, nested joints, a body that is the same at every dof, left like right."""

import numpy as np
import pytest
from closeness import refused
from freeflyer import robots
from freeflyer.errors import InputError
from freeflyer.robots.humanoid import humanoid_description, moving_joints
from robot_geometry import center_of_mass, poses_at_zero

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
    description = humanoid_description(33)
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
    poses = poses_at_zero(humanoid_description(33))
    corners = [poses[f"right_sole_{c}"][:2, 3] for c in ("front_left", "front_right", "rear_right", "rear_left")]
    (fl, fr, rr, rl), sole = corners, poses["right_sole"][:2, 3]
    assert fl[0] == fr[0] > sole[0] > rl[0] == rr[0]
    assert fl[1] == rl[1] > sole[1] > fr[1] == rr[1]
    few, many = humanoid_description(20), humanoid_description(45)
    assert [x.name for x in few.links] == [x.name for x in many.links]
    assert [x.name for x in few.sites] == [x.name for x in many.sites]
    a, b = poses_at_zero(few), poses_at_zero(many)
    assert all((a[name] == b[name]).all() for name in a)


def test_left_mirrors_right():
    description = humanoid_description(45)
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


@pytest.mark.parametrize("dof", [19, 46, 33.0, "33", None, True, float("nan")])
def test_wrong_dof_is_refused(dof):
    refused(InputError, "dof must be a whole number from 20 to 45", robots.humanoid, dof)
