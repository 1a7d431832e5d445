"""The C functions of one library: their parameters, sizes and scratch, as header, sources and example need them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from freeflyer.export.functions import Function
from freeflyer.kernels.compiler.entry_code import row_need, scratch_need
from freeflyer.kernels.entry import LETTERS, Dimension, Entry
from freeflyer.model.model import Model

SYMBOLS = {"nq": "{0}_NQ", "nv": "{0}_NV", "2 nv": "2 * {0}_NV", "bodies": "{0}_BODIES", "columns": "{0}_COLUMNS"}
CLOSED = SYMBOLS | {"nu": "{0}_NV", "nv": "{0}_WHOLE_NV"}  # of models whose loops are closed


@dataclass(frozen=True)
class Array:
    """An array parameter: its C name, the C text of each of its dimensions, how many numbers one state has, and its meaning."""

    name: str
    dimensions: tuple[str, ...]
    size: int
    meaning: str

    @property
    def length(self) -> str:
        """C text of the number of numbers."""
        factors = [f"({d})" if "*" in d and len(self.dimensions) > 1 else d for d in self.dimensions]
        return " * ".join(factors)


@dataclass(frozen=True)
class Call:
    """One C function: of one state if lanes is 1, else of a batch, `lanes` states at a time.

    `kernel`: the symbol of its object code."""

    prefix: str
    function: Function
    entry: Entry
    lanes: int
    kernel: str
    model: Model

    @property
    def batch(self) -> bool:
        return self.lanes > 1

    @property
    def short_name(self) -> str:
        """Without the robot's name."""
        return self.function.name + ("_batch" if self.batch else "")

    @property
    def name(self) -> str:
        return f"{self.prefix}_{self.short_name}"

    @property
    def scratch_name(self) -> str:
        return f"{self.prefix}_SCRATCH_{self.short_name}".upper()

    @cached_property
    def inputs(self) -> tuple[Array, ...]:
        """Also those that are always zero."""
        shapes: list[tuple[Dimension, ...]] = [(LETTERS[x],) for x in self.entry.inputs]
        return tuple(self._array(name, shape) for name, shape in zip(self.function.inputs, shapes, strict=True))

    @cached_property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(self._array(name, shape) for name, shape in zip(self.function.outputs, self.entry.outputs, strict=True))

    @property
    def parameters(self) -> tuple[Array, ...]:
        """The inputs that the C function has."""
        return tuple(x for x in self.inputs if x.name not in self.function.zero)

    @property
    def options(self) -> tuple[str, ...]:
        return self.entry.options

    @cached_property
    def scratch(self) -> int:
        """Numbers of scratch that the entry needs."""
        need: int = scratch_need(self.model.topology, self.lanes, self.entry.square)  # type: ignore[no-untyped-call]
        if self.batch:
            states = self.lanes * self.entry.groups
            need += sum(row_need(states, n) for n in self.entry.sizes(self.model.topology))  # type: ignore[no-untyped-call]
        return int(need)

    def _array(self, name: str, shape: tuple[Dimension, ...]) -> Array:
        upper = self.prefix.upper()
        symbols = CLOSED if self.model.reduction else SYMBOLS
        texts = tuple(str(n) if isinstance(n, int) else symbols[n].format(upper) for n in shape)
        meaning = self.function.meaning(name)
        k = (*self.function.inputs, *self.function.outputs).index(name)
        return Array(name, texts, prod(self.entry.shapes(self.model.topology)[k]), meaning)


@dataclass(frozen=True, eq=False)
class Library:
    """What one folder holds: a robot's functions, compiled for one CPU."""

    model: Model
    prefix: str
    cpu: str
    calls: tuple[Call, ...]

    @property
    def upper(self) -> str:
        return self.prefix.upper()

    @property
    def scratch(self) -> int:
        """Numbers of scratch that are enough for each function."""
        return max(call.scratch for call in self.calls)

    @property
    def kernels(self) -> tuple[Call, ...]:
        """One call for each piece of object code."""
        return tuple({call.kernel: call for call in self.calls}.values())


def example_inputs(library: Library) -> dict[str, np.ndarray]:
    """A state for every input that a function may have, by name: always the same numbers."""
    from freeflyer.model.configuration import random_configuration

    rng, model = np.random.default_rng(0), library.model
    found: dict[str, np.ndarray] = {}
    for name in ("q", "q0", "q1"):
        found[name] = random_configuration(model, rng)
    for name in ("v", "a", "tau", "dv"):
        found[name] = rng.standard_normal(model.nv)
    found["dv"] *= 0.01 if model.reduction else 1.0  # loops do not close again after any step
    used = {x.name for call in library.calls for x in call.parameters}
    return {name: x for name, x in found.items() if name in used}
