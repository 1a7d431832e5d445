"""Parts of kernels compiled alone, to be called on rows of numbers and of Packs: what the tests of primitives use.

    part = compiled(lambda x, y: store(y, 0, 2.0 * load(x, 0)))
    part(numbers(x), numbers(y))
"""

import ctypes
import linecache
import numpy as np
from collections.abc import Callable
from freeflyer.kernels.backend import LANES, kernel
from freeflyer.kernels.compiler import (
    meanings,  # noqa: F401  gives primitives their compiled meaning
    object_code,
)
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.frontend.instructions import source
from freeflyer.kernels.compiler.frontend.kinds import BOOL, FLOAT, INT, INTEGERS, BufferKind
from functools import cache
from typing import Any

CACHE_LINE = 64  # bytes
C_TYPES = {"i64": ctypes.c_int64, "i1": ctypes.c_bool, "double": ctypes.c_double, "ptr": ctypes.c_void_p, "void": None}


class Row:
    """A row of numbers, Packs or integers (`kind`) in an array; `scratch` is the memory for workspaces."""

    def __init__(self, data: np.ndarray, kind: Any, scratch: np.ndarray) -> None:
        self.data, self.kind, self.scratch = data, kind, scratch
        lost = (-scratch.ctypes.data % CACHE_LINE) // 8
        self.record = np.array([scratch.ctypes.data + 8 * lost, scratch.size - lost, 0])

    @property
    def words(self) -> list[int]:
        """What compiled code takes: the address, and, but for integers, that of the record of the memory for workspaces."""
        return [self.data.ctypes.data] + ([] if self.kind is INTEGERS else [self.record.ctypes.data])

    @property
    def taken(self) -> int:
        """How many numbers of scratch were taken so far."""
        return int(self.record[2])


def numbers(data: np.ndarray, scratch: int = 0) -> Row:
    assert data.dtype == np.float64
    assert data.flags.c_contiguous
    return Row(data, BufferKind(1), np.full(scratch + 8, np.nan))


def integers(data: np.ndarray) -> Row:
    return Row(np.ascontiguousarray(data, np.int64), INTEGERS, np.empty(8))


def packs(data: np.ndarray, lanes: int = LANES, scratch: int = 0) -> Row:
    """Packs of `lanes` neighbouring numbers of the array."""
    assert data.dtype == np.float64
    assert data.flags.c_contiguous
    assert data.size % lanes == 0
    return Row(data, BufferKind(lanes), np.full(scratch + 8, np.nan))


def aligned(n: int) -> np.ndarray:
    """n NaNs that begin at a cache line."""
    raw = np.full(n + 8, np.nan)
    start = (-raw.ctypes.data % CACHE_LINE) // 8
    return raw[start : start + n]


@cache
def machine_code(function: Callable, kinds: tuple[Any, ...]) -> Any:
    """The function for arguments of these kinds, as ctypes calls it."""
    made = Functions({}).written(source(function), kinds, "")
    codes = [object_code.object_code(f.code, object_code.host()) for f in made.closure]
    result = C_TYPES[made.result_type]
    return ctypes.CFUNCTYPE(result, *(C_TYPES[t] for t in made.parameters))(object_code.load(codes, made.symbol))


def compiled(function: Callable) -> Callable:
    """The function compiled for what it is called with: rows, integers, floats and truths; it may call kernels and primitives."""

    def kind(x: Any) -> Any:
        return x.kind if isinstance(x, Row) else BOOL if isinstance(x, bool) else INT if isinstance(x, int | np.integer) else FLOAT

    def call(*arguments: Any) -> Any:
        code = machine_code(function, tuple(kind(x) for x in arguments))
        return code(*(word for x in arguments for word in (x.words if isinstance(x, Row) else [x])))

    return call


def from_text(text: str, **names: Any) -> Callable:
    """The last function of a text, as if it stood in a file of its own; `names`: what else it knows."""
    file = f"<text {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"kernel": kernel, **names}
    exec(compile(text, file, "exec"), space)
    return [x for x in space.values() if getattr(getattr(x, "__code__", None), "co_filename", "") == file][-1]
