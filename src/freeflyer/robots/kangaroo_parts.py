"""What a leg of the Kangaroo-like robot is written in: joints with their links, motors, cuts that open its loops; and points of
the reference posture, in the base's axes.

At the reference posture every joint coordinate is zero and every link's axes are those of the base, so that a placement is the
difference of two points and a loop whose two frames are given by one point is closed exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from freeflyer.model import Inertia, Joint, Link, Loop, Site
from freeflyer.robots._parts import capsule, translation

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
IN_XZ, IN_XY = (1, 0, 1, 0, 0, 0), (1, 1, 0, 0, 0, 0)  # pins of planar linkages that turn about y, about z
BALL_WITH_ANGLE = (1, 1, 1, 1, 0, 0)  # a point and the turn about x: what a universal joint about y and z leaves


def shift_point(point: Point, along: Point, length: float) -> Point:
    x, y, z = (p + length * a for p, a in zip(point, along))
    return x, y, z


def at_width(point: Point, y: float) -> Point:
    return point[0], y, point[2]


def direction(degrees: float) -> Point:
    """A unit vector in the plane of x (0 degrees) and z (90 degrees): backwards is 180, down is 270."""
    return math.cos(math.radians(degrees)), 0.0, math.sin(math.radians(degrees))


def unit_vector(a: Point, b: Point) -> Point:
    d = np.subtract(b, a)
    x, y, z = d / np.linalg.norm(d)
    return float(x), float(y), float(z)


def tree(side: str, root: str, pieces: Sequence[Piece]) -> tuple[list[Link], list[Joint]]:
    """Links and joints of one side; a parent is a piece's name, or `root`, whose frame is the origin."""
    where: dict[str, Point] = {root: (0.0, 0.0, 0.0)}
    links, joints = [], []
    for piece in pieces:
        one = _mirror(piece) if side == "right" else piece
        parent = root if one.parent == root else f"{side}_{one.parent}_link"
        placement = translation(*np.subtract(one.point, where[one.parent]))
        links.append(Link(f"{side}_{one.name}_link", _inertia(one)))
        joints.append(_joint(f"{side}_{one.name}", parent, links[-1].name, placement, one))
        where[one.name] = one.point
    return links, joints


def ties(side: str, pieces: Sequence[Piece], cuts: Sequence[Cut]) -> tuple[list[Site], list[Loop]]:
    where = {piece.name: piece.point for piece in pieces}
    sites, loops = [], []
    for cut in cuts:
        name = f"{side}_{cut.name}"
        for end, link in (("a", cut.link_a), ("b", cut.link_b)):
            x, y, z = np.subtract(cut.point, where[link])
            sites.append(Site(f"{name}/{end}", f"{side}_{link}_link", translation(x, y if side == "left" else -y, z)))
        loops.append(Loop(name, f"{name}/a", f"{name}/b", cut.mask))
    return sites, loops


def _joint(name: str, parent: str, child: str, placement: np.ndarray, piece: Piece) -> Joint:
    made = Joint(name, "revolute" if piece.limits else "continuous", parent, child, placement, np.array(piece.axis))
    if piece.motor is not None:
        m = piece.motor
        return replace(made, kind="prismatic", lower=(m.lower,), upper=(m.upper,), velocity=(m.speed,), effort=(m.force,))
    if piece.limits:
        return replace(made, lower=(piece.limits[0],), upper=(piece.limits[1],))
    return made


def _inertia(piece: Piece) -> Inertia:
    start, end = (tuple(np.subtract(p, piece.point)) for p in piece.solid)
    return capsule(piece.mass, piece.radius, start, end)


def _mirror(piece: Piece) -> Piece:
    """The piece on the right; a turn about y or a slide keeps its sign, a turn across y changes it."""
    flips = piece.motor is None and piece.axis[1] == 0.0
    limits = (-piece.limits[1], -piece.limits[0]) if flips and piece.limits else piece.limits
    axis = piece.axis if piece.motor is None else _flip(piece.axis)
    start, end = piece.solid
    return replace(piece, point=_flip(piece.point), axis=axis, limits=limits, solid=(_flip(start), _flip(end)))


def _flip(point: Point) -> Point:
    return point[0], -point[1], point[2]


Point = tuple[float, float, float]
STRUT, ROD = 0.025, 0.012  # radii of actuator housings and of rods (m)


@dataclass(frozen=True)
class Motor:
    """Stroke (m) of a linear actuator, zero at the reference posture; greatest force (N) and speed (m/s)."""

    lower: float
    upper: float
    force: float
    speed: float


@dataclass(frozen=True)
class Piece:
    """A joint at `point`, and the link it carries, a capsule from `solid[0]` to `solid[1]`; all as in kangaroo_parts.

    `axis` is a unit vector along y, or across it: then the right side's angle counts the other way round. `limits` are those of a
    hinge (rad), none where empty; a piece with a motor slides along `axis`."""

    name: str
    parent: str
    point: Point
    axis: Point
    mass: float
    solid: tuple[Point, Point]
    radius: float = ROD
    limits: tuple[float, float] | tuple[()] = ()
    motor: Motor | None = None


@dataclass(frozen=True)
class Cut:
    """A joint that was opened to make a tree: `link_a` and `link_b` meet at `point` in the directions of `mask`."""

    name: str
    link_a: str
    link_b: str
    point: Point
    mask: tuple[int, ...]


@dataclass(frozen=True)
class SubMechanism:
    """The pieces and cuts of one closed sub-mechanism, and the name of its type in the literature's letters."""

    kind: str
    pieces: tuple[Piece, ...]
    cuts: tuple[Cut, ...]
