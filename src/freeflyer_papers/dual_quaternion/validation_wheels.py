"""The nonholonomic constraint: how well it holds over 20 s, energy without forces, and the wheels' force beside MuJoCo's."""

from __future__ import annotations

import numpy as np

from freeflyer.dynamics.equations import gravity_forces, kinetic_energy, potential_energy
from freeflyer.dynamics.named_postures import configuration
from freeflyer.formulations import constrained
from freeflyer.model.model import Model
from freeflyer.robots import differential_drive_manipulator
from freeflyer.sim import simulate
from freeflyer_papers.dual_quaternion.validation_results import Integration, Sideways
from freeflyer_papers.dual_quaternion.validation_robots import (
    differential_drive,
    drive_forces,
    drive_start,
    rolling_wheels,
)
from freeflyer_papers.dual_quaternion.validation_scene import drive_in_mujoco

SECONDS = 20.0
SCHEMES: tuple[tuple[str, float], ...] = (("rk4", 2e-3), ("dop853", 0.05))  # and their dt
ACCURACY = 1e-12  # of dop853
CONTROL = constrained.DriftControl(0.1)
POSTURE = {"arm_joint_2": 0.6, "arm_joint_3": 0.9, "arm_joint_5": 0.5}
VELOCITY = np.array([0.6, 0.0, 0.5, 0.4, 0.2, -0.3, 0.5, 0.1, 0.4])  # ahead and turning, all joints of the arm move
TORQUES = np.array([20.0, 20.0, 10.0, 4.0, 2.0, 0.5])  # N m: of the arm, as it is driven
SOFTNESS = (1.0, 0.5, 0.25)
DT, DURATION, START = 1e-3, 3.0, 0.2  # s: of the drive; compared from START on, when it moves


def integrations() -> tuple[Integration, ...]:
    """The base of (64) coasts while its arm falls and swings, or is driven; the constraint holds by its force alone, (62)."""
    coasting = tuple(coast(name, dt, None, SECONDS) for name, dt in SCHEMES)
    name, dt = SCHEMES[1]
    return (*coasting, coast(name, dt, CONTROL, SECONDS), coast(name, dt, None, SECONDS, driven=True))


def coast(integrator: str, dt: float, drift: constrained.DriftControl | None, seconds: float, driven: bool = False) -> Integration:
    """One of them."""
    model = differential_drive_manipulator()

    def forces(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = drive(model, t, q, v) if driven else np.zeros(model.nv)
        row = constrained.differential_drive(model, q, v)
        return tau + constrained.accelerations(model, q, v, tau, constraints=row, drift=drift).forces

    run = simulate(
        model, configuration(model, POSTURE), VELOCITY, forces, dt=dt, duration=seconds, integrator=integrator,
        rtol=ACCURACY, atol=0.1 * ACCURACY,
    )  # fmt: skip
    kinetic = kinetic_energy(model, run.q, run.v)
    energy = kinetic + potential_energy(model, run.q)
    violation = np.abs(constrained.differential_drive(model, run.q, run.v).rate).max()
    setting = f"{dt:g} s" if integrator == "rk4" else f"errors {ACCURACY:g}"
    return Integration(
        "driven" if driven else "coasts", f"{integrator}, {setting}", f"{drift.time:g} s" if drift else "none", seconds,
        float(violation), None if driven else float(np.abs(energy - energy[0]).max() / np.ptp(kinetic)),
    )  # fmt: skip


def drive(model: Model, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Forces (nv,) of the wheels on the base, ahead and about its vertical, and of the arm's motors, which swing it."""
    ahead, turn, yaw = 40.0 * np.sin(0.8 * t), 8.0 * np.cos(1.1 * t), q[2]
    swing = TORQUES * (np.sin(np.arange(1.0, 7.0) * 0.5 * t) - 0.25 * v[3:])
    return np.concatenate([[ahead * np.cos(yaw), ahead * np.sin(yaw), turn], gravity_forces(model, q)[3:] + swing])


def sideways_force() -> Sideways:
    """The wheels' force along their axle while the base accelerates and turns, under the same law in both simulators."""
    model = differential_drive()
    wheels = rolling_wheels(model)
    run = simulate(model, drive_start(model), np.zeros(model.nv), drive_forces(model), dt=DT, duration=DURATION,
                   constraints=wheels, hold=True)  # fmt: skip
    forces = constrained.accelerations(model, run.q, run.v, run.tau, constraints=wheels).forces
    yaw = run.q[:, 2]
    ours = np.cos(yaw) * forces[:, 1] - np.sin(yaw) * forces[:, 0]
    theirs = np.array([drive_in_mujoco(model, s, DT, DURATION).sideways for s in SOFTNESS])
    rigid = np.array([1.0, -6.0, 8.0]) @ theirs / 3.0  # a parabola through the three, at softness 0
    kept = run.t >= START
    t, ours, theirs, rigid = run.t[kept], ours[kept], theirs[:, kept], rigid[kept]

    def error(x: np.ndarray) -> float:
        return float(np.linalg.norm(x - ours) / np.linalg.norm(ours))

    return Sideways(t, ours, SOFTNESS, theirs, tuple(map(error, theirs)), rigid, error(rigid))
