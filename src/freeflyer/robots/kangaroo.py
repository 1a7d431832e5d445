"""A lower body like PAL Robotics' Kangaroo (Kangaroo paper): two legs that twelve linear actuators move through linkages.

At the reference posture every joint coordinate is zero and every link's axes are those of the base, so that a placement is the
difference of two points (3,) and a loop whose two frames are given by one point is closed exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from freeflyer.model import Description, Joint, Link, Loop, Model, Site, build, join
from freeflyer.robots._parts import Motor, box, capsule, floating_joint, hinge, sole_sites, translation

X, Y, Z = np.eye(3)
FLIP = np.array([1.0, -1.0, 1.0])  # from the left side to the right
IN_XZ, IN_XY = (1, 0, 1, 0, 0, 0), (1, 1, 0, 0, 0, 0)  # pins of planar linkages that turn about y, about z
BALL_WITH_ANGLE = (1, 1, 1, 1, 0, 0)  # a point and the turn about x: what a universal joint about y and z leaves
STRUT, ROD = 0.025, 0.012  # radii of actuator housings and of rods (m)


@dataclass(frozen=True, eq=False)
class Piece:
    """A joint at `point`, and the link it carries, a capsule from `solid[0]` to `solid[1]`; all at the reference posture.

    `axis` is a unit vector along y, or across it: then the right side's angle counts the other way round. `limits` are those of a
    hinge (rad), none where empty; a piece with a motor slides along `axis`."""

    name: str
    parent: str
    point: np.ndarray
    axis: np.ndarray
    mass: float
    solid: tuple[np.ndarray, np.ndarray]
    radius: float = ROD
    limits: tuple[float, float] | tuple[()] = ()
    motor: Motor | None = None


@dataclass(frozen=True, eq=False)
class Cut:
    """A joint that was opened to make a tree: `link_a` and `link_b` meet at `point` in the directions of `mask`."""

    name: str
    link_a: str
    link_b: str
    point: np.ndarray
    mask: tuple[int, ...]


SubMechanism = tuple[Sequence[Piece], Sequence[Cut]]  # of one side


def at_width(point: np.ndarray, y: float) -> np.ndarray:
    return np.array([point[0], y, point[2]])


def about(point: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of a line whose middle is the point."""
    return point - offset, point + offset


def direction(degrees: float) -> np.ndarray:
    """A unit vector in the plane of x (0 degrees) and z (90 degrees): backwards is 180, down is 270."""
    return np.array([math.cos(math.radians(degrees)), 0.0, math.sin(math.radians(degrees))])


def unit_vector(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (b - a) / np.linalg.norm(b - a)


def tree(side: str, root: str, pieces: Sequence[Piece]) -> tuple[list[Link], list[Joint]]:
    """Links and joints of one side; a parent is a piece's name, or `root`, whose frame is the origin."""
    where = {root: np.zeros(3)}
    links, joints = [], []
    for piece in pieces:
        one = _mirror(piece) if side == "right" else piece
        parent = root if one.parent == root else f"{side}_{one.parent}_link"
        placement = translation(*(one.point - where[one.parent]))
        solid = capsule(one.mass, one.radius, *((end - one.point).tolist() for end in one.solid))
        links.append(Link(f"{side}_{one.name}_link", solid))
        joints.append(_joint(f"{side}_{one.name}", parent, links[-1].name, placement, one))
        where[one.name] = one.point
    return links, joints


def ties(side: str, pieces: Sequence[Piece], cuts: Sequence[Cut]) -> tuple[list[Site], list[Loop]]:
    where = {piece.name: piece.point for piece in pieces}
    sites, loops = [], []
    for cut in cuts:
        name = f"{side}_{cut.name}"
        for end, link in (("a", cut.link_a), ("b", cut.link_b)):
            x, y, z = cut.point - where[link]
            sites.append(Site(f"{name}/{end}", f"{side}_{link}_link", translation(x, y if side == "left" else -y, z)))
        loops.append(Loop(name, f"{name}/a", f"{name}/b", cut.mask))
    return sites, loops


def _joint(name: str, parent: str, child: str, placement: np.ndarray, piece: Piece) -> Joint:
    if piece.motor is not None:
        return replace(hinge(name, parent, child, placement, piece.axis, piece.motor), kind="prismatic", armature=())
    made = Joint(name, "revolute" if piece.limits else "continuous", parent, child, placement, piece.axis)
    return replace(made, lower=piece.limits[:1], upper=piece.limits[1:])


def _mirror(piece: Piece) -> Piece:
    """The piece on the right; a turn about y or a slide keeps its sign, a turn across y changes it."""
    flips = piece.motor is None and piece.axis[1] == 0.0
    limits = (-piece.limits[1], -piece.limits[0]) if flips and piece.limits else piece.limits
    axis = piece.axis if piece.motor is None else FLIP * piece.axis
    start, end = piece.solid
    return replace(piece, point=FLIP * piece.point, axis=axis, limits=limits, solid=(FLIP * start, FLIP * end))


AXIS = np.array([0.0, 0.09, -0.06])  # where the hip yaw axis meets the plane of the actuator
YAW_ARM = 0.04  # m: full stroke is half the arm, 30 degrees
YAW_ROD_LENGTH = 0.12  # m, from the housing's pivot to the pin, at a right angle to the arm
YAW_ARM_DIRECTION = 60.0  # degrees from x towards y
YAW_STROKE = Motor(-0.02, 0.02, 0.5, 3000.0, 0.0)
YAW_STOP = math.radians(35.0)  # stops beyond what the actuator reaches


def hip_yaw(root: str) -> SubMechanism:
    """RRPR of the left leg: an actuator beside the hip turns it through a short arm; the link `hip_yaw` carries the leg.

        base - R (the housing turns) - P (the rod) - R (pin on the arm: the cut) - R (hip yaw) - base"""
    turn = math.radians(YAW_ARM_DIRECTION)
    pin = AXIS + YAW_ARM * np.array([math.cos(turn), math.sin(turn), 0.0])
    pivot = pin + YAW_ROD_LENGTH * np.array([-math.sin(turn), math.cos(turn), 0.0])
    along = unit_vector(pivot, pin)
    pieces = (
        Piece("yaw_housing", root, pivot, Z, 0.7, (pivot, pivot + 0.08 * along), STRUT),
        Piece("yaw_motor", "yaw_housing", pin, along, 0.12, (pin - 0.09 * along, pin), motor=YAW_STROKE),
        Piece("hip_yaw", root, AXIS, Z, 0.9, (AXIS, CENTER), 0.045, limits=(-YAW_STOP, YAW_STOP)))
    return pieces, (Cut("yaw_pin", "hip_yaw", "yaw_motor", pin, IN_XY),)


CENTER = np.array([0.0, AXIS[1], AXIS[2] - 0.09])  # where pitch and roll axes meet
ARM = 0.06  # m: the rods end this far in front of the centre
HIP_HALF_WIDTH = 0.04  # m: and this far to either side; a stroke of as much, differentially, is singular at 90 degrees
CRADLE_X, CRADLE_Z = 0.05, 0.10  # m: the cradles, in front of and above the centre
HIP_STROKE = Motor(-0.04, 0.04, 0.5, 3000.0, 0.0)
HIP_PITCH_STOP, HIP_ROLL_STOP = math.radians(42.5), math.radians(27.0)


def hip() -> SubMechanism:
    """U-2RRPU of the left leg: two actuators in front work together and against each other; `hip_roll` carries the thigh.

    Pitch, then roll, carry the leg. Beside them stand two braces, one on either side:

        hip yaw - R (cradle, about x) - R (housing, about y) - P (rod) - U (the cut) - R (about x) - the leg

    A cut that left only a hinge would lock the hip as soon as pitch and roll both differ from zero: the rods must lean sideways
    (roll shortens the distance between them) while the cradle's plane cannot. So the cut ties the point and one angle, four rows
    (Kangaroo paper, (20)), and leaves a universal joint."""
    pelvis = CENTER + (-0.03, 0.01, -0.02), CENTER + (-0.03, 0.05, -0.11)
    pieces = [
        Piece("hip_pitch", "hip_yaw", CENTER, Y, 0.1, about(CENTER, 0.02 * Y),
              limits=(-HIP_PITCH_STOP, HIP_PITCH_STOP)),
        Piece("hip_roll", "hip_pitch", CENTER, X, 2.0, pelvis, 0.05, limits=(-HIP_ROLL_STOP, HIP_ROLL_STOP))]
    cuts = []
    for brace, side in (("outer", HIP_HALF_WIDTH), ("inner", -HIP_HALF_WIDTH)):
        more, cut = _brace(f"hip_{brace}", side)
        pieces += more
        cuts.append(cut)
    return pieces, cuts


def _brace(name: str, offset: float) -> tuple[list[Piece], Cut]:
    foot, cradle = CENTER + (ARM, offset, 0.0), CENTER + (CRADLE_X, offset, CRADLE_Z)
    along, pull = unit_vector(cradle, foot), unit_vector(foot, cradle)
    pieces = [
        Piece(f"{name}_cradle", "hip_yaw", cradle, X, 0.15, about(cradle, 0.02 * X)),
        Piece(f"{name}_housing", f"{name}_cradle", cradle, Y, 0.7, (cradle, cradle - 0.08 * along), STRUT),
        Piece(f"{name}_motor", f"{name}_housing", foot, pull, 0.15, (foot - 0.1 * along, foot), motor=HIP_STROKE),
        Piece(f"{name}_fork", "hip_roll", foot, X, 0.05, about(foot, 0.012 * Y))]
    return pieces, Cut(f"{name}_joint", f"{name}_fork", f"{name}_motor", foot, BALL_WITH_ANGLE)


LEG_Y = 0.13  # the plane of the leg
HIP_AXIS = np.array([0.0, LEG_Y, -0.24])  # about which the thigh swings
THIGH = SHANK = 0.40  # m
LEAN = 20.0  # degrees: at the reference posture the thigh leans forward, the shank back by as much
LENGTH_STROKE = Motor(0.0, 0.15, 0.5, 5000.0, 0.0)
CRANK = 0.04  # m: of (a)
ROCKER = 0.10  # m
START, END = math.radians(20.0), math.radians(40.0)  # the pin's angles off the slide's line at the ends of the stroke
PIN = LENGTH_STROKE.upper / (math.cos(START) + math.cos(END))  # m: from the knee's axis to the pin of (b) and (c)
PUSH_ROD = 0.20  # m
SLIDE_OFFSET = PIN * (math.sin(START) + math.sin(END)) / 2.0  # m: the nut's line behind the knee
FULL = math.pi - START - END

THIGH_DOWN, SHANK_DOWN = direction(270.0 + LEAN), direction(270.0 - LEAN)
KNEE = HIP_AXIS + THIGH * THIGH_DOWN
ANKLE = KNEE + SHANK * SHANK_DOWN


def knee() -> SubMechanism:
    """RRRR-RRRP-R of the left leg: one actuator in the thigh bends the knee (the link `knee` is the shank) and swings the thigh.

        a. RRRR    hip_roll - rocker - triangle - thigh: the triangle turns back as far as the thigh swings forward
        b. RRRP    thigh - nut (P) - push rod - shank: the actuator bends the knee
        c. R       triangle - long bar - shank, a parallelogram with the thigh: the knee turns as the triangle does,
                   twice the thigh's angle, so that the foot stays below the hip

    In (a) crank (on the thigh) and triangle arm are equally long: their common end then runs on a straight line through the
    thigh's axis if they turn against each other at equal speed, and the rocker, across that line, holds it there.

    In (b) the full stroke takes the pin through 120 degrees, from 20 degrees off the slide's direction to 40 degrees off the
    opposite one. The nut's line lies halfway between the pin's distances at both ends, so the push rod leans equally there and
    stroke = crank (cos 20 + cos 40). Starting close to the dead point makes the stretched leg move fast and pushes hardest half
    way down, as in the paper's Fig 15. Push rod and long bar share the pin on the shank."""
    crank = HIP_AXIS + CRANK * direction(150.0)
    slide = crank_to_knee(crank)
    arm = direction(slide - math.degrees(START))
    corner, pin = crank + PIN * arm, KNEE + PIN * arm
    elbow = crank + CRANK * direction(210.0)  # the common end, on the line straight back
    run = 2.0 * CRANK * (1.0 - math.cos(math.radians(30.0)))  # of the elbow; half of it is behind the upright rocker
    rocker = np.array([elbow[0] - run / 2.0, LEG_Y, elbow[2] + math.sqrt(ROCKER**2 - (run / 2.0) ** 2)])
    nut = _nut(pin, slide)
    up = direction(slide + 180.0)
    pieces = (
        Piece("thigh", "hip_roll", HIP_AXIS, Y, 2.2, (HIP_AXIS, HIP_AXIS + 0.30 * THIGH_DOWN), 0.05),
        Piece("length_motor", "thigh", nut, up, 0.5, (nut, nut + 0.06 * up), STRUT, motor=LENGTH_STROKE),
        Piece("push_rod", "length_motor", nut, Y, 0.24, (nut, pin)),
        Piece("knee", "thigh", KNEE, Y, 0.6, (KNEE, KNEE + 0.30 * SHANK_DOWN), 0.03, limits=(-0.01, FULL + 0.01)),
        Piece("rocker", "hip_roll", rocker, Y, 0.09, (rocker, elbow)),
        Piece("triangle", "rocker", elbow, Y, 0.11, (elbow, corner)),
        Piece("long_bar", "triangle", corner, Y, 0.17, (corner, pin)))
    cuts = (Cut("triangle_pin", "thigh", "triangle", crank, IN_XZ), Cut("push_rod_pin", "knee", "push_rod", pin, IN_XZ),
        Cut("long_bar_pin", "knee", "long_bar", pin, IN_XZ))
    return pieces, cuts


def crank_to_knee(crank: np.ndarray) -> float:
    """Direction (degrees) from the crank's end to the knee: the parallelogram's long side, along which the nut slides."""
    return math.degrees(math.atan2(KNEE[2] - crank[2], KNEE[0] - crank[0])) % 360.0


def _nut(pin: np.ndarray, slide: float) -> np.ndarray:
    """The nut above the pin on its line, a push rod's length away."""
    down, across = direction(slide), direction(slide - 90.0)
    offset = sum((p - k) * a for p, k, a in zip(pin, KNEE, across)) - SLIDE_OFFSET
    back = pin - offset * across
    return at_width(back - math.sqrt(PUSH_ROD**2 - offset**2) * down, LEG_Y)


DRIVEN = 0.035  # m: the pendulum's arm that the actuator pushes; its stroke turns it by 35 degrees
CARRYING = 0.06  # m: its arm that carries the upper bar, and the butterfly's arms, and the foot's
LOWER_WIDTH = 0.036  # m: the lower bars' distance from the middle of the leg
UPPER_WIDTH = 0.05  # m: pendulums and upper bars
ROD_LENGTH = 0.12  # m
UPPER_ARM, LOWER_ARM = 230.0, 130.0  # degrees: directions of the arms that carry the upper and the lower bar
ANKLE_STROKE = Motor(-0.02, 0.02, 0.5, 3000.0, 0.0)
ANKLE_PITCH_STOP, ANKLE_ROLL_STOP = (math.radians(-42.5), math.radians(100.0)), math.radians(27.0)
ACROSS = direction(-LEAN)  # to the shank, in the leg's plane: the roll axis, and the second one of the upper universal joint
SOLE = 0.06  # m: the ankle's axes above the ground
TOE, HEEL, SOLE_HALF_WIDTH = 0.14, 0.07, 0.045  # m


def ankle() -> SubMechanism:
    """U-2(RRRP-RRRR-UU) of the left leg: two actuators at the thigh's root move the foot, `ankle_roll`, through bars.

    On either side of the leg, from the top:

        a. RRRP    hip_roll - housing - rod (P) - pendulum, which hangs on the axis of the thigh
        b. RRRR    pendulum - upper bar - butterfly, which turns on the axis of the knee: a parallelogram with the thigh
        c. U-2UR   butterfly - U - lower bar - U - foot: a parallelogram with the shank, for pitch

    Through two parallelograms in a row the foot keeps its orientation towards the hip while the knee bends and the actuators
    rest. Both actuators together pitch the foot, against each other they roll it. The cuts are the pins of (a) and (b), two rows
    each, and the lower universal joint of (c), four rows."""
    toe, heel = ANKLE + 0.11 * direction(330.0), ANKLE + 0.06 * direction(225.0)
    pieces = [
        Piece("ankle_pitch", "knee", ANKLE, Y, 0.09, about(ANKLE, 0.02 * Y),
              limits=(-ANKLE_PITCH_STOP[1], -ANKLE_PITCH_STOP[0])),
        Piece("ankle_roll", "ankle_pitch", ANKLE, ACROSS, 0.42, (heel, toe), 0.02, limits=(-ANKLE_ROLL_STOP, ANKLE_ROLL_STOP))]
    cuts = []
    for side, sign in (("outer", 1.0), ("inner", -1.0)):
        more, cut = _transmission(f"ankle_{side}", sign)
        pieces += more
        cuts += cut
    return pieces, cuts


def _transmission(name: str, sign: float) -> tuple[list[Piece], list[Cut]]:
    wide, narrow = LEG_Y + sign * UPPER_WIDTH, LEG_Y + sign * LOWER_WIDTH
    hanger, pivot = at_width(HIP_AXIS, wide), at_width(KNEE, wide)
    push, top, bottom = (p + r * direction(a) for p, a, r in (
        (hanger, 180.0, DRIVEN), (hanger, UPPER_ARM, CARRYING), (pivot, UPPER_ARM, CARRYING)))
    housing = push + ROD_LENGTH * direction(90.0)
    down, up = direction(270.0), direction(90.0)
    ball, heel = (at_width(p, narrow) + CARRYING * direction(LOWER_ARM) for p in (KNEE, ANKLE))
    pieces = [
        Piece(f"{name}_housing", "hip_roll", housing, Y, 0.7, (housing, housing + 0.08 * down), STRUT),
        Piece(f"{name}_motor", f"{name}_housing", push, up, 0.12, (push - 0.09 * down, push), motor=ANKLE_STROKE),
        Piece(f"{name}_pendulum", "hip_roll", hanger, Y, 0.065, (hanger, top)),
        Piece(f"{name}_upper_bar", f"{name}_pendulum", top, Y, 0.11, (top, bottom), 0.008),
        Piece(f"{name}_butterfly", "knee", pivot, Y, 0.08, (pivot, ball)),
        Piece(f"{name}_cross", f"{name}_butterfly", ball, Y, 0.004, about(ball, 0.006 * Y), 0.006),
        Piece(f"{name}_lower_bar", f"{name}_cross", ball, ACROSS, 0.12, (ball, heel), 0.008),
        Piece(f"{name}_fork", "ankle_roll", heel, X, 0.02, about(heel, 0.006 * Y), 0.008)]
    cuts = [
        Cut(f"{name}_push_pin", f"{name}_pendulum", f"{name}_motor", push, IN_XZ),
        Cut(f"{name}_butterfly_pin", f"{name}_butterfly", f"{name}_upper_bar", bottom, IN_XZ),
        Cut(f"{name}_heel_joint", f"{name}_fork", f"{name}_lower_bar", heel, BALL_WITH_ANGLE)]
    return pieces, cuts


BASE = "base_link"
GROUND = ANKLE[2] - SOLE  # height of the soles at the reference posture, in the base frame


def kangaroo_like() -> Model:
    """Model of a floating lower body of 42 kg whose legs are closed linkages, like PAL Robotics' Kangaroo.

    Each leg has 6 linear motors and 32 passive joints in four sub-mechanisms (Kangaroo paper, Table II): `hip_yaw`, `hip`, `knee`
    and `ankle`. Dimensions are our own, chosen so that strokes, joint limits and singularities come out near the paper's. The
    loops have 64 independent rows.

    The reference posture (all coordinates zero) closes every loop exactly, with legs nearly stretched and length motors at
    the start of their stroke. Motors are `left_yaw_motor`, `left_hip_outer_motor`, `_hip_inner_motor`, `_length_motor`,
    `_ankle_outer_motor`, `_ankle_inner_motor`; the joints one thinks in are `left_hip_yaw`, `_hip_pitch`, `_hip_roll`,
    `_knee`, `_ankle_pitch`, `_ankle_roll`. On the right turns about y and slides keep their sign, other turns change it. x is
    forward, y left, z up; soles are the sites `left_sole` and its corners `left_sole_front_left` ..., 1.05 m below the base.

    Returns: Model with open loops: nq = 83, nv = 82; freeflyer.close_loops closes them, nv = 18."""
    # pelvis and electronics, batteries, the cage around them
    trunk = join(box(4.0, (0.16, 0.22, 0.08), (-0.04, 0.0, 0.0)), box(12.4, (0.20, 0.26, 0.40), (-0.06, 0.0, 0.22)))
    links, joints = [Link(BASE, trunk)], [floating_joint(BASE)]
    sites, loops, motors = [Site("imu", BASE, translation(z=0.1))], list[Loop](), list[str]()
    mechanisms = hip_yaw(BASE), hip(), knee(), ankle()
    pieces, cuts = [x for some, _ in mechanisms for x in some], [x for _, some in mechanisms for x in some]
    for side in ("left", "right"):
        (more_links, more_joints), (more_sites, more_loops) = tree(side, BASE, pieces), ties(side, pieces, cuts)
        links, joints, loops = links + more_links, joints + more_joints, loops + more_loops
        sites += [*more_sites, *sole_sites(f"{side}_sole", f"{side}_ankle_roll_link", SOLE, TOE, HEEL, SOLE_HALF_WIDTH)]
        motors += [joint.name for joint in more_joints if joint.kind == "prismatic"]
    return build(Description("kangaroo_like", tuple(links), tuple(joints), tuple(sites), tuple(loops), actuated=tuple(motors)))
