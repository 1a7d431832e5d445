"""Running entries: one state or a short batch through a builtin function, a long one through ctypes, which releases the interpreter
lock."""

from __future__ import annotations

import ctypes
import os
import threading
import timeit
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from freeflyer.kernels.compiler import build, call_layout, object_code
from freeflyer.kernels.compiler.calls import python_calls
from freeflyer.kernels.entry import OK, SCRATCH, SHORT_SCRATCH, STATE, TAKEN, WHERE, Entry
from freeflyer.kernels.model.layout import COLUMN_ROW, HEADER, TABLE_AT, TABLE_KIND

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 8)  # of an entry
MAX_KEPT_SCRATCH = 2**23  # numbers of scratch that a thread keeps (64 MiB of addresses; pages that are not used cost nothing)
_own = threading.local()
Result = tuple[int, tuple[int, ...]]  # status, and `where`


def usable_cores() -> int:
    """Cores that this process may run on."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def python_function(entry: Entry) -> Callable[..., Any]:
    """f(handle, inputs..., options..., out) of an entry: see python_calls.builtin. On an interpreter of another layout it takes
    nothing, and the general path is gone."""
    if not python_calls.layouts_are_known():
        return lambda *arguments: None
    return python_calls.builtin(entry.name, build.address("adapter", 1), python_calls.record(entry))


Entry.compiled = python_function


@cache
def function_of(entry: Entry, batch: bool) -> Any:
    """The C function for one state or a batch, compiled if it is not yet; from now on `entry.call` uses it, too."""
    address = build.address(entry, batch_lanes(entry) if batch else 1)
    python_calls.record(entry)[call_layout.BATCH if batch else call_layout.FUNCTION] = address
    return FUNCTION(address)


def function_for(entry: Entry, model: Any, batch: bool) -> Any:
    """The C function of an entry, or what a model has in its place."""
    own = python_calls.own_function(model, entry, batch)
    return FUNCTION(own) if own else function_of(entry, batch)


@cache
def batch_lanes(entry: Entry, target: Any = None) -> int:
    """How many states the function for a batch takes at a time, on a CPU, this machine's if None."""
    return 8 if entry.one_by_one else object_code.pack_lanes(target or object_code.host())


def handle(topology: np.ndarray, parameters: np.ndarray, code: np.ndarray | None = None) -> Any:
    """The handle of a model for compiled code, which keeps the arrays alive. `code`: functions for this model alone
    (python_calls.code_table)."""
    record = np.array([0 if x is None else python_calls.address(x) for x in (topology, parameters, code)], np.int64)
    owned = record, topology, parameters, code
    return python_calls.capsule(record, call_layout.MODEL_NAME, build.address("release", 1), owned)


def table_handle(topology: np.ndarray, parameters: np.ndarray, kind: int, table: np.ndarray,
                 code: np.ndarray | None = None) -> Any:
    """The handle of a model whose topology also holds a table of integers, for the entries that read such a table."""
    return handle(with_table(topology, kind, table), parameters, code)


def with_table(topology: np.ndarray, kind: int, table: np.ndarray) -> np.ndarray:
    """A topology that also holds a table of integers."""
    longer = np.concatenate([topology, table]).astype(np.int64)
    longer[TABLE_AT], longer[TABLE_KIND] = len(topology), kind
    return longer


def bare_topology(kind: int, table: Sequence[int], columns: int) -> np.ndarray:
    """A topology without bodies that holds a table of integers; scratch is counted as for so many columns."""
    topology = np.zeros(HEADER, np.int64)
    topology[COLUMN_ROW] = columns
    return with_table(topology, kind, np.array(table, np.int64))


def call_seconds(entry: Entry, model: Any, topology: np.ndarray, q: np.ndarray, options: tuple[int, ...], states: int) -> float:
    """How long a call takes at configuration q, at rest, the least of a few."""
    lead, axes = (states,) if states > 1 else (), (*entry.input_axes, *map(len, entry.outputs))
    shapes = [(*lead, *shape) if len(shape) == n else (shape[0] // 6, 6) for shape, n in zip(entry.shapes(topology), axes)]
    arrays = [np.zeros(shape) for shape in shapes]
    arrays[0][...] = q
    inputs, outputs = arrays[: entry.input_count], arrays[entry.input_count :]
    out = tuple(outputs) if len(outputs) > 1 else outputs[0]
    python_calls.grow_scratch(MAX_KEPT_SCRATCH)
    return min(timeit.repeat(lambda: entry.call(model, *inputs, *options, out), number=1, repeat=30))


def plain(x: Any, axes: int, writable: bool = False) -> bool:
    """Whether x is an array that compiled code can take as it is."""
    fits = type(x) is np.ndarray and x.dtype == np.float64 and x.dtype.isnative and x.ndim == axes
    return fits and x.flags.c_contiguous and x.flags.aligned and (x.flags.writeable or not writable)


def state(entry: Entry, model: Any, *arguments: Any) -> Result:
    """Runs one state of plain arrays: inputs, shared ones, options, outputs. Errors: TypeError for other arrays."""
    inputs, first = entry.input_count, entry.input_count + len(entry.options)
    outputs = arguments[first:]
    if len(outputs) != len(entry.outputs):
        raise TypeError(f"{entry.name} takes {first + len(entry.outputs)} arguments beside the model, got {len(arguments)}")
    if entry.call(model, *arguments[:first], outputs if len(outputs) > 1 else outputs[0]) is not None:
        return OK, ()
    arrays, axes = (*arguments[:inputs], *outputs), (*entry.input_axes, *map(len, entry.outputs))
    options = tuple(min(max(x, -1), 2**62) for x in arguments[inputs:first])
    if not all(plain(x, n, k >= inputs) for k, (x, n) in enumerate(zip(arrays, axes, strict=True))):
        raise TypeError(f"{entry.name} takes plain arrays: C-contiguous, of native float64, outputs writable")
    function, sizes = function_for(entry, model, False), [x.size for x in arrays]
    return call(function, model, arrays[:inputs], options, outputs, sizes, 1)  # again, with a `where` of its own


def entry_scratch(numbers: int) -> np.ndarray:
    """This thread's memory for workspaces, of at least so many numbers: kept, as fresh memory costs more than a small batch."""
    scratch: np.ndarray | None = getattr(_own, "scratch", None)
    if scratch is None or scratch.size < numbers:
        scratch = np.empty(numbers + 8)
        if numbers <= MAX_KEPT_SCRATCH:
            _own.scratch = scratch
    return scratch


def call(function: Any, model: Any, inputs: Any, options: tuple[int, ...], outputs: Any, sizes: Any, states: int) -> Result:
    """Calls an entry by addresses of arrays, or of the numbers from which on it reads and writes; again, if it needs more memory,
    which short calls then have, too."""
    topology, parameters = python_calls.model_record(model)
    first, second, last = len(inputs), len(inputs) + len(options), len(inputs) + len(options) + len(outputs)
    rows, made = map(address_of, inputs), map(address_of, outputs)
    words = (ctypes.c_int64 * (last + 2 + len(sizes) + WHERE))(*rows, *options, *made, 0, states, *sizes)  # one after the other
    at = [ctypes.addressof(words) + 8 * k for k in (0, first, second, last, last + 2 + len(sizes))]
    numbers = 0
    while True:
        scratch = entry_scratch(numbers)
        words[last + SCRATCH] = scratch.size
        status = function(topology, parameters, *at[:4], python_calls.address(scratch), at[4])
        where = tuple(words[-WHERE:])
        if status != SHORT_SCRATCH or scratch.size >= where[TAKEN] + 8:
            python_calls.grow_scratch(min(scratch.size, MAX_KEPT_SCRATCH))
            return status, where
        numbers = where[TAKEN] + 8


def address_of(x: Any) -> int:
    return x if isinstance(x, int) else python_calls.address(x)


def batch(entry: Entry, model: Any, inputs: tuple[np.ndarray, ...], options: tuple[int, ...], outputs: tuple[np.ndarray, ...],
          start: int, stop: int) -> Result:  # fmt: skip
    """Runs states `start` to before `stop` of C-contiguous float64 arrays (count, n), of inputs that all states share (n,). The
    state in `where` counts from the first of all."""
    function = function_for(entry, model, True)
    arrays = (*inputs, *outputs)
    widths, own = [x.shape[-1] for x in arrays], len(entry.inputs)
    places = [python_calls.address(x) + 8 * start * n * (x.ndim - 1) for x, n in zip(arrays, widths)]
    sizes = [-n if x.ndim == 1 and k < own else n for k, (x, n) in enumerate(zip(arrays, widths))]
    status, where = call(function, model, places[: len(inputs)], options, places[len(inputs) :], sizes, stop - start)
    return status, (where[0], where[STATE] + start, *where[2:])
