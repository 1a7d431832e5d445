"""Safe reading of untrusted files: limits on size, depth and count, no entities, no paths out of the folder."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from freeflyer.errors import FileError, InputError

if TYPE_CHECKING:
    from lxml.etree import _Element

Element: TypeAlias = "_Element"  # lxml is imported when the first file is read or written
MAX_BYTES = 16 * 2**20  # the largest known robot file has 0.2 MB
MAX_DEPTH = 500  # where MuJoCo's own XML reader stops
MAX_ELEMENTS = 200_000
MAX_ATTRIBUTE = 100_000  # characters
MAX_NUMBER = 400  # characters; the largest float in full has 309 digits
# After [0-9]+ comes what is no digit, so that no two parts can share digits and a mismatch takes linear time.
NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)


def is_xml_text(source: object) -> bool:
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def read_bytes(path: str | os.PathLike[str], what: str = "robot file", limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most `limit` bytes."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"expected the path of a {what} or its XML text, got {type(path).__name__}")
    shown = str(path) if len(str(path)) < 200 else str(path)[:200] + "..."
    if not str(path).strip():
        raise FileError(f"the path of the {what} is empty: give a path or XML text that begins with '<'")
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            inside = sorted(p.name for p in Path(path).iterdir() if p.suffix in (".urdf", ".xml", ".yaml"))[:8]
            raise FileError(f"{shown!r} is a folder, not a {what}; files in it that may be read: {inside or 'none'}")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{shown!r} is not a regular file: a {what} is read from a plain file only")
        if status.st_size > limit:
            raise FileError(f"{shown!r} has {status.st_size} bytes; a {what} may have at most {limit}")
        with open(path, "rb") as stream:
            data = stream.read(limit + 1)
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(f"no {what} at {shown!r}: check the path (working folder: {Path.cwd()})", path=shown) from None
    except (OSError, ValueError) as error:  # permissions, loops of links, names too long, null bytes
        raise FileError(f"the {what} {shown!r} cannot be read: {error}", path=shown) from None
    if len(data) > limit:
        raise FileError(f"{shown!r} holds more than {limit} bytes, the most that a {what} may have")
    if not data.strip():
        raise FileError(f"the {what} {shown!r} is empty: expected XML or YAML text")
    return data


def read_xml(source: str | os.PathLike[str], what: str) -> tuple[Element, str]:
    """(root element, the place for messages) of a path or of XML text.

    Comments and processing instructions are gone, a default namespace is dropped. Refused: document types and entities (they can
    name other files and grow without bound), nesting deeper than MAX_DEPTH, more than MAX_ELEMENTS elements."""
    if is_xml_text(source):
        text = str(source).lstrip("\ufeff \t\r\n")
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise FileError(f"the {what} text holds characters that are not Unicode text: {error}") from None
        if len(data) > MAX_BYTES:
            raise FileError(f"the {what} text has {len(data)} bytes; at most {MAX_BYTES} are read")
        return parse_xml(data, f"the {what} text", encoding="utf-8"), f"the {what} text"
    data = read_bytes(source, what)
    where = f"{what} {Path(source).name!r}"
    return parse_xml(data, where), where


def parse_xml(data: bytes, where: str, encoding: str | None = None) -> Element:
    """The root element of XML bytes after the checks of _gate; `where` opens the messages."""
    from lxml import etree

    _gate(data, where, encoding)
    # _gate has bounded depth and refused entities, so lxml's own cruder limits (depth 256) may be lifted.
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=True,
        encoding=encoding)
    try:
        root = etree.fromstring(data, parser=parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise FileError(f"{where} is not well-formed XML: {error}") from None
    for element in root.iter():
        if isinstance(element.tag, str) and element.prefix is None and element.tag.startswith("{"):
            element.tag = etree.QName(element).localname
    return root


def _gate(data: bytes, where: str, encoding: str | None) -> None:
    """One streaming pass that refuses what must not reach a tree builder."""
    from xml.parsers import expat

    depth = count = 0

    def doctype(*_: object) -> NoReturn:
        raise FileError(f"{where} has a document type or entity declaration: refused; remove the <!DOCTYPE ...> block")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MAX_DEPTH:
            raise FileError(f"{where} nests elements deeper than {MAX_DEPTH} (at <{tag[:40]}>): refused")
        if count > MAX_ELEMENTS:
            raise FileError(f"{where} has more than {MAX_ELEMENTS} elements: refused")
        for name, value in attributes.items():
            if len(value) > MAX_ATTRIBUTE:
                raise FileError(f"{where}: <{tag[:40]}> has {len(value)} characters in {name[:40]!r}: refused")

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    try:
        parser = expat.ParserCreate(encoding)
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = doctype
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FileError(f"{where} is not well-formed XML: {error}") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{where} is in an encoding that is not read ({error}): save it as UTF-8") from None


def numbers(text: str, counts: Collection[int], where: str, infinite: bool = False) -> tuple[float, ...]:
    """The finite numbers written in `text`, as many as one of `counts`; `where` opens the message. Units are kept.

    `infinite` allows "inf" and "-inf"."""
    words = text.split()
    values = []
    for word in words:
        if infinite and word in ("inf", "-inf"):
            values.append(float(word))
            continue
        if len(word) > MAX_NUMBER:
            raise FileError(f"{where}: a number of {len(word)} characters ({word[:20]}...); at most {MAX_NUMBER} are read")
        if not NUMBER.fullmatch(word):
            hint = " (expand the file with xacro first)" if "$" in word else ""
            raise FileError(f"{where}: {word[:60]!r} in {text[:120]!r} is not a finite number{hint}")
        values.append(float(word))
        if not math.isfinite(values[-1]):
            raise FileError(f"{where}: {word[:60]!r} is too large for a number")
    if len(values) not in counts:
        expected = " or ".join(str(c) for c in counts)
        raise FileError(f"{where}: expected {expected} numbers, got {len(values)} in {text[:120]!r}")
    return tuple(values)


def resolve_inside(folder: Path, name: str, where: str) -> Path:
    """The file `name` below `folder`, links followed; a path that leaves the folder is refused."""
    if not name.strip() or "\0" in name:
        raise FileError(f"{where}: the file name {name!r} is empty or broken")
    try:
        path = (folder / name).resolve()
        escaped = not path.is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise FileError(f"{where}: the file {name[:200]!r} cannot be found: {error}") from None
    if escaped:
        raise FileError(f"{where}: the file {name[:200]!r} lies outside the folder of the robot file: refused; move it beside "
            "the robot file")
    return path
