"""Forces of locked joints as wrenches, and how they change with the configuration at fixed multipliers.

Multipliers f of a lock are forces along the joint's coordinates. Of all wrenches F on the child link with S^T F = f, S (6, n) the
joint's motions in the child's axes, the force is the least: F = S y, (S^T S) y = f. S is constant but for a joint that is a chain
of simpler ones: dS_i/dq_j = -[S_j, S_i] for j after i."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from freeflyer.dynamics.closed import velocity_map
from freeflyer.dynamics.frames import frame_jacobian, frame_pose
from freeflyer.model.description import WORLD
from freeflyer.model.model import JointInfo
from freeflyer.spatial.se3 import ad, adjoint, inverse

if TYPE_CHECKING:
    from freeflyer.contacts.sets.constraint_set import ConstraintSet

CHAINS = ("universal", "planar")  # kinds of joints with motions that change in the child's axes


def lock_forces(constraints: ConstraintSet, q: Any, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """{name: (..., 6)} of each locked joint, on its child link, in that link's axes at its origin."""
    return {
        joint.name: (np.linalg.pinv(np.swapaxes(S, -1, -2)) @ f)[..., 0] for joint, S, f in _locks(constraints, q, multipliers)
    }


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
            dS[..., :j] = -ad(S[..., j]) @ S[..., :j]
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
            X = inverse(frame_pose(tree, q, joint.child)) @ frame_pose(tree, q, joint.parent)
            S = S - adjoint(X) @ frame_jacobian(tree, q, joint.parent)[..., columns]
        if joint.kind == "helical":  # a torque alone
            axis = S[..., 3:, :] / np.linalg.norm(S[..., 3:, :], axis=-2, keepdims=True)
            S = np.concatenate([np.zeros_like(axis), axis], axis=-2)
        yield joint, S, multipliers[..., row : row + joint.nv, None]
        row += joint.nv
