"""Batches on threads: how many, the pool that they come from, and chunks of states."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from freeflyer.errors import InputError, format_value

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

CHUNKS_PER_THREAD = 4
_threads = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
_pool: ThreadPoolExecutor | None = None
_size = 0
R = TypeVar("R")


def set_threads(n: int) -> None:
    """Number of threads that a batch is spread over: sets it to n. Results do not depend on it.

    Args:
        n: Number of threads, 1 to 1024.
    Raises: InputError for anything but a whole number from 1 to 1024.

    Examples:
        >>> before = ff.get_threads()
        >>> ff.set_threads(1)
        >>> ff.get_threads()
        1
        >>> ff.set_threads(before)
    """
    global _threads
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= 1024:
        raise InputError(f"threads must be an integer from 1 to 1024, got {format_value(n)}", threads=n)
    _threads = int(n)


def get_threads() -> int:
    """Number of threads that a batch is spread over; at first, as many as CPUs that the process may use.

    Examples:
        >>> before = ff.get_threads()
        >>> ff.set_threads(2)
        >>> ff.get_threads()
        2
        >>> ff.set_threads(before)
    """
    return _threads


def _drop_pool() -> None:
    global _pool, _size
    _pool, _size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_pool)  # threads stay behind in the parent


def pool(threads: int) -> ThreadPoolExecutor:
    """The only pool, with at least so many threads."""
    from concurrent.futures import ThreadPoolExecutor  # takes 4 ms, which first calls do without

    global _pool, _size
    if _pool is None or _size < threads:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool, _size = ThreadPoolExecutor(threads, thread_name_prefix="freeflyer"), threads
    return _pool


def run_chunks(run: Callable[[int, int], R], count: int, lanes: int, threads: int, most: int) -> list[R]:
    """What `run(start, stop)` answers for chunks of 0 to `count`, each of at most `most` and beginning at a multiple of `lanes`."""
    size = -(-count // (lanes * CHUNKS_PER_THREAD * threads)) * lanes if threads > 1 else count
    size = min(size, max(most // lanes, 1) * lanes)
    waiting, found = deque(range(0, count, max(size, 1))), []

    def work() -> None:
        while waiting:
            try:
                start = waiting.popleft()
            except IndexError:  # another thread was quicker
                break
            found.append(run(start, min(start + size, count)))

    others: list[Future[None]] = []
    with suppress(RuntimeError):  # no more threads can be started, or the interpreter is ending: this one does the rest
        for _ in range(min(threads, len(waiting)) - 1):
            others.append(pool(threads - 1).submit(work))
    try:
        work()
    except BaseException:
        waiting.clear()  # the others stop, too
        raise
    finally:
        for other in others:
            other.result()
    return found
