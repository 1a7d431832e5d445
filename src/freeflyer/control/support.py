"""The support polygon of feet on the ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import contact_points
from freeflyer.control.polygons import convex_polygon
from freeflyer.errors import InputError, format_value


def support_polygon(feet: Sequence[Contact]) -> np.ndarray:
    """Support polygon of feet: the convex hull of their points, seen from above.

    Args:
        feet: With points and poses, as freeflyer.contacts.anchored_feet gives them.
    Returns: (m, 2) array, corners counter-clockwise, m, world axes; of points on one line its two ends.
    Raises: InputError for no feet, and feet without points or poses.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> feet = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model))
        >>> ff.control.support_polygon(feet).shape, ff.control.support_polygon(feet[:1]).round(2).max(axis=0)
        ((4, 2), array([0.16, 0.15]))
    """
    return convex_polygon(np.vstack([ground_points(foot) for foot in check_held(feet)])[:, :2])


def ground_points(foot: Contact) -> np.ndarray:
    """Points (c, 3) of a held foot in the world, m."""
    X = np.asarray(foot.at)
    return contact_points(foot) @ X[:3, :3].T + X[:3, 3]


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
            raise InputError(
                f"feet must be contacts with points and poses, as freeflyer.contacts.anchored_feet(model, q) gives them, got "
                f"{format_value(foot)}"
            )  # fmt: skip
    return tuple(feet)
