"""The kernels as plain Python: the same source, undecorated, on any scalar that can add and multiply.

    tau = plain.run("rnea", model, q, v, a)    # q, v, a of SymPy symbols: the closed-form equations of motion
    rnea = plain.function("rnea")              # the kernel itself: rnea(topology, parameters, q, v, a, tau)

Floats, complex numbers (derivatives by complex steps), SymPy expressions, fractions, mpmath numbers and counting scalars work, and
whatever has + - * / and methods sin, cos, sqrt, atan2. Every access to memory is checked, which compiled code does not do: an index
outside of its buffer, or an entry read before it was written, is an IndexError.

Where a kernel selects by an undecided comparison (of symbols), the regular branch is taken: the closed form, not the series that
replaces it near zero; no sign is flipped, no matrix is singular. With exact scalars (fractions, SymPy) the kernels' constants are
exact, too, as far as they are: 0.5 is 1/2, but a series' 1/6 stays a double."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import chain
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from freeflyer.kernels import entries, plain_primitives
from freeflyer.kernels.backend import LANES
from freeflyer.kernels.entry import OPTIONS, Entry, value
from freeflyer.kernels.model import access, layout

COMMON = 1024  # floats whose denominator is at most this are taken for exact numbers


def run(name: str, model: Any, *arguments: Any, parameters: Iterable[Any] | None = None, row_step: int = 1) -> Any:
    """One state's result of the entry `name` of kernels/entries.py (any case): object arrays. Entries of closed linkages take a
    closed model: freeflyer.close_loops(model). Entries that take wrenches take a freeflyer.frame_set for the model, and the
    wrenches as (k, 6) or 6 k scalars. `arguments` are the entry's inputs, each of nq, nv or (independent rates) nu scalars,
    gravity (3) or wrenches, and those shared by all states, then its options (integers: a frame's number, ...). `parameters`
    replaces the model's, laid out as in kernels/model/layout.py (see `complete_parameters`). `row_step`: see `function`. Errors:
    ValueError for wrong arguments, LookupError for a name that is not there."""
    of = entry(name)
    n_inputs = of.input_count
    inputs, options = arguments[:n_inputs], arguments[n_inputs:]
    if len(arguments) != n_inputs + len(of.options):
        raise ValueError(f"{name} takes {n_inputs} inputs and {len(of.options)} options, got {len(arguments)} arguments")
    if of.closed and not model.topology[layout.LINKAGE_AT]:
        raise ValueError(f"{name} takes a closed model: freeflyer.close_loops(model)")
    if of.table and model.topology[layout.TABLE_KIND] != of.table:
        raise ValueError(f"{name} takes a model whose topology also holds a table of its own (calls/running.py, table_handle)")
    for option, given in zip(of.options, options):
        end = int(value(OPTIONS[option], model.topology))
        if not 0 <= given < end:
            raise ValueError(f"{name}'s option {option} is {given!r}, expected an integer from 0 to {end - 1}")
    shapes = of.shapes(model.topology)
    rows = [_row(x, math.prod(shape), f"{name}'s input {k + 1}") for k, (x, shape) in enumerate(zip(inputs, shapes))]
    numbers = model.parameters if parameters is None else parameters
    rows.insert(0, _row(numbers, len(model.parameters), "parameters"))
    exact = any(isinstance(x, Fraction) or plain_primitives.symbolic(x) for row in rows for x in row)
    if exact:
        rows = [[fractions_of(Fraction(x) if type(x) is int else x) for x in row] for row in rows]
        if any(map(plain_primitives.symbolic, chain(*rows))):
            rows[0] = whole_quarter_turns(model, rows[0])
    shapes = shapes[n_inputs:]
    outputs: list[list[Any]] = [[None] * math.prod(shape) for shape in shapes]
    function(name, exact, row_step)([int(k) for k in model.topology], *rows, *(int(k) for k in options), *outputs)
    results = tuple(_array(x, shape) for x, shape in zip(outputs, shapes))
    return results if len(results) > 1 else results[0]


def complete_parameters(model: Any, parameters: Iterable[Any]) -> list[Any]:
    """Parameters of a model in which what follows from mass, CoM and inertia is up to date: moments, subtree masses, tiles.
    Spreads, the scale of rounding, are compared with floats only: they stay as they are."""
    row = _row(parameters, len(model.parameters), "parameters")
    n, tiles = int(model.topology[layout.N_BODIES]), int(model.topology[layout.TILES_AT])
    row[tiles:] = [0.0] * (len(row) - tiles)
    records = [access.body_floats(i) for i in range(n + 1)]
    for i, at in enumerate(records):
        row[at + layout.SUBTREE_MASS] = row[at + layout.MASS]
        row[at + layout.MOMENT : at + layout.SECOND + 6] = moments(*row[at + layout.MASS : at + layout.INERTIA + 6])
        first = access.numbers_at(model.topology, i)
        for k in range(layout.TILE if i else 0):
            row[first + LANES * k] = row[at + k]
    for i in range(n, 0, -1):
        parent = int(model.topology[access.body_ints(i) + layout.PARENT])
        row[records[parent] + layout.SUBTREE_MASS] += row[records[i] + layout.SUBTREE_MASS]
    return row


def whole_quarter_turns(model: Any, parameters: list[Any]) -> list[Any]:
    """Parameters with SymPy's pi where joints' offsets are quarter turns, so that these disappear from closed forms."""
    row = list(parameters)
    for i in range(int(model.topology[layout.N_BODIES]) + 1):
        for at in (access.body_floats(i) + layout.TURN_OFFSET, access.numbers_at(model.topology, i) + LANES * layout.TURN_OFFSET):
            if k := plain_primitives.quarter_turns(row[at]):
                row[at] = sys.modules["sympy"].pi * k / 2
    return row


def moments(m: Any, x: Any, y: Any, z: Any, xx: Any, xy: Any, xz: Any, yy: Any, yz: Any, zz: Any) -> tuple[Any, ...]:
    """First and second moment about a body's origin, of its mass, CoM and inertia about that."""
    half = (xx + yy + zz) / 2
    return (
        m * x, m * y, m * z, half - xx + m * x * x, m * x * y - xy, m * x * z - xz,
        half - yy + m * y * y, m * y * z - yz, half - zz + m * z * z)  # fmt: skip


def function(source: str | Entry | Callable, exact: bool = False, row_step: int = 1) -> Callable[..., Any]:
    """The plain version of a compiled function, of an entry's kernel, or of the entry of that name. It takes the kernel's own
    arguments; buffers are lists or flat arrays of scalars, outputs are written. `exact` turns the constants of the source into
    fractions. Matrices are handled `row_step` entries at a time: 8, as compiled code does for one state, or 1, as it does for
    Packs."""
    if isinstance(source, str):
        source = entry(source)
    compiled = source.function if isinstance(source, Entry) else source
    if not isinstance(compiled, FunctionType):
        raise ValueError(f"expected a kernel or the name of one, got {type(source).__name__}")
    return rebuilt(compiled, (), bool(exact), row_step)


def rebuilt(compiled: Callable, meanings: tuple[tuple[Any, Any], ...], exact: bool = False, row_step: int = 1) -> Any:
    """As `function`, of a kernel. `meanings`: functions, and what stands for them."""
    with _building:
        return _rebuilder(exact, row_step, meanings).plain(compiled)


def entry(name: str) -> Entry:
    """The entry of that name, in lower or upper case."""
    found = entries.ENTRIES.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(entries.ENTRIES)
        raise LookupError(f"no kernel is named {name!r}; known kernels: {known}")
    return found


def _row(x: Iterable[Any], n: int, what: str) -> list[Any]:
    try:
        row = x.reshape(-1).tolist() if isinstance(x, np.ndarray) else list(x)
    except TypeError:
        raise ValueError(f"{what} must be a flat row of {n} scalars, got {type(x).__name__}") from None
    if len(row) != n or any(isinstance(entry, list) for entry in row):
        raise ValueError(f"{what} must be a flat row of {n} scalars, got {len(row)} entries")
    return row


def _array(values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    if any(map(plain_primitives.symbolic, values)):
        values = [sys.modules["sympy"].sympify(x) for x in values]
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


class _Rebuilder:
    """From functions of kernels to plain ones: the same code, with the plain ones of the functions that it names."""

    def __init__(self, exact: bool, row_step: int, meanings: tuple[tuple[Any, Any], ...]) -> None:
        self.exact, self.replaced = exact, plain_primitives.replacements(row_step) | dict(meanings)
        self.functions: dict[Any, Callable[..., Any]] = {}

    def plain(self, value: Any) -> Any:
        if not isinstance(value, FunctionType):
            return fractions_of(value) if self.exact else value
        if value in self.replaced:
            return self.replaced[value]
        if value not in self.functions:
            known, code = value.__globals__, fractions_of(value.__code__) if self.exact else value.__code__
            closure = tuple(CellType(self.plain(cell.cell_contents)) for cell in value.__closure__ or ())
            names = {name: self.plain(known[name]) for name in names_in(code) & known.keys()}
            self.functions[value] = FunctionType(code, names, value.__name__, None, closure)
        return self.functions[value]


def names_in(code: CodeType) -> set[str]:
    """Names that code, and code within it, takes from its module."""
    return set(code.co_names).union(*(names_in(x) for x in code.co_consts if isinstance(x, CodeType)))


_building = threading.RLock()
_rebuilder = cache(_Rebuilder)


def fractions_of(x: Any) -> Any:
    """Floats that are short binary fractions as fractions, also within tuples and code; anything else as it is."""
    if isinstance(x, float) and math.isfinite(x) and Fraction(x).denominator <= COMMON:
        return Fraction(x)
    if type(x) is tuple:
        return tuple(map(fractions_of, x))
    if isinstance(x, CodeType):
        return x.replace(co_consts=fractions_of(x.co_consts))
    return x
