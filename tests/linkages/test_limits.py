"""Limits, singularities, manipulability and transmission curves, against grids, trigonometry and differences."""

import freeflyer as ff
import math
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.linkages.following import Keep, follow, force_curve, transmission_curve
from freeflyer.linkages.limits import first_singularity, polygon_area, reachable_set
from freeflyer.linkages.submechanisms import embed_configuration, extract_configuration, extract_limb
from freeflyer.linkages.sweeping import sweep
from freeflyer.robots import kangaroo
from kangaroo_leg import ANKLE, HIP, LENGTH, SOLE, YAW, crank_turn, leg, triangle_angle, whole
from linkage_samples import BAR, shifted, stewart
from matplotlib.path import Path
from scipy.optimize import brentq

HIP_JOINTS, ANKLE_JOINTS = (("left_hip_roll", "left_hip_pitch"), ("left_ankle_roll", "left_ankle_pitch"))


@pytest.fixture(scope="module", params=[(HIP, HIP_JOINTS), (ANKLE, ANKLE_JOINTS)], ids=["hip", "ankle"])
def region(request):
    return reachable_set(leg(), *request.param, points=48)


def contains(polygon, points, slack):
    """Whether each point is inside of a polygon or within `slack` of it, whichever way round its corners are."""
    widths = (-2.0 * slack, 2.0 * slack)  # half of them on each side of an edge
    return np.any([Path(polygon).contains_points(points, radius=width) for width in widths], axis=0)


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
    np.testing.assert_allclose(found, expected, atol=1e-9)
    # There it could fold over: Newton's method finds postures beyond, of which only the determinant's sign warns

    def lean(angle):
        return math.sqrt(k.PUSH_ROD**2 - (k.PIN * math.sin(angle) - k.SLIDE_OFFSET) ** 2)

    stroke = k.PIN * (math.cos(k.START) - 1.0) - lean(k.START) + lean(0.0)
    assert -first_singularity(leg(), {LENGTH: -1.0}, 0.3).distance == pytest.approx(stroke, abs=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_yaw_is_singular_where_rod_and_arm_are_in_line(sign):
    arm, rod = kangaroo.YAW_ARM, kangaroo.YAW_ROD_LENGTH
    found = first_singularity(leg(), {YAW: sign}, 0.1)
    assert found.distance == pytest.approx(abs(math.hypot(arm, rod) + sign * arm - rod), abs=1e-6)
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
    joints = (ff.Joint("ball", "spherical", "world", "arm"),
              ff.Joint("reach", "prismatic", "arm", "tip", shifted(0.3)),
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
                          (("copy", "ball"), "'copy' has no coordinate of its own: name the joint that it follows")):  # fmt: skip
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


def test_real_kangaroo(models_folder):
    """Figs 7 and 11 and Table II on the public model; singular places of section IV."""
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


STROKE = np.linspace(0.0, 0.15, 31)
UPRIGHT = Keep(SOLE, "left_hip_roll_link", (0, 0, 0, 1, 1, 1))


@pytest.fixture(scope="module")
def squat():
    return follow(leg(), LENGTH, STROKE)


def test_knee_curve(squat):
    """Nut and pin: distance along the slide between them is set by the crank; Kangaroo paper, Fig 12."""
    knee = transmission_curve(leg(), squat, "left_knee")
    start = kangaroo.START
    for stroke, angle in zip(STROKE[::6], knee.y[::6]):
        pin = kangaroo.PIN
        lean = [math.sqrt(kangaroo.PUSH_ROD**2 - (pin * math.sin(a) - kangaroo.SLIDE_OFFSET) ** 2)
                for a in (start, start + angle)]  # fmt: skip
        assert pin * (math.cos(start) - math.cos(start + angle)) - lean[0] + lean[1] == pytest.approx(stroke, abs=1e-9)
    assert knee.y[-1] == pytest.approx(math.radians(120.0), abs=1e-9)
    fine = follow(leg(), LENGTH, np.concatenate([STROKE[1:-1] - 1e-6, STROKE[1:-1] + 1e-6]))
    low, high = transmission_curve(leg(), fine, "left_knee").y.reshape(2, -1)
    np.testing.assert_allclose(knee.slopes[1:-1], (high - low) / 2e-6, rtol=1e-4)
    rest = knee.y - knee.slope * knee.x - knee.offset
    assert abs(rest.sum()) < 1e-9
    assert abs(rest @ knee.x) < 1e-9
    assert knee.deviation == pytest.approx(np.abs(rest).max())


def test_the_sole_of_a_squat(squat):
    """Fig 13: released, with the sole's orientation towards the hip kept, the ankle's motors do not move."""
    path = follow(leg(), LENGTH, STROKE, keep=[UPRIGHT], release=ANKLE)
    assert path.reached.all()
    for name in ANKLE:
        np.testing.assert_allclose(path.joint(leg(), name), 0.0, atol=1e-8)
    turn = ff.frame_pose(leg(), path.q, SOLE)[:, :3, :3] - np.eye(3)
    np.testing.assert_allclose(turn, 0.0, atol=1e-8)
    knee, ankle, thigh = (path.joint(leg(), f"left_{n}") for n in ("knee", "ankle_pitch", "thigh"))
    np.testing.assert_allclose(knee + ankle + thigh, 0.0, atol=1e-8)
    np.testing.assert_allclose(path.joint(leg(), "left_knee"), squat.joint(leg(), "left_knee"), atol=1e-8)
    # Power in is power out: F dz = f dl, dz from postures found anew; Fig 15's order of greatest and least
    curve = force_curve(leg(), squat, SOLE, 5000.0)
    fine = follow(leg(), LENGTH, np.concatenate([STROKE[1:-1] - 1e-6, STROKE[1:-1] + 1e-6]))
    low, high = ff.frame_pose(leg(), fine.q, SOLE)[:, 2, 3].reshape(2, -1)
    np.testing.assert_allclose(curve.force[1:-1] * (high - low), 5000.0 * 2e-6, rtol=1e-4)
    np.testing.assert_allclose(curve.ratio, curve.force / 5000.0)
    assert curve.smallest == len(STROKE) - 1
    assert 0.2 < curve.position[curve.largest] / 0.15 < 0.8
    assert curve.force[-1] < curve.force[0] < curve.force[curve.largest]
    upside_down = force_curve(leg(), squat, SOLE, 5000.0, direction=(0, 0, -2))
    np.testing.assert_allclose(upside_down.force, -curve.force)


def test_a_constant_ankle_needs_its_motors():
    """Fig 14: the pendulums then turn with the shank, and the law of cosines gives the motors' positions."""
    x = np.linspace(0.0, 0.03, 7)
    path = follow(leg(), LENGTH, x, hold=("left_ankle_pitch", "left_ankle_roll"), release=ANKLE)
    np.testing.assert_allclose(path.joint(leg(), "left_ankle_pitch"), 0.0, atol=1e-12)
    shank = path.joint(leg(), "left_thigh") + path.joint(leg(), "left_knee")
    arm, rod = kangaroo.DRIVEN, kangaroo.ROD_LENGTH
    for name in ANKLE:
        turned = [crank_turn(arm, rod, -s) for s in path.joint(leg(), name)]  # a motor pulls where it is positive
        np.testing.assert_allclose(turned, -shank, atol=1e-8)
    assert np.abs(path.joint(leg(), ANKLE[0])[-1]) > 5e-3
    assert path.outside == {}
    path = follow(leg(), LENGTH, np.linspace(0, 0.12, 25), hold=("left_ankle_pitch", "left_ankle_roll"), release=ANKLE)
    assert set(path.outside) == set(ANKLE)
    first, _ = path.outside[ANKLE[0]]
    inside = np.abs(path.joint(leg(), ANKLE[0])) <= 0.02
    assert first == path.values[~inside & path.reached][0]


def test_yaw_and_the_base_of_a_whole_robot():
    path = follow(leg(), YAW, [0.0, 0.01])
    assert np.isinf(force_curve(leg(), path, "left_hip_yaw_link", 100.0).force).all()
    assert triangle_angle(3, 4, 5) == pytest.approx(math.pi / 2)
    robot = ff.robots.kangaroo_like()
    path = follow(robot, LENGTH, [0.0, 0.05], keep=[UPRIGHT], release=ANKLE)
    np.testing.assert_array_equal(path.q[:, :7], [robot.neutral[:7]] * 2)
    np.testing.assert_allclose(path.joint(robot, "left_knee"), follow(leg(), LENGTH, [0.0, 0.05]).joint(leg(), "left_knee"),
        atol=1e-8)  # fmt: skip


def test_hip_yaw_is_a_slider_crank():
    x = np.linspace(-0.02, 0.02, 9)
    swept = sweep(leg(), {YAW: x})
    expected = [-crank_turn(kangaroo.YAW_ARM, kangaroo.YAW_ROD_LENGTH, s) for s in x]
    np.testing.assert_allclose(swept.q[..., leg().joint("left_hip_yaw").iq], expected, atol=1e-9)
    # The crank and the rod are in line where the rod is as long as the base plus or minus the arm
    arm, rod = kangaroo.YAW_ARM, kangaroo.YAW_ROD_LENGTH
    low, high = math.hypot(arm, rod) - arm - rod, math.hypot(arm, rod) + arm - rod
    x = np.linspace(-0.06, 0.06, 121)
    swept = sweep(leg(), {YAW: x}, limits=False)
    possible = (x > low) & (x < high)
    assert 0 < possible.sum() < len(x)
    np.testing.assert_array_equal(swept.reached, possible)
    assert np.isnan(swept.q[~possible]).all()
    assert swept.gap[possible].max() < 1e-8


def test_every_state_is_closed_and_as_assembled_alone():
    rng = fresh(1)
    axes = {LENGTH: rng.uniform(0, 0.15, 4), HIP[0]: rng.uniform(-0.03, 0.01, 3), ANKLE[1]: rng.uniform(-0.015, 0.015, 3)}
    swept = sweep(leg(), axes)
    assert swept.q.shape == (4, 3, 3, leg().nq)
    assert swept.reached.all()
    for i, j, k in ((0, 0, 0), (3, 2, 1), (1, 2, 2)):
        q = swept.q[i, j, k]
        for name, at in zip(axes, (i, j, k)):
            assert q[leg().joint(name).iq] == pytest.approx(axes[name][at], abs=1e-15)
        guess = q + rng.normal(0, 0.003, leg().nq)
        guess[[leg().joint(n).iq for n in leg().actuated]] = q[[leg().joint(n).iq for n in leg().actuated]]
        alone = ff.linkages.assemble(leg(), guess, hold="actuated", limits=False).q
        np.testing.assert_allclose(q, alone, atol=1e-7)
    np.testing.assert_allclose(ff.linkages.constraint_residual(leg(), swept.q), 0.0, atol=1e-8)
    a, b = np.linspace(-0.02, 0.02, 3), np.linspace(0.0, 0.1, 4)
    one, two = sweep(leg(), {HIP[1]: a, LENGTH: b}), sweep(leg(), {LENGTH: b, HIP[1]: a})
    np.testing.assert_allclose(one.q, two.q.swapaxes(0, 1), atol=1e-8)
    heard = []
    sweep(leg(), {HIP[1]: [0.0, 0.01], LENGTH: [0.0, 0.01, 0.02]}, progress=lambda fraction, what: heard.append(fraction))
    assert (heard, heard[-1]) == (sorted(heard), pytest.approx(1.0))


def test_a_limb_keeps_its_linkage_and_nothing_else():
    assert set(leg().joint_names) == {n for n in whole().joint_names if n.startswith("left")}
    q = sweep(leg(), {LENGTH: [0.1]}).q[0]
    full = embed_configuration(leg(), whole(), q, whole().neutral)
    np.testing.assert_array_equal(extract_configuration(leg(), whole(), full), q)
    np.testing.assert_allclose(ff.frame_pose(whole(), full, SOLE), ff.frame_pose(leg(), q, SOLE), atol=1e-14)
    humanoid = ff.robots.humanoid()
    arm = extract_limb(humanoid, "left_palm", humanoid.neutral)
    waist = {"waist_yaw", "waist_pitch", "waist_roll", "chest_pitch"}
    assert set(arm.joint_names) <= waist | {n for n in humanoid.joint_names if n.startswith("left")}
    assert "left_elbow" in arm.joint_names
    assert "left_knee" not in arm.joint_names
    x, q = sweep(leg(), {LENGTH: [0.0, 0.05, 0.1]}).q, whole().neutral
    full = embed_configuration(leg(), whole(), x, np.tile(q, (2, 1, 1)))
    assert full.shape == (2, 3, whole().nq)
    np.testing.assert_array_equal(full[1], embed_configuration(leg(), whole(), x, q))
    np.testing.assert_array_equal(extract_configuration(leg(), whole(), full)[0], x)


def region_of(**changes):
    return reachable_set(leg(), **{"motors": HIP, "joints": HIP_JOINTS} | changes)


def path_of(**changes):
    return follow(leg(), **{"driver": LENGTH, "values": [0.0, 0.05]} | changes)


@pytest.mark.parametrize(("call", "arguments", "error", "words"), [
    (region_of, {"motors": ("left_knee", LENGTH)}, ff.InputError, "'left_knee' is no motor"),
    (region_of, {"motors": HIP[:1]}, ff.InputError, "two motors and two joints; got 1 and 2"),
    (region_of, {"joints": ANKLE_JOINTS}, ff.InputError, "do not move left_ankle_roll, left_ankle_pitch"),
    (region_of, {"joints": ("left_hip_rol", "left_hip_pitch")}, ff.UnknownNameError, "left_hip_roll"),
    (region_of, {"points": 3}, ff.InputError, "8 or more, got 3"),
    (path_of, {"values": [0.0, 0.2]}, ff.InputError, "would stand at 0.2 m in posture 1 of 2, outside of its range 0 to 0.15"),
    (path_of, {"driver": "left_knee"}, ff.InputError, "no motor of one coordinate"),
    (path_of, {"release": ANKLE}, ff.InputError, "nothing determines"),
    (path_of, {"keep": [UPRIGHT, Keep(SOLE, "base_link")]}, ff.InputError, "tasks cannot all be kept"),
    (path_of, {"release": ("left_knee",)}, ff.InputError, "'left_knee' is no motor that can be released"),
    (path_of, {"hold": ("left_kneee",)}, ff.UnknownNameError, "left_knee"),
    (path_of, {"keep": [Keep("left_soul", "base_link")]}, ff.UnknownNameError, "left_sole"),
    (sweep, {"left_knee": [0.1]}, ff.InputError, "'left_knee' is no motor.*loops determine it.*drive one of.*left_length_motor"),
    (sweep, {"left_length_moter": [0.1]}, ff.UnknownNameError, "Did you mean 'left_length_motor'"),
    (sweep, {LENGTH: [0.1, math.nan]}, ff.InputError, "every entry must be finite"),
    (sweep, {LENGTH: [[0.1]]}, ff.InputError, r"shape \(1, 1\)"),
    (sweep, {LENGTH: []}, ff.InputError, r"shape \(0,\)"),
    (sweep, {LENGTH: [0.1, 0.3]}, ff.InputError, "would stand at 0.3 m in posture 1 of 2, outside of its range 0 to 0.15"),
])  # fmt: skip
def test_bad_regions_paths_and_axes(call, arguments, error, words):
    refused(error, words, lambda: call(leg(), arguments) if call is sweep else call(**arguments))


def test_limbs_that_cannot_be_cut_out():
    q = whole().neutral
    for side in ("left", "right"):  # the limb's own loops, and those of joints that would be locked
        opened = ff.linkages.partition(whole()).q.copy()
        opened[whole().joint(f"{side}_knee").iq] += 1e-3
        refused(ff.linkages.LinkageError, "a limb keeps the posture .* assemble it first", extract_limb, whole(), SOLE, opened)
    assert extract_limb(whole(), SOLE, ff.linkages.partition(whole()).q).nq == leg().nq
    for wrong, words in ((np.tile(q, (2, 1)), "one state"), (q * np.nan, "finite"), (q[:-1], "expected")):
        refused(ff.InputError, words, extract_limb, whole(), SOLE, wrong)
    refused(ff.InputError, "no joint but the base moves frame 'imu'", lambda: extract_limb(whole(), "imu"))
    refused(ff.UnknownNameError, "", lambda: extract_limb(whole(), "left_soul"))
