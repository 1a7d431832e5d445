"""Object code that comes with a wheel: that of all entries, for levels of x86-64. `hatch_build.py` runs this file."""

from __future__ import annotations

import sys
from pathlib import Path

from freeflyer.kernels.compiler import build
from freeflyer.kernels.compiler.object_code import LEVELS, Target, object_code, pack_lanes
from freeflyer.kernels.entries import ENTRIES


def levels_of(text: str) -> list[Target]:
    """Levels by name, separated by commas, or all. Errors: ValueError for others."""
    known = {level.cpu: level for level in LEVELS}
    wanted = list(known) if text == "all" else [name.strip() for name in text.split(",")]
    if not wanted or not set(wanted) <= set(known):
        raise ValueError(f"levels must be 'all' or some of {', '.join(known)}, separated by commas, got {text!r}")
    return [known[name] for name in wanted]


def write_objects(folder: Path, level: Target) -> None:
    """Writes folder/LEVEL/SYMBOL.o for each function of each entry."""
    place = folder / level.cpu
    place.mkdir(parents=True, exist_ok=True)
    ways = [(name, 1) for name in build.PYTHON]
    ways += [(e, n) for e in ENTRIES.values() for n in (1, 8 if e.one_by_one else pack_lanes(level))]
    for entry, lanes in ways:
        for function in build.closure(entry, lanes):
            file = place / f"{function.symbol}.o"
            if not file.exists():
                file.write_bytes(object_code(function.code, level))


if __name__ == "__main__":
    try:
        levels = levels_of(sys.argv[2])
    except ValueError as error:
        sys.exit(str(error))
    for chosen in levels:
        write_objects(Path(sys.argv[1]), chosen)
