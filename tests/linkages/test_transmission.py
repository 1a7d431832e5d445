"""Paths of one motor and what the linkage makes of its motion and force, against differences and trigonometry. Continuation
over motor positions, against trigonometry and against assembling every posture afresh."""

import freeflyer as ff
import math
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.linkages.following import Keep, follow, force_curve, transmission_curve
from freeflyer.linkages.submechanisms import embed_configuration, extract_configuration, extract_limb
from freeflyer.linkages.sweeping import sweep
from freeflyer.robots import kangaroo
from kangaroo_leg import ANKLE, HIP, LENGTH, SOLE, YAW, crank_turn, leg, triangle_angle, whole

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
    path = follow(leg(), YAW, [-0.01, 0.01])
    got = transmission_curve(leg(), path, "left_hip_yaw").y
    np.testing.assert_allclose(got, [-crank_turn(0.04, 0.12, s) for s in (-0.01, 0.01)], atol=1e-9)
    assert triangle_angle(3, 4, 5) == pytest.approx(math.pi / 2)
    robot = ff.robots.kangaroo_like()
    path = follow(robot, LENGTH, [0.0, 0.05], keep=[UPRIGHT], release=ANKLE)
    np.testing.assert_array_equal(path.q[:, :7], [robot.neutral[:7]] * 2)
    np.testing.assert_allclose(
        path.joint(robot, "left_knee"), follow(leg(), LENGTH, [0.0, 0.05]).joint(leg(), "left_knee"), atol=1e-8
    )


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"values": [0.0, 0.2]}, ff.InputError, "would stand at 0.2 m in posture 1 of 2, outside of its range 0 to 0.15"),
    ({"driver": "left_knee"}, ff.InputError, "no motor with one coordinate"),
    ({"release": ANKLE}, ff.InputError, "nothing determines"),
    ({"keep": [UPRIGHT, Keep(SOLE, "base_link")]}, ff.InputError, "tasks cannot all be kept"),
    ({"release": ("left_knee",)}, ff.InputError, "'left_knee' is no motor that can be released"),
    ({"hold": ("left_kneee",)}, ff.UnknownNameError, "left_knee"),
    ({"keep": [Keep("left_soul", "base_link")]}, ff.UnknownNameError, "left_sole"),
])  # fmt: skip
def test_bad_paths(arguments, error, words):
    refused(error, words, lambda: follow(leg(), **{"driver": LENGTH, "values": [0.0, 0.05]} | arguments))


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


@pytest.mark.parametrize(("axes", "error", "words"), [
    ({"left_knee": [0.1]}, ff.InputError, "loops determine joint 'left_knee'.*drive one of.*left_length_motor"),
    ({"left_length_moter": [0.1]}, ff.UnknownNameError, "Did you mean 'left_length_motor'"),
    ({LENGTH: [0.1, math.nan]}, ff.InputError, "row of finite numbers"),
    ({LENGTH: [[0.1]]}, ff.InputError, r"shape \(1, 1\)"), ({LENGTH: []}, ff.InputError, r"shape \(0,\)"),
    ({LENGTH: [0.1, 0.3]}, ff.InputError, "would stand at 0.3 m in posture 1 of 2, outside of its range 0 to 0.15"),
])  # fmt: skip
def test_bad_axes(axes, error, words):
    refused(error, words, lambda: sweep(leg(), axes))


def test_limbs_that_cannot_be_cut_out():
    q = whole().neutral
    for side in ("left", "right"):  # the limb's own loops, and those of joints that would be locked
        opened = ff.linkages.partition(whole()).q.copy()
        opened[whole().joint(f"{side}_knee").iq] += 1e-3
        with pytest.raises(ff.linkages.LinkageError, match=r"a limb keeps the posture .* assemble it first"):
            extract_limb(whole(), SOLE, opened)
    assert extract_limb(whole(), SOLE, ff.linkages.partition(whole()).q).nq == leg().nq
    for wrong, words in ((np.tile(q, (2, 1)), "one state"), (q * np.nan, "finite"), (q[:-1], "expected")):
        refused(ff.InputError, words, extract_limb, whole(), SOLE, wrong)
    refused(ff.InputError, "no joint but the base moves frame 'imu'", lambda: extract_limb(whole(), "imu"))
    refused(ff.UnknownNameError, "", lambda: extract_limb(whole(), "left_soul"))
