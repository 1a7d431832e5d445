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
from numba.extending import models, register_model

from freeflyer.kernels.compiler._ingredient import IngredientCompiler
from freeflyer.kernels.compiler._instructions import instructions
from freeflyer.kernels.compiler._jit import FAST

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
MASK = ir.VectorType(ir.IntType(1), LANES)
FLAGS = tuple(sorted(FAST))


class PackType(types.Type):
    """The Numba type of a Pack."""

    def __init__(self) -> None:
        super().__init__(name=f"Pack{LANES}")


pack_type = PackType()
OVERLOAD: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "forceinline": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True,
    "pipeline_class": IngredientCompiler,
}  # fmt: skip


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


def as_number(context: Any, builder: Any, value: Any, ty: Any) -> Any:
    return context.cast(builder, value, ty, types.float64)


def _arithmetic(py_op: Any, instruction: str) -> None:
    @instructions(py_op)
    def _(typing_context, a, b):
        if not _any_pack(a, b):
            return None

        def codegen(context, builder, sig, args):
            x, y = (as_vector(context, builder, v, t) for v, t in zip(args, sig.args))
            return getattr(builder, instruction)(x, y, flags=FLAGS)

        return pack_type(a, b), codegen


_arithmetic(operator.add, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")
_arithmetic(operator.truediv, "fdiv")


@instructions(operator.neg)
def _(typing_context, a):
    if not isinstance(a, PackType):
        return None

    def codegen(context, builder, sig, args):
        return builder.fneg(args[0], flags=FLAGS)

    return pack_type(a), codegen


def _llvm_function(builder: Any, name: str, ty: Any, arity: int) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(ty, [ty] * arity), name)


def _llvm_intrinsic(name: str, sig: Any) -> Any:
    """llvm.<name> on Packs or floats (llvmlite cannot name vector intrinsics itself: they are declared in full)."""
    packed, arity = sig.return_type is pack_type, len(sig.args)
    full, ty = (f"llvm.{name}.v{LANES}f64", VECTOR) if packed else (f"llvm.{name}.f64", ir.DoubleType())

    def codegen(context, builder, sig, args):
        values = [(as_vector if packed else as_number)(context, builder, v, t) for v, t in zip(args, sig.args)]
        return builder.call(_llvm_function(builder, full, ty, arity), values)

    return sig, codegen


def _kind(*tys: Any) -> Any:
    return pack_type if any(isinstance(t, PackType) for t in tys) else types.float64


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return a * b + c


def rint(a: Any) -> Any:
    """The nearest integer, as a number."""
    return float(round(a))


def sqrt(a: Any) -> Any:
    return math.sqrt(a)


@instructions(fma)
def _(typing_context, a, b, c):
    return _llvm_intrinsic("fma", _kind(a, b, c)(a, b, c))


@instructions(rint)
def _(typing_context, a):
    return _llvm_intrinsic("rint", _kind(a)(a))


@instructions(sqrt)
def _(typing_context, a):
    return _llvm_intrinsic("sqrt", _kind(a)(a))


def select_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y: both are computed, so that lanes may differ."""
    return x if a < b else y


@instructions(select_less)
def _(typing_context, a, b, x, y):
    result = _kind(a, b, x, y)

    def codegen(context, builder, sig, args):
        lifted = as_vector if result is pack_type else as_number
        a, b, x, y = (lifted(context, builder, v, t) for v, t in zip(args, sig.args))
        return builder.select(builder.fcmp_ordered("<", a, b), x, y)

    return result(a, b, x, y), codegen


def all_below(a: Any, limit: float) -> bool:
    """Whether |a| < limit in every lane (False for NaN)."""
    return abs(a) < limit


@instructions(all_below)
def _(typing_context, a, limit):
    packed = isinstance(a, PackType)
    name, ty = (f"llvm.fabs.v{LANES}f64", VECTOR) if packed else ("llvm.fabs.f64", ir.DoubleType())

    def codegen(context, builder, sig, args):
        a, limit = ((as_vector if packed else as_number)(context, builder, v, t) for v, t in zip(args, sig.args))
        below = builder.fcmp_ordered("<", builder.call(_llvm_function(builder, name, ty, 1), [a]), limit)
        if not packed:
            return below
        bits = builder.bitcast(below, ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(LANES), 2**LANES - 1))

    return types.boolean(a, limit), codegen


def lane(a: Any, i: int) -> Any:
    """Entry i of a Pack; a float is its own only entry."""
    return a


def with_lane(a: Any, i: int, x: float) -> Any:
    """The Pack a with entry i replaced by x."""
    return x


@instructions(lane)
def _(typing_context, a, i):
    def codegen(context, builder, sig, args):
        return builder.extract_element(*args) if isinstance(a, PackType) else args[0]

    return (types.float64 if isinstance(a, PackType) else a)(a, types.int64), codegen


@instructions(with_lane)
def _(typing_context, a, i, x):
    def codegen(context, builder, sig, args):
        return builder.insert_element(args[0], args[2], args[1]) if isinstance(a, PackType) else args[2]

    return a(a, types.int64, types.float64 if isinstance(a, PackType) else a), codegen


def like(a: Any, x: Any) -> Any:
    """The number x as a scalar of a's kind."""
    return x


@instructions(like)
def _(typing_context, a, x):
    def codegen(context, builder, sig, args):
        return as_vector(context, builder, args[1], x) if isinstance(a, PackType) else args[1]

    return (pack_type if isinstance(a, PackType) else x)(a, x), codegen


def lanes(a: Any) -> int:
    """How many states a scalar holds: 8 for a Pack, 1 for a number."""
    return 1


@instructions(lanes)
def _(typing_context, a):
    return constant(LANES if isinstance(a, PackType) else 1, a)


def constant(number: int, *args: Any) -> Any:
    """The meaning of a function of these arguments' kinds alone."""
    return types.int64(*args), lambda context, builder, sig, args: ir.Constant(ir.IntType(64), number)
