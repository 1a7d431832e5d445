"""Which kernel sources a compiled function comes from.

Numba looks only at the file of the function it compiles and does not notice that a function called from it has changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOM = "freeflyer.kernels"
FOLDER = Path(__file__).parents[1]
IMPORTED = re.compile(rf"^[ \t]*from {ROOM}((?:\.\w+)*) import (\([^)]*\)|[^(\n]+)$", re.MULTILINE)


def modules(function: Callable) -> set[str]:
    """Modules that a function's code comes from: its own, and those of the compiled functions that it closes over."""
    found = {function.__module__}
    for cell in function.__closure__ or ():
        inner = getattr(cell.cell_contents, "py_func", None)
        if inner is not None:
            found |= modules(inner)
    return found


@cache
def source_key(names: tuple[str, ...]) -> str:
    """Hash of the kernel sources that these modules reach by their imports."""
    digest = hashlib.sha256()
    for name in sorted(reached(names)):
        digest.update(name.encode() + b"\0" + source(name).encode() + b"\0")
    return digest.hexdigest()


def reached(names: tuple[str, ...]) -> set[str]:
    """Kernel files that these modules import, directly or through others, and _jit.py, which holds the options."""
    found: set[str] = set()
    waiting = ["compiler._jit", *(name.removeprefix(ROOM + ".") for name in names if name.startswith(ROOM + "."))]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imported(source(name))
    return found


def imported(text: str) -> list[str]:
    """Kernel files that a text imports: modules, or names of a package that are modules."""
    found = []
    for package, names in IMPORTED.findall(text):
        inside = [".".join((package, name)) for name in re.findall(r"\w+", names)]
        found += [module[1:] for module in [package, *inside] if module and path(module[1:]).is_file()]
    return found


def path(name: str) -> Path:
    """Where the kernel file of a dotted name lies."""
    return FOLDER.joinpath(*name.split(".")).with_suffix(".py")


@cache
def source(name: str) -> str:
    """Text of a kernel file."""
    return path(name).read_text()
