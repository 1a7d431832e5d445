"""The Kangaroo-like lower body: exact closure, mirror symmetry, mobility, geometry."""

import freeflyer as ff
import numpy as np
import pytest
from freeflyer.robots import kangaroo
from freeflyer.robots.kangaroo import GROUND
from test_robots_all import center_of_mass, poses_at_zero


def test_legs_and_loops():
    model = ff.robots.kangaroo_like()
    for side in ("left", "right"):
        own = [name for name in model.joint_names if name.startswith(side)]
        motors = [name for name in own if name in model.actuated]
        assert (len(own), len(motors)) == (38, 6)
        assert all(model.joint(name).kind == "prismatic" for name in motors)
    assert len(model.actuated) == 12
    poses = poses_at_zero(model.description)
    for loop in model.loops:
        gap = poses[loop.frame_a] - poses[loop.frame_b]
        assert np.abs(gap).max() < 3e-16, loop.name
    # The passive part of the loop Jacobian is square and regular: Assumptions 1 and 2 of the paper
    J = ff.linkages.constraint_jacobian(model, model.neutral)
    motors = [model.joint(name).iv for name in model.actuated]
    passive = [i for i in range(6, model.nv) if i not in motors]
    assert J.shape == (64, 82)
    assert np.abs(J[:, :6]).max() < 1e-15
    assert np.linalg.svd(J[:, passive], compute_uv=False)[-1] > 5e-3
    moved = -np.linalg.solve(J[:, passive], J[:, motors])
    knees = [passive.index(model.joint(f"{side}_knee").iv) for side in ("left", "right")]
    lengths = [model.actuated.index(f"{side}_length_motor") for side in ("left", "right")]
    assert np.abs(moved[knees][:, lengths] - np.diag(moved[knees][:, lengths].diagonal())).max() < 1e-12
    assert (moved[knees, lengths] > 10.0).all()  # rad/m: the actuator bends the knee
    # 42 kg; the actuators are near the pelvis, so that the centre of mass is too, and shank and foot are light
    assert model.mass == pytest.approx(42.0, abs=0.1)
    com = center_of_mass(model.description)
    assert com[1] == pytest.approx(0.0, abs=1e-12)
    assert -0.15 < com[2] < 0.0
    low = ("knee", "ankle_pitch", "ankle_roll", "butterfly", "cross", "lower_bar", "fork")
    below = [x for x in model.description.links if x.name.startswith("left") and x.name.split("_link")[0].endswith(low)]
    assert sum(x.inertia.mass for x in below) < 0.05 * model.mass
    for side in ("left", "right"):
        corners = [name for name in poses if name.startswith(f"{side}_sole")]
        assert len(corners) == 5
        for name in corners:
            assert poses[name][2, 3] == pytest.approx(GROUND, abs=1e-15)
            np.testing.assert_array_equal(poses[name][:3, :3], np.eye(3))
        np.testing.assert_allclose(poses[f"{side}_sole"][0, 3], 0.0, atol=1e-15)


def test_rods_and_their_housings_lie_along_the_motors_axes():
    parts = kangaroo.hip_yaw("b"), kangaroo.hip(), kangaroo.knee(), kangaroo.ankle()
    pieces = {piece.name: piece for part in parts for piece in part[0]}
    motors = [p for p in pieces.values() if p.motor]
    assert len(motors) == 6
    for motor in motors:
        for piece in (motor, pieces[motor.parent])[: 1 + motor.parent.endswith("housing")]:
            start, end = piece.solid
            np.testing.assert_allclose(np.cross(end - start, motor.axis), 0.0, atol=1e-15, err_msg=piece.name)


def test_linkages_of_thigh_and_ankle():
    pieces = {p.name: p for p in kangaroo.knee()[0]}
    for degrees in (10.0, 200.0):
        crank = np.array(kangaroo.KNEE) - 0.3 * np.array(kangaroo.direction(degrees))
        assert kangaroo.crank_to_knee(crank) == pytest.approx(degrees)
    # The rocker's length at thigh angles of 0, 30 and 60 degrees: the elbow stays on the line and on the arc
    hip, rocker = np.array(kangaroo.HIP_AXIS), np.array(pieces["rocker"].point)
    for swing in (0.0, 30.0, 60.0):
        crank = np.array(kangaroo.direction(150.0 + swing))
        arm = np.array(kangaroo.direction(210.0 - swing))
        elbow = hip + kangaroo.CRANK * (crank + arm)
        assert elbow[2] == pytest.approx(hip[2], abs=1e-15)
        assert np.linalg.norm(elbow - rocker) == pytest.approx(kangaroo.ROCKER, abs=2e-4)
    pieces = {p.name: p for p in kangaroo.ankle()[0]}
    cuts = {c.name: np.array(c.point) for c in kangaroo.ankle()[1]}
    for side in ("outer", "inner"):
        top, bottom = (np.array(pieces[f"ankle_{side}_{n}"].point) for n in ("upper_bar", "lower_bar"))
        upper, lower = cuts[f"ankle_{side}_butterfly_pin"] - top, cuts[f"ankle_{side}_heel_joint"] - bottom
        np.testing.assert_allclose(upper, np.subtract(kangaroo.KNEE, kangaroo.HIP_AXIS), atol=1e-15)
        np.testing.assert_allclose(lower, np.subtract(kangaroo.ANKLE, kangaroo.KNEE), atol=1e-15)
