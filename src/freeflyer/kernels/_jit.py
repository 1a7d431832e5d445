"""The one place that decides how kernels are compiled and where compiled code is kept.

Options, and why: `nogil` so that batches run on threads; `error_model="numpy"` so that a division is one instruction;
fast-math flags that let LLVM fuse and reorder (contract, reassoc, nsz, arcp) but keep NaN and Inf detectable. Cached code
is named by a hash of every kernel source that its function can reach, because Numba looks only at the file of the function
it compiles and does not notice that a function called from it has changed.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import re
import shutil
import sys
import tempfile
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from freeflyer.kernels._ingredient import Door, Ingredient, IngredientCompiler, rebuilt, reduced

SEAL = 32  # bytes of a hash
FAST = {"contract", "reassoc", "nsz", "arcp"}
ROOM = "freeflyer.kernels"
MAKERS = {"empty", "carray", "workspace", "rows_for"}  # what makes arrays, by name
IMPORTED = re.compile(rf"^(?:from {ROOM}\.(\w+) import|from {ROOM} import (\([^)]*\)|.+)$)", re.MULTILINE)


def kernel(function: Callable) -> Any:
    """Compiled on first use, cached on disk; LLVM decides whether to inline it into other kernels."""
    return _ingredient(function)


def inlined(function: Callable, owns: bool = False) -> Any:
    """A kernel's building block, always inlined by LLVM.

    `owns`: it handles arrays in a way that `makes_arrays` does not see, such as spreading a tuple of them.
    """
    return _ingredient(function, owns, forceinline=True)


def immediate(function: Callable) -> Any:
    """A kernel's door for one state, called as a C function: so quick that releasing the interpreter lock would only cost."""
    return _door(function, nogil=False, no_cpython_wrapper=True)


def released(function: Callable) -> Any:
    """A kernel's door for a batch: releases the interpreter lock, so that several can run."""
    return _door(function, no_cfunc_wrapper=True)


def _door(function: Callable, **options: Any) -> Any:
    dispatcher = _compiled(function, **options)
    dispatcher.__class__ = Door
    return dispatcher


def _ingredient(function: Callable, owns: bool = False, **options: Any) -> Any:
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": IngredientCompiler}
    dispatcher = _compiled(function, owns=owns, **options)
    dispatcher.__class__ = Ingredient
    dispatcher._cache.reduced, dispatcher._cache.rebuilt = reduced, rebuilt
    return dispatcher


def _compiled(function: Callable, nogil: bool = True, owns: bool = False, **options: Any) -> Any:
    owns = owns or makes_arrays(function)
    dispatcher = numba.njit(nogil=nogil, error_model="numpy", fastmath=FAST, _nrt=owns, **options)(function)
    dispatcher.owns = owns
    dispatcher._cache = SourceKeyedCache(function, owns)
    return dispatcher


def makes_arrays(function: Callable) -> bool:
    """Whether a function makes arrays, or calls one that does: it needs reference counts, which cost the others time."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    called = [function.__globals__.get(name) for name in code.co_names] + [c.cell_contents for c in cells.values()]
    return bool(MAKERS & set(code.co_names)) or any(getattr(f, "owns", False) for f in called)


class SourceKeyedCache(FunctionCache):
    """Compiled code on disk: one file for each signature and state of the sources behind it, sealed by its hash.

    Not Numba's own files: several processes would share an index there, and code of one signature could end up under
    the name of another; a broken index would stop every call; a flipped bit would be executed. A file that is not
    whole, or not ours, means: compile again.
    """

    def __init__(self, function: Callable, owns: bool) -> None:
        self._owns = owns
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._modules = tuple(sorted(modules(function)))
        self.reduced, self.rebuilt = CompileResult._reduce, CompileResult._rebuild

    @property
    def cache_path(self) -> str:
        return cache_folder()

    def _path(self, sig: Any) -> Path:
        key = hashlib.sha256(repr((sig, processor(), source_key(self._modules))).encode()).hexdigest()[:16]
        return Path(cache_folder(), f"{self._name}.{key}")

    def holds(self, sig: Any) -> bool:
        """Whether there is code for a signature."""
        return self._path(sig).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            sealed = self._path(sig).read_bytes()
            if hashlib.sha256(sealed[SEAL:]).digest() != sealed[:SEAL]:
                return None
            target_context.refresh()
            return self.rebuilt(target_context, *pickle.loads(sealed[SEAL:]))
        except Exception:  # whatever is wrong with the file: what matters is that the kernel gets compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._owns and receives_arrays(data):
            raise TypeError(f"{self._name} gets an array from a function that is defined below it: move it below that one")
        code = dumps(self.reduced(data))
        try:
            path = self._path(sig)
            unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
            unfinished.write_bytes(hashlib.sha256(code).digest() + code)
            os.replace(unfinished, path)
        except OSError:  # a full or read-only disk costs time, not correctness
            return


def receives_arrays(compiled: Any) -> bool:
    """Whether an array comes out of the function, or of one that it calls."""
    calls = [s for expr, s in compiled.type_annotation.calltypes.items() if s is not None and getattr(expr, "op", "") == "call"]
    return any(holds_arrays(s.return_type) for s in [compiled.signature, *calls])


def holds_arrays(ty: Any) -> bool:
    return isinstance(ty, numba.types.Array) or any(holds_arrays(t) for t in getattr(ty, "types", ()))


@cache
def processor() -> tuple[Any, ...]:
    """What machine code is made for."""
    return cpu_target.target_context.codegen().magic_tuple()


@cache
def cache_folder() -> str:
    """FREEFLYER_CACHE_DIR, else the user's cache folder, else a temporary one; below it a folder per set of versions."""
    try:
        root = os.environ.get("FREEFLYER_CACHE_DIR")
        base = Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "freeflyer"
        folder = base.absolute() / versions_key()
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # no folder to write to, or no home
        folder = Path(tempfile.mkdtemp(prefix="freeflyer-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(folder)


def versions_key() -> str:
    """Hash of the versions that compiled code depends on."""
    versions = f"{sys.version_info[:2]} {numba.__version__} {llvmlite.__version__} {np.__version__}"
    return hashlib.sha256(versions.encode()).hexdigest()[:16]


def modules(function: Callable) -> set[str]:
    """Modules that a function's code comes from: its own, and those of the compiled functions that it closes over."""
    found = {function.__module__}
    for cell in function.__closure__ or ():
        inner = getattr(cell.cell_contents, "py_func", None)
        if inner is not None:
            found |= modules(inner)
    return found


@cache
def source_key(names: tuple[str, ...]) -> str:
    """Hash of the kernel sources that these modules reach by their imports."""
    digest = hashlib.sha256()
    for name in sorted(reached(names)):
        digest.update(name.encode() + b"\0" + source(name).encode() + b"\0")
    return digest.hexdigest()


def reached(names: tuple[str, ...]) -> set[str]:
    """Kernel files that these modules import, directly or through others, and this one, which holds the options."""
    found: set[str] = set()
    waiting = ["_jit", *(name.removeprefix(ROOM + ".") for name in names if name.startswith(ROOM + "."))]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for module, several in IMPORTED.findall(source(name)):
                waiting += [module] if module else re.findall(r"\w+", several)
    return found


@cache
def source(name: str) -> str:
    """Text of a kernel file."""
    return Path(__file__).with_name(f"{name}.py").read_text()
