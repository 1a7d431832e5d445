"""Wrenches of a set by its multipliers, how they change with the configuration, which contacts pull, which rows depend on others.

Loops: T = R W_b - H W_a is the twist of frame_b relative to frame_a, in frame_a's axes; R = R_ab, H W = [l + w x p_ab; w]. The
row of a slide, or of one of two or three tied turns, is an entry of T; of one tied turn an entry of Jl^-1(r) w, r = log R. The
wrench of a row on frame_b is therefore the unit wrench of its direction, that of one tied turn the moment Jl^-T(r) e. Along dq
the pose of b in a changes by the columns J of T: dR = [J_w x] R, dp_ab = J_l, dr = Jl^-1(r) J_w.

Locks: multipliers f are forces along the joint's coordinates. Of all wrenches F on the child link with S^T F = f, S (6, n) the
joint's motions in the child's axes, the force is the least: F = S y, (S^T S) y = f. S is constant but for a joint that is a chain
of simpler ones: dS_i/dq_j = -[S_j, S_i] for j after i."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.contacts.sets.tables import loops_of
from freeflyer.contacts.wrenches import ContactExpressed, express_at, express_wrenches
from freeflyer.dynamics import frame_jacobian, frame_pose, velocity_map
from freeflyer.errors import InputError
from freeflyer.kernels.model.layout import CONTRADICTION, FLAGS
from freeflyer.linkages.rows import row_directions
from freeflyer.model import WORLD, JointInfo, Loop
from freeflyer.spatial import _series, quaternion, se3
from freeflyer.tolerances import CONTRADICTION_RATIO


class HeldWrench(NamedTuple):
    """A force of the set on a frame, in its axes (..., 6); change (..., 6, nv): of these numbers with q, None if they are fixed.
    name: of the loop whose force it is; "" for its reaction on frame_a, and for contacts."""

    frame: str
    wrench: np.ndarray
    change: np.ndarray | None = None
    name: str = ""


def held_loop_wrenches(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> list[HeldWrench]:
    model, found = constraints.model, []
    for loop, R, p, F in _loop_wrenches(constraints, q, multipliers):
        back = np.swapaxes(R, -1, -2)
        J = rotate_columns(R, frame_jacobian(model, q, loop.frame_b)) - shift_motions(frame_jacobian(model, q, loop.frame_a), p)
        changing = _moment_change(loop, R, J[..., 3:, :], F)
        change = rotate_columns(back, changing - cross_columns(J[..., 3:, :], F))
        found.append(HeldWrench(loop.frame_b, rotate_columns(back, F)[..., 0], change, loop.name))
        f, moment = F[..., :3, :], F[..., 3:, :] + cross(p, F[..., :3, :])
        turned = cross(J[..., :3, :], f)
        lever = np.concatenate([np.zeros_like(turned), turned], axis=-2)
        found.append(HeldWrench(loop.frame_a, -np.concatenate([f, moment], axis=-2)[..., 0], -lever - changing))
    return found


def relative_pose(model: Any, q: Any, loop: Loop) -> tuple[np.ndarray, np.ndarray]:
    """(R_ab (..., 3, 3), p_ab (..., 3, 1)) of frame_b in frame_a."""
    X_a, X_b = (frame_pose(model, q, name) for name in (loop.frame_a, loop.frame_b))
    back = np.swapaxes(X_a[..., :3, :3], -1, -2)
    return back @ X_b[..., :3, :3], back @ (X_b[..., :3, 3:] - X_a[..., :3, 3:])


def tied_turn(loop: Loop) -> int | None:
    """Which turn (0, 1, 2) the loop ties, if it is one alone."""
    turns = loop.mask[3:]
    return turns.index(1) if sum(turns) == 1 else None


def loops_in(constraints: ConstraintSet) -> Iterator[tuple[Loop, list[int], list[int]]]:
    """(loop, its rows of the set, the directions that these tie) of each loop with rows in the set."""
    for loop in constraints.model.loops if constraints.loop_names else ():
        of_loop = [n for n, name in enumerate(constraints.loop_names) if name == loop.name]
        if of_loop:
            directions, rows = row_directions(constraints.model), loops_of(constraints.model).rows
            yield loop, of_loop, [directions[rows[n]] for n in of_loop]


def _loop_wrenches(constraints: ConstraintSet, q: Any,
                   multipliers: np.ndarray) -> Iterator[tuple[Loop, np.ndarray, np.ndarray, np.ndarray]]:
    """(loop, R_ab, p_ab, wrench (..., 6, 1) on frame_b at its origin, in frame_a's axes) of each loop with rows in the set."""
    for loop, of_loop, tied in loops_in(constraints):
        R, p = relative_pose(constraints.model, q, loop)
        F = np.zeros((*np.broadcast_shapes(R.shape[:-2], multipliers.shape[:-1]), 6, 1))
        F[..., tied, 0] = multipliers[..., of_loop]
        turn = tied_turn(loop)
        if turn is not None:
            e, r = np.eye(3)[:, turn, None], quaternion.rotation_vector(R)[..., None]
            F[..., 3:, :] = _moment_axis(r, e) * F[..., 3 + turn, None, :]
        yield loop, R, p, F


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
    e, r = np.eye(3)[:, turn, None], quaternion.rotation_vector(R)[..., None]
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


CHAINS = ("universal", "planar")  # kinds of joints with motions that change in the child's axes


def lock_force_changes(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (..., 6, nv)}: how these numbers change with q, of the joints where they do."""
    model, found = constraints.model, {}
    for joint, S, f in _locks(constraints, q, multipliers):
        if joint.kind not in CHAINS:
            continue
        turned = np.swapaxes(S, -1, -2)
        gram = turned @ S
        y, change = np.linalg.solve(gram, f), np.zeros((*f.shape[:-2], 6, model.tree.nv))
        for j in range(1, joint.nv):
            dS = np.zeros_like(S)
            dS[..., :j] = -se3.ad(S[..., j]) @ S[..., :j]
            crossed = turned @ dS
            moving = (crossed + np.swapaxes(crossed, -1, -2)) @ y
            change[..., joint.iv + j] = (dS @ y - S @ np.linalg.solve(gram, moving))[..., 0]
        found[joint.name] = change @ velocity_map(model, q) if model.reduction else change
    return found


def turning_locks(constraints: ConstraintSet) -> bool:
    """Whether some lock's force changes with q at fixed multipliers."""
    return any(constraints.model.tree.joint(name).kind in CHAINS for name in constraints.locks)


def _locks(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> Iterator[tuple[JointInfo, np.ndarray, np.ndarray]]:
    """(joint, its motions S (..., 6, n), its multipliers (..., n, 1)) of each lock."""
    tree, row = constraints.model.tree, len(constraints.loop_names)
    for name in constraints.locks:
        joint = tree.joint(name)
        columns = slice(joint.iv, joint.iv + joint.nv)
        S = frame_jacobian(tree, q, joint.child)[..., columns]
        if joint.parent != WORLD and tree.shared_coordinates:  # followers on the way move the parent, too
            X = se3.inverse(frame_pose(tree, q, joint.child)) @ frame_pose(tree, q, joint.parent)
            S = S - se3.adjoint(X) @ frame_jacobian(tree, q, joint.parent)[..., columns]
        if joint.kind == "helical":  # a torque alone
            axis = S[..., 3:, :] / np.linalg.norm(S[..., 3:, :], axis=-2, keepdims=True)
            S = np.concatenate([np.zeros_like(axis), axis], axis=-2)
        yield joint, S, multipliers[..., row : row + joint.nv, None]
        row += joint.nv


def forces_by_name(constraints: ConstraintSet, q: Any, forces: np.ndarray, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (..., 6)} of wrenches on the items (..., items, 6) and of the multipliers (..., r): of a loop on frame_b's body, in
    frame_b's axes at its origin; of a lock on the joint's child link, in that link's axes at its origin. Couplings have none."""
    if constraints.plain:
        if forces.ndim == 2:
            return dict(zip(constraints.item_names, forces))
        return {name: forces[..., k, :] for k, name in enumerate(constraints.item_names)}
    found = {}
    for loop, R, _, F in _loop_wrenches(constraints, q, multipliers):
        found[loop.name] = rotate_columns(np.swapaxes(R, -1, -2), F)[..., 0]
    for joint, S, f in _locks(constraints, q, multipliers):
        found[joint.name] = (np.linalg.pinv(np.swapaxes(S, -1, -2)) @ f)[..., 0]
    return found | {name: forces[..., k, :] for k, name in enumerate(constraints.item_names)}


def wrenches_in(constraints: ConstraintSet | None, q: np.ndarray, forces: Mapping[str, np.ndarray],
                expressed: ContactExpressed) -> dict[str, np.ndarray]:
    """{name: (..., 6)}: wrenches of a set, given in their frames' axes, in others (freeflyer.contacts.express_wrenches); in the
    contacts' axes those of contacts and rolling bodies alone."""
    if constraints is None:
        return {}
    model = constraints.model
    found = express_wrenches(model, q, forces, constraints.items, expressed)
    if expressed == "contact":
        return found
    frames = {loop.name: loop.frame_b for loop in model.tree.loops}
    frames |= {name: model.tree.joint(name).child for name in constraints.locks}
    others = {name: express_at(frame_pose(model, q, frames[name]), w, expressed) for name, w in forces.items() if name not in found}
    return others | found


def pulling(constraints: ConstraintSet | None, normal_forces: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (...) bool}: whether the normal force (..., items) of each contact and rolling body is negative."""
    return {} if constraints is None else dict(zip(constraints.item_names, np.moveaxis(normal_forces < 0.0, -1, 0)))


def redundant(constraints: ConstraintSet | None, verdict: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (...) bool}: whether constraints have rows that depend on rows before them."""
    names = [f"row {k}" for k in range(verdict.shape[-1] - FLAGS)]  # of the user's own
    if constraints is not None:
        locks = [constraints.model.tree.joint(name) for name in constraints.locks]
        names = [*constraints.loop_names, *(joint.name for joint in locks for _ in range(joint.nv))]
        names += [name for name, count in zip(constraints.item_names, constraints.item_rows) for _ in range(count)]
    flags, owned = verdict[..., FLAGS:] == 0.0, np.array(names)
    return {name: flags[..., owned == name].any(axis=-1) for name in dict.fromkeys(names)}


def refuse_contradictions(constraints: ConstraintSet | None, verdict: np.ndarray, what: str) -> None:
    ratio = verdict.item(CONTRADICTION) if verdict.ndim == 1 else verdict[..., CONTRADICTION].max(initial=0.0)
    if ratio <= CONTRADICTION_RATIO**2:
        return
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(verdict[..., CONTRADICTION])), verdict.shape[:-1]))
    names = tuple([name for name, depends in redundant(constraints, verdict[at]).items() if depends])
    where = f" at state {list(at)}" if at else ""
    shown = ", ".join(repr(name) for name in names)
    raise InputError(
        f"the rows of {shown}{where} depend on rows before them and contradict these (by {ratio**0.5:.2g} of their size): no "
        f"{what} satisfies all. Give a state that moves along all constraints (J v = 0), or leave some of them out",
        names=names, state=at)
