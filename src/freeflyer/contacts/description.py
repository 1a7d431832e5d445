"""Descriptions of contacts: a frame, and those of its motions that are zero."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, format_value
from freeflyer.model import Record, frozen_array, number, positive, shaped, unit_vector
from freeflyer.spatial import _check as ck
from freeflyer.tolerances import COLLINEAR_RATIO

VERTICAL = frozen_array(np.array([0.0, 0.0, 1.0]))


@dataclass(frozen=True, eq=False)
class Contact(Record):
    """Contact of a frame some of whose motions are zero. Made by `point`, `line` and `surface`.

    Attributes:
        kind: "point", "line" or "surface". They take three, five and six motions.
        points, size: (c, 3) array or None, points of the forces, in the frame's axes, m. If None, those of a surface are
            looked up in the model, or are the corners of a rectangle with these sides.
        at, normal: (4, 4) array or None, pose of the frame where it is held; (3,) array, the touched surface's outward unit
            normal."""

    kind: str
    frame: str
    points: np.ndarray | None
    friction: float | None
    name: str
    at: np.ndarray | None = None
    size: tuple[float, float] = (0.2, 0.1)
    normal: np.ndarray = field(default_factory=lambda: VERTICAL)

    def held_at(self, X: ArrayLike | None) -> Contact:
        """The same contact, held where its frame has the pose X (4, 4) in the world; or nowhere in particular, for None."""
        return replace(self, at=None if X is None else pose(X))


@dataclass(frozen=True, eq=False)
class Rolling(Record):
    """Wheel or ball that rolls without slipping on a plane. Made by `rolling`.

    Attributes:
        frame: Its origin is the centre.
        radius: float, m.
        axis: (3,) array or None, unit vector in the frame's axes; None for a ball.
        normal: (3,) array of the plane, unit vector in world axes."""

    frame: str
    radius: float
    axis: np.ndarray | None
    normal: np.ndarray
    name: str


def point(frame: str, point: ArrayLike = (0.0, 0.0, 0.0), friction: float | None = None, name: str | None = None, *,
          at: ArrayLike | None = None, normal: ArrayLike = VERTICAL) -> Contact:
    """Contact of a point that does not move: three rows, its velocity in the frame's axes.

    Args:
        point: (3,) array, in the frame's axes, m; by default the origin."""
    return _contact("point", frame, shaped("point", point, (3,))[None], friction, name, at, normal)


def line(frame: str, points: ArrayLike, friction: float | None = None, name: str | None = None, *,
         at: ArrayLike | None = None, normal: ArrayLike = VERTICAL) -> Contact:
    """Contact of two points that do not move; five rows, for the velocity of the middle and the two turns across the line.

    Args:
        points: (2, 3) array, in the frame's axes, m."""
    ends = shaped("points", points, (2, 3))
    if np.linalg.norm(ends[1] - ends[0]) <= COLLINEAR_RATIO * max(1.0, float(np.abs(ends).max())):
        raise InputError(
            f"the two points of a line must differ, got {ends.tolist()}: a point is freeflyer.contacts.point(frame, point)")
    return _contact("line", frame, ends, friction, name, at, normal)


def surface(frame: str, points: ArrayLike | None = None, size: ArrayLike = (0.2, 0.1), friction: float | None = None,
            name: str | None = None, *, at: ArrayLike | None = None, normal: ArrayLike = VERTICAL) -> Contact:
    """Contact of a frame that does not move at all: six rows, its twist in its own axes, its origin's velocity first.

    Without `points` they are the origins of the model's frames named `FRAME_*`, if it has three or more such; else the corners of
    the rectangle. They matter if contacts depend on each other, because forces are then the least ones in these points.

    Args:
        points: (c, 3) array, where the forces act, in the frame's axes, m; at least three that do not lie on a line.
        size: (2,) array, sides of a rectangle along x and y, centred at the frame's origin, m."""
    given = None if points is None else shaped("points", points, ("c", 3))
    if given is not None:
        check_spread(given, frame)
    sides = shaped("size", size, (2,))
    if not (sides > 0.0).all():
        raise InputError(f"size must be the two positive sides of a rectangle in m, got {format_value(size)}")
    return _contact("surface", frame, given, friction, name, at, normal, (float(sides[0]), float(sides[1])))


def rolling(frame: str, radius: float, axis: ArrayLike | None = (0.0, 1.0, 0.0), normal: ArrayLike = VERTICAL,
            name: str | None = None) -> Rolling:
    """Wheel that rolls on a plane without slipping, centred at a frame's origin; with axis=None a ball. Three rows.

    The rows are the velocity of the body's lowest point: along (axis x normal), across (normal x along), normal.

    Args:
        radius, axis: float, m; (3,) array or None, in the frame's axes, of any length, by default y."""
    _checked_name("frame", frame)
    n = unit_vector("normal", normal)
    a = None if axis is None else unit_vector("axis", axis)
    return Rolling(frame, positive("radius", radius), a, n, frame if name is None else _checked_name("name", name))


def check_spread(points: np.ndarray, frame: str) -> None:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) > 2 else np.zeros(2)
    if spread[1] <= COLLINEAR_RATIO * max(spread[0], 1e-300):
        raise InputError(
            f"a surface needs three points that do not lie on a line, got {len(points)} for frame {frame!r}: two points are "
            "freeflyer.contacts.line(frame, points), one is freeflyer.contacts.point(frame, point)", frame=frame)


def pose(X: ArrayLike) -> np.ndarray:
    return ck.pose("at", shaped("at", X, (4, 4), ", a pose as freeflyer.frame_pose returns it"))


def _contact(kind: str, frame: str, points: np.ndarray | None, friction: Any, name: str | None, at: ArrayLike | None,
             normal: ArrayLike, size: tuple[float, float] = (0.2, 0.1)) -> Contact:
    _checked_name("frame", frame)
    friction = None if friction is None else number("friction", friction, 0.0)
    n = VERTICAL if normal is VERTICAL else unit_vector("normal", normal)
    name = frame if name is None else _checked_name("name", name)
    return Contact(kind, frame, points, friction, name, None if at is None else pose(at), size, n)


def _checked_name(what: str, name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise InputError(f"{what} must be a name, got {format_value(name)}")
    return name
