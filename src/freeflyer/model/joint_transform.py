"""The pose that a joint gives its child, straight from its description: one joint, plain NumPy, no compiled model."""

from __future__ import annotations

import numpy as np

from freeflyer.model.description import Joint
from freeflyer.model.screws import screws
from freeflyer.spatial import quaternion, se3


def joint_transform(joint: Joint, position: np.ndarray) -> np.ndarray:
    """Pose (4, 4) of the child link in the joint frame at `position` (nq,), laid out as in a configuration.

    Screws: rad or m, a cylindrical joint's slide before its turn, a planar one's x, y, angle. Spherical: unit quaternion x, y, z,
    w. Free: position in m, then the quaternion. The child's pose in the parent link is joint.placement @ this. A mimic joint takes
    its own position, its leader's times ratio plus offset. Errors: a quaternion that is not unit."""
    match joint.kind:
        case "fixed":
            return np.eye(4)
        case "spherical":
            return _rotate(position)
        case "free":
            X = _rotate(position[3:])
            X[:3, 3] = position[:3]
            return X
    X = np.eye(4)
    for coordinate, (axis, turn, slide) in zip(position, screws(joint)):
        step = np.eye(4)
        step[:3, :3] = quaternion.to_matrix(quaternion.from_axis_angle(axis, turn * coordinate))
        step[:3, 3] = slide * coordinate * axis
        X = X @ step
    return X


def _rotate(q: np.ndarray) -> np.ndarray:
    return se3.from_position_quaternion(np.zeros(3), quaternion.normalize(quaternion.check_unit(q)))
