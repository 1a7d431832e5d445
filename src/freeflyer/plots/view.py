"""An orthographic view of the world, and a robot to draw in it: each link as the hull of its shapes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.model import Model, remembered
from freeflyer.model.visuals.reading import visuals
from freeflyer.model.visuals.triangles import hull_corners
from freeflyer.spatial.polygons import convex_polygon


class View(NamedTuple):
    """Orthographic view from a direction.

    Attributes:
        azimuth: Azimuth of the eye, degrees from the world's x to its y: at -90 x goes to the right, at 0 y does.
        elevation: Elevation of the eye above the horizon, degrees.

    Examples:
        >>> from freeflyer.plots.view import View
        >>> View(azimuth=-90.0, elevation=0.0).project(np.array([1.0, 2.0, 3.0])).round(9)
        array([1., 3.])
    """

    azimuth: float = -65.0
    elevation: float = 14.0

    def axes(self) -> np.ndarray:
        """Rows (3, 3): to the right, up and to the eye, in world axes."""
        a, e = np.radians(self.azimuth), np.radians(self.elevation)
        eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        return np.array([right, np.cross(eye, right), eye])

    def project(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3), m, on the page (..., 2), to the right and up, m."""
        return points @ self.axes()[:2].T

    def depth(self, points: np.ndarray) -> np.ndarray:
        """How near to the eye points (..., 3) are, m: larger is nearer."""
        return points @ self.axes()[2]


class Body(NamedTuple):
    """Link to draw: corners (k, 3) of the hull of its shapes, in the world, m."""

    name: str
    corners: np.ndarray


def outline(view: View, body: Body) -> np.ndarray:
    """Corners (m, 2) of a body on the page."""
    return convex_polygon(view.project(body.corners))


def bodies(model: Model, q: np.ndarray) -> list[Body]:
    """Links that are seen of a robot at q (nq,), as viewer.picture shows them."""
    return [Body(link, corners @ X[:3, :3].T + X[:3, 3]) for link, corners in _hulls(model) for X in [frame_pose(model, q, link)]]


@remembered
def _hulls(model: Model) -> list[tuple[str, np.ndarray]]:
    """(link, corners (k, 3) in its axes) of the hull of each of the links that are seen."""
    found: dict[str, list[np.ndarray]] = {}
    for shape in visuals(model).shapes:
        found.setdefault(shape.link, []).append(shape.mesh.vertices)
    return [(link, hull_corners(np.vstack(parts))) for link, parts in found.items()]
