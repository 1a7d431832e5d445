"""Steps to the side: the divergent component of motion is back on its displaced plan as soon as a foot lands."""

import numpy as np
import pytest
from closeness import close

import freeflyer as ff
from freeflyer import control
from freeflyer.control.stepping import StepAdjustment
from freeflyer.control.support import middle_of

DT = 1e-3


def held_line(name, y):
    X = np.eye(4)
    X[1, 3] = y
    return ff.contacts.line(name, [[-0.08, 0.0, 0.0], [0.08, 0.0, 0.0]]).held_at(X)


@pytest.mark.parametrize("off", [0.0, 0.004, -0.006])
def test_a_step_takes_up_what_the_dcm_is_off(off):
    feet = [held_line("left", 0.13), held_line("right", -0.13)]
    footsteps = control.walk_forward(feet, 0.2, 4, step_duration=0.6, double_support=0.25, rest_duration=1.2)
    plan = control.walking_dcm(footsteps, 0.9)
    adjustment, side = StepAdjustment(footsteps, plan, DT), np.array([0.0, 1.0, 0.0])
    single, double = footsteps.phases[1:3]
    foot, dcm = middle_of(single.feet[0]), plan.dcm(single.begin) + off * side
    adjustment.enter(single)
    times = np.arange(single.begin, single.end, DT)
    motions = []
    for t in times:
        motions.append(adjustment.swing(t, dcm, foot, single.swings["left"](t)))
        dcm = dcm + (np.exp(plan.omega * DT) - 1.0) * (dcm - foot)  # the pressure rests on the line
    adjustment.enter(double)
    close((dcm - plan.dcm(times[-1] + DT) - adjustment.plan_shift) @ side, 0.0, 1e-4, least=1.0)
    assert abs(adjustment.plan_shift @ side) > 3.0 * abs(off) - 1e-9
    landed = motions[-1].target[:3, 3] - single.swings["left"](single.end).target[:3, 3]
    close(landed @ side, adjustment.foot_shifts["left"] @ side, 1e-4, least=1.0)
    np.testing.assert_array_equal(adjustment.foot_shifts["right"], 0.0)


@pytest.mark.slow
def test_a_robot_without_soles_walks(models_folder):
    """Without adjusted steps it fell after 4.4 s."""
    path = models_folder / "cassie" / "cassie.xml"
    tree = ff.load(path)
    springs = [f"{side}-{part}" for side in ("left", "right") for part in ("shin", "heel-spring")]
    robot = control.stand_on_feet(ff.lock_joints(tree, springs, tree.keyframes["home"]), path=path)
    run = control.run_scenario("walk", robot.model, q=robot.q, feet=robot.feet, steps=6, duration=5.2, dt=2e-3)
    assert not run.fell
    assert run.largest_errors()["CenterOfMassTask"].m < 0.02
