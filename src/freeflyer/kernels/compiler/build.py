"""Compiled functions by name: loaded from the cache, or made first, by a process of its own."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import threading
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from freeflyer.kernels.compiler import cache as disk
from freeflyer.kernels.compiler.sources import source_key

SHARED_MODULES = ("entry_code.bodies", "lowering")
WITHOUT_IMPORTS = ("compiler.numba_ir", "compiler.object_code")  # of these, what they import is not counted: it is all entries
_lock = threading.RLock()


def _new_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)  # another thread may have held it


def symbol(name: str, lanes: int) -> str:
    """The C name of an entry's function."""
    return f"freeflyer_{name}" if lanes == 1 else f"freeflyer_{name}_batch"


def file_name(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> str:
    """The file of the object code of an entry, `modules` being those that it comes from and `facts` its data in the table."""
    from freeflyer.kernels.compiler.object_code import host

    behind = source_key(modules + SHARED_MODULES, WITHOUT_IMPORTS)
    key = hashlib.sha256(repr((versions(), host(), lanes, facts, behind)).encode()).hexdigest()[:32]
    return f"{symbol(name, lanes)}.{key}.o"


@cache
def versions() -> tuple[object, ...]:
    """Versions that compiled code depends on."""
    return sys.version_info[:2], sysconfig.get_config_var("SOABI"), version("numba"), version("llvmlite")


def version(package: str) -> str:
    """A package's version, from the name of the folder that describes its installation: neither is imported."""
    spec = find_spec(package)
    folder = Path(spec.origin).parents[1] if spec is not None and spec.origin else Path()
    found = sorted(name for name in os.listdir(folder) if name.startswith(f"{package}-") and name.endswith(".dist-info"))
    if len(found) == 1:
        return found[0]
    from importlib import metadata

    return metadata.version(package)


def is_cached(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> bool:
    return disk.read(file_name(name, modules, lanes, facts)) is not None


def address(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> int:
    """Where the compiled function of an entry lies in memory: for one state, or, if lanes > 1, for a batch."""
    with _lock:
        return _address(name, modules, lanes, facts)


@cache
def _address(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> int:
    from freeflyer.kernels.compiler import object_code

    return object_code.load(make(name, modules, lanes, facts), symbol(name, lanes))


def make(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> bytes:
    """Object code of an entry, from the cache if it is there."""
    file = file_name(name, modules, lanes, facts)
    code = disk.read(file)
    if code is None:
        with disk.lock(file):
            code = disk.read(file)  # another process may have made it meanwhile
            if code is None:
                from freeflyer.kernels.compiler import worker

                code = worker.compile(name, lanes, symbol(name, lanes))
                disk.write(file, code)
    return code
