"""Common parts of both writers: the checked robot, numbers in full precision, XML text and its file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from freeflyer.errors import DescriptionError, InputError
from freeflyer.files import write_atomically
from freeflyer.model.description import Description
from freeflyer.model.readers.safe_file import Element
from freeflyer.model.validate import validate


def description_of(robot: object) -> Description:
    """The checked Description of a Model or of itself."""
    description = getattr(robot, "description", robot)
    if not isinstance(description, Description):
        raise InputError(f"expected a Model or a Description, got {type(robot).__name__}")
    name = description.name
    if not isinstance(name, str) or not name.isprintable() or (name and not name.strip()):
        raise DescriptionError(f"the robot has the name {name!r}, which no file can hold: expected printable text; rename it, "
            "dataclasses.replace(description, name=...)", name=name)
    return validate(description, inertias="as-is")


def text(values: Iterable[float]) -> str:
    """Numbers, separated by spaces, such that reading them gives the same floats."""
    return " ".join(repr(float(x)) for x in values)


def add(parent: Element | None, tag: str, attributes: dict[str, str] | None = None, /, **more: str) -> Element:
    """A new element at the end of `parent`, or on its own. lxml is imported when robots are written, not before."""
    from lxml import etree

    make = etree.Element if parent is None else partial(etree.SubElement, parent)
    return make(tag, attributes or {}, **more)


def append_filled(root: Element, block: Element) -> None:
    if len(block):
        root.append(block)


def finish(root: Element, path: str | os.PathLike[str] | None, overwrite: bool) -> str:
    """The XML text of the tree, also written to `path` if one is given."""
    from lxml import etree

    etree.indent(root)
    content = etree.tostring(root, encoding="unicode") + "\n"
    if path is not None:
        write_atomically(path, content, overwrite)
    return content


def refuse(what: str, why: str, cure: str) -> DescriptionError:
    return DescriptionError(f"{what} cannot be written: {why}; {cure}")
