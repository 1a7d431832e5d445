"""Pieces of a leg of the Kangaroo-like robot: joints with their links, motors, and the cuts that open its loops."""

from __future__ import annotations

from dataclasses import dataclass

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
