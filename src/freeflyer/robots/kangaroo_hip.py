"""Hip of the Kangaroo-like robot. Pitch and roll, U-2RRPU: two actuators in front work together and against each other.

Pitch, then roll, carry the leg. Beside them stand two braces, one on either side:

    hip yaw - R (cradle, about x) - R (housing, about y) - P (rod) - U (the cut) - R (about x) - the leg

A cut that left only a hinge would lock the hip as soon as pitch and roll both differ from zero: the rods must lean sideways (roll
shortens the distance between them) while the cradle's plane cannot. So the cut ties the point and one angle, four rows (Kangaroo
paper, (20)), and leaves a universal joint.

Yaw, RRPR, is turned by an actuator beside the hip through a short arm:

    base - R (the housing turns) - P (the rod) - R (pin on the arm: the cut) - R (hip yaw) - base"""

from __future__ import annotations

import math

from freeflyer.robots.kangaroo_parts import BALL_WITH_ANGLE, IN_XY, X, Y, Z, shift_point, unit_vector
from freeflyer.robots.kangaroo_pieces import STRUT, Cut, Motor, Piece, Point, SubMechanism

AXIS: Point = (0.0, 0.09, -0.06)  # where the hip yaw axis meets the plane of the actuator
YAW_ARM = 0.04  # m: full stroke is half the arm, 30 degrees
YAW_ROD_LENGTH = 0.12  # m, from the housing's pivot to the pin, at a right angle to the arm
YAW_ARM_DIRECTION = 60.0  # degrees from x towards y
YAW_STROKE = Motor(-0.02, 0.02, 3000.0, 0.5)
YAW_STOP = math.radians(35.0)  # stops beyond what the actuator reaches


def hip_yaw(root: str) -> SubMechanism:
    """The sub-mechanism of the left leg; the link `hip_yaw` carries the rest of the leg."""
    turn = math.radians(YAW_ARM_DIRECTION)
    pin = shift_point(AXIS, (math.cos(turn), math.sin(turn), 0.0), YAW_ARM)
    pivot = shift_point(pin, (-math.sin(turn), math.cos(turn), 0.0), YAW_ROD_LENGTH)
    along = unit_vector(pivot, pin)
    hip = (AXIS[0], AXIS[1], AXIS[2] - 0.09)
    pieces = (
        Piece("yaw_housing", root, pivot, Z, 0.7, (pivot, shift_point(pivot, along, 0.08)), STRUT),
        Piece("yaw_motor", "yaw_housing", pin, along, 0.12, (shift_point(pin, along, -0.09), pin), motor=YAW_STROKE),
        Piece("hip_yaw", root, AXIS, Z, 0.9, (AXIS, hip), 0.045, limits=(-YAW_STOP, YAW_STOP)),
    )
    return SubMechanism("RRPR", pieces, (Cut("yaw_pin", "hip_yaw", "yaw_motor", pin, IN_XY),))


CENTER: Point = (0.0, AXIS[1], AXIS[2] - 0.09)  # where pitch and roll axes meet
ARM = 0.06  # m: the rods end this far in front of the centre
HALF_WIDTH = 0.04  # m: and this far to either side; a stroke of as much, differentially, is singular at 90 degrees
CRADLE_X, CRADLE_Z = 0.05, 0.10  # m: the cradles, in front of and above the centre
STROKE = Motor(-0.04, 0.04, 3000.0, 0.5)
PITCH_STOP, ROLL_STOP = math.radians(42.5), math.radians(27.0)


def hip() -> SubMechanism:
    """The sub-mechanism of the left leg; the link `hip_roll` carries the thigh and its actuators."""
    x, y, z = CENTER
    pelvis = ((x - 0.03, y + 0.01, z - 0.02), (x - 0.03, y + 0.05, z - 0.11))
    pieces = [
        Piece("hip_pitch", "hip_yaw", CENTER, Y, 0.1, (shift_point(CENTER, Y, -0.02), shift_point(CENTER, Y, 0.02)),
              limits=(-PITCH_STOP, PITCH_STOP)),
        Piece("hip_roll", "hip_pitch", CENTER, X, 2.0, pelvis, 0.05, limits=(-ROLL_STOP, ROLL_STOP))]
    cuts = []
    for brace, side in (("outer", HALF_WIDTH), ("inner", -HALF_WIDTH)):
        more, cut = _brace(f"hip_{brace}", side)
        pieces += more
        cuts.append(cut)
    return SubMechanism("U-2RRPU", tuple(pieces), tuple(cuts))


def _brace(name: str, offset: float) -> tuple[list[Piece], Cut]:
    x, y, z = CENTER
    foot: Point = (x + ARM, y + offset, z)
    cradle: Point = (x + CRADLE_X, y + offset, z + CRADLE_Z)
    along, pull = unit_vector(cradle, foot), unit_vector(foot, cradle)
    pieces = [
        Piece(f"{name}_cradle", "hip_yaw", cradle, X, 0.15, (shift_point(cradle, X, -0.02), shift_point(cradle, X, 0.02))),
        Piece(f"{name}_housing", f"{name}_cradle", cradle, Y, 0.7, (cradle, shift_point(cradle, along, -0.08)), STRUT),
        Piece(f"{name}_motor", f"{name}_housing", foot, pull, 0.15, (shift_point(foot, along, -0.1), foot), motor=STROKE),
        Piece(f"{name}_fork", "hip_roll", foot, X, 0.05, (shift_point(foot, Y, -0.012), shift_point(foot, Y, 0.012))),
    ]
    return pieces, Cut(f"{name}_joint", f"{name}_fork", f"{name}_motor", foot, BALL_WITH_ANGLE)
