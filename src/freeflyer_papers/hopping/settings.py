"""Settings of a hopping run: gains, commands and floor, and the experiments of the thesis (tables 4.6 to 4.13)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.errors import InputError, check_name, format_value
from freeflyer.model import Model, check_configuration, choice, finite_array, finite_row, instance, number, row
from freeflyer_papers.kernels import layout as L

CONTROLLERS = ("I", "II", "III")


@dataclass(frozen=True)
class HopSettings:
    """Settings of a hopping run: controller, gains, commands, floor, accuracy.

    Gains and dampings may be negative; such a run ends if it has fallen or its numbers have grown without bounds.

    Args:
        controller: "II", "III" or "I". "I" has no polar spring. "II" turns the line from the centre of mass to the foot. "III"
            turns the frame of the centre of mass, which moves at the locked velocity.
        radial_gain: Stiffness of the spring between centre of mass and foot, N/m.
        radial_damping, stance_damping: Damping of that spring in flight and in stance, N s/m.
        polar_gain, polar_damping: Stiffness and damping of the spring at the centre of mass, in stance, N m/rad and N m s/rad.
        energy_gain: Force along the spring by energy and by its rate of length, s/m^2.
        length: Commanded distance of foot and centre of mass, m.
        angle: Commanded angle, rad; 0 is upright.
        energy: Commanded energy, with that of the radial spring, J.
        floor_stiffness, floor_damping: N/m and N s/m, along x and z or alike.
        tolerance: Error allowed in a step, in m, rad and J (and their rates), and relative above 1; 1e-12 to 1e-2.
        fallen_height: Of the trunk, m, at which a run ends as a fall.
        repeated: The run ends after five apexes in a row that repeat the one before to this (m, rad, m/s, rad/s); 0: never.
        apexes: The run ends at the apex of this number; 0: never.
    Raises: InputError for an unknown controller, numbers that are not finite, and negative ones other than `angle`, gains and
    dampings.

    Examples:
        >>> freeflyer_papers.hopping.HopSettings(energy_gain=10.0).radial_gain     # N/m
        2200.0
    """

    controller: str = "II"
    radial_gain: float = 2200.0
    radial_damping: float = 0.0
    stance_damping: float = 0.0
    polar_gain: float = 6.0
    polar_damping: float = 0.0
    energy_gain: float = 0.0
    length: float = 0.114
    angle: float = 0.0
    energy: float = 0.0
    floor_stiffness: float | tuple[float, float] = 10000.0
    floor_damping: float | tuple[float, float] = 1000.0
    tolerance: float = 1e-7
    fallen_height: float = 0.0
    repeated: float = 0.0
    apexes: int = 0

    def __post_init__(self) -> None:
        choice("controller", self.controller, CONTROLLERS)
        for f in fields(self)[1:]:  # numbers
            value = getattr(self, f.name)
            numbers = finite_array(f.name, value)
            pair = f.name.startswith("floor_")
            if numbers.shape not in (((), (2,)) if pair else ((),)):
                raise InputError(f"{f.name} must be a number{' or a pair (along x, z)' * pair}, got {format_value(value)}")
            free = f.name == "angle" or (f.name.endswith(("_gain", "_damping")) and not pair)
            if not free and (numbers < 0.0).any():
                raise InputError(f"{f.name} must not be negative, got {format_value(value)}")
        number("tolerance", self.tolerance, 1e-12, 1e-2)
        if self.length == 0.0 or min(np.broadcast_to(self.floor_stiffness, 2)) == 0.0:
            raise InputError("length and floor_stiffness must be above zero: a leg of length 0 has no direction")


class Experiment(namedtuple("Experiment",
    "robot settings duration q body_velocity purpose", defaults=(None, (0.0, 0.0, 0.0, 0.0), ""))):  # fmt: skip
    """An experiment: robot, settings, how long (s), and where it starts: q, by default keyframe "start"; body_velocity, along the
    trunk's axes, rad/s, rate of the joint."""


ROBOTS: Mapping[str, Callable[[], Model]] = MappingProxyType(
    {"prismatic": ff.robots.prismatic_hopper, "revolute": ff.robots.revolute_hopper})
_PRISMATIC = HopSettings("I", polar_gain=0.0)
_REVOLUTE = HopSettings("I", polar_gain=0.0, length=0.1411)
_UPRIGHT = replace(_REVOLUTE, controller="II", polar_gain=6.0)
# The gain of the energy controller is 20 in table 4.12 and 10 in the text of experiment III. With 10 the gait of VI has the energy
# and the speed of its printed start, and the works of its balance: see docs/hopping.md.
_DRIVEN = replace(_UPRIGHT, energy_gain=10.0, energy=2.8382)
_DAMPED = replace(_DRIVEN, radial_damping=20.0)
_KNEE = 1.7802

EXPERIMENTS = MappingProxyType({
    "prismatic-I": Experiment("prismatic", _PRISMATIC, 6.0, purpose="radial control alone, hopping in place"),
    "prismatic-II": Experiment("prismatic", HopSettings("II"), 6.0, purpose="radial and polar control, hopping in place"),
    "prismatic-III": Experiment("prismatic", HopSettings("II", energy_gain=20.0, energy=2.9047), 6.0,
                                purpose="radial, polar and energy control, hopping in place"),
    "revolute-I": Experiment("revolute", _REVOLUTE, 1.5, purpose="radial control alone"),
    "revolute-II": Experiment("revolute", _UPRIGHT, 6.0, purpose="radial and polar control"),
    "revolute-III": Experiment("revolute", _DRIVEN, 6.0, purpose="radial, polar and energy control"),
    "revolute-IV": Experiment("revolute", _DAMPED, 6.0, purpose="as III, the radial spring damped in flight"),
    "revolute-V": Experiment("revolute", _DAMPED, 20.0, (0.0, 0.3, -1.9938, _KNEE), purpose="as IV, the leg tilted by 30 deg"),
    "revolute-VI": Experiment("revolute", _DAMPED, 20.0, (2.7676, 0.2574, -2.5243, _KNEE), (-0.1919, 0.1263, 0.3301, 0.0),
                              "as V, from an apex of its gait")})  # fmt: skip


def chosen_hopper(experiment: str, model: Model | None) -> tuple[Experiment, Model]:
    """The experiment of that name, and its robot or the model that is given. Errors: UnknownNameError, InputError."""
    check_name("hopping experiment", experiment, EXPERIMENTS)
    chosen = EXPERIMENTS[experiment]
    robot = ROBOTS[chosen.robot]() if model is None else model
    check_hopper(robot)
    return chosen, robot


def changed(settings: HopSettings, changes: Mapping[str, Any]) -> HopSettings:
    """Other settings. Errors: InputError for names that are no settings, and for bad values."""
    known = [f.name for f in fields(HopSettings)]
    for name in changes:
        if name not in known:
            raise InputError(f"hopping has no setting {format_value(name)}: it takes model, q, v, {', '.join(known)}", known=known)
    return replace(settings, **changes)


def start_of(experiment: Experiment, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) at the start: the thesis gives the trunk's velocity along its own axes."""
    q = np.array(model.keyframes["start"] if experiment.q is None else experiment.q, float)
    v = np.array(experiment.body_velocity, float)
    c, s = np.cos(q[2]), np.sin(q[2])
    v[:2] = c * v[0] - s * v[1], s * v[0] + c * v[1]
    return q, v


def one_start(experiment: Experiment, model: Model, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) (nv,) that are given, at rest without v; by default those of the experiment. Errors: InputError."""
    if q is None and (model.nv != 4 or "start" not in model.keyframes):
        raise InputError(f"model {model.name!r} has no start for this experiment: give q")
    start, speed = (q, np.zeros(model.nv)) if q is not None else start_of(experiment, model)
    q0, v0 = np.array(row(model, "q", start, "q")), np.array(finite_row(model, "v", speed if v is None else v, "v"))
    check_configuration(model, "q", q0, "q")
    for name, x in (("q", q0), ("v", v0)):
        if x.ndim != 1:
            raise InputError(f"{name} must be one state ({model.nv},), got the shape {x.shape}; sweeps take hopping.hop_ends")
    return q0, v0


FOOT = "foot_point"
DIRECTION = np.array([0.0, -1.0, 0.0])  # about which angles turn
SHORTEST_LEG = 1e-3  # m: of the line from the centre of mass to the foot
QUADRATURE = np.polynomial.legendre.leggauss(24)


class Leg(namedtuple("Leg", "length angle foot center foot_jacobian center_jacobian")):
    """Length and angle of the line from the centre of mass to the foot; foot and centre (..., 2), and their
    Jacobians (..., 2, nv)."""


def check_hopper(model: Model) -> None:
    """InputError for a model that does not move in the plane x-z, or has no foot."""
    instance("model", model, Model)
    planar = model.nv >= 4 and model.nq == model.nv and model.joint_names[0] == "root_joint" and FOOT in model.frame_names
    if not planar or model.reduction or model.shared_coordinates:
        raise InputError(f"model {model.name!r} is no planar hopper: it needs the joint 'root_joint' of kind planar about -y, "
            f"then revolute or prismatic joints, and a frame {FOOT!r}, as robots.revolute_hopper() has")


def legs(model: Model, q: np.ndarray, v: np.ndarray | None = None) -> Leg:
    """Leg at configurations (..., nq)."""
    v = np.zeros_like(q) if v is None else v
    terms = ff.all_terms(model, q, v, frames=ff.frame_set(model, FOOT), expressed="mixed")
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
    momentum = ff.all_terms(model, postures, np.zeros_like(postures)).centroidal_momentum_matrix[:, 4, :]
    turned = half * float(weights @ (momentum[:, 3] / momentum[:, 2]))
    return float(legs(model, start).angle) + float(q[2] - start[2]) + turned


def table_of(model: Model, settings: HopSettings, tries: int, traced: bool) -> np.ndarray:
    """The table behind the topology, of calls that try so many steps."""
    foot = list(model.frame_names).index(FOOT)
    columns = L.TRACE_STATE + 2 * model.nv + 1 + L.PORTS
    return np.array([record_size(model), tries if traced else 0, columns, tries, foot, settings.controller == "III"], np.int64)


def record_size(model: Model) -> int:
    return L.STATE + 4 * model.nv + 1 + L.PORTS


def make_records(model: Model, settings: HopSettings, q: np.ndarray, v: np.ndarray, duration: float) -> np.ndarray:
    """Records (n, m) of runs at their starts q, v (n, nv). Errors: InputError for a foot below the ground and a leg without length.
    """
    leg, nv, records = legs(model, q), model.nv, np.zeros((len(q), record_size(model)))
    bad = (leg.length < SHORTEST_LEG) | (leg.foot[:, 1] < 0.0)
    if bad.any():
        k = int(bad.argmax())
        run, length, depth = f"run {k}: " * (len(q) > 1), float(leg.length[k]), -float(leg.foot[k, 1])
        if length < SHORTEST_LEG:
            raise InputError(
                f"{run}the leg has no length: the foot lies {length:.3g} m from the centre of mass, and a line without length has "
                f"no direction; it must be at least {SHORTEST_LEG:g} m (q = {format_value(q[k].tolist())})", length=length)
        raise InputError(
            f"{run}the foot starts {depth:.4g} m below the ground: a run begins in flight, with the foot at height 0 or above "
            f"(raise the trunk, q[1] = {q[k, 1]:g} m, by that much)", depth=depth)
    climb = np.einsum("ij,ij->i", leg.center_jacobian[:, 1], v)
    records[:, L.END], records[:, L.STEP], records[:, L.LAST_EVENT] = duration, 1e-6, -1.0
    records[:, L.PHASE] = np.where(climb > 0.0, L.RISING, L.FALLING)
    put_settings(records, settings)
    records[:, L.STATE : L.STATE + nv], records[:, L.STATE + nv : L.STATE + 2 * nv] = q, v
    locked = settings.controller == "III"
    records[:, L.STATE + 2 * nv] = [locked_angle(model, x) for x in q] if locked else leg.angle
    return records


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
