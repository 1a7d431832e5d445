"""Entries of one robot: an entry's checks and batches around code without loops in the place of its kernel.

Wrenches on frames, of which a call may name any, keep their general code. Frames that are named beforehand have code of their own
each; the kernel serves the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from freeflyer.kernels.backend import copy_entries, release, taken
from freeflyer.kernels.compiler.entry_code import packs_at
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.meanings.arguments import compiled_only
from freeflyer.kernels.compiler.one_robot import tracing
from freeflyer.kernels.compiler.one_robot.expressions import Refused as Refused
from freeflyer.kernels.compiler.one_robot.pairs import Pairs, pairs
from freeflyer.kernels.compiler.one_robot.writing import GROUPS, Writer, pack_count, workspace_of_groups
from freeflyer.kernels.entries import ALL_TERMS
from freeflyer.kernels.entry import OPTIONS, Entry, kernel_function, length
from freeflyer.kernels.model.layout import FRAMES, N_V, TABLE_AT, TABLE_KIND
from freeflyer.kernels.tree.rnea import add_loads

EXPRESSIONS = 3  # of twists
RECURSIONS = ("rnea", "aba")  # whose general code for one state handles number by number
MOST_BY_ROWS = 17_000  # operations of one state of the others, whose general code handles eight columns at once: measured
NEAR = 4500  # operations whose code for Packs takes half of the fastest memory for instructions, or all
OF_TREE, OF_FRAMES = tuple(range(5)), tuple(range(5, 8))  # outputs of all_terms


@dataclass(frozen=True)
class Robot:
    """A model's numbers. `free`: entries of parameters that stay inputs, each with the entry that is read in its place; `frames`:
    numbers of frames that are named beforehand."""

    topology: tuple[int, ...]
    parameters: tuple[float, ...]
    free: tuple[tuple[int, int], ...] = ()
    frames: tuple[int, ...] = ()

    @cached_property
    def digest(self) -> str:
        kept = np.array(self.parameters)
        kept[[i for i, _ in self.free]] = 0.0
        facts = self.topology, kept.tobytes(), self.free, self.frames, MOST_BY_ROWS, tracing.MOST
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def with_frames(self) -> tuple[int, ...]:
        """The topology with its frames in a table."""
        longer = [*self.topology, len(self.frames), *self.frames]
        longer[TABLE_AT], longer[TABLE_KIND] = len(self.topology), FRAMES
        return tuple(longer)


@dataclass(frozen=True, eq=False)
class RobotEntry(Entry):
    """An entry whose kernel is that of one robot."""

    of: Robot = field(kw_only=True)

    def straight(self) -> tracing.Formulas | None:
        """Its formulas, if its code is without branches."""
        if self.options or self.name.startswith(ALL_TERMS.name):
            return None
        return tracing.formulas(self, self.of.topology, self.of.parameters, (), self.of.free, None)

    @cached_property
    def groups(self) -> int:  # type: ignore[override]
        """Packs that the function for a batch takes at a time: one where the code stays near for the next."""
        found = self.straight()
        return 1 if found and len(found.expressions) < NEAR else GROUPS

    @cached_property
    def picks(self) -> tuple[list[int] | None, ...]:  # type: ignore[override]
        """For each matrix which of the numbers that batches compute are its entries: many are zero, or the same."""
        found = self.straight() if max(map(len, self.outputs)) == 2 else None
        if found is None:
            return ()
        orders = [{x: k for k, x in enumerate(dict.fromkeys(row))} for row in found.outputs]
        return tuple([order[x] for x in row] if len(shape) == 2 else None
                     for order, row, shape in zip(orders, found.outputs, self.outputs))  # fmt: skip

    @property
    def robot(self) -> str:
        return self.of.digest

    @cached_property
    def function(self) -> Callable[..., None]:
        if "w" in self.inputs:
            return _loaded(self, self.of)
        if self.name.startswith(ALL_TERMS.name):
            return _terms(self, self.of)
        return _framed(self, self.of) if self.options else _straight(self, self.of)


def robot_entry(entry: Entry, robot: Robot) -> RobotEntry:
    facts = {f.name: getattr(entry, f.name) for f in fields(Entry) if f.init}
    return RobotEntry(**facts | {"name": f"{entry.name}_of_robot"}, of=robot)


def _straight(
    entry: Entry, robot: Robot, options: tuple[int, ...] = (), topology: tuple[int, ...] = (), only: tuple[int, ...] | None = None
) -> Callable[..., None]:
    """An entry's kernel for these options, which calls leave out. `only`: the numbers of outputs that are written; None: all."""

    alone = entry.closed or any(name in entry.name for name in RECURSIONS)

    @compiled_only
    def straight(e: Functions, tree: Any, parameters: Any, *buffers: Any) -> None:
        found = tracing.formulas(entry, topology or robot.topology, robot.parameters, options, robot.free, only)
        one = buffers[0].lanes == 1
        if entry.picks and not one:
            distinct = (list(dict.fromkeys(row)) if pick else row for row, pick in zip(found.outputs, entry.picks))
            found = replace(found, outputs=tuple(distinct))
        two = pairs(entry, topology or robot.topology, found) if one else Pairs({})
        count = len(found.expressions) - len(two.second)
        if one and not alone and count > MOST_BY_ROWS:
            raise Refused(f"{count} operations take longer than rows of eight columns")
        Writer(e, found, two, parameters, buffers).write()

    return straight


def same(values, constants):
    for x, c in zip(values, constants):
        if x != c:
            return False
    return True


def holds(topology, first, numbers):
    """Whether a topology holds these from `first` on; none is read behind one that differs."""
    for k, n in enumerate(numbers):
        if topology[first + k] != n:
            return False
    return True


def each_pack(function, topology, parameters, inputs, options, outputs, shapes):
    """function(topology, parameters, inputs..., options..., outputs...) for each Pack of states. `shapes`: of one state's inputs
    and outputs, as formulas."""
    buffers, count = (*inputs, *outputs), len(inputs)
    sizes = tuple(length(shape, topology) for shape in shapes)
    for g in range(pack_count(buffers[0])):
        before, packs = taken(buffers[0]), packs_at(buffers, sizes, g)
        function(topology, parameters, *packs[:count], *options, *packs[count:])
        release(buffers[0], before)


def _loaded(entry: Entry, robot: Robot) -> Callable[..., None]:
    """Inverse or forward dynamics under gravity, and the forces of wrenches by general code."""
    unloaded = Robot(robot.topology, robot.parameters).with_frames()
    dynamics, shapes, nv = _straight(entry, robot, (0,), unloaded), entry.formulas, robot.topology[N_V]

    def subtract(topology, parameters, q, v, a, gravity, wrenches, expressed, tau):
        add_loads(topology, parameters, q, wrenches, expressed, -1.0, tau)

    def add(topology, parameters, q, v, tau, gravity, wrenches, expressed, forces):
        copy_entries(tau, nv, forces)
        add_loads(topology, parameters, q, wrenches, expressed, 1.0, forces)

    def inverse(topology, parameters, q, v, a, gravity, wrenches, expressed, tau):
        dynamics(topology, parameters, q, v, a, gravity, wrenches, tau)
        each_pack(subtract, topology, parameters, (q, v, a, gravity, wrenches), (expressed,), (tau,), shapes)

    def forward(topology, parameters, q, v, tau, gravity, wrenches, expressed, a):
        forces = workspace_of_groups(q, nv)
        each_pack(add, topology, parameters, (q, v, tau, gravity, wrenches), (expressed,), (forces,), shapes)
        dynamics(topology, parameters, q, v, forces, gravity, wrenches, a)

    return inverse if "rnea" in entry.name else forward


def _framed(entry: Entry, robot: Robot) -> Callable[..., None]:
    """A frame's pose, Jacobian or motion, for each frame that is named and each expression."""
    general, shapes, first = kernel_function(entry.source), entry.formulas, entry.input_count
    end = first + len(entry.options)
    ways = product(robot.frames, *(range(OPTIONS[name][2]) for name in entry.options[1:]))
    cases = tuple((way, _straight(entry, robot, way)) for way in ways)

    def framed(topology, parameters, *given):
        inputs, options, outputs = given[:first], given[first:end], given[end:]
        for way, straight in cases:
            if same(options, way):
                straight(topology, parameters, *inputs, *outputs)
                return
        each_pack(general, topology, parameters, inputs, options, outputs, shapes)

    return framed


def _terms(entry: Entry, robot: Robot) -> Callable[..., None]:
    """All terms, without frames or with those that are named."""
    general, shapes, frames = kernel_function(entry.source), entry.formulas, (len(robot.frames), *robot.frames)
    unnamed, named = (Robot(robot.topology, robot.parameters, frames=x).with_frames() for x in ((), robot.frames))
    tree = _straight(entry, robot, (0,), unnamed, OF_TREE)
    cases = tuple((k, _straight(entry, robot, (k,), named, OF_FRAMES)) for k in range(EXPRESSIONS if robot.frames else 0))

    def terms(topology, parameters, q, v, gravity, expressed, *outputs):
        inputs, first = (q, v, gravity), topology[TABLE_AT]
        if topology[first] == 0:
            tree(topology, parameters, *inputs, *outputs)
        elif len(cases) > 0 and holds(topology, first, frames):
            tree(topology, parameters, *inputs, *outputs)
            for k, straight in cases:
                if expressed == k:
                    straight(topology, parameters, *inputs, *outputs)
        else:
            each_pack(general, topology, parameters, inputs, (expressed,), outputs, shapes)

    return terms
