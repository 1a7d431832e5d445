"""Joints as chains of screws: the axes along which and about which their coordinates move."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import DescriptionError
from freeflyer.model.description import Joint
from freeflyer.spatial import quaternion, se3
from freeflyer.tolerances import HALF_TURN_SQUARED_SINE


def screws(joint: Joint) -> list[tuple[np.ndarray, float, float]]:
    """(axis, turn, slide) per unit of each coordinate, for the kinds that are chains of one-DoF screws."""
    axis = joint.axis / np.linalg.norm(joint.axis)
    match joint.kind:
        case "revolute" | "continuous":
            return [(axis, 1.0, 0.0)]
        case "prismatic":
            return [(axis, 0.0, 1.0)]
        case "helical":
            return [(axis, 1.0, joint.pitch)]
        case "cylindrical":
            return [(axis, 0.0, 1.0), (axis, 1.0, 0.0)]
        case "universal":
            return [(axis, 1.0, 0.0), (joint.axis2 / np.linalg.norm(joint.axis2), 1.0, 0.0)]
        case "planar":
            A = turn_z_to(axis)
            return [(A[:, 0], 0.0, 1.0), (A[:, 1], 0.0, 1.0), (axis, 1.0, 0.0)]
    raise DescriptionError(f"joint {joint.name!r} has the unknown kind {joint.kind!r}", joint=joint.name)


def turn_z_to(axis: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose third column is the unit vector `axis`: the short turn from z; the identity for z itself."""
    x, y, z = axis
    if z < 0.0 and x * x + y * y < HALF_TURN_SQUARED_SINE:  # half a turn about x first
        F = np.diag([1.0, -1.0, -1.0])
        return F @ turn_z_to(F @ axis)
    K = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    return np.eye(3) + K + K @ K * (1.0 / (1.0 + z) if z > 0.0 else (1.0 - z) / (x * x + y * y))  # 1 + z would cancel


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
