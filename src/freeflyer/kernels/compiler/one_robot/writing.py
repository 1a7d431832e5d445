"""Formulas as LLVM code without loops, of one state or of a Pack.

Sines and cosines come first, by the kernel that computes them everywhere. The rest is cut into functions of a length that LLVM
handles well; what one of them leaves for others lies in memory on the stack.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from freeflyer.kernels.compiler.frontend import kinds as K
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.meanings import memory
from freeflyer.kernels.compiler.meanings.vectors import absolute, intrinsic, select_less
from freeflyer.kernels.compiler.one_robot.expressions import Expression, needed, operands
from freeflyer.kernels.compiler.one_robot.tracing import PARAMETERS, Formulas, angles
from freeflyer.kernels.math import trig

PART = 1500  # expressions of a function
FLAGS = "nsz arcp contract "  # sums keep their order: other orders take half as much code again
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{sign: (lambda e, a, b, op=op: e.binary(op, a, b)) for sign, op in
       {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div}.items()},
    "negative": lambda e, a: e.negated(a), "abs": absolute, "sqrt": lambda e, a: intrinsic(e, "sqrt", a), "select": select_less,
    "atan2": lambda e, y, x: e.call(trig.atan2, [y, x]),
}  # fmt: skip


class Writer:
    """Writes formulas into the function of `e`, which is given buffers for the robot's numbers, inputs and outputs."""

    def __init__(self, e: Functions, found: Formulas, parameters: K.Buffer, buffers: tuple[K.Buffer, ...]) -> None:
        self.e, self.found, self.lanes, self.record = e, found, buffers[0].lanes, buffers[0].record
        count = len(buffers) - len(found.outputs)
        self.inputs = {PARAMETERS: parameters, **dict(enumerate(buffers[:count]))}
        self.outputs = buffers[count:]
        self.angles = {x: k for k, x in enumerate(angles(found.expressions))}
        self.row = -(-len(self.angles) // K.LANES) * K.LANES
        self.places: dict[Expression, list[tuple[int, int]]] = {}  # of results in outputs
        for k, row in enumerate(found.outputs):
            for i, x in enumerate(row):
                if type(x) is Expression:
                    self.places.setdefault(x, []).append((k, i))

    def write(self) -> None:
        body = [x for x in self.found.expressions if x.operation not in ("input", "sin", "cos")]
        parts = [body[k : k + PART] for k in range(0, len(body), PART)] or [[]]
        slots, size = kept_slots(parts)
        self.trig, self.kept = self.memory(3 * self.row), self.memory(size)
        if self.angles:
            self.part(needed(self.angles), {}, {x: [(self.trig, k)] for x, k in self.angles.items()})
            zero = K.Register(self.trig.scalar, self.e.name(0.0, self.trig.scalar))
            for k in range(len(self.angles), self.row):
                memory.store(self.e, self.trig.scalar, zero, memory.pointer(self.e, self.trig, k))
            self.e.call(trig.sincos_row, [self.trig, 0, self.row, 2 * self.row, self.row])
        stores = {x: [(self.outputs[k], i) for k, i in places] for x, places in self.places.items()}
        for x, slot in slots.items():
            stores[x] = [*stores.get(x, ()), (self.kept, slot)]
        for k, part in enumerate(parts):
            own = set(part)
            outside = [x for x in stores if x.operation in ("input", "sin", "cos")] if k == 0 else []
            self.part([*outside, *part], slots, {x: stores[x] for x in (*outside, *own) if x in stores}, first=k == 0)

    def memory(self, n: int) -> K.Buffer:
        ty = "double" if self.lanes == 1 else K.pack(self.lanes).llvm
        return K.Buffer(self.lanes, self.e.allocate(f"[{max(n, 1)} x {ty}], align 64"), self.record)

    def part(
        self,
        expressions: list[Expression],
        slots: dict[Expression, int],
        stores: dict[Expression, list[tuple[K.Buffer, int]]],
        first: bool = False,
    ) -> None:
        """Writes a function that computes expressions and stores some, and its call."""
        e, part = self.e, Functions(self.e.made, self.e.scope)
        part.flags = FLAGS
        given = list(dict.fromkeys([*self.inputs.values(), self.trig, self.kept, *self.outputs]))
        names = [part.new() for _ in given]
        here = {b: K.Buffer(b.lanes, name, "null") for b, name in zip(given, names)}
        values: dict[Expression, Any] = {}

        def load(b: K.Buffer, i: int) -> K.Register:
            kind = K.FLOAT if b.lanes == 1 else b.scalar
            return memory.load(part, kind, memory.pointer(part, here[b], i))

        def value(x: Any) -> Any:
            if type(x) is not Expression:
                return x
            if x not in values:
                if x.operation == "input":
                    k, i = x.operands
                    values[x] = load(self.inputs[k], i)
                elif x.operation in ("sin", "cos"):
                    values[x] = load(self.trig, self.row * (1 if x.operation == "sin" else 2) + self.angles[x.operands[0]])
                else:
                    values[x] = load(self.kept, slots[x])
            return values[x]

        def store(b: K.Buffer, i: int, x: Any) -> None:
            memory.store(part, K.FLOAT if b.lanes == 1 else b.scalar, x, memory.pointer(part, here[b], i))

        if first:
            for b, row in zip(self.outputs, self.found.outputs):
                for i, x in enumerate(row):
                    if type(x) is not Expression:
                        store(b, i, float(x))
        for x in expressions:
            if x.operation in OPERATIONS:
                values[x] = OPERATIONS[x.operation](part, *map(value, x.operands))
            for b, i in stores.get(x, ()):
                store(b, i, value(x))
        part.block.end = "ret void"
        name = f"@SELF.part{len(e.parts)}"
        head = f"define internal fastcc void {name}({', '.join(f'ptr noalias {x}' for x in names)}) noinline nounwind"
        e.parts.append(part.text(head))
        e.declared |= part.declared
        e.callees |= part.callees
        e.line(f"call fastcc void {name}({', '.join(f'ptr {b.data}' for b in given)})")


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
