"""Compiled functions by name: loaded from the cache, or made first, by a process of its own."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from functools import cache
from importlib import metadata, util

import llvmlite

from freeflyer.kernels.compiler import cache as disk
from freeflyer.kernels.compiler import object_code, worker
from freeflyer.kernels.compiler.sources import source_key

BEHIND_ALL = ("calls.bodies", "lowering")
ALONE = ("compiler.numba_ir", "compiler.object_code", "compiler.build")  # they import all entries: what these import is not counted
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
    """The file of the object code of an entry, `modules` being those that it comes from and `facts` what the table says of it."""
    behind = source_key(modules + BEHIND_ALL, ALONE)
    key = hashlib.sha256(repr((versions(), object_code.host(), lanes, facts, behind)).encode()).hexdigest()[:32]
    return f"{symbol(name, lanes)}.{key}.o"


@cache
def versions() -> tuple[object, ...]:
    """Versions that compiled code depends on."""
    try:
        numba = metadata.version("numba")
    except metadata.PackageNotFoundError:
        numba = str(util.find_spec("numba"))
    return sys.version_info[:2], numba, llvmlite.__version__


def is_cached(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> bool:
    return disk.read(file_name(name, modules, lanes, facts)) is not None


def address(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> int:
    """Where the compiled function of an entry lies in memory: for one state, or, if lanes > 1, for a batch."""
    with _lock:
        return _address(name, modules, lanes, facts)


@cache
def _address(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> int:
    return object_code.load(made(name, modules, lanes, facts), symbol(name, lanes))


def made(name: str, modules: tuple[str, ...], lanes: int, facts: str = "") -> bytes:
    """Object code of an entry, from the cache if it is there."""
    file = file_name(name, modules, lanes, facts)
    code = disk.read(file)
    if code is None:
        with disk.lock(file):
            code = disk.read(file)  # another process may have made it meanwhile
            if code is None:
                code = worker.compile(name, lanes, symbol(name, lanes))
                disk.write(file, code)
    return code
