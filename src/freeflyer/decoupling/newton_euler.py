"""The Coriolis matrix of the Newton-Euler equations, decoupling thesis, eq. (3.41), which is the passive one of (3.82)-(3.83).

sum_j J_j^T (Lambda_j Jdot_j + Psi_j J_j), Psi_j = Lambda_j a_j - a_j^T Lambda_j skew. In world axes about one fixed point, where
the columns S of J_j have the rates V x S and Jdot_j of the body's axes is Sdot - a_j S, this is sum_j S^T (Lambda_j Sdot - a_j^T
Lambda_j S)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.dynamics.evaluate import evaluate
from freeflyer.kernels import entries as E
from freeflyer.kernels.model import layout as L
from freeflyer.model.model import Model
from freeflyer.spatial import se3
from freeflyer.spatial.se3 import skew


def newton_euler_coriolis(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """C (..., nv, nv) of a tree."""
    T, P = model.topology, model.parameters
    n = int(T[L.N_BODIES])
    body = T[L.HEADER : L.HEADER + L.BODY_INTS * (n + 1)].reshape(n + 1, L.BODY_INTS)
    number = P[L.BODIES : L.BODIES + L.BODY_FLOATS * (n + 1)].reshape(n + 1, L.BODY_FLOATS)
    column = T[T[L.COLUMNS_AT] : T[L.COORDINATES_AT]].reshape(-1, L.COLUMN_INTS)
    of, coordinate = column[:, L.COLUMN_BODY], column[:, L.COORDINATE]
    poses, motions, columns = evaluate(E.ALL_MOTIONS, model, (q, v), ("q", "v"))
    p = poses[..., 9:] - poses[..., 1:2, 9:]  # from the first body's origin
    V = _at_origin(motions[..., :6], p)  # (..., n + 1, 6)
    S = _at_origin(columns, p[..., of, :])
    rates = np.einsum("...cij,...cj->...ci", se3.ad(V[..., of, :]), S)
    spread = (coordinate[:, None] == np.arange(model.nv)).astype(float)
    C = np.zeros((*S.shape[:-2], model.nv, model.nv))
    for j in range(1, n + 1):
        moved = (of <= j) & (body[of, L.LAST_BODY] >= j)  # the columns that move body j
        J = np.einsum("c,...ci,cv->...iv", moved, S, spread)
        Jdot = np.einsum("c,...ci,cv->...iv", moved, rates, spread)
        R = poses[..., j, :9].reshape(*poses.shape[:-2], 3, 3)
        Lambda = _inertia(number[j], R, p[..., j, :])
        turned = np.swapaxes(se3.ad(V[..., j, :]), -1, -2) @ Lambda
        C += np.swapaxes(J, -1, -2) @ (Lambda @ Jdot - turned @ J)
    return C + _armature(model, np.asarray(v, float))


def _at_origin(V: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Motions at points p as motions at the origin."""
    return np.concatenate([V[..., :3] + np.cross(p, V[..., 3:]), V[..., 3:]], -1)


def _inertia(number: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Lambda (..., 6, 6) in world axes about the point from which p leads to the body's origin."""
    m, I = number[L.MASS], number[L.INERTIA : L.INERTIA + 6]
    c = skew(p + R @ number[L.COM : L.COM + 3])
    I = R @ I[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3) @ np.swapaxes(R, -1, -2)
    mass = np.broadcast_to(m * np.eye(3), c.shape)
    return np.concatenate([np.concatenate([mass, -m * c], -1), np.concatenate([m * c, I - m * c @ c], -1)], -2)


def _armature(model: Model, v: np.ndarray) -> np.ndarray:
    """A a - a^T A of joints whose coordinates do not commute: armature A moves as an inertia in the child's axes."""
    C = np.zeros((*v.shape[:-1], model.nv, model.nv))
    for joint in model.joints:
        if joint.kind not in ("spherical", "free"):
            continue
        at = slice(joint.iv, joint.iv + joint.nv)
        twist = v[..., at] if joint.kind == "free" else np.concatenate([np.zeros((*v.shape[:-1], 3)), v[..., at]], -1)
        a = np.diag(model.armature[at]) @ se3.ad(twist)[..., -joint.nv :, -joint.nv :]
        C[..., at, at] = a - np.swapaxes(a, -1, -2)
    return C
