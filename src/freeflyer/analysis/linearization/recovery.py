"""Coming back from any attitude: a regulator on the group beside the same regulator on roll, pitch and yaw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freeflyer.analysis.linearization.euler import EulerRegulator, floating_joint
from freeflyer.control.regulator import Regulator
from freeflyer.dynamics.manifold import integrate
from freeflyer.sim.simulating import simulate
from freeflyer.spatial import quaternion
from freeflyer.tolerances import RECOVERED_RATIO

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
