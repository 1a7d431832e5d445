"""Paths of one motor and what the linkage makes of its motion and force, against differences and trigonometry."""

import freeflyer as ff
import math
import numpy as np
import pytest
from closeness import refused
from freeflyer.linkages.following import Keep, follow, force_curve, transmission_curve
from freeflyer.robots import kangaroo
from kangaroo_leg import ANKLE, LENGTH, SOLE, YAW, crank_turn, leg, triangle_angle

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
    ({"values": [0.0, 0.2]}, ff.InputError, "'left_length_motor' moves from 0 to 0.15 m; 0.2 is outside of its stroke"),
    ({"driver": "left_knee"}, ff.InputError, "no motor with one coordinate"),
    ({"release": ANKLE}, ff.InputError, "nothing determines"),
    ({"keep": [UPRIGHT, Keep(SOLE, "base_link")]}, ff.InputError, "tasks cannot all be kept"),
    ({"release": ("left_knee",)}, ff.InputError, "'left_knee' is no motor that can be released"),
    ({"hold": ("left_kneee",)}, ff.UnknownNameError, "left_knee"),
    ({"keep": [Keep("left_soul", "base_link")]}, ff.UnknownNameError, "left_sole"),
])  # fmt: skip
def test_bad_paths(arguments, error, words):
    refused(error, words, lambda: follow(leg(), **{"driver": LENGTH, "values": [0.0, 0.05]} | arguments))
