"""Ankle of the Kangaroo-like robot, U-2(RRRP-RRRR-UU): two actuators at the thigh's root move the foot through bars.

On either side of the leg, from the top:

    a. RRRP    hip_roll - housing - rod (P) - pendulum, which hangs on the axis of the thigh
    b. RRRR    pendulum - upper bar - butterfly, which turns on the axis of the knee: a parallelogram with the thigh
    c. U-2UR   butterfly - U - lower bar - U - foot: a parallelogram with the shank, for pitch

Through two parallelograms in a row the foot keeps its orientation towards the hip while the knee bends and the actuators rest. Both
actuators together pitch the foot, against each other they roll it. The cuts are the pins of (a) and (b), two rows each, and the
lower universal joint of (c), four rows."""

from __future__ import annotations

import math

from freeflyer.robots.kangaroo_knee import ANKLE, HIP_AXIS, KNEE, LEAN, LEG_Y
from freeflyer.robots.kangaroo_parts import BALL_WITH_ANGLE, IN_XZ, X, Y, at_width, direction, shift_point
from freeflyer.robots.kangaroo_pieces import STRUT, Cut, Motor, Piece, Point, SubMechanism

DRIVEN = 0.035  # m: the pendulum's arm that the actuator pushes; its stroke turns it by 35 degrees
CARRYING = 0.06  # m: its arm that carries the upper bar, and the butterfly's arms, and the foot's
HALF_WIDTH = 0.036  # m: the lower bars' distance from the middle of the leg
UPPER_WIDTH = 0.05  # m: pendulums and upper bars
ROD_LENGTH = 0.12  # m
UPPER_ARM, LOWER_ARM = 230.0, 130.0  # degrees: directions of the arms that carry the upper and the lower bar
STROKE = Motor(-0.02, 0.02, 3000.0, 0.5)
PITCH_STOP, ROLL_STOP = (math.radians(-42.5), math.radians(100.0)), math.radians(27.0)
ACROSS = direction(-LEAN)  # to the shank, in the leg's plane: the roll axis, and the second one of the upper universal joint
SOLE = 0.06  # m: the ankle's axes above the ground
TOE, HEEL, SOLE_HALF_WIDTH = 0.14, 0.07, 0.045  # m


def ankle() -> SubMechanism:
    """The sub-mechanism of the left leg; the link `ankle_roll` is the foot."""
    toe, heel = shift_point(ANKLE, direction(330.0), 0.11), shift_point(ANKLE, direction(225.0), 0.06)
    pieces = [
        Piece("ankle_pitch", "knee", ANKLE, Y, 0.09, (shift_point(ANKLE, Y, -0.02), shift_point(ANKLE, Y, 0.02)),
              limits=(-PITCH_STOP[1], -PITCH_STOP[0])),
        Piece("ankle_roll", "ankle_pitch", ANKLE, ACROSS, 0.42, (heel, toe), 0.02, limits=(-ROLL_STOP, ROLL_STOP))]
    cuts = []
    for side, sign in (("outer", 1.0), ("inner", -1.0)):
        more, cut = _transmission(f"ankle_{side}", sign)
        pieces += more
        cuts += cut
    return SubMechanism("U-2(RRRP-RRRR-UU)", tuple(pieces), tuple(cuts))


def _transmission(name: str, sign: float) -> tuple[list[Piece], list[Cut]]:
    wide, narrow = LEG_Y + sign * UPPER_WIDTH, LEG_Y + sign * HALF_WIDTH
    hanger, pivot = at_width(HIP_AXIS, wide), at_width(KNEE, wide)
    push, top, bottom = (shift_point(p, direction(a), r) for p, a, r in (
        (hanger, 180.0, DRIVEN), (hanger, UPPER_ARM, CARRYING), (pivot, UPPER_ARM, CARRYING)))
    housing = shift_point(push, direction(90.0), ROD_LENGTH)
    down, up = direction(270.0), direction(90.0)
    ball, heel = (shift_point(at_width(p, narrow), direction(LOWER_ARM), CARRYING) for p in (KNEE, ANKLE))
    pieces = [
        Piece(f"{name}_housing", "hip_roll", housing, Y, 0.7, (housing, shift_point(housing, down, 0.08)), STRUT),
        Piece(f"{name}_motor", f"{name}_housing", push, up, 0.12, (shift_point(push, down, -0.09), push), motor=STROKE),
        Piece(f"{name}_pendulum", "hip_roll", hanger, Y, 0.065, (hanger, top)),
        Piece(f"{name}_upper_bar", f"{name}_pendulum", top, Y, 0.11, (top, bottom), 0.008),
        Piece(f"{name}_butterfly", "knee", pivot, Y, 0.08, (pivot, ball)),
        Piece(f"{name}_cross", f"{name}_butterfly", ball, Y, 0.004, _short(ball), 0.006),
        Piece(f"{name}_lower_bar", f"{name}_cross", ball, ACROSS, 0.12, (ball, heel), 0.008),
        Piece(f"{name}_fork", "ankle_roll", heel, X, 0.02, _short(heel), 0.008),
    ]
    cuts = [
        Cut(f"{name}_push_pin", f"{name}_pendulum", f"{name}_motor", push, IN_XZ),
        Cut(f"{name}_butterfly_pin", f"{name}_butterfly", f"{name}_upper_bar", bottom, IN_XZ),
        Cut(f"{name}_heel_joint", f"{name}_fork", f"{name}_lower_bar", heel, BALL_WITH_ANGLE),
    ]
    return pieces, cuts


def _short(point: Point) -> tuple[Point, Point]:
    return shift_point(point, Y, -0.006), shift_point(point, Y, 0.006)
