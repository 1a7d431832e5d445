"""A lateral swing on two feet in MuJoCo, and what the estimators make of its encoders and forces. Kangaroo paper, VI-B, Figs 21-22.

The pelvis sways sideways over soles that stay. Servos follow motor positions found by inverse kinematics, with the forces that hold
each posture fed forward. From the simulator come the motors' positions, as encoders show them, and their forces; the estimators
find the passive joints, the base over the soles, and the contact wrenches, (43)-(46). The simulator's own contact forces are what
they are measured against."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.analysis.estimators.tracking_accuracy import readings
from freeflyer.analysis.swing.comparison import Swing
from freeflyer.analysis.swing.motion import RATE, REST_TIME, RISE_TIME, Route, Sway, check_sway, offset_at, route
from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import complete_feet, contact_points, feet_from_file
from freeflyer.contacts.wrenches import express_at
from freeflyer.control.support import convex_polygon
from freeflyer.dynamics.frames import frame_pose
from freeflyer.errors import InputError, StepError
from freeflyer.estimation.balance import low_pass
from freeflyer.estimation.history import ContactHistory, contact_history
from freeflyer.estimation.passive import sensors_of
from freeflyer.estimation.sensing import Sensors
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress, part_of
from freeflyer.sim.floor import foot_points
from freeflyer.sim.mujoco_run import simulate_in_mujoco
from freeflyer.sim.mujoco_scene import Plant, plant
from freeflyer.sim.mujoco_spec import Servos
from freeflyer.sim.run import Run


def simulate_sensors(s: Sensors, record: Record, sway: Sway) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(positions, rates, forces) as sensors show them; forces in the order of `model.actuated`."""
    rng = np.random.default_rng(sway.seed)
    rates = np.gradient(record.positions, 1.0 / RATE, axis=0)
    positions, rates = readings(record.positions, rates, sway.encoder, 1.0 / RATE, rng)
    forces = record.forces + sway.force_noise * rng.standard_normal(record.forces.shape)
    return positions, rates, forces[:, [s.names.index(name) for name in s.model.actuated]]


@public
def lateral_swing(
    robot: Model | Sensors, path: str | os.PathLike[str] | None = None, feet: Sequence[Contact] | None = None, *,
    sway: Sway | None = None, servos: Servos | None = None, progress: Progress = no_progress,
) -> Swing:  # fmt: skip
    """The experiment. path: the robot's own MJCF file, which the simulator then reads; without it, what `to_mjcf` writes.

    feet: without them, those of the file's colliding shapes, or of sites named `..._sole`. progress(fraction, what). Errors:
    InputError for feet that are not on one level floor, settings out of range, a robot that falls; LinkageError for postures out of
    reach; FileError for what MuJoCo refuses."""
    s, sway, servos = sensors_of(robot), sway or Sway(), servos or Servos()
    check_sway(sway, servos)
    chosen = tuple(feet) if feet is not None else feet_from_file(s.closed, path) if path is not None else None
    soles = complete_feet(s.model, chosen)
    progress(0.0, "finding postures")
    way = route(s, soles, sway)
    begin = way.start
    simulator = plant(s.model, path, soles, s.names, np.vstack([begin, way.q]), servos)
    record = simulate(s, simulator, way, sway, servos, part_of(progress, "swinging in MuJoCo"))
    positions, rates, forces = simulate_sensors(s, record, sway)
    found = contact_history(
        s, record.t, positions, forces, soles, rates=rates, start=begin, cutoff=sway.cutoff, alpha=sway.alpha,
        progress=progress,
    )  # fmt: skip
    return _compare(s, soles, record, found, begin, sway, servos)


def _compare(
    s: Sensors, feet: Sequence[Contact], record: Record, found: ContactHistory, begin: np.ndarray, sway: Sway, servos: Servos
) -> Swing:  # fmt: skip
    from freeflyer.linkages.rows import constraint_residual

    filtered = {"simulator": low_pass(record.contacts, RATE, sway.cutoff)} | found.wrenches
    joints = np.array([j.iq for j in s.model.joints if j.nq == 1])
    ends = np.cumsum([len(contact_points(f)) for f in feet])[:-1]
    corners = tuple(convex_polygon(p[:, :2]) for p in np.split(foot_points(s.model, begin, feet), ends))
    late = round((REST_TIME + RISE_TIME) * RATE)
    sideways = record.q[late:, 1] - begin[1]
    picked = tuple(late + int(k) for k in (sideways.argmax(), np.abs(sideways).argmin(), sideways.argmin()))
    gap = np.abs(constraint_residual(s.model, record.q)[:, s.partition.rows]).max(axis=1)
    error = found.q - record.q
    return Swing(
        s.model.name, tuple(f.frame for f in feet), sway, servos, s.model.mass * float(np.linalg.norm(s.model.gravity)),
        record.t, record.offset, record.q[:, :3], filtered, corners, record.q[list(picked)], picked,
        np.abs(error[:, joints]).max(axis=1), np.linalg.norm(error[:, :3], axis=1), gap, late,
    )  # fmt: skip


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
