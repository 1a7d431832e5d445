"""Compiling ahead: many functions, by several processes side by side. LLVM works for one thread of a process at a time.

And object code that comes with a wheel: that of all entries, for levels of x86-64. `hatch_build.py` runs this file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from freeflyer.kernels.compiler import build
from freeflyer.kernels.compiler.calls.running import usable_cores
from freeflyer.kernels.compiler.object_code import LEVELS, Target, object_code, pack_lanes
from freeflyer.kernels.entries import ENTRIES

Progress = Callable[[float, str], object]  # as in freeflyer.progress, which kernels do not know
Function = tuple[Any, int]  # an entry of the library or the name of another compiled function, and lanes
MAIN = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from freeflyer.kernels.compiler.ahead import serve; serve()"
POLL_SECONDS = 0.1  # how often what processes have made is looked for


def compile_ahead(
    functions: Iterable[Function], processes: int | None = None, progress: Progress = lambda fraction, what: None
) -> int:
    """Compiles what the cache does not hold, by as many processes as there are cores; how many functions that were.
    progress(fraction, what): called as functions are done, from the calling thread. Processes come from both ends of a part of the
    list, then go on with the other parts, and find what is done: functions that share kernels should be neighbours in it."""
    missing = [f for f in dict.fromkeys(functions) if not build.is_cached(*f)]
    waiting, count = list(missing), min(processes or usable_cores(), len(missing))
    names = [f"{entry if isinstance(entry, str) else entry.name} {lanes}\n" for entry, lanes in missing]
    running: list[subprocess.Popen[str]] = []

    def done(f: Function) -> None:
        waiting.remove(f)
        progress(1.0 - len(waiting) / len(missing), build.name_of(*f))

    progress(0.0, "starting")
    try:
        for k in range(count if count > 1 else 0):
            first = (k + k % 2) * len(names) // count
            order, command = names[first:] + names[:first], [sys.executable, "-c", MAIN, json.dumps(sys.path)]
            with suppress(OSError):  # it cannot be started, or was ended: this process compiles, below
                running.append(subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True))
                with running[-1].stdin as lines:  # type: ignore[union-attr]
                    lines.writelines(reversed(order) if k % 2 else order)
        while waiting and any(worker.poll() is None for worker in running):
            time.sleep(POLL_SECONDS)
            for f in [f for f in waiting if build.is_cached(*f)]:
                done(f)
    finally:
        for worker in running:
            worker.kill()
            worker.wait()
    for entry, lanes in list(waiting):  # what is left, with its errors
        build.objects(entry, lanes)
        done((entry, lanes))
    return len(missing)


def serve() -> None:
    """Compiles the functions that standard input names, a line each."""
    for name, lanes in map(str.split, sys.stdin):
        with suppress(Exception):  # the process that asks meets it again
            build.objects(ENTRIES.get(name, name), int(lanes))


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
