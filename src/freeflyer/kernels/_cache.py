"""Compiled code on disk, named by a hash of every kernel source that its function can reach.

Numba looks only at the file of the function it compiles and does not notice that a function called from it has changed.
Its files are not used either: several processes would share an index there, and code of one signature could end up under
the name of another; a broken index would stop every call; a flipped bit would be executed. Here every file is sealed by
its hash. One that is not whole, or not ours, means: compile again.
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

from freeflyer.kernels import _ingredient
from freeflyer.kernels._ingredient import IngredientLibrary

SEAL = 32  # bytes of a hash
ROOM = "freeflyer.kernels"
IMPORTED = re.compile(rf"^(?:from {ROOM}\.(\w+) import|from {ROOM} import (\([^)]*\)|.+)$)", re.MULTILINE)


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
        return _ingredient.rebuilt(target_context, library, *pickle.loads(unsealed(name))[1])

    def _save(self, file: str, made: CompileResult) -> None:
        code = dumps(_ingredient.reduced(made))
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
