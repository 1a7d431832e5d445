"""Functions that Python calls without Numba's dispatcher, which takes 0.3 us to look at types and to wrap arrays.

A door is compiled code behind a builtin function (METH_FASTCALL): it gets Python's objects, looks at their types itself,
reads numbers where CPython and NumPy keep them (PyArrayObject_fields, stable since NumPy 1.7) and answers with an object.
It takes plain arrays only: exact type, native aligned float64, C-contiguous. Nothing else is ever read as numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import populate_array

from freeflyer.kernels.compiler._instructions import instruction
from freeflyer.kernels.compiler._jit import inlined

FLOATS = types.Array(types.float64, 1, "C")
HEAD = object.__basicsize__  # of every object: reference count and, last, type
TYPE = HEAD - 8
DATA, AXES, SHAPE, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # of an array
READABLE = 0x101  # C-contiguous, aligned
WRITABLE = 0x501
ARRAY, FLOAT64, INT, TUPLE, NONE, NEW = 0, 8, 16, 24, 32, 40  # addresses that a door's own object, `known`, holds
PY_ARRAY_NEW, NPY_DOUBLE, METH_FASTCALL = 93, 12, 0x80

i32, i64 = ir.IntType(32), ir.IntType(64)
pointer = ir.IntType(8).as_pointer()


class MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("meth", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _known() -> np.ndarray:
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    table = api.PyCapsule_GetPointer(np._core._multiarray_umath._ARRAY_API, None)
    new = ctypes.c_void_p.from_address(table + ctypes.sizeof(ctypes.c_void_p) * PY_ARRAY_NEW).value
    return np.array([id(np.ndarray), id(np.dtype(np.float64)), id(int), id(tuple), id(None), new], np.int64)


known = _known()
known.flags.writeable = False
_kept: list[Any] = []  # what C code points to lives as long as the process


def builtin(name: str, compiled: Any) -> Callable:
    """The Python function behind which lies a compiled door(known, arguments, count)."""
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
    method = MethodDef(name.encode(), address, METH_FASTCALL, None)
    _kept.append((method, compiled))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.addressof(method), known, None)


@instruction
def word(typing_context, address, offset):
    """The eight bytes that lie `offset` bytes from an address."""

    def codegen(context, builder, sig, args):
        return builder.load(builder.inttoptr(builder.add(*args), i64.as_pointer()))

    return types.int64(types.int64, types.int64), codegen


@instruction
def half_word(typing_context, address, offset):
    """The four bytes that lie `offset` bytes from an address."""

    def codegen(context, builder, sig, args):
        return builder.sext(builder.load(builder.inttoptr(builder.add(*args), i32.as_pointer())), i64)

    return types.int64(types.int64, types.int64), codegen


def _python(name: str, result: Any, *arguments: Any) -> Any:
    """A function of CPython's C interface, objects being addresses."""
    tys = [pointer if a == "object" else i64 for a in arguments]

    @instruction
    def call(typing_context, *args):
        def codegen(context, builder, sig, values):
            values = cgutils.unpack_tuple(builder, values[0])
            values = [builder.inttoptr(v, pointer) if t is pointer else v for v, t in zip(values, tys)]
            ty = ir.FunctionType(pointer if result == "object" else i64, tys)
            got = builder.call(cgutils.get_or_insert_function(builder.module, ty, name), values)
            return builder.ptrtoint(got, i64) if result == "object" else got

        args = args[0] if len(args) == 1 and isinstance(args[0], types.BaseTuple) else args
        return types.int64(types.StarArgTuple.from_types(args)), codegen

    return call


as_int = _python("PyLong_AsSsize_t", "int", "object")
from_int = _python("PyLong_FromSsize_t", "object", "int")
tuple_item = _python("PyTuple_GetItem", "object", "object", "int")
tuple_size = _python("PyTuple_Size", "int", "object")
bad_argument = _python("PyErr_BadArgument", "int")
take = _python("Py_IncRef", "int", "object")
drop = _python("Py_DecRef", "int", "object")


@instruction
def new_array(typing_context, known, axes, m, n):
    """A new float64 array of shape (m, n), or (n,) if there is one axis; 0 where there is no memory for it."""

    def codegen(context, builder, sig, args):
        shape = cgutils.alloca_once(builder, ir.ArrayType(i64, 2))
        first = cgutils.gep_inbounds(builder, shape, 0, 0)
        one = builder.icmp_signed("==", args[1], i64(1))
        builder.store(builder.select(one, args[3], args[2]), first)
        builder.store(args[3], cgutils.gep_inbounds(builder, shape, 0, 1))
        ty = ir.FunctionType(pointer, [pointer, i32, pointer, i32, pointer, pointer, i32, i32, pointer])
        at = builder.add(args[0], i64(NEW))
        make = builder.inttoptr(builder.load(builder.inttoptr(at, i64.as_pointer())), ty.as_pointer())
        kind = builder.inttoptr(builder.load(builder.inttoptr(args[0], i64.as_pointer())), pointer)
        null = pointer(None)
        made = builder.call(make, [
            kind, builder.trunc(args[1], i32), builder.bitcast(first, pointer), i32(NPY_DOUBLE), null, null, i32(0), i32(0), null,
        ])  # fmt: skip
        return builder.ptrtoint(made, i64)

    return types.int64(types.int64, types.int64, types.int64, types.int64), codegen


def reader(kinds: tuple[int, ...]) -> Any:
    """read(arguments, last): the arguments after the first as numbers, `last` taking the place of the last of them.

    A kind is the number of axes of an array, all numbers of which become a compiled array of one axis; 0: an integer.
    """
    sizes = {0: types.int64, 1: FLOATS, 2: FLOATS}

    @instruction
    def read(typing_context, arguments, last):
        result = types.Tuple([sizes[kind] for kind in kinds])

        def codegen(context, builder, sig, args):
            first = builder.inttoptr(args[0], i64.as_pointer())
            objects = [builder.load(builder.gep(first, [i64(k)])) for k in range(1, len(kinds))] + [args[1]]
            values = [_array(context, builder, x, kind) if kind else _int(builder, x) for x, kind in zip(objects, kinds)]
            return context.make_tuple(builder, result, values)

        return result(types.int64, types.int64), codegen

    return read


def _int(builder: Any, x: Any) -> Any:
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(i64, [pointer]), "PyLong_AsSsize_t")
    return builder.call(function, [builder.inttoptr(x, pointer)])


def _array(context: Any, builder: Any, x: Any, axes: int) -> Any:
    def at(offset: int) -> Any:
        return builder.load(builder.inttoptr(builder.add(x, i64(offset)), i64.as_pointer()))

    shape = builder.inttoptr(at(SHAPE), i64.as_pointer())
    size = i64(1)
    for k in range(axes):
        size = builder.mul(size, builder.load(builder.gep(shape, [i64(k)])))
    made = context.make_array(FLOATS)(context, builder)
    data = builder.inttoptr(at(DATA), ir.DoubleType().as_pointer())
    populate_array(made, data, shape=[size], strides=[i64(8)], itemsize=i64(8), meminfo=None)
    return made._getvalue()


@inlined
def is_array(known, x, axes, flags):
    """Whether an object is a plain float64 array of so many axes, with these flags."""
    return (
        word(x, TYPE) == word(known, ARRAY)
        and word(x, DESCR) == word(known, FLOAT64)
        and half_word(x, AXES) == axes
        and half_word(x, FLAGS) & flags == flags
    )


@inlined
def is_int(known, x):
    return word(x, TYPE) == word(known, INT)


@inlined
def array_like_shape(known, shape):
    """A new array of a shape given as an integer or a tuple of two; 0 with Python's error where that is impossible."""
    if is_int(known, shape):
        return new_array(known, 1, 0, as_int(shape))
    if word(shape, TYPE) == word(known, TUPLE) and tuple_size(shape) == 2:
        m, n = tuple_item(shape, 0), tuple_item(shape, 1)
        if is_int(known, m) and is_int(known, n):
            return new_array(known, 2, as_int(m), as_int(n))
    bad_argument()
    return 0
