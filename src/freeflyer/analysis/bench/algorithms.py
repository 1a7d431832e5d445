"""What is timed: one row per algorithm, and how to call ours for one state and for a batch."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

import freeflyer as ff
from freeflyer.analysis.bench.clock import Call
from freeflyer.analysis.states import States


@dataclass(frozen=True)
class Algorithm:
    """`name` is a function of freeflyer, with what is given besides; `arguments` are fields of States, or `frame`.

    `axes`: which axes of a result for one state run over velocity coordinates. `given`: "wrenches" on WRENCHES frames, prepared;
    "gravity"; or "frames", FRAMES of them.
    """

    name: str
    arguments: tuple[str, ...]
    axes: tuple[int, ...] = ()
    given: str = ""

    @property
    def function(self) -> Any:
        """The function of freeflyer."""
        return getattr(ff, self.name.partition(",")[0])


ALGORITHMS = (
    Algorithm("inverse_dynamics", ("q", "v", "a"), (0,)),
    Algorithm("forward_dynamics", ("q", "v", "tau"), (0,)),
    Algorithm("mass_matrix", ("q",), (0, 1)),
    Algorithm("inverse_mass_matrix", ("q",), (0, 1)),
    Algorithm("bias_forces", ("q", "v"), (0,)),
    Algorithm("gravity_forces", ("q",), (0,)),
    Algorithm("coriolis_matrix", ("q", "v"), (0, 1)),
    Algorithm("frame_jacobian", ("q", "frame"), (1,)),
    Algorithm("frame_bias_acceleration", ("q", "v", "frame")),
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
    Algorithm("inverse_dynamics, gravity", ("q", "v", "a"), (0,), "gravity"),
    Algorithm("inverse_dynamics, 2 wrenches", ("q", "v", "a"), (0,), "wrenches"),
    Algorithm("forward_dynamics, 2 wrenches", ("q", "v", "tau"), (0,), "wrenches"),
    Algorithm("inverse_dynamics_derivatives, 2 wrenches", ("q", "v", "a"), (1, 2), "wrenches"),
    Algorithm("forward_dynamics_derivatives, 2 wrenches", ("q", "v", "tau"), (1, 2), "wrenches"),
    Algorithm("all_terms, 4 frames", ("q", "v"), (0, 1), "frames"),
)
WRENCHES, FRAMES = 2, 4
# what a report times: quick to compile
USUAL = tuple(a.name for a in ALGORITHMS if not (a.given or a.name.endswith("_derivatives")))
BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}


def single_call(model: Any, algorithm: Algorithm, x: States, frame: str) -> Call:
    """A call without arguments that evaluates the algorithm at the first of the states."""
    return _call(model, algorithm, x, frame, 0)


def batch_call(model: Any, algorithm: Algorithm, x: States, frame: str) -> Call:
    """A call without arguments that evaluates all states at once, into a preallocated output where there is `out=`."""
    call = _call(model, algorithm, x, frame, slice(None))
    return partial(call, out=call()) if "out" in inspect.signature(algorithm.function).parameters else call


def _call(model: Any, algorithm: Algorithm, x: States, frame: str, which: int | slice) -> Any:
    function, arguments = algorithm.function, _arguments(algorithm, x, frame, which)
    if algorithm.given == "gravity":
        return partial(function, model, *arguments, gravity=np.array(model.gravity))
    if algorithm.given == "wrenches":
        frames = ff.frame_set(model, *outer_frames(model)[:WRENCHES])
        return partial(function, model, *arguments, (frames, np.ascontiguousarray(wrenches(x.count, len(frames))[which])))
    if algorithm.given == "frames":
        return partial(function, model, *arguments, frames=ff.frame_set(model, *outer_frames(model)))
    return partial(function, model, *arguments)


@lru_cache(maxsize=4)
def wrenches(states: int, count: int) -> np.ndarray:
    """Wrenches (states, count, 6) of some ten newtons, the same each time."""
    return 10.0 * np.random.default_rng(5).standard_normal((states, count, 6))


def _arguments(algorithm: Algorithm, x: States, frame: str, which: int | slice) -> tuple[Any, ...]:
    parts = (frame if name == "frame" else getattr(x, name)[which] for name in algorithm.arguments)
    return tuple(np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in parts)


def outer_frames(model: Any) -> tuple[str, ...]:
    """Links at the ends of FRAMES branches at most, those that the most joints carry first."""
    from freeflyer.analysis.geometry import links_in_tree_order

    parents = {joint.parent for joint in model.description.joints}
    ends = sorted(links_in_tree_order(model.description), key=lambda row: -row[2])
    return tuple(row[0].name for row in ends if row[0].name not in parents and row[2] > 0)[:FRAMES]


def outermost_frame(model: Any) -> str:
    """The link that the most joints carry: the longest Jacobian of the robot."""
    from freeflyer.analysis.geometry import links_in_tree_order

    deepest = max(links_in_tree_order(model.description), key=lambda row: row[2])
    return deepest[0].name
