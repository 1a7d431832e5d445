"""Which kernel sources a compiled function comes from: their hash names its object code.

Imports at the head of a file are followed; those within functions, which compiled code cannot have, are not.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path

PACKAGE = "freeflyer.kernels"
FOLDER = Path(__file__).parents[1]
IMPORTED = re.compile(rf"^from {PACKAGE}((?:\.\w+)*) import (\([^)]*\)|[^(#\n]+)", re.MULTILINE)


@cache
def source_key(names: tuple[str, ...], alone: tuple[str, ...] = ()) -> str:
    """Hash of the kernel sources that these modules (dotted names below kernels) reach by their imports, and of those `alone`."""
    digest = hashlib.sha256()
    for name in sorted(reached(names) | set(alone)):
        digest.update(name.encode() + b"\0" + source(name).encode() + b"\0")
    return digest.hexdigest()


def reached(names: tuple[str, ...]) -> set[str]:
    """Kernel files that these modules are or import, directly or through others; with the packages that they lie in."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            package = name.rpartition(".")[0]
            waiting += [*imported(name), package] if package else imported(name)
    return found


@cache
def imported(name: str) -> tuple[str, ...]:
    """Kernel files that a kernel file imports: modules, packages, or names of a package that are modules."""
    found: list[str] = []
    for package, names in IMPORTED.findall(source(name)):
        inside = [f"{package}.{inner}" for inner in re.findall(r"\w+", names)]
        found += [module[1:] for module in [package, *inside] if module and module[1:] in files()]
    return tuple(found)


@cache
def files() -> dict[str, str]:
    """The kernel files by their dotted names; a package's is its __init__. One walk: looking for each takes far longer."""
    found = {}
    for folder, _, names in os.walk(FOLDER):
        package = folder[len(str(FOLDER)) + 1 :].replace(os.sep, ".")
        for name in names:
            module, kind = os.path.splitext(name)
            if kind == ".py":
                dotted = package if module == "__init__" else f"{package}.{module}" if package else module
                found[dotted] = os.path.join(folder, name)
    return found


@cache
def source(name: str) -> str:
    """Text of a kernel file."""
    with open(files()[name], encoding="utf-8") as file:
        return file.read()
