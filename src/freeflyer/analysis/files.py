"""Writing a file so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from freeflyer.errors import FileError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write text (UTF-8) or bytes beside `path` and rename it there. Devices and pipes are written to directly."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise FileError(f"cannot write {str(path)!r}: it is a folder; give a file name in it", path=str(path))
            path.write_bytes(data)
            return
        _replace(path.resolve(), data)  # a link keeps pointing where it did
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error.strerror or error}", path=str(path)) from error


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
