"""Rigid bodies: which links fixed joints make one, where each sits in it, and their inertias, moved and joined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freeflyer.model.description import WORLD, Description, Inertia

POINT_MOMENT = 1e-14  # kg m^2: what rounding leaves of the moments of a point, which MuJoCo refuses
GYRATION = 1e-3  # m


def transform(inertia: Inertia, X: np.ndarray) -> Inertia:
    """The inertia, given in frame B, in frame A: X (4, 4) is the pose of B in A."""
    R = X[:3, :3]
    return Inertia(inertia.mass, R @ inertia.com + X[:3, 3], R @ inertia.rotational @ R.T)


def join(*parts: Inertia) -> Inertia:
    """Rigidly joined bodies as one, all given in the same frame; without mass the com is the frame's origin."""
    mass = float(sum(part.mass for part in parts))
    com = np.zeros(3)
    if mass > 0.0:
        com = sum((part.mass * part.com for part in parts), com) / mass
    rotational = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        rotational = rotational + part.rotational + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, com, rotational)


def possible(inertia: Inertia) -> Inertia:
    """An inertia whose largest principal moment exceeds the sum of the others, reduced to that sum; the moments of a point, raised
    to those of a radius of gyration GYRATION; others as they are."""
    moments, axes = np.linalg.eigh(inertia.rotational)
    if moments[2] <= moments[0] + moments[1] and (moments[1] > POINT_MOMENT or not inertia.mass):
        return inertia
    if moments[1] <= POINT_MOMENT:
        moments[:2] = np.maximum(moments[:2], GYRATION**2 * inertia.mass)
    moments[2] = np.clip(moments[2], moments[1], moments[0] + moments[1])
    return replace(inertia, rotational=(axes * moments) @ axes.T)


def rigid_groups(description: Description, with_world: bool = True) -> dict[str, tuple[str, np.ndarray]]:
    """For every link: (the uppermost link of its rigid group, its pose (4, 4) there).

    With `with_world` the links that stay still, those without a joint among them, belong to the world's group; else the world is a
    group of its own, and what is fixed to it starts another."""
    above = {joint.child: joint for joint in description.joints}
    groups: dict[str, tuple[str, np.ndarray]] = {WORLD: (WORLD, np.eye(4))}
    for link in (x.name for x in description.links):
        path = []
        while link not in groups:
            joint = above.get(link)
            if joint is None and with_world:
                groups[link] = (WORLD, np.eye(4))
            elif joint is None or joint.kind != "fixed" or (joint.parent == WORLD and not with_world):
                groups[link] = (link, np.eye(4))
            else:
                path.append(joint)
                link = joint.parent
        for joint in reversed(path):
            top, X = groups[joint.parent]
            groups[joint.child] = (top, X @ joint.placement)
    return groups
