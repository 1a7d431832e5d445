"""Rows of constraints on accelerations, A a = b or A a >= b, and the control of their drift; rows that no constraint set has: the
differential drive of the dual quaternion paper, eq. (64), and prescribed motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts.sets.constraint_set import ConstraintSet, all_rows, check_set
from freeflyer.contacts.sets.systems import user_rows
from freeflyer.dynamics import difference
from freeflyer.errors import InputError, format_value
from freeflyer.model import Model, check_shape, finite_array, finite_row, positive, public


class Rows(NamedTuple):
    """Rows of constraints on accelerations: A a = b, or A a >= b where they are inequalities.

    Attributes:
        A, b: (..., r, nv) and (..., r) array, m/s^2, rad/s^2.
        rate: (..., r) array; error of the rows' velocities, A v less the prescribed value, m/s and rad/s; NaN if unknown.
        gap: (..., r) array; by how much the rows' positions are off, m and rad; NaN for rows that hold velocities alone
            (nonholonomic). Of inequalities the distance that is left.
        names: Names of the rows."""

    A: np.ndarray
    b: np.ndarray
    rate: np.ndarray
    gap: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True)
class DriftControl:
    """Control of the drift of constraints, which integrators let grow: errors of their rows decay in time (Baumgarte).

    Rows that hold positions, gap g: g'' + (2 z / T) g' + g / T^2 = 0. Rows that hold velocities alone, rate r: r' + r / T =
    0. Both add nothing where the constraints are met, so that T does not change the motion itself. Inequalities keep the same
    expressions non-negative, so an approaching body is slowed within T, instead of being stopped by an impact.

    Args:
        time: Time constant T in which errors decay, s. Shorter corrects faster; explicit integrators need T of two steps at
            least; from ten on the accuracy of a motion does not suffer.
        damping: Ratio z of rows that hold positions; 1: as fast as possible without overshoot."""

    time: float
    damping: float = 1.0

    def __post_init__(self) -> None:
        for name in ("time", "damping"):
            positive(f"{name} of a DriftControl", getattr(self, name))

    def corrected(self, rows: Rows) -> np.ndarray:
        """b (..., r) with which the errors of the rows decay. Errors: InputError for rows whose rate is unknown."""
        unknown = np.isnan(rows.rate).any(axis=tuple(range(rows.rate.ndim - 1)))
        if unknown.any():
            raise InputError(f"the rate of {rows.names[int(np.argmax(unknown))]!r} is unknown, so that its drift cannot be "
                "controlled: give Rows(A, b, rate, gap, names) in place of (A, b)")
        only_rates = np.isnan(rows.gap)
        position = (2.0 * self.damping * rows.rate + np.where(only_rates, 0.0, rows.gap) / self.time) / self.time
        return rows.b - np.where(only_rates, rows.rate / self.time, position)


Constraints = ConstraintSet | Rows | tuple[ArrayLike, ArrayLike] | Sequence[ConstraintSet | Rows | tuple[ArrayLike, ArrayLike]]


def rows_of(model: Model, given: Constraints, q: np.ndarray, v: np.ndarray, drift: bool, word: str = "row") -> Rows:
    """All rows of what a user gives as constraints, one below the other; with their gaps if drift is controlled. word: the name of
    rows of (A, b), with a number."""
    if isinstance(given, Rows | ConstraintSet) or type(given) is tuple:
        return _rows(model, given, q, v, drift, word, 0)
    if not isinstance(given, list):
        name = "inequalities" if word == "inequality" else "constraints"
        raise InputError(f"{name} must be a ConstraintSet, Rows, (A, b), or a list of these, got {format_value(given)}")
    parts, count = [], 0
    for part in given:
        parts.append(_rows(model, part, q, v, drift, word, count))
        count += len(parts[-1].names)
    return join(model, parts)


def join(model: Model, parts: Sequence[Rows]) -> Rows:
    """Rows one below the other, leading axes broadcast."""
    if not parts:
        none = np.zeros(0)
        return Rows(np.zeros((0, model.nv)), none, none, none, ())
    lead = np.broadcast_shapes(*(p.A.shape[:-2] for p in parts), *(p.b.shape[:-1] for p in parts))
    A = np.concatenate([np.broadcast_to(p.A, (*lead, *p.A.shape[-2:])) for p in parts], axis=-2)
    b, rate, gap = (np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in column], axis=-1)
        for column in zip(*((p.b, p.rate, p.gap) for p in parts)))
    return Rows(A, b, rate, gap, tuple(name for p in parts for name in p.names))


def _rows(model: Model, given: object, q: np.ndarray, v: np.ndarray, drift: bool, word: str, first: int) -> Rows:
    if isinstance(given, ConstraintSet):
        return _set_rows(model, given, q, v, drift)
    if isinstance(given, Rows):
        A, b = user_rows(model, (given.A, given.b))
        count = A.shape[-2]
        for name, x in (("rate", given.rate), ("gap", given.gap), ("names", given.names)):
            if np.shape(x)[-1:] != (count,):
                raise InputError(f"Rows have {count} rows and {name} of shape {np.shape(x)}, expected (..., {count})")
        return Rows(A, b, np.asarray(given.rate, dtype=float), np.asarray(given.gap, dtype=float), tuple(map(str, given.names)))
    A, b = user_rows(model, given)
    nothing = np.full(b.shape, np.nan)
    return Rows(A, b, nothing, nothing, tuple(f"{word} {first + k}" for k in range(A.shape[-2])))


def _set_rows(model: Model, constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, drift: bool) -> Rows:
    check_set(model, constraints)
    J, bias, *_ = all_rows(constraints, q, v)
    rate = (J @ v[..., None])[..., 0]
    gap = np.full(rate.shape, np.nan)
    held = ConstraintSet(model, constraints.contacts, constraints.locks, (), constraints.loops, constraints.posture)
    if drift and held.names:
        gap[..., : rate.shape[-1] - 3 * len(constraints.rolling)] = held.residual(q)
    return Rows(J, -bias, rate, gap, constraints.row_names)


@public
def differential_drive(model: Model, q: ArrayLike, v: ArrayLike, joint: str = "root_joint") -> Rows:
    """Row of wheels that do not slip sideways, (-sin yaw, cos yaw, 0) v = 0, for a base on a planar joint of a tree.

    Args:
        joint: A planar joint, whose coordinates (x, y, yaw) are those of the middle of the axle; the wheels roll along the x of
            its child.
    Returns: Rows. One row, a velocity's: A (..., 1, nv), b = -Adot v.
    Source: dual quaternion paper, eq. (64). Nonholonomic: it restricts velocities and no position, so that its gap is NaN."""
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    _refuse_closed(model)
    info = model.joint(joint)
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
                      acceleration: ArrayLike) -> Rows:
    """Rows of a joint of a tree, as many as it has velocities, whose motion is prescribed.

    Args:
        joint: Joint with velocities of its own.
        position: (..., nq of the joint) array, where it should be now, in its entries of q; a number for a joint of one
            coordinate.
        velocity, acceleration: (..., nv of the joint) array, in its entries of v."""
    q, v = finite_row(model, "q", q, "q"), finite_row(model, "v", v, "u")
    _refuse_closed(model)
    info = model.joint(joint)
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


def _refuse_closed(model: Model) -> None:
    if model.reduction:
        raise InputError(f"the loops of {model.name!r} are closed: give the tree, model.tree, with the loops among the "
            "constraints (freeflyer.ConstraintSet(model.tree) closes them)")


def _values(name: str, x: ArrayLike, count: int) -> np.ndarray:
    given = finite_array(name, x)
    if count == 1 and given.shape[-1:] != (1,):
        given = given[..., None]
    return check_shape(name, given, ("...", count))
