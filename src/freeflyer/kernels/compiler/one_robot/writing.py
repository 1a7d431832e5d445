"""Formulas as LLVM code without loops, of one state or of a Pack.

Sines and cosines come first, by the kernel that computes them everywhere. The rest is cut into functions of a length that LLVM
handles well; what one of them leaves for others lies in memory on the stack.
"""

import ast
from collections.abc import Callable, Iterable, Mapping
from itertools import starmap
from typing import Any

from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.meanings import memory
from freeflyer.kernels.compiler.meanings.arguments import Groups, compiled_only
from freeflyer.kernels.compiler.meanings.vectors import absolute, intrinsic, lane, select_less, with_lane
from freeflyer.kernels.compiler.one_robot.expressions import Expression, needed, operands
from freeflyer.kernels.compiler.one_robot.pairs import Pairs, Unit
from freeflyer.kernels.compiler.one_robot.tracing import PARAMETERS, Formulas, angles
from freeflyer.kernels.math import trig

PART, PART_OF_PACKS = 800, 400  # expressions, or pairs, of a function
TWO = K.pack(2)
FLAGS = "nsz arcp contract "  # sums keep their order: other orders take half as much code again
GROUPS = 2  # Packs that go through one part of the code before the next is read; dynamics/evaluate.py repeats two if one is refused
LOADED = ("input", "sin", "cos")  # operations whose results lie in memory
Slots = dict[Expression, int]
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

    def __init__(self, e: Functions, found: Formulas, pairs: Pairs, parameters: K.Buffer, buffers: tuple[K.Buffer, ...]) -> None:
        self.e, self.found, self.pairs, self.lanes, self.record = e, found, pairs, buffers[0].lanes, buffers[0].record
        self.count = count_of(buffers)
        count, sizes = len(buffers) - len(found.outputs), (*found.inputs, *map(len, found.outputs))
        self.strides = dict(zip(buffers, sizes, strict=True)) | {parameters: 0}
        self.inputs = {PARAMETERS: parameters, **dict(enumerate(buffers[:count]))}
        self.outputs = buffers[count:]
        turns = angles(found.expressions)
        together = [z for x in turns for z in (x, pairs.second.get(x)) if pairs.second.get(x) in turns]
        self.angles = {x: k for k, x in enumerate(dict.fromkeys([*together, *turns]))}
        self.row = -(-len(self.angles) // (step := K.LANES if self.lanes == 1 else 1)) * step

    def write(self) -> None:
        body = [unit for unit in self.pairs.ordered(self.found.expressions) if unit[0].operation not in LOADED]
        size = PART if self.lanes == 1 else PART_OF_PACKS
        parts = [body[k : k + size] for k in range(0, len(body), size)] or [[]]
        slots, size = kept_slots(parts)
        self.trig, self.kept = self.memory(3 * self.row), self.memory(size)
        if self.angles:
            self.sines()
        stores: Stores = {}
        constants = []
        for b, row in zip(self.outputs, self.found.outputs, strict=True):
            for i, x in enumerate(row):
                if type(x) is Expression:
                    stores.setdefault(x, []).append((b, i))
                else:
                    constants.append((b, i, x))
        first = [(x,) for x in stores if x.operation in LOADED]
        for k, part in enumerate(parts):
            call = self.part([*first, *part] if k == 0 else part, slots, stores, constants if k == 0 else [])
            each_group(self.e, self.strides, self.count, call)

    def sines(self) -> None:
        """Sines and cosines of all angles."""
        angle = self.part([(x,) for x in needed(self.angles)], {}, {x: [(self.trig, k)] for x, k in self.angles.items()}, [
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

    def part(self, units: list[Unit], slots: Slots, stores: Stores,
             constants: list[tuple[K.Buffer, int, float]]) -> Callable[[Here], None]:  # fmt: skip
        """Writes a function that computes units, keeps and stores some, and constants; how it is called."""
        e, part = self.e, Functions(self.e.made, self.e.scope)
        part.flags = FLAGS
        buffers = list(self.strides)
        names = [part.new() for _ in buffers]
        here = {b: K.Buffer(b.lanes, name, "null") for b, name in zip(buffers, names)}
        values: dict[Unit, Any] = {}

        def place(x: Expression) -> tuple[K.Buffer, int]:
            if x.operation == "input":
                return self.inputs[x.operands[0]], x.operands[1]
            if x.operation in LOADED:
                return self.trig, self.row * LOADED.index(x.operation) + self.angles[x.operands[0]]
            return self.kept, slots[x]

        def neighbours(x: Expression, y: Expression) -> bool:
            (b, i), (c, k) = place(x), place(y)
            return b is c and k == i + 1

        def load(x: Expression, kind: K.Scalar | None = None) -> K.Register:
            b, i = place(x)
            return memory.load(part, kind or b.scalar, memory.pointer(part, here[b], i))

        def value(x: Any) -> Any:
            if type(x) is not Expression:
                return x
            if (x,) not in values:
                unit = (x, self.pairs.second[x]) if x in self.pairs.second else (self.pairs.first.get(x, x), x)
                both = values.get(unit)
                values[x,] = load(x) if both is None else lane(part, both, unit.index(x))
            return values[x,]

        def of_two(x: Any, y: Any) -> Any:
            if x is y or (type(x) is not Expression and x == y):
                return value(x)
            if type(x) is not Expression and type(y) is not Expression:
                return K.Register(TWO, f"<double {K.number(x)}, double {K.number(y)}>")
            if (x, y) not in values:
                if self.pairs.second.get(x) is y and neighbours(x, y):
                    values[x, y] = load(x, TWO)
                else:
                    both = K.Register(TWO, "poison")
                    for k, z in enumerate((x, y)):
                        both = with_lane(part, both, k, value(z))
                    values[x, y] = both
            return values[x, y]

        def store(b: K.Buffer, i: int, x: Any, kind: K.Scalar) -> None:
            memory.store(part, kind, x, memory.pointer(part, here[b], i))

        for b, i, number in constants:
            store(b, i, float(number), b.scalar)
        for unit in units:
            x, operation = unit[0], OPERATIONS.get(unit[0].operation)
            if operation:
                given = map(value, x.operands) if len(unit) == 1 else starmap(of_two, self.pairs.operands(*unit))
                values[unit] = operation(part, *given)
            if x in slots:
                store(self.kept, slots[x], values[unit], TWO if len(unit) == 2 else self.kept.scalar)
            for y in unit:
                for b, i in stores.get(y, ()):
                    store(b, i, value(y), b.scalar)
        part.block.end = "ret void"
        text = part.text(
            f"define internal fastcc void @SELF.part({', '.join(f'ptr noalias {x}' for x in names)}) noinline nounwind"
        )
        number = e.parts.index(text) if text in e.parts else len(e.parts)
        e.parts += [text] if number == len(e.parts) else []
        e.declared |= part.declared
        e.callees |= part.callees

        def call(here: Here) -> None:
            e.line(f"call fastcc void @SELF.part{number}({', '.join(f'ptr {here[b].data}' for b in buffers)})")

        return call


def count_of(buffers: Iterable[K.Buffer]) -> Any:
    """How many Packs of states buffers hold; None if it is one state or one Pack."""
    return next((b.count for b in buffers if isinstance(b, Groups)), None)


@compiled_only
def pack_count(e: Functions, b: K.Buffer) -> Any:
    """How many Packs of states a buffer holds."""
    return b.count if isinstance(b, Groups) else 1


@compiled_only
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


def kept_slots(parts: list[list[Unit]]) -> tuple[Slots, int]:
    """Places for the units that later parts need, and how many places there are: each is used again once it is free."""
    of = {x: (k, unit) for k, part in enumerate(parts) for unit in part for x in unit}
    last: dict[Unit, int] = {}
    for k, part in enumerate(parts):
        for y in (y for unit in part for x in unit for y in operands(x) if of.get(y, (k,))[0] < k):
            last[of[y][1]] = k
    slots: Slots = {}
    free: dict[int, list[int]] = {1: [], 2: []}  # by the size of a unit
    size, ends = 0, [[unit for unit in last if last[unit] == k] for k in range(len(parts))]
    for k, part in enumerate(parts):
        for unit in part:
            if unit in last:
                if not free[len(unit)]:
                    free[len(unit)], size = [size], size + len(unit)
                first = free[len(unit)].pop()
                slots.update((x, first + lane) for lane, x in enumerate(unit))
        for unit in ends[k]:
            free[len(unit)].append(slots[unit[0]])
    return slots, size
