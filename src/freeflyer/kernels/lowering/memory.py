"""Buffers in compiled code: where an entry lies, and where workspaces come from."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from freeflyer.kernels.backend import buffers
from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.lowering.scalars import as_vector, constant, repeated
from freeflyer.kernels.lowering.types import BufferType, IntegersType, f64, i32, i64, integers_type, lowers, row_type

RECORD = 3  # integers of a workspace record: address of the memory, numbers it holds, numbers taken
MEMORY, CAPACITY, TAKEN = range(RECORD)


def place(builder: Any, buffer_type: Any, buffer: Any, index: Any) -> Any:
    """Pointer to entry `index` of a buffer."""
    if isinstance(buffer_type, IntegersType):
        return builder.gep(buffer, [index], inbounds=True)
    data = builder.extract_value(buffer, 0)
    if buffer_type.lanes == 1:
        return builder.gep(data, [index], inbounds=True)
    first = builder.gep(data, [builder.mul(index, i64(buffer_type.lanes))], inbounds=True)
    return builder.bitcast(first, buffer_type.scalar.vector.as_pointer())


def row_place(builder: Any, buffer_type: Any, buffer: Any, index: Any) -> Any:
    """Pointer to the row that begins at entry `index`."""
    return builder.bitcast(place(builder, buffer_type, buffer, index), buffer_type.row.vector.as_pointer())


def aligned(access: Any) -> Any:
    access.align = 8
    return access


def is_buffer(ty: Any) -> bool:
    return isinstance(ty, BufferType)


@lowers(buffers.load)
def _(buffer, i):
    def codegen(context, builder, sig, args):
        return aligned(builder.load(place(builder, buffer, *args)))

    return (buffer.scalar(buffer, types.int64), codegen) if is_buffer(buffer) else None


@lowers(buffers.load_int)
def _(topology, i):
    def codegen(context, builder, sig, args):
        return aligned(builder.load(place(builder, topology, *args)))

    return (types.int64(topology, types.int64), codegen) if isinstance(topology, IntegersType) else None


@lowers(buffers.store)
def _(buffer, i, x):
    def codegen(context, builder, sig, args):
        pointer = place(builder, buffer, *args[:2])
        if buffer.lanes > 1:
            value = as_vector(context, builder, args[2], sig.args[2], buffer.scalar)
        else:
            value = context.cast(builder, args[2], sig.args[2], buffer.dtype)
        aligned(builder.store(value, pointer))
        return context.get_dummy_value()

    return (types.void(buffer, types.int64, x), codegen) if is_buffer(buffer) else None


@lowers(buffers.load_row)
def _(buffer, i):
    def codegen(context, builder, sig, args):
        return aligned(builder.load(row_place(builder, buffer, *args)))

    return (buffer.row(buffer, types.int64), codegen) if is_buffer(buffer) else None


@lowers(buffers.store_row)
def _(buffer, i, x):
    def codegen(context, builder, sig, args):
        value = as_vector(context, builder, args[2], sig.args[2], buffer.row)
        aligned(builder.store(value, row_place(builder, buffer, *args[:2])))
        return context.get_dummy_value()

    return (types.void(buffer, types.int64, x), codegen) if is_buffer(buffer) else None


@lowers(buffers.row_step)
def _(buffer):
    return constant(LANES if buffer.lanes == 1 else 1, buffer) if is_buffer(buffer) else None


@lowers(buffers.row_width)
def _(buffer, n):
    def codegen(context, builder, sig, args):
        if buffer.lanes > 1:
            return args[1]
        return builder.and_(builder.add(args[1], i64(LANES - 1)), i64(-LANES))

    return (types.int64(buffer, types.int64), codegen) if is_buffer(buffer) else None


@lowers(buffers.from_entry)
def _(buffer, i):
    def codegen(context, builder, sig, args):
        if isinstance(buffer, IntegersType):
            return place(builder, buffer, *args)
        step = builder.mul(args[1], i64(buffer.lanes))
        moved = builder.gep(builder.extract_value(args[0], 0), [step], inbounds=True)
        return builder.insert_value(args[0], moved, 0)

    return (buffer(buffer, types.int64), codegen) if is_buffer(buffer) or buffer == integers_type else None


def allocate(builder: Any, record: Any, numbers: Any) -> Any:
    """Pointer to as many numbers of the memory that a workspace record describes, in whole cache lines.

    Where there are not as many left, the memory's begin: the entry detects by TAKEN that results are undefined, and refuses.
    Entries make sure that any single workspace fits.
    """
    def field(k: int) -> Any:
        return builder.gep(record, [i64(k)], inbounds=True)

    size = builder.and_(builder.add(numbers, i64(LANES - 1)), i64(-LANES))
    before = builder.load(field(TAKEN))
    after = builder.add(before, size)
    builder.store(after, field(TAKEN))
    fits = builder.icmp_signed("<=", after, builder.load(field(CAPACITY)))
    memory = builder.inttoptr(builder.load(field(MEMORY)), f64.as_pointer())
    return builder.gep(memory, [builder.select(fits, before, i64(0))], inbounds=True)


def workspace_of(builder: Any, buffer_type: Any, buffer: Any, n: Any) -> Any:
    pointer = allocate(builder, builder.extract_value(buffer, 1), builder.mul(n, i64(buffer_type.lanes)))
    return builder.insert_value(buffer, pointer, 0)


@lowers(buffers.workspace)
def _(like, n):
    def codegen(context, builder, sig, args):
        return workspace_of(builder, like, *args)

    return (like(like, types.int64), codegen) if is_buffer(like) else None


@lowers(buffers.rows_for)
def _(out, n, fits):
    def codegen(context, builder, sig, args):
        width = args[1]
        if out.lanes == 1:
            width = builder.and_(builder.add(width, i64(LANES - 1)), i64(-LANES))
            return workspace_of(builder, out, args[0], builder.mul(width, width))
        with builder.if_else(args[2]) as (then, otherwise):
            with then:
                here = builder.block
            with otherwise:
                made, there = workspace_of(builder, out, args[0], builder.mul(width, width)), builder.block
        chosen = builder.phi(made.type)
        chosen.add_incoming(args[0], here)
        chosen.add_incoming(made, there)
        return chosen

    return (out(out, types.int64, types.boolean), codegen) if is_buffer(out) else None


def blended(builder: Any, low: Any, high: Any, count: Any) -> Any:
    """Lanes below count from low, the others from high."""
    lanes = low.type.count
    ints = ir.VectorType(i32, lanes)
    counts = repeated(builder, builder.trunc(count, i32), ints)
    return builder.select(builder.icmp_signed("<", ir.Constant(ints, list(range(lanes))), counts), low, high)


@lowers(buffers.keep_below)
def _(buffer, x, k, end):
    def codegen(context, builder, sig, args):
        if buffer.lanes > 1:
            return as_vector(context, builder, args[1], sig.args[1], buffer.row)
        row = as_vector(context, builder, args[1], sig.args[1], row_type)
        return blended(builder, row, ir.Constant(row.type, None), builder.sub(args[3], args[2]))

    return (buffer.row(buffer, x, types.int64, types.int64), codegen) if is_buffer(buffer) else None


@lowers(buffers.unit_row)
def _(buffer, k, c):
    def codegen(context, builder, sig, args):
        vector, number = buffer.row.vector, buffer.dtype
        one = context.get_constant(number, 1.0)
        at = builder.sub(args[2], args[1])
        if buffer.lanes > 1:
            same = builder.icmp_signed("==", at, i64(0))
            return repeated(builder, builder.select(same, one, context.get_constant(number, 0.0)), vector)
        ints = ir.VectorType(i32, vector.count)
        places = ir.Constant(ints, list(range(vector.count)))
        here = builder.icmp_signed("==", places, repeated(builder, builder.trunc(at, i32), ints))
        return builder.select(here, repeated(builder, one, vector), ir.Constant(vector, None))

    return (buffer.row(buffer, types.int64, types.int64), codegen) if is_buffer(buffer) else None


@lowers(buffers.tile_at)
def _(buffer, size, i):
    def codegen(context, builder, sig, args):
        size, i = args[1:]
        if buffer.lanes > 1:
            return builder.mul(size, i)
        tile = builder.mul(builder.and_(i, i64(-LANES)), size)
        return builder.add(tile, builder.and_(i, i64(LANES - 1)))

    return (types.int64(buffer, types.int64, types.int64), codegen) if is_buffer(buffer) else None


@lowers(buffers.number_row)
def _(work, parameters, i):
    def codegen(context, builder, sig, args):
        where = row_place if work.lanes == 1 else place
        return aligned(builder.load(where(builder, parameters, *args[1:])))

    result = row_type if is_buffer(work) and work.lanes == 1 else types.float64
    return (result(work, parameters, types.int64), codegen) if is_buffer(work) else None


@lowers(buffers.row_total)
def _(buffer, x):
    def codegen(context, builder, sig, args):
        if buffer.lanes > 1:
            return args[1]
        total = context.get_constant(buffer.dtype, 0.0)
        row = as_vector(context, builder, args[1], sig.args[1], buffer.row)
        for k in range(LANES):
            total = builder.fadd(total, builder.extract_element(row, i32(k)))
        return total

    return (buffer.scalar(buffer, x), codegen) if is_buffer(buffer) else None


