"""The timed algorithms: one row for each, and how to call ours for one state and for a batch; a simulation's step; and the
robots that this machine has."""

from __future__ import annotations

import inspect
import os
import sysconfig
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer import contacts, robots
from freeflyer.analysis.checks.inertias import links_in_tree_order
from freeflyer.analysis.checks.laws import States
from freeflyer.analysis.timing.results import Call, StepTiming, time_interleaved
from freeflyer.contacts.constrained_dynamics import project_velocity
from freeflyer.contacts.sets.constraint_set import ConstraintSet
from freeflyer.dynamics import ForwardDynamicsDerivatives, frame_jacobian, frame_set
from freeflyer.errors import FreeflyerError
from freeflyer.linkages.closing import close_loops
from freeflyer.model import Model, random_configuration
from freeflyer.model.load import load
from freeflyer.progress import Progress
from freeflyer.sim.simulating import simulate


class Algorithm(namedtuple("Algorithm", "name arguments axes", defaults=((),))):
    """`name` is a function of freeflyer, and after a comma a further argument: "gravity", or a number of wrenches (prepared), of
    frames, or of contacts that hold frames in all directions. `arguments` are fields of States, or `frame`; `axes`: which of a
    result's axes for one state run over velocity coordinates."""

    @property
    def function(self) -> Any:
        """The function of freeflyer."""
        return getattr(import_module("freeflyer"), self.name.partition(",")[0])

    @property
    def variant(self) -> str:
        """Further arguments."""
        return self.name.partition(", ")[2]

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
    Algorithm("all_terms, 4 frames", ("q", "v"), (0, 1)),
    Algorithm("constrained_dynamics, 2 contacts", ("q", "v", "tau"), (0,)),
    Algorithm("constrained_dynamics_derivatives, 2 contacts", ("q", "v", "tau"), (1, 2)))  # fmt: skip
INDEPENDENT = 1e-2  # smallest singular value of the Jacobian of frames that contacts may hold
MOST_FRAMES = max(algorithm.frames for algorithm in ALGORITHMS)
# what a report times: quick to compile
USUAL = tuple(a.name for a in ALGORITHMS if not (a.variant or a.name.endswith("_derivatives")))
BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}


def into_memory(algorithm: Algorithm, call: Any) -> Call | None:
    """The same call with `out=` an earlier result; None for a function without it."""
    return partial(call, out=call()) if "out" in inspect.signature(algorithm.function).parameters else None


def call_of(model: Any, algorithm: Algorithm, x: States, frame: str, which: int | slice = 0) -> Any:
    """A call without arguments that evaluates the algorithm at some of the states, the first by default."""
    function, variant = algorithm.function, algorithm.variant
    given = (frame if name == "frame" else getattr(x, name)[which] for name in algorithm.arguments)
    arguments = [np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in given]
    if variant == "gravity":
        return partial(function, model, *arguments, gravity=np.array(model.gravity))
    if "contacts" in variant:
        held = ConstraintSet(model, contacts=tuple(map(contacts.surface, held_frames(model, algorithm.frames))), loops=False)
        call = partial(function, model, *_regular(held, arguments), constraints=held)
        if "derivatives" in algorithm.name:
            return lambda: ForwardDynamicsDerivatives(*(d.a for d in call()))
        return lambda: call().a
    frames = frame_set(model, *outer_frames(model)[: algorithm.frames])
    if "wrench" in variant:
        W = wrenches(x.count)[which][..., : algorithm.frames, :]
        return partial(function, model, *arguments, external=(frames, np.ascontiguousarray(W)))
    if "frames" in variant:
        return partial(function, model, *arguments, frames=frames, expressed="mixed")
    return partial(function, model, *arguments)


def _regular(held: ConstraintSet, arguments: list[Any]) -> list[Any]:
    """The same states, but a regular one in place of those near which the rows of a set depend on each other and may contradict."""
    regular = np.linalg.svd(held.jacobian(arguments[0]), compute_uv=False)[..., -1:] > INDEPENDENT**2
    return [np.where(regular, x, x[np.argmax(regular)]) for x in arguments] if regular.ndim > 1 else arguments


@lru_cache(maxsize=4)
def wrenches(states: int) -> np.ndarray:
    """Wrenches (states, MOST_FRAMES, 6) of some ten newtons, the same each time."""
    return 10.0 * np.random.default_rng(5).standard_normal((states, MOST_FRAMES, 6))


def outer_frames(model: Any) -> tuple[str, ...]:
    """Up to MOST_FRAMES links that move: ends of branches first, of these and of the others those that the most joints carry."""
    parents = {joint.parent for joint in model.description.joints}
    moving = [row for row in links_in_tree_order(model.description) if row[2] > 0]
    moving.sort(key=lambda row: (row[0].name in parents, -row[2]))
    return tuple(row[0].name for row in moving[:MOST_FRAMES])


def outermost_frame(model: Any) -> str:
    """The link that the most joints carry: the longest Jacobian of the robot."""
    return max(links_in_tree_order(model.description), key=lambda row: row[2])[0].name


def has_enough_links(model: Any, algorithm: Algorithm) -> bool:
    """Whether the robot has as many links as the algorithm's wrenches or contacts need."""
    if "contacts" in algorithm.variant:  # each holds six velocities, and the base moves
        return model.nv >= 6 * algorithm.frames + 6 and len(held_frames(model, algorithm.frames)) == algorithm.frames
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


DT, COUNT = 1e-3, 1000
INTEGRATORS = ("rk4", "semi-implicit")


def step_times(models: Iterable[Model], blocks: int, progress: Progress) -> tuple[StepTiming, ...]:
    """us a step of each integrator, on each robot; "rk4, contacts": standing on its feet, where it has some by name."""
    found = []
    for robot in models:
        progress(0.0, f"{robot.name}: steps")
        model = close_loops(robot)
        q, v = start_of_steps(model)
        ours: dict[str, Callable[[], object]] = {name: run_of(model, q, v, None, name) for name in INTEGRATORS}
        ours |= _standing(model, q, v)
        times = time_interleaved([*ours.values()], blocks, 0.03)
        found += [StepTiming(model.name, name, time / COUNT) for name, time in zip(ours, times)]
    return tuple(found)


def start_of_steps(model: Model) -> tuple[np.ndarray, np.ndarray]:
    return model.neutral, 0.1 * np.random.default_rng(1).standard_normal(model.nv)


def run_of(model: Model, q: np.ndarray, v: np.ndarray, held: Any, integrator: str) -> Callable[[], object]:
    return lambda: simulate(model, q, v, dt=DT, duration=DT * COUNT, constraints=held, integrator=integrator)


def _standing(model: Model, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], object]]:
    try:
        stance = ConstraintSet(model, contacts.feet_by_name(model))
        return {"rk4, contacts": run_of(model, q, project_velocity(model, q, v, constraints=stance), stance, "rk4")}
    except FreeflyerError:
        return {}


def default_robots() -> Iterator[Model]:
    """TALOS (example-robot-data), a floating chain of 50 links, the humanoid, a quadruped, arms of 1, 2 and 6 joints; of folder
    FREEFLYER_MODELS TOCABI, and with loops the five-bar, Cassie and Kangaroo."""
    talos = example_urdf("talos_reduced.urdf")
    if talos is not None:
        yield load(talos)
    yield from (robots.chain(50, base="free"), robots.make("humanoid"), robots.make("quadruped"), *map(robots.chain, (6, 2, 1)))
    if not os.environ.get("FREEFLYER_MODELS"):
        return
    folder = Path(os.environ["FREEFLYER_MODELS"])
    if tocabi := sorted((folder / "tocabi").glob("*.urdf")):
        yield load(tocabi[0])
    five_bar = folder / "five_bar"
    if (five_bar / "robot.yaml").is_file():
        yield load(five_bar / "robot.urdf", base="fixed", loops=five_bar / "robot.yaml")
    for path in (folder / "cassie" / "cassie.xml", folder / "kangaroo" / "kangaroo.xml"):
        if path.is_file():
            yield load(path)


def example_urdf(name: str) -> Path | None:
    """The URDF of that name in the example-robot-data package, None where it is not installed."""
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    return next(iter(sorted(folder.rglob(name))), None) if folder.is_dir() else None
