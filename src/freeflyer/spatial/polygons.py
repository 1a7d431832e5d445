"""Convex polygons in the plane: hulls, distances, nearest points.

Polygons are (m, 2) corners counter-clockwise; two corners are a segment, one is a point. Points are (..., 2). A segment and a
point have no inside, so distances to them are 0 or negative."""

import numpy as np

from freeflyer.tolerances import COLLINEAR_RATIO


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
    heights = inner_height(polygon, points)
    outside = -np.linalg.norm(points - _nearest_on_edges(polygon, points), axis=-1)
    return np.where((heights >= 0.0) & (len(polygon) > 2), heights, outside)


def project_into(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points themselves where they lie inside, else the nearest points (..., 2) of the polygon."""
    inside = (inner_height(polygon, points) >= 0.0) & (len(polygon) > 2)
    return points + 0.0 if inside.all() else np.where(inside[..., None], points, _nearest_on_edges(polygon, points))


def encloses(polygon: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point (2,) or (3,) is on the left of all edges; quickly, in control loops."""
    corners, (x, y, *_) = polygon.tolist(), point.tolist()
    a, b = corners[-1]
    for c, d in corners:
        if (c - a) * (y - b) < (d - b) * (x - a):
            return False
        a, b = c, d
    return len(corners) > 2


def is_convex(corners: np.ndarray) -> bool:
    """Whether corners (m, 2), m of 1 or more, are those of a convex polygon, counter-clockwise."""
    edge = _edges(corners)
    following = np.concatenate([edge[1:], edge[:1]])
    turns = edge[:, 0] * following[:, 1] - edge[:, 1] * following[:, 0]
    return bool((turns >= -1e-12 * np.abs(corners).max(initial=1.0) ** 2).all())


def distance_along(polygon: np.ndarray, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Distance (...) from points to the edge along unit vectors (..., 2); NaN from points outside."""
    n = _inward(polygon)
    height = np.einsum("mk,...mk->...m", n, points[..., None, :] - polygon)
    approach = -directions @ n.T
    with np.errstate(divide="ignore", invalid="ignore"):
        way = np.where(approach > 0.0, height / approach, np.inf).min(axis=-1)
    return np.where(signed_distance(polygon, points) >= 0.0, np.where(len(polygon) > 2, way, 0.0), np.nan)


def inner_height(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
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
