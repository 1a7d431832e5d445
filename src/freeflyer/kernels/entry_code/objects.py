"""Python's objects, tuples and arrays in compiled code, as addresses: with adapter.py, call_layout.py and
calls/python_calls.py all code that depends on CPython's and NumPy's C interface. Imported only to compile.

Documented interfaces: CPython, "Capsules", "Integer Objects", "Tuple Objects", "Exception Handling", "Common Object
Structures"; NumPy C API, PyArray_New and PyArrayObject_fields.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from freeflyer.kernels.entry_code.call_layout import (
    ARRAY,
    AXES,
    DESCR,
    ENTRY_NAME,
    FLAGS,
    FLOAT64,
    MODEL_NAME,
    NEW_ARRAY,
    NPY_DOUBLE,
    SHAPE,
    TYPE,
)
from freeflyer.kernels.lowering.types import i32, i64
from freeflyer.kernels.marks import inlined

POINTER = types.CPointer(types.int64)
address = ir.IntType(8).as_pointer()


@intrinsic
def word(typing_context, at, offset):
    """The eight bytes `offset` bytes from an address."""

    def codegen(context, builder, sig, args):
        return builder.load(builder.inttoptr(builder.add(*args), i64.as_pointer()))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def load_int32(typing_context, at, offset):
    """The four bytes `offset` bytes from an address."""

    def codegen(context, builder, sig, args):
        return builder.sext(builder.load(builder.inttoptr(builder.add(*args), i32.as_pointer())), i64)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def integers_at(typing_context, at):
    """A pointer to the integers at an address."""

    def codegen(context, builder, sig, args):
        return builder.inttoptr(args[0], i64.as_pointer())

    return POINTER(types.int64), codegen


CALLED: set[str] = set()  # functions of CPython's C interface


def c_function(name: str, result: Any, *parameters: Any) -> Any:
    """A function of CPython's C interface, objects being addresses."""
    CALLED.add(name)

    @intrinsic
    def call(typing_context, arguments):
        def codegen(context, builder, sig, args):
            values = [
                builder.inttoptr(v, p) if isinstance(p, ir.PointerType) else builder.trunc(v, p) if p.width < 64 else v
                for v, p in zip(cgutils.unpack_tuple(builder, args[0]), parameters)
            ]
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, parameters), name)
            got = builder.call(function, values)
            if isinstance(result, ir.PointerType):
                return builder.ptrtoint(got, i64)
            return i64(0) if isinstance(result, ir.VoidType) else builder.sext(got, i64) if result.width < 64 else got

        return types.int64(arguments), codegen

    return call


def text(content: bytes) -> Any:
    """f() -> the address of a constant text."""

    @intrinsic
    def at(typing_context):
        def codegen(context, builder, sig, args):
            return builder.ptrtoint(context.insert_const_string(builder.module, content.decode()), i64)

        return types.int64(), codegen

    return at


entry_name, model_name = text(ENTRY_NAME), text(MODEL_NAME)
capsule_pointer = c_function("PyCapsule_GetPointer", address, address, address)
capsule_is_valid = c_function("PyCapsule_IsValid", i32, address, address)
as_integer = c_function("PyLong_AsSsize_t", i64, address)
error_occurred = c_function("PyErr_Occurred", address)
error_clear = c_function("PyErr_Clear", ir.VoidType())
bad_argument = c_function("PyErr_BadArgument", i32)
tuple_item = c_function("PyTuple_GetItem", address, address, i64)
new_tuple = c_function("PyTuple_New", address, i64)
set_tuple_item = c_function("PyTuple_SetItem", i32, address, i64, address)
tuple_size = c_function("PyTuple_Size", i64, address)
incref = c_function("Py_IncRef", ir.VoidType(), address)
decref = c_function("Py_DecRef", ir.VoidType(), address)


@intrinsic
def new_array(typing_context, known, axes, shape):
    """A new float64 array of a shape; 0 with Python's error where there is no memory for it."""

    def codegen(context, builder, sig, args):
        table, axes, shape = args
        ty = ir.FunctionType(address, [address, i32, address, i32, address, address, i32, i32, address])
        make = builder.inttoptr(builder.load(builder.gep(table, [i64(NEW_ARRAY)])), ty.as_pointer())
        kind = builder.inttoptr(builder.load(builder.gep(table, [i64(ARRAY)])), address)
        null = address(None)
        made = builder.call(make, [
            kind, builder.trunc(axes, i32), builder.bitcast(shape, address), i32(NPY_DOUBLE), null, null, i32(0), i32(0), null,
        ])  # fmt: skip
        return builder.ptrtoint(made, i64)

    return types.int64(known, types.int64, shape), codegen


@inlined
def is_array(known, x, axes, flags):
    """Whether an object is a plain float64 array of so many axes, with these flags."""
    return (
        word(x, TYPE) == known[ARRAY]
        and word(x, DESCR) == known[FLOAT64]
        and load_int32(x, AXES) == axes
        and load_int32(x, FLAGS) & flags == flags
    )


@inlined
def array_size(x, first, axes):
    """The product of an array's lengths from axis `first` on."""
    shape, size = integers_at(word(x, SHAPE)), 1
    for k in range(first, axes):
        size *= shape[k]
    return size


@inlined
def integer(x):
    """The value of an int object; -1 where it has more than 64 bits."""
    value = as_integer((x,))
    if value == -1 and error_occurred(()) != 0:
        error_clear(())
    return value
