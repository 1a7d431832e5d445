"""Rows of constraints that no constraint set has: the differential drive of the dual quaternion paper, eq. (64), and motions that
are prescribed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.formulations.constrained.rows import Rows
from freeflyer.model.inputs import finite_array, finite_row
from freeflyer.model.model import JointInfo, Model
from freeflyer.model.public import public


@public
def differential_drive(model: Model, q: ArrayLike, v: ArrayLike, joint: str = "root_joint") -> Rows:
    """Row of wheels that do not slip sideways, (-sin yaw, cos yaw, 0) v = 0, for a base on a planar joint.

    Args:
        model: A tree.
        joint: A planar joint, whose coordinates (x, y, yaw) are those of the middle of the axle; the wheels roll along the x of its
            child.
    Returns: Rows. One row, a velocity's: A (..., 1, nv), b = -Adot v.
    Raises: InputError for one that is not planar, closed models, and bad arrays.
    Source: dual quaternion paper, eq. (64). Nonholonomic: it restricts velocities and no position, so that its gap is NaN.

    Examples:
        >>> model, constrained = ff.robots.differential_drive_manipulator(), ff.formulations.constrained
        >>> q, v = ff.configuration(model, root_joint=(0.0, 0.0, 0.5)), np.zeros(9)
        >>> v[:3] = 2.0 * np.cos(0.5), 2.0 * np.sin(0.5), 0.8     # 2 m/s ahead, turning
        >>> rows = ff.formulations.constrained.differential_drive(model, q, v)
        >>> a = constrained.accelerations(model, q, v, np.zeros(9), constraints=rows).a
        >>> print(f"{rows.rate[0]:.6f} m/s sideways, {a[1] * np.cos(0.5) - a[0] * np.sin(0.5):.6f} m/s^2 towards the left")
        0.000000 m/s sideways, 1.600000 m/s^2 towards the left
    """
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    _refuse_closed(model)
    info = _joint(model, joint)
    if info.kind != "planar":
        raise InputError(f"joint {joint!r} is {info.kind}: a differential drive moves on a planar joint (x, y, yaw)", joint=joint)
    yaw, (x, y, turn) = q[..., info.iq + 2], np.moveaxis(v[..., info.iv : info.iv + 3], -1, 0)
    c, s = np.cos(yaw), np.sin(yaw)
    A = np.zeros((*np.broadcast_shapes(yaw.shape, x.shape), 1, model.nv))
    A[..., 0, info.iv], A[..., 0, info.iv + 1] = -s, c
    b, rate = turn * (c * x + s * y), c * y - s * x
    return Rows(A, b[..., None], rate[..., None], np.full((*rate.shape, 1), np.nan), (f"{joint} sideways",))


@public
def prescribed_motion(model: Model, q: ArrayLike, v: ArrayLike, joint: str, position: ArrayLike, velocity: ArrayLike,
                      acceleration: ArrayLike) -> Rows:  # fmt: skip
    """Rows of a joint whose motion is prescribed.

    Args:
        model: A tree.
        joint: Joint with velocities of its own.
        position: (..., nq of the joint) array, where it should be now, in its entries of q; a number for a joint of one coordinate.
        velocity, acceleration: (..., nv of the joint) array, in its entries of v.
    Returns: Rows. As many as the joint has velocities.
    Raises: InputError for a joint without coordinates of its own, closed models, and bad arrays.

    Examples:
        >>> model, constrained = ff.robots.chain(2), ff.formulations.constrained
        >>> q, v = np.array([0.1, 0.2]), np.zeros(2)
        >>> rows = ff.formulations.constrained.prescribed_motion(model, q, v, "joint_1", 0.1, 0.0, 3.0)
        >>> found = constrained.accelerations(model, q, v, np.zeros(2), constraints=rows)
        >>> print(f"{found.a[0]:.3f} rad/s^2 by {found.multipliers[0]:.3f} N m")
        3.000 rad/s^2 by 0.139 N m
    """
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    _refuse_closed(model)
    info = _joint(model, joint)
    if not info.nv or info.mimic is not None:
        raise InputError(f"joint {joint!r} has no coordinates of its own: prescribe the motion of another", joint=joint)
    sizes = (("position", position, info.nq), ("velocity", velocity, info.nv), ("acceleration", acceleration, info.nv))
    wanted, speed, a = (_values(name, x, n) for name, x, n in sizes)
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, wanted, speed, a)))
    target = np.broadcast_to(q, (*lead, model.nq)).copy()
    target[..., info.iq : info.iq + info.nq] = wanted
    part = slice(info.iv, info.iv + info.nv)
    A = np.zeros((*lead, info.nv, model.nv))
    A[..., range(info.nv), range(info.iv, info.iv + info.nv)] = 1.0
    gap = difference(model, finite_row(model, "position", target, "q"), np.broadcast_to(q, target.shape))[..., part]
    names = (joint,) if info.nv == 1 else tuple(f"{joint}.{k}" for k in range(info.nv))
    rate = np.broadcast_to(v[..., part] - speed, gap.shape)
    return Rows(A, np.broadcast_to(a, gap.shape), rate, gap, names)


def _joint(model: Model, name: str) -> JointInfo:
    found = next((j for j in model.joints if j.name == name), None)
    if found is None:
        raise unknown_name("joint", name, [j.name for j in model.joints])
    return found


def _refuse_closed(model: Model) -> None:
    if model.reduction:
        raise InputError(
            f"the loops of {model.name!r} are closed: give the tree, model.tree, with the loops among the constraints "
            "(freeflyer.ConstraintSet(model.tree) closes them)"
        )


def _values(name: str, x: ArrayLike, count: int) -> np.ndarray:
    given = finite_array(name, x)
    if count == 1 and given.shape[-1:] != (1,):
        given = given[..., None]
    if given.ndim == 0 or given.shape[-1] != count:
        raise InputError(f"{name} must have {count} entries, (..., {count}), got {format_value(x)}", shape=given.shape)
    return given
