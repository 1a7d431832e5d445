"""Atomic replacement of files: a reader gets the old content or the new one, never part of it."""

import os
import secrets
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from freeflyer.errors import FileError, InputError, format_value


def write_atomically(path: str | os.PathLike[str], content: str | bytes, overwrite: bool = True, streams: bool = False) -> None:
    """Writes text (UTF-8) or bytes to a new file beside `path`, then renames it to `path`.

    A file that is replaced keeps its mode, and its owner where the system allows that; a new one has the mode that the umask
    leaves. A symbolic link stays, and the file to which it points is replaced. streams: devices and pipes are written to directly.
    Errors: InputError for anything that is no path; FileError for a folder, for a file or link that is there (without overwrite),
    for devices, pipes and sockets (without streams), and for what the system refuses."""
    shown = check_path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        refuse_existing(path, overwrite)
        status: os.stat_result | None = None
        with suppress(FileNotFoundError):
            status = os.stat(path)  # of the file to which a link points; OSError for links that lead round
        if status is None or stat.S_ISREG(status.st_mode):
            _replace(Path(os.path.realpath(path)), data, status)
        elif streams:
            Path(path).write_bytes(data)
        else:
            raise FileError(f"{shown} is a device, a pipe or a socket: only plain files are replaced", path=str(path))
    except (OSError, ValueError) as error:  # also null characters and half surrogates in the name
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{shown} cannot be written: {reason}", path=str(path)) from error


def refuse_existing(path: str | os.PathLike[str], overwrite: bool) -> None:
    """FileError for a folder, for a file or link that is there, unless it may be replaced, and for a name in no folder."""
    shown, folder = check_path(path), os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise FileError(f"{shown} is a folder: give the name of a file in it", path=str(path))
    if not overwrite and os.path.lexists(path):
        raise FileError(f"{shown} exists already: pass overwrite=True to replace it", path=str(path))
    if not os.path.isdir(folder):
        raise FileError(f"{shown} cannot be written: there is no folder {format_value(folder, 200)}", path=str(path))


def check_target(path: str | os.PathLike[str], endings: Collection[str], overwrite: bool) -> str:
    """The ending of a file to write, in small letters. Errors: FileError for one not in `endings`, and as refuse_existing."""
    refuse_existing(path, overwrite)
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise FileError(f"{check_path(path)} must end in {' or '.join(endings)}: no other kind of file is written", path=str(path))
    return ending


def check_path(path: object) -> str:
    """The path as messages show it; InputError for anything that is no path in text."""
    named = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(named, str):
        raise InputError(f"path is {format_value(path)}: expected the name of a file to write, as str or pathlib.Path", path=path)
    if not named.strip():
        raise FileError(f"path is {path!r}, which is empty: give the name of a file to write")
    if "\0" in named:
        raise FileError(f"path is {format_value(named)}, which holds a null character: give another name")
    return repr(named if len(named) < 200 else named[:200] + "...")


def _replace(path: Path, data: bytes, old: os.stat_result | None) -> None:
    """Renames a new file to `path`; `old` is the state of the file that is there."""
    name = path.parent / f".{path.name[:40]}.{secrets.token_hex(8)}.part"
    # The system takes the umask from the mode of a new file: os.umask would change it for all threads.
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if old is not None:
                if (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
                    with suppress(PermissionError):
                        os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) & 0o777)
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
