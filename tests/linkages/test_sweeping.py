"""Continuation over motor positions, against trigonometry and against assembling every posture afresh."""

import freeflyer as ff
import math
import numpy as np
import pytest
from closeness import fresh, refused
from freeflyer.linkages.submechanisms import embed_configuration, extract_configuration, extract_limb
from freeflyer.linkages.sweeping import sweep
from freeflyer.robots import kangaroo
from kangaroo_leg import ANKLE, HIP, LENGTH, SOLE, YAW, crank_turn, leg, whole


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
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1.0)


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
    ({LENGTH: [0.1, 0.3]}, ff.InputError, "moves from 0 to 0.15 m; 0.3 is outside of its stroke"),
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
        with pytest.raises(ff.InputError, match=words):
            extract_limb(whole(), SOLE, wrong)
    refused(ff.InputError, "no joint but the base moves frame 'imu'", lambda: extract_limb(whole(), "imu"))
    refused(ff.UnknownNameError, "", lambda: extract_limb(whole(), "left_soul"))
