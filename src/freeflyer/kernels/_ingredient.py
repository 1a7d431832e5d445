"""Functions that only compiled functions call: typed and translated once, without machine code of their own.

Numba makes machine code of every function that it compiles. What other code takes in whole does not need it: here a
function ends as LLVM code, to be optimised where it is used, and is kept so on disk.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template


class IngredientLibrary(JITCodeLibrary):
    """LLVM code that waits to be linked into other libraries."""

    needs: tuple[IngredientLibrary, ...] = ()
    file = ""  # its name on disk

    @classmethod
    def from_code(cls, codegen: Any, name: str, code: bytes, needs: tuple[IngredientLibrary, ...], file: str) -> IngredientLibrary:
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(code)
        library.needs, library.file = needs, file
        library._finalize_final_module()
        return library

    @property
    def codegen(self) -> Any:
        return NoEnvironments

    def finalize(self) -> None:
        """Takes in what Numba compiled; other ingredients stay apart until a door takes in all of them."""
        self.needs = tuple(x for x in dict.fromkeys(self._linking_libraries) if isinstance(x, IngredientLibrary))
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if not isinstance(library, IngredientLibrary):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_final_module()

    def _optimize_functions(self, module: Any) -> None:
        """Tidied only, so that there is less of it to link."""
        module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager(opt=1)
        for function in module.functions:
            passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Left to the library that takes this one in."""

    def _finalize_final_module(self) -> None:
        """Its functions may then be defined in several libraries that are linked together."""
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _get_module_for_linking(self) -> Any:
        """With all that it needs, for code that is not ours."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            take_in([self], self._shared_module)
        return self._shared_module


class DoorLibrary(JITCodeLibrary):
    """What becomes machine code, with all ingredients."""

    def finalize(self) -> None:
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        take_in(self._linking_libraries, self._final_module)
        self._linking_libraries = []
        super().finalize()

    def _verify_declare_only_symbols(self) -> None:
        """Error: AssertionError for what is called and not there, which would be a jump to nowhere."""
        missing = [f.name for f in self._final_module.functions if f.is_declaration and f.name.startswith("_ZN")]
        assert not missing, f"{self.name} calls what is not there: {missing}"


def take_in(libraries: Sequence[Any], module: Any, apart: Callable[[Any], Any] = lambda library: None) -> None:
    """Links libraries and all that they need into a module, but for those kept `apart`, with what only these need.

    Each comes after all that use it: LLVM takes in only what is asked for by then.
    """
    found: dict[Any, None] = {}
    for library in libraries:
        put_behind_needs(library, found, apart)
    for library in reversed(found):
        own = library._final_module if isinstance(library, IngredientLibrary) else library._get_module_for_linking()
        module.link_in(own, preserve=True)


def put_behind_needs(library: Any, found: dict[Any, None], apart: Callable[[Any], Any]) -> None:
    if library not in found and not apart(library):
        for needed in getattr(library, "needs", ()):
            put_behind_needs(needed, found, apart)
        found[library] = None


class DoorCompiler(Compiler):
    def compile_extra(self, function: Any) -> Any:
        self.state.library = DoorLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class NoEnvironments:
    """Where Numba would write the address of a function's Python constants: code without machine code has no such place."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        pass


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


def reduced(made: CompileResult) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What goes to disk: name, code and the files of what it needs; and what `rebuilt` takes. What has no file becomes part of
    the code: meanings that kernels give to functions by numba.extending.overload are not kept."""
    library = made.library
    library._ensure_finalized()
    files: dict[str, None] = {}

    def apart(needed: IngredientLibrary) -> bool:
        if needed.file:
            files[needed.file] = None
        return bool(needed.file)

    module = library._final_module.clone()
    take_in(library.needs, module, apart)
    made.fndesc.typemap = made.fndesc.calltypes = None
    parts = made.fndesc, made.environment, made.signature, made.reload_init
    return (library.name, module.as_bitcode(), tuple(files)), parts


def rebuilt(
    target_context: Any, library: IngredientLibrary, fndesc: Any, env: Any, signature: Any, reload_init: Any
) -> CompileResult:
    """What came from disk, as CompileResult._rebuild does for functions with machine code."""
    for action in reload_init:
        action()
    return CompileResult(
        target_context=target_context, typing_context=target_context.typing_context, library=library, environment=env,
        entry_point=target_context.get_executable(library, fndesc, env), fndesc=fndesc, type_annotation="", signature=signature,
        objectmode=False, lifted=(), typing_error=None, call_helper=None, metadata=None, reload_init=reload_init,
        referenced_envs=(),
    )  # fmt: skip


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


def instructions(function: Callable) -> Callable:
    """Gives a function the meaning in compiled code that the decorated one states, as those of numba.extending.intrinsic do:
    it takes a typing context and the arguments' types, and returns a signature and what makes the instructions, or None.

    Numba's overload would compile a function for each combination of types.
    """

    def register(definition: Callable) -> Callable:
        template = make_intrinsic_template(function, definition, function.__name__)
        template.generic = remembering(template.generic)
        infer(template)
        infer_global(function, types.Function(template))
        return definition

    return register


def instruction(definition: Callable) -> Callable:
    """A function that has no meaning but these instructions (`kernels.plain` has another one)."""
    return instructions(definition)(definition)


def remembering(generic: Callable) -> Callable:
    """Numba's way to type instructions, which looks for new ones before it looks up what it knows."""

    def typed(self: Any, args: Any, kws: Any) -> Any:
        return self._impl_cache.get((self.context, args, tuple(kws.items()))) or generic(self, args, kws)

    return typed
