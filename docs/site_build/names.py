"""Entries of several names in docstrings, 'rtol, atol: ...': one row of the reference each, with its own annotation and default."""

from __future__ import annotations

import re
from typing import Any

import griffe

ENTRY = re.compile(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)+): (.*(?:\n {8,}\S.*)*)", re.MULTILINE)


def split_names(text: str) -> str:
    return ENTRY.sub(lambda m: "\n".join(f"    {name}: {m[2]}" for name in m[1].split(", ")), text)


class SplitNames(griffe.Extension):
    """Docstrings with an entry for each name."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = split_names(obj.docstring.value)
