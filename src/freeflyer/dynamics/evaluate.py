"""How friendly functions reach kernels: one state at once, or a batch eight states at a time on several threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod
from typing import Any

import numpy as np

from freeflyer.errors import FreeflyerError, InputError
from freeflyer.kernels import entries
from freeflyer.kernels.backend.buffers import Packs
from freeflyer.kernels.backend.pack import LANES
from freeflyer.kernels.calls.entry import NOT_FLAT, Entry, aligned_packs, scratch_for, scratch_size
from freeflyer.kernels.model.linkage_layout import LINKAGE_AT
from freeflyer.model.inputs import check_configuration, coordinate_owner, row
from freeflyer.model.model import Model

REFUSED = (TypeError,)  # what a compiled door raises for arguments that it cannot tell apart
SMALL_WORK = 100_000  # coordinates and results of all states: below that, threads cost more (0.1 ms) than they give
LOOPS_WEIGH = 50  # times as much, the work on a state of a closed linkage
CHUNKS_PER_THREAD = 4
KINDS_KEPT, MOST_KEPT = 8, 16_384  # combinations of widths whose Packs a thread keeps, each of so many at the most (1 MiB)
HUGE = 1e100  # of an input whose result is not finite: what is to blame
MOVES = 1e-3  # joints with less of the unit motion that takes no force are not named
LOOKED_AT = 256  # states of a batch, to find the one with the singular mass matrix
_own = threading.local()
_threads = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def set_threads(n: int) -> None:
    """Sets how many threads a batch is spread over (at least 1). Results do not depend on it.

    Errors: InputError for anything but a whole number from 1 to 1024.
    """
    global _threads
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= 1024:
        raise InputError(f"threads must be an integer from 1 to 1024, got {n!r}", threads=n)
    _threads = int(n)


def get_threads() -> int:
    """How many threads a batch is spread over; at first, as many as the process may use."""
    return _threads


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="freeflyer")


def evaluate(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], shapes: tuple[tuple[int, ...], ...],
             options: tuple[int, ...] = (),
             out: np.ndarray | tuple[np.ndarray, ...] | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
    """The general path: checks, broadcasts leading axes, and runs one state or a batch; one array per output.

    `shapes` are the outputs' shapes for one state. `out` may hold the output, or all of several, of shapes (batch axes, *shape).
    """
    arrays = [row(model, name, x, letter) for name, x, letter in zip(names, inputs, entry.inputs)]
    leads = {x.shape[:-1] for x in arrays}
    try:
        lead = np.broadcast_shapes(*leads) if len(leads) > 1 else leads.pop()
    except ValueError:
        shown = ", ".join(f"{name} {x.shape}" for name, x in zip(names, arrays))
        raise InputError(
            f"the leading (batch) axes do not broadcast together: {shown}", shapes=[x.shape for x in arrays]
        ) from None
    outs = out if isinstance(out, tuple) else (out,) * len(shapes)
    results = tuple(_output(array, lead + shape) for array, shape in zip(outs, shapes))
    count = prod(lead)
    if count == 0:
        return results
    rows = tuple(_rows(x, lead, count) for x in arrays)
    status = NOT_FLAT
    if not lead:
        status = entry.single(
            model.handle, *(x[0] for x in rows), *options, *(_two_axes(r, s) for r, s in zip(results, shapes))
        )
    if status == NOT_FLAT:
        status = _run_batch(
            entry, model, rows, options, tuple(r.reshape(count, prod(shape)) for r, shape in zip(results, shapes))
        )
    if status:
        for name, x, letter in zip(names, arrays, entry.inputs):
            check_configuration(model, name, x, letter)
        for name, x, letter in zip(names, arrays, entry.inputs):
            _refuse_overflow(model, name, x, letter)
        raise singular(model, arrays[0])
    return results


def _refuse_overflow(model: Model, name: str, x: np.ndarray, letter: str) -> None:
    """InputError for entries so large that their products are no numbers."""
    if x.size and np.max(np.abs(x)) > HUGE:
        at = tuple(int(k) for k in np.unravel_index(np.argmax(np.abs(x)), x.shape))
        raise InputError(
            f"the result is beyond floating-point numbers: {name}{list(at)} (joint {coordinate_owner(model, at[-1], letter)!r}) is "
            f"{x[at]:.3g}. No robot is that fast or strong: look for the step that made it grow",
            name=name, index=at,
        )  # fmt: skip


def singular(model: Model, q: np.ndarray) -> FreeflyerError:
    """The error for a mass matrix that cannot be inverted, with the joint at fault; or for a linkage that cannot be used."""
    if model.topology[LINKAGE_AT]:
        from freeflyer.dynamics.closed.projection import projection
        from freeflyer.dynamics.closed.refusal import refusal

        return refusal(projection(model), q)
    M = evaluate(entries.CRBA, model, (q.reshape(-1, model.nq)[:LOOKED_AT],), ("q",), ((model.nv, model.nv),))[0]
    all_values, all_vectors = np.linalg.eigh(M)
    worst = int(np.argmin(all_values[:, 0] / all_values[:, -1]))
    values, vectors = all_values[worst], all_vectors[worst]
    at = int(np.argmax(np.abs(vectors[:, 0])))
    joint = next(j.name for j in model.joints if j.iv <= at < j.iv + j.nv)
    others = [j.name for j in model.joints if j.nv and j.name != joint and np.abs(vectors[j.iv : j.iv + j.nv, 0]).max() > MOVES]
    still = f"joint {joint!r}, moving together with {', '.join(map(repr, others[:3]))}," if others else f"joint {joint!r}"
    spread = f"eigenvalues from {values[0]:.3g} to {values[-1]:.3g}"
    return InputError(
        f"the mass matrix of {model.name!r} is singular ({spread}): {still} moves no inertia. Give its links mass, "
        "give the joint armature, or lock it (freeflyer.lock_joints)",
        joint=joint,
        eigenvalue=float(values[0]),
    )


def _rows(x: np.ndarray, lead: tuple[int, ...], count: int) -> np.ndarray:
    """x as a writable C-contiguous (count, n): the only kind that kernels are compiled for."""
    if len(lead) == 1 and x.shape[:-1] == lead and x.flags.carray:
        return x
    if x.shape[:-1] != lead:
        x = np.broadcast_to(x, (*lead, x.shape[-1]))
    return (np.ascontiguousarray(x) if x.flags.writeable else np.array(x, order="C")).reshape(count, x.shape[-1])


def _two_axes(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return array if len(shape) == 2 else array.reshape(-1)


def _output(out: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    if out is None:
        return np.empty(shape)
    usable = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.flags.c_contiguous and out.flags.writeable
    if not usable or out.shape != shape:
        got = f"{out.dtype} array of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise InputError(
            f"out must be a writable C-contiguous float64 array of shape {shape}, got {got}", expected=shape
        )
    return out


def _run_batch(
    entry: Entry, model: Model, rows: tuple[np.ndarray, ...], options: tuple[int, ...], outs: tuple[np.ndarray, ...]
) -> int:
    """Zero, or non-zero if a state was refused. Chunks begin at multiples of 8, so packs do not depend on threads."""
    count = rows[0].shape[0]
    work = count * (model.nv + sum(x.shape[1] for x in outs)) * (LOOPS_WEIGH if model.topology[LINKAGE_AT] else 1)
    threads = _threads if work >= SMALL_WORK else 1
    size = -(-count // (LANES * CHUNKS_PER_THREAD * threads)) * LANES if threads > 1 else count
    waiting = deque(range(0, count, size))

    def run() -> int:
        """Works on one waiting chunk after the other."""
        packs_in, packs_out = _packs(model, tuple(x.shape[1] for x in rows), tuple(x.shape[1] for x in outs))
        worst = 0
        while waiting:
            try:
                start = waiting.popleft()
            except IndexError:  # another thread was quicker
                break
            stop = min(start + size, count)
            worst = max(worst, entry.batch(model.handle, rows, options, outs, packs_in, packs_out, start, stop))
        return worst

    others = [_pool(threads - 1).submit(run) for _ in range(min(threads, len(waiting)) - 1)]
    return max([run()] + [other.result() for other in others])


def _packs(model: Model, *widths: tuple[int, ...]) -> list[tuple[Packs, ...]]:
    """Rows of Packs of these widths, with this thread's memory for workspaces: kept for its next batch, as fresh memory costs
    more than the arithmetic of a small one."""
    scratch: tuple[np.ndarray, np.ndarray] | None = getattr(_own, "scratch", None)
    if scratch is None or scratch[0].size < scratch_size(model.topology):
        scratch = _own.scratch = scratch_for(model.topology)
        _own.packs = {}
    known: dict[tuple[tuple[int, ...], ...], list[tuple[Packs, ...]]] = _own.packs
    packs = known.get(widths) or [tuple(aligned_packs(n, scratch) for n in several) for several in widths]
    if sum(map(sum, widths)) <= MOST_KEPT and len(known) < KINDS_KEPT:
        known[widths] = packs
    return packs


def one(results: Sequence[np.ndarray]) -> np.ndarray:
    """The only output."""
    return results[0]
