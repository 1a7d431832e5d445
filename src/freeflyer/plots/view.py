"""An orthographic view of the world, and a robot to draw in it: lines from link to link, or each link as the hull of its joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.dynamics.frames import frame_pose
from freeflyer.model.description import WORLD
from freeflyer.model.model import Model
from freeflyer.sim.floor_contacts import foot_points
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


CIRCLE = np.stack([np.cos(x := np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)), np.sin(x)], axis=1)
DENSITY = 2000.0  # kg/m^3: of a solid rod as heavy and long as a link, which has the radius that it is drawn with


class Body(NamedTuple):
    """Link to draw: points (k, 3) that span it, in the world, and the radius around them, m."""

    name: str
    points: np.ndarray
    radius: float


def outline(view: View, body: Body) -> np.ndarray:
    """Corners (m, 2) of a body on the page: the hull of circles around its points."""
    return convex_polygon((view.project(body.points)[:, None] + body.radius * CIRCLE).reshape(-1, 2))


def bodies(model: Model, q: np.ndarray, feet: Sequence[Contact] = ()) -> list[Body]:
    """Links with mass at q (nq,): each spanned by its own joint, its children's, its contacts and the ends of loops.

    One that has its own joint alone reaches beyond its centre of mass as far as the joint lies before it, or half the rod with its
    inertia, if that is shorter."""
    d = model.description
    poses = {x.name: frame_pose(model, q, x.name) for x in d.links}
    points = {name: [X[:3, 3]] for name, X in poses.items()}
    for joint in d.joints:
        if joint.parent != WORLD:
            points[joint.parent].append(poses[joint.child][:3, 3])
    link_of = {s.name: s.link for s in d.sites}
    for loop in d.loops:
        for frame in (loop.frame_a, loop.frame_b):
            points[link_of.get(frame, frame)].append(frame_pose(model, q, frame)[:3, 3])
    soles: dict[str, list[np.ndarray]] = {}
    for foot in feet:
        soles.setdefault(link_of.get(foot.frame, foot.frame), []).append(foot_points(model, q, [foot]))
    found = []
    for link in d.links:
        if not link.inertia.mass > 0.0:
            continue
        X, spanned = poses[link.name], np.array(points[link.name])
        touching = np.vstack([np.zeros((0, 3)), *soles.get(link.name, [])])
        rod, ball = _radii(link.inertia.mass, np.vstack([spanned, touching]))
        if len(touching):
            found.append(Body(link.name, np.vstack([spanned, _inset(touching, spanned[0], rod)]), rod))
        elif len(spanned) > 1:
            found.append(Body(link.name, spanned, rod))
        else:
            com = X[:3, :3] @ np.asarray(link.inertia.com)
            rod, _ = _radii(link.inertia.mass, np.array([0.0 * com, 2.0 * com]))
            radius = float(np.sqrt(rod * ball))
            away = max(float(np.linalg.norm(com)), 1e-9)
            share = min(1.0, radius / away)
            half = np.sqrt(3.0 * np.linalg.eigvalsh(link.inertia.rotational)[-1] / link.inertia.mass)  # m
            found.append(Body(link.name, spanned[0] + np.outer([share, 1.0 + min(1.0 - share, half / away)], com), radius))
    return found


def _inset(points: np.ndarray, joint: np.ndarray, radius: float) -> np.ndarray:
    """Contact points (c, 3) moved into the link by its radius, so that its outline ends at them."""
    middle = points.mean(axis=0)
    spread = np.linalg.svd(points - middle)
    if len(points) < 3 or spread[1][1] < radius:
        return points + _shortened(joint - points, radius)
    normal = spread[2][2] * np.sign(spread[2][2] @ (joint - middle))
    return points + radius * normal + _shortened(middle - points, radius)


def _shortened(ways: np.ndarray, length: float) -> np.ndarray:
    """The first `length` of each way (c, 3), or all of it."""
    size = np.linalg.norm(ways, axis=1, keepdims=True)
    return ways * np.minimum(1.0, length / np.maximum(size, 1e-12))


def _radii(mass: float, points: np.ndarray) -> tuple[float, float]:
    """Of the rod of this mass that reaches over the points, and at most that of the ball; of the ball, m."""
    length = float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())
    ball = float((3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0))
    return (min(ball, float(np.sqrt(mass / (np.pi * DENSITY * length)))) if length > 0.0 else ball), ball
