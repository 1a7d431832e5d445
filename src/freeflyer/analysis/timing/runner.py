"""The one runner: every algorithm on one robot, ours and a peer's, if one is given, in alternating blocks of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from freeflyer import robots
from freeflyer.analysis.checks.laws import States, random_states
from freeflyer.analysis.timing import algorithms as A, results as R
from freeflyer.analysis.timing.control_cycles import MakeClosedPeers, time_closed
from freeflyer.analysis.timing.algorithms import BenchRobot
from freeflyer.dynamics import AllTerms, specializable, specialize
from freeflyer.linkages import LinkageError
from freeflyer.progress import Progress, no_progress

NAMES = tuple(algorithm.name for algorithm in A.ALGORITHMS)
LARGEST_RESULT = 2**29  # bytes
CLOSED_BATCH = 256  # states: a closed linkage costs tens of microseconds each
# of a model, its URDF file, a frame, its MJCF file: another library with the robot, or NoPeerError. `columns` (nv,):
# our velocity coordinate behind each of its; `call` and `batch_call` of an algorithm at the first state, at all on one thread
MakePeer = Callable[[Any, Path | None, str, Path | None], Any]


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


def time_robot(model: Any, *, urdf: Path | None = None, mjcf: Path | None = None, make_peer: MakePeer | None = None,
        closed_peers: MakeClosedPeers | None = None, effort: Effort | None = None, algorithms: tuple[str, ...] = NAMES,
        closed: bool = True, progress: Progress = no_progress) -> R.RobotTimings:  # fmt: skip
    """Time the algorithms on a model; `urdf` or `mjcf`: the file that peers may read too. `closed`: also with its loops closed, if
    it has any."""
    effort = effort or Effort()
    effort = replace(effort, batch=min(effort.batch, largest_batch(model.nv)), threads=min(effort.threads, R.usable_cores()))
    x, frame = random_states(model, effort.batch), A.outermost_frame(model)
    peer, note = None, None
    try:
        peer = make_peer(model, urdf, frame, mjcf) if make_peer else None
    except R.NoPeerError as error:
        note = f"no peer: {error}"
    fast = specialized(model, algorithms, progress) if effort.specialize else None
    rows = []
    for algorithm in map(A.BY_NAME.__getitem__, algorithms):
        if A.has_enough_links(model, algorithm):  # for its wrenches or contacts
            progress(0.0, f"{model.name}: {algorithm.name}")
            rows.append(_time(model, fast, algorithm, x, frame, peer, effort))
    with_loops, open_note = _time_closed(model, mjcf, closed_peers, effort, progress) if closed else (None, None)
    return R.RobotTimings(model.name, model.nq, model.nv, len(model.joints), effort.batch, effort.threads, effort.blocks,
        effort.batch_blocks, tuple(rows), "; ".join(filter(None, (note, open_note))) or None, with_loops)  # fmt: skip


def _time_closed(model: Any, mjcf: Path | None, peers: MakeClosedPeers | None, effort: Effort,
        progress: Progress) -> tuple[R.ClosedTimings | None, str | None]:  # fmt: skip
    """The rows with loops closed; or why there are none: no loops, or a linkage that cannot be split."""
    if not model.constraint_rows[0]:
        return None, None
    batch = min(effort.batch, CLOSED_BATCH)
    try:
        with R.threads(1):
            return time_closed(model, mjcf, peers, batch, effort.blocks, effort.block_seconds, progress), None
    except LinkageError as error:
        return None, f"loops left open: {error}"


def specialized(model: Any, algorithms: tuple[str, ...], progress: Progress) -> Any:
    """The model with code of its own for these algorithms, and for the frames on which they are timed."""
    names = dict.fromkeys(name.partition(",")[0] for name in algorithms)
    own = [x for x in specializable(model) if x in names]
    return specialize(model, own, frames=A.outer_frames(model), progress=progress)


def _time(model: Any, fast: Any, algorithm: A.Algorithm, x: States, frame: str, peer: Any,
          effort: Effort) -> R.Timing:  # fmt: skip
    one, many = (A.call_of(model, algorithm, x, frame, which) for which in (0, slice(None)))
    calls, fresh = ([f for f in (call, A.into_memory(algorithm, call)) if f] for call in (one, many))
    own = fast is not None and algorithm.name.partition(",")[0] in fast.specialization.notes
    if own:
        for of_kind, which in ((calls, 0), (fresh, slice(None))):
            special = A.call_of(fast, algorithm, x, frame, which)
            of_kind.append(A.into_memory(algorithm, special) or special)
    means = None
    if peer is not None:
        calls.append(peer.call(algorithm.name, x))
        theirs, means = peer.batch_call(algorithm.name, x)
        fresh.append(theirs)
    call, *others = R.time_interleaved(calls, effort.blocks, effort.block_seconds)
    peer_call = others.pop() if peer else None
    special_call = others.pop() if own else None
    with R.threads(1):
        batch_fresh, *more = R.time_interleaved(fresh, effort.batch_blocks, effort.block_seconds)
    peer_batch = more.pop() / x.count if peer else None
    special_batch = more.pop() / x.count if own else None
    spread = None
    if effort.threads > 1:
        with R.threads(effort.threads):
            (spread,) = R.time_interleaved([fresh[1 if more else 0]], effort.batch_blocks, effort.block_seconds)
    return R.Timing(algorithm=algorithm.name, call=call, call_out=others[0] if others else None,
        batch=(more[0] if more else batch_fresh) / x.count, batch_fresh=batch_fresh / x.count,
        batch_threads=None if spread is None else spread / x.count, peer=peer.label if peer else None, peer_call=peer_call,
        peer_batch=peer_batch, peer_batch_means=means,
        difference=difference(model, algorithm, x, frame, peer) if peer else None, special_call=special_call,
        special_batch=special_batch)  # fmt: skip


def difference(model: Any, algorithm: A.Algorithm, x: States, frame: str, peer: Any) -> float:
    """The largest difference between our result and the peer's at the first state, over the largest entry."""
    worst = 0.0
    ours_now, answers = A.call_of(model, algorithm, x, frame)(), peer.answer(algorithm.name, x)
    for (ours, axes), theirs in zip(parts(ours_now, algorithm.axes), answers, strict=True):
        for axis in axes:
            ours = np.take(ours, peer.columns, axis=axis)
        theirs = theirs.reshape(ours.shape)  # of one column it makes a vector
        worst = max(worst, float(np.max(np.abs(ours - theirs)) / max(np.max(np.abs(theirs)), 1e-12)))
    return worst


def parts(result: Any, axes: tuple[int, ...]) -> list[tuple[np.ndarray, tuple[int, ...]]]:
    """(an array, which of its axes run over velocity coordinates) of each result; the matrices of derivatives as one."""
    if isinstance(result, AllTerms):
        return [(result.mass_matrix, (0, 1)), (result.bias_forces, (0,)), (result.gravity_forces, (0,)),
            (result.centroidal_momentum_matrix, (1,)), (result.poses, ()), (result.jacobians, (2,)), (result.velocities, ()),
            (result.bias_accelerations, ())]  # fmt: skip
    if hasattr(result, "dq"):
        return [(np.stack(result, axis=-3), axes)]
    return [(np.asarray(result, dtype=float), axes)]


SHORT_SIZES = (16, 64, 512, 4096)
SHORT_ALGORITHMS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives", "inverse_dynamics, 2 wrenches", "all_terms, 4 frames")  # fmt: skip


def batches(robots: Iterable[BenchRobot], make_peer: MakePeer | None, effort: Effort,
        progress: Progress) -> tuple[R.RobotTimings, ...]:  # fmt: skip
    """Time batches of SHORT_SIZES states on each robot, interleaved with the peer's."""
    found = []
    for robot in robots:
        for n in SHORT_SIZES:
            progress(0.0, f"{robot.model.name}: batches of {n}")
            found.append(time_robot(robot.model, urdf=robot.urdf, mjcf=robot.mjcf, make_peer=make_peer, closed=False,
                effort=replace(effort, batch=n), algorithms=SHORT_ALGORITHMS))  # fmt: skip
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


def scaling(sizes: Iterable[int], make_peer: MakePeer | None, progress: Progress) -> tuple[R.RobotTimings, ...]:
    """Time chains of the given numbers of bodies, interleaved with the peer's."""
    effort = Effort(batch=256, blocks=9, threads=1)
    return tuple([time_robot(robots.chain(n), make_peer=make_peer, effort=effort, algorithms=CHAIN_ALGORITHMS, progress=progress)
        for n in sizes])  # fmt: skip


def exponent(chains: Iterable[R.RobotTimings], algorithm: str, field: str = "batch") -> float | None:
    """The power of the number of bodies by which a time grows: 1 is linear; None with fewer than two sizes."""
    return R.power([(x.bodies, getattr(t, field)) for x in chains for t in x.rows if t.algorithm == algorithm])
