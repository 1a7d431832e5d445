"""How a set's rows, and the forces that their multipliers exert, change with the configuration: exact, from those of frames.

    rows J a + bias of a contact: parts of the frame's acceleration in body expression; its wrench is fixed in the frame's axes
    rows of a loop: T' with T = R W_b - H W_a the twist of b as a sees it, R = R_ab, H W = [l + w x p_ab; w]; along dq the pose of
    b in a changes by the columns J of T: dR = [J_w x] R, dp_ab = J_l
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.constraints import compiled as D
from freeflyer.constraints.rows import row_directions
from freeflyer.constraints.running import run
from freeflyer.constraints.set_forces import loop_wrenches
from freeflyer.constraints.set_tables import loops_of, wrenches_of
from freeflyer.dynamics.frames import frame_pose, frame_velocity
from freeflyer.dynamics.motion_derivatives import (
    frame_acceleration,
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from freeflyer.errors import InputError
from freeflyer.model.description import WORLD, Loop

if TYPE_CHECKING:
    from freeflyer.constraints.sets import ConstraintSet

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # by q, by v, by a


def check_supported(constraints: ConstraintSet) -> None:
    """InputError for rows whose derivatives are not known."""
    model = constraints.model
    for name in constraints.locks:
        if model.tree.joint(name).kind in ("universal", "planar"):
            kind = model.tree.joint(name).kind
            raise InputError(f"derivatives of the lock of joint {name!r} are not offered: it is {kind}", name=name)
    for name in dict.fromkeys(constraints.loop_names):
        loop = next((x for x in model.loops if x.name == name), None)
        if loop is not None and sum(loop.mask[3:]) == 1:
            raise InputError(
                f"derivatives with a loop that ties one turn, {name!r}, as a row are not offered: make the set of the closed "
                "model, ff.ConstraintSet(ff.close_loops(model), ...), where loops are no rows", name=name,
            )  # fmt: skip


def row_derivatives(constraints: ConstraintSet, q: Any, v: Any, a: Any) -> Rows:
    """Derivatives (..., r, nv) of J a + bias by q, v and a."""
    model, found = constraints.model, []
    if constraints.loop_names:
        directions, rows = row_directions(model), loops_of(model).rows
        for loop in model.loops:
            kept = [directions[rows[n]] for n, name in enumerate(constraints.loop_names) if name == loop.name]
            if kept:
                found.append(tuple(x[..., kept, :] for x in _loop_derivatives(model, loop, q, v, a)))
    if constraints.locks:
        found.append(_lock_derivatives(constraints, q, v, a))
    for contact in constraints.contacts:
        rows_of = wrenches_of(model.tree, contact).rows
        d = frame_acceleration_derivatives(model, q, v, a, contact.frame)
        found.append((rows_of @ d.dq, rows_of @ d.dv, rows_of @ d.da))
    lead = np.broadcast_shapes(*(x[0].shape[:-2] for x in found)) if found else np.shape(q)[:-1]
    none = np.zeros((*lead, 0, model.nv))
    joined = [np.concatenate([none, *(np.broadcast_to(x[k], (*lead, *x[k].shape[-2:])) for x in found)], axis=-2) for k in range(3)]
    return joined[0], joined[1], joined[2]


def _lock_derivatives(constraints: ConstraintSet, q: Any, v: Any, a: Any) -> Rows:
    model, at = constraints.model, list(constraints.coordinates)
    if not model.reduction:
        lead = np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1], np.shape(a)[:-1])
        zero, one = np.zeros((*lead, len(at), model.nv)), np.broadcast_to(np.eye(model.nv)[at], (*lead, len(at), model.nv))
        return zero, zero, one
    _, da, du = run(D.MOTION_DERIVATIVES, model, (q, v, a), ("q", "v", "a"))
    G = run(D.MAP, model, (q,), ("q",))
    return da[..., at, :], du[..., at, :], np.broadcast_to(G[..., at, :], du[..., at, :].shape)


def _turned(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Both halves of columns (..., 6, n) turned by R (..., 3, 3)."""
    return np.concatenate([R @ x[..., :3, :], R @ x[..., 3:, :]], axis=-2)


def _swept(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w x both halves of columns (..., 6, n), w (..., 3, n or 1)."""
    return np.concatenate([_cross(w, x[..., :3, :]), _cross(w, x[..., 3:, :])], axis=-2)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    x, y = np.broadcast_arrays(a, b)
    return np.cross(x, y, axis=-2)


def _moved(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Motions (..., 6, n) at the point p (..., 3, 1)."""
    return np.concatenate([x[..., :3, :] + _cross(x[..., 3:, :], p), x[..., 3:, :]], axis=-2)


def _linear(x: np.ndarray) -> np.ndarray:
    """Columns (..., 3, n) as the linear part of (..., 6, n)."""
    return np.concatenate([x, np.zeros_like(x)], axis=-2)


def _pose_in(model: Any, q: Any, loop: Loop) -> tuple[np.ndarray, np.ndarray]:
    """(R_ab (..., 3, 3), p_ab (..., 3, 1)) of frame_b in frame_a."""
    X_a, X_b = (np.eye(4) if name == WORLD else frame_pose(model, q, name) for name in (loop.frame_a, loop.frame_b))
    back = np.swapaxes(X_a[..., :3, :3], -1, -2)
    return back @ X_b[..., :3, :3], back @ (X_b[..., :3, 3:] - X_a[..., :3, 3:])


def _motion_of(model: Any, q: Any, v: Any, a: Any, frame: str) -> tuple[np.ndarray, ...]:
    """(W, its derivatives by q, J; A, its derivatives by q, v) of a frame in body expression, as columns."""
    n = model.nv
    if frame == WORLD:
        return np.zeros((6, 1)), np.zeros((6, n)), np.zeros((6, n)), np.zeros((6, 1)), np.zeros((6, n)), np.zeros((6, n))
    V, A = frame_velocity_derivatives(model, q, v, frame), frame_acceleration_derivatives(model, q, v, a, frame)
    return (
        frame_velocity(model, q, v, frame)[..., None], V.dq, V.dv, frame_acceleration(model, q, v, a, frame)[..., None], A.dq, A.dv,
    )  # fmt: skip


def _loop_derivatives(model: Any, loop: Loop, q: Any, v: Any, a: Any) -> Rows:
    """Of T' (..., 6, nv), the acceleration of frame_b as frame_a sees it, in frame_a's axes."""
    R, p = _pose_in(model, q, loop)
    W_a, W_aq, J_a, A_a, A_aq, A_av = _motion_of(model, q, v, a, loop.frame_a)
    W_b, W_bq, J_b, A_b, A_bq, A_bv = _motion_of(model, q, v, a, loop.frame_b)
    J = _turned(R, J_b) - _moved(J_a, p)
    turn, slide = J[..., 3:, :], J[..., :3, :]
    seen = _turned(R, W_b)
    T = seen - _moved(W_a, p)
    w = T[..., 3:, :]

    def rates(seen_rate: np.ndarray, T_rate: np.ndarray, W_a_rate: np.ndarray) -> np.ndarray:
        """Changes of w x (R W_b) - [w_a x T_l; 0]."""
        swept = _cross(W_a_rate[..., 3:, :], T[..., :3, :]) + _cross(W_a[..., 3:, :], T_rate[..., :3, :])
        return _swept(T_rate[..., 3:, :], seen) + _swept(w, seen_rate) - _linear(swept)

    seen_q = _turned(R, W_bq) + _swept(turn, seen)
    T_q = seen_q - _moved(W_aq, p) - _linear(_cross(W_a[..., 3:, :], slide))
    by_q = _turned(R, A_bq) + _swept(turn, _turned(R, A_b)) - _moved(A_aq, p) - _linear(_cross(A_a[..., 3:, :], slide))
    by_v = _turned(R, A_bv) - _moved(A_av, p)
    return by_q + rates(seen_q, T_q, W_aq), by_v + rates(_turned(R, J_b), J, J_a), J


class HeldWrench(NamedTuple):
    """A force of the set on a frame, in its axes (..., 6); change (..., 6, nv): of these numbers with q, None if they are fixed.
    name: of the loop whose force it is; "" for its reaction on frame_a, and for contacts."""

    frame: str
    wrench: np.ndarray
    change: np.ndarray | None = None
    name: str = ""


def held_loop_wrenches(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> list[HeldWrench]:
    """The loops' forces on both of their frames."""
    model, found = constraints.model, []
    for loop, wrench in loop_wrenches(constraints, multipliers):
        F = wrench[..., None]
        R, p = _pose_in(model, q, loop)
        back = np.swapaxes(R, -1, -2)
        J = _turned(R, _jacobian(model, q, loop.frame_b)) - _moved(_jacobian(model, q, loop.frame_a), p)
        if loop.frame_b != WORLD:
            change = -_turned(back, _swept(J[..., 3:, :], F))
            found.append(HeldWrench(loop.frame_b, _turned(back, F)[..., 0], change, loop.name))
        if loop.frame_a != WORLD:
            f, moment = F[..., :3, :], F[..., 3:, :] + _cross(p, F[..., :3, :])
            change = np.concatenate([np.zeros_like(J[..., :3, :]), -_cross(J[..., :3, :], f)], axis=-2)
            found.append(HeldWrench(loop.frame_a, -np.concatenate([f, moment], axis=-2)[..., 0], change))
    return found


def _jacobian(model: Any, q: Any, frame: str) -> np.ndarray:
    if frame == WORLD:
        return np.zeros((6, model.nv))
    return frame_velocity_derivatives(model, q, model._zero, frame).dv
