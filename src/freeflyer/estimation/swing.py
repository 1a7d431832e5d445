"""A lateral swing on two feet in MuJoCo, and what the estimators make of its encoders and forces. papers/000, VI-B, Figs 21-22.

The pelvis sways sideways over soles that stay. Servos follow motor positions found by inverse kinematics, with the forces
that hold each posture fed forward. From the simulator come the motors' positions, as encoders show them, and their forces;
the estimators find the passive joints, the base over the soles, and the contact wrenches, (43)-(46). The simulator's own
contact forces are what they are measured against.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freeflyer.dynamics.manifold import difference
from freeflyer.estimation.accuracy import readings
from freeflyer.estimation.balance import low_pass, world_wrenches
from freeflyer.estimation.comparison import Swing
from freeflyer.estimation.contact import contact_model, contact_wrenches
from freeflyer.estimation.experiment import Record, simulate
from freeflyer.estimation.feet import Foot, checked_feet
from freeflyer.estimation.passive import given, step
from freeflyer.estimation.passive import start as at_rest
from freeflyer.estimation.placing import base_over_soles
from freeflyer.estimation.plant import Servos, plant
from freeflyer.estimation.sensing import Sensors
from freeflyer.estimation.soles import feet_in_file
from freeflyer.estimation.stance import sole_points
from freeflyer.estimation.sway import RATE, REST, RISE, Sway, check_sway, route
from freeflyer.model.model import Model
from freeflyer.model.public import public

METHODS = {"motors": "motors", "balanced": "balanced", "moving": "balanced"}  # names of estimates: how they are solved


@dataclass(frozen=True)
class Estimates:
    """At the record's times: q (n, nq) with the base over the soles, misfit (n,) of the soles, m; wrenches by method (n, f, 6),
    [force; torque about the origin], world axes, unfiltered: "motors" and "balanced" take the robot to be at rest, "moving" is
    balanced with velocities and accelerations from differences of q, below the cutoff."""

    q: np.ndarray
    misfit: np.ndarray
    wrenches: dict[str, np.ndarray]


def estimate(
    s: Sensors, feet: Sequence[Foot], record: Record, start: np.ndarray, sway: Sway,
    progress: Callable[[float], None] = lambda _: None,
) -> Estimates:  # fmt: skip
    """The whole chain from encoders and motor forces, sample by sample. start (nq,): where the robot was set up."""
    rng = np.random.default_rng(sway.seed)
    dt, n = 1.0 / RATE, len(record.t)
    shown, rates = readings(record.positions, np.gradient(record.positions, dt, axis=0), sway.encoder, dt, rng)
    measured = record.forces + sway.force_noise * rng.standard_normal(record.forces.shape)
    order = np.array([s.names.index(name) for name in s.model.actuated])
    ground = sole_points(s.model, start, feet)
    state = at_rest(s, start)
    q, misfit = np.empty((n, s.model.nq)), np.empty(n)
    wrenches = {name: np.empty((n, len(feet), 6)) for name in METHODS}
    for k in range(n):
        state = step(s, state, shown[k], rates[k], dt, alpha=sway.alpha)
        q[k], misfit[k] = base_over_soles(s.model, state.q, feet, ground)
        if k % 100 == 0:
            progress(0.5 * k / n)
    v, a = _motion(s.model, q, sway.cutoff)
    for k in range(n):
        still, moving = contact_model(s.model, q[k], feet), contact_model(s.model, q[k], feet, v[k], a[k])
        for name, method in METHODS.items():
            contacts = moving if name == "moving" else still
            wrenches[name][k] = world_wrenches(contacts, contact_wrenches(contacts, measured[k, order], method))
        if k % 100 == 0:
            progress(0.5 + 0.5 * k / n)
    return Estimates(q, misfit, wrenches)


def _motion(model: Model, q: np.ndarray, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """(v, a) (n, nv): differences of q, each below the cutoff."""
    v = np.zeros((len(q), model.nv))
    v[1:] = RATE * difference(model, q[:-1], q[1:])
    v = low_pass(v, RATE, cutoff)
    return v, RATE * np.diff(v, axis=0, prepend=v[:1])


@public
def lateral_swing(
    robot: Model | Sensors, path: str | os.PathLike[str] | None = None, feet: Sequence[Foot] | None = None, *,
    sway: Sway | None = None, servos: Servos | None = None, progress: Callable[[str, float], None] = lambda _, __: None,
) -> Swing:  # fmt: skip
    """The experiment. path: the robot's own MJCF file, which the simulator then reads; without it, what `to_mjcf` writes.

    feet: without them, those of the file's colliding shapes, or of sites named `..._sole`. progress(what, share done).
    Errors: InputError for feet that are not on one level floor, settings out of range, a robot that falls; LinkageError for
    postures out of reach; FileError for what MuJoCo refuses.
    """
    s, sway, servos = given(robot), sway or Sway(), servos or Servos()
    check_sway(sway, servos)
    chosen = tuple(feet) if feet is not None else feet_in_file(s.model, path) if path is not None else None
    soles = checked_feet(s.model, chosen)
    progress("finding postures", 0.0)
    way = route(s, soles, sway)
    begin = way.start
    simulator = plant(s.model, path, soles, s.names, np.vstack([begin, way.q]), servos)
    record = simulate(s, simulator, way, sway, servos, lambda x: progress("swinging in MuJoCo", x))
    found = estimate(s, soles, record, begin, sway, lambda x: progress("estimating", x))
    return _compared(s, soles, record, found, begin, sway, servos)


def _compared(
    s: Sensors, feet: Sequence[Foot], record: Record, found: Estimates, begin: np.ndarray, sway: Sway, servos: Servos
) -> Swing:  # fmt: skip
    from freeflyer.dynamics.closed.constraints import constraint_residual

    everything = {"simulator": record.contacts} | found.wrenches
    filtered = {name: low_pass(w, RATE, sway.cutoff) for name, w in everything.items()}
    joints = np.array([j.iq for j in s.model.joints if j.nq == 1])
    ends = np.cumsum([len(f.points) for f in feet])[:-1]
    corners = tuple(_hull(p[:, :2]) for p in np.split(sole_points(s.model, begin, feet), ends))
    late = round((REST + RISE) * RATE)
    sideways = record.q[late:, 1] - begin[1]
    picked = tuple(late + int(k) for k in (sideways.argmax(), np.abs(sideways).argmin(), sideways.argmin()))
    gap = np.abs(constraint_residual(s.model, record.q)[:, s.linkage.rows]).max(axis=1)
    error = found.q - record.q
    return Swing(
        s.model.name, tuple(f.frame for f in feet), sway, servos, s.model.mass * float(np.linalg.norm(s.model.gravity)),
        record.t, record.offset, record.q[:, :3], filtered, corners, record.q[list(picked)], picked,
        np.abs(error[:, joints]).max(axis=1), np.linalg.norm(error[:, :3], axis=1), gap, late,
    )  # fmt: skip


def _hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull (c, 2), counter-clockwise."""
    from scipy.spatial import ConvexHull

    return np.asarray(points[ConvexHull(points).vertices])
