"""Rows of constraint sets: Jacobian, bias and residual, on trees by compiled code, on closed models in their own velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.contacts.sets.tables import loops_of, surface_points
from freeflyer.contacts.wrenches import orthogonal_pair
from freeflyer.dynamics.evaluate import evaluate
from freeflyer.dynamics.frames import frame_pose
from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError
from freeflyer.kernels import entries as E
from freeflyer.linkages.closed.calls import motion, velocity_map
from freeflyer.linkages.rows import constraint_residual
from freeflyer.model.inputs import row
from freeflyer.spatial.quaternion import rotation_vector
from freeflyer.tolerances import MIN_AXIS_SINE

if TYPE_CHECKING:
    from freeflyer.contacts.sets.constraint_set import ConstraintSet


def run_set(entry: Any, constraints: ConstraintSet, inputs: tuple[Any, ...], names: tuple[str, ...]) -> Any:
    """The outputs of an entry that reads the set's table, for one state or a batch of the tree."""
    found = entry.call(constraints.handle, *inputs, None)
    if found is not None:
        return found
    try:
        return evaluate(entry, constraints.model.tree, inputs, names, frames=constraints.table)  # type: ignore[arg-type]
    except InputError:
        _check_wheels(constraints, inputs[0])
        raise


def _check_wheels(constraints: ConstraintSet, q: Any) -> None:
    """InputError for a wheel that lies flat on its plane, where it has no lowest point."""
    for wheel in constraints.rolling:
        if wheel.axis is not None and np.isfinite(q).all():
            out = np.cross(frame_pose(constraints.model, q, wheel.frame)[..., :3, :3] @ wheel.axis, wheel.normal)
            if (np.linalg.norm(out, axis=-1) < MIN_AXIS_SINE).any():
                raise InputError(
                    f"wheel {wheel.name!r} lies flat on its plane, where it has no lowest point: its axis is the plane's normal. "
                    "A ball is freeflyer.contacts.rolling(frame, radius, axis=None)", name=wheel.name,
                )  # fmt: skip


class SetRows(NamedTuple):
    """J (..., r, nv), bias (..., r); of items, in their frames' axes: unit wrenches (..., rows of items, 6), and their own axes
    (..., items, 9), the vectors x, y and normal."""

    J: np.ndarray
    bias: np.ndarray
    wrenches: np.ndarray
    axes: np.ndarray


def tree_rows(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike) -> SetRows:
    """The rows in the velocities of the tree."""
    return SetRows._make(run_set(E.SET_ROWS, constraints, (q, v), ("q", "v")))


def all_rows(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike | None) -> SetRows:
    """As `tree_rows`, in the velocities of the set's own model; without v at rest."""
    model = constraints.model
    v = model._zero if v is None else v
    if not model.reduction:
        return tree_rows(constraints, q, v)
    whole, gamma = motion(model, q, v)
    found = tree_rows(constraints, q, whole)
    return found._replace(J=found.J @ velocity_map(model, q), bias=found.bias + (found.J @ gamma[..., None])[..., 0])


def jacobian_and_bias(constraints: ConstraintSet, q: ArrayLike, v: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """(J (..., r, nv), bias (..., r)) in the velocities of the set's own model."""
    return all_rows(constraints, q, v)[:2]


def residual(constraints: ConstraintSet, q: ArrayLike) -> np.ndarray:
    """(..., r): see ConstraintSet.residual."""
    model = constraints.model
    q = row(model, "q", q, "q")
    if constraints.rolling:
        raise InputError(
            f"{constraints.rolling[0].name!r} rolls: its rows hold velocities, and where it may be does not follow from them. "
            f"Remove it for a residual: constraints - {constraints.rolling[0].name!r}", name=constraints.rolling[0].name,
        )  # fmt: skip
    parts = []
    if constraints.loop_names:
        parts.append(constraint_residual(model, q)[..., loops_of(model).rows])
    if constraints.locks:
        if constraints.posture is None:
            raise _no_held_pose(constraints.locks[0])
        parts.append(difference(model.tree, constraints.posture, q)[..., list(constraints.coordinates)])
    parts += [_contact_residual(constraints, c, q) for c in constraints.contacts]
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*q.shape[:-1], 0))


def _no_held_pose(name: str) -> InputError:
    return InputError(
        f"{name!r} is held nowhere in particular: anchor the set, constraints.anchored(q), or give the contact a pose, at=X",
        name=name,
    )


def _contact_residual(constraints: ConstraintSet, contact: Contact, q: np.ndarray) -> np.ndarray:
    if contact.at is None:
        raise _no_held_pose(contact.name)
    X = frame_pose(constraints.model, q, contact.frame)
    R, back, S = X[..., :3, :3], np.swapaxes(X[..., :3, :3], -1, -2), contact.at[:3, :3]
    points = surface_points(constraints.model.tree, contact)
    middle = np.zeros(3) if contact.kind == "surface" else points.mean(axis=0)
    way = X[..., :3, 3] + R @ middle - (contact.at[:3, 3] + S @ middle)
    linear = (back @ way[..., None])[..., 0]
    if contact.kind == "point":
        return linear
    if contact.kind == "surface":
        turn = rotation_vector(S.T @ R)
        return np.concatenate([linear, turn], axis=-1)
    d = points[1] - points[0]
    d = d / np.linalg.norm(d)
    held = back @ (S @ d)  # where the line was, in the frame's axes
    axis, cosine = np.cross(held, d), held @ d
    sine = np.linalg.norm(axis, axis=-1)
    angle = np.arctan2(sine, cosine)
    turn = axis * np.where(sine > 1e-9, angle / np.where(sine > 1e-9, sine, 1.0), 1.0)[..., None]
    return np.concatenate([linear, turn @ orthogonal_pair(d).T], axis=-1)
