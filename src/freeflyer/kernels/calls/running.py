"""Running entries: one state through a builtin function or ctypes, a batch through ctypes, which releases the interpreter lock."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from freeflyer.kernels.calls import python_calls
from freeflyer.kernels.calls.entry import (
    NOT_FLAT,
    OK,
    SCRATCH,
    SHORT_SCRATCH,
    STATE,
    TAKEN,
    WHERE,
    Entry,
)
from freeflyer.kernels.compiler import build
from freeflyer.kernels.model.layout import TABLE_AT, TABLE_KIND

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 8)  # of an entry
KEPT = 2**23  # numbers of scratch that a thread keeps (64 MiB of addresses; pages that are not used cost nothing)
_own = threading.local()
Result = tuple[int, tuple[int, ...]]  # status, and `where`


def first_call(entry: Entry, name: str) -> Callable[..., Any]:
    """What `single` or `status` of an entry is until it is compiled, which the first call does."""

    def call(*arguments: Any) -> Any:
        inputs = arguments[1 : 1 + entry.input_count]
        if not all(isinstance(x, np.ndarray) and x.ndim == n for x, n in zip(inputs, entry.input_axes)):
            return None if makes(entry, name) else NOT_FLAT  # perhaps a batch that tries the short way first
        object.__setattr__(entry, name, compiled_call(entry, name))
        return getattr(entry, name)(*arguments)

    return call


def makes(entry: Entry, name: str) -> bool:
    """Whether that function of an entry makes its output."""
    return name == "single" and len(entry.outputs) == 1


def compiled_call(entry: Entry, name: str) -> Callable[..., Any]:
    address = build.address(entry.name, entry.modules, 1, entry.facts)
    if not python_calls.layouts_are_known():
        return call_by_ctypes(entry, address, makes(entry, name))
    counts = entry.input_count, len(entry.options), len(entry.outputs)
    adapter = build.address("adapter", ("calls.adapter",), 1)
    axes = *entry.output_axes, *entry.input_axes
    return python_calls.builtin(entry.name, adapter, address, counts, makes(entry, name), axes)


def is_cached(entry: Entry) -> bool:
    """Whether the function for one state is compiled already, by this process or another."""
    return build.is_cached(entry.name, entry.modules, 1, entry.facts)


def handle(topology: np.ndarray, parameters: np.ndarray) -> Any:
    """What compiled code knows a model by."""
    return python_calls.model_handle(topology, parameters, release())


@cache
def release() -> int:
    """Address of the function that lets go of a model's arrays."""
    from freeflyer.kernels.compiler import object_code

    return object_code.from_ir(python_calls.RELEASE, "freeflyer_release")


def table_handle(topology: np.ndarray, parameters: np.ndarray, kind: int, table: np.ndarray) -> Any:
    """The handle of a model whose topology also holds a table of integers, for the entries that read such a table."""
    return handle(with_table(topology, kind, table), parameters)


def with_table(topology: np.ndarray, kind: int, table: np.ndarray) -> np.ndarray:
    """A topology that also holds a table of integers."""
    longer = np.concatenate([topology, table]).astype(np.int64)
    longer[TABLE_AT], longer[TABLE_KIND] = len(topology), kind
    return longer


def call_by_ctypes(entry: Entry, address: int, fresh: bool) -> Callable[..., Any]:
    """As the builtin function, of the same arguments."""
    function, inputs, first_output = FUNCTION(address), entry.input_count, entry.input_count + len(entry.options)
    count, axes = first_output + len(entry.outputs), (*entry.input_axes, *entry.output_axes)

    def call_of(*arguments: Any) -> Any:
        if len(arguments) != 1 + count:
            raise TypeError(f"{entry.name} takes {1 + count} arguments, got {len(arguments)}")
        model, options, last = arguments[0], arguments[1 + inputs : 1 + first_output], arguments[-1]
        arrays = [*arguments[1 : 1 + inputs], *arguments[1 + first_output : count if fresh else None]]
        usable = all(plain(x, n, k >= inputs) for k, (x, n) in enumerate(zip(arrays, axes)))
        if not (usable and python_calls.is_model(model) and all(type(x) is int for x in options)):
            return None if fresh else NOT_FLAT
        if fresh:
            arrays.append(new_result(last))
        status, _ = one_state(function, model, arrays, inputs, options)
        return status if not fresh else arrays[-1] if status == OK else None

    return call_of


def one_state(function: Any, model: Any, arrays: Sequence[np.ndarray], inputs: int, options: Sequence[int]) -> Result:
    """Calls an entry's function for one state of plain arrays, `inputs` of them first."""
    within = tuple(min(max(x, -1), 2**62) for x in options)
    return call(function, model, arrays[:inputs], within, arrays[inputs:], [x.size for x in arrays], 1, entry_scratch)


def new_result(shape: Any) -> np.ndarray:
    """A new array of a shape given as an int or a tuple of two; numbers that are no lengths count as zero."""
    lengths = shape if type(shape) is tuple and len(shape) == 2 else (shape,)
    if not all(type(n) is int for n in lengths):
        raise TypeError("the shape of a result is an integer or a tuple of two")
    return np.empty([n if 0 <= n < 2**63 else 0 for n in lengths])


def plain(x: Any, axes: int, writable: bool) -> bool:
    """Whether x is an array that compiled code can take as it is."""
    fits = type(x) is np.ndarray and x.dtype == np.float64 and x.dtype.isnative and x.ndim == axes
    return fits and x.flags.c_contiguous and x.flags.aligned and (x.flags.writeable or not writable)


def state(entry: Entry, model: Any, *arguments: Any) -> Result:
    """Runs one state of plain arrays: inputs, shared ones, options, outputs."""
    status = entry.status(model, *arguments)
    if status in (OK, NOT_FLAT):
        return status, ()
    if status == SHORT_SCRATCH:
        python_calls.grow_scratch(2 * python_calls.scratch_size() + 1024)
        return state(entry, model, *arguments)
    inputs, outputs = entry.input_count, entry.input_count + len(entry.options)  # again, with a `where` of its own
    function = FUNCTION(build.address(entry.name, entry.modules, 1, entry.facts))
    arrays = (*arguments[:inputs], *arguments[outputs:])
    return one_state(function, model, arrays, inputs, arguments[inputs:outputs])


def entry_scratch(numbers: int) -> np.ndarray:
    """This thread's memory for workspaces, of at least so many numbers: kept, as fresh memory costs more than a small batch."""
    scratch: np.ndarray | None = getattr(_own, "scratch", None)
    if scratch is None or scratch.size < numbers:
        scratch = np.empty(numbers + 8)
        if numbers <= KEPT:
            _own.scratch = scratch
    return scratch


def call(function: Any, model: Any, inputs: Any, options: tuple[int, ...], outputs: Any, sizes: Any, states: int,
         memory: Callable[[int], np.ndarray]) -> Result:  # fmt: skip
    """Calls an entry by addresses of arrays, or of the numbers from which on it reads and writes; again, if it asks for
    more memory."""
    topology, parameters = python_calls.model_record(model)
    first, second, last = len(inputs), len(inputs) + len(options), len(inputs) + len(options) + len(outputs)
    rows, made = map(address_of, inputs), map(address_of, outputs)
    words = words_type(last + 2 + len(sizes) + WHERE)(*rows, *options, *made, 0, states, *sizes)  # one after the other
    at = [ctypes.addressof(words) + 8 * k for k in (0, first, second, last, last + 2 + len(sizes))]
    numbers = 0
    while True:
        scratch = memory(numbers)
        words[last + SCRATCH] = scratch.size
        status = function(topology, parameters, *at[:4], python_calls.address(scratch), at[4])
        where = tuple(words[-WHERE:])
        if status != SHORT_SCRATCH or scratch.size >= where[TAKEN] + 8:
            return status, where
        numbers = where[TAKEN] + 8


@cache
def words_type(count: int) -> Any:
    """The type of an array of so many integers."""
    return ctypes.c_int64 * count


def address_of(x: Any) -> int:
    return x if isinstance(x, int) else python_calls.address(x)


@cache
def batch_function(entry: Entry) -> tuple[Any, int]:
    """(the entry's function for a batch, how many states it takes at a time)."""
    from freeflyer.kernels.compiler import object_code

    lanes = 8 if entry.one_by_one else object_code.pack_lanes(*object_code.host())
    return FUNCTION(build.address(entry.name, entry.modules, lanes, entry.facts)), lanes


def batch(entry: Entry, model: Any, inputs: tuple[np.ndarray, ...], options: tuple[int, ...], outputs: tuple[np.ndarray, ...],
          start: int, stop: int) -> Result:  # fmt: skip
    """Runs states `start` to before `stop` of C-contiguous float64 arrays (count, n), shared inputs (n,). The state in
    `where` counts from the first of all."""
    function, _ = batch_function(entry)
    arrays = (*inputs, *outputs)
    widths = [x.shape[-1] for x in arrays]
    places = [python_calls.address(x) + 8 * start * n * (x.ndim - 1) for x, n in zip(arrays, widths)]
    status, where = call(
        function, model, places[: len(inputs)], options, places[len(inputs) :], widths, stop - start, entry_scratch
    )
    return status, (where[0], where[STATE] + start, *where[2:])
