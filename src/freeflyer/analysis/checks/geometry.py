"""Sizes read from a description: how far a robot reaches, which links carry which."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freeflyer.model.description import WORLD, Description, Joint, Link


def joint_above(description: Description) -> dict[str, Joint]:
    """The joint that carries each link, by link name; roots are absent."""
    return {joint.child: joint for joint in description.joints}


def joints_below(description: Description) -> dict[str, list[Joint]]:
    """The joints that start at each link, in file order."""
    below: dict[str, list[Joint]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint)
    return below


def links_in_tree_order(description: Description) -> Iterator[tuple[Link, Joint | None, int]]:
    """(link, the joint that carries it or None, depth), depth first in file order, without recursion."""
    below, links = joints_below(description), {link.name: link for link in description.links}
    roots = [links[name] for name in description.roots]
    if WORLD in links or WORLD in below:
        roots.insert(0, links.get(WORLD, Link(WORLD)))
    stack: list[tuple[Link, Joint | None, int]] = [(root, None, 0) for root in reversed(roots)]
    while stack:
        link, joint, depth = stack.pop()
        yield link, joint, depth
        stack.extend((links[j.child], j, depth + 1) for j in reversed(below.get(link.name, [])))


def reach(description: Description) -> float:
    """The longest path from a root to a link or a centre of mass, in m: the scale that lengths are judged by."""
    distance = {WORLD: 0.0}
    longest = 0.0
    for link, joint, _ in links_in_tree_order(description):
        step = float(np.linalg.norm(joint.placement[:3, 3])) if joint else 0.0
        distance[link.name] = (distance[joint.parent] if joint else 0.0) + step
        com = float(np.linalg.norm(link.inertia.com)) if link.inertia.mass > 0 else 0.0
        longest = max(longest, distance[link.name] + com)
    return longest
