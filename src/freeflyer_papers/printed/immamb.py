"""IMMAmb, the inverse mass matrix algorithm for moving bases, line by line: "Efficient geometric linearization of moving-base rigid
robot dynamics", Table 9."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import InputError
from freeflyer.formulations.geometric.algebra import scalars, zeros
from freeflyer.formulations.geometric.tree import Tree, jcalc
from freeflyer.tolerances import MIN_PIVOT_RATIO


def immamb(tree: Tree, q: np.ndarray) -> np.ndarray:
    """The inverse mass matrix of base and joints by IMMAmb, every joint moving by itself.

    The print differs in two places. Line 18 reads P_lambda[i:i+6:], which is P_lambda[:, i+6:], as in line 17. Lines 21 to 25
    copy only the joints' upper triangle below the diagonal, but the base's columns (7:, 1:6) also need a copy of line 20.

    Generalisations: D is (k, k) for a joint of k degrees of freedom; its diagonal takes the joint's armature (rotor inertia at the
    joint), which the paper has not. A base that does not move has neither lines 15, 20, 26 nor their rows.

    Args:
        q: (nq,) array, configuration; real or complex, not checked.
    Returns: (6 + n_J, 6 + n_J) array, M^-1, base first; (n_J, n_J) where the base does not move.
    Raises: InputError where a joint, or the base, moves no inertia.
    """
    n, lam, gamma, nJ = tree.n_bodies, tree.parent, tree.gamma, tree.n_joint_columns
    base = 6 * tree.moving
    dtype, bodies = scalars(q), range(1, n + 1)
    M_A = [M.astype(dtype) for M in tree.inertia]  # line 4
    X, U, D_inv = ([zeros((6, 0), dtype)] * (n + 1) for _ in range(3))
    F, P = ([zeros((6, nJ), dtype) for _ in range(n + 1)] for _ in range(2))
    joints = zeros((nJ, nJ), dtype)  # M^-1[7:, 7:]
    for i in bodies:  # line 1
        X[i] = jcalc(tree, i, q)[0] @ tree.placement[i]  # lines 2 and 3
    for i in reversed(bodies):  # line 6
        at, below, p = tree.columns[i], tree.subtree(i), lam[i]
        U[i] = M_A[i] @ gamma[i]  # line 7
        D = gamma[i].T @ U[i] + np.diag(tree.armature[base:][at])  # line 8
        D_inv[i] = _inverse(D, M_A[i], tree.joint[i])
        joints[at, at] = D_inv[i]  # line 9
        joints[at, below] -= D_inv[i] @ gamma[i].T @ F[i][:, below]  # line 10
        F[p][:, below] += X[i].T @ (F[i][:, below] + U[i] @ joints[at, below])  # line 11
        M_a = M_A[i] - U[i] @ D_inv[i] @ U[i].T  # line 12
        M_A[p] = M_A[p] + X[i].T @ M_a @ X[i]  # line 13
    base_block = zeros((base, base), dtype)
    if tree.moving:
        base_block = _inverse(M_A[0] + np.diag(tree.armature[:6]), M_A[0], tree.joint[0])
        P[0] = -base_block @ F[0]  # line 15
    for i in bodies:  # line 16
        at, after, p = tree.columns[i], slice(tree.columns[i].start, nJ), lam[i]
        joints[at, after] -= D_inv[i] @ U[i].T @ X[i] @ P[p][:, after]  # line 17
        P[i][:, after] = gamma[i] @ joints[at, after] + X[i] @ P[p][:, after]  # line 18
        joints[after, at] = joints[at, after].T  # lines 21 to 25
    out = zeros((base + nJ, base + nJ), dtype)
    out[base:, base:] = joints
    if tree.moving:
        out[:6, 6:] = P[0]  # line 20
        out[6:, :6] = P[0].T  # what lines 21 to 25 leave out
        out[:6, :6] = base_block  # line 26
    return out


def _inverse(D: np.ndarray, M: np.ndarray, joint: str) -> np.ndarray:
    """D^-1 of a pivot; InputError where it is singular beside the inertia M of its body."""
    real = np.real(D)
    if D.size and np.abs(np.linalg.eigvalsh(real)).min() <= MIN_PIVOT_RATIO * max(np.abs(np.real(M)).max(),
            np.abs(real).max()):  # fmt: skip
        raise InputError(
            f"joint {joint!r} moves no inertia by itself, so the mass matrix of the tree has no inverse. Give its links mass, "
            "give the joint armature, or lock it (freeflyer.lock_joints)",
            joint=joint,
        )
    return np.linalg.inv(D)
