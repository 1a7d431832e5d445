"""A folder that is written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from freeflyer.errors import FileError


def refuse_to_replace(folder: Path, overwrite: bool) -> None:
    """Errors: FileError for a file, and for a folder that holds anything, unless `overwrite`."""
    try:
        if folder.is_dir():
            if not overwrite and any(folder.iterdir()):
                raise FileError(
                    f"the folder {str(folder)!r} is not empty: name another, or allow files in it to be replaced (--overwrite)",
                    path=str(folder),
                )
        elif folder.exists() or folder.is_symlink():
            raise FileError(f"cannot write the folder {str(folder)!r}: there is a file of that name", path=str(folder))
    except (OSError, ValueError) as error:  # also null characters in the name
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read the folder {str(folder)!r}: {reason}", path=str(folder)) from error


@contextmanager
def whole_folder(folder: Path, overwrite: bool) -> Iterator[Path]:
    """An empty folder to write into, whose files go to `folder` at the end if there was no error.

    Files of other names stay in `folder`."""
    refuse_to_replace(folder, overwrite)
    unfinished = None
    try:
        folder = folder.resolve()
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = folder if folder.exists() else folder.parent  # of the same file system
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", suffix=".part", dir=beside))
        new = unfinished / "new"
        new.mkdir()
        yield new
        if not folder.exists():
            os.rename(new, folder)
            return
        paths = [path.relative_to(new) for path in sorted(new.rglob("*"))]
        for path in paths:
            refuse_path(folder / path, (new / path).is_dir(), overwrite)
        for path in paths:
            if (new / path).is_dir():
                (folder / path).mkdir(exist_ok=True)
            else:
                os.replace(new / path, folder / path)
    except OSError as error:
        text = f"cannot write the folder {str(folder)!r}: {error.strerror or error}"
        raise FileError(text, path=str(folder)) from error
    finally:
        if unfinished is not None:
            shutil.rmtree(unfinished, ignore_errors=True)


def refuse_path(path: Path, is_folder: bool, overwrite: bool) -> None:
    """Errors: FileError where a file would take a folder's place, the other way round, or a file's place without `overwrite`."""
    if path.exists() and (path.is_dir() != is_folder or not (is_folder or overwrite)):
        what = "a folder" if path.is_dir() else "a file"
        raise FileError(f"cannot write {str(path)!r}: there is {what} of that name", path=str(path))
