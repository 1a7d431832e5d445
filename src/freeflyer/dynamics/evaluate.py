"""How public functions reach kernels where `entry.call` does not take their arguments as they are, on one thread or several;
and why compiled code refused a state, in a sentence."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import hypot, prod
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from freeflyer.dynamics.frame_sets import FrameSet
from freeflyer.errors import FreeflyerError, InputError
from freeflyer.kernels import entries, entry as K
from freeflyer.kernels.compiler.calls.python_calls import is_long
from freeflyer.kernels.compiler.calls.running import Result, batch, batch_lanes, state, usable_cores
from freeflyer.kernels.entry import ARGUMENT, NOT_FINITE, OK, REFUSED, STATE, Entry
from freeflyer.model import (
    Model, choice, coordinate_owner, not_finite, not_unit, output_array, quaternion_starts, row, whole_number)
from freeflyer.tolerances import NAMED_JOINT_SHARE, OVERFLOWING_INPUT

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

PACK = 8  # states at most, among which compiled code found numbers whose sum is not finite though each of them is


def explain_refusal(entry: Entry, model: Model, status: int, where: Sequence[int], arrays: Sequence[np.ndarray],
                    lead: tuple[int, ...], names: Sequence[str]) -> FreeflyerError:
    """The error for a refused state of inputs `arrays` (..., n), wrenches (..., k, 6), which broadcast to the batch axes `lead`."""
    if status == K.OVERLAP:
        return InputError("out shares memory with an input, or two of its arrays do: give each result an array of its own")
    if status in (K.WRONG_SIZE, K.WRONG_OPTION, K.WRONG_MODEL):
        return InputError(f"{entry.name} was called with arguments that do not fit the model {model.name!r}: is it the one meant?")
    tails = [x.shape[x.ndim - axes :] for x, axes in zip(arrays, entry.input_axes)]
    flat = [x.reshape(*x.shape[: x.ndim - len(tail)], prod(tail)) for x, tail in zip(arrays, tails)]
    arrays = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in flat]
    k, found = where[K.ARGUMENT], where[K.STATE]
    count = prod(lead)
    large = status == K.NOT_FINITE and np.isfinite(arrays[k].reshape(count, -1)[min(found, count - 1) if lead else 0]).all()
    if large:  # numbers whose sum is not finite
        status = K.REFUSED
    if lead and (large or found >= count):
        found = _largest(np.concatenate(arrays, axis=-1), found, count)
    at = tuple(int(k) for k in np.unravel_index(found, lead)) if lead else ()
    states = [x[at] for x in arrays]
    if status == K.NOT_FINITE:
        place = int(np.argmin(np.isfinite(states[k])))
        return not_finite(model, names[k], states[k][place], entry.inputs[k], (*at, place))
    if status == K.NOT_UNIT:
        lengths = {i: hypot(*states[k][i : i + 4]) for i in quaternion_starts(model)}
        worst = max(lengths, key=lambda i: abs(lengths[i] - 1.0))
        return not_unit(model, names[k], lengths[worst], worst, at)
    for name, x, letter, tail in zip(names, states, entry.inputs, tails):
        k = int(np.argmax(np.abs(x))) if x.size else 0
        if x.size and abs(x[k]) > OVERFLOWING_INPUT:
            owner = f" (joint {coordinate_owner(model, k, letter)!r})" if letter in "quv" else ""
            index = *at, *(int(i) for i in np.unravel_index(k, tail))
            return InputError(f"the result is beyond floating-point numbers: {name}{list(index)}{owner} is {x[k]:.3g}. No robot "
                "is that fast or strong: look for the step that made it grow", name=name, index=index)
    return singular(model, states[0], at)


def _largest(x: np.ndarray, found: int, count: int) -> int:
    """Of state `found` (..., n) and up to PACK before it, the number of the one that holds the largest number."""
    first = max(found - PACK, 0)
    rows = x.reshape(count, -1)[first : found + 1]
    return first + int(np.argmax(np.abs(rows).max(axis=1)))


def singular(model: Model, q: np.ndarray, at: tuple[int, ...]) -> FreeflyerError:
    """The error for a mass matrix that cannot be inverted at q (nq,), with the joint at fault; or for a linkage that cannot be
    used."""
    if model.reduction:
        return model.reduction.refuse(model, q, at)
    M = np.empty((model.nv, model.nv))
    state(entries.CRBA, model.handle, np.array(q), M)
    values, vectors = np.linalg.eigh(M)
    k = int(np.argmax(np.abs(vectors[:, 0])))
    joint = next(j.name for j in model.joints if j.iv <= k < j.iv + j.nv)
    share = {j.name: np.abs(vectors[j.iv : j.iv + j.nv, 0]).max() for j in model.joints if j.nv}
    others = [name for name, x in share.items() if name != joint and x > NAMED_JOINT_SHARE]
    still = f"joint {joint!r}, moving together with {', '.join(map(repr, others[:3]))}," if others else f"joint {joint!r}"
    spread, where = f"eigenvalues from {values[0]:.3g} to {values[-1]:.3g}", f" at state {list(at)}" if at else ""
    return InputError(f"the mass matrix of {model.name!r} is singular{where} ({spread}): {still} moves no inertia. Give its "
        "links mass, give the joint armature, or lock it (freeflyer.lock_joints)", joint=joint, eigenvalue=float(values[0]),
        index=at)


CHUNKS_PER_THREAD = 4
_threads = usable_cores()
_pool: ThreadPoolExecutor | None = None
_size = 0
R = TypeVar("R")


def set_threads(n: int) -> None:
    """Number of threads that a batch is spread over: sets it to n. Results do not depend on it.

    Args:
        n: 1 to 1024."""
    global _threads
    _threads = whole_number("threads", n, 1, 1024)


def get_threads() -> int:
    """Number of threads that a batch is spread over; at first, as many as CPUs that the process may use."""
    return _threads


def _drop_pool() -> None:
    global _pool, _size
    _pool, _size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_pool)  # threads stay behind in the parent


def pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # takes 4 ms, which first calls do without

    global _pool, _size
    if _pool is None or _size < threads:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool, _size = ThreadPoolExecutor(threads, thread_name_prefix="freeflyer"), threads
    return _pool


def run_chunks(run: Callable[[int, int], R], count: int, lanes: int, threads: int, most: int) -> list[R]:
    """Results of `run(start, stop)` for chunks of 0 to `count`, each of at most `most` and beginning at a multiple of `lanes`."""
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


LOADS = "gwsfm"  # letters of gravity, wrenches, settings, rows and systems, which come checked
STATES_UNTIL_INTERRUPT = 4096  # that one call computes: between calls Ctrl-C is noticed
Arrays = tuple[np.ndarray, ...]
Shape = tuple[int, ...]
OnFailure = Literal["raise", "nan"]

__all__ = ["evaluate", "get_threads", "set_threads"]


def evaluate(entry: Entry, model: Model, inputs: tuple[Any, ...], names: tuple[str, ...], options: tuple[int, ...] = (),
             out: np.ndarray | Arrays | None = None, frames: FrameSet | None = None, nan: bool = False) -> Any:
    """An entry's output, or a tuple of several: checks, broadcasts leading axes, and runs one state or a batch.

    `frames`: of an entry that takes wrenches (..., k, 6); these and gravity come checked. `out` may hold the output, or all of
    several, of shapes (batch axes, *shape). Where a state is refused, results of states before it are in `out`, and nothing is
    known of the others. With `nan`, states that cannot be solved are no error: their results are NaN."""
    arrays = [x if letter in LOADS else row(model, name, x, letter) for name, x, letter in zip(names, inputs, entry.inputs)]
    lead, frames_or_model = leading_axes(arrays, entry.input_axes, names), model if frames is None else frames
    count, handle, topology = prod(lead), frames_or_model.handle, frames_or_model.topology
    results = None
    if out is not None:
        results = _check_outputs(out, lead, entry.output_shapes(topology))
        arrays = [np.array(x) if any(np.shares_memory(x, r) for r in results) else x for x in arrays]  # as NumPy
    rows = [_rows(x, lead, count, axes, entry.one_by_one) for x, axes in zip(arrays, entry.input_axes)]
    if results is None:
        found = entry.call(handle, *rows, *options, None)
        if found is not None:
            if len(lead) < 2:
                return found
            shaped = tuple(x.reshape(lead + x.shape[1:]) for x in (found if type(found) is tuple else (found,)))
            return shaped if type(found) is tuple else shaped[0]
        results = tuple(np.empty(lead + shape) for shape in entry.output_shapes(topology))
    if count > 0:
        status, where = _run(entry, topology, handle, rows, lead, options, results, nan)
        if status != OK:
            raise explain_refusal(entry, model, status, where, arrays, lead, names)
    return results[0] if len(results) == 1 else results


def gives_nan(on_failure: str) -> bool:
    """Whether states that cannot be solved give NaN, and no error; InputError for words but "raise" and "nan"."""
    return choice("on_failure", on_failure, ("raise", "nan")) == "nan"


def leading_axes(arrays: Sequence[np.ndarray], axes: Sequence[int], names: Sequence[str]) -> Shape:
    """The batch axes of arrays, broadcast together; `axes`: how many follow them."""
    leads = {x.shape[: x.ndim - n] for x, n in zip(arrays, axes)}
    if len(leads) > 1:
        leads.discard(())
    if len(leads) == 1:
        return leads.pop()
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        shown = ", ".join(f"{name} {x.shape}" for name, x, n in zip(names, arrays, axes) if x.ndim > n)
        raise InputError(f"the leading (batch) axes do not broadcast together: {shown}", shapes=[x.shape for x in arrays]) from None


def _run(entry: Entry, topology: np.ndarray, handle: Any, rows: Sequence[np.ndarray], lead: Shape, options: tuple[int, ...],
         results: Arrays, nan: bool) -> Result:
    """The first refused state's status, or OK; with `nan`, the results of states that cannot be solved are NaN instead. Chunks
    begin at multiples of the lanes, so results do not depend on threads."""
    count, lanes = prod(lead), batch_lanes(entry)
    outs = tuple(r.reshape(count, prod(r.shape[len(lead) :])) for r in results)
    flat_rows = tuple(x.reshape(-1) if x.ndim == n else x.reshape(count, prod(x.shape[1:])) for x, n in zip(rows, entry.input_axes))
    if not lead:
        found = state(entry, handle, *rows, *options, *results)
        return (OK, ()) if nan and _erase_unsolved(found, flat_rows, outs, 0) else found

    def run(start: int, stop: int) -> Result:
        while start < stop:
            found = batch(entry, handle, flat_rows, options, outs, start, stop)
            if not nan or found[0] not in (REFUSED, NOT_FINITE):
                return found
            end = start + (min(found[1][STATE], stop - 1) - start) // lanes * lanes + lanes  # of a pack that holds such a state;
            for k in range(max(end - 2 * lanes, start), min(end, stop)):  # or else the one before: both state by state
                found = batch(entry, handle, flat_rows, options, outs, k, k + 1)
                if found[0] != OK and not _erase_unsolved(found, flat_rows, outs, k):
                    return found
            start = end
        return OK, ()

    threads = get_threads() if is_long(entry, topology, count) else 1
    refused = (found for found in run_chunks(run, count, lanes, threads, STATES_UNTIL_INTERRUPT) if found[0] != OK)
    return min(refused, key=lambda found: found[1][STATE], default=(OK, ()))


def _erase_unsolved(found: Result, rows: Arrays, outs: Arrays, k: int) -> bool:
    """Whether state k was refused though its inputs are numbers; then its results become NaN."""
    status, where = found
    if status == NOT_FINITE:  # or they are so large that their sum is not
        x = rows[where[ARGUMENT]]
        status = REFUSED if np.isfinite(x if x.ndim == 1 else x[k]).all() else status
    if status != REFUSED:
        return False
    for r in outs:
        r[k] = np.nan
    return True


def _check_outputs(out: np.ndarray | Arrays, lead: Shape, shapes: Sequence[Shape]) -> Arrays:
    given = tuple(output_array(x, lead + shape) for x, shape in zip(out if len(shapes) > 1 else (out,), shapes))
    for k, x in enumerate(given):
        if any(np.shares_memory(x, y) for y in given[:k]):
            raise InputError("two fields of out share memory: give each result an array of its own")
    return given


def write_results(out: Any, found: Any) -> Any:
    """The array, or tuple of arrays, in `out` if that is given; InputError before any is written."""
    if out is None:
        return found
    arrays = found if type(found) is tuple else (found,)
    for x, y in zip(_check_outputs(out, (), [y.shape for y in arrays]), arrays):
        x[...] = y
    return out


def _rows(x: np.ndarray, lead: Shape, count: int, axes: int, alone: bool) -> np.ndarray:
    """x as a plain C-contiguous array for compiled code, with one axis for the batch, or none where all states share it (but for
    entries that go state by state, `alone`); copied only where it is not."""
    first = x.ndim - axes
    if x.shape[:first] != lead and (first > 0 or alone):
        x = np.broadcast_to(x, lead + x.shape[first:])
        first = len(lead)
    if first > 1:
        x = x.reshape(count, *x.shape[len(lead) :])
    return x if type(x) is np.ndarray and x.flags.c_contiguous and x.flags.aligned else np.array(x, order="C", subok=False)
