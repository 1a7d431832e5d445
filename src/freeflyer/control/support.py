"""Convex polygons in the plane, the support polygon of feet, and the capture point beside it.

Polygons are (m, 2) corners counter-clockwise; two corners are a segment, one is a point, without inside. Points are (..., 2).
Pratt, Carff, Drakunov and Goswami, "Capture point: a step toward humanoid push recovery", IEEE-RAS Humanoids, 2006."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import complete_feet, contact_points
from freeflyer.dynamics import center_of_mass, centroidal_momentum
from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, finite_row, public, shaped
from freeflyer.sim.floor_contacts import foot_points, points_at
from freeflyer.tolerances import COLLINEAR_RATIO


def support_polygon(feet: Sequence[Contact]) -> np.ndarray:
    """Support polygon of feet: the convex hull of their points, seen from above.

    Args:
        feet: With points and poses, as freeflyer.contacts.anchored_feet gives them.
    Returns: (m, 2) array, corners counter-clockwise, m, world axes; of points on one line its two ends.
    """
    return convex_polygon(np.vstack([ground_points(foot) for foot in check_held(feet)])[:, :2])


def ground_points(foot: Contact) -> np.ndarray:
    """Points (c, 3) of a held foot in the world, m."""
    return points_at(foot, np.asarray(foot.at))


def middle_of(foot: Contact) -> np.ndarray:
    """Mean (3,) of a held foot's points in the world, m."""
    return np.asarray(ground_points(foot).mean(axis=0))


def pose_weight(foot: Contact, R: np.ndarray) -> np.ndarray:
    """Weights (6,) of a foot's pose, axes R (3, 3), in world axes: a foot on a line may turn about the axis next to it."""
    weight = np.ones(6)
    if foot.kind == "line":
        ends = contact_points(foot) @ R.T
        weight[3 + int(np.abs(ends[1] - ends[0]).argmax())] = 0.0
    return weight


def check_held(feet: Sequence[Contact]) -> tuple[Contact, ...]:
    """The feet; InputError for none, and for what is no contact with points and a pose."""
    if isinstance(feet, str | Contact) or not isinstance(feet, Sequence) or not len(feet):
        raise InputError(f"feet must be a list of contacts (freeflyer.contacts.anchored_feet(model, q)), got {format_value(feet)}")
    for foot in feet:
        if not isinstance(foot, Contact) or foot.at is None or foot.points is None:
            made = "as freeflyer.contacts.anchored_feet(model, q) gives them"
            raise InputError(f"feet must be contacts with points and poses, {made}, got {format_value(foot)}")
    return tuple(feet)


def convex_polygon(points: np.ndarray) -> np.ndarray:
    """Convex hull of points (k, 2), k of 1 or more."""
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    size = max(1.0, float(np.abs(points).max()))
    if len(spread) == 2 and spread[1] > COLLINEAR_RATIO * max(spread[0], size):
        from scipy.spatial import ConvexHull

        return np.asarray(points[ConvexHull(points).vertices])
    if spread[0] <= COLLINEAR_RATIO * size:
        return middle[None]
    along = (points - middle) @ axes[0]
    return points[[int(along.argmin()), int(along.argmax())]]


def signed_distance(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Distance (...) of points from the polygon's edge: positive inside, negative outside."""
    heights = _heights(polygon, points)
    outside = -np.linalg.norm(points - _nearest_on_edges(polygon, points), axis=-1)
    return np.where((heights >= 0.0) & (len(polygon) > 2), heights, outside)


def project_into(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points themselves where they lie inside, else the nearest points (..., 2) of the polygon."""
    inside = (_heights(polygon, points) >= 0.0) & (len(polygon) > 2)
    return points + 0.0 if inside.all() else np.where(inside[..., None], points, _nearest_on_edges(polygon, points))


def distance_along(polygon: np.ndarray, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Distance (...) from points to the edge along unit vectors (..., 2); NaN from points outside."""
    n = _inward(polygon)
    height = np.einsum("mk,...mk->...m", n, points[..., None, :] - polygon)
    approach = -directions @ n.T
    with np.errstate(divide="ignore", invalid="ignore"):
        way = np.where(approach > 0.0, height / approach, np.inf).min(axis=-1)
    return np.where(signed_distance(polygon, points) >= 0.0, np.where(len(polygon) > 2, way, 0.0), np.nan)


def _heights(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Least distance (...) above the lines of the edges, to the inside."""
    return np.asarray(np.einsum("mk,...mk->...m", _inward(polygon), points[..., None, :] - polygon).min(axis=-1))


def _inward(polygon: np.ndarray) -> np.ndarray:
    """Unit normals (m, 2) of the edges that begin at each corner, to the inside; zero for a single corner."""
    edge = _edges(polygon)
    length = np.hypot(edge[:, :1], edge[:, 1:])
    return edge[:, ::-1] * (-1.0, 1.0) / np.where(length > 0.0, length, 1.0)


def _edges(polygon: np.ndarray) -> np.ndarray:
    """Edges (m, 2) that begin at each corner; a fifth of the time of numpy.roll."""
    return np.concatenate([polygon[1:], polygon[:1]]) - polygon


def _nearest_on_edges(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    edge = _edges(polygon)
    square = np.einsum("mk,mk->m", edge, edge)
    share = np.einsum("mk,...mk->...m", edge, points[..., None, :] - polygon) / np.where(square > 0.0, square, 1.0)
    candidates = polygon + np.clip(share, 0.0, 1.0)[..., None] * edge
    best = np.linalg.norm(points[..., None, :] - candidates, axis=-1).argmin(axis=-1)
    return np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]


@public
def capture_point(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """Capture point c + c' / omega, (..., 3), m, world axes, at the height of the feet; omega = sqrt(g / height).

    The height is that of the centre of mass above the mean of the feet's points.

    Args:
        feet: Feet on the ground; the default is contacts.feet_by_name.
    """
    point, ground, *_ = _state(model, q, v, feet)
    return np.concatenate([point, ground[..., None]], axis=-1)


@public
def capture_margin(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """Distance of the capture point from the edge of the support polygon, (...), m; positive inside, negative outside.

    Args:
        feet: See capture_point.
    """
    point, ground, _, points = _state(model, q, v, feet)
    return np.reshape([signed_distance(convex_polygon(points[k]), point[k]) for k in np.ndindex(ground.shape)], ground.shape)


@public
def max_push_impulse(model: Model, q: ArrayLike, v: ArrayLike, angles: ArrayLike,
                     feet: Sequence[Contact] | None = None) -> np.ndarray:  # fmt: skip
    """Largest horizontal impulse (..., k), N s, in each direction that leaves the capture point inside the support polygon.

    An impulse J moves the capture point by J / (mass omega). The limit is NaN where the capture point is outside already.

    Args:
        angles: (k,) array, directions, rad from the world's x to its y.
        feet: See capture_point.
    """
    turn = shaped("angles", angles, ("k",), ", in rad")
    directions = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    point, ground, omega, points = _state(model, q, v, feet)
    found = np.empty((*ground.shape, len(turn)))
    for k in np.ndindex(ground.shape):
        way = distance_along(convex_polygon(points[k]), np.broadcast_to(point[k], directions.shape), directions)
        found[k] = model.mass * omega[k] * way
    return found


def _state(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None) -> tuple[np.ndarray, ...]:
    """Of each state: capture point (..., 2), height of the feet (...), omega (...), points of the feet (..., c, 2)."""
    g = np.asarray(model.gravity)
    if not (g[2] < 0.0 and np.abs(g[:2]).max() <= 1e-9 * -g[2]):
        raise InputError(f"gravity of {model.name!r} is {g.tolist()}: a capture point needs gravity along -z of the world")
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    c = center_of_mass(model, q)
    speed = centroidal_momentum(model, q, v)[..., :3] / model.mass
    c, speed = np.broadcast_arrays(c, speed)
    points = foot_points(model, q, complete_feet(model.tree, feet))
    points = np.broadcast_to(points, (*c.shape[:-1], *points.shape[-2:]))
    ground = points[..., 2].mean(axis=-1)
    height = c[..., 2] - ground
    if not (height > 0.0).all():
        raise InputError(f"q has the centre of mass {float(height.min()):.3g} m above the feet: it must be above them")
    omega = np.sqrt(-g[2] / height)
    return c[..., :2] + speed[..., :2] / omega[..., None], ground, omega, points[..., :2]
