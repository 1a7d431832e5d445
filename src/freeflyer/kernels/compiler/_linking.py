"""LLVM code of compiled functions, and how it comes together.

Numba makes machine code of every function that it compiles. What other code takes in whole does not need it: ingredients
end as LLVM code, to be optimised where they are used; only doors become machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary


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
        inherit_actions(self)
        for library in dict.fromkeys(self._linking_libraries):
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
        inherit_actions(self)
        take_in(self._linking_libraries, self._final_module)
        self._linking_libraries = []
        super().finalize()

    def _verify_declare_only_symbols(self) -> None:
        """Error: AssertionError for what is called and not there, which would be a jump to nowhere."""
        missing = [f.name for f in self._final_module.functions if f.is_declaration and f.name.startswith("_ZN")]
        assert not missing, f"{self.name} calls what is not there: {missing}"


def inherit_actions(library: Any) -> None:
    """What newer Numba does again when it loads code that uses these libraries."""
    for other in library._linking_libraries:
        if hasattr(other, "_reload_init"):
            library._reload_init.update(other._reload_init)


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


class NoEnvironments:
    """Where Numba would write the address of a function's Python constants: code without machine code has no such place."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        pass
