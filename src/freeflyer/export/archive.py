"""A static library without an archiver: the format of ar as ELF linkers read it, with an index of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAGIC = b"!<arch>\n"


@dataclass(frozen=True)
class Member:
    """A file of an archive, and the symbols that it defines."""

    name: str
    symbols: tuple[str, ...]
    content: bytes


def archive(members: Sequence[Member]) -> bytes:
    """The bytes of the archive: index ('/'), long names ('//'), files. Dates, owners and modes are always the same."""
    names = "".join(f"{m.name}/\n" for m in members).encode()
    count = sum(len(m.symbols) for m in members)
    symbols = b"".join(x.encode() + b"\0" for m in members for x in m.symbols)
    index_size = 4 * (1 + count) + len(symbols)
    at = len(MAGIC) + len(_entry("/", bytes(index_size))) + len(_entry("//", names))
    offsets, files, name_at = [], [], 0
    for m in members:
        offsets += [at] * len(m.symbols)
        files.append(_entry(f"/{name_at}", m.content))
        at += len(files[-1])
        name_at += len(m.name) + 2
    index = b"".join(n.to_bytes(4, "big") for n in (count, *offsets)) + symbols
    return b"".join([MAGIC, _entry("/", index), _entry("//", names), *files])


def _entry(name: str, content: bytes) -> bytes:
    head = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    return head + content + b"\n" * (len(content) % 2)
