"""Compiled code on disk, named by a hash of every kernel source that its function can reach.

Numba's own files are not used: several processes would share an index there, and code of one signature could end up under
the name of another; a broken index would stop every call; a flipped bit would be executed. Here every file is sealed by
its hash. One that is not whole, or not ours, means: compile again.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
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

from freeflyer.kernels.compiler._linking import IngredientLibrary, take_in
from freeflyer.kernels.compiler._sources import modules, source_key

SEAL = 32  # bytes of a hash


class DoorCache(FunctionCache):
    """One file for each signature and state of the sources behind it."""

    def __init__(self, function: Callable, owns: bool) -> None:
        self._owns = owns
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._modules = tuple(sorted(modules(function)))

    @property
    def cache_path(self) -> str:
        return cache_folder()

    def _file(self, sig: Any) -> str:
        key = hashlib.sha256(repr((sig, processor(), source_key(self._modules))).encode()).hexdigest()[:16]
        return f"{self._name}.{key}"

    def holds(self, sig: Any) -> bool:
        """Whether there is code for a signature."""
        return Path(cache_folder(), self._file(sig)).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._load(self._file(sig), target_context)
        except Exception:  # whatever is wrong with the file: what matters is that the kernel gets compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self._owns and receives_arrays(data):
            raise TypeError(f"{self._name} gets an array from a function that is defined below it: move it below that one")
        try:
            self._save(self._file(sig), data)
        except OSError:  # a full or read-only disk costs time, not correctness
            return

    def _load(self, file: str, target_context: Any) -> Any:
        parts = pickle.loads(unsealed(file))
        target_context.refresh()
        return CompileResult._rebuild(target_context, *parts)

    def _save(self, file: str, made: CompileResult) -> None:
        write(file, dumps(made._reduce()))


class IngredientCache(DoorCache):
    """The file of a signature holds the name of another one, which holds the code and is named by it: what was compiled
    with an ingredient needs that very one, even if another process has made its own since."""

    def _load(self, file: str, target_context: Any) -> Any:
        name = unsealed(file).decode()
        target_context.refresh()
        library = restored(name, target_context.codegen())
        return rebuilt(target_context, library, *pickle.loads(unsealed(name))[1])

    def _save(self, file: str, made: CompileResult) -> None:
        code = dumps(reduced(made))
        made.library.file = f"{self._name}.{hashlib.sha256(code).hexdigest()[:32]}"
        write(made.library.file, code)
        write(file, made.library.file.encode())
        LIBRARIES[cache_folder(), made.library.file] = made.library


LIBRARIES: dict[tuple[str, str], IngredientLibrary] = {}  # those of a folder that this process has


def restored(file: str, codegen: Any) -> IngredientLibrary:
    """A library, with all that it needs."""
    here = cache_folder(), file
    if here not in LIBRARIES:
        (name, code, needs), _ = pickle.loads(unsealed(file))
        LIBRARIES[here] = IngredientLibrary.from_code(codegen, name, code, tuple(restored(x, codegen) for x in needs), file)
    return LIBRARIES[here]


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


def unsealed(file: str) -> bytes:
    """What was written. Errors: OSError if there is no such file, ValueError if it is not as it was written."""
    sealed = Path(cache_folder(), file).read_bytes()
    if hashlib.sha256(sealed[SEAL:]).digest() != sealed[:SEAL]:
        raise ValueError(f"{file} is broken")
    return sealed[SEAL:]


def write(file: str, data: bytes) -> None:
    """A whole file, or none. Errors: OSError."""
    path = Path(cache_folder(), file)
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    unfinished.write_bytes(hashlib.sha256(data).digest() + data)
    os.replace(unfinished, path)


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
