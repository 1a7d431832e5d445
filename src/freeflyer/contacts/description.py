"""Descriptions of contacts: a frame, and those of its motions that are zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import InputError, format_value
from freeflyer.model.frozen import Record
from freeflyer.model.inputs import real_array
from freeflyer.tolerances import COLLINEAR_RATIO


@dataclass(frozen=True, eq=False)
class Contact(Record):
    """A contact that is held. Made by `point`, `line` and `surface`.

    kind: "point" (takes three motions), "line" (five) or "surface" (six). points (c, 3): where forces act, in the frame's axes,
    m; None: a surface whose points are looked up in the model, or else are the corners of the rectangle `size` (2,), m. friction:
    coefficient, or None. at (4, 4): the pose of the frame in the world where it is held, or None. The frame's z is the contact's
    normal.
    """

    kind: str
    frame: str
    points: np.ndarray | None
    friction: float | None
    name: str
    at: np.ndarray | None = None
    size: tuple[float, float] = (0.2, 0.1)

    def held_at(self, X: ArrayLike | None) -> Contact:
        """The same contact, held where its frame has the pose X (4, 4) in the world; or nowhere in particular, for None."""
        return replace(self, at=None if X is None else pose(X))


@dataclass(frozen=True, eq=False)
class Rolling(Record):
    """A wheel or a ball that rolls without slipping on a plane. Made by `rolling`.

    radius in m; axis (3,): unit vector in the frame's axes, None for a ball; normal (3,): of the plane, unit vector in world axes.
    """

    frame: str
    radius: float
    axis: np.ndarray | None
    normal: np.ndarray
    name: str


def point(frame: str, point: ArrayLike = (0.0, 0.0, 0.0), friction: float | None = None, name: str | None = None, *,
          at: ArrayLike | None = None) -> Contact:  # fmt: skip
    """A point of a frame (3,), in the frame's axes, m, that does not move: three rows, its velocity in the frame's axes.

    friction: coefficient, not used by constraint sets, which are bilateral. name: by default the frame's. at (4, 4): the
    frame's pose where it is held. Errors: InputError.
    """
    return _contact("point", frame, _vectors("point", point, (3,))[None], friction, name, at)


def line(frame: str, points: ArrayLike, friction: float | None = None, name: str | None = None, *,
         at: ArrayLike | None = None) -> Contact:  # fmt: skip
    """Two points of a frame (2, 3) that do not move: five rows, the velocity of the middle and the two turns across the line.

    Arguments and errors: as `point`; InputError where both points are one.
    """
    ends = _vectors("points", points, (2, 3))
    if np.linalg.norm(ends[1] - ends[0]) <= COLLINEAR_RATIO * max(1.0, float(np.abs(ends).max())):
        raise InputError(
            f"the two points of a line must differ, got {ends.tolist()}: a point is freeflyer.contacts.point(frame, point)"
        )
    return _contact("line", frame, ends, friction, name, at)


def surface(frame: str, points: ArrayLike | None = None, size: ArrayLike = (0.2, 0.1), friction: float | None = None,
            name: str | None = None, *, at: ArrayLike | None = None) -> Contact:  # fmt: skip
    """A frame that does not move at all: six rows, its twist in its own axes, its origin's velocity first.

    points (c, 3): where the forces act, m, in the frame's axes; at least three that do not lie on a line. Without them they are the
    origins of the model's frames named `FRAME_*`, if it has three or more such; else the corners of a rectangle of `size` (along x,
    along y), m, centred at the frame's origin. They matter where contacts depend on each other: forces are then the least ones in
    these points. Other arguments and errors: as `point`.
    """
    given = None if points is None else _vectors("points", points, (-1, 3))
    if given is not None:
        check_spread(given, frame)
    sides = _vectors("size", size, (2,))
    if not (sides > 0.0).all():
        raise InputError(f"size must be the two positive sides of a rectangle in m, got {format_value(size)}")
    return _contact("surface", frame, given, friction, name, at, (float(sides[0]), float(sides[1])))


def rolling(frame: str, radius: float, axis: ArrayLike | None = (0.0, 1.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0),
            name: str | None = None) -> Rolling:  # fmt: skip
    """A wheel centred at a frame's origin that rolls on a plane without slipping; with axis=None a ball.

    radius in m, axis (3,) in the frame's axes, normal (3,) of the plane in world axes; neither needs unit length. Three rows, the
    velocity of the body's lowest point: along (axis x normal), across (normal x along), normal. A ball's first two are any two
    directions of the plane that are at right angles. Errors: InputError.
    """
    _check_name("frame", frame)
    n = _unit("normal", normal)
    a = None if axis is None else _unit("axis", axis)
    r = real_array("radius", radius)
    if r.shape != () or not np.isfinite(r) or not r > 0.0:
        raise InputError(f"radius must be a positive number of metres, got {format_value(radius)}")
    return Rolling(frame, float(r), a, n, _name(name, frame))


def check_spread(points: np.ndarray, frame: str) -> None:
    """InputError unless the points (c, 3) span a plane at least."""
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) > 2 else np.zeros(2)
    if spread[1] <= COLLINEAR_RATIO * max(spread[0], 1e-300):
        raise InputError(
            f"a surface needs three points that do not lie on a line, got {len(points)} for frame {frame!r}: two points are "
            "freeflyer.contacts.line(frame, points), one is freeflyer.contacts.point(frame, point)", frame=frame,
        )  # fmt: skip


def check_points(what: str, points: ArrayLike) -> np.ndarray:
    """Points (c, 3), at least one; InputError otherwise."""
    given = _vectors(what, points, (-1, 3))
    if not len(given):
        raise InputError(f"{what} must be at least one point (c, 3), got none")
    return given


def pose(X: ArrayLike) -> np.ndarray:
    """X as (4, 4); InputError where it is no pose."""
    given = _vectors("at", X, (4, 4))
    R = given[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0 or np.abs(given[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise InputError("at must be a pose (4, 4), as freeflyer.frame_pose returns it: its rotation part is no rotation matrix")
    return given


def _contact(kind: str, frame: str, points: np.ndarray | None, friction: Any, name: str | None, at: ArrayLike | None,
             size: tuple[float, float] = (0.2, 0.1)) -> Contact:  # fmt: skip
    _check_name("frame", frame)
    if friction is not None:
        mu = real_array("friction", friction)
        if mu.shape != () or not np.isfinite(mu) or mu < 0.0:
            raise InputError(f"friction must be a coefficient of 0 or more, or None, got {format_value(friction)}")
        friction = float(mu)
    return Contact(kind, frame, points, friction, _name(name, frame), None if at is None else pose(at), size)


def _name(name: str | None, frame: str) -> str:
    if name is None:
        return frame
    _check_name("name", name)
    return name


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise InputError(f"{what} must be a name, got {format_value(name)}")


def _vectors(what: str, x: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    given = real_array(what, x)
    fits = given.ndim == len(shape) and all(n in (m, -1) for n, m in zip(shape, given.shape))
    if not fits or not np.isfinite(given).all():
        words = "(c, 3)" if shape == (-1, 3) else str(shape)
        raise InputError(f"{what} must be finite numbers of shape {words}, got {format_value(x)}", shape=given.shape)
    return given


def _unit(what: str, x: ArrayLike) -> np.ndarray:
    given = _vectors(what, x, (3,))
    length = float(np.linalg.norm(given))
    if not length > 1e-9:
        raise InputError(f"{what} must have a direction, got {format_value(x)}")
    return given / length
