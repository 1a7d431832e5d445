"""What a hopping run is made of: gains, commands and floor, and the experiments of the thesis (tables 4.6 to 4.13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.model.inputs import finite_array, number
from freeflyer.model.model import Model
from freeflyer.robots.hoppers import prismatic_hopper, revolute_hopper

CONTROLLERS = ("I", "II", "III")


@dataclass(frozen=True)
class HopSettings:
    """Settings of a hopping run: controller, gains, commands, floor, accuracy.

    Gains and dampings may be negative; such a run ends if it has fallen or its numbers have grown without bounds.

    Args:
        controller: "II", "III" or "I". "I" has no polar spring. "II" turns the line from the centre of mass to the foot.
            "III" turns the frame of the centre of mass, which moves at the locked velocity.
        radial_gain: Stiffness of the spring between centre of mass and foot, N/m.
        radial_damping, stance_damping: Damping of that spring in flight and in stance, N s/m.
        polar_gain, polar_damping: Stiffness and damping of the spring at the centre of mass, in stance, N m/rad and N m
            s/rad.
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
        >>> freeflyer_papers.hopping.hop_settings("revolute-V").energy_gain
        10.0
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
        if self.controller not in CONTROLLERS:
            raise InputError(f"controller must be one of {', '.join(CONTROLLERS)}, got {format_value(self.controller)}")
        for f in fields(self):
            if f.name == "controller":
                continue
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


@dataclass(frozen=True)
class Experiment:
    """An experiment: robot, where it starts, settings, how long (s)."""

    robot: str
    settings: HopSettings
    duration: float
    q: tuple[float, ...] | None = None  # None: keyframe "start"
    body_velocity: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)  # along the trunk's axes, rad/s, rate of the joint
    purpose: str = ""


ROBOTS: Mapping[str, Callable[[], Model]] = MappingProxyType({"prismatic": prismatic_hopper, "revolute": revolute_hopper})
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
                              "as V, from an apex of its gait"),
})  # fmt: skip


def experiment_of(name: str) -> Experiment:
    """The experiment of that name. Errors: UnknownNameError."""
    found = EXPERIMENTS.get(name) if isinstance(name, str) else None
    if found is None:
        raise unknown_name("hopping experiment", name, EXPERIMENTS)
    return found


def hop_settings(experiment: str) -> HopSettings:
    """Settings of an experiment of the thesis.

    Args:
        experiment: "prismatic-I" to "prismatic-III" or "revolute-I" to "revolute-VI".

    Examples:
        >>> freeflyer_papers.hopping.hop_settings("prismatic-III").energy     # J
        2.9047
    """
    return experiment_of(experiment).settings


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
