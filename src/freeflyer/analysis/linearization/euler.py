"""The usual way, for comparison: the floating base's attitude as roll, pitch and yaw, and a regulator on those angles.

phi = [position; roll, pitch, yaw; all other coordinates], v = L(q) phi_dot. At rest [d phi; d phi_dot] = T x with T = diag(L^-1,
L^-1), so that the same optimal gain reads K T^-1 there: both regulators are one to first order, and what differs is only how far
that carries. L is singular at 90 degrees of pitch: there is no linearisation to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.control.regulator import Regulator
from freeflyer.dynamics.manifold import difference
from freeflyer.errors import InputError
from freeflyer.model.model import JointInfo, Model
from freeflyer.spatial import quaternion
from freeflyer.tolerances import MIN_PITCH_COSINE


def floating_joint(model: Model) -> JointInfo:
    """The first free joint, whose attitude is at stake; InputError where there is none."""
    found = next((j for j in model.joints if j.kind == "free"), None)
    if found is None:
        raise InputError(f"{model.name!r} has no free joint: its attitude cannot tumble", robot=model.name)
    return found


def body_rates(rpy: np.ndarray) -> np.ndarray:
    """E (..., 3, 3): angular velocity in the body's axes = E [roll, pitch, yaw]_dot, for R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (sr, sp, _), (cr, cp, _) = (np.moveaxis(f(rpy), -1, 0) for f in (np.sin, np.cos))
    one, zero = np.ones_like(sr), np.zeros_like(sr)
    rows = [[one, zero, -sp], [zero, cr, sr * cp], [zero, -sr, cr * cp]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def angle_map(model: Model, q: np.ndarray) -> np.ndarray:
    """L (..., nv, nv): v = L phi_dot."""
    joint = floating_joint(model)
    R = quaternion.to_matrix(q[..., joint.iq + 3 : joint.iq + 7])
    L = np.zeros((*q.shape[:-1], model.nv, model.nv))
    np.einsum("...ii->...i", L)[...] = 1.0
    k = joint.iv
    L[..., k : k + 3, k : k + 3] = np.swapaxes(R, -1, -2)
    L[..., k + 3 : k + 6, k + 3 : k + 6] = body_rates(quaternion.to_rpy(q[..., joint.iq + 3 : joint.iq + 7]))
    return L


def angle_linearization(model: Model, q: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(A, B) at rest, in the angles' coordinates: T A T^-1 and T B. InputError at 90 degrees of pitch."""
    L = angle_map(model, q)
    if np.any(np.abs(np.linalg.det(L)) < MIN_PITCH_COSINE):
        raise InputError("at 90 degrees of pitch roll and yaw are one motion: the angles have no rates, and nothing to linearise")
    inverse = np.linalg.inv(L)
    n = model.nv
    Ae, Be = np.empty_like(A), np.empty_like(B)
    for rows in (slice(0, n), slice(n, 2 * n)):
        Be[..., rows, :] = inverse @ B[..., rows, :]
        for columns in (slice(0, n), slice(n, 2 * n)):
            Ae[..., rows, columns] = inverse @ A[..., rows, columns] @ L
    return Ae, Be


@dataclass(frozen=True, eq=False)
class EulerRegulator:
    """u = u0 - K T^-1 [phi - phi0; phi_dot]: the gain of a regulator, fed by angles."""

    regulator: Regulator

    def error(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """[phi - phi0; phi_dot] (..., 2 nv); angles wrapped to the nearest turn."""
        model, q0 = self.regulator.model, self.regulator.q0
        joint = floating_joint(model)
        shift = difference(model, q0, q)
        k, at = joint.iv, slice(joint.iq + 3, joint.iq + 7)
        shift[..., k : k + 3] = q[..., joint.iq : joint.iq + 3] - q0[joint.iq : joint.iq + 3]
        turn = quaternion.to_rpy(q[..., at]) - quaternion.to_rpy(q0[at])
        shift[..., k + 3 : k + 6] = (turn + np.pi) % (2.0 * np.pi) - np.pi
        rates = np.linalg.solve(angle_map(model, q), v[..., None])[..., 0]
        return np.concatenate([shift, rates], axis=-1)

    def tau(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalised forces (..., nv)."""
        r = self.regulator
        n = r.model.nv
        L = angle_map(r.model, r.q0)
        x = self.error(q, v)
        same = np.concatenate([x[..., :n] @ L.T, x[..., n:] @ L.T], axis=-1)
        return np.einsum("...ij,...j->...i", r.inputs.matrix(r.model, q), r.u0 - same @ r.K.T)
