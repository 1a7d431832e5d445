"""Object code on disk: a file for each function of a kernel, named by a hash of its code, of versions and of the CPU, sealed by
name and content.

The folder is private to its user (mode 0700): one that others own or may write to is not used. A file that is not whole, or does
not match its name, is compiled again. Files hold object code and nothing that Python would execute.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks: processes may then compile the same function twice
    fcntl = None  # type: ignore[assignment]

SEAL = 32  # bytes of a hash
MAX_BYTES = 2**26  # of a file that is read
MAX_KEPT_FILES = 48  # files of one function: for several kinds of arguments, and several states of the sources
LOCK_SECONDS = 120.0  # the longest wait for another process that compiles the same function


@cache
def cache_folder() -> Path:
    """FREEFLYER_CACHE_DIR, else the user's cache folder, else a temporary one."""
    try:
        root = os.environ.get("FREEFLYER_CACHE_DIR")
        base = Path(root).expanduser() if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "freeflyer"
        folder = base.absolute() / "objects"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(OSError):
            folder.chmod(0o700)
        if not private(folder):
            raise PermissionError
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError):  # no folder to write to, or no home
        folder = Path(tempfile.mkdtemp(prefix="freeflyer-"))
        atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child, whose parent still uses it
        shutil.rmtree(folder, ignore_errors=True)


def private(folder: Path) -> bool:
    """Whether a folder is this user's, and writable by this user only."""
    if not hasattr(os, "getuid"):
        return True
    facts = folder.stat()
    return facts.st_uid == os.getuid() and not stat.S_IMODE(facts.st_mode) & 0o022


def _open_at_once(path: str | os.PathLike[str], flags: int) -> int:
    """A handle of the file; a pipe is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)


def read(name: str) -> bytes | None:
    """The content of the file of that name; None if there is no such file, or it is not as it was written."""
    try:
        handle = _open_at_once(cache_folder() / name, os.O_RDONLY)
        try:
            facts = os.fstat(handle)
            sealed = os.read(handle, facts.st_size) if stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES else b""
        finally:
            os.close(handle)
    except OSError:
        return None
    return sealed[SEAL:] if sealed[:SEAL] == seal(name, sealed[SEAL:]) else None


def write(name: str, code: bytes) -> None:
    """A whole file, or none: a full or read-only disk costs time, not correctness."""
    path = cache_folder() / name
    try:
        handle, unfinished = tempfile.mkstemp(prefix=f"{name}.", dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(seal(name, code) + code)
        os.replace(unfinished, path)
    except OSError:
        with suppress(OSError):
            os.unlink(unfinished)
        return
    remove_old(path)


def seal(name: str, code: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def remove_old(newest: Path) -> None:
    """Removes files of the same function for other states of the sources, but for the latest."""
    function = function_of(newest.name)
    with suppress(OSError):
        alike = [p for p in newest.parent.glob(f"{function}*{newest.suffix}") if function_of(p.name) == function and p != newest]
        for path in sorted(alike, key=lambda p: p.stat().st_mtime, reverse=True)[MAX_KEPT_FILES - 1 :]:
            path.unlink()


def function_of(file: str) -> str:
    """The function of a file: name_hash.hash.o, or name.hash.list."""
    name = file.partition(".")[0]
    return name.rpartition("_")[0] if file.endswith(".o") else name


@contextmanager
def lock(name: str) -> Iterator[None]:
    """Held while a file is made, so that processes that need the same one wait for it rather than make it, too."""
    if fcntl is None:
        yield
        return
    try:
        file = open(cache_folder() / f"{name}.lock", "wb", opener=_open_at_once)  # noqa: SIM115  (closed below)
    except OSError:
        yield
        return
    with file:
        end = time.monotonic() + LOCK_SECONDS
        while time.monotonic() < end:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(0.02)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough: a child forked meanwhile has the file open, too
                os.unlink(file.name)
