"""The base of a closed robot over its soles, and the postures that its motors can reach, loops closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freeflyer.contacts import Contact, contact_points
from freeflyer.dynamics import frame_pose
from freeflyer.errors import AssemblyError, InputError, LinkageError
from freeflyer.estimation.passive import Sensors
from freeflyer.linkages import keep_closed, position_limits
from freeflyer.model import Model, one_row, public, quaternion, shaped
from freeflyer.sim.floor_contacts import foot_points, put_on_floor
from freeflyer.tolerances import DEFAULT_STROKE, LEVEL_TOLERANCE

STEPS = 12  # a stroke is gone in so many steps


def place_on_ground(model: Model, q: np.ndarray, feet: Sequence[Contact]) -> np.ndarray:
    """q with the base lifted so that the soles lie at height 0 on average. Errors: InputError for feet not on one level."""
    heights = foot_points(model, q, feet)[:, 2]
    middle = float(heights.mean())
    off = np.abs(heights - middle)
    if off.max() > LEVEL_TOLERANCE:
        names = np.repeat([f.frame for f in feet], [len(contact_points(f)) for f in feet])
        raise InputError(
            f"foot {str(names[np.argmax(off)])!r} of {model.name!r} is not on the floor: one of its points lies {off.max():.3f} m "
            "off the level of all soles where the linkage is closed. Give feet that stand on one level floor",
            foot=str(names[np.argmax(off)]), height=float(heights[np.argmax(off)] - middle))
    return put_on_floor(model, q, feet, np.mean)


@public
def base_over_soles(model: Model, q: np.ndarray, feet: Sequence[Contact], ground: np.ndarray) -> tuple[np.ndarray, float]:
    """The configuration with its free base put where the soles best lie on the ground.

    The soles' points are fitted to their places as one body, in least squares.

    Args:
        q: (nq,) array, configuration of the tree; its joints stay.
        feet: Feet with c points in all.
        ground: (c, 3) array, the points' places in the world, m, in the order of the feet.
    Returns:
        q: (nq,) array.
        misfit: Largest distance of a point from its place, m."""
    model = model.tree
    q = one_row(model, "q", q, "q")
    if model.joints[0].kind != "free":
        raise InputError(f"the base of {model.name!r} does not move: a robot with a free base is expected")
    here = foot_points(model, q, feet)
    ground = shaped("ground", ground, here.shape, ": a place for each point of the feet")
    a, b = here.mean(axis=0), ground.mean(axis=0)
    U, sizes, V = np.linalg.svd((here - a).T @ (ground - b))
    if not sizes[1] > 1e-12:
        raise InputError("the points of the feet lie on one line: they do not determine the base's orientation")
    R = (U * [1.0, 1.0, np.sign(np.linalg.det(U @ V))] @ V).T
    X = frame_pose(model, q, model.joints[0].child)
    x = q.copy()
    x[:3] = R @ (X[:3, 3] - a) + b
    x[3:7] = quaternion(R @ X[:3, :3])[[1, 2, 3, 0]]
    return x, float(np.linalg.norm((here - a) @ R.T + b - ground, axis=1).max())


def strokes(s: Sensors) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) (n,): limits of the measured joints, a finite range about the drawn posture where there are none."""
    here = s.partition.q[s.positions]
    lower = np.where(np.isfinite(s.lower), s.lower, here - 0.5 * DEFAULT_STROKE)
    return lower, np.where(np.isfinite(s.upper), s.upper, here + 0.5 * DEFAULT_STROKE)


def reach(s: Sensors, target: np.ndarray) -> np.ndarray | None:
    """q (nq,) with the measured joints at target (n,), led there from the drawn posture; None if the linkage does not follow."""
    q = s.partition.q.copy()
    first = q[s.positions]
    inside = _is_inside(s, q)
    for k in range(1, STEPS + 1):
        q[s.positions] = first + (target - first) * k / STEPS
        try:
            q = keep_closed(s.model, q)[0]
        except (AssemblyError, LinkageError):
            return None
        if inside and not _is_inside(s, q):
            return None
    return q


def _is_inside(s: Sensors, q: np.ndarray) -> bool:
    lower, upper = position_limits(s.model)
    return bool((q >= lower - 1e-6).all() and (q <= upper + 1e-6).all())
