"""The left leg of the Kangaroo-like robot, and its plane trigonometry, without any of the code under test."""

import freeflyer as ff
import functools
import math

SOLE = "left_sole"
YAW, LENGTH = "left_yaw_motor", "left_length_motor"
HIP = ("left_hip_outer_motor", "left_hip_inner_motor")
ANKLE = ("left_ankle_outer_motor", "left_ankle_inner_motor")


@functools.cache
def whole() -> ff.Model:
    return ff.robots.kangaroo_like()


@functools.cache
def leg() -> ff.Model:
    return ff.linkages.extract_limb(whole(), SOLE)


def triangle_angle(a: float, b: float, opposite: float) -> float:
    """The angle between sides a and b of a triangle whose third side is `opposite`: law of cosines."""
    return math.acos((a * a + b * b - opposite * opposite) / (2.0 * a * b))


def crank_turn(arm: float, rod: float, stroke: float) -> float:
    """How far a crank turns when the rod that stood at a right angle to it becomes longer by `stroke`."""
    base = math.hypot(arm, rod)
    return triangle_angle(arm, base, rod + stroke) - triangle_angle(arm, base, rod)
