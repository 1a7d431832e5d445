"""The compiled code behind builtin functions (python_calls.py): from Python's objects to an entry and back. Imported only
to compile.

One code serves all entries: an entry's record (python_calls.record) says what it takes and what shapes its outputs have. It
answers with the results, or with None for whatever it does not take and for states that the entry refuses.

Documented interfaces: CPython, "Capsules", "Integer Objects", "Tuple Objects", "Exception Handling", "Common Object
Structures" (METH_FASTCALL); NumPy C API, PyArray_New and PyArrayObject_fields.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from freeflyer.kernels.calls.entry import OK, ROWS, SCRATCH, STATES
from freeflyer.kernels.calls.python_calls import (
    ARRAY,
    AXES,
    BATCH,
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
    LAYOUT,
    MODEL_NAME,
    MOST,
    MOST_STATES,
    NEW_ARRAY,
    NONE,
    NPY_DOUBLE,
    OPTIONS,
    OUTPUT_WORDS,
    OUTPUTS,
    OWN,
    PARAMETERS,
    READABLE,
    SCRATCH_AT,
    SCRATCH_SIZE,
    SHAPE,
    SHORT_WORK,
    TABLE,
    TOPOLOGY,
    TUPLE,
    TYPE,
    WEIGHT,
    WHERE_AT,
    WRITABLE,
)
from freeflyer.kernels.compiler.marks import inlined
from freeflyer.kernels.lowering.types import i32, i64
from freeflyer.kernels.model.layout import TABLE_AT, TABLE_KIND

SHAPE_ROW = 3 * MOST + ROWS + 2 * MOST  # in the words on the stack
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
    """The address of words on the stack: addresses of inputs, options, addresses of outputs, MOST each; sizes; a shape."""

    def codegen(context, builder, sig, args):
        return builder.ptrtoint(cgutils.alloca_once(builder, i64, size=SHAPE_ROW + 3), i64)

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


@inlined
def batch_states(known, entry, x):
    """How many states the first input x holds: 0 for one state without a batch axis; -1 for anything else."""
    if is_array(known, x, entry[LAYOUT], READABLE):
        return 0
    return integers_at(word(x, SHAPE))[0] if is_array(known, x, entry[LAYOUT] + 1, READABLE) else -1


@inlined
def fits(known, entry, arguments, states):
    """Whether the arguments are the handle of a fitting model, arrays of so many states, and integers."""
    inputs, batched = entry[INPUTS], states > 0
    if word(arguments[0], TYPE) != known[CAPSULE] or capsule_is_valid((arguments[0], model_name())) == 0:
        return False
    for k in range(inputs):
        x, more = arguments[1 + k], 1 if batched and k < entry[OWN] else 0
        if not is_array(known, x, entry[LAYOUT + k] + more, READABLE):
            return False
        if more == 1 and integers_at(word(x, SHAPE))[0] != states:
            return False
    for k in range(entry[OPTIONS]):
        if word(arguments[1 + inputs + k], TYPE) != known[INT]:
            return False
    return True


@inlined
def output_shape(topology, entry, k, states, shape):
    """Writes the shape of an output to `shape`, and returns (how many axes it has, numbers of one state)."""
    at, first, size = LAYOUT + entry[INPUTS] + OUTPUT_WORDS * k, 1 if states > 0 else 0, 1
    shape[0] = states
    axes = entry[at]
    for j in range(axes):
        entry_at = entry[at + 3 * j + 2]
        if entry_at < 0:
            entry_at = topology[TABLE_AT] - 1 - entry_at
        length = max(entry[at + 3 * j + 1] * topology[entry_at] + entry[at + 3 * j + 3], 0)
        shape[first + j] = length
        size *= length
    return first + axes, size


@inlined
def has_shape(x, axes, shape):
    found = integers_at(word(x, SHAPE))
    for k in range(axes):
        if found[k] != shape[k]:
            return False
    return True


@inlined
def are_outputs(topology, known, entry, out, states, shape):
    """Whether `out` is an output, or a tuple of all of several, of the right shapes."""
    outputs = entry[OUTPUTS]
    if outputs > 1 and (word(out, TYPE) != known[TUPLE] or tuple_size((out,)) != outputs):
        return False
    for k in range(outputs):
        x = tuple_item((out, k)) if outputs > 1 else out
        axes, _ = output_shape(topology, entry, k, states, shape)
        if not is_array(known, x, axes, WRITABLE) or not has_shape(x, axes, shape):
            return False
    return True


@inlined
def new_outputs(topology, known, entry, states, shape):
    """A new array, or a tuple of several; 0 with Python's error where there is no memory."""
    outputs = entry[OUTPUTS]
    if outputs == 1:
        axes, _ = output_shape(topology, entry, 0, states, shape)
        return new_array(known, axes, shape)
    made = new_tuple((outputs,))
    for k in range(outputs if made != 0 else 0):
        axes, _ = output_shape(topology, entry, k, states, shape)
        x = new_array(known, axes, shape)
        if x == 0:
            decref((made,))
            return 0
        set_tuple_item((made, k, x))
    return made


@inlined
def refused(known):
    incref((known[NONE],))
    return known[NONE]


def call(self, arguments, given):
    entry = integers_at(capsule_pointer((self, entry_name())))
    known, inputs, options, outputs = integers_at(entry[KNOWN]), entry[INPUTS], entry[OPTIONS], entry[OUTPUTS]
    if given != 2 + inputs + options:
        bad_argument(())
        return 0
    states = batch_states(known, entry, arguments[1])
    if states < 0 or states > MOST_STATES or not fits(known, entry, arguments, states):
        return refused(known)
    function = entry[FUNCTION] if states == 0 else entry[BATCH]
    model = integers_at(capsule_pointer((arguments[0], model_name())))
    topology = integers_at(model[TOPOLOGY])
    if function == 0 or (entry[TABLE] != 0 and topology[TABLE_KIND] != entry[TABLE]):
        return refused(known)
    stack = stack_integers()
    input_rows, option_row = integers_at(stack), integers_at(stack + 8 * MOST)
    output_rows, sizes, shape = integers_at(stack + 16 * MOST), integers_at(stack + 24 * MOST), integers_at(stack + 8 * SHAPE_ROW)
    work = 0
    for k in range(outputs):
        _, size = output_shape(topology, entry, k, states, shape)
        sizes[ROWS + inputs + k] = size
        work += size
    if states > 0 and work * states * entry[WEIGHT] > known[SHORT_WORK]:
        return refused(known)
    out = arguments[1 + inputs + options]
    fresh = out == known[NONE]
    if fresh:
        out = new_outputs(topology, known, entry, states, shape)
        if out == 0:
            return 0
    elif not are_outputs(topology, known, entry, out, states, shape):
        return refused(known)
    for k in range(inputs):
        x, first = arguments[1 + k], 1 if states > 0 and k < entry[OWN] else 0
        input_rows[k], sizes[ROWS + k] = word(x, DATA), array_size(x, first, entry[LAYOUT + k] + first)
    for k in range(options):
        option_row[k] = integer(arguments[1 + inputs + k])
    for k in range(outputs):
        output_rows[k] = word(tuple_item((out, k)) if outputs > 1 else out, DATA)
    sizes[SCRATCH], sizes[STATES] = known[SCRATCH_SIZE], max(states, 1)
    status = call_entry(function, (
        model[TOPOLOGY], model[PARAMETERS], stack, stack + 8 * MOST, stack + 16 * MOST, stack + 24 * MOST,
        known[SCRATCH_AT], entry[KNOWN] + 8 * WHERE_AT,
    ))  # fmt: skip
    if status == OK:
        if not fresh:
            incref((out,))
        return out
    if fresh:
        decref((out,))
    return refused(known)


BODIES: dict[str, tuple[Any, Any]] = {  # compiled functions that are no entries
    "adapter": (call, types.int64(types.int64, POINTER, types.int64)),
}
