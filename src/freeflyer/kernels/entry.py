"""Entries: inputs, options and outputs of a compiled function. Calls, checks and docs all read this table.

A compiled entry is a C function without reference counts, Python or allocation:

    status = name(topology, parameters, inputs, options, outputs, sizes, scratch, where)

`inputs` and `outputs` are addresses of flat float64 rows, `options` integers. `sizes` lists the numbers of scratch, the states,
then how many numbers one state's inputs and outputs hold; in a batch minus that number for an input of which there is one row for
all states (not for entries that go state by state). The entry checks all of it before it computes; `where` (3) is the refused
argument, the refused state, and how many numbers of scratch were taken. `name` takes one state; `name_batch` any number, several at
a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from typing import Any, ClassVar

from freeflyer.kernels.model import layout as L
from freeflyer.kernels.sim.layout import GROUND

OK, WRONG_SIZE, NOT_FINITE, NOT_UNIT, REFUSED, WRONG_OPTION, SHORT_SCRATCH, OVERLAP, WRONG_MODEL = range(9)
SCRATCH, STATES, ROWS = 0, 1, 2  # in sizes
ARGUMENT, STATE, TAKEN, WHERE = 0, 1, 2, 3  # in where, and its length
UNIT_TOLERANCE = 1e-6  # of a quaternion's squared norm
SMALL_WORK = 100_000  # numbers read and made: one thread does a batch of no more at once, keeping the interpreter lock
HEAVY = 50  # times as much, the work on a state of a closed linkage, or of a robot on ground

Dimension = int | str
Formula = tuple[int, int, int]  # factor, entry of topology's header (-1 - k: entry k of its table), addend
DIMENSIONS: dict[str, Formula] = {
    "nq": (1, L.N_Q, 0), "nv": (1, L.N_V, 0), "2 nv": (2, L.N_V, 0), "bodies": (1, L.N_BODIES, 1),
    "columns": (1, L.N_COLUMNS, 0), "rows": (1, L.N_ROWS, 0), "nu": (1, L.N_INDEPENDENT, 0),
    **{f"table {k}": (1, -1 - k, 0) for k in range(24)}, **{f"2 table {k}": (2, -1 - k, 0) for k in range(8)},
    "6 table 0": (6, -1, 0), "6 table 6": (6, -7, 0)}  # fmt: skip
LETTERS: dict[str, Dimension] = {  # of inputs
    "q": "nq", "v": "nv", "u": "nu", "m": "table 0", "f": "table 1", "g": 3, "w": "6 table 0", "s": "table 4"}  # fmt: skip
OPTIONS: dict[str, Formula] = {  # an option is 0 or more and below this
    "frame": (1, L.N_FRAMES, 0), "expressed": (0, 0, 3), "scheme": (0, 0, 3)}  # fmt: skip


def formula(dimension: Dimension) -> Formula:
    """What a dimension is on a model."""
    return (0, 0, dimension) if isinstance(dimension, int) else DIMENSIONS[dimension]


def value(of, topology):
    factor, at, addend = of
    if at < 0:
        at = topology[L.TABLE_AT] - 1 - at
    return factor * topology[at] + addend


def length(formulas, topology):
    """How many numbers an array of such dimensions holds."""
    size = 1
    for of in formulas:
        size *= value(of, topology)
    return size


def kernel_function(name: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function of a dotted name below kernels, or of 'module:function'. Its file is read now: compiled calls do without it."""
    if not isinstance(name, str):
        return name
    if ":" in name:
        module, _, function = name.partition(":")
    else:
        module, _, function = f"freeflyer.kernels.{name}".rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


@dataclass(frozen=True, eq=False)
class Entry:
    """A kernel(topology, parameters, inputs..., shared..., options..., outputs...) that Python may call. `source`: its dotted
    name below kernels; for a kernel of another package 'module:function', or the function itself. `inputs`: a letter each, q
    (checked to hold unit quaternions), v, u (independent rates), m (measured joints), f (motors), g (gravity), w (wrenches on
    frames) or s (settings). `shared`: sizes of further inputs, the same for all states, which may be infinite. `outputs`: the
    shapes of one state's results. `square`: whether workspaces grow with the square of the number of columns. `closed`: whether
    it takes models that hold a linkage. `table`: the kind of table that the model's topology must hold. `one_by_one`: whether
    states take different ways, so that a batch goes state by state. `partial`: whether undefined results are NaN, and not
    refused."""

    name: str
    source: str | Callable[..., Any]
    inputs: str
    outputs: tuple[tuple[Dimension, ...], ...]
    options: tuple[str, ...] = ()
    square: bool = False
    closed: bool = False
    shared: tuple[Dimension, ...] = ()
    table: int = 0
    one_by_one: bool = False
    partial: bool = False
    # call(handle, inputs..., options..., out), for one state or a short batch: see python_calls.builtin
    call: Callable[..., Any] = field(init=False, repr=False)
    input_axes: tuple[int, ...] = field(init=False, repr=False)  # of one state's inputs: wrenches are given as an array (k, 6)
    # no cached property: where an object has made its __dict__, Python finds `call` 8 ns later
    groups: ClassVar[int] = 1  # Packs that the function for a batch takes at a time
    picks: ClassVar[tuple[list[int] | None, ...]] = ()  # see one_robot/entries.py
    compiled: ClassVar[Callable[[Entry], Callable[..., Any]]]  # makes `call`: set by calls/running.py, which makes handles, too

    def __post_init__(self) -> None:
        def first_call(*arguments: Any) -> Any:
            object.__setattr__(self, "call", Entry.compiled(self))
            return self.call(*arguments)

        object.__setattr__(self, "call", first_call)
        axes = *(2 if x == "w" else 1 for x in self.inputs), *(1,) * len(self.shared)
        object.__setattr__(self, "input_axes", axes)

    @property
    def function(self) -> Callable[..., Any]:
        return kernel_function(self.source)

    @property
    def in_library(self) -> bool:
        """Whether its kernel is freeflyer's own."""
        return isinstance(self.source, str) and ":" not in self.source

    @property
    def rows(self) -> tuple[tuple[Dimension, ...], ...]:
        """Shapes of inputs, shared ones, outputs."""
        return (*((LETTERS[x],) for x in self.inputs), *((n,) for n in self.shared), *self.outputs)

    @property
    def formulas(self) -> tuple[tuple[Formula, ...], ...]:
        """As `rows`."""
        return tuple(tuple(map(formula, shape)) for shape in self.rows)

    @property
    def weight(self) -> int:
        """How much work a number that it reads or makes is, roughly."""
        return HEAVY if self.closed or self.table == GROUND else 1

    @property
    def input_count(self) -> int:
        return len(self.inputs) + len(self.shared)

    def shapes(self, topology: Any) -> tuple[tuple[int, ...], ...]:
        """Shapes of one state's inputs and outputs on a model."""
        return tuple(tuple(int(value(formula(n), topology)) for n in shape) for shape in self.rows)

    def output_shapes(self, topology: Any) -> tuple[tuple[int, ...], ...]:
        """Shapes of one state's outputs on a model."""
        return self.shapes(topology)[self.input_count :]

    def sizes(self, topology: Any) -> tuple[int, ...]:
        return tuple(map(prod, self.shapes(topology)))
