"""Unit wrenches of contacts: those of the public rows, and those by which forces count as the forces in the contact's points do;
wrenches in the axes that are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact, Rolling
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.model.description import WORLD
from freeflyer.model.inputs import choice, instances, real_array
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.spatial.se3 import skew


@dataclass(frozen=True, eq=False)
class UnitWrenches:
    """Of k rows, in the frame's axes at its origin: rows (k, 6), whose power is a row of J v; least (k, 6): with forces y in them
    the wrench least^T y is that of point forces of which the least sum of squares is |y|^2; multipliers (k, k): of the rows, for
    y. """

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


ContactExpressed = Literal["body", "mixed", "world", "contact"]


@public
def express_wrenches(model: Model, q: ArrayLike, wrenches: Mapping[str, ArrayLike], contacts: Iterable[Contact | Rolling],
                     expressed: ContactExpressed = "contact") -> dict[str, np.ndarray]:
    """Wrenches on contacts, given in the axes of their frames, expressed in other axes.

    Args:
        wrenches: Name -> (..., 6) array: [force; torque] in the frame's axes at its origin, N and N m, as all results give them.
        contacts: Those of these names.
        expressed: "contact", "body", "mixed" or "world". "contact": the contact's axes, whose z is its normal, at the frame's
            origin. Others: as in inverse_dynamics.
    Returns: dict, name -> (..., 6) array of each of the contacts that has a wrench."""
    chosen = instances("contacts", contacts, Contact | Rolling, 'freeflyer.contacts.surface("left_sole")')
    choice("expressed", expressed, get_args(ContactExpressed))
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches must be a mapping from names of contacts to arrays (..., 6), got {format_value(wrenches)}")
    given = {c.name: real_array(c.name, wrenches[c.name]) for c in chosen if c.name in wrenches}
    for name, w in given.items():
        if w.ndim < 1 or w.shape[-1] != 6:
            raise InputError(f"the wrench on {name!r} has shape {w.shape}, expected (..., 6)", shape=w.shape)
    chosen = tuple(c for c in chosen if c.name in given)
    return {c.name: express_at(pose_of(model, q, c.frame), given[c.name], expressed, c.normal) for c in chosen}


def normal_forces(model: Model, q: ArrayLike, wrenches: Mapping[str, ArrayLike],
                  contacts: Iterable[Contact | Rolling]) -> dict[str, np.ndarray]:
    """{name: (...)}: the parts of wrenches along the normals of their contacts, N; see express_wrenches."""
    return {name: w[..., 2] for name, w in express_wrenches(model, q, wrenches, contacts).items()}


def pose_of(model: Model, q: ArrayLike, frame: str) -> np.ndarray:
    """Pose (..., 4, 4) of a frame, or of the world."""
    return np.eye(4) if frame == WORLD else frame_pose(model, q, frame)


def express_at(X: np.ndarray, w: np.ndarray, expressed: str, normal: np.ndarray | None = None) -> np.ndarray:
    """Wrenches (..., 6) in the axes of frames with poses X (..., 4, 4), expressed otherwise; "contact" takes a normal (3,)."""
    if expressed == "body":
        return w
    R = X[..., :3, :3]
    if expressed == "contact":
        assert normal is not None
        R = contact_axes(normal) @ R
    force, torque = (R @ w[..., :3, None])[..., 0], (R @ w[..., 3:, None])[..., 0]
    if expressed == "world":
        torque = torque + np.cross(X[..., :3, 3], force)
    return np.concatenate([force, torque], axis=-1)
