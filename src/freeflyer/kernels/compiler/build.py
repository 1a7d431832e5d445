"""Compiled entries by name: their object code from the cache or a wheel, or made here, and loaded.

Object code is made and kept for each function of a kernel, under the name that a hash of its LLVM code gives it, so entries share
it, and an edit of a kernel leaves what it does not reach. Which functions an entry needs is found by writing their LLVM code. It is
remembered for as long as no kernel file changes, so usual starts read neither kernels nor their code.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from freeflyer.kernels.compiler import cache as disk, object_code
from freeflyer.kernels.entry import Entry

FOLDER = Path(__file__).parents[1]
WHEEL = FOLDER / "objects"  # object code that came with the package: a folder for each CPU
NOTICE_SECONDS = 2.0  # compiling that takes longer is announced on a terminal
SETTLED_SECONDS = 2.0  # files as young as this may change without a new time
PYTHON = ("adapter", "release")  # compiled functions that are no entries
_lock = threading.RLock()

if hasattr(os, "register_at_fork"):  # a child then neither finds the lock taken for ever nor LLVM in the middle of its work
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

Name = Entry | str  # an entry, of one robot (one_robot/), or one of PYTHON


def name_of(entry: Name, lanes: int) -> str:
    return (entry if isinstance(entry, str) else entry.name) + ("_batch" if lanes > 1 else "")


@cache
def stamp() -> str:
    """A hash of names, sizes and times of all kernel files; empty while one of them may still change without a trace."""
    found = []
    for folder, folders, files in os.walk(FOLDER):
        folders[:] = [name for name in folders if name not in ("__pycache__", WHEEL.name)]
        for path in (os.path.join(folder, name) for name in files if name.endswith(".py")):
            facts = os.stat(path)
            found.append((path, facts.st_size, facts.st_mtime_ns))
    settled = max(t for *_, t in found) < 1e9 * (time.time() - SETTLED_SECONDS)
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest() if settled else ""


def file_of(symbol: str, target: Any) -> str:
    return f"{symbol}.{_hash(target)}.o"


def list_of(entry: Name, lanes: int, target: Any) -> str | None:
    """The file that lists the functions of an entry of the library; None for entries of others, and while files change."""
    robot = getattr(entry, "robot", "")
    if not stamp() or not (isinstance(entry, str) or entry.in_library or robot):
        return None
    return f"{name_of(entry, lanes)}.{_hash(stamp(), target, lanes, *filter(None, [robot]))}.list"


def _hash(*facts: object) -> str:
    return hashlib.sha256(repr((object_code.LLVMLITE, *facts)).encode()).hexdigest()[:24]


_made: dict[Any, Any] = {}  # functions of kernels that are written already


def closure(entry: Name, lanes: int) -> list[Any]:
    """The functions of an entry as LLVM code, its own last. Errors: KernelError for what is not part of the language."""
    from freeflyer.kernels.compiler import adapter, entry_code
    from freeflyer.kernels.compiler.frontend.functions import c_function
    from freeflyer.kernels.compiler.frontend.kinds import INT, INTEGERS

    name = name_of(entry, lanes)
    if isinstance(entry, str):
        body, kinds = {"adapter": (adapter.call, (INT, INTEGERS, INT)), "release": (adapter.release, (INT,))}[entry]
    else:
        body, kinds = entry_code.state_by_state(entry, False) if lanes == 1 else entry_code.batch(entry, lanes), (INTEGERS,) * 8
    return list(c_function(name, body, kinds, _made).closure)


def named(entry: Name, lanes: int, target: Any) -> tuple[list[str], list[Any]]:
    """(symbols of an entry's functions, its own last; the functions, empty if the symbols were remembered)."""
    listed = list_of(entry, lanes, target)
    names = (disk.read(listed) or b"").decode().split() if listed else []
    if names:
        return names, []
    functions = closure(entry, lanes)
    names = [f.symbol for f in functions]
    if listed and stamp.__wrapped__() == stamp():  # no file changed meanwhile
        disk.write(listed, " ".join(names).encode())
    return names, functions


def objects(entry: Name, lanes: int, target: Any = None) -> tuple[list[bytes], str]:
    """(object code of an entry's functions, symbol of its own) for a CPU, this machine's if None."""
    target = target or object_code.host()
    names, functions = named(entry, lanes, target)
    codes: Any = [disk.read(file_of(name, target)) for name in names]
    if None in codes and target == object_code.host():
        codes = from_wheel(names) or codes
    if None in codes:
        notice = announce(name_of(entry, lanes), "" if getattr(entry, "robot", "") else " (`freeflyer warm` does it ahead)")
        try:
            codes = [make(f, target) for f in functions or closure(entry, lanes)]
        finally:
            notice.cancel()
    return codes, names[-1]


def from_wheel(symbols: list[str]) -> list[bytes] | None:
    """The object code that came with the package for this CPU; None if any of it did not."""
    if WHEEL.is_dir():
        for level in object_code.levels_here():
            with suppress(OSError):
                return [(WHEEL / level.cpu / f"{symbol}.o").read_bytes() for symbol in symbols]
    return None


def make(function: Any, target: Any) -> bytes:
    """Object code of a function of a kernel, from the cache if it is there."""
    file = file_of(function.symbol, target)
    code = disk.read(file)
    if code is None:
        with disk.lock(file):
            code = disk.read(file)  # another process may have made it meanwhile
            if code is None:
                code = object_code.object_code(function.code, target)
                disk.write(file, code)
    return code


def is_cached(entry: Name, lanes: int) -> bool:
    """Whether an entry can be loaded without compiling, as far as names of files tell."""
    listed, folder = list_of(entry, lanes, object_code.host()), disk.cache_folder()
    if not WHEEL.is_dir() and not (listed and (folder / listed).exists()):
        return False
    names, _ = named(entry, lanes, object_code.host())  # with a wheel, writing them takes less than compiling
    return all((folder / file_of(x, object_code.host())).exists() for x in names) or from_wheel(names) is not None


@cache
def _loaded(entry: Name, lanes: int) -> int:
    return object_code.load(*objects(entry, lanes))


def address(entry: Name, lanes: int) -> int:
    """Where the compiled function of an entry lies in memory: for one state, or, if lanes > 1, for a batch."""
    with _lock:
        return _loaded(entry, lanes)


def separate_address(entry: Entry, lanes: int, seconds: Callable[[int], float]) -> int:
    """As `address`, of an entry of one robot: the fastest copy. Other threads find what they need meanwhile. Errors: Refused, as
    before if it was."""
    from freeflyer.kernels.compiler.one_robot.expressions import Refused

    verdict = (list_of(entry, lanes, object_code.host()) or "").replace(".list", ".general")
    reason = disk.read(verdict) if verdict else None
    if reason:
        raise Refused(reason.decode())
    try:
        found = objects(entry, lanes)
    except Refused as error:
        if verdict:
            disk.write(verdict, str(error).encode())
        raise
    with _lock:
        return object_code.load(*found, seconds)


def announce(name: str, hint: str) -> threading.Timer:
    """Prints on a terminal, after a while, that a function is being compiled, with a hint."""

    def notice() -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"freeflyer: compiling {name}, once on this machine{hint}", file=sys.stderr)

    timer = threading.Timer(NOTICE_SECONDS, notice)
    timer.daemon = True
    timer.start()
    return timer
