"""The capture point of a state, its distance from the edge of the support polygon, and the pushes that keep it inside.

Pratt, Carff, Drakunov and Goswami, "Capture point: a step toward humanoid push recovery", IEEE-RAS Humanoids, 2006: a linear
inverted pendulum comes to rest over the point c + c' / omega on the floor, omega = sqrt(g / height). While that point lies inside
the support polygon a ZMP inside it can stop the robot without a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import complete_feet
from freeflyer.control.checks import shaped
from freeflyer.control.support import convex_polygon, distance_along, signed_distance
from freeflyer.dynamics.centroidal import center_of_mass, centroidal_momentum
from freeflyer.errors import InputError
from freeflyer.model.inputs import finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.sim.floor_contacts import foot_points


@public
def capture_point(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """Capture point c + c' / omega, at the height of the feet.

    Args:
        feet: Feet on the ground; the default is contacts.feet_by_name.
    Returns: (..., 3) array, m, world axes; omega = sqrt(g / height), height that of the centre of mass above the mean of the feet's
    points.
    Raises: InputError for bad states, for no feet, for a centre of mass that is not above them, and without gravity along -z.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> v[0] = 0.3                                                # m/s forward
        >>> ahead = ff.control.capture_point(model, q, v) - ff.center_of_mass(model, q)
        >>> print(f"{ahead[0]:.2f} m ahead")
        0.09 m ahead
    """
    state = _state(model, q, v, feet)
    return np.concatenate([state.point, state.ground[..., None]], axis=-1)


@public
def capture_margin(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None = None) -> np.ndarray:
    """Distance of the capture point from the edge of the support polygon, (...), m; positive inside, negative outside.

    Args:
        feet: Feet on the ground; the default is contacts.feet_by_name.
    Raises: InputError as capture_point.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> at_rest = ff.control.capture_margin(model, q, v)
        >>> v[0] = 1.0
        >>> bool(at_rest > 0.0), bool(ff.control.capture_margin(model, q, v) < 0.0)     # at rest, and at 1 m/s
        (True, True)
    """
    state = _state(model, q, v, feet)
    found = np.empty(state.ground.shape)
    for k in np.ndindex(found.shape):
        found[k] = signed_distance(convex_polygon(state.points[k]), state.point[k])
    return found


@public
def max_push_impulse(model: Model, q: ArrayLike, v: ArrayLike, angles: ArrayLike,
                     feet: Sequence[Contact] | None = None) -> np.ndarray:  # fmt: skip
    """Largest horizontal impulse in each direction that leaves the capture point inside the support polygon.

    An impulse J moves the capture point by J / (mass omega), wherever on the robot it acts. This is the limit of the linear
    inverted pendulum. It omits angular momentum, by which arms and trunk can balance more, and limits of torque and friction.

    Args:
        v: (..., nv) array, velocity before the impulse.
        angles: (k,) array, directions, rad from the world's x to its y.
        feet: Feet on the ground; the default is contacts.feet_by_name.
    Returns: (..., k) array, N s; NaN where the capture point is outside already.
    Raises: InputError as capture_point, and for angles of another shape.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> limits = ff.control.max_push_impulse(model, q, v, np.radians([0.0, 90.0, 180.0, 270.0]))
        >>> [f"{x:.0f} N s" for x in limits]                         # forward, left, backward, right
        ['44 N s', '48 N s', '35 N s', '48 N s']
    """
    turn = shaped("angles", angles, "k", more=", in rad")
    directions = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    state = _state(model, q, v, feet)
    found = np.empty((*state.ground.shape, len(turn)))
    for k in np.ndindex(state.ground.shape):
        way = distance_along(convex_polygon(state.points[k]), np.broadcast_to(state.point[k], directions.shape), directions)
        found[k] = model.mass * state.omega[k] * way
    return found


class _State(NamedTuple):
    """Of each state: capture point (..., 2), height of the feet (...), omega (...), points of the feet (..., c, 2)."""

    point: np.ndarray
    ground: np.ndarray
    omega: np.ndarray
    points: np.ndarray


def _state(model: Model, q: ArrayLike, v: ArrayLike, feet: Sequence[Contact] | None) -> _State:
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
    return _State(c[..., :2] + speed[..., :2] / omega[..., None], ground, omega, points[..., :2])
