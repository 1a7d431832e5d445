"""Inputs of a robot: motors of joints, thrusters and propellers, whole wrenches; velocity coordinates, with motors and by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.contacts import ConstraintSet
from freeflyer.dynamics import frame_jacobian
from freeflyer.errors import InputError, format_value, unknown_name
from freeflyer.linkages.closing import has_loops
from freeflyer.model import WORLD, Model, frozen_array, name_list, number, public, real_array, remembered, row, slides
from freeflyer.tolerances import NAMED_SHARE

DRAG = 0.016  # N m of torque per N of thrust: a propeller of some 25 cm
AXES = ("x", "y", "z")
TURNS = tuple(f"rotation about {axis}" for axis in AXES)
SHIFTS = tuple(f"{axis} translation" for axis in AXES)
PARTS = {  # of joints with several coordinates
    "free": SHIFTS + TURNS, "spherical": TURNS, "planar": ("x translation", "y translation", "rotation"),
    "cylindrical": ("translation", "rotation"), "universal": ("first rotation", "second rotation")}  # fmt: skip
MAX_LISTED = 4  # parts of one direction, and directions, that a sentence lists


@dataclass(frozen=True, eq=False)
class Inputs:
    """The m inputs u of a robot: motors of joints, and wrenches on frames. Add two of them to have both.

    Inputs u (..., m) act as the generalised forces joints u, and as wrenches W_f u on frames f, in the frames' own axes.

    Attributes:
        names: (m,) tuple of str.
        joints: (nv, m) array, generalised forces per unit of each input.
        wrenches: Frame name -> wrenches [force; torque] (6, m) per unit of each input, in the frame's axes, at its origin."""

    names: tuple[str, ...]
    joints: np.ndarray
    wrenches: Mapping[str, np.ndarray]

    @property
    def count(self) -> int:
        """Number m of inputs."""
        return len(self.names)

    def __add__(self, other: Inputs) -> Inputs:
        if not isinstance(other, Inputs) or self.joints.shape[0] != other.joints.shape[0]:
            raise InputError(f"inputs of one robot can be added, got {type(other).__name__}: pass Inputs of the same model")
        twice = [name for name in self.names if name in other.names]
        if twice:
            raise InputError(f"the input {twice[0]!r} is there twice: add inputs that differ", names=twice)
        wrenches = {f: np.hstack([w, np.zeros((6, other.count))]) for f, w in self.wrenches.items()}
        for frame, w in other.wrenches.items():
            wide = np.hstack([np.zeros((6, self.count)), w])
            wrenches[frame] = wrenches[frame] + wide if frame in wrenches else wide
        return Inputs(self.names + other.names, np.hstack([self.joints, other.joints]), wrenches)

    def matrix(self, model: Model, q: ArrayLike) -> np.ndarray:
        """Matrix G (..., nv, m) at q (..., nq): the generalised forces of the inputs u are G u."""
        lead = row(model, "q", q, "q").shape[:-1]
        G = np.array(np.broadcast_to(self.joints, (*lead, *self.joints.shape)))
        for frame, W in self.wrenches.items():
            G += np.swapaxes(frame_jacobian(model, q, frame), -1, -2) @ W
        return G

    def forces_and_wrenches(self, u: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray] | None]:
        """(tau (..., nv), external wrenches by frame or None) of inputs u (..., m), for forward_dynamics, step, linearize."""
        return u @ self.joints.T, {frame: u @ W.T for frame, W in self.wrenches.items()} or None


@public
def joint_inputs(model: Model, joints: Iterable[str] | None = None) -> Inputs:
    """Motors as inputs, one on every velocity coordinate of the joints named, in their order: generalised forces, N or N m.

    Args:
        joints: Names; those of `model.actuated` if not given."""
    chosen = model.actuated if joints is None else name_list("joints", joints)
    names, at = list[str](), list[int]()
    for joint in map(model.joint, chosen):
        if joint.mimic is not None:
            raise InputError(
                f"joint {joint.name!r} follows {joint.mimic.joint!r} and has no motor of its own: name that one", joint=joint.name
            )
        if not joint.nv:
            raise InputError(
                f"joint {joint.name!r} follows the others through the loops of {model.name!r}: it has no velocity of its own "
                "that an input could drive (freeflyer.close_loops(model, independent=...) chooses other joints)", joint=joint.name,
            )  # fmt: skip
        names += coordinate_names(model, slice(joint.iv, joint.iv + joint.nv))
        at += range(joint.iv, joint.iv + joint.nv)
    if len(set(at)) < len(at):
        raise InputError(f"joints names one twice: {', '.join(chosen)}; name each once", joints=chosen)
    return Inputs(tuple(names), np.eye(model.nv)[:, at], {})


@public
def thruster_inputs(model: Model, thrusters: Mapping[str, ArrayLike]) -> Inputs:
    """Thrusters as inputs, one for each frame and named as it: multiples of a wrench that moves with the frame.

    Args:
        thrusters: Frame name -> wrench [force; torque] (6,) per unit of the input, in the frame's axes, at its origin."""
    if not isinstance(thrusters, Mapping):
        example = '{"nozzle": [0, 0, 1, 0, 0, 0]}'
        raise InputError(f"thrusters must map frames to wrenches per unit, as in {example}, got {format_value(thrusters)}")
    wrenches = {}
    for k, (frame, wrench) in enumerate(thrusters.items()):
        model.frame(frame)
        w = real_array(f"the wrench of {frame!r}", wrench)
        if w.shape != (6,) or not np.isfinite(w).all() or not w.any():
            got = format_value(wrench)
            raise InputError(f"the wrench of {frame!r} must be six finite numbers, not all zero, got {got}", frame=frame)
        wrenches[frame] = np.zeros((6, len(thrusters)))
        wrenches[frame][:, k] = w
    return Inputs(tuple(thrusters), np.zeros((model.nv, len(thrusters))), wrenches)


@public
def wrench_inputs(model: Model, frame: str) -> Inputs:
    """Six inputs on a frame, [force; torque] (N, N m) along its axes at its origin, as of reaction wheels."""
    model.frame(frame)
    names = tuple(f"{frame} {what} {axis}" for what in ("force", "torque") for axis in AXES)
    return Inputs(names, np.zeros((model.nv, 6)), {frame: np.eye(6)})


@public
def rotor_inputs(model: Model, drag: float = DRAG) -> Inputs:
    """Thrusts (N) as inputs: those of the propellers at the sites rotor_1 ... rotor_n of `robots.aerial_manipulator`.

    Each pushes along its site's z, with either sign. Odd ones spin counter-clockwise, even ones clockwise.

    Args:
        drag: N m of torque about the site's z per N of thrust; by default that of a propeller of some 25 cm."""
    drag = number("drag", drag)
    rotors = sorted((f for f in model.frame_names if re.fullmatch(r"rotor_\d+", f)), key=lambda f: int(f[6:]))
    if not rotors:
        raise unknown_name("frame", "rotor_1", model.frame_names, "Use thruster_inputs for frames of other names.")
    return thruster_inputs(model, {f: [0.0, 0.0, 1.0, 0.0, 0.0, -drag if int(f[6:]) % 2 else drag] for f in rotors})


def resolve_inputs(model: Model, inputs: Any, constraints: ConstraintSet | None = None) -> Inputs:
    """The inputs meant: those given, or the actuated joints for None; InputError for anything that is not of this robot, and for
    trees whose loops nothing holds."""
    held = isinstance(constraints, ConstraintSet) and bool(constraints.loop_names)
    if has_loops(model) and not model.reduction and not held:
        raise InputError(
            f"the loops of {model.name!r} are open: as a tree it has neither equilibria nor regulators that its robot has. Close "
            "them: freeflyer.close_loops(model)", model=model.name)  # fmt: skip
    if inputs is None:
        return joint_inputs(model)
    if not isinstance(inputs, Inputs):
        raise InputError(f"inputs must be Inputs (see joint_inputs, rotor_inputs, wrench_inputs), got {type(inputs).__name__}")
    if inputs.joints.shape[0] != model.nv:
        raise InputError(f"inputs are of a robot with nv = {inputs.joints.shape[0]}, this one has nv = {model.nv}: make them of it")
    for frame in inputs.wrenches:
        model.frame(frame)
    return inputs


@remembered
def actuated_coordinates(model: Model) -> np.ndarray:
    """Velocities (n,) that the motors of `model.actuated` drive, in their order. Errors: as freeflyer.control.joint_inputs."""
    return frozen_array(joint_inputs(model).joints.argmax(axis=0))


@remembered
def unactuated_coordinates(model: Model) -> np.ndarray:
    """The other velocities, those of a floating base first of all."""
    return frozen_array(np.setdiff1d(np.arange(model.nv), actuated_coordinates(model)))


@remembered
def base_coordinates(model: Model) -> np.ndarray:
    """Velocities of floating bases."""
    floating = [j for j in model.tree.joints if j.kind == "free" and j.parent == WORLD]
    return frozen_array(np.flatnonzero(np.isin(velocity_places(model), [k for j in floating for k in range(j.iv, j.iv + j.nv)])))


@remembered
def joint_coordinates(model: Model) -> np.ndarray:
    """Velocities that are not those of a floating base."""
    return frozen_array(np.setdiff1d(np.arange(model.nv), base_coordinates(model)))


def velocity_places(model: Model) -> np.ndarray:
    """For each velocity of a model, its place in those of its tree."""
    return np.arange(model.nv) if model.reduction is None else np.asarray(model.reduction.split.independent)


def coordinate_names(model: Model, chosen: Any = slice(None)) -> tuple[str, ...]:
    """A name (nv) for every velocity coordinate, or those chosen: 'knee', 'base x translation', 'wrist rotation about z'."""
    parts = [(j.name, x) for j in model.tree.joints for x in PARTS.get(j.kind, ("",) * j.nv)]
    names = [f"{'base' if name == 'root_joint' else name} {x}" if x else name for name, x in parts]
    return tuple([names[i] for i in velocity_places(model)[chosen]])


def describe_forces(model: Model, forces: np.ndarray, least: float) -> str:
    """'base z translation 482 N, knee 12 N m': the entries of (nv,) above `least`, largest first."""
    names, units = coordinate_names(model), np.where(slides(model), "N", "N m")
    order = [int(i) for i in np.argsort(-np.abs(forces)) if abs(forces[i]) > least]
    shown = [f"{names[i]} {forces[i]:.4g} {units[i]}" for i in order[: 2 * MAX_LISTED]]
    return ", ".join(shown) + (f" and {len(order) - 2 * MAX_LISTED} more" if len(order) > 2 * MAX_LISTED else "")


def describe_direction(names: tuple[str, ...], direction: np.ndarray) -> str:
    """'base x translation', or 'shoulder with elbow': the notable parts of a direction (nv,), largest first."""
    size = np.abs(direction)
    order = [int(i) for i in np.argsort(-size, kind="stable") if size[i] > NAMED_SHARE * size.max()]
    return " with ".join(names[i] for i in order[:MAX_LISTED]) + (" and more" if len(order) > MAX_LISTED else "")
