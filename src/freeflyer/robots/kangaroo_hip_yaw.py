"""Hip yaw of the Kangaroo-like robot, RRPR: a linear actuator beside the hip turns the leg by a short arm.

The loop, from the base and back to it:

    base - R (the housing turns) - P (the rod) - R (pin on the arm: the cut) - R (hip yaw) - base"""

from __future__ import annotations

import math

from freeflyer.robots.kangaroo_parts import (
    IN_XY,
    STRUT,
    Cut,
    Motor,
    Piece,
    Point,
    SubMechanism,
    Z,
    shift_point,
    unit_vector,
)

AXIS: Point = (0.0, 0.09, -0.06)  # where the hip yaw axis meets the plane of the actuator
ARM = 0.04  # m: full stroke is half the arm, 30 degrees
ROD_LENGTH = 0.12  # m, from the housing's pivot to the pin, at a right angle to the arm
ARM_DIRECTION = 60.0  # degrees from x towards y
STROKE = Motor(-0.02, 0.02, 3000.0, 0.5)
LIMIT = math.radians(35.0)  # stops beyond what the actuator reaches


def hip_yaw(root: str) -> SubMechanism:
    """The sub-mechanism of the left leg; the link `hip_yaw` carries the rest of the leg."""
    turn = math.radians(ARM_DIRECTION)
    pin = shift_point(AXIS, (math.cos(turn), math.sin(turn), 0.0), ARM)
    pivot = shift_point(pin, (-math.sin(turn), math.cos(turn), 0.0), ROD_LENGTH)
    along = unit_vector(pivot, pin)
    hip = (AXIS[0], AXIS[1], AXIS[2] - 0.09)
    pieces = (
        Piece("yaw_housing", root, pivot, Z, 0.7, (pivot, shift_point(pivot, along, 0.08)), STRUT),
        Piece("yaw_motor", "yaw_housing", pin, along, 0.12, (shift_point(pin, along, -0.09), pin), motor=STROKE),
        Piece("hip_yaw", root, AXIS, Z, 0.9, (AXIS, hip), 0.045, limits=(-LIMIT, LIMIT)),
    )
    return SubMechanism("RRPR", pieces, (Cut("yaw_pin", "hip_yaw", "yaw_motor", pin, IN_XY),))
