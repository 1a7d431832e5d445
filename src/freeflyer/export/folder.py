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
    except OSError as error:
        raise FileError(
            f"cannot read the folder {str(folder)!r}: {error.strerror or error}", path=str(folder)
        ) from error


@contextmanager
def whole_folder(folder: Path, overwrite: bool) -> Iterator[Path]:
    """An empty folder to write into, whose files go to `folder` at the end if there was no error.

    Files of other names stay in `folder`.
    """
    refuse_to_replace(folder, overwrite)
    folder = folder.absolute()
    unfinished = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", suffix=".part", dir=folder.parent))
        yield unfinished
        refuse_to_replace(folder, overwrite)  # time has passed
        if not folder.exists():
            unfinished.chmod(0o777 & ~_umask())
            os.rename(unfinished, folder)
            return
        for path in sorted(unfinished.rglob("*")):
            target = folder / path.relative_to(unfinished)
            if path.is_dir():
                target.mkdir(exist_ok=True)
            else:
                os.replace(path, target)
    except OSError as error:
        raise FileError(
            f"cannot write the folder {str(folder)!r}: {error.strerror or error}", path=str(folder)
        ) from error
    finally:
        if unfinished is not None:
            shutil.rmtree(unfinished, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
