"""Straight-line functions in compiled code: Python runs them once on values that write instructions, instead of Numba
compiling them.

A marked function without branches and loops, that calls nothing but primitives and others of its kind, means the same
either way; traced, it takes a fraction of the time to compile, and most functions of math/ and many of model/ and tree/ are
of this kind.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from numba import types
from numba.core import cgutils

from freeflyer.kernels.lowering.scalars import as_vector, pack_kind
from freeflyer.kernels.lowering.types import DEFINITIONS, FLAGS, Vector4Type, i64, lowers
from freeflyer.kernels.marks import INLINED, PRIMITIVE, mark

STRAIGHT = {
    "RESUME", "CACHE", "NOP", "PRECALL", "PUSH_NULL", "KW_NAMES", "COPY", "SWAP", "POP_TOP", "RETURN_VALUE", "RETURN_CONST",
    "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "STORE_FAST",
    "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "LOAD_GLOBAL", "LOAD_CONST", "LOAD_SMALL_INT", "CALL", "BUILD_TUPLE",
    "UNPACK_SEQUENCE", "BINARY_SUBSCR", "BINARY_SLICE", "BUILD_SLICE", "UNARY_NEGATIVE", "BINARY_OP", "NOT_TAKEN", "EXTENDED_ARG",
}  # fmt: skip
OPERATORS = {"+", "-", "*", "/", "+=", "-=", "*=", "/=", "&", ">>", "<<", "[]"}


@cache
def traceable(function: Callable) -> bool:
    """Whether a function is marked as inlined, runs straight through, and calls nothing but primitives and traceable functions."""
    if mark(function) != INLINED or not isinstance(function, FunctionType) or function.__closure__:
        return False
    for step in dis.get_instructions(function):
        if step.opname not in STRAIGHT or (step.opname == "BINARY_OP" and step.argrepr not in OPERATORS):
            return False
        if step.opname == "LOAD_GLOBAL":
            named = function.__globals__.get(str(step.argval))
            known = isinstance(named, int | float | tuple) or named in DEFINITIONS if _hashable(named) else isinstance(named, tuple)
            if not known and not (mark(named) not in ("", PRIMITIVE) and traceable(named)):
                return False
    return True


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


class Tracer:
    """Where instructions go; none are written while only types are inferred."""

    def __init__(self, context: Any = None, builder: Any = None) -> None:
        self.context, self.builder = context, builder

    def value(self, x: Any) -> Value:
        """A value; of a Python number, the constant."""
        if isinstance(x, Value):
            return x
        ty = types.int64 if isinstance(x, int) else types.float64
        return Value(self, ty, self.context.get_constant(ty, x) if self.builder else None)

    def wrapped(self, ty: Any, instruction: Any) -> Any:
        """A value of that type; of a tuple, a tuple of values; of a literal, the Python number."""
        if isinstance(ty, types.IntegerLiteral):
            return ty.literal_value
        if isinstance(ty, types.BaseTuple):
            parts = cgutils.unpack_tuple(self.builder, instruction) if self.builder else [None] * len(ty)
            return tuple(self.wrapped(t, x) for t, x in zip(ty, parts))
        return Value(self, ty, instruction)

    def unwrapped(self, x: Any) -> tuple[Any, Any]:
        """(type, instruction) of a value, a number or a tuple of such."""
        if x is None:
            return types.none, self.context.get_dummy_value() if self.builder else None
        if isinstance(x, tuple):
            parts = [self.unwrapped(entry) for entry in x]
            ty = types.Tuple([t for t, _ in parts])
            return ty, self.context.make_tuple(self.builder, ty, [p for _, p in parts]) if self.builder else None
        value = self.value(x)
        return value.ty, value.instruction

    def call(self, primitive: Callable, *arguments: Any) -> Any:
        """What a primitive gives."""
        given = [self.unwrapped(x) for x in arguments]
        meaning = DEFINITIONS[primitive](*(ty for ty, _ in given))
        if meaning is None:
            raise TypeError(f"{primitive.__name__} has no meaning for {[str(ty) for ty, _ in given]}")
        signature, codegen = meaning
        if not self.builder:
            return self.wrapped(signature.return_type, None)
        values = [x if a == b else self.context.cast(self.builder, x, a, b) for (a, x), b in zip(given, signature.args)]
        made = codegen(self.context, self.builder, signature, values)
        return None if signature.return_type in (types.none, types.void) else self.wrapped(signature.return_type, made)

    def namespace(self, function: Callable) -> FunctionType:
        """The function, calling primitives and functions of its kind by this tracer."""
        names: dict[str, Any] = {}
        for name in function.__code__.co_names:
            x = function.__globals__.get(name)
            if mark(x) == INLINED:
                names[name] = self.namespace(x)
            elif _hashable(x) and x in DEFINITIONS:
                names[name] = lambda *arguments, p=x: self.call(p, *arguments)
            else:
                names[name] = x
        return FunctionType(function.__code__, names, function.__name__)


class UnknownIndex(TypeError):
    """The index of a tuple's entry is not known before the code runs."""


class Value:
    """A scalar of compiled code."""

    def __init__(self, tracer: Tracer, ty: Any, instruction: Any) -> None:
        self.tracer, self.ty, self.instruction = tracer, types.unliteral(ty), instruction

    def _binary(self, other: Any, number: str, integer: str, swap: bool = False) -> Value:
        if isinstance(other, tuple):
            return NotImplemented  # type: ignore[return-value]
        a, b = (self.tracer.value(other), self) if swap else (self, self.tracer.value(other))
        whole = isinstance(a.ty, types.Integer) and isinstance(b.ty, types.Integer) and bool(integer)
        if isinstance(a.ty, Vector4Type) or isinstance(b.ty, Vector4Type) or not (whole or number):
            raise TypeError(f"no such operation on {a.ty} and {b.ty}")
        kind = types.int64 if whole else pack_kind(a.ty, b.ty) or types.float64
        if not self.tracer.builder:
            return Value(self.tracer, kind, None)
        context, builder = self.tracer.context, self.tracer.builder
        if whole:
            x, y = (builder.sext(v.instruction, i64) if v.instruction.type.width < 64 else v.instruction for v in (a, b))
            return Value(self.tracer, kind, getattr(builder, integer)(x, y))
        if kind == types.float64:
            x, y = (context.cast(builder, v.instruction, v.ty, kind) for v in (a, b))
        else:
            x, y = (as_vector(context, builder, v.instruction, v.ty, kind) for v in (a, b))
        return Value(self.tracer, kind, getattr(builder, number)(x, y, flags=FLAGS))

    def __neg__(self) -> Value:
        if isinstance(self.ty, types.Integer):
            return 0 - self
        builder = self.tracer.builder
        return Value(self.tracer, self.ty, builder.fneg(self.instruction, flags=FLAGS) if builder else None)

    def __index__(self) -> int:
        raise UnknownIndex


def _operator(name: str, number: str, integer: str) -> None:
    setattr(Value, f"__{name}__", lambda self, other: self._binary(other, number, integer))
    setattr(Value, f"__r{name}__", lambda self, other: self._binary(other, number, integer, swap=True))


_operator("add", "fadd", "add")
_operator("sub", "fsub", "sub")
_operator("mul", "fmul", "mul")
_operator("truediv", "fdiv", "")
_operator("and", "", "and_")
_operator("rshift", "", "ashr")
_operator("lshift", "", "shl")


def trace(function: Callable) -> None:
    """Gives a traceable function its compiled meaning."""

    @cache
    def result(*kinds: Any) -> Any:
        tracer = Tracer()
        return tracer.unwrapped(tracer.namespace(function)(*(tracer.wrapped(ty, None) for ty in kinds)))[0]

    def definition(*kinds: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tracer = Tracer(context, builder)
            given = (tracer.wrapped(ty, x) for ty, x in zip(signature.args, arguments))
            return tracer.unwrapped(tracer.namespace(function)(*given))[1]

        try:
            return result(*kinds)(*kinds), codegen
        except UnknownIndex:  # Numba calls it again, with the literal numbers
            return None

    definition.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    lowers(function)(definition)
