"""Limits through the linkage, singularities and manipulability, against grids, trigonometry and differences."""

import freeflyer as ff
import math
import numpy as np
import pytest
from closeness import refused
from freeflyer.linkages.limits import first_singularity, polygon_area, reachable_set
from freeflyer.linkages.sweeping import sweep
from freeflyer.robots import kangaroo
from kangaroo_leg import ANKLE, HIP, LENGTH, SOLE, YAW, crank_turn, leg
from linkage_samples import BAR, shifted, stewart
from scipy.optimize import brentq

HIP_JOINTS, ANKLE_JOINTS = (("left_hip_roll", "left_hip_pitch"), ("left_ankle_roll", "left_ankle_pitch"))


@pytest.fixture(scope="module", params=[(HIP, HIP_JOINTS), (ANKLE, ANKLE_JOINTS)], ids=["hip", "ankle"])
def region(request):
    return reachable_set(leg(), *request.param, points=48)


def contains(polygon, points, slack):
    """Whether each point is inside of a polygon or within `slack` of it: even-odd rule, distance to edges."""
    a, b = polygon, np.roll(polygon, -1, axis=0)
    x, y = points[:, None, 0], points[:, None, 1]
    crossing = (a[:, 1] > y) != (b[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = x < a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    inside = (crossing & left).sum(axis=1) % 2 == 1
    t = np.clip(((points[:, None] - a) * (b - a)).sum(-1) / np.maximum(((b - a) ** 2).sum(-1), 1e-30), 0, 1)
    gap = np.linalg.norm(points[:, None] - a - t[..., None] * (b - a), axis=-1).min(axis=1)
    return inside | (gap < slack)


def test_boundary_encloses_a_grid_of_motor_positions(region):
    assert ff.linkages.inside_limits(leg(), region.q, 1e-7).all()
    assert all(region.held_by)
    assert not region.stopped.any()
    v = [leg().joint(n).iq for n in region.joints]
    np.testing.assert_array_equal(region.q[:, v], region.joint_positions)
    assert region.area < 0.99 * np.prod(region.extent[:, 1] - region.extent[:, 0])
    assert region.convexity > 0.95
    np.testing.assert_allclose(region.extent[0], math.radians(27.0) * np.array([-1, 1]), atol=1e-6)
    # Every state of a grid that keeps the limits lies inside; the grid comes close to every point of the boundary
    motor = leg().joint(region.motors[0])
    x = np.linspace(leg().position_lower[motor.iv], leg().position_upper[motor.iv], 41)
    swept = sweep(leg(), dict.fromkeys(region.motors, x))
    q = swept.q[swept.reached]
    q = q[ff.linkages.inside_limits(leg(), q)]
    points = q[:, [leg().joint(n).iq for n in region.joints]]
    assert len(points) > 500
    assert contains(region.joint_positions, points, 0.03).all()  # chords cut corners
    nearest_state = np.linalg.norm(points[:, None] - region.joint_positions[None], axis=-1).min(axis=0)
    assert nearest_state.max() < 0.06  # the grid's own spacing


def test_singular_places_of_hip_and_knee():
    k = kangaroo

    def rod(angle):
        x, z = k.ARM * math.cos(angle) - k.CRADLE_X, -k.ARM * math.sin(angle) - k.CRADLE_Z
        return math.hypot(x, z) - math.hypot(k.ARM - k.CRADLE_X, k.CRADLE_Z)

    found = reachable_set(leg(), HIP, HIP_JOINTS, points=16).extent[1]
    expected = [brentq(lambda a, s=s: rod(a) - s, -1.2, 1.2) for s in (-0.04, 0.04)]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    # There it could fold over: Newton's method finds postures beyond, of which only the determinant's sign warns
    k = kangaroo

    def lean(angle):
        return math.sqrt(k.PUSH_ROD**2 - (k.PIN * math.sin(angle) - k.SLIDE_OFFSET) ** 2)

    stroke = k.PIN * (math.cos(k.START) - 1.0) - lean(k.START) + lean(0.0)
    assert -first_singularity(leg(), {LENGTH: -1.0}, 0.3).distance == pytest.approx(stroke, abs=1e-4)


@pytest.mark.parametrize(("sign", "end"), [(1.0, 1.0), (-1.0, -1.0)])
def test_yaw_is_singular_where_rod_and_arm_are_in_line(sign, end):
    arm, rod = kangaroo.YAW_ARM, kangaroo.YAW_ROD_LENGTH
    found = first_singularity(leg(), {YAW: sign}, 0.1)
    assert found.distance == pytest.approx(abs(math.hypot(arm, rod) + end * arm - rod), abs=1e-6)
    assert (found.motors[YAW], found.loops) == (pytest.approx(sign * found.distance), ("left_yaw_pin",))
    assert found.independence < 0.01
    assert not found.inside


def test_strokes_keep_away_from_singularities_but_for_the_differential_hip():
    """As in the Kangaroo paper, section IV: the stop of hip roll is there for that one."""
    for direction, stroke in (({YAW: 1}, 0.02), ({YAW: -1}, 0.02), ({LENGTH: 1}, 0.15), (dict.fromkeys(HIP, 1), 0.04),
                              (dict.fromkeys(HIP, -1), 0.04), ({ANKLE[0]: 1}, 0.02), ({ANKLE[0]: -1}, 0.02)):  # fmt: skip
        found = first_singularity(leg(), direction, stroke)
        assert not found.found
        assert found.inside
    differential = first_singularity(leg(), dict(zip(HIP, (1, -1))), 0.04)
    assert differential.found
    assert differential.inside
    assert abs(differential.q[leg().joint("left_hip_roll").iq]) > math.radians(75.0)
    # Both motors pulled together: their linkages fold at the stroke at which one alone does, and determinants change twice
    one = first_singularity(leg(), {ANKLE[0]: -1.0}, 0.1)
    both = first_singularity(leg(), {ANKLE[0]: -1.0, ANKLE[1]: -1.0}, 0.1)
    assert both.distance == pytest.approx(one.distance, abs=1e-5)
    assert set(both.loops) == {"left_ankle_outer_butterfly_pin", "left_ankle_inner_butterfly_pin"}  # rounding names either first
    assert set(one.loops) < set(both.loops)


def test_manipulability_is_that_of_finite_differences():
    axes = {HIP[0]: [-0.01, 0.0], HIP[1]: [-0.01, 0.005], LENGTH: [0.02, 0.09]}
    found = ff.linkages.manipulability(leg(), SOLE, axes)
    assert (found.count, found.impossible, found.outside) == (8, 0, 0)
    assert found.linear.max() == found.angular.max() == 1.0
    for i in (0, 5):
        start = sweep(leg(), {n: [x] for n, x in zip(axes, found.motor_positions[i])}).q[0, 0, 0]
        columns = []
        for name in leg().actuated:
            at = start[leg().joint(name).iq]
            low, high = ff.frame_pose(leg(), sweep(leg(), {name: [at - 1e-6, at + 1e-6]}, start, limits=False).q, SOLE)
            turn = (high[:3, :3] - low[:3, :3]) @ high[:3, :3].T / 2e-6
            columns.append([*(high - low)[:3, 3] / 2e-6, turn[2, 1], turn[0, 2], turn[1, 0]])
        J = np.array(columns).T
        for got, peak, half in ((found.linear, found.peak_linear, J[:3]), (found.angular, found.peak_angular, J[3:])):
            assert got[i] * peak == pytest.approx(math.sqrt(np.linalg.det(half @ half.T)), rel=1e-4)
        np.testing.assert_allclose(found.position[i], ff.frame_pose(leg(), start, SOLE)[:3, 3], atol=1e-8)
    x = np.linspace(-0.04, 0.04, 5)
    found = ff.linkages.manipulability(leg(), SOLE, {HIP[0]: x, HIP[1]: x})
    swept = sweep(leg(), {HIP[0]: x, HIP[1]: x})
    assert found.impossible == (~swept.reached).sum() > 0
    assert found.outside > 0
    assert len(found.position) == found.count - found.impossible - found.outside


def test_joints_of_several_coordinates_move_with_all_of_them():
    joints = (ff.Joint("ball", "spherical", "world", "arm"), ff.Joint("reach", "prismatic", "arm", "tip", shifted(0.3)),
              ff.Joint("wag", "revolute", "tip", "hand", shifted(0.0, 0.0, 0.2), np.array([0.0, 1.0, 0.0])),
              ff.Joint("copy", "revolute", "hand", "nail", shifted(0.1), mimic=ff.Mimic("wag", 1.0, 0.0)))  # fmt: skip
    links = tuple(ff.Link(name, BAR) for name in ("world", "arm", "tip", "hand", "nail"))
    model = ff.build(ff.Description("ball arm", links, joints))
    for moving, columns in ((("ball",), [0, 1, 2]), (("wag", "ball"), [4, 0, 1, 2])):
        found = ff.linkages.manipulability(model, "hand", {"reach": [0.0, 0.2]}, moved_by=moving)
        for k, x in enumerate((0.0, 0.2)):
            J = ff.frame_jacobian(model, ff.configuration(model, reach=x), "hand", expressed="mixed")[:, columns]
            linear, angular = (math.sqrt(max(np.linalg.det(A @ A.T), 0.0)) for A in (J[:3], J[3:]))
            assert found.linear[k] * found.peak_linear == pytest.approx(linear, abs=1e-9)
            assert found.angular[k] * found.peak_angular == pytest.approx(angular, abs=1e-9)
        assert found.peak_angular > 0.9
    for moving, words in ((("wag", "reach"), "three coordinates"), (("wag", "wag", "ball"), "more than once"),
                          (("copy", "ball"), "of its own")):  # fmt: skip
        refused(ff.InputError, words, ff.linkages.manipulability, model, "hand", {"reach": [0.0]}, moved_by=moving)


def test_a_start_or_joint_that_does_not_fit_is_refused():
    assert (polygon_area(np.array([[0, 0], [2, 0], [2, 3], [0, 3]])), crank_turn(1.0, 1.0, 0.0)) == (6.0, 0.0)
    # A ball that a slider and its rod move has three; one that follows another has none
    rng = np.random.default_rng(3)
    model = stewart(rng)[0]
    for joint, words in (("float", "has 6 coordinates"), ("swivel0", "has 2 coordinates")):
        with pytest.raises(ff.InputError, match=f"joints of one coordinate; '{joint}' {words}"):
            reachable_set(model, ("stroke0", "stroke1"), (joint, "swivel1"))
    q = sweep(leg(), {HIP[0]: [0.03], HIP[1]: [-0.03]}).q[0, 0]
    assert abs(q[leg().joint("left_hip_roll").iq]) > math.radians(27.0)
    with pytest.raises(ff.InputError, match=r"'left_hip_roll' stands at -?0\.\d+ rad, outside of its range"):
        reachable_set(leg(), HIP, HIP_JOINTS, q)


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"motors": ("left_knee", LENGTH)}, ff.InputError, "'left_knee' is no motor"),
    ({"motors": HIP[:1]}, ff.InputError, "two motors and two joints; got 1 and 2"),
    ({"joints": ("left_ankle_roll", "left_ankle_pitch")}, ff.InputError, "do not move left_ankle_roll, left_ankle_pitch"),
    ({"joints": ("left_hip_rol", "left_hip_pitch")}, ff.UnknownNameError, "left_hip_roll"),
    ({"points": 3}, ff.InputError, "8 or more, got 3"),
])  # fmt: skip
def test_bad_regions(arguments, error, words):
    refused(error, words, lambda: reachable_set(leg(), **{"motors": HIP, "joints": HIP_JOINTS} | arguments))


def test_real_kangaroo(models_folder):
    """Figs 7 and 11 on the public model: hip pitch -40 to 42, ankle pitch -36 to 34 degrees, rolls +-27 (Table II).

    And section IV: singular at -0.07 and 0.05 m of both hip motors together, at 0.027 m of an ankle motor, slightly
    beyond 0.02 m of the ankle motors against each other.
    """
    real = ff.linkages.extract_limb(ff.load(models_folder / "kangaroo" / "kangaroo.xml"), "left_ankle_roll")
    hip, ankle = ("leg_left_2_motor", "leg_left_3_motor"), ("leg_left_4_motor", "leg_left_5_motor")
    for motors, joints, table in ((hip, ("leg_left_3_joint", "leg_left_2_joint"), (-27, 27, -40, 42)),
                                  (ankle, ("leg_left_5_joint", "leg_left_4_joint"), (-27, 27, -36, 34))):  # fmt: skip
        region = reachable_set(real, motors, joints, points=32)
        np.testing.assert_allclose(np.degrees(region.extent).ravel(), table, atol=1.0)
        assert region.convexity > 0.99
    for direction, place in ((dict.fromkeys(hip, 1), 0.05), (dict.fromkeys(hip, -1), 0.07), ({ankle[0]: 1}, 0.027),
                             (dict(zip(ankle, (1, -1))), 0.0202)):  # fmt: skip
        assert first_singularity(real, direction, 0.1).distance == pytest.approx(place, abs=1e-3)
