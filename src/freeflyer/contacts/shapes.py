"""Where colliding shapes stand: the face, edge or point of a shape that faces down, and the sole of several shapes together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from freeflyer.tolerances import COLLINEAR_RATIO, POINT_FOOT, SOLE_TILT

MOST_CORNERS, LOST_AREA = 8, 0.05  # the share of a sole's area that left-out corners may cut off
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
RIM = np.linspace(0.0, 2.0 * np.pi, MOST_CORNERS, endpoint=False)
FLAT, UNEVEN = 1e-3, 1e-4  # m: of meshes without volume, of soles that are planes
ENDS = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])


class Shape(NamedTuple):
    """A shape of a link that collides.

    Attributes:
        kind: "box", "sphere", "ellipsoid", "capsule", "cylinder" or "mesh".
        size: Half sides (3,) of boxes, half axes (3,) of ellipsoids and spheres, [radius, half length] of capsules and cylinders
            along z, corners (k, 3) of meshes, m.
        placement: (4, 4) array, its pose at the link.
        friction: Sliding coefficient.
    """

    kind: str
    size: np.ndarray
    placement: np.ndarray
    friction: float | None


def lower_points(shape: Shape, X_WL: np.ndarray) -> np.ndarray:
    """Points (c, 3) in the world on which a shape stands if its link has the pose X_WL (4, 4).

    Faces, rims and lines count that are level within SOLE_TILT; of others the lowest point."""
    X = X_WL @ shape.placement
    R, p = X[:3, :3], X[:3, 3]
    if shape.kind in ("sphere", "ellipsoid"):
        along = shape.size * R[2]
        return np.asarray(p - R @ (shape.size * along) / np.linalg.norm(along))[None]
    if shape.kind == "mesh" or shape.kind == "box":
        return _lower_face(p + (CORNERS * shape.size if shape.kind == "box" else shape.size) @ R.T)
    radius, half = shape.size
    ends = p + half * ENDS @ R.T
    if shape.kind == "capsule":
        return _level(ends - [0.0, 0.0, radius], abs(R[2, 2]) < np.sin(SOLE_TILT))
    turns = np.arctan2(-R[2, 1], -R[2, 0]) + RIM  # the first corner of a rim is its lowest point
    rim = radius * np.column_stack([np.cos(turns), np.sin(turns)]) @ R[:, :2].T
    if abs(R[2, 2]) > np.cos(SOLE_TILT):
        return np.asarray(ends[ends[:, 2].argmin()] + rim)
    return _level(ends + rim[0], abs(R[2, 2]) < np.sin(SOLE_TILT))


def _level(ends: np.ndarray, level: bool) -> np.ndarray:
    """Both points, or the lower one."""
    return ends if level else ends[[ends[:, 2].argmin()]]


def _lower_face(points: np.ndarray) -> np.ndarray:
    """Of a body's corners (k, 3) those of the faces of its convex hull that look down, else its lowest ones."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # flat, or fewer than four points
        return points[points[:, 2] < points[:, 2].min() + FLAT]
    down = hull.equations[:, 2] < -np.cos(SOLE_TILT)
    if not down.any():
        return points[[points[:, 2].argmin()]]
    return points[np.unique(hull.simplices[down])]


def sole_corners(points: np.ndarray) -> np.ndarray:
    """Corners (c, 3) of the sole on which a body with these lower points (k, 3) stands, counter-clockwise from above; one point for
    a sole smaller than POINT_FOOT. Corners are left out while that costs at most LOST_AREA in all, the slightest first, and of more
    than MOST_CORNERS in any case: facets of the friction cone grow with their square."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    _, spread, axes = np.linalg.svd(flat, full_matrices=False)
    sides = np.ptp(flat @ axes.T, axis=0)
    if sides.max() < POINT_FOOT:
        return np.array([[*points[:, :2].mean(axis=0), points[:, 2].min()]])
    if len(points) < 3 or spread[1] <= COLLINEAR_RATIO * spread[0]:
        return points
    corners = points[ConvexHull(flat).vertices]
    room = LOST_AREA * ConvexHull(flat).volume
    while len(corners) > 3:
        x, y = (np.roll(corners, k, axis=0)[:, :2] - corners[:, :2] for k in (1, -1))
        cut = 0.5 * np.abs(x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0])
        room -= cut.min()
        if room < 0.0 and len(corners) <= MOST_CORNERS:
            break
        corners = np.delete(corners, cut.argmin(), axis=0)
    plane = np.column_stack([corners[:, :2], np.ones(len(corners))])
    if np.ptp(corners[:, 2] - plane @ np.linalg.lstsq(plane, corners[:, 2], rcond=None)[0]) > UNEVEN:  # a mesh with round edges
        corners[:, 2] = points[:, 2].min()
    return corners
