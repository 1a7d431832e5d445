"""The swing in MuJoCo: servos follow the route, encoders, motor forces and contact forces are recorded at 1 kHz."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.swing.motion import RATE, Route, Sway, offset_at
from freeflyer.contacts.forces import express_at
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError
from freeflyer.estimation.sensing import Sensors
from freeflyer.progress import Progress, no_progress
from freeflyer.sim.events import StepError
from freeflyer.sim.mujoco_run import simulate_in_mujoco
from freeflyer.sim.mujoco_scene import Plant
from freeflyer.sim.mujoco_spec import Servos
from freeflyer.sim.run import Run

MAX_BASE_ERROR = 0.05  # m that the base may be away from where it is sent
ADVICE = "Sway less or slower, or take stiffer servos"


@dataclass(frozen=True)
class Record:
    """What was measured at the times t (n,): wanted offset (n,), m; q (n, nq) of the simulator; positions, forces (n, m) of the
    motors; contacts (n, f, 6) of the simulator, [force; torque about the origin], world axes."""

    t: np.ndarray
    offset: np.ndarray
    q: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    contacts: np.ndarray


def simulate(
    s: Sensors, robot: Plant, way: Route, sway: Sway, servos: Servos, progress: Progress = no_progress
) -> Record:  # fmt: skip
    """Run MuJoCo; records at 1 kHz. Errors: InputError where the robot falls."""
    n = round(sway.duration * RATE)
    t = servos.dt * np.arange(n * round(1.0 / (RATE * servos.dt)) + 1)
    table = servo_targets(s, robot, way, servos, *offset_at(t, sway))
    try:
        run = simulate_in_mujoco(
            robot, way.start, np.zeros(robot.model.nv), dt=1.0 / RATE, duration=n / RATE,
            targets=lambda t: table[round(t / servos.dt)], progress=progress,
        )  # fmt: skip
    except StepError as error:
        raise InputError(f"{s.model.name!r} falls in the simulator at once: {error}. {ADVICE}", t=0.0) from None
    offset = offset_at(run.t, sway)[0]
    _check_upright(s, run, offset)
    q, motors = run.q[:n], robot.motor_coordinates
    contacts = np.stack([express_at(frame_pose(s.model, q, f.frame), run.forces[f.name][:n], "world") for f in robot.feet], axis=1)
    return Record(run.t[:n], offset[:n], q, q[:, s.positions], run.tau[:n, motors], contacts)


def servo_targets(s: Sensors, robot: Plant, way: Route, servos: Servos, offset: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Positions (n, m + k) of motors and idle pieces at offsets of a route and their rates (n,): where postures put them, ahead by
    what damping and weight take."""
    from scipy.interpolate import CubicSpline

    positions = CubicSpline(way.offsets, way.q[:, s.positions])
    feed = CubicSpline(way.offsets, way.forces)(offset)
    turns = CubicSpline(way.offsets, way.q[:, robot.idle_positions])(offset)
    ahead = (servos.damping * positions(offset, 1) * rate[:, None] + feed) / servos.stiffness
    return np.hstack([positions(offset) + ahead, turns])


def _check_upright(s: Sensors, run: Run, offset: np.ndarray) -> None:
    sent = run.q[0, :3] + np.column_stack([0.0 * offset, offset, 0.0 * offset])
    off = np.abs(run.q[:, :3] - sent).max(axis=1)
    late = np.flatnonzero(~(off < MAX_BASE_ERROR))
    if run.failure or len(late):
        k = int(late[0]) if len(late) else len(run.t) - 1
        raise InputError(
            f"{s.model.name!r} falls in the simulator: at {run.t[k]:.2f} s its base is {off[k]:.2g} m from where it is sent. "
            f"{ADVICE}", t=float(run.t[k]),
        )  # fmt: skip
