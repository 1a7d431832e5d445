"""Compiled entries as Python functions of plain arrays: with adapter.py and objects.py all code that depends on CPython's and
NumPy's C interface.

A builtin function (METH_FASTCALL) whose compiled code, one for all entries, looks at the types of its arguments, reads addresses
and sizes where CPython and NumPy keep them (PyObject; PyArrayObject_fields, stable since NumPy 1.7), makes arrays for the results,
calls the entry and returns them. It takes plain arrays only: exact type, native aligned float64, C-contiguous. Where these layouts
are not what `layouts_are_known` finds at start, the same calls go through ctypes.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from freeflyer.kernels.compiler import call_layout as L
from freeflyer.kernels.entries import ENTRIES
from freeflyer.kernels.entry import SMALL_WORK, WHERE, Entry, formula
from freeflyer.kernels.model.layout import N_V

_api = ctypes.pythonapi
_api.PyCapsule_New.restype, _api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetContext.argtypes = [ctypes.py_object, ctypes.c_void_p]
_api.PyCFunction_NewEx.restype = ctypes.py_object
_api.PyCFunction_NewEx.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
_word = ctypes.c_int64.from_address
CAPSULE_TYPE = type(np._core._multiarray_umath._ARRAY_API)  # type: ignore[attr-defined]
_kept: list[Any] = []  # kept until the process ends: C code points to it
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))  # functions in caches may end after this module, and read it then


class MethodDef(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


@cache
def layouts_are_known() -> bool:
    """Whether objects and arrays of this interpreter and NumPy lie in memory as adapter.py reads them."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    sample = np.zeros((2, 3))
    at = sample.ctypes.data
    try:
        made = _api.PyCapsule_New(at, L.MODEL_NAME, None)
        words = [_word(id(sample) + k).value for k in (L.TYPE, L.DATA, L.DESCR)]
        axes, flags = (ctypes.c_int32.from_address(id(sample) + k).value for k in (L.AXES, L.FLAGS))
        shape = (ctypes.c_int64 * 2).from_address(_word(id(sample) + L.SHAPE).value)
        kept = [_word(id(made) + k).value for k in (L.TYPE, L.POINTER, L.NAME, L.CONTEXT)]
        return (
            words == [id(np.ndarray), at, id(np.dtype(np.float64))]
            and (axes, *shape, flags & L.WRITABLE) == (2, 2, 3, L.WRITABLE)
            and kept == [id(CAPSULE_TYPE), at, known()[L.MODEL], 0] and bool(known()[L.NEW_ARRAY])
        )  # fmt: skip
    except (ValueError, AttributeError):
        return False


def address(x: np.ndarray) -> int:
    """Where an array's numbers begin. (`x.ctypes.data` takes ten times as long.)"""
    return _word(id(x) + L.DATA).value if layouts_are_known() else int(x.ctypes.data)


def _new_array() -> int:
    """Address of PyArray_New, from the table that NumPy gives to C code."""
    table = _api.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    return ctypes.c_void_p.from_address(table + ctypes.sizeof(ctypes.c_void_p) * L.PY_ARRAY_NEW).value or 0


def capsule(record: np.ndarray, name: bytes, destroy: int | None = None, owned: object = None) -> Any:
    """A capsule: an object that only C code can make, holding the address of a record. It keeps `owned` alive, which the destructor
    releases."""
    made = _api.PyCapsule_New(address(record), name, destroy)
    if destroy:
        _api.Py_IncRef(ctypes.py_object(owned))
        _api.PyCapsule_SetContext(made, id(owned))
    return made


def model_record(handle: Any) -> tuple[int, int]:
    """Addresses of a model's topology and parameters. Errors: ValueError for anything but a model's handle."""
    at = _api.PyCapsule_GetPointer(handle, L.MODEL_NAME)
    topology, parameters = (ctypes.c_int64 * 2).from_address(at)
    return topology, parameters


def number_of(entry: Entry) -> int:
    """An entry's number in tables of code; entries of other packages share the last, which stays empty."""
    return list(ENTRIES.values()).index(entry) if ENTRIES.get(entry.name) is entry else len(ENTRIES)


def code_table() -> np.ndarray:
    """(entries + 1, 2): addresses of functions that serve one model in an entry's place, for one state and for a batch; 0 if
    there is none."""
    return np.zeros((len(ENTRIES) + 1, 2), np.int64)


def own_function(handle: Any, entry: Entry, batch: bool) -> int:
    """Address of a model's own function in an entry's place, or 0."""
    code = _word(_api.PyCapsule_GetPointer(handle, L.MODEL_NAME) + 8 * L.CODE).value
    return _word(code + 8 * (2 * number_of(entry) + batch)).value if code else 0


_known = np.zeros(L.WHERE_AT + WHERE, np.int64)


def grow_scratch(numbers: int) -> None:
    """Makes the memory that calls under the interpreter lock share hold at least so many numbers."""
    if numbers > _known[L.SCRATCH_SIZE]:
        larger = np.empty(numbers + 8)
        _kept.append(larger)  # never freed, nor is the one before: another thread may be about to use either
        _known[L.SCRATCH_AT : L.SCRATCH_SIZE + 1] = larger.ctypes.data, larger.size  # at once


@cache
def known() -> np.ndarray:
    _known[: L.NEW_ARRAY + 1] = [
        id(np.ndarray), id(np.dtype(np.float64)), id(int), id(tuple), id(None), id(CAPSULE_TYPE),
        ctypes.cast(L.MODEL_NAME, ctypes.c_void_p).value, _new_array(),
    ]  # fmt: skip
    _known[L.SHORT_WORK] = SMALL_WORK
    return _known


def is_long(entry: Entry, topology: Any, states: int) -> bool:
    """Whether a batch reads and makes more numbers than one thread does at once, keeping the interpreter lock. Closed linkages
    weigh more."""
    numbers = len(entry.inputs) * int(topology[N_V]) + sum(map(prod, entry.output_shapes(topology)))
    return bool(states * entry.weight * numbers > known()[L.SHORT_WORK])


@cache
def record(entry: Entry) -> np.ndarray:
    """The record of an entry that adapter.py reads; the addresses of its functions are zero until they are compiled."""
    counts = entry.input_count, len(entry.options), len(entry.outputs)
    if max(counts) > L.MAX_ARRAYS or any(len(shape) > 2 for shape in entry.outputs):
        raise ValueError(f"{entry.name}: at most {L.MAX_ARRAYS} inputs, options and outputs, of at most two axes")
    head = [0, 0, len(entry.inputs), *counts, entry.table, entry.one_by_one, entry.weight, number_of(entry),
            known().ctypes.data, *entry.input_axes]
    shapes = ((len(shape), *(word for n in shape for word in formula(n)), 0, 0, 0) for shape in entry.outputs)
    return np.array([*head, *(word for shape in shapes for word in shape[:L.OUTPUT_WORDS])], np.int64)


def builtin(name: str, adapter: int, words: np.ndarray) -> Callable[..., Any]:
    """The Python function of an entry, by its record: f(handle, inputs..., options..., out), for one state or a short batch,
    whose inputs are each of all states or of one that they share. For one state wrenches (k, 6) may be a tuple of arrays (6,).
    `out` is None, the array for an only output, or a tuple of the arrays of several. Returns these or new ones; None for what it
    does not take (anything but plain arrays, long batches, functions yet to be compiled) and for states that are refused."""
    method = MethodDef(name.encode(), adapter, L.METH_FASTCALL, None)
    _kept.append((words, method))
    return _api.PyCFunction_NewEx(ctypes.addressof(method), words, None)
