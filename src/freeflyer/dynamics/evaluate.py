"""How public functions reach kernels: one state at once, or a batch several states at a time on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.dynamics.refused import explain_refusal
from freeflyer.dynamics.threads import get_threads, run_chunks, set_threads
from freeflyer.errors import InputError
from freeflyer.kernels.calls.entry import NOT_FLAT, OK, OVERLAP, Entry
from freeflyer.kernels.calls.running import Result, batch, batch_function, state
from freeflyer.kernels.model.linkage_layout import LINKAGE_AT
from freeflyer.model.inputs import output_array, row
from freeflyer.model.model import Model

REFUSED = (TypeError,)  # what a builtin function raises for arguments that it cannot tell apart
LOADS = "gw"  # letters of gravity and wrenches
SMALL_WORK = 100_000  # coordinates and results of all states: below that, threads cost more (0.1 ms) than they give
LOOPS_WEIGH = 50  # times as much, the work on a state of a closed linkage
STATES_UNTIL_INTERRUPT = 4096  # that one call computes: between calls Ctrl-C is noticed

__all__ = ["REFUSED", "evaluate", "filled", "fit", "get_threads", "one", "set_threads"]


def evaluate(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], shapes: tuple[tuple[int, ...], ...],
             options: tuple[int, ...] = (),
             out: np.ndarray | tuple[np.ndarray, ...] | None = None,
             frames: FrameSet | None = None) -> tuple[np.ndarray, ...]:  # fmt: skip
    """The general path: checks, broadcasts leading axes, and runs one state or a batch; one array per output.

    `shapes` are the outputs' shapes for one state. `frames`: of an entry that takes wrenches; these and gravity come checked.
    `out` may hold the output, or all of several, of shapes (batch axes, *shape). Where a state is refused, results of states
    before it are in `out`, and nothing is known of the others.
    """
    arrays = [x if letter in LOADS else row(model, name, x, letter) for name, x, letter in zip(names, inputs, entry.inputs)]
    handle = model.handle if frames is None else frames.handle
    leads = {x.shape[:-1] for x in arrays}
    try:
        lead = np.broadcast_shapes(*leads) if len(leads) > 1 else leads.pop()
    except ValueError:
        shown = ", ".join(f"{name} {x.shape}" for name, x in zip(names, arrays))
        raise InputError(
            f"the leading (batch) axes do not broadcast together: {shown}", shapes=[x.shape for x in arrays]
        ) from None
    outs = out if isinstance(out, tuple) else (out,) * len(shapes)
    results = tuple(
        np.empty(lead + shape) if array is None else output_array(array, lead + shape)
        for array, shape in zip(outs, shapes)
    )
    if prod(lead) == 0:
        return results
    status, where = _run(entry, model, handle, arrays, lead, options, results, shapes)
    if status == OVERLAP:  # as NumPy: from copies of inputs that lie where results go
        _refuse_same_memory(results)
        arrays = [np.array(x) if any(np.shares_memory(x, r) for r in results) else x for x in arrays]
        status, where = _run(entry, model, handle, arrays, lead, options, results, shapes)
    if status != OK:
        raise explain_refusal(entry, model, status, where, arrays, lead, names)
    return results


def _run(entry: Entry, model: Model, handle: Any, arrays: Sequence[np.ndarray], lead: tuple[int, ...], options: tuple[int, ...],
         results: tuple[np.ndarray, ...], shapes: tuple[tuple[int, ...], ...]) -> Result:  # fmt: skip
    count = prod(lead)
    rows = tuple(_rows(x, lead, count) for x in arrays)
    if not lead:
        outs = tuple(_two_axes(r, s) for r, s in zip(results, shapes))
        given = (x if n == 2 else x[0] for x, n in zip(rows, entry.input_axes))
        status, where = state(entry, handle, *given, *options, *outs)
        if status != NOT_FLAT:
            return status, where
    return _batch(entry, model, handle, rows, options, tuple(r.reshape(count, prod(shape)) for r, shape in zip(results, shapes)))


def _batch(entry: Entry, model: Model, handle: Any, rows: tuple[np.ndarray, ...], options: tuple[int, ...],
           outs: tuple[np.ndarray, ...]) -> Result:  # fmt: skip
    """The first refused state's status, or OK. Chunks begin at multiples of the lanes, so results do not depend on threads."""
    _, lanes = batch_function(entry)
    count = rows[0].shape[0]
    work = count * (model.nv + sum(x.shape[1] for x in outs)) * (LOOPS_WEIGH if model.topology[LINKAGE_AT] else 1)

    def run(start: int, stop: int) -> Result:
        return batch(entry, handle, rows, options, outs, start, stop)

    found = run_chunks(run, count, lanes, get_threads() if work >= SMALL_WORK else 1, STATES_UNTIL_INTERRUPT)
    return min((result for result in found if result[0] != OK), key=lambda result: result[1][1], default=(OK, ()))


def _refuse_same_memory(results: tuple[np.ndarray, ...]) -> None:
    for k, x in enumerate(results):
        if any(np.shares_memory(x, y) for y in results[:k]):
            raise InputError("two fields of out share memory: give each result an array of its own")


def _rows(x: np.ndarray, lead: tuple[int, ...], count: int) -> np.ndarray:
    """x as a C-contiguous (count, n), copied only where it is not."""
    if x.shape[:-1] != lead:
        x = np.broadcast_to(x, (*lead, x.shape[-1]))
    x = x.reshape(count, x.shape[-1])
    return x if x.flags.c_contiguous and x.flags.aligned and type(x) is np.ndarray else np.array(x, order="C", subok=False)


def _two_axes(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return array if len(shape) == 2 else array.reshape(-1)


def filled(entry: Entry, out: Any, shape: tuple[int, ...], *arguments: Any) -> np.ndarray | None:
    """`out` with one state's only output, of that shape, in it; None where the general path is to take the call."""
    fits = type(out) is np.ndarray and out.shape == shape
    return out if fits and entry.status(*arguments, out) == OK else None


def fit(outs: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether the outputs are arrays of these shapes."""
    return all(type(out) is np.ndarray and out.shape == shape for out, shape in zip(outs, shapes))


def one(results: Sequence[np.ndarray]) -> np.ndarray:
    """The only output."""
    return results[0]
