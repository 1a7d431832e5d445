"""Coming back from any attitude: a regulator on the group beside the same regulator on roll, pitch and yaw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.control.regulator import Regulator
from freeflyer.dynamics.manifold import difference, integrate
from freeflyer.errors import InputError
from freeflyer.model.model import JointInfo, Model
from freeflyer.sim.simulating import simulate
from freeflyer.spatial import quaternion
from freeflyer.tolerances import MIN_PITCH_COSINE, RECOVERED_RATIO

PITCHES = (60.0, 100.0, 120.0, 150.0)  # degrees


@dataclass(frozen=True, eq=False)
class Recovery:
    """Motions from rest at `pitches` (P,) degrees away from the regulator's posture, sampled at `time` (T,) s.

    Angles from there (rad) under the regulator on the group and on roll-pitch-yaw: `group`, `euler` (T, P); distances of the base
    (m): `group_distance`, `euler_distance` (T, P); largest generalised force of the base so far: `group_effort`, `euler_effort`
    (P,), N or N m. NaN from the time on at which a state became non-finite."""

    robot: str
    pitches: np.ndarray
    time: np.ndarray
    group: np.ndarray
    euler: np.ndarray
    group_distance: np.ndarray
    euler_distance: np.ndarray
    group_effort: np.ndarray
    euler_effort: np.ndarray

    @property
    def group_recovers(self) -> np.ndarray:
        """(P,): whether the attitude has come back by the end."""
        return self.group[-1] < RECOVERED_RATIO * self.group[0]

    @property
    def euler_recovers(self) -> np.ndarray:
        """(P,): the same for the regulator on angles."""
        return self.euler[-1] < RECOVERED_RATIO * self.euler[0]


def recovery(regulator: Regulator, pitches: Sequence[float] = PITCHES, *, dt: float = 0.005,
             duration: float = 10.0) -> Recovery:  # fmt: skip
    """Let go of the robot at each pitch (degrees, about the base's y axis), under both regulators, for `duration` s.

    The simulation steps by "rk4", forces held over each `dt` (s). InputError where no joint floats."""
    model, joint = regulator.model, floating_joint(regulator.model)
    turn = np.zeros((len(pitches), model.nv))
    turn[:, joint.iv + 4] = np.radians(np.asarray(pitches, dtype=float))
    starts = integrate(model, regulator.q0, turn)
    count = max(1, round(duration / dt))
    runs = [_run(regulator, controller, starts, dt, count) for controller in (regulator, EulerRegulator(regulator))]
    (group, near, effort), (euler, euler_near, euler_effort) = runs
    return Recovery(model.name, np.asarray(pitches, dtype=float), dt * np.arange(count + 1), group, euler, near, euler_near,
                    effort, euler_effort)  # fmt: skip


def _run(regulator: Regulator, controller: Any, starts: np.ndarray, dt: float, count: int) -> tuple[np.ndarray, ...]:
    """(angles (T, P), distances (T, P), largest force (P,)), each start on its own: one that fails stops no other."""
    model, joint = regulator.model, floating_joint(regulator.model)
    at = slice(joint.iq + 3, joint.iq + 7)
    q0 = regulator.q0
    angles, distances = np.full((2, count + 1, len(starts)), np.nan)
    efforts = np.zeros(len(starts))
    for p, start in enumerate(starts):
        motion = simulate(model, start, np.zeros(model.nv), controller, dt=dt, duration=dt * count)
        T = len(motion.t)
        between = quaternion.multiply(quaternion.conjugate(q0[at]), motion.q[:, at])
        angles[:T, p] = np.linalg.norm(quaternion.log(between), axis=-1)
        distances[:T, p] = np.linalg.norm(motion.q[:, joint.iq : joint.iq + 3] - q0[joint.iq : joint.iq + 3], axis=-1)
        efforts[p] = np.max(np.abs(motion.tau[:, joint.iv : joint.iv + 6]))
    return angles, distances, efforts


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
