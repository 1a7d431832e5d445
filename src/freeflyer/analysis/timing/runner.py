"""The one runner: every algorithm on one robot, in alternating blocks of calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from freeflyer import robots
from freeflyer.analysis.checks.findings import with_loops_closed
from freeflyer.analysis.checks.laws import States, random_states
from freeflyer.analysis.timing import algorithms as A, results as R
from freeflyer.dynamics import specializable, specialize
from freeflyer.kernels.compiler.calls.running import usable_cores
from freeflyer.progress import Progress, no_progress

NAMES = tuple(algorithm.name for algorithm in A.ALGORITHMS)
LARGEST_RESULT = 2**29  # bytes
CLOSED_BATCH = 256  # states: a closed linkage costs tens of microseconds each
CLOSED = (*A.USUAL, "inverse_dynamics_derivatives", "forward_dynamics_derivatives")  # what is timed with loops closed


@dataclass(frozen=True)
class Effort:
    """How much to measure: states in a batch, blocks whose median counts, s in a block, threads of a second run; whether also code
    for each robot alone."""

    batch: int = 4096
    blocks: int = 15
    block_seconds: float = 4e-3
    threads: int = 2
    specialize: bool = False

    @property
    def batch_blocks(self) -> int:
        return max(5, self.blocks // 2)


def largest_batch(nv: int) -> int:
    """How many states fit into LARGEST_RESULT when each gives an (nv, nv) matrix; a multiple of 8, at least 8."""
    return max(8, LARGEST_RESULT // (8 * max(nv, 1) ** 2) // 8 * 8)


def time_robot(model: Any, *, effort: Effort | None = None, algorithms: tuple[str, ...] = NAMES, closed: bool = True,
               progress: Progress = no_progress) -> R.RobotTimings:  # fmt: skip
    """Time the algorithms on a model. `closed`: also with its loops closed, if it has any."""
    effort = effort or Effort()
    effort = replace(effort, batch=min(effort.batch, largest_batch(model.nv)), threads=min(effort.threads, usable_cores()))
    x, frame = random_states(model, effort.batch), A.outermost_frame(model)
    fast = specialized(model, algorithms, progress) if effort.specialize else None
    rows, label = [], model.name + ", loops closed" * (model.reduction is not None)
    for algorithm in map(A.BY_NAME.__getitem__, algorithms):
        if A.has_enough_links(model, algorithm):  # for its wrenches or contacts
            progress(0.0, f"{label}: {algorithm.name}")
            rows.append(_time(model, fast, algorithm, x, frame, effort))
    with_loops, note = None, None
    if closed and model.constraint_rows[0] and not model.reduction:
        robot, why = with_loops_closed(model)
        own = replace(effort, batch=min(effort.batch, CLOSED_BATCH), specialize=False)
        note = f"loops left open: {why}" if why else None
        with_loops = None if why else time_robot(robot, effort=own, algorithms=CLOSED, progress=progress)
    return R.RobotTimings(label, model.nq, model.nv, len(model.joints), effort.batch, effort.threads, effort.blocks,
        effort.batch_blocks, tuple(rows), note, with_loops)  # fmt: skip


def specialized(model: Any, algorithms: tuple[str, ...], progress: Progress) -> Any:
    """The model with code of its own for these algorithms, and for the frames on which they are timed."""
    names = dict.fromkeys(name.partition(",")[0] for name in algorithms)
    own = [x for x in specializable(model) if x in names]
    return specialize(model, own, frames=A.outer_frames(model), progress=progress)


def _time(model: Any, fast: Any, algorithm: A.Algorithm, x: States, frame: str, effort: Effort) -> R.Timing:
    one, many = (A.call_of(model, algorithm, x, frame, which) for which in (0, slice(None)))
    calls, fresh = ([f for f in (call, A.into_memory(algorithm, call)) if f] for call in (one, many))
    own = fast is not None and algorithm.name.partition(",")[0] in fast.specialization.notes
    if own:
        for of_kind, which in ((calls, 0), (fresh, slice(None))):
            special = A.call_of(fast, algorithm, x, frame, which)
            of_kind.append(A.into_memory(algorithm, special) or special)
    call, *others = R.time_interleaved(calls, effort.blocks, effort.block_seconds)
    special_call = others.pop() if own else None
    with R.threads(1):
        batch_fresh, *more = R.time_interleaved(fresh, effort.batch_blocks, effort.block_seconds)
    special_batch = more.pop() / x.count if own else None
    spread = None
    if effort.threads > 1:
        with R.threads(effort.threads):
            (spread,) = R.time_interleaved([fresh[1 if more else 0]], effort.batch_blocks, effort.block_seconds)
    return R.Timing(algorithm=algorithm.name, call=call, call_out=others[0] if others else None,
        batch=(more[0] if more else batch_fresh) / x.count, batch_fresh=batch_fresh / x.count,
        batch_threads=None if spread is None else spread / x.count, special_call=special_call,
        special_batch=special_batch)  # fmt: skip


SHORT_SIZES = (16, 64, 512, 4096)
SHORT_ALGORITHMS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives", "inverse_dynamics, 2 wrenches", "all_terms, 4 frames")  # fmt: skip


def batches(models: Iterable[Any], effort: Effort, progress: Progress) -> tuple[R.RobotTimings, ...]:
    """Time batches of SHORT_SIZES states on each robot."""
    found = []
    for model in models:
        for n in SHORT_SIZES:
            progress(0.0, f"{model.name}: batches of {n}")
            found.append(time_robot(model, closed=False, effort=replace(effort, batch=n), algorithms=SHORT_ALGORITHMS))
    return tuple(found)


def call_overhead(sizes: Iterable[R.RobotTimings], algorithm: str) -> float | None:
    """Microseconds beside the states: where the line through the two shortest batches of a robot begins."""
    times = sorted((x.batch_size, x.batch_size * t.batch) for x in sizes for t in x.rows if t.algorithm == algorithm)
    if len(times) < 2:
        return None
    (a, first), (b, second), *_ = times
    return first - a * (second - first) / (b - a)


CHAIN_SIZES = (10, 20, 50, 100, 200, 500, 1000)
CHAIN_ALGORITHMS = ("inverse_dynamics", "forward_dynamics")


CHAIN_EFFORT = Effort(batch=256, blocks=9, threads=1)


def scaling(sizes: Iterable[int], progress: Progress) -> tuple[R.RobotTimings, ...]:
    """Time chains of the given numbers of bodies."""
    return tuple([time_robot(robots.chain(n), effort=CHAIN_EFFORT, algorithms=CHAIN_ALGORITHMS, progress=progress)
        for n in sizes])  # fmt: skip


def exponent(chains: Iterable[R.RobotTimings], algorithm: str, field: str = "batch") -> float | None:
    """The power of the number of bodies by which a time grows: 1 is linear; None with fewer than two sizes."""
    return R.power([(x.bodies, getattr(t, field)) for x in chains for t in x.rows if t.algorithm == algorithm])
