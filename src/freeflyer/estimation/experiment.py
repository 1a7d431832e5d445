"""The swing in MuJoCo: servos follow the route, encoders, motor forces and contact forces are recorded at 1 kHz."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freeflyer.errors import InputError
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.sway import RATE, Route, Sway, offset_at
from freeflyer.model.readers.mjcf_gate import collected_warnings
from freeflyer.sim.mujoco_scene import Plant
from freeflyer.sim.mujoco_spec import Servos

FALLEN = 0.05  # m that the base may be away from where it is sent


@dataclass(frozen=True)
class Record:
    """What was measured at the times t (n,): offset (n,) asked for, m; q (n, nq) of the simulator; positions, forces (n, m) of
    the motors; contacts (n, f, 6) of the simulator, [force; torque about the origin], world axes."""

    t: np.ndarray
    offset: np.ndarray
    q: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    contacts: np.ndarray


def simulate(
    s: Sensors, robot: Plant, way: Route, sway: Sway, servos: Servos, progress: Callable[[float], None] = lambda _: None
) -> Record:  # fmt: skip
    """Run MuJoCo; records at 1 kHz. Errors: InputError where the robot falls."""
    from scipy.interpolate import CubicSpline

    every = round(1.0 / (RATE * servos.step))
    n = round(sway.duration * RATE)
    t = servos.step * np.arange(n * every)
    offset, rate = offset_at(t, sway)
    positions = CubicSpline(way.offsets, way.q[:, s.positions])
    forces = CubicSpline(way.offsets, way.forces)
    wanted, feed = positions(offset), forces(offset)
    turns = CubicSpline(way.offsets, way.q[:, robot.idle_positions])(offset)
    control = wanted + (servos.damping * positions(offset, 1) * rate[:, None] + feed) / servos.stiffness
    at_motors, data = robot.motors, robot.data
    q, tau, contacts = np.empty((n, s.model.nq)), np.empty((n, len(s.names))), []
    home = robot.q[:3]
    with collected_warnings():
        for k in range(n * every):
            data.ctrl[at_motors], data.ctrl[robot.idle] = control[k], turns[k]
            i, seen = divmod(k, every)
            if seen == 0:
                q[i] = robot.q
            robot.mujoco.mj_step(robot.mj, data)
            if seen == 0:
                tau[i] = data.actuator_force[at_motors]
                contacts.append(robot.contacts())
                if i % 100 == 0:
                    _upright(s, q[i], home, offset[k], t[k])
                    progress(i / n)
    return Record(t[::every], offset[::every], q, q[:, s.positions], tau, np.array(contacts))


def _upright(s: Sensors, q: np.ndarray, home: np.ndarray, offset: float, t: float) -> None:
    off = q[:3] - home - [0.0, offset, 0.0]
    if not np.abs(off).max() < FALLEN:
        raise InputError(
            f"{s.model.name!r} falls in the simulator: at {t:.2f} s its base is {np.abs(off).max():.2g} m from where it is sent. "
            "Sway less or slower, or take stiffer servos",
            t=t,
        )  # fmt: skip
