"""Ingredients, which only compiled functions call, and doors, which Python calls: how each is compiled."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import types
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from freeflyer.kernels.compiler._linking import DoorLibrary, IngredientLibrary


class DoorCompiler(Compiler):
    def compile_extra(self, function: Any) -> Any:
        self.state.library = DoorLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


# Passes for what kernels do not have: closures, `with`, literals to propagate, raised exceptions, array expressions.
FOREIGN = {
    "WithLifting", "InlineClosureLikes", "RewriteSemanticConstants", "RewriteDynamicRaises",
    "MakeFunctionToJitFunction", "InlineInlinables", "FindLiterallyCalls", "LiteralUnroll",
    "LiteralPropagationSubPipelinePass", "InlineOverloads", "NopythonRewrites", "DumpParforDiagnostics",
}  # fmt: skip


class IngredientCompiler(Compiler):
    def define_pipelines(self) -> list[PassManager]:
        lean = PassManager("kernels")
        for one, words in super().define_pipelines()[0].passes:
            if one.__name__ not in FOREIGN:
                lean.add_pass(one, words)
        lean.finalize()
        return [lean]

    def compile_extra(self, function: Any) -> Any:
        self.state.library = IngredientLibrary(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


class Ingredient(CPUDispatcher):
    """A compiled function that compiled functions call, and Python only through a `door`, if it is given one."""

    door: Callable | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self.door is None:
            raise TypeError(f"{self.__name__} is a building block of kernels: call it from a kernel, or see kernels.plain")
        return self.door(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For any numbers, rather than once for each that the code names; LLVM sees them when it takes this in."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def compile(self, sig: Any) -> Any:
        """As Numba's, which also keeps time: of each call in a function that is compiled, and of all around it."""
        args, return_type = normalize_signature(sig)
        with global_compiler_lock, self._compiling_counter:
            existing = self.overloads.get(tuple(args))
            if existing is not None:
                return existing.entry_point
            made = self._cache.load_overload(sig, self.targetctx)
            (self._cache_misses if made is None else self._cache_hits)[sig] += 1
            if made is None:
                made = self._compiler.compile(args, return_type)
                self._cache.save_overload(sig, made)
            else:
                self.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
            self.add_overload(made)
            return made.entry_point


class Door(CPUDispatcher):
    """A compiled function that Python calls."""

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock, unhurried():
            return super().compile(sig)


@contextmanager
def unhurried() -> Iterator[None]:
    """Compiling without what Numba does over and over: typing the same call of the same types, and letting Python's garbage
    collector look through all of its objects."""
    collects, typed = gc.isenabled(), types.Function.get_call_type
    known: dict[Any, Any] = {}  # also holds the functions, whose addresses name them

    def remembered(function: Any, context: Any, args: Any, kws: Any) -> Any:
        key = id(function), context, args, tuple(kws.items())
        if key not in known:
            known[key] = typed(function, context, args, kws), function
        return known[key][0]

    gc.disable()
    types.Function.get_call_type = remembered
    try:
        yield
    finally:
        types.Function.get_call_type = typed
        if collects:
            gc.enable()
