"""Records of hopping runs for compiled code: the state, the settings and the phase as one row of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeflyer.dynamics.all_terms import all_terms
from freeflyer.dynamics.frame_sets import FrameSet, frame_set
from freeflyer.errors import InputError, format_value
from freeflyer.model.model import Model
from freeflyer_papers.hopping.settings import HopSettings
from freeflyer_papers.kernels import layout as L

FOOT = "foot_point"
DIRECTION = np.array([0.0, -1.0, 0.0])  # about which angles turn
SHORTEST_LEG = 1e-3  # m: of the line from the centre of mass to the foot
QUADRATURE = np.polynomial.legendre.leggauss(24)


class Leg(NamedTuple):
    """Length and angle of the line from the centre of mass to the foot; foot and centre (..., 2), and their Jacobians."""

    length: np.ndarray
    angle: np.ndarray
    foot: np.ndarray
    center: np.ndarray
    foot_jacobian: np.ndarray  # (..., 2, nv)
    center_jacobian: np.ndarray


def check_hopper(model: Model) -> None:
    """InputError for a model that does not move in the plane x-z, or has no foot."""
    if not isinstance(model, Model):
        raise InputError(f"model must be a freeflyer Model, got {format_value(model)}")
    planar = model.nv >= 4 and model.nq == model.nv and model.joint_names[0] == "root_joint" and FOOT in model.frame_names
    if not planar or model.reduction or model.shared_coordinates:
        raise InputError(
            f"model {model.name!r} is no planar hopper: it needs the joint 'root_joint' of kind planar about -y, then "
            f"revolute or prismatic joints, and a frame {FOOT!r}, as robots.revolute_hopper() has"
        )


def legs(model: Model, q: np.ndarray, v: np.ndarray | None = None, frames: FrameSet | None = None) -> Leg:
    """Leg at configurations (..., nq)."""
    terms = all_terms(model, q, np.zeros_like(q) if v is None else v, frames=frames or frame_set(model, FOOT), expressed="mixed")
    foot, center = terms.poses[..., 0, :3, 3][..., [0, 2]], terms.center_of_mass[..., [0, 2]]
    line = foot - center
    angle = np.arctan2(line[..., 1], line[..., 0]) + 0.5 * np.pi
    angle = np.where(angle > np.pi, angle - 2.0 * np.pi, angle)
    jacobians = terms.jacobians[..., 0, :, :][..., [0, 2], :], terms.center_of_mass_jacobian[..., [0, 2], :]
    return Leg(np.hypot(line[..., 0], line[..., 1]), angle, foot, center, *jacobians)


def locked_angle(model: Model, q: np.ndarray) -> float:
    """Angle of the frame of the centre of mass, which turns at the locked angular velocity: the leg's at keyframe "start".

    Source: (3.74)-(3.76): the integral, over the joint from that posture to this one, of its share of the locked velocity."""
    start = np.array(model.keyframes["start"])
    if model.nv != 4:
        raise InputError(f"controller III needs one joint, for the locked angle to exist; {model.name!r} has {model.nv - 3}")
    nodes, weights = QUADRATURE
    postures = np.tile(start, (len(nodes), 1))
    half = 0.5 * (q[3] - start[3])
    postures[:, 3] = start[3] + half * (nodes + 1.0)
    momentum = all_terms(model, postures, np.zeros_like(postures)).centroidal_momentum_matrix[:, 4, :]
    turned = half * float(weights @ (momentum[:, 3] / momentum[:, 2]))
    return float(legs(model, start).angle) + float(q[2] - start[2]) + turned


def table_of(model: Model, settings: HopSettings, tries: int, traced: bool) -> np.ndarray:
    """The table behind the topology, of calls that try so many steps."""
    foot = list(model.frame_names).index(FOOT)
    columns = L.TRACE_STATE + 2 * model.nv + 1 + L.PORTS
    return np.array([record_size(model), tries if traced else 0, columns, tries, foot, settings.controller == "III"], np.int64)


def record_size(model: Model) -> int:
    return L.STATE + 4 * model.nv + 1 + L.PORTS


def make_record(model: Model, settings: HopSettings, q: np.ndarray, v: np.ndarray, duration: float) -> np.ndarray:
    """The record of a run at its start. Errors: InputError for a foot below the ground and a leg without length."""
    leg = legs(model, q)
    if leg.length < SHORTEST_LEG:
        raise InputError(
            f"the leg has no length: the foot lies {leg.length:.3g} m from the centre of mass, and a line without length has no "
            f"direction; it must be at least {SHORTEST_LEG:g} m (q = {format_value(q.tolist())})", length=float(leg.length),
        )  # fmt: skip
    if leg.foot[1] < 0.0:
        raise InputError(
            f"the foot starts {-leg.foot[1]:.4g} m below the ground: a run begins in flight, with the foot at height 0 or above "
            f"(raise the trunk, q[1] = {q[1]:g} m, by that much)", depth=-float(leg.foot[1]),
        )  # fmt: skip
    nv, record = model.nv, np.zeros(record_size(model))
    climb = float(leg.center_jacobian[1] @ v)
    record[[L.TIME, L.END, L.STEP, L.PHASE]] = 0.0, duration, 1e-6, L.RISING if climb > 0.0 else L.FALLING
    record[L.LAST_EVENT] = -1.0
    put_settings(record, settings)
    record[L.STATE : L.STATE + 2 * nv] = *q, *v
    record[L.STATE + 2 * nv] = locked_angle(model, q) if settings.controller == "III" else leg.angle
    return record


def put_settings(record: np.ndarray, s: HopSettings) -> None:
    """Writes settings into records (..., n)."""
    unpolar = s.controller == "I"
    record[..., [L.RADIAL_GAIN, L.RADIAL_DAMPING, L.STANCE_DAMPING]] = s.radial_gain, s.radial_damping, s.stance_damping
    record[..., [L.POLAR_GAIN, L.POLAR_DAMPING]] = (0.0, 0.0) if unpolar else (s.polar_gain, s.polar_damping)
    record[..., [L.ENERGY_GAIN, L.LENGTH, L.ANGLE, L.ENERGY]] = s.energy_gain, s.length, s.angle, s.energy
    record[..., L.FLOOR_STIFFNESS : L.FLOOR_STIFFNESS + 2] = s.floor_stiffness
    record[..., L.FLOOR_DAMPING : L.FLOOR_DAMPING + 2] = s.floor_damping
    record[..., [L.TOLERANCE, L.FALLEN_HEIGHT]] = s.tolerance, s.fallen_height
    record[..., [L.CALM_TOLERANCE, L.MOST_APEXES]] = s.repeated, s.apexes if s.apexes > 0 else 1e12
