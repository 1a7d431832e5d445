"""Perspective cameras, of pictures and of the browser, and orthographic views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from freeflyer.errors import InputError
from freeflyer.model.inputs import number, shaped

FOV = 0.6  # rad, from the lower to the upper edge
MARGIN = 1.12
LEAST = 1e-6  # rad to the vertical, less than a pixel: views from straight above keep the azimuth of their eye


@dataclass(frozen=True, eq=False)
class Camera:
    """Camera of a picture or a page; the world's z is upward in the picture, or its y if the view is vertical.

    Attributes:
        position: (3,) array, of the eye, m.
        look_at: (3,) array, the point in the middle of the picture, m.
        fov: Angle from the lower to the upper edge, rad."""

    position: np.ndarray
    look_at: np.ndarray
    fov: float = FOV

    def __post_init__(self) -> None:
        for name in ("position", "look_at"):
            object.__setattr__(self, name, shaped(name, getattr(self, name), (3,)))
        object.__setattr__(self, "fov", number("fov", self.fov, 1e-3, 3.0))
        if not np.linalg.norm(self.look_at - self.position) > 1e-9:
            raise InputError("position is the point look_at: a camera that looks nowhere; move one of them", name="position")

    def axes(self) -> np.ndarray:
        """Rows (3, 3): to the right, up, and forward, in world axes."""
        forward = self.look_at - self.position
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        if np.linalg.norm(right) < 0.1 * LEAST:  # vertical
            right = np.cross(forward, (0.0, 1.0, 0.0))
        right = right / np.linalg.norm(right)
        return np.array([right, np.cross(right, forward), forward])

    def project(self, points: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, 3), m, in the picture: pixels (n, 2) from its left upper corner, and distances (n,) along the view, m."""
        eye = (points - self.position) @ self.axes().T
        scale = 0.5 * height / np.tan(0.5 * self.fov)
        depth = np.where(eye[:, 2] > 1e-9, eye[:, 2], 1e-9)
        return np.array([0.5 * width, 0.5 * height]) + scale * eye[:, :2] * [1.0, -1.0] / depth[:, None], eye[:, 2]


def camera_around(points: np.ndarray, azimuth: float = -60.0, elevation: float = 12.0, aspect: float = 1.0) -> Camera:
    """Camera that shows points (n, 3), m, from a direction.

    azimuth, elevation: of the eye, degrees from the world's x to its y, and above the horizon. aspect: width over height of the
    picture. Errors: InputError."""
    a, e = np.radians(number("azimuth", azimuth, -360.0, 360.0)), np.radians(number("elevation", elevation, -90.0, 90.0))
    e = np.clip(e, LEAST - 0.5 * np.pi, 0.5 * np.pi - LEAST)
    back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    camera = Camera(middle + back, middle)
    eye = (points - middle) @ camera.axes().T
    slopes = np.tan(0.5 * FOV) * np.array([aspect, 1.0]) / MARGIN
    distance = max(float((np.abs(eye[:, :2]) / slopes - eye[:, 2:]).max()), 1e-3)
    return Camera(middle + distance * back, middle)


class View(NamedTuple):
    """Orthographic view from a direction.

    Attributes:
        azimuth: Azimuth of the eye, degrees from the world's x to its y: at -90 x goes to the right, at 0 y does.
        elevation: Elevation of the eye above the horizon, degrees.

    Examples:
        >>> from freeflyer.plots.camera import View
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
