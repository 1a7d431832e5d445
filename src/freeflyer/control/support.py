"""The support polygon of feet, and the capture point beside it.

Pratt, Carff, Drakunov and Goswami, "Capture point: a step toward humanoid push recovery", IEEE-RAS Humanoids, 2006."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import Contact, complete_feet, contact_points
from freeflyer.dynamics import center_of_mass, centroidal_momentum
from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, finite_row, public, shaped
from freeflyer.sim.floor_contacts import foot_points, points_at
from freeflyer.spatial.polygons import convex_polygon, distance_along, signed_distance


def support_polygon(feet: Sequence[Contact]) -> np.ndarray:
    """Support polygon of feet: the convex hull of their points, seen from above.

    Args:
        feet: With points and poses, as freeflyer.contacts.anchored_feet gives them.
    Returns: (m, 2) array, corners counter-clockwise, m, world axes; of points on one line its two ends."""
    return convex_polygon(np.vstack([points_at(foot, np.asarray(foot.at)) for foot in check_held(feet)])[:, :2])


def middle_of(foot: Contact) -> np.ndarray:
    """Mean (3,) of a held foot's points in the world, m."""
    return np.asarray(points_at(foot, np.asarray(foot.at)).mean(axis=0))


def pose_weight(foot: Contact, R: np.ndarray) -> np.ndarray:
    """Weights (6,) of a foot's pose, axes R (3, 3), in world axes: a foot on a line may turn about the axis next to it."""
    weight = np.ones(6)
    if foot.kind == "line":
        ends = contact_points(foot) @ R.T
        weight[3 + int(np.abs(ends[1] - ends[0]).argmax())] = 0.0
    return weight


def check_held(feet: Sequence[Contact]) -> tuple[Contact, ...]:
    """The feet; InputError for none, and for anything that is no contact with points and a pose."""
    if isinstance(feet, str | Contact) or not isinstance(feet, Sequence) or not len(feet):
        raise InputError(f"feet must be a list of contacts (freeflyer.contacts.anchored_feet(model, q)), got {format_value(feet)}")
    for foot in feet:
        if not isinstance(foot, Contact) or foot.at is None or foot.points is None:
            made = "as freeflyer.contacts.anchored_feet(model, q) gives them"
            raise InputError(f"feet must be contacts with points and poses, {made}, got {format_value(foot)}")
    return tuple(feet)


@public
def capture_point(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """Capture point c + c' / omega, (..., 3), m, world axes, at the height of the feet; omega = sqrt(g / height).

    The height is that of the centre of mass above the mean of the feet's points."""
    point, ground, *_ = _state(model, q, v, feet)
    return np.concatenate([point, ground[..., None]], axis=-1)


@public
def capture_margin(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """Distance of the capture point from the edge of the support polygon, (...), m; positive inside, negative outside."""
    point, ground, _, points = _state(model, q, v, feet)
    return np.reshape([signed_distance(convex_polygon(points[k]), point[k]) for k in np.ndindex(ground.shape)], ground.shape)


@public
def max_push_impulse(model: Model, q: ArrayLike, v: ArrayLike, angles: ArrayLike,
                     feet: Sequence[Contact] | None = None) -> np.ndarray:  # fmt: skip
    """Largest horizontal impulse (..., k), N s, in each direction that leaves the capture point inside the support polygon.

    An impulse J moves the capture point by J / (mass omega). The limit is NaN where the capture point is outside already.

    Args:
        angles: (k,) array, directions, rad from the world's x to its y."""
    turn = shaped("angles", angles, ("k",), ", in rad")
    directions = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    point, ground, omega, points = _state(model, q, v, feet)
    found = np.empty((*ground.shape, len(turn)))
    for k in np.ndindex(ground.shape):
        way = distance_along(convex_polygon(points[k]), np.broadcast_to(point[k], directions.shape), directions)
        found[k] = model.mass * omega[k] * way
    return found


def _state(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None) -> tuple[np.ndarray, ...]:
    """Quantities of each state: capture point (..., 2), height of the feet (...), omega (...), points of the feet (..., c, 2)."""
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
