"""Forces of loops as wrenches, and how they change with the configuration at fixed multipliers.

    T = R W_b - H W_a: the twist of frame_b relative to frame_a, in frame_a's axes; R = R_ab, H W = [l + w x p_ab; w]
    row of a slide, or of one of two or three tied turns: an entry of T; of one tied turn: an entry of Jl^-1(r) w, r = log R

The wrench of a row on frame_b is therefore the unit wrench of its direction, that of one tied turn the moment Jl^-T(r) e. Along dq
the pose of b in a changes by the columns J of T: dR = [J_w x] R, dp_ab = J_l, dr = Jl^-1(r) J_w."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freeflyer.contacts.sets.tables import loops_of
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.linkages.rows import row_directions
from freeflyer.model.description import WORLD, Loop
from freeflyer.spatial import _series
from freeflyer.spatial.quaternion import rotation_vector

if TYPE_CHECKING:
    from freeflyer.contacts.sets.constraint_set import ConstraintSet


class HeldWrench(NamedTuple):
    """A force of the set on a frame, in its axes (..., 6); change (..., 6, nv): of these numbers with q, None if they are fixed.
    name: of the loop whose force it is; "" for its reaction on frame_a, and for contacts."""

    frame: str
    wrench: np.ndarray
    change: np.ndarray | None = None
    name: str = ""


def loop_forces(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (..., 6)} of each loop, on frame_b's body, in frame_b's axes at its origin. Couplings have no wrench."""
    found = {}
    for loop, R, _, F in _loop_wrenches(constraints, q, multipliers):
        found[loop.name] = rotate_columns(np.swapaxes(R, -1, -2), F)[..., 0]
    return found


def held_loop_wrenches(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> list[HeldWrench]:
    """The loops' forces on both of their frames."""
    model, found = constraints.model, []
    for loop, R, p, F in _loop_wrenches(constraints, q, multipliers):
        back = np.swapaxes(R, -1, -2)
        J = rotate_columns(R, _jacobian(model, q, loop.frame_b)) - shift_motions(_jacobian(model, q, loop.frame_a), p)
        changing = _moment_change(loop, R, J[..., 3:, :], F)
        change = rotate_columns(back, changing - cross_columns(J[..., 3:, :], F))
        found.append(HeldWrench(loop.frame_b, rotate_columns(back, F)[..., 0], change, loop.name))
        f, moment = F[..., :3, :], F[..., 3:, :] + cross(p, F[..., :3, :])
        lever = np.concatenate([np.zeros_like(J[..., :3, :]), cross(J[..., :3, :], f)], axis=-2)
        found.append(HeldWrench(loop.frame_a, -np.concatenate([f, moment], axis=-2)[..., 0], -lever - changing))
    return found


def relative_pose(model: Any, q: Any, loop: Loop) -> tuple[np.ndarray, np.ndarray]:
    """(R_ab (..., 3, 3), p_ab (..., 3, 1)) of frame_b in frame_a."""
    X_a, X_b = (np.eye(4) if name == WORLD else frame_pose(model, q, name) for name in (loop.frame_a, loop.frame_b))
    back = np.swapaxes(X_a[..., :3, :3], -1, -2)
    return back @ X_b[..., :3, :3], back @ (X_b[..., :3, 3:] - X_a[..., :3, 3:])


def tied_turn(loop: Loop) -> int | None:
    """Which turn (0, 1, 2) the loop ties, if it is one alone."""
    turns = loop.mask[3:]
    return turns.index(1) if sum(turns) == 1 else None


def _loop_wrenches(constraints: ConstraintSet, q: Any,
                   multipliers: np.ndarray) -> Iterator[tuple[Loop, np.ndarray, np.ndarray, np.ndarray]]:  # fmt: skip
    """(loop, R_ab, p_ab, wrench (..., 6, 1) on frame_b at its origin, in frame_a's axes) of each loop with rows in the set."""
    model = constraints.model
    if not constraints.loop_names:
        return
    directions, rows = row_directions(model), loops_of(model).rows
    for loop in model.loops:
        of_loop = [n for n, name in enumerate(constraints.loop_names) if name == loop.name]
        if not of_loop:
            continue
        R, p = relative_pose(model, q, loop)
        F = np.zeros((*np.broadcast_shapes(R.shape[:-2], multipliers.shape[:-1]), 6, 1))
        F[..., [directions[rows[n]] for n in of_loop], 0] = multipliers[..., of_loop]
        turn = tied_turn(loop)
        if turn is not None:
            e, r = np.eye(3)[:, turn, None], _log(R)
            F[..., 3:, :] = _moment_axis(r, e) * F[..., 3 + turn, None, :]
        yield loop, R, p, F


def _log(R: np.ndarray) -> np.ndarray:
    """The rotation vector (..., 3, 1)."""
    return rotation_vector(R)[..., None]


def _moment_axis(r: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Jl^-T(r) e (..., 3, 1)."""
    x = cross(r, e)
    return e + 0.5 * x + _factor(r) * cross(r, x)


def _factor(r: np.ndarray) -> np.ndarray:
    return _series.cotc(np.sum(r * r, axis=-2, keepdims=True))


def _moment_change(loop: Loop, R: np.ndarray, turns: np.ndarray, F: np.ndarray) -> np.ndarray:
    """How the wrench F (..., 6, 1) in frame_a's axes changes (..., 6, nv) with the turns (..., 3, nv) of frame_b in frame_a."""
    turn, change = tied_turn(loop), np.zeros((*np.broadcast_shapes(F.shape[:-2], turns.shape[:-2]), 6, turns.shape[-1]))
    if turn is None:
        return change
    e, r = np.eye(3)[:, turn, None], _log(R)
    axis, c = _moment_axis(r, e), _factor(r)
    size = np.sum(axis * F[..., 3:, :], axis=-2, keepdims=True) / np.sum(axis * axis, axis=-2, keepdims=True)  # the multiplier
    x, w = cross(r, e), cross(r, turns)
    dr = turns - 0.5 * w + c * cross(r, w)
    y = cross(dr, e)
    slope = 2.0 * np.sum(r * dr, axis=-2, keepdims=True) * _series.cotc_slope(np.sum(r * r, axis=-2, keepdims=True))
    change[..., 3:, :] = size * (0.5 * y + c * (cross(dr, x) + cross(r, y)) + slope * cross(r, x))
    return change


def rotate_columns(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Both halves of columns (..., 6, n) turned by R (..., 3, 3)."""
    return np.concatenate([R @ x[..., :3, :], R @ x[..., 3:, :]], axis=-2)


def cross_columns(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w x both halves of columns (..., 6, n), w (..., 3, n or 1)."""
    return np.concatenate([cross(w, x[..., :3, :]), cross(w, x[..., 3:, :])], axis=-2)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b of columns (..., 3, n or 1)."""
    x, y = np.broadcast_arrays(a, b)
    return np.cross(x, y, axis=-2)


def shift_motions(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Motions (..., 6, n) at the point p (..., 3, 1)."""
    return np.concatenate([x[..., :3, :] + cross(x[..., 3:, :], p), x[..., 3:, :]], axis=-2)


def _jacobian(model: Any, q: Any, frame: str) -> np.ndarray:
    return np.zeros((6, model.nv)) if frame == WORLD else frame_jacobian(model, q, frame)
