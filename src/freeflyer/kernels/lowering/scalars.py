"""Arithmetic of Packs, and of Packs with numbers, which are repeated in every lane."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from freeflyer.kernels.backend import pack
from freeflyer.kernels.lowering.types import FLAGS, PackType, f64, i32, i64, lowers


def as_vector(context: Any, builder: Any, value: Any, ty: Any, kind: PackType) -> Any:
    """LLVM vector of a Pack, or of a number repeated in every lane."""
    if isinstance(ty, PackType):
        return value
    return repeated(builder, context.cast(builder, value, ty, kind.dtype), kind.vector)


def repeated(builder: Any, number: Any, vector: Any) -> Any:
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, i32(0))
    zeros = ir.Constant(ir.VectorType(i32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def pack_kind(*tys: Any) -> PackType | None:
    """The type of a Pack among these types of scalars; None if there is none, or something else."""
    kinds = {t for t in tys if isinstance(t, PackType)}
    fit = all(isinstance(t, PackType | types.Float | types.Integer) for t in tys)
    return kinds.pop() if len(kinds) == 1 and fit else None


def lifted(context: Any, builder: Any, values: Any, tys: Any, kind: PackType | None) -> list[Any]:
    """The values as vectors of that kind, or as float64."""
    if kind is None:
        return [context.cast(builder, v, t, types.float64) for v, t in zip(values, tys)]
    return [as_vector(context, builder, v, t, kind) for v, t in zip(values, tys)]


PAIRS = ((PackType, PackType), (PackType, types.Any), (types.Any, PackType))


def _arithmetic(py_op: Any, instruction: str) -> None:
    @lowers(py_op, *PAIRS)
    def _(a, b):
        kind = pack_kind(a, b)
        if kind is None:
            return None

        def codegen(context, builder, sig, args):
            return getattr(builder, instruction)(*lifted(context, builder, args, sig.args, kind), flags=FLAGS)

        return kind(a, b), codegen


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")


@lowers(operator.neg, (PackType,))
def _(a):
    def codegen(context, builder, sig, args):
        return builder.fneg(args[0], flags=FLAGS)

    return (a(a), codegen) if isinstance(a, PackType) else None


def intrinsic_call(builder: Any, name: str, ty: Any, values: Any) -> Any:
    """A call of llvm.<name> on vectors or numbers, declared in full."""
    of = f"v{ty.count}f{64 if ty.element == f64 else 32}" if isinstance(ty, ir.VectorType) else "f64"
    signature = ir.FunctionType(ty, [ty] * len(values))
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{of}"), values)


def _function(primitive: Any, name: str, *tys: Any) -> Any:
    kind = pack_kind(*tys)

    def codegen(context, builder, sig, args):
        values = lifted(context, builder, args, sig.args, kind)
        return intrinsic_call(builder, name, kind.vector if kind else f64, values)

    return (kind or types.float64)(*tys), codegen


@lowers(pack.fma)
def _(a, b, c):
    return _function(pack.fma, "fma", a, b, c)


@lowers(pack.rint)
def _(a):
    return _function(pack.rint, "rint", a)


@lowers(pack.sqrt)
def _(a):
    return _function(pack.sqrt, "sqrt", a)


@lowers(pack.select_less)
def _(a, b, x, y):
    kind = pack_kind(a, b, x, y)

    def codegen(context, builder, sig, args):
        a, b, x, y = lifted(context, builder, args, sig.args, kind)
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return (kind or types.float64)(a, b, x, y), codegen


@lowers(pack.all_below)
def _(a, limit):
    kind = pack_kind(a, limit)

    def codegen(context, builder, sig, args):
        a, limit = lifted(context, builder, args, sig.args, kind)
        ty = kind.vector if kind else f64
        below = builder.fcmp_ordered("<", intrinsic_call(builder, "fabs", ty, [a]), limit)
        if kind is None:
            return below
        bits = ir.IntType(kind.lanes)
        return builder.icmp_unsigned("==", builder.bitcast(below, bits), bits(2**kind.lanes - 1))

    return types.boolean(a, limit), codegen


@lowers(pack.times_zero)
def _(a):
    kind = pack_kind(a)

    def codegen(context, builder, sig, args):
        (x,) = lifted(context, builder, args, sig.args, kind)
        return builder.fmul(x, zeros(x.type))

    return (kind or types.float64)(a), codegen


def zeros(ty: Any) -> Any:
    return ir.Constant(ty, [0.0] * ty.count if isinstance(ty, ir.VectorType) else 0.0)


@lowers(pack.lane)
def _(a, i):
    packed = isinstance(a, PackType)

    def codegen(context, builder, sig, args):
        return builder.extract_element(*args) if packed else args[0]

    return (a.dtype if packed else a)(a, types.int64), codegen


@lowers(pack.with_lane)
def _(a, i, x):
    packed = isinstance(a, PackType)

    def codegen(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], args[1]) if packed else args[2]

    return a(a, types.int64, a.dtype if packed else a), codegen


@lowers(pack.like)
def _(a, x):
    packed = isinstance(a, PackType)

    def codegen(context, builder, sig, args):
        return as_vector(context, builder, args[1], sig.args[1], a) if packed else args[1]

    return (a if packed else x)(a, x), codegen


@lowers(pack.lanes)
def _(a):
    return constant(a.lanes if isinstance(a, PackType) else 1, a)


def constant(number: int, *tys: Any) -> Any:
    """The meaning of a function of these arguments' types alone."""
    return types.int64(*tys), lambda context, builder, sig, args: i64(number)
