"""Python's objects, tuples and arrays as addresses, for compiler/adapter.py: with it, call_layout.py and calls/python_calls.py
all code that depends on CPython's and NumPy's C interface.

Documented interfaces: CPython, "Capsules", "Integer Objects", "Tuple Objects", "Exception Handling", "Common Object Structures"
(METH_FASTCALL); NumPy C API, PyArray_New and PyArrayObject_fields.
"""

from collections.abc import Callable
from typing import Any

from freeflyer.kernels.compiler.call_layout import ARRAY, NEW_ARRAY, NPY_DOUBLE
from freeflyer.kernels.compiler.frontend.functions import Functions
from freeflyer.kernels.compiler.frontend.kinds import INT, INTEGERS, Register
from freeflyer.kernels.compiler.meanings.arguments import compiled_only


def pointer(e: Functions, x: Any) -> str:
    return e.address(f"inttoptr i64 {e.name(x, INT)} to ptr")


def moved(e: Functions, x: Any, offset: int) -> str:
    return e.address(f"inttoptr i64 {e.address(f'add i64 {e.name(x, INT)}, {e.name(offset, INT)}')} to ptr")


@compiled_only
def word(e, x, offset):
    """The eight bytes `offset` bytes from an address."""
    return e.write(INT, f"load i64, ptr {moved(e, x, offset)}")


@compiled_only
def load_int32(e, x, offset):
    """The four bytes `offset` bytes from an address."""
    return e.write(INT, f"sext i32 {e.address(f'load i32, ptr {moved(e, x, offset)}')} to i64")


@compiled_only
def integers_at(e, x):
    """A pointer to the integers at an address."""
    return Register(INTEGERS, pointer(e, x))


def c_function(name: str, result: str, *parameters: str) -> Callable[..., Any]:
    """A function of CPython's C interface, of these LLVM types; objects are addresses."""

    @compiled_only
    def call(e, *given):
        values = []
        for x, ty in zip(given, parameters, strict=True):
            value = pointer(e, x) if ty == "ptr" else e.name(x, INT)
            values.append(f"{ty} {e.address(f'trunc i64 {value} to i32') if ty == 'i32' else value}")
        e.declare(name, result, list(parameters), "nounwind")
        text = f"call {result} @{name}({', '.join(values)})"
        if result == "void":
            return e.line(text)
        if result == "i64":
            return e.write(INT, text)
        return e.write(INT, f"{'ptrtoint ptr' if result == 'ptr' else 'sext i32'} {e.address(text)} to i64")

    return call


as_integer = c_function("PyLong_AsSsize_t", "i64", "ptr")
error_occurred = c_function("PyErr_Occurred", "ptr")
error_clear = c_function("PyErr_Clear", "void")
bad_argument = c_function("PyErr_BadArgument", "i32")
tuple_item = c_function("PyTuple_GetItem", "ptr", "ptr", "i64")
new_tuple = c_function("PyTuple_New", "ptr", "i64")
set_tuple_item = c_function("PyTuple_SetItem", "i32", "ptr", "i64", "ptr")
tuple_size = c_function("PyTuple_Size", "i64", "ptr")
incref = c_function("Py_IncRef", "void", "ptr")
decref = c_function("Py_DecRef", "void", "ptr")


@compiled_only
def new_array(e, table, axes, shape):
    """A new float64 array of a shape; 0 with Python's error if there is no memory for it."""
    make, kind = (e.address(f"load ptr, ptr {e.integer_address(table, k)}") for k in (NEW_ARRAY, ARRAY))
    count = e.address(f"trunc i64 {e.name(axes, INT)} to i32")
    made = e.address(
        f"call ptr {make}(ptr {kind}, i32 {count}, ptr {shape.name}, i32 {NPY_DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)"
    )
    return e.write(INT, f"ptrtoint ptr {made} to i64")


@compiled_only
def stack_integers(e, count):
    """The address of so many words on the stack."""
    return e.write(INT, f"ptrtoint ptr {e.allocate(f'[{count} x i64]')} to i64")


@compiled_only
def call_entry(e, function, *arguments):
    """The status of the entry at an address."""
    values = ", ".join(f"ptr {pointer(e, x)}" for x in arguments)
    return e.write(INT, f"call i64 {pointer(e, function)}({values})")
