"""Shapes of links that have none in the file: as heavy as the link over its joints, or a box of its inertia."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from freeflyer.model.description import WORLD, Description, Link
from freeflyer.model.placements import pose_at
from freeflyer.model.visuals.triangles import Mesh, box, hull_of_balls

DENSITY = 2000.0  # kg/m^3, of the rod over the joints, which gives its radius
FLAT = 0.01  # m: joints nearer to each other make no rod
MOST_POINTS = 24


def link_points(description: Description) -> Mapping[str, np.ndarray]:
    """Points (k, 3) of each link in its own axes: its origin, the joints and the ends of loops that it carries, its sites."""
    points = {link.name: [np.zeros(3)] for link in description.links}
    sites = {s.name: s for s in description.sites}
    leaves = set(points) - {j.parent for j in description.joints}
    for joint in description.joints:
        if joint.parent in points and joint.parent != WORLD:
            points[joint.parent].append(joint.placement[:3, 3])
    ends = {frame for loop in description.loops for frame in (loop.frame_a, loop.frame_b)}
    for site in sites.values():
        if site.link in points and (site.name in ends or site.link in leaves):
            points[site.link].append(site.placement[:3, 3])
    return {name: np.array(x[:MOST_POINTS]) for name, x in points.items()}


def inertia_shape(link: Link, points: np.ndarray) -> Mesh:
    """Shape in the axes of the link."""
    mass = link.inertia.mass
    length = float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())
    ball = (3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
    if length > FLAT:
        return hull_of_balls(points, float(min(ball, np.sqrt(mass / (np.pi * DENSITY * length)), 0.2 * length)))
    moments, axes = np.linalg.eigh(np.asarray(link.inertia.rotational))
    squares = 0.5 * moments.sum() - moments
    half = np.sqrt(np.clip(3.0 * squares / mass, (0.2 * ball) ** 2, (4.0 * ball + length) ** 2))
    return box(half).moved(pose_at(link.inertia.com, axes * np.sign(np.linalg.det(axes))))
