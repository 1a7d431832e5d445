"""Robots with inputs that tests of control share."""

from functools import cache

import numpy as np

import freeflyer as ff
from freeflyer import control, robots


@cache
def aerial() -> tuple[ff.Model, control.Inputs, np.ndarray]:
    """The flying arm, its motors and six propellers, and a posture with the arm bent."""
    model = robots.aerial_manipulator()
    q = ff.neutral(model)
    q[model.joint("arm_joint_2").iq] = 0.6
    return model, control.joint_inputs(model) + control.rotor_inputs(model), q


@cache
def satellite() -> tuple[ff.Model, control.Inputs, np.ndarray]:
    """The space arm with motors, thrusters and reaction wheels on its satellite, and a posture with the arm bent."""
    model = robots.space_manipulator()
    q = ff.neutral(model)
    q[7:] = 0.3
    return model, control.joint_inputs(model) + control.wrench_inputs(model, "satellite"), q
