"""Feet of a robot as contacts: named in its file, or given by the points of their soles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import VERTICAL, Contact, check_points, line, point, surface
from freeflyer.contacts.shapes import sole_corners
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.model.inputs import one_row
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.tolerances import COLLINEAR_RATIO


def contact_from_points(frame: str, points: ArrayLike, friction: float | None = None, name: str | None = None, *,
         normal: ArrayLike = VERTICAL) -> Contact:  # fmt: skip
    """Contact of a rigid sole at some points: a point, a line or a surface, as they lie.

    Args:
        points: (c, 3) array, in the frame's axes, m. Of a line the two outermost are taken.
        friction: Coefficient.
        name: The default is the frame's name.
        normal: (3,) array, as in point.
    Raises: InputError for other shapes and numbers.

    Examples:
        >>> corners = [(0.1, 0.05, 0.0), (0.1, -0.05, 0.0), (-0.1, 0.0, 0.0)]
        >>> [ff.contacts.contact_from_points("foot", corners[:c]).kind for c in (1, 2, 3)]
        ['point', 'line', 'surface']
    """
    given = check_points("points", points)
    spread = np.linalg.svd(given - given.mean(axis=0), compute_uv=False) if len(given) > 1 else np.zeros(2)
    extent = COLLINEAR_RATIO * max(1.0, float(np.abs(given).max()))
    if spread[0] <= extent:
        return point(frame, given.mean(axis=0), friction, name, normal=normal)
    if len(given) > 2 and spread[1] > COLLINEAR_RATIO * spread[0]:
        return surface(frame, given, friction=friction, name=name, normal=normal)
    along = np.linalg.svd(given - given.mean(axis=0))[2][0]
    ends = [int(np.argmin(given @ along)), int(np.argmax(given @ along))]
    return line(frame, given[ends], friction, name, normal=normal)


@public
def feet_by_name(model: Model) -> tuple[Contact, ...]:
    """Feet of a model by their names: each frame `..._sole` that has frames `..._sole_*` of its corners.

    Returns: tuple of Contact, points, lines or surfaces, as the corners lie; those of a surface are its convex hull,
    counter-clockwise from above.
    Raises: InputError if there are none.

    Examples:
        >>> left, right = ff.contacts.feet_by_name(ff.robots.humanoid())
        >>> left.frame, left.kind, left.points.shape
        ('left_sole', 'surface', (4, 3))
    """
    model, found = model.tree, []
    for name in model.frame_names:
        corners = corners_of(model, name) if name.endswith("_sole") else None
        if corners is not None:
            found.append(contact_from_points(name, sole_corners(corners)))
    if not found:
        raise InputError(
            f"{model.name!r} has no frames named '..._sole' with corners '..._sole_*': name its feet, "
            "feet=[freeflyer.contacts.contact_from_points(frame, points), ...]",
            robot=model.name,
        )
    return tuple(found)


@public
def anchored_feet(model: Model, q: ArrayLike, feet: Sequence[Contact] | None = None) -> tuple[Contact, ...]:
    """Feet of a model with their points, held where they stand at a configuration.

    Args:
        q: (nq,) array, configuration.
        feet: By default those of feet_by_name.
    Returns: tuple of Contact with `points` and `at`, the poses of their frames in the world.
    Raises: InputError for bad configurations, for an object that is not a contact, and if no feet are found.

    Examples:
        >>> model = ff.robots.humanoid()
        >>> left, right = ff.contacts.anchored_feet(model, ff.robots.standing_posture(model))
        >>> np.round(left.at[:3, 3], 9) + 0.0
        array([0. , 0.1, 0. ])
    """
    x = one_row(model, "q", q, "q")
    return tuple(foot.held_at(frame_pose(model, x, foot.frame)) for foot in complete_feet(model, feet))


def corners_of(model: Model, frame: str) -> np.ndarray | None:
    """Points (c, 3) in a frame's axes: the origins of the frames `FRAME_*`; None where there are none."""
    names = [n for n in model.frame_names if n.startswith(f"{frame}_")]
    if not names:
        return None
    X = np.linalg.inv(frame_pose(model, model.neutral, frame))
    return np.array([(X @ frame_pose(model, model.neutral, n))[:3, 3] for n in names])


def surface_points(model: Model, contact: Contact) -> np.ndarray:
    """The points (c, 3) of a contact: its own, those of the model's frames, or the corners of a rectangle."""
    if contact.points is not None:
        return contact.points
    corners = corners_of(model, contact.frame)
    if corners is not None and len(corners) > 2:
        return surface(contact.frame, corners).points  # type: ignore[return-value]
    x, y = 0.5 * contact.size[0], 0.5 * contact.size[1]
    return np.array([[x, y, 0.0], [x, -y, 0.0], [-x, -y, 0.0], [-x, y, 0.0]])


def contact_points(foot: Contact) -> np.ndarray:
    """The points (c, 3) of a foot of `complete_feet`."""
    return np.zeros((0, 3)) if foot.points is None else foot.points


def complete_feet(model: Model, feet: Iterable[Contact] | None) -> tuple[Contact, ...]:
    """The contacts given, their points filled in, or those of the model's feet. Errors: InputError, UnknownNameError."""
    chosen = feet_by_name(model) if feet is None else (feet,) if isinstance(feet, Contact) else tuple(feet)
    if not chosen:
        raise InputError("no foot is given: nothing touches the ground")
    for foot in chosen:
        if not isinstance(foot, Contact):
            raise InputError(f"feet must be contacts (see freeflyer.contacts.contact_from_points), got {format_value(foot)}")
        model.frame(foot.frame)
    return tuple(replace(foot, points=surface_points(model, foot)) for foot in chosen)
