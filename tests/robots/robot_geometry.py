"""A description at zero position, computed here from its placements alone."""

import numpy as np
from freeflyer.model.description import WORLD, Description


def poses_at_zero(description: Description) -> dict[str, np.ndarray]:
    """World poses (4, 4) of every link and site with all joints at zero and the base frame at the origin."""
    above = {joint.child: joint for joint in description.joints}
    poses = {WORLD: np.eye(4)}
    for link in description.links:
        X, name = np.eye(4), link.name
        while name in above:
            X, name = above[name].placement @ X, above[name].parent
        poses[link.name] = X
    return poses | {site.name: poses[site.link] @ site.placement for site in description.sites}


def center_of_mass(description: Description) -> np.ndarray:
    poses = poses_at_zero(description)
    masses = np.array([link.inertia.mass for link in description.links])
    points = np.array([poses[x.name][:3, :3] @ x.inertia.com + poses[x.name][:3, 3] for x in description.links])
    return masses @ points / masses.sum()
