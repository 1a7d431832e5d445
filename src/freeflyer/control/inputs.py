"""What a controller can move: motors of joints, thrusters and propellers on frames, or whole wrenches.

Inputs u (..., m) act as tau = joints u, and as wrenches W_f u on frames f, in the frames' own axes. So a thruster pushes
along its own axis wherever its link goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.constraints.reduction import has_loops
from freeflyer.constraints.sets import ConstraintSet
from freeflyer.control.words import AXES, coordinate_names
from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.errors import InputError, unknown_name
from freeflyer.model.inputs import real_array, row
from freeflyer.model.model import Model
from freeflyer.model.public import public

DRAG = 0.016  # N m of torque per N of thrust: a propeller of some 25 cm


@dataclass(frozen=True, eq=False)
class Inputs:
    """m inputs of a robot: `names` (m); joints (nv, m), generalised forces per unit; wrenches: frame to (6, m), per unit.

    Add two of them to have both: joint_inputs(model) + wrench_inputs(model, "satellite").
    """

    names: tuple[str, ...]
    joints: np.ndarray
    wrenches: Mapping[str, np.ndarray]

    @property
    def count(self) -> int:
        """m."""
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
        """G (..., nv, m): generalised forces at q are G u."""
        lead = row(model, "q", q, "q").shape[:-1]
        G = np.array(np.broadcast_to(self.joints, (*lead, *self.joints.shape)))
        for frame, W in self.wrenches.items():
            G += np.swapaxes(frame_jacobian(model, q, frame), -1, -2) @ W
        return G

    def forces_and_wrenches(self, u: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray] | None]:
        """(tau (..., nv), external wrenches by frame) of inputs u (..., m), for forward_dynamics, step and linearize."""
        external = {frame: u @ W.T for frame, W in self.wrenches.items()}
        return u @ self.joints.T, external or None


@public
def joint_inputs(model: Model, joints: Iterable[str] | None = None) -> Inputs:
    """A motor on every coordinate of these joints; of `model.actuated` if none are named. Units N, N m.

    Errors: InputError for mimic joints and names given twice; UnknownNameError.
    """
    if isinstance(joints, str):
        raise InputError(f"joints must list names, as in ({joints!r},), got the string {joints!r}", joints=joints)
    try:
        chosen = model.actuated if joints is None else tuple(joints)
    except TypeError:
        raise InputError(f"joints must list the names of joints, got {joints!r}", joints=joints) from None
    names: list[str] = []
    at: list[int] = []
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
        names += coordinate_names(model)[joint.iv : joint.iv + joint.nv]
        at += range(joint.iv, joint.iv + joint.nv)
    if len(set(at)) < len(at):
        raise InputError(f"joints names one twice: {', '.join(chosen)}; name each once", joints=chosen)
    return Inputs(tuple(names), np.eye(model.nv)[:, at], {})


@public
def thruster_inputs(model: Model, thrusters: Mapping[str, ArrayLike]) -> Inputs:
    """An input for each frame: {"nozzle": [0, 0, 1, 0, 0, 0]} is the wrench [force; torque] per unit, in the frame's axes.

    Errors: InputError for wrenches that are not six finite numbers, or all zero; UnknownNameError.
    """
    if not isinstance(thrusters, Mapping):
        example = '{"nozzle": [0, 0, 1, 0, 0, 0]}'
        raise InputError(f"thrusters must map frames to wrenches per unit, as in {example}, got {thrusters!r}")
    wrenches = {}
    for k, (frame, wrench) in enumerate(thrusters.items()):
        model.frame(frame)
        w = real_array(f"the wrench of {frame!r}", wrench)
        if w.shape != (6,) or not np.isfinite(w).all() or not w.any():
            raise InputError(f"the wrench of {frame!r} must be six finite numbers, not all zero, got {wrench!r}", frame=frame)
        wrenches[frame] = np.zeros((6, len(thrusters)))
        wrenches[frame][:, k] = w
    return Inputs(tuple(thrusters), np.zeros((model.nv, len(thrusters))), wrenches)


@public
def wrench_inputs(model: Model, frame: str) -> Inputs:
    """Six inputs: force (N) and torque (N m) on a frame, along its axes: what clustered thrusters or reaction wheels give.

    Errors: UnknownNameError.
    """
    model.frame(frame)
    names = tuple(f"{frame} {what} {axis}" for what in ("force", "torque") for axis in AXES)
    return Inputs(names, np.zeros((model.nv, 6)), {frame: np.eye(6)})


@public
def rotor_inputs(model: Model, drag: float = DRAG) -> Inputs:
    """The thrusts (N) of propellers at the sites rotor_1 ... rotor_n of `robots.aerial_manipulator`.

    Each pushes along its site's z; odd ones spin counter-clockwise, so that the air turns the body clockwise with `drag`
    N m per N, even ones the other way. Thrust may have either sign: limits are the controller's matter.
    Errors: InputError for a robot without such sites, and for a drag that is no finite number.
    """
    if isinstance(drag, bool) or not isinstance(drag, int | float) or not np.isfinite(drag):
        raise InputError(f"drag must be a finite number of N m per N, got {drag!r}", drag=drag)
    rotors = sorted((f for f in model.frame_names if re.fullmatch(r"rotor_\d+", f)), key=lambda f: int(f[6:]))
    if not rotors:
        raise unknown_name("frame", "rotor_1", model.frame_names, "Use thruster_inputs for frames of other names.")
    signs = {f: -1.0 if int(f[6:]) % 2 else 1.0 for f in rotors}
    return thruster_inputs(model, {f: [0.0, 0.0, 1.0, 0.0, 0.0, signs[f] * drag] for f in rotors})


def resolve_inputs(model: Model, inputs: Any, constraints: ConstraintSet | None = None) -> Inputs:
    """The inputs meant: those given, or the actuated joints for None; InputError for what is not of this robot, and for trees whose
    loops nothing holds."""
    held = isinstance(constraints, ConstraintSet) and bool(constraints.loop_names)
    if has_loops(model) and not model.reduction and not held:
        raise InputError(
            f"the loops of {model.name!r} are open: as a tree it has neither equilibria nor regulators that its robot has. Close "
            "them: freeflyer.close_loops(model)", model=model.name,
        )  # fmt: skip
    if inputs is None:
        return joint_inputs(model)
    if not isinstance(inputs, Inputs):
        raise InputError(f"inputs must be Inputs (see joint_inputs, rotor_inputs, wrench_inputs), got {type(inputs).__name__}")
    if inputs.joints.shape[0] != model.nv:
        raise InputError(f"inputs are of a robot with nv = {inputs.joints.shape[0]}, this one has nv = {model.nv}: make them of it")
    for frame in inputs.wrenches:
        model.frame(frame)
    return inputs
