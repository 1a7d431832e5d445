"""Robots and states on which the kernels are tried, and entries called as a whole."""

import ctypes
import freeflyer as ff
import numpy as np
from closeness import fresh
from dataclasses import dataclass
from freeflyer.kernels.compiler.calls import python_calls, running
from freeflyer.kernels.entries import ENTRIES
from freeflyer.kernels.entry import OK, Entry
from freeflyer.kernels.model import layout
from freeflyer.kernels.model.layout import LINKAGE_AT
from freeflyer.model.description import JOINT_SIZES
from random_robots import random_inertia as inertia, random_placement as placement
from tangent import state
from typing import Any

TREE = (  # joint kind, parent: a free base with three branches
    ("free", 0), ("revolute", 1), ("helical", 2), ("spherical", 3), ("prismatic", 4), ("continuous", 1),
    ("cylindrical", 6), ("fixed", 7), ("planar", 8), ("universal", 1), ("spherical", 10), ("revolute", 11),
)  # fmt: skip
LOOPS = (  # frames and mask: every number of tied turns, and the world
    ("link5", "link9", (1, 1, 1, 0, 0, 0)),
    ("link8", "tool", (1, 1, 1, 1, 1, 1)),
    ("link3", "link12", (1, 0, 1, 1, 0, 1)),
    ("tool", "link4", (0, 0, 0, 0, 1, 0)),
    ("world", "link7", (0, 1, 0, 0, 0, 1)),
)  # fmt: skip


def tree(mimic: bool = False, seed: int = 1) -> ff.Model:
    """A tree with every joint kind, armatures and a site; with `mimic`, two more joints follow others of it."""
    rng = fresh(seed)
    links = [ff.Link(f"link{k}", inertia(rng)) for k in range(1, len(TREE) + 1)]
    joints = []
    for k, (kind, parent) in enumerate(TREE, 1):
        axis, axis2 = (x / np.linalg.norm(x) for x in rng.standard_normal((2, 3)))
        armature = () if kind in ("free", "fixed", "spherical") else tuple(rng.uniform(0.0, 0.1, JOINT_SIZES[kind][1]))
        joints.append(ff.Joint(f"joint{k}", kind, f"link{parent}" if k > 1 else "world", f"link{k}", placement(rng), axis,
                               axis2, pitch=0.1, armature=armature))  # fmt: skip
    if mimic:
        for k, (leader, ratio) in enumerate((("joint2", -1.5), ("joint5", 0.7))):
            links.append(ff.Link(f"follower{k}", inertia(rng)))
            kind = "revolute" if k == 0 else "prismatic"
            joints.append(ff.Joint(f"mimic{k}", kind, "link3" if k == 0 else "link12", f"follower{k}", placement(rng),
                                   np.array([0.0, 0.6, 0.8]), mimic=ff.Mimic(leader, ratio, 0.2)))  # fmt: skip
    site = ff.Site("tool", "link12", placement(rng))
    loops = [ff.Loop(f"loop{k}", a, b, mask) for k, (a, b, mask) in enumerate(LOOPS)]
    couplings = [ff.Coupling("cubic", "joint2", "joint5", (0.1, -0.5, 0.3, 0.2)), ff.Coupling("held", "joint6", "", (0.4,))]
    return ff.build(ff.Description("zoo", tuple(links), tuple(joints), (site,), tuple(loops), tuple(couplings)))


def states(model: ff.Model, count: int | tuple[int, ...] = (), seed: int = 2) -> tuple[np.ndarray, ...]:
    """Random q, v, and a or tau."""
    return state(model, fresh(seed), (count,) if isinstance(count, int) else count)


def tree_entries() -> dict[str, Entry]:
    """Entries that take any model."""
    return {name: entry for name, entry in ENTRIES.items() if not entry.closed and not entry.table}


def arguments(model: ff.Model, entry: Entry, q: np.ndarray, v: np.ndarray, a: np.ndarray, q1: np.ndarray) -> tuple:
    """The inputs and options of an entry that takes any model: by its letters."""
    pools = {"q": [q, q1], "v": [v, a], "g": [np.array([0.4, -1.1, -9.0])]}
    options = (len(model.frame_names) - 1, 1)[: len(entry.options)]
    return *(pools[letter].pop(0) for letter in entry.inputs), *options


def output_shapes(model: ff.Model, name: str) -> tuple[tuple[int, ...], ...]:
    entry = ENTRIES[name]
    return entry.shapes(model.topology)[entry.input_count :]


def compiled(model: ff.Model, name: str, *arguments: object) -> list[np.ndarray]:
    """The results of an entry for one state, written over NaN."""
    outputs = [np.full(shape, np.nan) for shape in output_shapes(model, name)]
    flat = [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in arguments]
    status, _ = running.state(ENTRIES[name], model.handle, *flat, *outputs)
    assert status == OK, f"{name} refused a good state with status {status}"
    return outputs


@dataclass(frozen=True, eq=False)
class Subject:
    """What an entry is called on: a model's handle, the topology behind it, and a state that it accepts."""

    entry: Entry
    label: str
    handle: Any
    topology: np.ndarray
    inputs: tuple[np.ndarray, ...]
    options: tuple[int, ...]

    @property
    def given(self) -> tuple[np.ndarray, ...]:
        """The inputs as functions for one state take them: wrenches in an array (k, 6)."""
        return tuple(x if axes == 1 else x.reshape(-1, 6) for x, axes in zip(self.inputs, self.entry.input_axes))

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        return self.entry.shapes(self.topology)[self.entry.input_count :]

    def outputs(self) -> list[np.ndarray]:
        return [np.full(shape, np.nan) for shape in self.shapes]


def topology_of(handle: Any) -> np.ndarray:
    """The topology that a handle leads to, as far as entries read sizes from it."""
    address, _ = python_calls.model_record(handle)
    header = np.array((ctypes.c_int64 * layout.HEADER).from_address(address))
    size = int(header[layout.TABLE_AT]) + 8 if header[layout.TABLE_KIND] else layout.HEADER
    return np.array((ctypes.c_int64 * size).from_address(address))


def subject(entry: Entry, model: ff.Model, rng: np.random.Generator, handle: Any = None, q: np.ndarray | None = None,
            shared: tuple[np.ndarray, ...] = (), label: str = "") -> Subject:  # fmt: skip
    """A random state of an entry on a model, or on a handle of it with a table."""
    handle = model.handle if handle is None else handle
    topology = topology_of(handle)
    sizes = entry.sizes(topology)
    inputs = [
        (ff.random_configuration(model, rng) if q is None else q.copy()) if letter == "q" else 0.3 * rng.standard_normal(n)
        for letter, n in zip(entry.inputs, sizes)
    ]
    options = tuple(int(rng.integers(len(model.frame_names) if name == "frame" else 3)) for name in entry.options)
    more = shared or tuple(rng.standard_normal(n) for n in sizes[len(inputs) : entry.input_count])
    return Subject(entry, label or model.name, handle, topology, (*inputs, *more), options)


def takes(entry: Entry, model: ff.Model) -> bool:
    """Whether an entry without a table takes a model."""
    if entry.table:
        return False
    return bool(model.topology[LINKAGE_AT] > 0) if entry.closed else True
