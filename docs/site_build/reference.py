"""Pages of the reference, made while the site is built: one for each room of tests/public_names.py, its names by their module.

Classes that functions of a room return, and that have no public name, stand below the names of their module.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]


def place(room: str) -> str:
    return f"reference/{room or 'index'}.md"


@contextmanager
def sources() -> Iterator[Any]:
    """tests/public_names.py, which finds the names; the import path afterwards as it was."""
    before = sys.path[:]
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    try:
        yield import_module("public_names")
    finally:
        sys.path[:] = before


def first_line(module: str) -> str:
    return (inspect.getdoc(import_module(module)) or "").partition("\n")[0]


def package_of(room: str) -> str:
    return room if room.startswith("freeflyer_papers") else f"freeflyer.{room}".rstrip(".")


def results(room: str, found: dict[str, Any]) -> dict[str, str]:
    """Classes without a public name that functions of a room return, as module.name, with their modules."""
    classes: dict[str, str] = {}
    places = f"{package_of(room)}.", "freeflyer.model."
    for function in (inspect.unwrap(x) for name, x in found.items() if name.rpartition(".")[0] == room and inspect.isfunction(x)):
        for word in re.findall(r"\w+", str(function.__annotations__.get("return", ""))):
            x = function.__globals__.get(word)
            if inspect.isclass(x) and x not in found.values() and x.__module__.startswith(places):
                classes[f"{x.__module__}.{word}"] = x.__module__
    return classes


def page(room: str, modules: dict[str, str]) -> str:
    """Markdown of a room: for each module that defines some of its names a section, under the first line of its docstring."""
    package = package_of(room)
    lines = [f"# {package}", first_line(package)]
    for module, names in groupby(sorted(modules, key=lambda name: (modules[name], name)), modules.__getitem__):
        if module != package:
            lines += [f"## {module.removeprefix('freeflyer.')}", first_line(module)]
        lines += [f"::: {name}" if name.startswith(module) else f"::: {package}.{name.rpartition('.')[2]}" for name in names]
    return "\n\n".join(lines) + "\n"


def on_config(config: Any) -> Any:
    section = next(part["Reference"] for part in config.nav if "Reference" in part)
    with sources() as names:
        section += [{room or "freeflyer": place(room)} for room in (*names.ROOMS, *names.PAPERS)]
    return config


def on_files(files: Any, *, config: Any) -> Any:
    with sources() as names:
        found = names.public_names()
        for room in (*names.ROOMS, *names.PAPERS):
            modules = {name: x.__module__ for name, x in found.items() if name.rpartition(".")[0] == room}
            files.append(File.generated(config, place(room), content=page(room, modules | results(room, found))))
    return files
