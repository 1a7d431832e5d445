"""Functions that can be exported: public functions, the entries that compute them, and meanings of arguments; the C functions of
one library: their parameters, sizes and scratch, as header, sources and example need them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from freeflyer.errors import InputError, unknown_name
from freeflyer.kernels import entries as E
from freeflyer.kernels.compiler.entry_code import entry_need
from freeflyer.kernels.entry import Entry
from freeflyer.model import Model, random_configuration

USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
ALL = "all"
LISTED = 12  # names that an error of unknown_name lists
MEANINGS = {  # of arguments, unless a function has its own
    "q": "configuration, m and rad; quaternions x y z w of unit length",
    "v": "velocity, m/s and rad/s; of a free joint the body twist [linear; angular]",
    "a": "acceleration, m/s^2 and rad/s^2: the rate of v",
    "tau": "generalised forces, N and N m; of a free joint the wrench [force; torque] in body axes",
    "frame": "number of a frame",
    "expressed": "body, mixed or world expression of the twist"}


class Function(namedtuple("Function", "name entry summary arguments results zero", defaults=((),))):
    """A function to export: the public one's name, the entry that computes it, and a line about its result.

    `arguments` and `results`: inputs and outputs as 'name' or 'name: meaning'. `zero`: inputs that are always zero."""

    def entry_of(self, model: Model) -> Entry:
        """The entry that computes it on a model."""
        entry: Entry = self.entry
        return E.SHARED.get(entry, entry) if model.shared_coordinates else entry

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(x.partition(": ")[0] for x in self.arguments)

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(x.partition(": ")[0] for x in self.results)

    def meaning(self, argument: str) -> str:
        """Meaning and unit of an argument."""
        meanings = {name: text for name, _, text in (x.partition(": ") for x in (*self.arguments, *self.results)) if text}
        return meanings.get(argument) or MEANINGS[argument]


DERIVATIVES = (
    "dq: rows tau, columns the step in q",
    "dv: rows tau, columns v",
    "da: rows tau, columns a; the mass matrix")
INVERSE_DERIVATIVES = (
    "dq: rows a, columns the step in q",
    "dv: rows a, columns v",
    "dtau: rows a, columns tau; the inverse mass matrix")
TWIST = "twist [linear; angular], m/s and rad/s"
RATE = "rate of the twist [linear; angular], m/s^2 and rad/s^2"
MOMENTUM = "[linear; angular about the centre of mass], world axes, kg m/s and kg m^2/s"
FORCE = "[linear; angular about the centre of mass], world axes, N and N m"
POSES = "poses: of the world, then of the bodies: rotation row by row, position in m, in world axes"

# fmt: off
FUNCTIONS: dict[str, Function] = {f.name: f for f in (
    Function("inverse_dynamics", E.RNEA, "tau = M(q) a + bias(q, v)", ("q", "v", "a"), ("tau",)),
    Function("forward_dynamics", E.ABA, "a = M(q)^-1 (tau - bias(q, v))", ("q", "v", "tau"), ("a",)),
    Function("bias_forces", E.RNEA, "Coriolis, centrifugal and gravity forces", ("q", "v", "a"), ("tau",), zero=("a",)),
    Function("gravity_forces", E.GRAVITY, "forces that hold the robot at rest", ("q",), ("tau",)),
    Function("mass_matrix", E.CRBA, "mass matrix, armature included", ("q",), ("M: symmetric; kg, kg m, kg m^2",)),
    Function("inverse_mass_matrix", E.MINV, "inverse of the mass matrix", ("q",), ("Minv: symmetric",)),
    Function("coriolis_matrix", E.CORIOLIS, "C with C v = bias - gravity and dM/dt = C + C^T", ("q", "v"), ("C: C v in N, N m",)),
    Function("coriolis_matrix_hamel", E.HAMEL, "C of the Hamel equations, C v = bias - gravity", ("q", "v"), ("C: C v in N, N m",)),
    *(Function(f"decoupled_{form}", entry, f"M and C of the decoupled equations, {form} form", ("q", "v"), (
        "M: block-diagonal; kg, kg m, kg m^2", "C: C (v_x, v_y) in N, N m",
        "T: [1, M_bb^-1 M_bq], v_x = T v; zero if nothing floats", "T_rate: its rate of change",
    )) for form, entry in (("hamel", E.DECOUPLED_HAMEL), ("passive", E.DECOUPLED_PASSIVE))),
    Function("kinetic_energy", E.KINETIC_ENERGY, "1/2 v^T M v", ("q", "v"), ("energy: J",)),
    Function("potential_energy", E.POTENTIAL_ENERGY, "-mass gravity . centre of mass", ("q",), ("energy: J",)),
    Function("frame_pose", E.FRAME_POSE, "pose of a frame in the world", ("q",), ("X: homogeneous matrix; position in m",)),
    Function("frame_jacobian", E.FRAME_JACOBIAN, "J with J v the twist of a frame", ("q",), ("J: J v is a " + TWIST,)),
    Function("frame_velocity", E.FRAME_VELOCITY, "twist of a frame", ("q", "v"), ("V: " + TWIST,)),
    Function("frame_bias_acceleration", E.FRAME_BIAS, "dJ/dt v of a frame", ("q", "v"), ("A: " + RATE,)),
    Function("frame_acceleration", E.FRAME_ACCELERATION, "J a + dJ/dt v of a frame", ("q", "v", "a"), ("A: " + RATE,)),
    Function("frame_velocity_derivatives", E.FRAME_VELOCITY_DERIVATIVES, "derivatives of frame_velocity", ("q", "v"),
        ("dq: by the step in q", "dv: by v")),
    Function("frame_acceleration_derivatives", E.FRAME_ACCELERATION_DERIVATIVES, "derivatives of frame_acceleration",
        ("q", "v", "a"), ("dq: by the step in q", "dv: by v", "da: by a")),
    Function("center_of_mass", E.COM, "centre of mass of the moving links", ("q",), ("c: m, world axes",)),
    Function("centroidal_momentum_matrix", E.MOMENTUM_MATRIX, "A with A v the centroidal momentum", ("q",),
        ("A: A v is " + MOMENTUM,)),
    Function("centroidal_momentum", E.MOMENTUM, "centroidal momentum", ("q", "v"), ("h: " + MOMENTUM,)),
    Function("centroidal_bias", E.MOMENTUM_BIAS, "rate of the centroidal momentum at a = 0", ("q", "v"), ("b: " + FORCE,)),
    Function("centroidal_momentum_rate", E.MOMENTUM_RATE, "rate of the centroidal momentum", ("q", "v", "a"), ("b: " + FORCE,)),
    Function("centroidal_momentum_derivatives", E.MOMENTUM_DERIVATIVES, "derivatives of centroidal_momentum", ("q", "v"),
        ("dq: by the step in q", "dv: by v")),
    Function("centroidal_momentum_rate_derivatives", E.MOMENTUM_RATE_DERIVATIVES, "derivatives of centroidal_momentum_rate",
        ("q", "v", "a"), ("dq: by the step in q", "dv: by v", "da: by a")),
    Function("integrate", E.INTEGRATE, "q (+) dv: the configuration after a step", ("q", "dv: step, m and rad"),
        ("q_next: configuration",)),
    Function("difference", E.DIFFERENCE, "dv with q0 (+) dv = q1, by the shortest turns",
        ("q0: configuration", "q1: configuration"), ("dv: step, m and rad",)),
    Function("inverse_dynamics_derivatives", E.RNEA_GRADIENT, "derivatives of inverse_dynamics", ("q", "v", "a"), DERIVATIVES),
    Function("forward_dynamics_derivatives", E.ABA_GRADIENT, "derivatives of forward_dynamics", ("q", "v", "tau"),
        INVERSE_DERIVATIVES),
    Function("linearize", E.LINEAR, "dx/dt = A x + B dtau about a state, x = [step in q; step in v]", ("q", "v", "tau"),
        ("A: by x", "B: by tau")),
    Function("body_motions", E.ALL_MOTIONS, "poses, velocities and motion directions of all bodies", ("q", "v"), (
        POSES, "motions: velocity and angular velocity of the origins, then their rates at a = 0, in world axes",
        "columns: motion direction [linear; angular] of each column at its body's origin, in world axes")),
    Function("body_poses", E.ALL_POSES, "poses of all bodies", ("q",), (POSES,)))}


def closed(name: str, entry: Entry, **facts: Any) -> Function:
    """The function of closed models of the same name: v, a and tau are the independent ones."""
    tree = FUNCTIONS[name]
    return tree._replace(entry=entry, **{"summary": f"{tree.summary}, loops closed"} | facts)


CLOSED_FUNCTIONS: dict[str, Function] = {f.name: f for f in (
    closed("inverse_dynamics", E.PROJECTED_INVERSE_DYNAMICS),
    closed("forward_dynamics", E.PROJECTED_FORWARD_DYNAMICS),
    closed("bias_forces", E.PROJECTED_INVERSE_DYNAMICS),
    closed("gravity_forces", E.PROJECTED_INVERSE_DYNAMICS, arguments=("q", "v", "a"), zero=("v", "a")),
    closed("mass_matrix", E.PROJECTED_MASS, summary="mass matrix of the closed robot, armature included"),
    closed("inverse_mass_matrix", E.PROJECTED_INVERSE_MASS),
    *(FUNCTIONS[name] for name in ("potential_energy", "frame_pose", "center_of_mass", "body_poses")),
    closed("integrate", E.MOVE_CLOSED, summary="the configuration after a step, its loops closed again"),
    closed("inverse_dynamics_derivatives", E.PROJECTED_INVERSE_GRADIENT),
    closed("forward_dynamics_derivatives", E.PROJECTED_FORWARD_GRADIENT),
    Function("velocity_map", E.PROJECTION_MAP, "G with G v the velocities of all joints", ("q",), ("G: G v in m/s and rad/s",)),
    Function("expand_motion", E.PROJECTED_MOTION, "velocities and accelerations of all joints", ("q", "v", "a"),
        ("whole_v: m/s and rad/s", "whole_a: m/s^2 and rad/s^2")))}
# fmt: on


def select_functions(names: str | Sequence[str], model: Model | None = None) -> tuple[Function, ...]:
    """The functions of these names, each once. Errors: UnknownNameError, InputError for no names at all."""
    known = CLOSED_FUNCTIONS if model is not None and model.reduction else FUNCTIONS
    if isinstance(names, str):
        names = tuple(filter(None, (x.strip() for x in names.split(","))))
    wanted = tuple(dict.fromkeys(known if tuple(names) == (ALL,) else names))
    if not wanted:
        raise InputError(f"name the functions to export, or '{ALL}': {', '.join(known)}")
    for name in wanted:
        if name not in known:
            rest = ", ".join(list(known)[LISTED:])
            kind = "exportable function" if known is FUNCTIONS else "function exportable for closed models"
            raise unknown_name(kind, name, known, f"The others: {rest}; '{ALL}' for all of them." if rest else "")
    return tuple(known[name] for name in wanted)


SYMBOLS = {"nq": "{0}_NQ", "nv": "{0}_NV", "2 nv": "2 * {0}_NV", "bodies": "{0}_BODIES", "columns": "{0}_COLUMNS"}
CLOSED = SYMBOLS | {"nu": "{0}_NV", "nv": "{0}_WHOLE_NV"}  # of models whose loops are closed


class Array(namedtuple("Array", "name dimensions size meaning")):
    """An array parameter: its C name, the C text of each of its dimensions, how many numbers one state has, and its meaning."""

    @property
    def length(self) -> str:
        """C text of the number of numbers."""
        factors = [f"({d})" if "*" in d and len(self.dimensions) > 1 else d for d in self.dimensions]
        return " * ".join(factors)


class Call(namedtuple("Call", "prefix function entry lanes kernel model")):
    """One C function: of one state if lanes is 1, else of a batch, `lanes` states at a time.

    `kernel`: the symbol of its object code."""

    @property
    def batch(self) -> bool:
        return self.lanes > 1

    @property
    def short_name(self) -> str:
        """Name without the robot's."""
        return self.function.name + ("_batch" if self.batch else "")

    @property
    def name(self) -> str:
        return f"{self.prefix}_{self.short_name}"

    @property
    def scratch_name(self) -> str:
        return f"{self.prefix}_SCRATCH_{self.short_name}".upper()

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """Inputs, also those that are always zero, and outputs."""
        upper, symbols = self.prefix.upper(), CLOSED if self.model.reduction else SYMBOLS
        texts = (tuple(str(n) if isinstance(n, int) else symbols[n].format(upper) for n in shape) for shape in self.entry.rows)
        names, sizes = (*self.function.inputs, *self.function.outputs), self.entry.sizes(self.model.topology)
        rows = zip(names, texts, sizes, map(self.function.meaning, names), strict=True)
        return tuple(map(Array._make, rows))

    @property
    def inputs(self) -> tuple[Array, ...]:
        return self.arrays[: self.entry.input_count]

    @property
    def outputs(self) -> tuple[Array, ...]:
        return self.arrays[self.entry.input_count :]

    @property
    def parameters(self) -> tuple[Array, ...]:
        """The inputs that the C function has."""
        return tuple(x for x in self.inputs if x.name not in self.function.zero)

    @cached_property
    def scratch(self) -> int:
        """Numbers of scratch that the entry needs."""
        return int(entry_need(self.entry, self.lanes)(self.model.topology, self.entry.sizes(self.model.topology)))


class Library(namedtuple("Library", "model prefix cpu calls")):
    """Contents of one folder: a robot's functions, compiled for one CPU."""

    @property
    def upper(self) -> str:
        return self.prefix.upper()

    @property
    def scratch(self) -> int:
        """Numbers of scratch that are enough for each function."""
        return max(call.scratch for call in self.calls)

    @property
    def kernels(self) -> tuple[Call, ...]:
        """One call for each piece of object code."""
        return tuple({call.kernel: call for call in self.calls}.values())


def example_inputs(library: Library) -> dict[str, np.ndarray]:
    """A state for every input that a function may have, by name: always the same numbers."""
    rng, model = np.random.default_rng(0), library.model
    found: dict[str, np.ndarray] = {}
    for name in ("q", "q0", "q1"):
        found[name] = random_configuration(model, rng)
    for name in ("v", "a", "tau", "dv"):
        found[name] = rng.standard_normal(model.nv)
    found["dv"] *= 0.01 if model.reduction else 1.0  # loops do not close again after any step
    used = {x.name for call in library.calls for x in call.parameters}
    return {name: x for name, x in found.items() if name in used}
