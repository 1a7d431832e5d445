"""From a kernel to what Python calls: one state at a time, or a range of a batch eight states at a time.

A kernel has the arguments (topology, parameters, inputs..., options..., outputs...): inputs are rows of nq or nv scalars,
options are integers, outputs are written. The doors take a model's handle instead of its two arrays. Both check that
sizes fit the model, that every number is finite and every quaternion of unit length, and answer with a status; the
friendly layer turns a status into a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from freeflyer.kernels.backend.buffers import Packs, borrowed, load, load_int, model_arrays
from freeflyer.kernels.backend.pack import LANES, all_below
from freeflyer.kernels.backend.transpose import finite_packs, gather, scatter
from freeflyer.kernels.calls.python_calls import (
    ARRAY,
    DATA,
    NONE,
    READABLE,
    TYPE,
    WRITABLE,
    array_like_shape,
    as_int,
    bad_argument,
    builtin,
    drop,
    from_int,
    is_array,
    is_int,
    reader,
    take,
    word,
)
from freeflyer.kernels.compiler._jit import immediate, inlined, kernel, released
from freeflyer.kernels.model.layout import COLUMN_ROW, N_BODIES, N_Q, N_QUATERNIONS, N_V, QUATERNIONS_AT
from freeflyer.kernels.model.linkage_layout import N_INDEPENDENT

OK, WRONG_SIZE, NOT_FINITE, NOT_UNIT, SINGULAR, NOT_FLAT = 0, 1, 2, 3, 4, 5
SCRATCH_LIMIT = 2**23  # numbers: 64 MiB
UNIT_TOLERANCE = 1e-6  # of a quaternion's squared norm
SIZES = {"q": N_Q, "v": N_V, "u": N_INDEPENDENT}
DOOR = (types.int64,) * 3


class Entry:
    """A kernel's two doors, compiled when first used. `inputs` holds a letter per input: q, v or u (independent rates).

    single(handle, inputs..., options..., outputs...) answers with a status. Instead of its only output it may be given the
    shape of a new array: then it answers with that, or with None if the state was refused.
    A kernel that `solves` a linear system writes NaN where that is singular: its output is looked at, too.
    """

    __slots__ = ("batch", "function", "inputs", "name", "options", "output_axes", "single", "single_source")

    def __init__(
        self, function: Any, inputs: str, options: int = 0, output_axes: tuple[int, ...] = (1,), solves: bool = False
    ) -> None:
        self.function, self.name, self.inputs = function, function.py_func.__name__, inputs
        self.options, self.output_axes = options, output_axes
        sizes = tuple(SIZES[letter] for letter in inputs)
        self.single_source = make_single(function, sizes, options, output_axes, solves)
        self.single: Callable[..., Any] = self._first_single
        self.batch: Callable[..., int] = make_batch(function, sizes, solves)

    def is_cached(self) -> bool:
        """Whether the cache on disk has the door for one state."""
        return bool(self.single_source._cache.holds(DOOR))

    def _first_single(self, *arguments: Any) -> Any:
        """Compile, unless this is a batch that tries the short way first."""
        if not all(isinstance(x, np.ndarray) and x.ndim == 1 for x in arguments[1 : 1 + len(self.inputs)]):
            return None if isinstance(arguments[-1], int | tuple) else NOT_FLAT
        self.single_source.compile(DOOR)
        self.single = builtin(self.name, self.single_source.overloads[DOOR])
        return self.single(*arguments)


def named(function: Callable, name: str) -> Callable:
    """A closure under its own name, by which its compiled code is cached."""
    function.__qualname__ = name
    return function


def make_single(function: Any, sizes: tuple[int, ...], options: int, output_axes: tuple[int, ...], solves: bool) -> Any:
    inputs, outputs = len(sizes), len(output_axes)
    count = 1 + inputs + options + outputs
    read = reader((1,) * inputs + (0,) * options + output_axes)

    def taken(topology, parameters, values):
        status = checked(topology, values[0], sizes[0])
        if inputs > 1:
            status = max(status, checked(topology, values[1], sizes[1]))
        if inputs > 2:
            status = max(status, checked(topology, values[2], sizes[2]))
        if status == OK:
            function(topology, parameters, *values)
            if solves and not finite(values[-1], values[-1].size):
                return SINGULAR
            if solves and outputs > 1 and not (
                finite(values[-2], values[-2].size) and finite(values[-outputs], values[-outputs].size)
            ):
                return SINGULAR
        return status

    def acceptable(known, arguments, outputs_from):
        for k in range(1, 1 + inputs):
            if not is_array(known, word(arguments, 8 * k), 1, READABLE):
                return False
        for k in range(1 + inputs, 1 + inputs + options):
            if not is_int(known, word(arguments, 8 * k)):
                return False
        for k in range(outputs_from, outputs):
            if not is_array(known, word(arguments, 8 * (1 + inputs + options + k)), output_axes[k], WRITABLE):
                return False
        return True

    where = f"{function.py_func.__module__}.{function.py_func.__name__}"
    taken, acceptable = inlined(named(taken, f"taken.{where}"), owns=True), inlined(named(acceptable, f"acceptable.{where}"))

    def single(door, arguments, given):
        known = word(door, DATA)
        if given != count or not is_int(known, word(arguments, 0)):
            bad_argument()
            return 0
        last = word(arguments, 8 * (count - 1))
        fresh = outputs == 1 and word(last, TYPE) != word(known, ARRAY)
        status = NOT_FLAT
        if acceptable(known, arguments, 1 if fresh else 0):
            if fresh:
                last = array_like_shape(known, last)
                if last == 0:
                    return 0
            topology, parameters = model_arrays(as_int(word(arguments, 0)))
            status = taken(topology, parameters, read(arguments, last))
            if fresh:
                if status == OK:
                    return last
                drop(last)
        if fresh:
            take(word(known, NONE))
            return word(known, NONE)
        return from_int(status)

    return immediate(named(single, f"single.{where}"))


def make_batch(function: Any, sizes: tuple[int, ...], solves: bool) -> Any:
    count = len(sizes)

    def batch(handle, inputs, options, outputs, packs_in, packs_out, start, stop):
        """OK, or why the first refused pack of states was refused."""
        topology, parameters = model_arrays(handle)
        packs_in, packs_out = borrowed(packs_in), borrowed(packs_out)
        for first in range(start, stop, LANES):
            for k in range(count):
                if not gather(inputs[k], first, stop, packs_in[k]):
                    return NOT_FINITE
                if sizes[k] == N_Q and not unit_quaternions(topology, packs_in[k]):
                    return NOT_UNIT
            packs_in[0].used[0] = 0
            function(topology, parameters, *packs_in, *options, *packs_out)
            if solves and not finite_packs(packs_out[0].data, outputs[0].shape[1]):
                return SINGULAR
            for k in range(len(outputs)):
                scatter(packs_out[k], outputs[k], first, stop)
        return OK

    return released(named(batch, f"batch.{function.py_func.__module__}.{function.py_func.__name__}"))


@inlined
def checked(topology, x, size):
    """The status of one input."""
    if x.size != load_int(topology, size):
        return WRONG_SIZE
    if not finite(x, x.size):
        return NOT_FINITE
    if size == N_Q and not unit_quaternions(topology, x):
        return NOT_UNIT
    return OK


@kernel
def finite(x, n):
    """Whether the first n entries are neither NaN nor infinite."""
    total = 0.0
    for i in range(n):
        total += 0.0 * load(x, i)
    return total == 0.0


@kernel
def unit_quaternions(topology, q):
    """Whether every quaternion of q has unit length."""
    at = load_int(topology, QUATERNIONS_AT)
    for k in range(load_int(topology, N_QUATERNIONS)):
        i = load_int(topology, at + k)
        x, y, z, w = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
        if not all_below(x * x + y * y + z * z + w * w - 1.0, UNIT_TOLERANCE):
            return False
    return True


def aligned(n: int) -> np.ndarray:
    """n uninitialised numbers, aligned to 64 bytes."""
    raw = np.empty(n + LANES)
    start = (-raw.ctypes.data & 63) >> 3
    return raw[start : start + n]


def scratch_size(topology: np.ndarray) -> int:
    """How many numbers are enough for any kernel on this model, up to a limit beyond which kernels ask the system."""
    bodies, row = int(topology[N_BODIES]) + 9, int(topology[COLUMN_ROW]) + 8
    return min(LANES * (400 * bodies + 120 * row + 10 * row * row), SCRATCH_LIMIT)


def scratch_for(topology: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(scratch, used) of that size."""
    return aligned(scratch_size(topology)), np.zeros(1, np.int64)


def aligned_packs(n: int, scratch: tuple[np.ndarray, ...] = ()) -> Packs:
    """A fresh row of n Packs that brings its scratch along, if given one."""
    return Packs(aligned(LANES * n), *scratch)
