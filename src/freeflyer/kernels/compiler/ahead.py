"""Compiling ahead: many functions, by several processes side by side. LLVM works for one thread of a process at a time.

And object code that comes with a wheel: that of all entries, for levels of x86-64. `hatch_build.py` runs this file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from freeflyer.kernels.compiler import build
from freeflyer.kernels.compiler.object_code import LEVELS, Target, object_code, pack_lanes
from freeflyer.kernels.entries import ENTRIES

Progress = Callable[[float, str], object]  # as in freeflyer.progress, which kernels do not know
Function = tuple[Any, int]  # an entry of the library or the name of another compiled function, and lanes
MAIN = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from freeflyer.kernels.compiler.ahead import serve; serve()"


def compile_ahead(
    functions: Iterable[Function], processes: int | None = None, progress: Progress = lambda fraction, what: None
) -> int:
    """Compiles what the cache does not hold, by as many processes as there are cores; how many functions that were.
    progress(fraction, what): called as functions are done, from the calling thread. Two processes begin at both ends of the list:
    functions that share kernels should be neighbours in it."""
    missing = [f for f in dict.fromkeys(functions) if not build.is_cached(*f)]
    waiting, count = deque(missing), min(processes or usable_cores(), len(missing))
    running: list[subprocess.Popen[bytes]] = []

    def work(k: int) -> None:
        command = [sys.executable, "-c", MAIN, json.dumps(sys.path)]
        try:
            worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        except OSError:  # no process can be started: this one compiles, below
            return
        running.append(worker)
        assert worker.stdin
        assert worker.stdout
        try:
            while waiting:
                entry, lanes = waiting.pop() if k % 2 else waiting.popleft()
                worker.stdin.write(f"{entry if isinstance(entry, str) else entry.name} {lanes}\n".encode())
                worker.stdin.flush()
                while not (line := worker.stdout.readline()).startswith(DONE):  # programs may print when Python starts
                    if not line:
                        return
                done.put(build.name_of(entry, lanes))
        except (OSError, IndexError):  # it was ended; or another took the last function
            pass

    done: SimpleQueue[str] = SimpleQueue()
    progress(0.0, "starting")
    pool = ThreadPoolExecutor(max(count, 1))
    try:
        tasks, finished = [pool.submit(work, k) for k in range(count if count > 1 else 0)], 0
        while not all(task.done() for task in tasks) or not done.empty():
            with suppress(Empty):
                name, finished = done.get(timeout=0.1), finished + 1
                progress(finished / len(missing), name)
    finally:
        waiting.clear()
        for worker in running:
            worker.kill()
        pool.shutdown(cancel_futures=True)
        for worker in running:
            worker.communicate()
    for k, (entry, lanes) in enumerate(missing):  # what is left, with its errors
        if not build.is_cached(entry, lanes):
            build.objects(entry, lanes)
            progress(k / len(missing), build.name_of(entry, lanes))
    return len(missing)


DONE = b"freeflyer compiled"


def serve() -> None:
    """Compiles the functions that standard input names, a line each, until there are no more."""
    from freeflyer.kernels.entries import ENTRIES

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        name, lanes = line.decode().split()
        try:
            build.objects(ENTRIES.get(name, name), int(lanes))
        except Exception as error:
            answers.write(f"{name}: {error}\n".encode())  # the calling process meets it again
        try:
            answers.write(DONE + b"\n")
            answers.flush()
        except BrokenPipeError:  # the process that asked was ended
            os._exit(0)


def usable_cores() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


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
