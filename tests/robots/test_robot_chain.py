"""Chains of any length and joint kinds. Inertias of the solids against integration over random points, independent of the
formulas. The hopping legs are those of the thesis's tables: their foot, their masses, their energy. The posture to start a
legged robot in: feet flat on the ground, hips above them, knees bent as given."""

import freeflyer as ff
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer import robots
from freeflyer.model.description import JOINT_KINDS, joint_sizes
from freeflyer.model.placements import join
from freeflyer.robots import _parts as solids
from robot_geometry import poses_at_zero


@pytest.mark.parametrize("kind", JOINT_KINDS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_sizes_of_a_chain_of_one_kind(kind, base):
    model = robots.chain(5, kind, base)
    nq, nv = joint_sizes(kind)
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
    prismatic, revolute = (make() for make in HOPPERS)
    q = revolute.keyframes["start"]
    assert ff.potential_energy(prismatic, prismatic.keyframes["start"]) == pytest.approx(2.9047, abs=5e-5)  # table 4.8
    to_foot = ff.frame_pose(revolute, q, "foot_point")[:3, 3] - ff.center_of_mass(revolute, q)
    assert np.linalg.norm(to_foot) == pytest.approx(0.1411, abs=5e-5)  # table 4.12
    assert to_foot[0] == pytest.approx(0.0, abs=5e-5)  # alpha_icf = 0: the foot is below the centre of mass
    refused(ff.InputError, "length must be", robots.revolute_hopper, length=0.0)
    refused(ff.InputError, "'chain_6' is neither the humanoid nor the quadruped", lambda: robots.standing_posture(robots.chain()))


def sampled(inside, half, count=1_600_000):
    """Mass-free moments (com, rotational inertia per kg) of the points of a box that are `inside`."""
    points = fresh(0).uniform(-1.0, 1.0, (count, 3)) * half
    points = points[inside(points)]
    com = points.mean(axis=0)
    d = points - com
    return com, np.einsum("ni,ni->", d, d) / len(d) * np.eye(3) - d.T @ d / len(d)


def along(points):
    """How far along the axis, from 0 to 1, and the distance from it."""
    t = (points - START) @ (END - START) / ((END - START) @ (END - START))
    return t, np.linalg.norm(points - START - np.clip(t, 0.0, 1.0)[:, None] * (END - START), axis=1)


START, END = np.array([0.1, -0.2, 0.0]), np.array([0.3, 0.2, 0.5])

CASES = {
    "box": (
        solids.box(3.0, (0.2, 0.4, 0.6), (0.1, 0.0, -0.2)),
        lambda p: (np.abs(p - (0.1, 0.0, -0.2)) < (0.1, 0.2, 0.3)).all(axis=1),
    ),
    "ellipsoid": (
        solids.ellipsoid(3.0, (0.2, 0.3, 0.5), (0.1, 0.0, -0.2)),
        lambda p: (((p - (0.1, 0.0, -0.2)) / (0.2, 0.3, 0.5)) ** 2).sum(axis=1) < 1.0,
    ),
    "cylinder": (solids.cylinder(3.0, 0.15, START, END), lambda p: (np.abs(along(p)[0] - 0.5) < 0.5) & (along(p)[1] < 0.15)),
    "capsule": (solids.capsule(3.0, 0.15, START, END), lambda p: along(p)[1] < 0.15),
}


@pytest.mark.parametrize("name", CASES)
def test_solid_has_the_moments_of_its_points(name):
    inertia, inside = CASES[name]
    com, rotational = sampled(inside, half=0.8)
    assert inertia.mass == 3.0
    # 3 * 10^4 points inside or more: coordinates of 0.3 m or less average to 2 mm
    np.testing.assert_allclose(inertia.com, com, atol=0.01)
    np.testing.assert_allclose(inertia.rotational / 3.0, rotational, atol=0.02 * np.trace(rotational))


HOPPERS = (robots.prismatic_hopper, robots.revolute_hopper)


def plane(q, *lengths):
    """Points of the thesis's chain: base, joint by joint, in (x, z); `lengths` between them, angles q[2], then its sums."""
    turns = np.cumsum(q[2:])
    points = [q[:2]]
    for angle, length in zip(turns, lengths):
        points.append(points[-1] + length * np.array([np.cos(angle), np.sin(angle)]))
    return points


@pytest.mark.parametrize("make", HOPPERS)
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


MAKERS = {"humanoid": robots.humanoid, "quadruped": robots.quadruped}
LEGS = {"humanoid": ("left", "right"), "quadruped": ("front_left", "front_right", "rear_left", "rear_right")}


@pytest.mark.parametrize("knee", [0.0, 0.6, 1.7])
def test_feet_are_on_the_ground_below_the_hips(knee):
    model = robots.humanoid()
    q = robots.standing_posture(model, knee)
    for side, y in (("left", 0.10), ("right", -0.10)):
        sole = ff.frame_pose(model, q, f"{side}_sole")
        np.testing.assert_allclose(sole[:3, :3], np.eye(3), atol=1e-14)
        np.testing.assert_allclose(sole[:3, 3], [0.0, y, 0.0], atol=1e-14)
    model = robots.quadruped()
    q = robots.standing_posture(model, knee)
    for leg in LEGS["quadruped"]:
        foot = ff.frame_pose(model, q, f"{leg}_foot")[:3, 3]
        expected = [0.30 if "front" in leg else -0.30, 0.20 if "left" in leg else -0.20, 0.0]
        np.testing.assert_allclose(foot, expected, atol=1e-14)


@pytest.mark.parametrize("name", MAKERS)
def test_standing_postures(name):
    model = MAKERS[name]()
    q = robots.standing_posture(model, 0.9)
    for leg in LEGS[name]:
        assert abs(q[model.joint(f"{leg}_knee").iq]) == 0.9
    joints = q[7:]
    assert (model.position_lower[6:] <= joints).all()
    assert (joints <= model.position_upper[6:]).all()
    for knee in (0.3, 0.6, 1.2):
        com = ff.center_of_mass(model, robots.standing_posture(model, knee))
        assert abs(com[1]) < 1e-14
        assert -0.09 < com[0] < 0.16
