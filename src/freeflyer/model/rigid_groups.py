"""Which links fixed joints make one rigid body, and where each sits in it."""

from __future__ import annotations

import numpy as np

from freeflyer.model.description import WORLD, Description


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
