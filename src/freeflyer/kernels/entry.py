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

from freeflyer.kernels._jit import immediate, inlined, kernel, released
from freeflyer.kernels.layout import COLUMN_ROW, N_BODIES, N_Q, N_QUATERNIONS, N_V, QUATERNIONS_AT
from freeflyer.kernels.memory import Packs, load, load_int, model_arrays
from freeflyer.kernels.pack import LANES, all_below
from freeflyer.kernels.transpose import finite_packs, gather, scatter

OK, WRONG_SIZE, NOT_FINITE, NOT_UNIT, SINGULAR = 0, 1, 2, 3, 4
SCRATCH_LIMIT = 2**23  # numbers: 64 MiB
UNIT_TOLERANCE = 1e-6  # of a quaternion's squared norm
SIZES = {"q": N_Q, "v": N_V}
FLOATS = types.Array(types.float64, 1, "C")


class Entry:
    """A kernel's two doors, compiled when first used. `inputs` holds a letter per input: q or v.

    A kernel that `solves` a linear system writes NaN where that is singular: its output is looked at, too.
    """

    __slots__ = ("batch", "function", "inputs", "name", "options", "output_axes", "single", "single_source")

    def __init__(
        self, function: Any, inputs: str, options: int = 0, output_axes: tuple[int, ...] = (1,), solves: bool = False
    ) -> None:
        self.function, self.name, self.inputs = function, function.py_func.__name__, inputs
        self.options, self.output_axes = options, output_axes
        sizes = tuple(SIZES[letter] for letter in inputs)
        self.single_source = make_single(function, sizes, len(inputs) + options + len(output_axes), solves)
        self.single: Callable[..., int] = self._first_single
        self.batch: Callable[..., int] = make_batch(function, sizes, solves)

    def _first_single(self, *arguments: Any) -> int:
        """Compile for flat float64 arrays only: anything else is a TypeError from now on, and never a new compilation."""
        flat = [
            isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype == np.float64
            for x in arguments[1 : 1 + len(self.inputs)]
        ]
        if not all(flat):
            raise TypeError("not a single state")
        outputs = tuple(types.Array(types.float64, axes, "C") for axes in self.output_axes)
        self.single_source.compile(
            (types.int64,) + (FLOATS,) * len(self.inputs) + (types.int64,) * self.options + outputs
        )
        self.single_source.disable_compile()
        self.single = self.single_source
        return self.single(*arguments)


def named(function: Callable, name: str) -> Callable:
    """A closure under its own name, by which its compiled code is cached."""
    function.__qualname__ = name
    return function


def make_single(function: Any, sizes: tuple[int, ...], arity: int, solves: bool) -> Any:
    count = len(sizes)

    def run(handle, arguments):
        topology, parameters = model_arrays(handle)
        status = checked(topology, arguments[0], sizes[0])
        if count > 1:
            status = max(status, checked(topology, arguments[1], sizes[1]))
        if count > 2:
            status = max(status, checked(topology, arguments[2], sizes[2]))
        if status == OK:
            function(topology, parameters, *arguments)
            if solves and not finite(arguments[-1], arguments[-1].size):
                return SINGULAR
        return status

    run = inlined(named(run, f"run.{function.py_func.__module__}.{function.py_func.__name__}"))
    forms = {  # a fixed number of arguments is dispatched faster than any number
        2: lambda h, a, b: run(h, (a, b)),
        3: lambda h, a, b, c: run(h, (a, b, c)),
        4: lambda h, a, b, c, d: run(h, (a, b, c, d)),
        5: lambda h, a, b, c, d, e: run(h, (a, b, c, d, e)),
        6: lambda h, a, b, c, d, e, f: run(h, (a, b, c, d, e, f)),
        7: lambda h, a, b, c, d, e, f, g: run(h, (a, b, c, d, e, f, g)),
    }
    return immediate(named(forms[arity], f"single.{function.py_func.__module__}.{function.py_func.__name__}"))


def make_batch(function: Any, sizes: tuple[int, ...], solves: bool) -> Any:
    count = len(sizes)

    def batch(handle, inputs, options, outputs, packs_in, packs_out, start, stop):
        """OK, or why the first refused pack of states was refused."""
        topology, parameters = model_arrays(handle)
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


def scratch_for(topology: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(scratch, used) large enough for any kernel on this model, up to a limit beyond which kernels ask the system."""
    bodies, row = int(topology[N_BODIES]) + 9, int(topology[COLUMN_ROW]) + 8
    return aligned(min(LANES * (400 * bodies + 120 * row + 10 * row * row), SCRATCH_LIMIT)), np.zeros(1, np.int64)


def aligned_packs(n: int, scratch: tuple[np.ndarray, ...] = ()) -> Packs:
    """A fresh row of n Packs that brings its scratch along, if given one."""
    return Packs(aligned(LANES * n), *scratch)
