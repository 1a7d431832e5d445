"""Knee of the Kangaroo-like robot, RRRR-RRRP-R: one actuator in the thigh bends the knee and swings the thigh forward.

    a. RRRR    hip_roll - rocker - triangle - thigh: the triangle turns back as far as the thigh swings forward
    b. RRRP    thigh - nut (P) - push rod - shank: the actuator bends the knee
    c. R       triangle - long bar - shank, a parallelogram with the thigh: the knee turns as the triangle does,
               twice the thigh's angle, so that the foot stays below the hip

In (a) crank (on the thigh) and triangle arm are equally long: their common end then runs on a straight line through the thigh's
axis if they turn against each other at equal speed, and the rocker, across that line, holds it there.

In (b) the full stroke takes the pin through 120 degrees, from 20 degrees off the slide's direction to 40 degrees off the opposite
one. The nut's line lies halfway between the pin's distances at both ends, so the push rod leans equally there and stroke = crank
(cos 20 + cos 40). Starting close to the dead point makes the stretched leg move fast and pushes hardest half way down, as in the
paper's Fig 15. Push rod and long bar share the pin on the shank."""

from __future__ import annotations

import math

from freeflyer.robots.kangaroo_parts import IN_XZ, Y, at_width, direction, shift_point
from freeflyer.robots.kangaroo_pieces import STRUT, Cut, Motor, Piece, Point, SubMechanism

LEG_Y = 0.13  # the plane of the leg
HIP_AXIS: Point = (0.0, LEG_Y, -0.24)  # about which the thigh swings
THIGH = SHANK = 0.40  # m
LEAN = 20.0  # degrees: at the reference posture the thigh leans forward, the shank back by as much
STROKE = Motor(0.0, 0.15, 5000.0, 0.5)
CRANK = 0.04  # m: of (a)
ROCKER = 0.10  # m
START, END = math.radians(20.0), math.radians(40.0)  # the pin's angles off the slide's line at the ends of the stroke
PIN = STROKE.upper / (math.cos(START) + math.cos(END))  # m: from the knee's axis to the pin of (b) and (c)
PUSH_ROD = 0.20  # m
SLIDE_OFFSET = PIN * (math.sin(START) + math.sin(END)) / 2.0  # m: the nut's line behind the knee
FULL = math.pi - START - END

THIGH_DOWN, SHANK_DOWN = direction(270.0 + LEAN), direction(270.0 - LEAN)
KNEE = shift_point(HIP_AXIS, THIGH_DOWN, THIGH)
ANKLE = shift_point(KNEE, SHANK_DOWN, SHANK)


def knee() -> SubMechanism:
    """The sub-mechanism of the left leg; the links `thigh` and `knee` (the shank) carry the ankle's bars."""
    crank = shift_point(HIP_AXIS, direction(150.0), CRANK)
    slide = crank_to_knee(crank)
    arm = direction(slide - math.degrees(START))
    corner, pin = shift_point(crank, arm, PIN), shift_point(KNEE, arm, PIN)
    elbow = shift_point(crank, direction(210.0), CRANK)  # the common end, on the line straight back
    rocker = _rocker_pivot(elbow)
    nut = _nut(pin, slide)
    up = direction(slide + 180.0)
    pieces = (
        Piece("thigh", "hip_roll", HIP_AXIS, Y, 2.2, (HIP_AXIS, shift_point(HIP_AXIS, THIGH_DOWN, 0.30)), 0.05),
        Piece("length_motor", "thigh", nut, up, 0.5, (nut, shift_point(nut, up, 0.06)), STRUT, motor=STROKE),
        Piece("push_rod", "length_motor", nut, Y, 0.24, (nut, pin)),
        Piece("knee", "thigh", KNEE, Y, 0.6, (KNEE, shift_point(KNEE, SHANK_DOWN, 0.30)), 0.03, limits=(-0.01, FULL + 0.01)),
        Piece("rocker", "hip_roll", rocker, Y, 0.09, (rocker, elbow)),
        Piece("triangle", "rocker", elbow, Y, 0.11, (elbow, corner)),
        Piece("long_bar", "triangle", corner, Y, 0.17, (corner, pin)),
    )
    cuts = (Cut("triangle_pin", "thigh", "triangle", crank, IN_XZ), Cut("push_rod_pin", "knee", "push_rod", pin, IN_XZ),
        Cut("long_bar_pin", "knee", "long_bar", pin, IN_XZ))
    return SubMechanism("RRRR-RRRP-R", pieces, cuts)


def crank_to_knee(crank: Point) -> float:
    """Direction (degrees) from the crank's end to the knee: the parallelogram's long side, along which the nut slides."""
    return math.degrees(math.atan2(KNEE[2] - crank[2], KNEE[0] - crank[0])) % 360.0


def _rocker_pivot(elbow: Point) -> Point:
    """The rocker stands upright when half the elbow's run is behind it."""
    run = 2.0 * CRANK * (1.0 - math.cos(math.radians(30.0)))
    return elbow[0] - run / 2.0, LEG_Y, elbow[2] + math.sqrt(ROCKER**2 - (run / 2.0) ** 2)


def _nut(pin: Point, slide: float) -> Point:
    """The nut above the pin on its line, a push rod's length away."""
    down, across = direction(slide), direction(slide - 90.0)
    offset = sum((p - k) * a for p, k, a in zip(pin, KNEE, across)) - SLIDE_OFFSET
    back = shift_point(pin, across, -offset)
    return at_width(shift_point(back, down, -math.sqrt(PUSH_ROD**2 - offset**2)), LEG_Y)
