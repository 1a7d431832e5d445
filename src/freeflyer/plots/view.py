"""An orthographic view of the world."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
