"""Square blocks of numbers, transposed in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import overload

from freeflyer.kernels.backend import transpose
from freeflyer.kernels.lowering.memory import aligned, blended, place
from freeflyer.kernels.lowering.scalars import as_vector, constant
from freeflyer.kernels.lowering.types import (
    OPTIONS,
    BufferType,
    PackType,
    i32,
    i64,
    lowers,
    numbers_type,
    row_type,
)


def transposed_rows(builder: Any, rows: list[Any]) -> list[Any]:
    """The transpose of n vectors of n lanes, n a power of two: in each round, partners exchange blocks twice as large."""
    n, distance = len(rows), 1
    index = ir.VectorType(i32, n)
    while distance < n:
        low = [k if not k & distance else k - distance + n for k in range(n)]
        high = [k + distance for k in low]
        for i in range(n):
            if not i & distance:
                a, b = rows[i], rows[i + distance]
                rows[i] = builder.shuffle_vector(a, b, ir.Constant(index, low))
                rows[i + distance] = builder.shuffle_vector(a, b, ir.Constant(index, high))
        distance *= 2
    return rows


@lowers(transpose.transposed)
def _(rows):
    """Of as many Packs as each has lanes. Where Packs of other sizes hold states, code that handles numbers by rows is compiled,
    too, but not run: it stops the process."""
    square = isinstance(rows, types.UniTuple) and isinstance(rows.dtype, PackType)

    def codegen(context, builder, sig, args):
        if rows.count != rows.dtype.lanes:
            trap = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), []), "llvm.trap")
            builder.call(trap, [])
            return args[0]
        return context.make_tuple(builder, rows, transposed_rows(builder, list(cgutils.unpack_tuple(builder, args[0]))))

    return (rows(rows), codegen) if square else None


@lowers(transpose.blend)
def _(low, high, count):
    def codegen(context, builder, sig, args):
        rows = [as_vector(context, builder, v, t, row_type) for v, t in zip(args[:2], sig.args[:2])]
        return blended(builder, *rows, args[2])

    return row_type(low, high, types.int64), codegen


@lowers(transpose.pack_lanes)
def _(packs):
    return constant(packs.lanes, packs) if isinstance(packs, BufferType) else None


@lowers(transpose.as_numbers)
def _(packs):
    return numbers_type(packs), lambda context, builder, sig, args: args[0]


def moved_block(builder: Any, packs: Any, values: Any, reading: bool) -> Any:
    """Lanes x lanes numbers from rows to Packs, or back; zero in each lane of finite ones."""
    rows, at, stride, buffer, i = values
    ty = packs.scalar.vector
    row_places = [
        builder.bitcast(place(builder, numbers_type, rows, builder.add(at, builder.mul(stride, i64(k)))), ty.as_pointer())
        for k in range(packs.lanes)
    ]
    pack_places = [place(builder, packs, buffer, builder.add(i, i64(k))) for k in range(packs.lanes)]
    source, target = (row_places, pack_places) if reading else (pack_places, row_places)
    vectors = [aligned(builder.load(pointer)) for pointer in source]
    zero, total = ir.Constant(ty, [0.0] * packs.lanes), None
    checked = vectors if not reading else None
    out = transposed_rows(builder, list(vectors))
    for x in checked or out:  # lanes of Packs are states
        product = builder.fmul(x, zero)  # no other order: large numbers must not be added first
        total = product if total is None else builder.fadd(total, product)
    for x, pointer in zip(out, target):
        aligned(builder.store(x, pointer))
    return total


@lowers(transpose.block_to_packs)
def _(rows, at, stride, packs, i):
    def codegen(context, builder, sig, args):
        return moved_block(builder, packs, args, reading=True)

    return packs.scalar(rows, types.int64, types.int64, packs, types.int64), codegen


@lowers(transpose.packs_to_block)
def _(packs, i, rows, at, stride):
    def codegen(context, builder, sig, args):
        buffer, i, numbers, at, stride = args
        return moved_block(builder, packs, (numbers, at, stride, buffer, i), reading=False)

    return packs.scalar(packs, types.int64, rows, types.int64, types.int64), codegen


@overload(transpose.mirrored, jit_options=OPTIONS)
def _(U, L, n, stride, M):
    return transpose.mirrored_blocks if M.lanes == 1 else transpose.mirrored_packs
