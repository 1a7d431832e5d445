"""Joints as chains of screws: the axes along which and about which their coordinates move."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import DescriptionError
from freeflyer.model.description import Joint
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
