"""The compiled code behind builtin functions (python_calls.py): from Python's objects to an entry and back. Imported only
to compile.

Documented interfaces: CPython, "Capsules", "Integer Objects", "Tuple Objects", "Exception Handling", "Common Object
Structures" (METH_FASTCALL); NumPy C API, PyArray_New and PyArrayObject_fields.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from freeflyer.kernels.calls.entry import NOT_FLAT, OK, ROWS, SCRATCH, STATES
from freeflyer.kernels.calls.python_calls import (
    ARRAY,
    AXES,
    AXES_OF_ALL,
    CAPSULE,
    DATA,
    DESCR,
    ENTRY_NAME,
    FLAGS,
    FLOAT64,
    FUNCTION,
    INPUTS,
    INT,
    KNOWN,
    MAKES,
    MODEL_NAME,
    MOST,
    NEW_ARRAY,
    NONE,
    NPY_DOUBLE,
    OPTIONS,
    OUTPUTS,
    PARAMETERS,
    READABLE,
    SCRATCH_AT,
    SCRATCH_SIZE,
    SHAPE,
    TOPOLOGY,
    TUPLE,
    TYPE,
    WHERE_AT,
    WRITABLE,
)
from freeflyer.kernels.compiler.marks import inlined
from freeflyer.kernels.lowering.types import i32, i64

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


@intrinsic
def stack_integers(typing_context):
    """The address of memory on the stack for addresses of inputs, options and addresses of outputs, MOST each, then sizes."""

    def codegen(context, builder, sig, args):
        return builder.ptrtoint(cgutils.alloca_once(builder, i64, size=3 * MOST + ROWS + 2 * MOST), i64)

    return types.int64(), codegen


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
from_integer = c_function("PyLong_FromSsize_t", address, i64)
error_occurred = c_function("PyErr_Occurred", address)
error_clear = c_function("PyErr_Clear", ir.VoidType())
bad_argument = c_function("PyErr_BadArgument", i32)
tuple_item = c_function("PyTuple_GetItem", address, address, i64)
tuple_size = c_function("PyTuple_Size", i64, address)
incref = c_function("Py_IncRef", ir.VoidType(), address)
decref = c_function("Py_DecRef", ir.VoidType(), address)


@intrinsic
def new_array(typing_context, known, axes, m, n):
    """A new float64 array of shape (m, n), or (n,) if there is one axis; 0 where there is no memory for it."""

    def codegen(context, builder, sig, args):
        table, axes, m, n = args
        shape = cgutils.alloca_once(builder, i64, size=2)
        one = builder.icmp_signed("==", axes, i64(1))
        builder.store(builder.select(one, n, m), shape)
        builder.store(n, builder.gep(shape, [i64(1)]))
        ty = ir.FunctionType(address, [address, i32, address, i32, address, address, i32, i32, address])
        make = builder.inttoptr(builder.load(builder.gep(table, [i64(NEW_ARRAY)])), ty.as_pointer())
        kind = builder.inttoptr(builder.load(builder.gep(table, [i64(ARRAY)])), address)
        null = address(None)
        made = builder.call(make, [
            kind, builder.trunc(axes, i32), builder.bitcast(shape, address), i32(NPY_DOUBLE), null, null, i32(0), i32(0), null,
        ])  # fmt: skip
        return builder.ptrtoint(made, i64)

    return types.int64(known, types.int64, types.int64, types.int64), codegen


@intrinsic
def call_entry(typing_context, function, arguments):
    """The status of the entry at an address."""

    def codegen(context, builder, sig, args):
        values = [builder.inttoptr(x, address) for x in cgutils.unpack_tuple(builder, args[1])]
        ty = ir.FunctionType(i64, [address] * len(values))
        return builder.call(builder.inttoptr(args[0], ty.as_pointer()), values)

    return types.int64(types.int64, arguments), codegen


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
def array_size(x, axes):
    shape, size = integers_at(word(x, SHAPE)), 1
    for k in range(axes):
        size *= shape[k]
    return size


@inlined
def integer(x):
    """The value of an int object; -1 where it has more than 64 bits."""
    value = as_integer((x,))
    if value == -1 and error_occurred(()) != 0:
        error_clear(())
    return value


@inlined
def new_result(known, shape):
    """A new array of a shape given as an int or a tuple of two; 0 with Python's error where that is impossible."""
    if word(shape, TYPE) == known[INT]:
        return new_array(known, 1, 0, max(integer(shape), 0))
    if word(shape, TYPE) == known[TUPLE] and tuple_size((shape,)) == 2:
        m, n = tuple_item((shape, 0)), tuple_item((shape, 1))
        if word(m, TYPE) == known[INT] and word(n, TYPE) == known[INT]:
            return new_array(known, 2, max(integer(m), 0), max(integer(n), 0))
    bad_argument(())
    return 0


@inlined
def fits(known, entry, arguments, fresh):
    """Whether the arguments are a model's handle, arrays and integers, but for the last one if that is to be a new array."""
    inputs, options, outputs = entry[INPUTS], entry[OPTIONS], entry[OUTPUTS]
    if word(arguments[0], TYPE) != known[CAPSULE] or capsule_is_valid((arguments[0], model_name())) == 0:
        return False
    for k in range(inputs):
        if not is_array(known, arguments[1 + k], entry[AXES_OF_ALL + outputs + k], READABLE):
            return False
    for k in range(options):
        if word(arguments[1 + inputs + k], TYPE) != known[INT]:
            return False
    for k in range(1 if fresh else 0, outputs):
        if not is_array(known, arguments[1 + inputs + options + k], entry[AXES_OF_ALL + k], WRITABLE):
            return False
    return True


@inlined
def answer(known, fresh, status, result):
    """The new array, or None where the state was refused; where none was to be made, the status."""
    if not fresh:
        return from_integer((status,))
    found = result if status == OK else known[NONE]
    incref((found,))
    return found


def call(self, arguments, given):
    entry = integers_at(capsule_pointer((self, entry_name())))
    known, inputs, options, outputs = integers_at(entry[KNOWN]), entry[INPUTS], entry[OPTIONS], entry[OUTPUTS]
    fresh = entry[MAKES] != 0
    count = 1 + inputs + options + outputs
    if given != count:
        bad_argument(())
        return 0
    last = arguments[count - 1]
    if not fits(known, entry, arguments, fresh):
        return answer(known, fresh, NOT_FLAT, known[NONE])
    if fresh:
        last = new_result(known, last)
        if last == 0:
            return 0
    stack = stack_integers()
    input_rows, option_row = integers_at(stack), integers_at(stack + 8 * MOST)
    output_rows, sizes = integers_at(stack + 16 * MOST), integers_at(stack + 24 * MOST)
    for k in range(inputs):
        x = arguments[1 + k]
        input_rows[k], sizes[ROWS + k] = word(x, DATA), array_size(x, entry[AXES_OF_ALL + outputs + k])
    for k in range(options):
        option_row[k] = integer(arguments[1 + inputs + k])
    for k in range(outputs):
        x = last if k == outputs - 1 else arguments[1 + inputs + options + k]
        output_rows[k], sizes[ROWS + inputs + k] = word(x, DATA), array_size(x, entry[AXES_OF_ALL + k])
    sizes[SCRATCH], sizes[STATES] = known[SCRATCH_SIZE], 1
    model = integers_at(capsule_pointer((arguments[0], model_name())))
    status = call_entry(entry[FUNCTION], (
        model[TOPOLOGY], model[PARAMETERS], stack, stack + 8 * MOST, stack + 16 * MOST, stack + 24 * MOST,
        known[SCRATCH_AT], entry[KNOWN] + 8 * WHERE_AT,
    ))  # fmt: skip
    result = answer(known, fresh, status, last)
    if fresh:
        decref((last,))
    return result


BODIES: dict[str, tuple[Any, Any]] = {  # compiled functions that are no entries
    "adapter": (call, types.int64(types.int64, POINTER, types.int64)),
}
