"""Where numbers are: `load` and `store` are the only functions of the kernels that know.

A float kernel works on C-contiguous float64 arrays of any number of axes, by flat index. A Pack kernel works on `Packs`:
one flat aligned array in which entry i is the eight numbers 8 i .. 8 i + 7. Plain Python works on anything indexed.
Indices come from a checked model, so there is no bounds check or wrap-around (plain Python has them: tests run it).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import overload

from freeflyer.kernels.backend.pack import LANES, OVERLOAD, VECTOR, as_vector, constant, lane, pack_type
from freeflyer.kernels.compiler._instructions import instruction, instructions
from freeflyer.kernels.compiler._jit import inlined


class Packs(NamedTuple):
    """A row of Packs: entry i lies in data[8 i : 8 i + 8], data aligned to 64 bytes.

    `scratch` is where a kernel's workspaces come from, `used` (1,) how much of it is taken: a batch hands the same scratch
    to one pack of states after another, because asking the system for memory each time costs more than the arithmetic.
    """

    data: np.ndarray
    scratch: np.ndarray = np.empty(0)  # none: workspaces come from the system
    used: np.ndarray = np.zeros(1, np.int64)  # stays zero where there is no scratch


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


def _place(context: Any, builder: Any, buffer_type: Any, buffer: Any, index: Any) -> tuple[Any, Any]:
    """(pointer, LLVM type) of entry `index` of a float array or of Packs."""
    if isinstance(buffer_type, types.Array):
        pointer = _pointer(context, builder, buffer_type, buffer, index)
        return pointer, pointer.type.pointee
    first = builder.mul(index, ir.Constant(index.type, LANES))
    pointer = _pointer(context, builder, buffer_type.types[0], builder.extract_value(buffer, 0), first)
    return builder.bitcast(pointer, VECTOR.as_pointer()), VECTOR


def _vector_place(context: Any, builder: Any, buffer_type: Any, buffer: Any, index: Any) -> Any:
    """Pointer to eight numbers: those from `index` on of a float array, or entry `index` of Packs."""
    pointer, _ = _place(context, builder, buffer_type, buffer, index)
    return builder.bitcast(pointer, VECTOR.as_pointer())


def _aligned(access: Any) -> Any:
    access.align = 8
    return access


@instruction
def address(typing_context, array):
    """Where an array's data begin, as an integer."""

    def codegen(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), codegen


@instruction
def _int_pointer(typing_context, where):
    def codegen(context, builder, sig, args):
        return builder.inttoptr(args[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(types.int64), codegen


@instruction
def _float_pointer(typing_context, where):
    def codegen(context, builder, sig, args):
        return builder.inttoptr(args[0], ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(types.int64), codegen


@instruction
def borrowed(typing_context, packs):
    """The same Packs (a tuple of them) as views that own nothing: whoever calls holds the arrays. Counting references to
    them takes atomic instructions otherwise, which cost a small kernel a tenth of its time."""

    def codegen(context, builder, sig, args):
        value = args[0]
        for i, record in enumerate(sig.args[0].types):
            for j, array in enumerate(record.types):
                owner = ir.Constant(context.get_value_type(types.MemInfoPointer(array.dtype)), None)
                value = builder.insert_value(value, owner, [i, j, 0])
        return value

    return packs(packs), codegen


@inlined
def model_arrays(handle):
    """(topology, parameters) of the model whose handle this is: see `handle_block`."""
    block = carray(_int_pointer(handle), 4)
    return carray(_int_pointer(block[0]), block[1]), carray(_float_pointer(block[2]), block[3])


def handle_block(topology: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Addresses and sizes of a model's arrays; the block's own address is the model's handle.

    One integer is passed to compiled code faster than two arrays are. Whoever calls holds the model.
    """
    return np.array([topology.ctypes.data, topology.size, parameters.ctypes.data, parameters.size], np.int64)


@instruction
def load(typing_context, buffer, i):
    """Entry i."""
    result = buffer.dtype if isinstance(buffer, types.Array) else pack_type

    def codegen(context, builder, sig, args):
        return _aligned(builder.load(_place(context, builder, sig.args[0], *args)[0]))

    return result(buffer, types.intp), codegen


@instruction
def load_int(typing_context, topology, i):
    """Entry i of a topology array."""

    def codegen(context, builder, sig, args):
        return _aligned(builder.load(_place(context, builder, sig.args[0], *args)[0]))

    return types.int64(topology, types.intp), codegen


@instruction
def store(typing_context, buffer, i, x):
    """Entry i becomes x."""

    def codegen(context, builder, sig, args):
        pointer, ty = _place(context, builder, sig.args[0], *args[:2])
        packed = ty is VECTOR
        value = (
            as_vector(context, builder, args[2], sig.args[2])
            if packed
            else context.cast(builder, args[2], sig.args[2], types.float64)
        )
        _aligned(builder.store(value, pointer))
        return context.get_dummy_value()

    return types.void(buffer, types.intp, x), codegen


@instruction
def load_row(typing_context, buffer, i):
    """Entries i, ..., i + row_step - 1 as one scalar."""

    def codegen(context, builder, sig, args):
        return _aligned(builder.load(_vector_place(context, builder, sig.args[0], *args)))

    return pack_type(buffer, types.intp), codegen


@instruction
def store_row(typing_context, buffer, i, x):
    """Entries i, ..., i + row_step - 1 become x."""

    def codegen(context, builder, sig, args):
        value = as_vector(context, builder, args[2], sig.args[2])
        _aligned(builder.store(value, _vector_place(context, builder, sig.args[0], *args[:2])))
        return context.get_dummy_value()

    return types.void(buffer, types.intp, x), codegen


@instruction
def row_step(typing_context, buffer):
    """How many neighbouring entries a row scalar stands for: eight of a float buffer, one of Packs, which are full."""
    return constant(LANES if isinstance(buffer, types.Array) else 1, buffer)


@inlined
def aligned_array(n):
    """n uninitialised numbers, aligned to 64 bytes: a row of eight then never lies in two cache lines."""
    raw = np.empty(n + LANES, np.float64)
    first = (-address(raw) & 63) >> 3
    return raw[first : first + n]


def workspace(like: Any, n: int) -> Any:
    """n uninitialised scalars of the kind that `like` holds."""
    return [0] * n


@overload(workspace, jit_options=OVERLOAD)
def _(like, n):
    if isinstance(like, types.Array):
        return lambda like, n: aligned_array(n)

    def packs(like, n):
        start, size = like.used[0], LANES * n
        if start + size <= like.scratch.size:
            like.used[0] = start + size
            return Packs(like.scratch[start : start + size], like.scratch, like.used)
        return Packs(aligned_array(size), like.scratch, like.used)

    return packs


@instruction
def _blend(typing_context, low, high, count):
    """Lanes below count from low, the others from high."""

    def codegen(context, builder, sig, args):
        low, high = (as_vector(context, builder, v, t) for v, t in zip(args[:2], sig.args[:2]))
        count = builder.trunc(args[2], ir.IntType(32))
        ints = ir.VectorType(ir.IntType(32), LANES)
        start = builder.insert_element(ir.Constant(ints, ir.Undefined), count, ir.Constant(ir.IntType(32), 0))
        counts = builder.shuffle_vector(start, ir.Constant(ints, ir.Undefined), ir.Constant(ints, [0] * LANES))
        return builder.select(builder.icmp_signed("<", ir.Constant(ints, list(range(LANES))), counts), low, high)

    return pack_type(low, high, types.int64), codegen


def keep_below(buffer: Any, x: Any, k: int, end: int) -> Any:
    """A row scalar that stands for the entries from k on, with those from `end` on set to zero."""
    return x


@overload(keep_below, jit_options=OVERLOAD)
def _(buffer, x, k, end):
    if isinstance(buffer, types.Array):
        return lambda buffer, x, k, end: _blend(x, 0.0, end - k)
    return lambda buffer, x, k, end: x


def unit_row(buffer: Any, k: int, c: int) -> Any:
    """A row scalar that stands for the entries from k on: one at entry c, else zero."""
    return 1.0 if k == c else 0.0


@overload(unit_row, jit_options=OVERLOAD)
def _(buffer, k, c):
    if isinstance(buffer, types.Array):
        return lambda buffer, k, c: _blend(_blend(0.0, 1.0, c - k), 0.0, c + 1 - k)
    return lambda buffer, k, c: _blend(0.0, 0.0, 0) + (1.0 if k == c else 0.0)


def tile_at(buffer: Any, size: int, i: int) -> int:
    """Where record i of `size` entries begins: records lie in tiles of eight, entry by entry, so that rows are records."""
    return size * i


@instructions(tile_at)
def _(typing_context, buffer, size, i):
    def codegen(context, builder, sig, args):
        size, i = args[1:]
        if not isinstance(buffer, types.Array):
            return builder.mul(size, i)
        number = i.type
        tile = builder.mul(builder.ashr(i, number(3)), builder.mul(number(LANES), size))
        return builder.add(tile, builder.and_(i, number(LANES - 1)))

    return types.int64(buffer, types.int64, types.int64), codegen


def number_row(work: Any, parameters: Any, i: int) -> Any:
    """As many numbers from parameters[i] on as a row scalar of `work` holds."""
    return parameters[i]


@instructions(number_row)
def _(typing_context, work, parameters, i):
    row = isinstance(work, types.Array)

    def codegen(context, builder, sig, args):
        place = _vector_place if row else _pointer
        return _aligned(builder.load(place(context, builder, sig.args[1], *args[1:])))

    return (pack_type if row else types.float64)(work, parameters, types.intp), codegen


def row_total(buffer: Any, x: Any) -> Any:
    """The sum of what a row scalar stands for."""
    return x


@overload(row_total, jit_options=OVERLOAD)
def _(buffer, x):
    if isinstance(buffer, types.Array):

        def total(buffer, x):
            s = 0.0
            for k in range(LANES):
                s += lane(x, k)
            return s

        return total
    return lambda buffer, x: x


def row_width(buffer: Any, n: int) -> int:
    """The length of rows of n entries that row scalars can fill."""
    return n


@overload(row_width, jit_options=OVERLOAD)
def _(buffer, n):
    if isinstance(buffer, types.Array):
        return lambda buffer, n: (n + LANES - 1) // LANES * LANES
    return lambda buffer, n: n


def rows_for(out: Any, n: int, fits: bool) -> Any:
    """Where to compute an n x n matrix by rows: in `out` itself if it `fits` and needs no padding, else in a workspace."""
    return out if fits else [0] * (n * n)


@overload(rows_for, jit_options=OVERLOAD)
def _(out, n, fits):
    if isinstance(out, types.Array):
        return lambda out, n, fits: aligned_array(row_width(out, n) * row_width(out, n))
    return lambda out, n, fits: out if fits else workspace(out, n * n)
