"""Perspective cameras, of pictures and of the browser."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FOV = 0.6  # rad, from the lower to the upper edge
MARGIN = 1.12


class Camera(NamedTuple):
    """Camera of a picture or a page; the world's z is upward in the picture.

    Attributes:
        position: (3,) array, of the eye, m.
        look_at: (3,) array, the point in the middle of the picture, m.
        fov: Angle from the lower to the upper edge, rad.
    """

    position: np.ndarray
    look_at: np.ndarray
    fov: float = FOV

    def axes(self) -> np.ndarray:
        """Rows (3, 3): to the right, up, and forward, in world axes."""
        forward = self.look_at - self.position
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right = right / max(float(np.linalg.norm(right)), 1e-9)
        return np.array([right, np.cross(right, forward), forward])

    def project(self, points: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, 3), m, in the picture: pixels (n, 2) from its left upper corner, and distances (n,) along the view, m."""
        eye = (points - self.position) @ self.axes().T
        scale = 0.5 * height / np.tan(0.5 * self.fov)
        depth = np.where(eye[:, 2] > 1e-9, eye[:, 2], 1e-9)
        return np.array([0.5 * width, 0.5 * height]) + scale * eye[:, :2] * [1.0, -1.0] / depth[:, None], eye[:, 2]


def camera_around(points: np.ndarray, azimuth: float = -60.0, elevation: float = 12.0, aspect: float = 1.0) -> Camera:
    """Camera that shows points (n, 3), m, from a direction.

    azimuth: of the eye, degrees from the world's x to its y. aspect: width over height of the picture."""
    a, e = np.radians(azimuth), np.radians(elevation)
    back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    camera = Camera(middle + back, middle)
    eye = (points - middle) @ camera.axes().T
    slopes = np.tan(0.5 * FOV) * np.array([aspect, 1.0]) / MARGIN
    distance = max(float((np.abs(eye[:, :2]) / slopes - eye[:, 2:]).max()), 1e-3)
    return Camera(middle + distance * back, middle)
