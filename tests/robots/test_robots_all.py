"""Every robot of `make`: valid, physical, named uniquely, with the documented sizes; chains, hoppers, the humanoid."""

import freeflyer as ff
import numpy as np
import pytest
import trimesh
from closeness import fresh, refused
from freeflyer import robots
from freeflyer.model.description import JOINT_KINDS, JOINT_SIZES, WORLD
from freeflyer.model.placements import join
from freeflyer.model.validate import validate
from freeflyer.robots import _parts as solids
from freeflyer.robots.humanoid import humanoid, moving_joints

# name: nv, actuated, mass in kg
SIZES = {"aerial_manipulator": (10, 4, 4.86), "chain": (6, 6, 3.0), "differential_drive_manipulator": (9, 7, 66.6),
         "holonomic_manipulator": (9, 7, 70.2), "humanoid": (39, 33, 100.0), "kangaroo_like": (82, 12, 41.956),
         "prismatic_hopper": (4, 1, 1.007), "quadruped": (18, 12, 31.6), "revolute_hopper": (4, 1, 1.007),
         "space_manipulator": (13, 7, 481.0)}  # fmt: skip
HOPPERS = ("prismatic_hopper", "revolute_hopper")  # point masses on joints without limits, as in the thesis
VARIANTS = [*((name, {}) for name in SIZES), ("humanoid", {"dof": 20}), ("humanoid", {"dof": 45}),
            ("aerial_manipulator", {"rotors": 4, "arm": 3}), ("aerial_manipulator", {"rotors": 8}),
            ("differential_drive_manipulator", {"rolling_wheels": True}), ("chain", {"n": 3, "base": "free"})]  # fmt: skip


def poses_at_zero(description):
    """World poses (4, 4) of every link and site with all joints at zero, from the placements of the description alone."""
    above = {joint.child: joint for joint in description.joints}
    poses = {WORLD: np.eye(4)}
    for link in description.links:
        X, name = np.eye(4), link.name
        while name in above:
            X, name = above[name].placement @ X, above[name].parent
        poses[link.name] = X
    return poses | {site.name: poses[site.link] @ site.placement for site in description.sites}


def center_of_mass(description):
    poses = poses_at_zero(description)
    masses = np.array([link.inertia.mass for link in description.links])
    points = np.array([poses[x.name][:3, :3] @ x.inertia.com + poses[x.name][:3, 3] for x in description.links])
    return masses @ points / masses.sum()


@pytest.fixture(params=VARIANTS, ids=str)
def model(request):
    name, options = request.param
    return robots.make(name, **options)


def test_robots_have_their_sizes_and_unknown_ones_list_those_that_exist():
    assert robots.names() == tuple(sorted(SIZES))
    for name, (nv, motors, mass) in SIZES.items():
        model = robots.make(name)
        assert ((model.nv, len(model.actuated)), model.mass) == ((nv, motors), pytest.approx(mass, rel=1e-12)), name
        assert name == "chain" or model.joint_names[0] == "root_joint"
    refused(ff.UnknownNameError, r"'humanod'.*mean 'humanoid'", robots.make, "humanod")
    refused(ff.UnknownNameError, "", robots.make, 3)
    refused(ff.InputError, r"'quadruped' has no option 'dof': it takes none", robots.make, "quadruped", dof=12)
    refused(ff.InputError, "it takes dof", robots.make, "humanoid", legs=2)
    refused(ff.InputError, "rotors must be one of 4, 6, 8, got 5", robots.aerial_manipulator, rotors=5)
    refused(ff.InputError, "arm must be one of 3, 4, got 7", robots.aerial_manipulator, arm=7)


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
    poses = poses_at_zero(rolling.description)
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


@pytest.mark.parametrize("make", [robots.quadruped, lambda: humanoid(45), robots.kangaroo_like])
def test_left_mirrors_right(make):
    """Frames in a posture that mirrors itself, inertias, and what joints bear."""
    model, rng = make(), fresh()
    q, d = model.neutral.copy(), model.description
    for joint in (j for j in d.joints if "left" in j.name and j.kind != "fixed"):
        one, twin = (model.joint(x) for x in (joint.name, joint.name.replace("left", "right")))
        across = joint.kind != "prismatic" and joint.axis[1] == 0.0
        q[one.iq] = rng.uniform(-0.5, 0.5)
        q[twin.iq] = -q[one.iq] if across else q[one.iq]
        low, high = model.position_lower[one.iv], model.position_upper[one.iv]
        assert (model.position_lower[twin.iv], model.position_upper[twin.iv]) == ((-high, -low) if across else (low, high))
        for limit in (model.effort_limit, model.velocity_limit, model.armature):
            assert limit[one.iv] == limit[twin.iv]
    for frame in (x for x in model.frame_names if "left" in x and "sole_" not in x):  # corners have sides of their own foot
        left, right = (ff.frame_pose(model, q, x) for x in (frame, frame.replace("left", "right")))
        np.testing.assert_allclose(MIRROR @ left @ MIRROR, right, atol=1e-14, err_msg=frame)
    for link in (x for x in d.links if "right" not in x.name):
        inertia, twin = link.inertia, d.link(link.name.replace("left", "right")).inertia
        assert inertia.mass == twin.mass
        np.testing.assert_allclose(MIRROR[:3, :3] @ inertia.com, twin.com, atol=1e-15)
        np.testing.assert_allclose(MIRROR[:3, :3] @ inertia.rotational @ MIRROR[:3, :3], twin.rotational, atol=1e-15)


@pytest.mark.parametrize("dof", ALL)
def test_motors_and_their_twins(dof):
    model = robots.humanoid(dof)
    assert (model.nq, model.nv, len(model.actuated)) == (dof + 7, dof + 6, dof)
    assert model.mass == pytest.approx(100.0, rel=1e-12)
    assert set(model.joint_names) == {"root_joint"} | moving_joints(dof)
    names = moving_joints(dof)
    assert {x.replace("left", "right") for x in names} | {x.replace("right", "left") for x in names} == names


def test_body_is_1_8_m_tall_and_stands_on_its_soles():
    leg = ("hip", "knee", "ankle")
    arm = ("clavicle", "shoulder", "upper_arm", "elbow", "forearm", "wrist")
    for dof, expected in ((33, [6, 8, 3, 2]), (20, [6, 4, 0, 0])):
        names = [name.removeprefix("left_") for name in moving_joints(dof) if not name.startswith("right_")]
        assert [sum(name.startswith(part) for name in names) for part in (leg, arm, "waist", "neck")] == expected
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
    corners = [poses[f"right_sole_{c}"][:2, 3] for c in ("front_left", "front_right", "rear_right", "rear_left")]
    (fl, fr, rr, rl), sole = corners, poses["right_sole"][:2, 3]
    assert fl[0] == fr[0] > sole[0] > rl[0] == rr[0]
    assert fl[1] == rl[1] > sole[1] > fr[1] == rr[1]
    few, many = humanoid(20).description, humanoid(45).description
    assert [x.name for x in few.links] == [x.name for x in many.links]
    assert [x.name for x in few.sites] == [x.name for x in many.sites]
    a, b = poses_at_zero(few), poses_at_zero(many)
    assert all((a[name] == b[name]).all() for name in a)


@pytest.mark.parametrize("kind", JOINT_KINDS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_sizes_of_a_chain_of_one_kind(kind, base):
    model = robots.chain(5, kind, base)
    nq, nv = JOINT_SIZES[kind]
    floating = base == "free"
    assert (model.nq, model.nv) == (5 * nq + 7 * floating, 5 * nv + 6 * floating)
    assert len(model.actuated) == (0 if kind == "fixed" else 5)


def test_chains_and_solids():
    model = robots.chain(5, ["spherical", "prismatic"])
    assert [j.kind for j in model.joints] == ["spherical", "prismatic", "spherical", "prismatic", "spherical"]
    description = robots.chain(4, length=0.25, mass=2.0).description
    axes = np.array([j.axis for j in description.joints])
    np.testing.assert_array_equal(axes, [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(poses_at_zero(description)["tip"][:3, 3], [0.0, 0.0, -1.25], atol=1e-15)
    assert {(link.inertia.mass, *link.inertia.com) for link in description.links} == {(2.0, 0.0, 0.0, -0.125)}
    assert robots.chain(2000).nv == 2000
    ball = solids.capsule(2.0, 0.1, (0.0, 0.0, 0.3), (0.0, 0.0, 0.3))
    np.testing.assert_allclose(ball.rotational, 0.4 * 2.0 * 0.1**2 * np.eye(3), rtol=1e-14)
    np.testing.assert_allclose(ball.rotational, solids.ellipsoid(2.0, (0.1, 0.1, 0.1)).rotational, rtol=1e-14)
    whole = solids.cylinder(2.0, 0.1, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    halves = (solids.cylinder(1.0, 0.1, (0.0, 0.0, z), (0.0, 0.0, z + 0.5)) for z in (0.0, 0.5))
    both = join(*halves)
    assert both.mass == 2.0
    np.testing.assert_allclose(both.com, whole.com, atol=1e-15)
    np.testing.assert_allclose(both.rotational, whole.rotational, rtol=1e-13, atol=1e-15)
    prismatic, revolute = (make() for make in HOP)
    q = revolute.keyframes["start"]
    assert ff.potential_energy(prismatic, prismatic.keyframes["start"]) == pytest.approx(2.9047, abs=5e-5)  # table 4.8
    to_foot = ff.frame_pose(revolute, q, "foot_point")[:3, 3] - ff.center_of_mass(revolute, q)
    assert np.linalg.norm(to_foot) == pytest.approx(0.1411, abs=5e-5)  # table 4.12
    assert to_foot[0] == pytest.approx(0.0, abs=5e-5)  # alpha_icf = 0: the foot is below the centre of mass
    refused(ff.InputError, "length must be", robots.revolute_hopper, length=0.0)
    refused(ff.InputError, "'chain_6' is neither the humanoid nor the quadruped", lambda: robots.standing_posture(robots.chain()))


START, END = np.array([0.1, -0.2, 0.0]), np.array([0.3, 0.2, 0.5])
PLACE, BALL = np.array([0.1, 0.0, -0.2]), trimesh.creation.icosphere(4).vertices
SOLIDS = {
    "box": (solids.box(3.0, (0.2, 0.4, 0.6), PLACE), trimesh.creation.box((0.2, 0.4, 0.6)).vertices + PLACE),
    "ellipsoid": (solids.ellipsoid(3.0, (0.2, 0.3, 0.5), PLACE), BALL * (0.2, 0.3, 0.5) + PLACE),
    "cylinder": (solids.cylinder(3.0, 0.15, START, END), trimesh.creation.cylinder(0.15, segment=(START, END)).vertices),
    "capsule": (solids.capsule(3.0, 0.15, START, END), np.vstack([0.15 * BALL + START, 0.15 * BALL + END])),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_have_the_moments_of_the_hulls_of_their_points(name):
    inertia, points = SOLIDS[name]
    mesh = trimesh.convex.convex_hull(points)
    assert inertia.mass == 3.0
    np.testing.assert_allclose(inertia.com, mesh.center_mass, atol=1e-4)
    moments = 3.0 * mesh.moment_inertia / mesh.volume
    np.testing.assert_allclose(inertia.rotational, moments, atol=0.02 * np.trace(moments))


HOP = (robots.prismatic_hopper, robots.revolute_hopper)


def plane(q, *lengths):
    """Points of the thesis's chain: base, joint by joint, in (x, z); `lengths` between them, angles q[2], then its sums."""
    turns = np.cumsum(q[2:])
    points = [q[:2]]
    for angle, length in zip(turns, lengths):
        points.append(points[-1] + length * np.array([np.cos(angle), np.sin(angle)]))
    return points


@pytest.mark.parametrize("make", HOP)
def test_hoppers(make):
    model = make()
    q = fresh("hoppers").uniform(-2.0, 2.0, 4)
    if make is robots.prismatic_hopper:
        masses, points = np.array([0.957, 0.05]), plane(q[:3], q[3])
        at = np.array(points)
    else:
        masses = np.array([0.835, 0.122, 0.05])
        points = trunk, knee, foot = plane(q, 0.12, 0.12)
        at = np.array([trunk, (trunk + knee) / 2, (knee + foot) / 2])
    np.testing.assert_allclose(ff.frame_pose(model, q, "foot_point")[[0, 2], 3], points[-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(ff.center_of_mass(model, q)[[0, 2]], masses @ at / sum(masses), rtol=0, atol=1e-14)
    assert ff.potential_energy(model, q) == pytest.approx(9.8 * masses @ at[:, 1], abs=1e-13)
    assert ff.center_of_mass(model, q)[1] == pytest.approx(0.0, abs=1e-15)  # nothing leaves the plane
    heavy = make(trunk=2.0, gravity=1.5)
    assert heavy.mass == pytest.approx(make().mass + 2.0 - (0.957 if make is robots.prismatic_hopper else 0.835), abs=1e-15)
    np.testing.assert_array_equal(heavy.gravity, [0.0, 0.0, -1.5])


STANDING = {"humanoid": ("left", "right"), "quadruped": LEGS}


@pytest.mark.parametrize("knee", [0.0, 0.6, 1.7])
def test_feet_are_on_the_ground_below_the_hips(knee):
    model = robots.humanoid()
    q = robots.standing_posture(model, knee)
    for side, y in (("left", 0.10), ("right", -0.10)):
        sole = ff.frame_pose(model, q, f"{side}_sole")
        np.testing.assert_allclose(sole[:3, :3], np.eye(3), atol=1e-14)
        np.testing.assert_allclose(sole[:3, 3], [0.0, y, 0.0], atol=1e-14)
    model = robots.quadruped()
    assert model.joint_names == tuple(j.name for j in model.description.joints)  # depth-first, in file order
    q = robots.standing_posture(model, knee)
    for leg in LEGS:
        foot = ff.frame_pose(model, q, f"{leg}_foot")[:3, 3]
        expected = [0.30 if "front" in leg else -0.30, 0.20 if "left" in leg else -0.20, 0.0]
        np.testing.assert_allclose(foot, expected, atol=1e-14)


@pytest.mark.parametrize("name", STANDING)
def test_standing_postures(name):
    model = robots.make(name)
    q = robots.standing_posture(model, 0.9)
    for leg in STANDING[name]:
        assert abs(q[model.joint(f"{leg}_knee").iq]) == 0.9
    joints = q[7:]
    assert (model.position_lower[6:] <= joints).all()
    assert (joints <= model.position_upper[6:]).all()
    for knee in (0.3, 0.6, 1.2):
        com = ff.center_of_mass(model, robots.standing_posture(model, knee))
        assert abs(com[1]) < 1e-14
        assert -0.09 < com[0] < 0.16
