"""Pack: eight float64 values side by side in one SIMD register, as a Numba scalar type.

A kernel written over an abstract scalar runs on a Pack as it runs on a float: one instruction then serves eight robot
states. Constants stay scalar until they meet a Pack. Every function here also takes floats, so kernels need not ask.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from freeflyer.kernels._jit import FAST

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
MASK = ir.VectorType(ir.IntType(1), LANES)
FLAGS = tuple(sorted(FAST))


class PackType(types.Type):
    """The Numba type of a Pack."""

    def __init__(self) -> None:
        super().__init__(name=f"Pack{LANES}")


pack_type = PackType()
OVERLOAD: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": True, "no_cfunc_wrapper": True}


@register_model(PackType)
class PackModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: PackType) -> None:
        super().__init__(manager, fe_type, VECTOR)


def as_vector(context: Any, builder: Any, value: Any, ty: Any) -> Any:
    """LLVM vector of a Pack, or of a number repeated in every lane."""
    if isinstance(ty, PackType):
        return value
    number = context.cast(builder, value, ty, types.float64)
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), zeros)


def _is_scalar(ty: Any) -> bool:
    return isinstance(ty, PackType | types.Float | types.Integer)


def _any_pack(*tys: Any) -> bool:
    return any(isinstance(t, PackType) for t in tys) and all(_is_scalar(t) for t in tys)


def _arithmetic(instruction: str) -> Any:
    @intrinsic
    def operate(typing_context, a, b):
        if not _any_pack(a, b):
            return None

        def codegen(context, builder, sig, args):
            x, y = (as_vector(context, builder, v, t) for v, t in zip(args, sig.args))
            return getattr(builder, instruction)(x, y, flags=FLAGS)

        return pack_type(a, b), codegen

    return operate


def _overload_operator(py_op: Any, instruction: str) -> None:
    operate = _arithmetic(instruction)

    def lowered(a, b):
        return (lambda a, b: operate(a, b)) if _any_pack(a, b) else None

    overload(py_op, jit_options=OVERLOAD)(lowered)


_overload_operator(operator.add, "fadd")
_overload_operator(operator.sub, "fsub")
_overload_operator(operator.mul, "fmul")
_overload_operator(operator.truediv, "fdiv")


@intrinsic
def _negate(typing_context, a):
    def codegen(context, builder, sig, args):
        return builder.fneg(args[0], flags=FLAGS)

    return pack_type(a), codegen


@overload(operator.neg, jit_options=OVERLOAD)
def _(a):
    return (lambda a: _negate(a)) if isinstance(a, PackType) else None


def _llvm_function(builder: Any, name: str, ty: Any, arity: int) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(ty, [ty] * arity), name)


def _llvm_intrinsic(name: str, arity: int) -> Any:
    """llvm.<name> on Packs or floats (llvmlite cannot name vector intrinsics itself: they are declared in full)."""

    @intrinsic
    def call(typing_context, *args):
        args = args[0] if len(args) == 1 and isinstance(args[0], types.BaseTuple) else args
        packed = any(isinstance(a, PackType) for a in args)
        result = pack_type if packed else types.float64

        def codegen(context, builder, sig, values):
            values = cgutils.unpack_tuple(builder, values[0])
            tys = sig.args[0].types
            if packed:
                operands = [as_vector(context, builder, v, t) for v, t in zip(values, tys)]
                return builder.call(_llvm_function(builder, f"llvm.{name}.v{LANES}f64", VECTOR, arity), operands)
            operands = [context.cast(builder, v, t, types.float64) for v, t in zip(values, tys)]
            return builder.call(_llvm_function(builder, f"llvm.{name}.f64", ir.DoubleType(), arity), operands)

        return result(types.StarArgTuple.from_types(args)), codegen

    return call


_fma, _rint, _sqrt = _llvm_intrinsic("fma", 3), _llvm_intrinsic("rint", 1), _llvm_intrinsic("sqrt", 1)


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return a * b + c


def rint(a: Any) -> Any:
    """The nearest integer, as a number."""
    return float(round(a))


def sqrt(a: Any) -> Any:
    return math.sqrt(a)


@overload(fma, jit_options=OVERLOAD)
def _(a, b, c):
    return lambda a, b, c: _fma(a, b, c)


@overload(rint, jit_options=OVERLOAD)
def _(a):
    return lambda a: _rint(a)


@overload(sqrt, jit_options=OVERLOAD)
def _(a):
    return lambda a: _sqrt(a)


@intrinsic
def _select_less(typing_context, a, b, x, y):
    def codegen(context, builder, sig, args):
        a, b, x, y = (as_vector(context, builder, v, t) for v, t in zip(args, sig.args))
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return pack_type(a, b, x, y), codegen


def select_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y: both are computed, so that lanes may differ."""
    return x if a < b else y


@overload(select_less, jit_options=OVERLOAD)
def _(a, b, x, y):
    if _any_pack(a, b, x, y):
        return lambda a, b, x, y: _select_less(a, b, x, y)
    return lambda a, b, x, y: x if a < b else y


@intrinsic
def _all_below(typing_context, a, limit):
    def codegen(context, builder, sig, args):
        a, limit = (as_vector(context, builder, v, t) for v, t in zip(args, sig.args))
        mask = builder.fcmp_ordered(
            "<", builder.call(_llvm_function(builder, f"llvm.fabs.v{LANES}f64", VECTOR, 1), [a]), limit
        )
        bits = builder.bitcast(mask, ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(LANES), 2**LANES - 1))

    return types.boolean(a, limit), codegen


def all_below(a: Any, limit: float) -> bool:
    """Whether |a| < limit in every lane (False for NaN)."""
    return abs(a) < limit


@overload(all_below, jit_options=OVERLOAD)
def _(a, limit):
    if isinstance(a, PackType):
        return lambda a, limit: _all_below(a, limit)
    return lambda a, limit: abs(a) < limit


@intrinsic
def _lane(typing_context, a, i):
    def codegen(context, builder, sig, args):
        return builder.extract_element(args[0], args[1])

    return types.float64(a, types.int64), codegen


@intrinsic
def _with_lane(typing_context, a, i, x):
    def codegen(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], args[1])

    return pack_type(a, types.int64, types.float64), codegen


def lane(a: Any, i: int) -> Any:
    """Entry i of a Pack; a float is its own only entry."""
    return a


def with_lane(a: Any, i: int, x: float) -> Any:
    """The Pack a with entry i replaced by x."""
    return x


@overload(lane, jit_options=OVERLOAD)
def _(a, i):
    return (lambda a, i: _lane(a, i)) if isinstance(a, PackType) else (lambda a, i: a)


@overload(with_lane, jit_options=OVERLOAD)
def _(a, i, x):
    return (lambda a, i, x: _with_lane(a, i, x)) if isinstance(a, PackType) else (lambda a, i, x: x)


@intrinsic
def _splat(typing_context, x):
    def codegen(context, builder, sig, args):
        return as_vector(context, builder, args[0], types.float64)

    return pack_type(types.float64), codegen


def like(a: Any, x: Any) -> Any:
    """The number x as a scalar of a's kind."""
    return x


@overload(like, jit_options=OVERLOAD)
def _(a, x):
    if isinstance(a, PackType) and not isinstance(x, PackType):
        return lambda a, x: _splat(x)
    return lambda a, x: x


def lanes(a: Any) -> int:
    """How many states a scalar holds: 8 for a Pack, 1 for a number."""
    return 1


@overload(lanes, jit_options=OVERLOAD)
def _(a):
    return (lambda a: LANES) if isinstance(a, PackType) else (lambda a: 1)
