"""Packages whose names are imported when they are first used, and suggestions for unknown names."""

from __future__ import annotations

import lazy_loader

TYPE_CHECKING = False  # `import typing` would take a third of the time of `import freeflyer`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ALGORITHMS = {  # names in other libraries and in textbooks
    "rnea": "inverse_dynamics", "aba": "forward_dynamics", "crba": "mass_matrix", "forward_kinematics": "frame_pose",
    "jacobian": "frame_jacobian"}


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """As lazy_loader.attach_stub; an unknown name raises an AttributeError with names that resemble it."""
    load, directory, names = lazy_loader.attach_stub(package, file)
    known = frozenset(names)

    def get(name: str) -> Any:
        if name in known or name.startswith("_"):
            return load(name)
        near = _near(name, names, file)
        hint = f". Did you mean {' or '.join(map(repr, near))}?" if near else f": dir({package}) lists its names"
        raise AttributeError(f"module {package!r} has no attribute {name[:80]!r}{hint}")

    return get, directory, names


def _near(name: str, names: list[str], file: str) -> list[str]:
    """Names of the package, and of its rooms as room.name; imported here, as `import freeflyer` is to be fast."""
    from pathlib import Path

    from freeflyer.errors import near_names

    if name in ALGORITHMS and ALGORITHMS[name].partition(".")[0] in names:
        return [ALGORITHMS[name]]
    marks = {".py": f'"{name}"', ".pyi": f" {name} as"}  # of public names: in __all__; in stubs
    stubs = sorted(Path(file).parent.glob("*/__init__.py*"))
    rooms = dict.fromkeys(x.parent.name for x in stubs if marks[x.suffix] in x.read_text("utf-8").split("__all__")[-1])
    return [f"{room}.{name}" for room in rooms if room in names] or near_names(name, names)
