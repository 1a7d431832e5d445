"""Entries of one robot: an entry's checks and batches around code without loops in the place of its kernel.

Wrenches on frames, of which a call may name any, keep their general code. Frames that are named beforehand have code of their own
each; the kernel serves the others.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from freeflyer.kernels.backend import copy_entries
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.meanings.arguments import compiled_only
from freeflyer.kernels.compiler.meanings.memory import plus, times
from freeflyer.kernels.compiler.one_robot import tracing
from freeflyer.kernels.compiler.one_robot.expressions import Refused as Refused
from freeflyer.kernels.compiler.one_robot.pairs import Pairs, pairs
from freeflyer.kernels.compiler.one_robot.tracing import Formulas, formulas
from freeflyer.kernels.compiler.one_robot.writing import GROUPS, Writer, count_of, each_group, workspace_of_groups
from freeflyer.kernels.entries import ALL_TERMS
from freeflyer.kernels.entry import OPTIONS, Entry, formula, kernel_function, value
from freeflyer.kernels.model.layout import FRAMES, N_V, TABLE_AT, TABLE_KIND
from freeflyer.kernels.tree.rnea import add_loads

Write = Callable[..., None]  # write(e, topology, parameters, inputs..., options..., outputs...)
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

    of: Robot | None = None

    @cached_property
    def groups(self) -> int:  # type: ignore[override]
        """Packs that the function for a batch takes at a time: one where the code stays near for the next."""
        if self.of is None or self.options or self.name.startswith(ALL_TERMS.name):
            return GROUPS
        return 1 if len(_of(self, self.of).expressions) < NEAR else GROUPS

    @cached_property
    def picks(self) -> tuple[list[int] | None, ...]:  # type: ignore[override]
        """For each matrix which of the numbers that batches compute are its entries: many are zero, or the same."""
        if self.of is None or self.options or max(map(len, self.outputs)) < 2 or self.name.startswith(ALL_TERMS.name):
            return ()
        orders = [{x: k for k, x in enumerate(dict.fromkeys(row))} for row in _of(self, self.of).outputs]
        return tuple([order[x] for x in row] if len(shape) == 2 else None
                     for order, row, shape in zip(orders, _of(self, self.of).outputs, self.outputs))  # fmt: skip

    @property
    def robot(self) -> str:
        return self.of.digest if self.of else ""

    @cached_property
    def function(self) -> Write:
        assert self.of is not None
        if "w" in self.inputs:
            write = _loaded(self, self.of)
        elif self.name.startswith(ALL_TERMS.name):
            write = _terms(self, self.of)
        else:
            write = _framed(self, self.of) if self.options else _straight(self, self.of)
        return compiled_only(write)


def _of(entry: Entry, robot: Robot) -> Formulas:
    return formulas(entry, robot.topology, robot.parameters, (), robot.free, None)


def robot_entry(entry: Entry, robot: Robot) -> RobotEntry:
    facts = {f.name: getattr(entry, f.name) for f in fields(Entry) if f.init}
    return RobotEntry(**facts | {"name": f"{entry.name}_of_robot"}, of=robot)


def _straight(
    entry: Entry, robot: Robot, options: tuple[int, ...] = (), topology: tuple[int, ...] = (), only: tuple[int, ...] | None = None
) -> Write:
    """An entry's kernel for these options, which calls leave out. `only`: the numbers of outputs that are written; None: all."""

    alone = entry.closed or any(name in entry.name for name in RECURSIONS)

    def write(e: Functions, tree: Any, parameters: Any, *buffers: Any) -> None:
        found = formulas(entry, topology or robot.topology, robot.parameters, options, robot.free, only)
        one = buffers[0].lanes == 1
        if entry.picks and not one:
            distinct = (list(dict.fromkeys(row)) if pick else row for row, pick in zip(found.outputs, entry.picks))
            found = replace(found, outputs=tuple(distinct))
        two = pairs(entry, topology or robot.topology, found) if one else Pairs({})
        count = len(found.expressions) - len(two.second)
        if one and not alone and count > MOST_BY_ROWS:
            raise Refused(f"{count} operations take longer than rows of eight columns")
        Writer(e, found, two, parameters, buffers).write()

    return write


def _each(e: Functions, entry: Entry, tree: Any, buffers: Sequence[Any], run: Callable[..., None], **more: int) -> None:
    """run(buffers of one Pack...) for each Pack, of an entry's inputs and outputs and of `more`, by name with their lengths."""
    sizes = []
    for shape in entry.rows:
        size: Any = 1
        for n in shape:
            size = times(e, size, e.call(value, [formula(n), tree]))
        sizes.append(size)
    strides = dict(zip(buffers, [*sizes, *more.values()], strict=True))
    each_group(e, strides, count_of(buffers), lambda here: run(*(here[b] for b in buffers)))


def _loaded(entry: Entry, robot: Robot) -> Write:
    """Inverse or forward dynamics under gravity, and the forces of wrenches by general code."""
    unloaded = Robot(robot.topology, robot.parameters).with_frames()
    dynamics, inverse, nv = _straight(entry, robot, (0,), unloaded), "rnea" in entry.name, robot.topology[N_V]

    def write(e: Functions, tree: Any, parameters: Any, q: Any, v: Any, x: Any, gravity: Any, wrenches: Any, expressed: Any,
              out: Any) -> None:  # fmt: skip
        def subtract(q: Any, v: Any, x: Any, gravity: Any, wrenches: Any, out: Any) -> None:
            e.call(add_loads, [tree, parameters, q, wrenches, expressed, -1.0, out])

        def add(q: Any, v: Any, x: Any, gravity: Any, wrenches: Any, out: Any, forces: Any) -> None:
            e.call(copy_entries, [x, nv, forces])
            e.call(add_loads, [tree, parameters, q, wrenches, expressed, 1.0, forces])

        buffers = q, v, x, gravity, wrenches, out
        if inverse:
            dynamics(e, tree, parameters, *buffers)
            _each(e, entry, tree, buffers, subtract)
        else:
            forces = workspace_of_groups(e, q, nv)
            _each(e, entry, tree, (*buffers, forces), add, forces=nv)
            dynamics(e, tree, parameters, q, v, forces, gravity, wrenches, out)

    return write


Case = tuple[Callable[[], Any], Callable[[], None]]  # a condition, and what is written for it


def _chosen(e: Functions, cases: list[Case], otherwise: Callable[[], None]) -> None:
    """The first case whose condition holds."""
    end = e.new_block()
    for condition, run in cases:
        then, more = e.new_block(), e.new_block()
        e.branch(condition(), then, more)
        e.start(then)
        run()
        e.jump(end)
        e.start(more)
    otherwise()
    e.jump(end)
    e.start(end)


def _same(e: Functions, values: Sequence[Callable[[], Any]], constants: Sequence[int]) -> Any:
    """Whether integers are these; none is read behind one that is not."""
    return e.short_circuit([lambda x=x, c=c: e.compared(ast.Eq, x(), c) for x, c in zip(values, constants, strict=True)], False)


def _framed(entry: Entry, robot: Robot) -> Write:
    """A frame's pose, Jacobian or motion, for each frame that is named and each expression."""
    general, count, inputs = kernel_function(entry.source), len(entry.options), entry.input_count
    ways = list(product(robot.frames, *(range(OPTIONS[name][2]) for name in entry.options[1:])))

    def write(e: Functions, tree: Any, parameters: Any, *given: Any) -> None:
        options, buffers = given[inputs : inputs + count], (*given[:inputs], *given[inputs + count :])

        def case(way: tuple[int, ...]) -> Case:
            return (lambda: _same(e, [lambda x=x: x for x in options], way),
                    lambda: _straight(entry, robot, way)(e, tree, parameters, *buffers))  # fmt: skip

        def other() -> None:
            _each(e, entry, tree, buffers, lambda *b: e.call(general, [tree, parameters, *b[:inputs], *options, *b[inputs:]]))

        _chosen(e, [case(way) for way in ways], other)

    return write


def _terms(entry: Entry, robot: Robot) -> Write:
    """All terms, without frames or with those that are named."""
    general, unnamed = kernel_function(entry.source), Robot(robot.topology, robot.parameters)

    def write(e: Functions, tree: Any, parameters: Any, *given: Any) -> None:
        expressed, buffers, first = given[3], (*given[:3], *given[4:]), e.entry(tree, TABLE_AT)
        state = tree, parameters, *buffers

        def entries(frames: Sequence[int]) -> Any:
            places = [lambda k=k: e.entry(tree, plus(e, first, k)) for k in range(len(frames) + 1)]
            return _same(e, places, (len(frames), *frames))

        def case(frames: tuple[int, ...], k: int) -> Case:
            table = Robot(robot.topology, robot.parameters, frames=frames).with_frames()
            return (lambda: e.compared(ast.Eq, expressed, k), lambda: _straight(entry, robot, (k,), table, OF_FRAMES)(e, *state))

        def terms() -> None:
            _straight(entry, robot, (0,), unnamed.with_frames(), OF_TREE)(e, *state)

        def terms_and_frames() -> None:
            terms()
            _chosen(e, [case(robot.frames, k) for k in range(EXPRESSIONS - 1)], case(robot.frames, EXPRESSIONS - 1)[1])

        def others() -> None:
            _each(e, entry, tree, buffers, lambda *b: e.call(general, [tree, parameters, *b[:3], expressed, *b[3:]]))

        named: list[Case] = [(lambda: entries(robot.frames), terms_and_frames)] if robot.frames else []
        _chosen(e, [(lambda: entries(()), terms), *named], others)

    return write
