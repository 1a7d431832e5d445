"""Shapes of links that have none in the file: round, as heavy as the link over its joints, or a box of its inertia."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from freeflyer.model.description import WORLD, Description, Inertia
from freeflyer.model.placements import pose_at
from freeflyer.model.visuals.triangles import Mesh, box, hull_of_balls

DENSITY = 2000.0  # kg/m^3: of a solid rod as heavy and long as a link, which has the radius that it is drawn with
MOST_POINTS = 24


class LinkPoints(NamedTuple):
    """Points of a link in its own axes, m: joints (k, 3), its own, those that it carries and the ends of loops, none of a free body
    alone; and the corners and points of its foot (m, 3), on which it ends."""

    joints: np.ndarray
    foot: np.ndarray


def link_points(description: Description) -> Mapping[str, LinkPoints]:
    """Of each link. Feet are sites `..._foot` and `..._sole...`."""
    lone = {j.child for j in description.joints if j.kind == "free"} - {j.parent for j in description.joints}
    joints = {link.name: [np.zeros(3)] * (link.name not in lone) for link in description.links}
    feet: dict[str, list[np.ndarray]] = {name: [] for name in joints}
    for joint in description.joints:
        if joint.parent in joints and joint.parent != WORLD:
            joints[joint.parent].append(joint.placement[:3, 3])
    ends = {frame for loop in description.loops for frame in (loop.frame_a, loop.frame_b)}
    for site in description.sites:
        if site.link in joints and (site.name in ends or site.name.endswith("_foot") or "_sole" in site.name):
            (joints if site.name in ends else feet)[site.link].append(site.placement[:3, 3])
    return {name: LinkPoints(*(np.reshape(x[:MOST_POINTS], (-1, 3)) for x in (joints[name], feet[name]))) for name in joints}


def inertia_shape(inertia: Inertia, at: LinkPoints) -> Mesh:
    """In the axes of the link: over its joints, down to its foot.

    One that has its own joint alone reaches beyond its centre of mass as far as the joint lies before it, or half the rod with its
    inertia, if that is shorter."""
    mass, com, moments = inertia.mass, np.asarray(inertia.com), np.linalg.eigvalsh(inertia.rotational)
    rod, ball = _radii(mass, np.vstack(at))
    if not len(at.joints):
        return _box(inertia, 0.2 * ball, 4.0 * ball)
    if len(at.foot):
        return hull_of_balls(np.vstack([at.joints, _inset(at.foot, at.joints[0], rod)]), rod)
    if len(at.joints) > 1:
        return hull_of_balls(at.joints, rod)
    radius = float(np.sqrt(ball * _radii(mass, np.array([0.0 * com, 2.0 * com]))[0]))
    away = max(float(np.linalg.norm(com)), 1e-9)
    share, half = min(1.0, radius / away), np.sqrt(3.0 * moments[-1] / mass)  # m
    return hull_of_balls(np.outer([share, 1.0 + min(1.0 - share, half / away)], com), radius)


def _box(inertia: Inertia, least: float, most: float) -> Mesh:
    """Of uniform density with this inertia, its half sides between two lengths."""
    moments, axes = np.linalg.eigh(np.asarray(inertia.rotational))
    half = np.sqrt(np.clip(3.0 * (0.5 * moments.sum() - moments) / inertia.mass, least**2, most**2))
    return box(half).moved(pose_at(inertia.com, axes * np.sign(np.linalg.det(axes))))


def _radii(mass: float, points: np.ndarray) -> tuple[float, float]:
    """Of the rod of this mass that reaches over the points, and at most that of the ball; of the ball, m."""
    length = float(np.linalg.norm(points[:, None] - points[None], axis=-1).max(initial=0.0))
    ball = float((3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0))
    return (min(ball, float(np.sqrt(mass / (np.pi * DENSITY * length)))) if length > 0.0 else ball), ball


def _inset(points: np.ndarray, joint: np.ndarray, radius: float) -> np.ndarray:
    """Points of a foot (m, 3) moved into the link by its radius, so that its outline ends at them."""
    middle = points.mean(axis=0)
    spread = np.linalg.svd(points - middle)
    if len(points) < 3 or spread[1][1] < radius:
        return points + _shortened(joint - points, radius)
    normal = spread[2][2] * np.sign(spread[2][2] @ (joint - middle))
    return points + radius * normal + _shortened(middle - points, radius)


def _shortened(ways: np.ndarray, length: float) -> np.ndarray:
    """The first `length` of each way (m, 3), or all of it."""
    size = np.linalg.norm(ways, axis=1, keepdims=True)
    return ways * np.minimum(1.0, length / np.maximum(size, 1e-12))
