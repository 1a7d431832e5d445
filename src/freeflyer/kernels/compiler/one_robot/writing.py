"""Formulas as LLVM code without loops, of one state or of a Pack.

Sines and cosines come first, by the kernel that computes them everywhere. The rest is cut into functions of a length that LLVM
handles well; what one of them leaves for others lies in memory on the stack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.meanings import memory
from freeflyer.kernels.compiler.meanings.arguments import Groups
from freeflyer.kernels.compiler.meanings.vectors import absolute, intrinsic, select_less
from freeflyer.kernels.compiler.one_robot.expressions import Expression, needed, operands
from freeflyer.kernels.compiler.one_robot.tracing import PARAMETERS, Formulas, angles
from freeflyer.kernels.math import trig

PART = 1500  # expressions of a function
FLAGS = "nsz arcp contract "  # sums keep their order: other orders take half as much code again
GROUPS = 4  # Packs that go through one part of the code before the next is read
LOADED = ("input", "sin", "cos")  # operations whose results lie in memory
Here = dict[K.Buffer, K.Buffer]  # buffers of all Packs -> of one
Stores = dict[Expression, list[tuple[K.Buffer, int]]]
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{sign: (lambda e, a, b, op=op: e.binary(op, a, b)) for sign, op in
       {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div}.items()},
    "negative": lambda e, a: e.negated(a), "abs": absolute, "sqrt": lambda e, a: intrinsic(e, "sqrt", a), "select": select_less,
    "atan2": lambda e, y, x: e.call(trig.atan2, [y, x]),
}  # fmt: skip


class Writer:
    """Writes formulas into the function of `e`, which is given buffers for the robot's numbers, inputs and outputs.

    Buffers hold one state, a Pack, or several Packs: then a part of the code serves all of them before the next part is read."""

    def __init__(self, e: Functions, found: Formulas, parameters: K.Buffer, buffers: tuple[K.Buffer, ...]) -> None:
        self.e, self.found, self.lanes, self.record = e, found, buffers[0].lanes, buffers[0].record
        self.count = count_of(buffers)
        count, sizes = len(buffers) - len(found.outputs), (*found.inputs, *map(len, found.outputs))
        self.strides = dict(zip(buffers, sizes, strict=True)) | {parameters: 0}
        self.inputs = {PARAMETERS: parameters, **dict(enumerate(buffers[:count]))}
        self.outputs = buffers[count:]
        self.angles = {x: k for k, x in enumerate(angles(found.expressions))}
        self.row = -(-len(self.angles) // K.LANES) * K.LANES

    def write(self) -> None:
        body = [x for x in self.found.expressions if x.operation not in LOADED]
        parts = [body[k : k + PART] for k in range(0, len(body), PART)] or [[]]
        slots, size = kept_slots(parts)
        self.trig, self.kept = self.memory(3 * self.row), self.memory(size)
        if self.angles:
            self.sines()
        stores: dict[Expression, list[tuple[K.Buffer, int]]] = {x: [(self.kept, slot)] for x, slot in slots.items()}
        constants = []
        for b, row in zip(self.outputs, self.found.outputs, strict=True):
            for i, x in enumerate(row):
                if type(x) is Expression:
                    stores.setdefault(x, []).append((b, i))
                else:
                    constants.append((b, i, x))
        first = [x for x in stores if x.operation in LOADED]
        for k, part in enumerate(parts):
            call = self.part([*first, *part] if k == 0 else part, slots, stores, constants if k == 0 else [])
            each_group(self.e, self.strides, self.count, call)

    def sines(self) -> None:
        """Sines and cosines of all angles."""
        angle = self.part(needed(self.angles), {}, {x: [(self.trig, k)] for x, k in self.angles.items()}, [
            (self.trig, k, 0.0) for k in range(len(self.angles), self.row)])  # fmt: skip

        def call(here: Here) -> None:
            angle(here)
            self.e.call(trig.sincos_row, [here[self.trig], 0, self.row, 2 * self.row, self.row])

        each_group(self.e, self.strides, self.count, call)

    def memory(self, n: int) -> K.Buffer:
        """n entries on the stack, of each Pack."""
        count = max(n, 1) * (1 if self.count is None else GROUPS)
        kind = "double" if self.lanes == 1 else K.pack(self.lanes).llvm
        made = K.Buffer(self.lanes, self.e.allocate(f"[{count} x {kind}], align 64"), self.record)
        self.strides[made] = max(n, 1)
        return made

    def part(self, expressions: list[Expression], slots: dict[Expression, int], stores: Stores,
             constants: list[tuple[K.Buffer, int, float]]) -> Callable[[Here], None]:  # fmt: skip
        """Writes a function that computes expressions, and stores some, and constants; how it is called."""
        e, part = self.e, Functions(self.e.made, self.e.scope)
        part.flags = FLAGS
        given = list(self.strides)
        names = [part.new() for _ in given]
        here = {b: K.Buffer(b.lanes, name, "null") for b, name in zip(given, names)}
        values: dict[Expression, Any] = {}

        def load(x: Expression) -> K.Register:
            if x.operation == "input":
                b, i = self.inputs[x.operands[0]], x.operands[1]
            elif x.operation in LOADED:
                b, i = self.trig, self.row * LOADED.index(x.operation) + self.angles[x.operands[0]]
            else:
                b, i = self.kept, slots[x]
            return memory.load(part, b.scalar, memory.pointer(part, here[b], i))

        def value(x: Any) -> Any:
            if type(x) is Expression and x not in values:
                values[x] = load(x)
            return values[x] if type(x) is Expression else x

        def store(b: K.Buffer, i: int, x: Any) -> None:
            memory.store(part, b.scalar, x, memory.pointer(part, here[b], i))

        for b, i, number in constants:
            store(b, i, float(number))
        for x in expressions:
            if x.operation in OPERATIONS:
                values[x] = OPERATIONS[x.operation](part, *map(value, x.operands))
            for b, i in stores.get(x, ()):
                store(b, i, value(x))
        part.block.end = "ret void"
        text = part.text(
            f"define internal fastcc void @SELF.part({', '.join(f'ptr noalias {x}' for x in names)}) noinline nounwind"
        )
        number = e.parts.index(text) if text in e.parts else len(e.parts)
        e.parts += [text] if number == len(e.parts) else []
        e.declared |= part.declared
        e.callees |= part.callees

        def call(here: Here) -> None:
            e.line(f"call fastcc void @SELF.part{number}({', '.join(f'ptr {here[b].data}' for b in given)})")

        return call


def count_of(buffers: Iterable[K.Buffer]) -> Any:
    """How many Packs of states buffers hold; None if it is one state or one Pack."""
    return next((b.count for b in buffers if isinstance(b, Groups)), None)


def workspace_of_groups(e: Functions, like: K.Buffer, n: int) -> K.Buffer:
    """n entries for each Pack of `like`."""
    count = count_of([like])
    if count is None:
        return memory.workspace(e, like, n)
    made = memory.workspace(e, like, n * GROUPS)
    return Groups(made.lanes, made.data, made.record, count)


def each_group(e: Functions, strides: Mapping[K.Buffer, int], count: Any, run: Callable[[Here], None]) -> None:
    """Writes run(buffers of one Pack) for each of `count` Packs; a buffer's Packs are `strides` entries apart."""
    if count is None:
        return run({b: K.Buffer(b.lanes, b.data, b.record) for b in strides})
    before, begin, leave = e.block, e.new_block(), e.new_block()
    e.jump(begin)
    e.start(begin)
    g = K.Register(K.INT, e.new())
    taken = memory.taken(e, next(iter(strides)))
    run({b: K.Buffer(b.lanes, memory.pointer(e, b, memory.times(e, g, stride)), b.record) for b, stride in strides.items()})
    memory.release(e, next(iter(strides)), taken)
    more = memory.plus(e, g, 1)
    begin.phis.append(f"{g.name} = phi i64 [ 0, %{before.name} ], [ {more.name}, %{e.block.name} ]")
    e.branch(e.compared(ast.Lt, more, count), begin, leave)
    e.start(leave)


def kept_slots(parts: list[list[Expression]]) -> tuple[dict[Expression, int], int]:
    """Places for the expressions that later parts need, and how many places there are: each is used again once it is free."""
    of = {x: k for k, part in enumerate(parts) for x in part}
    last: dict[Expression, int] = {}
    for k, part in enumerate(parts):
        for x in part:
            for y in operands(x):
                if of.get(y, k) < k:
                    last[y] = k
    slots: dict[Expression, int] = {}
    free: list[int] = []
    size, ends = 0, [[x for x in last if last[x] == k] for k in range(len(parts))]
    for k, part in enumerate(parts):
        for x in part:
            if x in last:
                if not free:
                    free, size = [size], size + 1
                slots[x] = free.pop()
        free += [slots[x] for x in ends[k]]
    return slots, size
