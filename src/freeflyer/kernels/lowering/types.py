"""Numba types of Packs, vectors and buffers, and how a compiled meaning is given to a primitive."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.marks import INLINED
from freeflyer.kernels.model.vector4 import WIDTH

FAST = {"contract", "reassoc", "nsz", "arcp"}  # LLVM may fuse and reorder; NaN and infinity stay detectable
FLAGS = tuple(sorted(FAST))
CALLABLE: dict[str, Any] = {"error_model": "numpy", "fastmath": FAST}  # of C functions; a division is one instruction
OPTIONS = CALLABLE | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}  # of what only compiled code calls
i32, i64, f64 = ir.IntType(32), ir.IntType(64), ir.DoubleType()


class PackType(types.Type):
    """A Pack: `lanes` numbers side by side in one register."""

    def __init__(self, dtype: Any = types.float64, lanes: int = LANES) -> None:
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Pack({dtype} x {lanes})")

    @property
    def vector(self) -> Any:
        return ir.VectorType({types.float64: ir.DoubleType(), types.float32: ir.FloatType()}[self.dtype], self.lanes)


class Vector4Type(types.Type):
    """A 3-vector of float64 in a register of four."""

    vector = ir.VectorType(f64, WIDTH)

    def __init__(self) -> None:
        super().__init__(name="Vector4")


class BufferType(types.Type):
    """A flat buffer of numbers (lanes = 1) or Packs, with the memory from which workspaces are taken (see `workspace_record`)."""

    def __init__(self, lanes: int = 1, dtype: Any = types.float64) -> None:
        self.lanes, self.dtype = lanes, dtype
        self.scalar = PackType(dtype, lanes) if lanes > 1 else dtype
        self.row = self.scalar if lanes > 1 else PackType(dtype, LANES)
        super().__init__(name=f"Buffer({dtype} x {lanes})")


class IntegersType(types.Type):
    """A flat buffer of int64."""

    def __init__(self) -> None:
        super().__init__(name="Integers")


row_type, vector4_type, numbers_type, integers_type = PackType(), Vector4Type(), BufferType(), IntegersType()


@register_model(PackType)
@register_model(Vector4Type)
class VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, fe_type.vector)


@register_model(BufferType)
class BufferModel(models.StructModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, [("data", types.CPointer(fe_type.dtype)), ("record", types.CPointer(types.int64))])


@register_model(IntegersType)
class IntegersModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, i64.as_pointer())


DEFINITIONS: dict[Any, Callable] = {}  # of primitives, and of operators of Packs


def lowers(function: Callable, *kinds: tuple[Any, ...]) -> Callable:
    """Gives a primitive its compiled meaning: the decorated definition takes the arguments' types and returns a
    signature and the generator of instructions, or None where it has no meaning. `kinds`: tuples of argument types to
    register for, if not any."""

    def register(definition: Callable) -> Callable:
        count = len(inspect.signature(definition).parameters)
        DEFINITIONS[function] = definition

        @type_callable(function)
        def _(context: Any) -> Any:
            def typer(*arguments: Any) -> Any:
                meaning = definition(*arguments)
                return meaning and meaning[0]

            typer.__signature__ = inspect.signature(definition)  # type: ignore[attr-defined]
            return typer

        def instructions(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return definition(*signature.args)[1](context, builder, signature, arguments)

        for kind in kinds or ((types.Any,) * count,):
            lower_builtin(function, *kind)(instructions)
        return definition

    return register


def options(function: Callable) -> dict[str, Any]:
    """How Numba compiles a marked function."""
    return OPTIONS | {"forceinline": getattr(function, "mark", "") == INLINED}
