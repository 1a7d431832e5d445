"""How a set's rows change with the configuration, the velocity and the acceleration, exact.

From the derivatives of frames: rows J a + bias of a contact are parts of the frame's acceleration in body expression, rows of a
loop are T', T the twist of frame_b relative to frame_a (forces.py). Under rolling bodies, couplings or loops that tie one turn by
complex steps through the kernels' own source: f(q, v, a) = J a + bias, J^T multipliers and the unit wrenches of items, at q (+) i
h e, v + i h e; imaginary parts over h are derivatives. That is plain Python (kernels.plain): milliseconds a coordinate and
state."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.forces import (
    cross, cross_columns, loops_in, relative_pose, rotate_columns, shift_motions, tied_turn)
from freeflyer.contacts.sets.tables import wrenches_of
from freeflyer.dynamics import (
    chain, chain_forces, frame_acceleration, frame_acceleration_derivatives, frame_velocity, frame_velocity_derivatives,
    motion, velocity_map,
)
from freeflyer.model import Loop
from freeflyer.tolerances import COMPLEX_STEP

Rows = tuple[np.ndarray, ...]  # by q, by v, by a


def row_derivatives(constraints: ConstraintSet, q: Any, v: Any, a: Any) -> Rows:
    """Derivatives (..., r, nv) of J a + bias by q, v and a."""
    model, found = constraints.model, []
    for loop, _, tied in loops_in(constraints):
        found.append(tuple(x[..., tied, :] for x in _loop_derivatives(model, loop, q, v, a)))
    if constraints.locks:
        found.append(_lock_derivatives(constraints, q, v, a))
    for contact in constraints.contacts:
        rows_of = wrenches_of(model.tree, contact).rows
        d = frame_acceleration_derivatives(model, q, v, a, contact.frame)
        found.append((rows_of @ d.dq, rows_of @ d.dv, rows_of @ d.da))
    lead = np.broadcast_shapes(*(x[0].shape[:-2] for x in found)) if found else np.shape(q)[:-1]
    none = np.zeros((*lead, 0, model.nv))
    joined = [np.concatenate([none, *(np.broadcast_to(x[k], (*lead, *x[k].shape[-2:])) for x in found)], axis=-2) for k in range(3)]
    return tuple(joined)


def _lock_derivatives(constraints: ConstraintSet, q: Any, v: Any, a: Any) -> Rows:
    model, at = constraints.model, list(constraints.coordinates)
    lead, n = np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1], np.shape(a)[:-1]), model.tree.nv
    zero, one = np.zeros((*lead, len(at), n)), np.broadcast_to(np.eye(n)[at], (*lead, len(at), n))
    return chain(model, q, v, a, zero, zero, one) if model.reduction else (zero, zero, one)


def _linear(x: np.ndarray) -> np.ndarray:
    """Columns (..., 3, n) as the linear part of (..., 6, n)."""
    return np.concatenate([x, np.zeros_like(x)], axis=-2)


def _motion_of(model: Any, q: Any, v: Any, a: Any, frame: str) -> tuple[np.ndarray, ...]:
    """(W, its derivatives by q, J; A, its derivatives by q, v) of a frame in body expression, as columns."""
    V, A = frame_velocity_derivatives(model, q, v, frame), frame_acceleration_derivatives(model, q, v, a, frame)
    return (frame_velocity(model, q, v, frame)[..., None], V.dq, V.dv,
            frame_acceleration(model, q, v, a, frame)[..., None], A.dq, A.dv)


def _loop_derivatives(model: Any, loop: Loop, q: Any, v: Any, a: Any) -> Rows:
    """Of T' (..., 6, nv), the acceleration of frame_b relative to frame_a, in frame_a's axes."""
    R, p = relative_pose(model, q, loop)
    W_a, W_aq, J_a, A_a, A_aq, A_av = _motion_of(model, q, v, a, loop.frame_a)
    W_b, W_bq, J_b, A_b, A_bq, A_bv = _motion_of(model, q, v, a, loop.frame_b)
    J = rotate_columns(R, J_b) - shift_motions(J_a, p)
    turn, slide = J[..., 3:, :], J[..., :3, :]
    turned = rotate_columns(R, W_b)
    T = turned - shift_motions(W_a, p)
    w = T[..., 3:, :]

    def rates(turned_rate: np.ndarray, T_rate: np.ndarray, W_a_rate: np.ndarray) -> np.ndarray:
        """Changes of w x (R W_b) - [w_a x T_l; 0]."""
        carried = cross(W_a_rate[..., 3:, :], T[..., :3, :]) + cross(W_a[..., 3:, :], T_rate[..., :3, :])
        return cross_columns(T_rate[..., 3:, :], turned) + cross_columns(w, turned_rate) - _linear(carried)

    turned_q = rotate_columns(R, W_bq) + cross_columns(turn, turned)
    T_q = turned_q - shift_motions(W_aq, p) - _linear(cross(W_a[..., 3:, :], slide))
    by_q = (
        rotate_columns(R, A_bq) + cross_columns(turn, rotate_columns(R, A_b)) - shift_motions(A_aq, p)
        - _linear(cross(A_a[..., 3:, :], slide)))
    by_v = rotate_columns(R, A_bv) - shift_motions(A_av, p)
    return by_q + rates(turned_q, T_q, W_aq), by_v + rates(rotate_columns(R, J_b), J, J_a), J


def needs_complex_steps(constraints: ConstraintSet) -> bool:
    """Whether the set has rows without compiled derivatives: of rolling bodies, and, as rows of a tree, of couplings and of loops
    that tie one turn."""
    known = {loop.name for loop in constraints.model.loops if tied_turn(loop) is None}
    return bool(constraints.rolling) or any(name not in known for name in constraints.loop_names)


def row_changes(constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                multipliers: np.ndarray) -> tuple[np.ndarray, ...]:
    """Derivatives (..., r, nv) of J a + bias by q, v and a; (..., nv, nv) of J^T multipliers by q; and by q of the wrenches (...,
    items, 6, nv) that the multipliers exert."""
    model = constraints.model
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, a, multipliers)))
    q, v, a, multipliers = (np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v, a, multipliers))
    if not model.reduction:
        return _tree_row_changes(constraints, q, v, a, multipliers)
    whole = motion(model, q, v, a)
    by_q, by_v, J, forces, wrenches = _tree_row_changes(constraints, q, *whole, multipliers)
    tau = (np.swapaxes(J, -1, -2) @ multipliers[..., None])[..., 0]
    rows = chain(model, q, v, a, by_q, by_v, J)
    return *rows, chain_forces(model, q, tau, forces), wrenches @ velocity_map(model, q)[..., None, :, :]


def _tree_row_changes(constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, a: np.ndarray,
              multipliers: np.ndarray) -> tuple[np.ndarray, ...]:
    lead, n, r, items = q.shape[:-1], v.shape[-1], multipliers.shape[-1], len(constraints.items)
    shapes = (r, n), (r, n), (r, n), (n, n), (items, 6, n)
    out = tuple(np.empty((*lead, *shape)) for shape in shapes)
    for k in np.ndindex(lead):
        for x, y in zip(out, _row_changes_of_state(constraints, q[k], v[k], a[k], multipliers[k])):
            x[k] = y
    return out


def _row_changes_of_state(constraints: ConstraintSet, q: np.ndarray, v: np.ndarray, a: np.ndarray,
             multipliers: np.ndarray) -> tuple[np.ndarray, ...]:
    """As `row_changes`, of one state of the tree."""
    from freeflyer.kernels import plain

    tree, table, n, ends = constraints.model.tree, constraints.table, len(v), np.cumsum([0, *constraints.item_rows])
    columns: list[list[np.ndarray]] = [[], [], [], []]
    for e in 1j * COMPLEX_STEP * np.eye(n):
        rows = plain.run("set_rows", table, plain.run("integrate", tree, q, e), v)
        J, bias, wrenches = (np.array(x, complex) for x in rows[:3])
        columns[0].append(J @ a + bias)
        columns[1].append(np.array(plain.run("set_rows", table, q, v + e)[1], complex))
        columns[2].append(J.T @ multipliers)
        own = multipliers[table.free :, None] * wrenches
        columns[3].append(np.array([own[i:j].sum(axis=0) for i, j in pairwise(ends)]).reshape(len(constraints.items), 6))
    J = np.array(plain.run("set_rows", table, q, v)[0], float)
    by_q, by_v, forces, wrenches = (np.imag(np.stack(x, axis=-1)) / COMPLEX_STEP for x in columns)
    return by_q, by_v, J, forces, wrenches
