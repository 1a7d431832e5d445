"""Unit wrenches of contacts: those of the public rows, and those by which forces count as the forces in the contact's points do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freeflyer.contacts.description import Contact
from freeflyer.spatial.se3 import skew


@dataclass(frozen=True, eq=False)
class UnitWrenches:
    """Of k rows, in the frame's axes at its origin: rows (k, 6), whose power is a row of J v; least (k, 6): with forces y in them
    the wrench least^T y is that of point forces of which the least sum of squares is |y|^2; multipliers (k, k): of the rows, for y.
    """

    rows: np.ndarray
    least: np.ndarray
    multipliers: np.ndarray


def unit_wrenches(contact: Contact, points: np.ndarray) -> UnitWrenches:
    """Of a contact with these points (c, 3)."""
    return _make(contact.kind, points.tobytes())


@lru_cache(maxsize=1024)
def _make(kind: str, data: bytes) -> UnitWrenches:
    points = np.frombuffer(data).reshape(-1, 3)
    rows = np.eye(6) if kind == "surface" else point_wrenches(points.mean(axis=0))
    if kind == "line":
        turns = np.hstack([np.zeros((2, 3)), orthogonal_pair(points[1] - points[0])])
        rows = np.vstack([rows, turns])
    least = point_basis(points)[1].T
    return UnitWrenches(rows, least, np.linalg.lstsq(rows.T, least.T, rcond=None)[0])


def point_basis(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(U (3c, k), T (6, k)): an orthonormal basis of the forces in points (c, 3) that make wrenches, and these wrenches.

    Forces U y make the wrench T y at the frame's origin with the least sum of squares: |U y| = |y|."""
    S = np.hstack([point_wrenches(p).T for p in points])
    if len(points) == 1:
        return np.eye(3), S
    _, values, basis = np.linalg.svd(S, full_matrices=False)
    U = basis[values > 1e-9 * values[0]].T
    return U, S @ U


def point_wrenches(p: np.ndarray) -> np.ndarray:
    """(3, 6): unit forces at the point p as wrenches."""
    return np.hstack([np.eye(3), skew(p).T])


def contact_axes(normal: np.ndarray) -> np.ndarray:
    """(3, 3): a rotation; rows x, y, z of a contact in world axes, z the normal (3,) of unit length."""
    x = orthogonal_pair(normal)[0]
    return np.array([x, np.cross(normal, x), normal])


def orthogonal_pair(d: np.ndarray) -> np.ndarray:
    """(2, 3): two unit vectors at right angles to d and to each other; of x, y, z those where d is one of them."""
    axes = np.delete(np.eye(3), int(np.argmax(np.abs(d))), axis=0)
    d = d / np.linalg.norm(d)
    first = axes[0] - (axes[0] @ d) * d
    first /= np.linalg.norm(first)
    second = np.cross(d, first)
    return np.array([first, second if second @ axes[1] > 0.0 else -second])
