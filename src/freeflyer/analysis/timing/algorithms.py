"""What is timed: one row per algorithm, and how to call ours for one state and for a batch."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from freeflyer import contacts as contact_kinds
from freeflyer.analysis.checks.laws import States
from freeflyer.analysis.timing.clock import Call
from freeflyer.contacts.constrained_derivatives import constrained_dynamics_derivatives
from freeflyer.contacts.constrained_dynamics import constrained_dynamics
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics.derivatives import ForwardDynamicsDerivatives
from freeflyer.dynamics.frame_sets import frame_set
from freeflyer.dynamics.frames import frame_jacobian
from freeflyer.model.configuration import random_configuration


@dataclass(frozen=True)
class Algorithm:
    """`name` is a function of freeflyer, and after a comma what is given besides: "gravity", or a number of wrenches (prepared), of
    frames, or of contacts that hold frames in all directions. `arguments` are fields of States, or `frame`; `axes`: which of a
    result's axes for one state run over velocity coordinates."""

    name: str
    arguments: tuple[str, ...]
    axes: tuple[int, ...] = ()

    @property
    def function(self) -> Any:
        """The function of freeflyer."""
        return getattr(import_module("freeflyer"), self.name.partition(",")[0])

    @property
    def variant(self) -> str:
        """What is given besides."""
        return self.name.partition(", ")[2]

    @property
    def least(self) -> int:
        """The fewest velocity coordinates of a robot on which it is timed: contacts hold six each, and the base moves."""
        return 6 * self.frames + 6 if "contacts" in self.variant else 0

    @property
    def frames(self) -> int:
        """The number of frames on which wrenches act, or whose motions are computed."""
        count = self.variant.partition(" ")[0]
        return int(count) if count.isdecimal() else 0


ALGORITHMS = (Algorithm("inverse_dynamics", ("q", "v", "a"), (0,)), Algorithm("forward_dynamics", ("q", "v", "tau"), (0,)),
    Algorithm("mass_matrix", ("q",), (0, 1)), Algorithm("inverse_mass_matrix", ("q",), (0, 1)),
    Algorithm("bias_forces", ("q", "v"), (0,)), Algorithm("gravity_forces", ("q",), (0,)),
    Algorithm("coriolis_matrix", ("q", "v"), (0, 1)), Algorithm("frame_jacobian", ("q", "frame"), (1,)),
    Algorithm("frame_bias_acceleration", ("q", "v", "frame")), Algorithm("centroidal_momentum_matrix", ("q",), (1,)),
    Algorithm("centroidal_bias", ("q", "v")), Algorithm("center_of_mass", ("q",)), Algorithm("kinetic_energy", ("q", "v")),
    Algorithm("potential_energy", ("q",)), Algorithm("inverse_dynamics_derivatives", ("q", "v", "a"), (1, 2)),
    Algorithm("forward_dynamics_derivatives", ("q", "v", "tau"), (1, 2)),
    Algorithm("frame_velocity_derivatives", ("q", "v", "frame"), (2,)),
    Algorithm("frame_acceleration_derivatives", ("q", "v", "a", "frame"), (2,)),
    Algorithm("centroidal_momentum_rate_derivatives", ("q", "v", "a"), (2,)),
    Algorithm("inverse_dynamics, gravity", ("q", "v", "a"), (0,)),
    Algorithm("inverse_dynamics, 1 wrench", ("q", "v", "a"), (0,)),
    Algorithm("inverse_dynamics, 2 wrenches", ("q", "v", "a"), (0,)),
    Algorithm("inverse_dynamics, 4 wrenches", ("q", "v", "a"), (0,)),
    Algorithm("forward_dynamics, 2 wrenches", ("q", "v", "tau"), (0,)),
    Algorithm("inverse_dynamics_derivatives, 2 wrenches", ("q", "v", "a"), (1, 2)),
    Algorithm("forward_dynamics_derivatives, 2 wrenches", ("q", "v", "tau"), (1, 2)),
    Algorithm("all_terms, 4 frames", ("q", "v"), (0, 1)), Algorithm("constrained_dynamics, 2 contacts", ("q", "v", "tau"),
    (0,)), Algorithm("constrained_dynamics_derivatives, 2 contacts", ("q", "v", "tau"), (1, 2)))  # fmt: skip
INDEPENDENT = 1e-2  # smallest singular value of the Jacobian of frames that contacts may hold
MOST_FRAMES = max(algorithm.frames for algorithm in ALGORITHMS)
# what a report times: quick to compile
USUAL = tuple(a.name for a in ALGORITHMS if not (a.variant or a.name.endswith("_derivatives")))
BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}


def single_call(model: Any, algorithm: Algorithm, x: States, frame: str) -> Call:
    """A call without arguments that evaluates the algorithm at the first of the states."""
    return _call(model, algorithm, x, frame, 0)


def batch_call(model: Any, algorithm: Algorithm, x: States, frame: str) -> Call:
    """A call without arguments that evaluates all states at once."""
    return _call(model, algorithm, x, frame, slice(None))


def into_memory(algorithm: Algorithm, call: Any) -> Call | None:
    """The same call with `out=` an earlier result; None for a function without it."""
    return partial(call, out=call()) if "out" in inspect.signature(algorithm.function).parameters else None


def _call(model: Any, algorithm: Algorithm, x: States, frame: str, which: int | slice) -> Any:
    function, arguments, variant = algorithm.function, _arguments(algorithm, x, frame, which), algorithm.variant
    if variant == "gravity":
        return partial(function, model, *arguments, gravity=np.array(model.gravity))
    if "contacts" in variant:
        contacts = tuple(map(contact_kinds.surface, held_frames(model, algorithm.frames)))
        held = ConstraintSet(model, contacts=contacts, loops=False)
        return partial(_derivatives if "derivatives" in algorithm.name else _accelerations, held, *arguments)
    frames = frame_set(model, *outer_frames(model)[: algorithm.frames])
    if "wrench" in variant:
        W = wrenches(x.count)[which][..., : algorithm.frames, :]
        return partial(function, model, *arguments, external=(frames, np.ascontiguousarray(W)))
    if "frames" in variant:
        return partial(function, model, *arguments, frames=frames, expressed="mixed")
    return partial(function, model, *arguments)


def _accelerations(held: ConstraintSet, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    return constrained_dynamics(held.model, q, v, tau, constraints=held).a


def _derivatives(held: ConstraintSet, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> ForwardDynamicsDerivatives:
    """Of the accelerations."""
    found = constrained_dynamics_derivatives(held.model, q, v, tau, constraints=held)
    return ForwardDynamicsDerivatives(*(d.a for d in found))


@lru_cache(maxsize=4)
def wrenches(states: int) -> np.ndarray:
    """Wrenches (states, MOST_FRAMES, 6) of some ten newtons, the same each time."""
    return 10.0 * np.random.default_rng(5).standard_normal((states, MOST_FRAMES, 6))


def _arguments(algorithm: Algorithm, x: States, frame: str, which: int | slice) -> tuple[Any, ...]:
    parts = (frame if name == "frame" else getattr(x, name)[which] for name in algorithm.arguments)
    return tuple(np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in parts)


def outer_frames(model: Any) -> tuple[str, ...]:
    """Up to MOST_FRAMES links that move: ends of branches first, of these and of the others those that the most joints carry."""
    from freeflyer.analysis.checks.inertias import links_in_tree_order

    parents = {joint.parent for joint in model.description.joints}
    moving = [row for row in links_in_tree_order(model.description) if row[2] > 0]
    moving.sort(key=lambda row: (row[0].name in parents, -row[2]))
    return tuple(row[0].name for row in moving[:MOST_FRAMES])


def outermost_frame(model: Any) -> str:
    """The link that the most joints carry: the longest Jacobian of the robot."""
    from freeflyer.analysis.checks.inertias import links_in_tree_order

    deepest = max(links_in_tree_order(model.description), key=lambda row: row[2])
    return deepest[0].name


def has_enough_links(model: Any, algorithm: Algorithm) -> bool:
    """Whether the robot has as many links as the algorithm's wrenches or contacts need."""
    if "contacts" in algorithm.variant:
        return model.nv >= algorithm.least and len(held_frames(model, algorithm.frames)) == algorithm.frames
    return algorithm.frames <= len(outer_frames(model))


def held_frames(model: Any, count: int) -> tuple[str, ...]:
    """Up to so many links that can be held at once, in all directions, none depending on the others; from the last one back."""
    q = random_configuration(model, np.random.default_rng(0))
    found: list[str] = []
    J = np.zeros((0, model.nv))
    for name in reversed(model.link_names):
        more = np.vstack([J, frame_jacobian(model, q, name)])
        if len(found) < count and len(more) <= model.nv and np.linalg.svd(more, compute_uv=False)[-1] > INDEPENDENT:
            J, found = more, [*found, name]
    return tuple(reversed(found))
