"""Unit wrenches of contacts: those of the public rows, and those by which forces count as the forces in the contact's points do;
wrenches in the axes that are asked for; and friction cones, the forces in a contact's rows that unilateral point forces make.

Cones are about the contact's normal. Points and lines turn on the ground: their cones are in axes whose z is the normal. A surface
lies flat: its cone is in its frame's axes, about the one that is the normal then (`sole_axis`).

Forces act in the contact's points, each within a pyramid of four sides inside of the friction cone. Together they make exactly
the forces y with lower <= C y <= 0: for a sole these are the friction pyramid, the rectangle of the centre of pressure and the
limits of the yaw torque, which depend on both (Caron, Pham and Nakamura, ICRA 2015, found them for rectangles)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
import scipy

from freeflyer.contacts.description import VERTICAL, Contact, Rolling
from freeflyer.dynamics import frame_pose
from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, check_shape, choice, frozen_array, instances, public, real_array
from freeflyer.spatial.se3 import skew
from freeflyer.tolerances import CONE_ROUNDING


@dataclass(frozen=True, eq=False)
class UnitWrenches:
    """Of k rows, in the frame's axes at its origin: rows (k, 6), whose power is a row of J v; least (k, 6): with forces y in them
    the wrench least^T y is that of point forces of which the least sum of squares is |y|^2; multipliers (k, k): of the rows, for
    y."""

    rows: np.ndarray
    least: np.ndarray
    multipliers: np.ndarray


@lru_cache(maxsize=1024)
def unit_wrenches(kind: str, points_data: bytes) -> UnitWrenches:
    points = np.frombuffer(points_data).reshape(-1, 3)
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
    """Wrenches on contacts, given in the axes of their frames, expressed in other axes; name -> (..., 6) of those that have one.

    Args:
        wrenches, contacts: Name -> (..., 6) array: [force; torque] in the frame's axes at its origin, as results give them.
        expressed: "contact", the contact's axes, whose z is its normal, at the frame's origin; or as in inverse_dynamics."""
    chosen = instances("contacts", contacts, Contact | Rolling, 'freeflyer.contacts.surface("left_sole")')
    choice("expressed", expressed, get_args(ContactExpressed))
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches must be a mapping from names of contacts to arrays (..., 6), got {format_value(wrenches)}")
    given = {c.name: real_array(c.name, wrenches[c.name]) for c in chosen if c.name in wrenches}
    for name, w in given.items():
        check_shape(f"the wrench on {name!r}", w, ("...", 6))
    chosen = tuple(c for c in chosen if c.name in given)
    return {c.name: express_at(frame_pose(model, q, c.frame), given[c.name], expressed, c.normal) for c in chosen}


def normal_forces(model: Model, q: ArrayLike, wrenches: Mapping[str, ArrayLike],
                  contacts: Iterable[Contact | Rolling]) -> dict[str, np.ndarray]:
    """{name: (...)}: the parts of wrenches along the normals of their contacts, N; see express_wrenches."""
    return {name: w[..., 2] for name, w in express_wrenches(model, q, wrenches, contacts).items()}


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


NORMAL = 2  # the row of the normal force, of every kind of contact
LINE_ROWS = np.eye(6)[[0, 1, 2, 4, 5]]  # forces along the line, across it and along the normal; turns about the last two
MERGED = 1e-4  # between unit normals
ACROSS = 0.7  # cosine to the normal of the points' plane, from which on z counts as the axis across a sole


class Cone(namedtuple("Cone", "C lower")):
    """Forces y (k,) in the rows of a contact, lower <= C y <= 0: C (m, k), rows of unit length; lower (m,) is -inf, or 0 where a
    force is excluded altogether."""


def friction_cone(contact: Contact, points: np.ndarray, friction: float, axis: np.ndarray) -> Cone:
    """The cone of a contact with points (c, 3) in its frame's axes; axis (3,): of a surface, that of `sole_axis`."""
    return _make_cone(contact.kind, points.tobytes(), friction, axis.tobytes())


@lru_cache(maxsize=256)
def _make_cone(kind: str, points: bytes, friction: float, axis: bytes) -> Cone:
    p = np.frombuffer(points).reshape(-1, 3)
    if kind == "surface":
        Q = contact_axes(np.frombuffer(axis))
        cone = cone_of_generators(_generators(np.eye(6), p @ Q.T, friction))
        return cone._replace(C=frozen_array(cone.C @ np.kron(np.eye(2), Q)))
    if kind == "point":
        return cone_of_generators(pyramid_edges(friction))
    half = 0.5 * np.linalg.norm(p[1] - p[0])
    return cone_of_generators(_generators(LINE_ROWS, np.array([[-half, 0.0, 0.0], [half, 0.0, 0.0]]), friction))


def sole_axis(model: Model, contact: Contact, points: np.ndarray) -> np.ndarray:
    """(3,), in the axes of its frame: the normal of a surface that lies flat with its points (c, 3), on the side where it is held.
    That is z, or where the points' plane lies along z its own normal."""
    across = np.linalg.svd(points - points.mean(axis=0))[2][2]
    flat = abs(float(across[2])) >= ACROSS
    axis = VERTICAL if flat else across
    if flat and contact.at is None:
        return axis
    X = frame_pose(model, model.neutral, contact.frame) if contact.at is None else contact.at
    return axis if X[:3, :3] @ axis @ contact.normal >= 0.0 else frozen_array(-axis)


def _generators(W: np.ndarray, points: np.ndarray, friction: float) -> np.ndarray:
    """(4 c, k): forces in the rows W (k, 6) that the edges of the points' pyramids make, normal force 1."""
    wrenches = np.concatenate([pyramid_edges(friction) @ point_wrenches(p) for p in points])
    return np.asarray(np.linalg.lstsq(W.T, wrenches.T, rcond=None)[0].T)


def pyramid_edges(friction: float) -> np.ndarray:
    """(4, 3): forces on the edges of a pyramid inside of the friction cone, normal force 1."""
    side = friction / np.sqrt(2.0)
    return np.array([(x * side, y * side, 1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])


def cone_of_generators(G: np.ndarray) -> Cone:
    """The cone of sums of generators (n, k) with factors of 0 or more; each generator's normal force is 1."""
    others = np.delete(G, NORMAL, axis=1)
    middle = others.mean(axis=0)
    _, spread, axes = np.linalg.svd(others - middle)
    rank = int((spread > CONE_ROUNDING * max(1.0, float(np.abs(others).max(initial=0.0)))).sum())
    facets = _facets((others - middle) @ axes[:rank].T)
    sides = np.hstack([facets[:, :-1] @ axes[:rank], facets[:, -1:]])  # n (y - y_z middle) + b y_z <= 0
    walls = np.hstack([axes[rank:], np.zeros((len(axes) - rank, 1))])  # n (y - y_z middle) = 0
    rows = np.concatenate([sides, walls])
    rows[:, -1] -= rows[:, :-1] @ middle
    C = np.insert(rows[:, :-1], NORMAL, rows[:, -1], axis=1)
    lower = np.where(np.arange(len(C)) < len(sides), -np.inf, 0.0)
    if not rank:  # of a point without friction, only the sign of the normal force is left
        C, lower = np.vstack([C, -np.eye(G.shape[1])[NORMAL]]), np.append(lower, -np.inf)
    return Cone(frozen_array(C / np.linalg.norm(C, axis=1, keepdims=True)), frozen_array(lower))


def _facets(x: np.ndarray) -> np.ndarray:
    """(m, d + 1): n x + b <= 0 of the convex hull of points x (n, d), each facet once.

    Digits of a file make several facets of one. Facets whose normals differ by less than MERGED are one facet inside of them."""
    if x.shape[1] == 0:
        return np.zeros((0, 1))
    if x.shape[1] == 1:
        return np.array([[1.0, -x.max()], [-1.0, x.min()]])
    try:
        found, kept = scipy.spatial.ConvexHull(x).equations, []
    except scipy.spatial.QhullError:  # it would merge facets that are too wide; with QJ it moves points by 1e-11
        return np.asarray(scipy.spatial.ConvexHull(x, qhull_options="QJ").equations)
    while len(found):
        near = np.linalg.norm(found[:, :-1] - found[0, :-1], axis=1) < MERGED
        own, facet = found[near], found[0]
        if np.ptp(own, axis=0).max() > CONE_ROUNDING:
            n = own[:, :-1].mean(axis=0)
            facet = np.append(n, (x @ (own[:, :-1] - n).T + own[:, -1]).max())
        kept.append(facet)
        found = found[~near]
    return np.array(kept)
