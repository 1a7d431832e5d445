"""Reports as files: written whole, and never over a file of another kind."""

from __future__ import annotations

from pathlib import Path

from freeflyer.errors import FileError
from freeflyer.files import write_atomically
from freeflyer.model.public import public
from freeflyer.report.page import MARK, page
from freeflyer.report.reporting import Report


@public
def write_report(result: Report, path: str | Path, force: bool = False) -> Path:
    """Report as one self-contained HTML page, written to a file.

    Args:
        path: path.
        force: Whether a file that is neither empty nor a page of this function may be replaced.
    Returns: Path of the file.
    Raises: FileError for a file of another kind without `force`, a folder, and a file that cannot be written.

    Examples:
        >>> result = ff.report.report(ff.robots.chain(3, joints="fixed"))
        >>> path = ff.report.write_report(result, "chain.html")
        >>> path.name, "<title>chain_3 - freeflyer report</title>" in path.read_text()
        ('chain.html', True)
    """
    path = Path(path)
    refuse_to_replace(path, force)
    write_atomically(path, page(result))
    return path


def refuse_to_replace(path: Path, force: bool = False) -> None:
    """Raise FileError where writing a report would destroy a file of another kind."""
    if not force and path.exists() and not is_report(path):
        what = "is a folder" if path.is_dir() else "exists and is not a freeflyer report"
        advice = "choose another name" + ("" if path.is_dir() else ", or replace it with --force (force=True)")
        raise FileError(f"{str(path)!r} {what}: {advice}", path=str(path))


def is_report(path: Path) -> bool:
    """Whether a file is a page written by `write_report`, or empty."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(1024)
    return not head or MARK.encode() in head
