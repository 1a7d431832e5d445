"""Table 2 and Fig 3: accelerations by each method beside those of the simulator.

As in section 5.1 of the paper: velocities are read from the simulator, filtered by a discrete Butterworth filter, and
differentiated by second-order forward differences; each method gives accelerations at the simulator's states and forces; the two
are compared by their CMC. The paper does not give the filter's numbers; here it is of order 2, 25 Hz, run forwards and backwards,
so that it delays nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from freeflyer.analysis.waveforms import multiple_correlation
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.formulations.constrained import weighted
from freeflyer.formulations.methods import (
    gauss_terms,
    inverse_dynamics as inverse_dynamics_by,
    mass_matrix as mass_matrix_by,
)
from freeflyer.model.model import Model
from freeflyer.sim import mujoco_plant, simulate_in_mujoco
from freeflyer_papers.dual_quaternion.validation_results import Correlation, Waveform
from freeflyer_papers.dual_quaternion.validation_robots import (
    HOLONOMIC,
    NONHOLONOMIC,
    SERIAL,
    WHEELS,
    Oscillation,
    differential_drive,
    holonomic_manipulator,
    rolling_wheels,
    serial_manipulator,
    tracking_forces,
)
from freeflyer_papers.dual_quaternion.validation_scene import drive_in_mujoco, whole

DT, DURATION = 5e-4, 5.0  # s: of samples, which are MuJoCo's steps
CUTOFF = 25.0  # Hz
EVERY = 20  # samples between those that are compared: 500, as in Fig 3
MARGIN = 200  # samples left out at both ends, where the filter begins
SOFTNESS = 0.5
Equations = Callable[[Model, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Motion(NamedTuple):
    """A robot's motion in the simulator, at the samples that are compared: t (n,); q, v, tau, and a, from velocities alone."""

    model: Model
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    a: np.ndarray


def by_gauss(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, h) with M a + h = tau by dqGP."""
    M, C, g = gauss_terms(model, q, v)
    return M, (C @ v[..., None])[..., 0] + g


def by_dual_quaternions(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, h) by dqNE."""
    tau = inverse_dynamics_by(model, q, v, np.zeros(model.nv), by="dual_quaternion")
    return mass_matrix_by(model, q, by="dual_quaternion"), tau


def by_vectors(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(M, h) by the classic recursion, M column by column."""
    rest, nothing = np.zeros(model.nv), np.zeros(3)
    columns = [inverse_dynamics(model, q, rest, unit, gravity=nothing) for unit in np.eye(model.nv)]
    return np.stack(columns, axis=-1), inverse_dynamics(model, q, v, rest)


METHODS: dict[str, Equations] = {"dqGP": by_gauss, "dqNE": by_dual_quaternions, "classic NE": by_vectors}


def accelerations(method: Equations, motion: Motion) -> np.ndarray:
    """(n, nv) at the simulator's states and forces; of the drive under its wheels' constraints, (62)."""
    model, q, v = motion.model, motion.q, motion.v
    M, h = method(model, q, v)
    if model.nv == 11:
        wheels = rolling_wheels(model)
        A, b = wheels.jacobian(q), -wheels.bias(q, v)
    else:
        A, b = np.zeros((len(q), 0, model.nv)), np.zeros((len(q), 0))
    return weighted.solve(weighted.weigh(M, motion.tau - h, A, b)).a


def measured(t: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations (n, nv) of velocities (n, nv): filtered, then second-order forward differences."""
    from scipy.signal import butter, filtfilt

    numerator, denominator = butter(2, CUTOFF, fs=1.0 / (t[1] - t[0]))
    w = filtfilt(numerator, denominator, v, axis=0)
    a = np.full(w.shape, np.nan)
    a[:-2] = (-3.0 * w[:-2] + 4.0 * w[1:-1] - w[2:]) / (2.0 * (t[1] - t[0]))
    return a


def tracked_motion(model: Model, reference: Oscillation) -> Motion:
    """A robot without constraints in MuJoCo."""
    q, v, _ = reference.at(0.0)
    plant = mujoco_plant(model, q, feet=())
    run = whole(simulate_in_mujoco(plant, q, v, tracking_forces(model, reference), dt=DT, duration=DURATION))
    return _motion(model, run.t, run.q, run.v, run.tau)


def drive_motion() -> Motion:
    """The robot on wheels in MuJoCo."""
    model = differential_drive()
    d = drive_in_mujoco(model, SOFTNESS, DT, DURATION)
    return _motion(model, d.t, d.q, d.v, d.tau)


def _motion(model: Model, t: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Motion:
    kept = slice(MARGIN, -MARGIN, EVERY)
    return Motion(model, t[kept], q[kept], v[kept], tau[kept], measured(t, v)[kept])


def motions() -> dict[str, Motion]:
    """All three robots, by name."""
    arm, base = tracked_motion(*serial_manipulator()), tracked_motion(*holonomic_manipulator())
    return {SERIAL: arm, HOLONOMIC: base, NONHOLONOMIC: drive_motion()}


def compared_coordinates(model: Model) -> tuple[tuple[str, int], ...]:
    """Names and places in v of the coordinates of Table 2: x, y and yaw of a base, and the arm; wheels are none of the paper's."""
    names = []
    for joint in model.joints:
        parts = ("x", "y", "yaw") if joint.nv == 3 else (joint.name,)
        names += [(name, joint.iv + k) for k, name in enumerate(parts) if joint.name not in WHEELS]
    return tuple(names)


def correlate(robot: str, name: str, motion: Motion, a: np.ndarray) -> Correlation:
    """A cell of Table 2: the CMC of each coordinate."""
    coordinates = compared_coordinates(motion.model)
    each = np.array([multiple_correlation([a[:, k], motion.a[:, k]]) for _, k in coordinates])
    return Correlation(
        robot, name, float(each.min()), float(each.mean()), float(each.std(ddof=1)), float(each.max()),
        tuple(x for x, _ in coordinates), each,
    )  # fmt: skip


def waveforms(correlation: Correlation, motion: Motion, a: np.ndarray) -> tuple[Waveform, ...]:
    """Fig 3: the coordinates of least, largest and middle CMC."""
    order = np.argsort(correlation.each)
    coordinates = compared_coordinates(motion.model)
    chosen = [coordinates[k] for k in (order[0], order[-1], order[len(order) // 2])]
    values = dict(zip(correlation.names, correlation.each, strict=True))
    return tuple(Waveform(x, float(values[x]), motion.t, motion.a[:, k], a[:, k]) for x, k in chosen)
