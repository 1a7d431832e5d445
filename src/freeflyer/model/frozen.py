"""Values that cannot change: arrays over immutable memory, tuples for lists, and records that keep both through copies.

A read-only flag alone is no protection: `array.setflags(write=True)` lifts it from any array that owns its memory, and
`copy.deepcopy` and `pickle` give writable arrays back."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freeflyer.text import short_repr

ALIGNMENT = 64  # bytes: a cache line, and a vector of eight doubles


def frozen_array(x: ArrayLike) -> np.ndarray:
    """The same entries, C-contiguous, in memory that NumPy can never write to; the first at a 64-byte boundary.

    An array that is already so is returned as it is. Arrays of Python objects, whose entries may change, are refused with a
    TypeError."""
    array = np.asarray(x)
    if array.dtype.hasobject:
        raise TypeError(f"an array of Python objects cannot be frozen (dtype {array.dtype})")
    if is_frozen(array):
        return array
    shape, array = array.shape, np.ascontiguousarray(array)
    memory = bytes(array.nbytes + ALIGNMENT)
    start = np.frombuffer(memory, np.uint8).ctypes.data
    offset = -start % ALIGNMENT
    ctypes.memmove(start + offset, array.ctypes.data, array.nbytes)  # these bytes are not shared yet
    return np.frombuffer(memory, array.dtype, array.size, offset).reshape(shape)


def is_frozen(array: np.ndarray) -> bool:
    """Whether this is an array that `frozen_array` made, whole."""
    base: object = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return (type(array) is np.ndarray and type(base) is bytes and array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0)


def is_masked(x: object) -> bool:
    """Whether x is an array of which entries are masked. numpy.ma is imported only for arrays of another type than NumPy's own."""
    return isinstance(x, np.ndarray) and type(x) is not np.ndarray and bool(np.ma.is_masked(x))


def frozen(x: Any) -> Any:
    """A value for a record's field: arrays frozen, lists and tuples as tuples of frozen values, anything else as it is.

    Arrays of other things than numbers stay as they are: `build` refuses them and names the joint or link."""
    if isinstance(x, np.ndarray):
        return frozen_array(x) if x.dtype.kind in "biufc" and not is_masked(x) else x
    if isinstance(x, list | tuple):
        return tuple(map(frozen, x))
    return x


def frozen_numbers(x: Any) -> Any:
    """A float64 array, frozen, of what can be read as one; anything else as `frozen` has it, for `build` to refuse."""
    try:
        array = np.asarray(x)
    except Exception:  # ragged lists, objects of other libraries
        return frozen(x)
    if array.dtype.kind not in "fiu" or is_masked(x):
        return frozen(x)
    return frozen_array(array.astype(np.float64, copy=False))


NUMBERS = {"numbers": True}  # metadata of a field that holds an array of numbers, given as an array or a list


@dataclass(frozen=True, eq=False)  # with no fields to compare, all would be equal
class Record:
    """Base of frozen dataclasses whose fields are frozen when they are made, and again in every copy and pickle."""

    def __init_subclass__(cls) -> None:
        cls.__repr__ = short_repr  # type: ignore[method-assign]  # a dataclass keeps one that is there

    def __post_init__(self) -> None:
        for f in fields(self):
            freeze = frozen_numbers if f.metadata.get("numbers") else frozen
            object.__setattr__(self, f.name, freeze(getattr(self, f.name)))

    def __reduce__(self) -> Any:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))
