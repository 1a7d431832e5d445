"""What is timed: one row per algorithm, and how to call ours for one state and for a batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.bench.clock import Call
from freeflyer.analysis.states import States


@dataclass(frozen=True)
class Algorithm:
    """`name` is a function of freeflyer; `arguments` are fields of States, or `frame`.

    `axes`: which axes of a result for one state run over velocity coordinates.
    """

    name: str
    arguments: tuple[str, ...]
    axes: tuple[int, ...] = ()


ALGORITHMS = (
    Algorithm("inverse_dynamics", ("q", "v", "a"), (0,)),
    Algorithm("forward_dynamics", ("q", "v", "tau"), (0,)),
    Algorithm("mass_matrix", ("q",), (0, 1)),
    Algorithm("inverse_mass_matrix", ("q",), (0, 1)),
    Algorithm("bias_forces", ("q", "v"), (0,)),
    Algorithm("gravity_forces", ("q",), (0,)),
    Algorithm("coriolis_matrix", ("q", "v"), (0, 1)),
    Algorithm("frame_jacobian", ("q", "frame"), (1,)),
    Algorithm("kinematics", ("q", "v")),
    Algorithm("centroidal_momentum_matrix", ("q",), (1,)),
    Algorithm("centroidal_bias", ("q", "v")),
    Algorithm("center_of_mass", ("q",)),
    Algorithm("kinetic_energy", ("q", "v")),
    Algorithm("potential_energy", ("q",)),
    Algorithm("inverse_dynamics_derivatives", ("q", "v", "a"), (1, 2)),
    Algorithm("forward_dynamics_derivatives", ("q", "v", "tau"), (1, 2)),
    Algorithm("frame_velocity_derivatives", ("q", "v", "frame"), (2,)),
    Algorithm("frame_acceleration_derivatives", ("q", "v", "a", "frame"), (2,)),
    Algorithm("centroidal_momentum_rate_derivatives", ("q", "v", "a"), (2,)),
)
USUAL = tuple(a.name for a in ALGORITHMS if not a.name.endswith("_derivatives"))  # what a report times: quick to compile
BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}


def single_call(model: Any, algorithm: Algorithm, x: States, frame: str) -> Call:
    """A call without arguments that evaluates the algorithm at the first of the states."""
    return _bound(getattr(ff, algorithm.name), model, _arguments(algorithm, x, frame, 0))


def batch_call(model: Any, algorithm: Algorithm, x: States, frame: str) -> Call:
    """A call without arguments that evaluates all states at once, into a preallocated output where there is `out=`."""
    function = getattr(ff, algorithm.name)
    arguments = _arguments(algorithm, x, frame, slice(None))
    if "out" in inspect.signature(function).parameters:
        first = function(model, *arguments)
        return lambda: function(model, *arguments, out=first)
    return _bound(function, model, arguments)


def _arguments(algorithm: Algorithm, x: States, frame: str, which: int | slice) -> tuple[Any, ...]:
    parts = (frame if name == "frame" else getattr(x, name)[which] for name in algorithm.arguments)
    return tuple(np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in parts)


def _bound(function: Callable[..., object], model: Any, arguments: tuple[Any, ...]) -> Call:
    """Fixed argument counts, so that the wrapper costs as little as the wrapper around a peer."""
    if len(arguments) == 1:
        (a,) = arguments
        return lambda: function(model, a)
    if len(arguments) == 2:
        a, b = arguments
        return lambda: function(model, a, b)
    if len(arguments) == 3:
        a, b, c = arguments
        return lambda: function(model, a, b, c)
    a, b, c, d = arguments
    return lambda: function(model, a, b, c, d)


def outermost_frame(model: Any) -> str:
    """The link that the most joints carry: the longest Jacobian of the robot."""
    from freeflyer.analysis.geometry import links_in_tree_order

    deepest = max(links_in_tree_order(model.description), key=lambda row: row[2])
    return deepest[0].name
