"""A lateral swing on two feet in MuJoCo, and what the estimators make of its encoders and forces. papers/000, VI-B, Figs 21-22.

The pelvis sways sideways over soles that stay. Servos follow motor positions found by inverse kinematics, with the forces that hold
each posture fed forward. From the simulator come the motors' positions, as encoders show them, and their forces; the estimators
find the passive joints, the base over the soles, and the contact wrenches, (43)-(46). The simulator's own contact forces are what
they are measured against."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from freeflyer.analysis.estimators.tracking_accuracy import readings
from freeflyer.analysis.swing.comparison import Swing
from freeflyer.analysis.swing.experiment import Record, simulate
from freeflyer.analysis.swing.motion import RATE, REST_TIME, RISE_TIME, Sway, check_sway, route
from freeflyer.contacts.description import Contact
from freeflyer.contacts.feet import complete_feet, contact_points
from freeflyer.contacts.soles import feet_from_file
from freeflyer.control.polygons import convex_polygon
from freeflyer.estimation.balance import low_pass
from freeflyer.estimation.history import ContactHistory, contact_history
from freeflyer.estimation.passive import sensors_of
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.stance import sole_points
from freeflyer.model.model import Model
from freeflyer.model.public import public
from freeflyer.progress import Progress, no_progress, part_of
from freeflyer.sim.mujoco_scene import plant
from freeflyer.sim.mujoco_spec import Servos


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
    corners = tuple(convex_polygon(p[:, :2]) for p in np.split(sole_points(s.model, begin, feet), ends))
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
