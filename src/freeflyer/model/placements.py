"""Placements: of joints as chains of screws, and rotations as files write them (MuJoCo's w, x, y, z; URDF's roll, pitch, yaw);
the links that fixed joints make one rigid body, and their inertias, moved and joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.errors import DescriptionError
from freeflyer.model.description import WORLD, Description, Inertia, Joint
from freeflyer.spatial import se3
from freeflyer.spatial._check import check_unit
from freeflyer.spatial.quaternion import from_axis_angle, from_matrix, normalize, rotation_matrix, to_matrix
from freeflyer.tolerances import HALF_TURN_SQUARED_SINE

UNTURNED = np.eye(3)


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
    w. Free: position in m, then the quaternion. The child's pose in the parent link is joint.placement @ this. A mimic joint
    takes its own position, its leader's times ratio plus offset. Errors: a quaternion that is not unit."""
    match joint.kind:
        case "fixed":
            return np.eye(4)
        case "spherical":
            return _rotate(joint.name, position)
        case "free":
            X = _rotate(joint.name, position[3:])
            X[:3, 3] = position[:3]
            return X
    X = np.eye(4)
    for coordinate, (axis, turn, slide) in zip(position, screws(joint)):
        X = X @ pose_at(slide * coordinate * axis, to_matrix(from_axis_angle(axis, turn * coordinate)))
    return X


def _rotate(joint: str, q: np.ndarray) -> np.ndarray:
    check_unit(f"the quaternion of joint {joint!r}", np.asarray(q, float))
    return se3.from_position_quaternion(np.zeros(3), normalize(q))


def placement(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """(4, 4) of a position (3,) and a quaternion w, x, y, z of any length but zero."""
    return pose_at(position, rotation_matrix((quaternion / np.linalg.norm(quaternion))[[1, 2, 3, 0]]))


def quaternion(R: np.ndarray) -> np.ndarray:
    """w, x, y, z with w >= 0, of a rotation (3, 3)."""
    return from_matrix(R)[[3, 0, 1, 2]]


def pose_at(position: ArrayLike, axes: ArrayLike = UNTURNED) -> np.ndarray:
    """(4, 4) of a position (3,), a translation without axes (3, 3)."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = axes, position
    return X


def turn_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """(4, 4) of a rotation by `angle` (rad) about a unit axis."""
    return placement(np.zeros(3), np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis)]))


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """(3, 3) rotation of URDF's angles: about the fixed axes x, y, z, in this order (rad)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    return np.array([
        [cp * cy, sp * (sr * cy) - cr * sy, sp * (cr * cy) + sr * sy],
        [cp * sy, sp * (sr * sy) + cr * cy, sp * (cr * sy) - sr * cy],
        [-sp, cp * sr, cp * cr]])


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

    With `with_world` the links that stay still, those without a joint among them, belong to the world's group; else the world is
    a group of its own, and what is fixed to it starts another."""
    starts = (WORLD, *description.roots)
    groups = {link: (WORLD if with_world else link, np.eye(4)) for link in starts}
    for joint in description.below(starts):
        top, X = groups[joint.parent]
        welded = joint.kind == "fixed" and (with_world or joint.parent != WORLD)
        groups[joint.child] = (top, X @ joint.placement) if welded else (joint.child, np.eye(4))
    return groups


def group_inertias(description: Description, groups: Mapping[str, tuple[str, np.ndarray]]) -> dict[str, Inertia]:
    """The inertia of each of these rigid groups (see `rigid_groups`), by and in its uppermost link."""
    parts: dict[str, list[Inertia]] = {}
    for link in description.links:
        top, X = groups[link.name]
        parts.setdefault(top, []).append(transform(link.inertia, X) if top != link.name else link.inertia)
    return {top: join(*of_group) if len(of_group) > 1 else of_group[0] for top, of_group in parts.items()}
