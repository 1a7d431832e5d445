"""What both writers need: numbers in full precision, and files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from freeflyer.errors import DescriptionError, FileError, InputError
from freeflyer.model.description import Description
from freeflyer.model.validate import validate

if TYPE_CHECKING:
    from lxml.etree import _Element


def description_of(robot: object) -> Description:
    """The checked Description of a Model or of itself."""
    description = getattr(robot, "description", robot)
    if not isinstance(description, Description):
        raise InputError(f"expected a Model or a Description, got {type(robot).__name__}")
    return validate(description, inertias="as-is")


def text(values: Iterable[float]) -> str:
    """Numbers, separated by spaces, such that reading them gives the same floats."""
    return " ".join(repr(float(x)) for x in values)


def finish(root: _Element, path: str | os.PathLike[str] | None, overwrite: bool) -> str:
    """The XML text of the tree, also written to `path` if one is given."""
    from lxml import etree

    etree.indent(root)
    content = etree.tostring(root, encoding="unicode") + "\n"
    if path is not None:
        save(content, path, overwrite)
    return content


def save(content: str, path: str | os.PathLike[str], overwrite: bool) -> None:
    """Writes a file at once: a reader never sees half of it, and a failure leaves the old one."""
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{str(target)!r} is a folder: give the name of a file in it")
    if target.exists() and not overwrite:
        raise FileError(f"{str(target)!r} exists already: pass overwrite=True to replace it")
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as stream:
            temporary = stream.name
            stream.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise FileError(f"{str(target)!r} cannot be written: {error}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def refuse(what: str, why: str, cure: str) -> DescriptionError:
    """The error for a robot that a format cannot hold."""
    return DescriptionError(f"{what} cannot be written: {why}; {cure}")
