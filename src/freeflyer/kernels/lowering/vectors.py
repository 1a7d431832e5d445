"""Vector4, one register, in compiled code; for Packs a vector is a tuple of three."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import overload

from freeflyer.kernels.lowering.memory import aligned, place
from freeflyer.kernels.lowering.scalars import constant, lifted, pack_kind, repeated
from freeflyer.kernels.lowering.types import FLAGS, OPTIONS, BufferType, Vector4Type, i32, i64, lowers, vector4_type
from freeflyer.kernels.marks import inlined
from freeflyer.kernels.model import vector4


def one_state(buffer: Any) -> bool:
    return isinstance(buffer, BufferType) and buffer.lanes == 1


def entries(builder: Any, at: Any) -> list[Any]:
    return [builder.add(at, i64(k)) for k in range(3)]


@lowers(vector4.load_vector)
def _(work, at):
    def codegen(context, builder, sig, args):
        if one_state(work):
            pointer = place(builder, work, *args)
            return aligned(builder.load(builder.bitcast(pointer, vector4_type.vector.as_pointer())))
        values = [aligned(builder.load(place(builder, work, args[0], k))) for k in entries(builder, args[1])]
        return context.make_tuple(builder, sig.return_type, values)

    return (vector4_type if one_state(work) else types.UniTuple(work.scalar, 3))(work, types.int64), codegen


@lowers(vector4.store_vector)
def _(work, at, a):
    def codegen(context, builder, sig, args):
        if isinstance(a, Vector4Type):
            pointer = builder.bitcast(place(builder, work, *args[:2]), vector4_type.vector.as_pointer())
            aligned(builder.store(args[2], pointer))
        else:
            kind = work.scalar if work.lanes > 1 else None
            values = lifted(context, builder, cgutils.unpack_tuple(builder, args[2]), a.types, kind)
            for k, x in zip(entries(builder, args[1]), values):
                aligned(builder.store(x, place(builder, work, args[0], k)))
        return context.get_dummy_value()

    return types.void(work, types.int64, a), codegen


@lowers(vector4.vector)
def _(work, a):
    def codegen(context, builder, sig, args):
        if not one_state(work):
            return args[1]
        made = ir.Constant(vector4_type.vector, [0.0] * vector4.WIDTH)
        for k, x in enumerate(lifted(context, builder, cgutils.unpack_tuple(builder, args[1]), a.types, None)):
            made = builder.insert_element(made, x, i32(k))
        return made

    return (vector4_type if one_state(work) else a)(work, a), codegen


def result_type(*tys: Any) -> Any:
    return pack_kind(*tys) or types.float64


@lowers(vector4.plus)
def _(a, b):
    if isinstance(a, Vector4Type):
        return vector4_type(a, b), lambda context, builder, sig, args: builder.fadd(*args, flags=FLAGS)
    pairs = list(zip(a.types, b.types))

    def codegen(context, builder, sig, args):
        sides = zip(pairs, cgutils.unpack_tuple(builder, args[0]), cgutils.unpack_tuple(builder, args[1]))
        sums = [builder.fadd(*lifted(context, builder, (x, y), tys, pack_kind(*tys)), flags=FLAGS) for tys, x, y in sides]
        return context.make_tuple(builder, sig.return_type, sums)

    return types.Tuple([result_type(*tys) for tys in pairs])(a, b), codegen


@lowers(vector4.times)
def _(s, a):
    def codegen(context, builder, sig, args):
        if isinstance(a, Vector4Type):
            factor = repeated(builder, context.cast(builder, args[0], sig.args[0], types.float64), vector4_type.vector)
            return builder.fmul(factor, args[1], flags=FLAGS)
        products = [
            builder.fmul(*lifted(context, builder, (args[0], x), (sig.args[0], t), pack_kind(s, t)), flags=FLAGS)
            for x, t in zip(cgutils.unpack_tuple(builder, args[1]), a.types)
        ]
        return context.make_tuple(builder, sig.return_type, products)

    return (vector4_type if isinstance(a, Vector4Type) else types.Tuple([result_type(s, t) for t in a.types]))(s, a), codegen


@lowers(vector4.vector_step)
def _(work):
    return constant(vector4.WIDTH if one_state(work) else 3, work)


@inlined
def nothing(topology, work):
    return None


@overload(vector4.transpose_poses, jit_options=OPTIONS)
def _(topology, work):
    return vector4.transpose_vectors if one_state(work) else nothing
