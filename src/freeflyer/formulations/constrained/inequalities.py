"""Rows of inequalities, A a >= b: points that may leave a plane, joints that may leave their stops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.description import Contact
from freeflyer.contacts.sets.tables import surface_points
from freeflyer.dynamics.closed import velocity_map, velocity_map_bias
from freeflyer.dynamics.frames import frame_bias_acceleration, frame_jacobian, frame_pose, frame_velocity
from freeflyer.errors import InputError, format_value
from freeflyer.formulations.constrained.rows import Rows, join
from freeflyer.model.inputs import finite_array, finite_row
from freeflyer.model.model import Model
from freeflyer.model.public import public


@public
def joint_stops(model: Model, q: ArrayLike, v: ArrayLike) -> Rows:
    """Rows of all joint limits, for `inequalities=`: joints stop there, and may leave.

    Returns: Rows. Two for each joint of one coordinate with limits, "knee lower" and "knee upper"; gap: the distance to the stop, m
    and rad, negative beyond it.

    Examples:
        >>> model = ff.robots.chain(2)     # joints turn by at most pi
        >>> rows = ff.formulations.constrained.joint_stops(model, np.array([np.pi, 1.0]), np.zeros(2))
        >>> rows.names
        ('joint_1 lower', 'joint_1 upper', 'joint_2 lower', 'joint_2 upper')
        >>> print(np.abs(rows.gap).round(3), rows.A[1] + 0.0)
        [6.283 0.    4.142 2.142] [-1.  0.]
    """
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    G, bias = _whole(model, q, v)
    parts = []
    for joint in model.tree.joints:
        given = model.description.joint(joint.name)
        if joint.nq != 1 or joint.mimic is not None:
            continue
        for side, limits, sign in (("lower", given.lower, 1.0), ("upper", given.upper, -1.0)):
            if len(limits) == 1 and np.isfinite(limits[0]):
                A, gap = sign * G[..., joint.iv, :], sign * (q[..., joint.iq] - limits[0])
                parts.append(_row(model, lead, A, -sign * bias[..., joint.iv], v, gap, f"{joint.name} {side}"))
    return join(model, parts)


@public
def unilateral_contacts(model: Model, q: ArrayLike, v: ArrayLike, contacts: Sequence[Contact], height: float = 0.0) -> Rows:
    """Rows of contact points that do not enter their planes, and may leave them, for `inequalities=`; they slide without friction.

    Args:
        contacts: Of freeflyer.contacts: each of their points has a row.
        height: Height of each contact's plane along its normal, m.
    Returns: Rows, gap: the height of each point above the plane, m.
    Raises: InputError for bad arrays, and objects that are not contacts.

    Examples:
        >>> model, foot = ff.robots.quadruped(), ff.contacts.point("front_left_foot")
        >>> q, v = ff.robots.standing_posture(model), np.zeros(model.nv)
        >>> rows = ff.formulations.constrained.unilateral_contacts(model, q, v, [foot])
        >>> rows.names, bool(abs(rows.gap[0]) < 1e-9)
        (('front_left_foot',), True)
    """
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    z = finite_array("height", height)
    if z.shape != ():
        raise InputError(f"height must be a number in m, got {format_value(height)}")
    parts = []
    for contact in [contacts] if isinstance(contacts, Contact) else contacts:
        if not isinstance(contact, Contact):
            raise InputError(f"contacts must list what freeflyer.contacts makes, [point('foot')], got {format_value(contact)}")
        X, n = frame_pose(model, q, contact.frame), contact.normal
        J = frame_jacobian(model, q, contact.frame, "mixed")
        bias = frame_bias_acceleration(model, q, v, contact.frame, "mixed")
        spin = frame_velocity(model, q, v, contact.frame, "mixed")[..., 3:]
        points = surface_points(model.tree, contact)
        for k, point in enumerate(points):
            arm = X[..., :3, :3] @ point  # from the frame's origin, world axes
            b = -(bias[..., :3] + np.cross(bias[..., 3:], arm) + np.cross(spin, np.cross(spin, arm))) @ n
            gap = (X[..., :3, 3] + arm) @ n - float(z)
            name = contact.name if len(points) == 1 else f"{contact.name}.{k}"
            parts.append(_row(model, lead, _along(n, arm, J), b, v, gap, name))
    return join(model, parts)


def _along(n: np.ndarray, arm: np.ndarray, J: np.ndarray) -> np.ndarray:
    """(..., nv): n . (velocity of the point at `arm`), n . (w x arm) = (arm x n) . w."""
    return n @ J[..., :3, :] + (np.cross(arm, n)[..., None, :] @ J[..., 3:, :])[..., 0, :]


def _whole(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G (nv of the tree, nv) and bias: velocities of all joints are G v, their accelerations G a + bias."""
    if not model.reduction:
        return np.eye(model.nv), np.zeros(model.nv)
    return velocity_map(model, q), velocity_map_bias(model, q, v)


def _row(model: Model, lead: tuple[int, ...], A: np.ndarray, b: np.ndarray, v: np.ndarray, gap: np.ndarray, name: str) -> Rows:
    A = np.broadcast_to(A, (*lead, model.nv))
    rate = np.broadcast_to((A * v).sum(axis=-1), lead)
    b, gap = np.broadcast_to(b, lead), np.broadcast_to(gap, lead)
    return Rows(A[..., None, :], b[..., None], rate[..., None], gap[..., None], (name,))
