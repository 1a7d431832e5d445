"""Compiling ahead: many functions, by several processes side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from freeflyer.kernels.compiler import build, cache as disk
from freeflyer.kernels.compiler.object_code import host
from freeflyer.kernels.compiler.worker import Worker, compile_here

Progress = Callable[[float, str], object]  # as in freeflyer.progress, which kernels do not know
Function = tuple[str, tuple[str, ...], int, str]  # an entry's name, the files that it comes from, lanes, its data in the table


def missing(functions: Iterable[Function]) -> list[Function]:
    """Those that the cache does not hold."""
    return [function for function in dict.fromkeys(functions) if not build.is_cached(*function)]


def compile_ahead(
    functions: Iterable[Function], processes: int | None = None, progress: Progress = lambda fraction, what: None
) -> int:
    """Compiles what the cache does not hold, by as many processes as there are cores; how many functions that were.

    progress(fraction, what): called as functions are done, from the calling thread.
    """
    waiting = missing(functions)
    count = min(processes or usable_cores(), len(waiting))
    if not count:
        return 0
    idle: SimpleQueue[Worker | None] = SimpleQueue()
    for _ in range(count):
        idle.put(None)  # started when first needed

    def make(function: Function) -> str:
        name, _, lanes, _ = function
        worker = idle.get()
        try:
            file = build.file_name(*function)
            with disk.lock(file):
                if disk.read(file) is None:
                    symbol, cpu = build.symbol(name, lanes), host()
                    try:
                        worker = worker or Worker()
                        code = worker.compile(name, lanes, symbol, cpu)
                    except OSError:  # no process to be had, or it was ended
                        worker, code = None, compile_here(name, lanes, symbol, *cpu)
                    disk.write(file, code)
        finally:
            idle.put(worker)
        return f"{name}, batch" if lanes > 1 else name

    progress(0.0, "starting")
    pool = ThreadPoolExecutor(count)
    try:
        for done, task in enumerate(as_completed([pool.submit(make, function) for function in waiting]), 1):
            progress(done / len(waiting), task.result())
    finally:
        pool.shutdown(cancel_futures=True)
        while not idle.empty():
            worker = idle.get()
            if worker is not None:
                worker.close()
    return len(waiting)


def usable_cores() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
