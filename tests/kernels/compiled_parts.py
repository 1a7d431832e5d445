"""Parts of kernels compiled alone, to be called on rows of numbers and of Packs: what the tests of primitives use.

    part = compiled(lambda x, y: store(y, 0, 2.0 * load(x, 0)))
    part(numbers(x), numbers(y))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import NativeValue, register_jitable, typeof_impl, unbox

from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.compiler import numba_ir
from freeflyer.kernels.lowering.types import BufferType, IntegersType, i64, options
from freeflyer.kernels.marks import MARKED

CACHE_LINE = 64  # bytes


class Row:
    """A row of numbers, Packs or integers (`kind`) in an array; `scratch` is the memory for workspaces."""

    def __init__(self, data: np.ndarray, kind: Any, scratch: np.ndarray) -> None:
        self.data, self.kind, self.scratch = data, kind, scratch
        lost = (-scratch.ctypes.data % CACHE_LINE) // 8
        self.record = np.array([scratch.ctypes.data + 8 * lost, scratch.size - lost, 0])
        self.address, self.record_address = data.ctypes.data, self.record.ctypes.data

    @property
    def taken(self) -> int:
        """How many numbers of scratch were taken so far."""
        return int(self.record[2])


def numbers(data: np.ndarray, scratch: int = 0) -> Row:
    assert data.dtype == np.float64
    assert data.flags.c_contiguous
    return Row(data, BufferType(), np.full(scratch + 8, np.nan))


def integers(data: np.ndarray) -> Row:
    return Row(np.ascontiguousarray(data, np.int64), IntegersType(), np.empty(8))


def packs(data: np.ndarray, lanes: int = LANES, scratch: int = 0) -> Row:
    """Packs of `lanes` neighbouring numbers, float64 or float32, of the array."""
    assert data.flags.c_contiguous
    assert data.size % lanes == 0
    return Row(data, BufferType(lanes, numba.from_dtype(data.dtype)), np.full(scratch + 8, np.nan))


def aligned(n: int) -> np.ndarray:
    """n NaNs that begin at a cache line."""
    raw = np.full(n + 8, np.nan)
    start = (-raw.ctypes.data % CACHE_LINE) // 8
    return raw[start : start + n]


@typeof_impl.register(Row)
def _(row: Row, context: Any) -> Any:
    return row.kind


def _word(c: Any, row: Any, name: str) -> Any:
    field = c.pyapi.object_getattr_string(row, name)
    word = c.pyapi.long_as_longlong(field)
    c.pyapi.decref(field)
    return word


@unbox(IntegersType)
@unbox(BufferType)
def _(kind: Any, row: Any, c: Any) -> NativeValue:
    address = _word(c, row, "address")
    if isinstance(kind, IntegersType):
        return NativeValue(c.builder.inttoptr(address, i64.as_pointer()))
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    made.data = c.builder.inttoptr(address, made.data.type)
    made.record = c.builder.inttoptr(_word(c, row, "record_address"), ir.IntType(64).as_pointer())
    return NativeValue(made._getvalue())


def compiled(function: Callable) -> Callable:
    """The function compiled for what it is called with: rows, integers and floats; it may call kernels and primitives."""
    for marked in MARKED:
        if id(marked) not in numba_ir._registered:
            numba_ir._registered.add(id(marked))
            register_jitable(**options(marked))(marked)
    return numba.njit(function)
