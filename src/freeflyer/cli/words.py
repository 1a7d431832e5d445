"""Sentences of errors, with a command's options in place of the arguments of Python's functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

OPTIONS = {"overwrite": "force", "base=None": "--base file"}  # arguments whose option has another name
ARGUMENT = re.compile(r"(?<![\w.-])([a-z_]\w*)=(None|True|\.\.\.)?(?![\w\"'\[({=])")


def with_options(text: str, parameters: Iterable[Any]) -> str:
    """The sentence; `(rigid=)` and `rigid must be` become `(--rigid)` and `--rigid must be` if the command has that option. An
    argument in parentheses of its own that it lacks is left out."""
    options: dict[str, str] = {p.name: max(p.opts, key=len) for p in parameters if p.opts[0].startswith("-")}
    options |= {name: options[other] for name, other in OPTIONS.items() if other in options}

    def option(found: re.Match[str]) -> str:
        if found[0] in OPTIONS and found[1] in options:
            return OPTIONS[found[0]]
        known = options.get(found[1])
        return found[0] if known is None else f"{known} ..." if found[2] == "..." else known

    text = re.sub(r" \(([a-z_]\w*)=\)", lambda found: found[0] if found[1] in options else "", text)
    text = ARGUMENT.sub(option, text)
    return re.sub(r"^(\w+)(?= (?:must|has|holds|is|cannot) )", lambda found: options.get(found[1]) or found[0], text)
