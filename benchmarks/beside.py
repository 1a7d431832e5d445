"""Algorithms, closed robots and steps of simulations beside Pinocchio and MuJoCo, in alternating blocks of calls."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import freeflyer as ff
from benchmarks import NoPeerError
from benchmarks.closed import closed_peers
from benchmarks.closed_states import QUANTITIES, closed_state
from benchmarks.peers import mujoco_steps
from benchmarks.pinocchio_peer import PinocchioPeer, peer_for
from freeflyer.analysis.checks.laws import States, random_states
from freeflyer.analysis.timing import algorithms as A, results as R, runner
from freeflyer.analysis.timing.measured import times
from freeflyer.progress import Progress
from freeflyer.tables import Table
from freeflyer.text import microseconds as us


class Row(namedtuple("Row", "algorithm call batch peer_call peer_batch means difference")):
    """One algorithm: us a call that makes new arrays, us a state of a batch on one thread into given ones, ours and the peer's; by
    which means its batch is evaluated; the largest difference of results at one state, relative to the peer's largest entry."""

    @property
    def ratio_call(self) -> float:
        return float(self.peer_call / self.call)

    @property
    def ratio_batch(self) -> float:
        return float(self.peer_batch / self.batch)


class Beside(namedtuple("Beside", "robot nv bodies batch_size peer rows note")):
    """Algorithms on one robot beside a peer. `note`: why there is none."""


def files_of(model: Any) -> tuple[Path | None, Path | None]:
    """(URDF, MJCF): the file that the robot was read from, which a peer can read, too."""
    path = Path(model.description.file or "")
    kind = path.suffix.lower()
    return path if kind == ".urdf" else None, path if kind in (".xml", ".mjcf") else None


def time_beside(model: Any, effort: runner.Effort, algorithms: tuple[str, ...], progress: Progress) -> Beside:
    """The algorithms on a model and in Pinocchio."""
    x, frame = random_states(model, min(effort.batch, runner.largest_batch(model.nv))), A.outermost_frame(model)
    about = (model.name, model.nv, len(model.joints), x.count)
    urdf, mjcf = files_of(model)
    try:
        peer = peer_for(model, urdf, frame, mjcf)
    except NoPeerError as error:
        return Beside(*about, None, (), f"no peer: {error}")
    rows = []
    for algorithm in map(A.BY_NAME.__getitem__, algorithms):
        if not A.has_enough_links(model, algorithm):
            continue
        progress(0.0, f"{model.name}: {algorithm.name}, beside {peer.label}")
        one, many = (A.call_of(model, algorithm, x, frame, which) for which in (0, slice(None)))
        theirs, means = peer.batch_call(algorithm.name, x)
        call, peer_call = R.time_interleaved([one, peer.call(algorithm.name, x)], effort.blocks, effort.block_seconds)
        with R.threads(1):
            batch, peer_batch = R.time_interleaved([A.into_memory(algorithm, many) or many, theirs], effort.batch_blocks,
                effort.block_seconds)  # fmt: skip
        rows.append(Row(algorithm.name, call, batch / x.count, peer_call, peer_batch / x.count, means,
            difference(model, algorithm, x, frame, peer)))  # fmt: skip
    return Beside(*about, peer.label, tuple(rows), None)


def difference(model: Any, algorithm: A.Algorithm, x: States, frame: str, peer: PinocchioPeer) -> float:
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
    if isinstance(result, ff.AllTerms):
        return [(result.mass_matrix, (0, 1)), (result.bias_forces, (0,)), (result.gravity_forces, (0,)),
            (result.centroidal_momentum_matrix, (1,)), (result.poses, ()), (result.jacobians, (2,)), (result.velocities, ()),
            (result.bias_accelerations, ())]  # fmt: skip
    if hasattr(result, "dq"):
        return [(np.stack(result, axis=-3), axes)]
    return [(np.asarray(result, dtype=float), axes)]


def batches_beside(models: Iterable[Any], effort: runner.Effort, progress: Progress) -> tuple[Beside, ...]:
    """Batches of runner.SHORT_SIZES states on each robot."""
    return tuple(time_beside(model, replace(effort, batch=n), runner.SHORT_ALGORITHMS, progress)
        for model in models for n in runner.SHORT_SIZES)  # fmt: skip


def scaling_beside(progress: Progress) -> tuple[Beside, ...]:
    """Chains of runner.CHAIN_SIZES bodies."""
    return tuple(time_beside(ff.robots.chain(n), runner.CHAIN_EFFORT, runner.CHAIN_ALGORITHMS, progress)
        for n in runner.CHAIN_SIZES)  # fmt: skip


def beside_table(title: str, robots: Sequence[Beside]) -> Table:
    """Rows of one robot, of some sizes of its batches, or of chains, and geometric means."""
    found = [(x, t) for x, t in R.by_algorithm(robots)] if len(robots) > 1 else [(x, t) for x in robots for t in x.rows]
    rows = [(t.algorithm, str(x.bodies), str(x.batch_size), us(t.call), us(t.peer_call), times(t.ratio_call), us(t.batch),
        us(t.peer_batch), times(t.ratio_batch), f"{t.difference:.0e}") for x, t in found]  # fmt: skip
    peer = next((x.peer for x in robots if x.peer), "a peer")
    notes = list(dict.fromkeys(x.note for x in robots if x.note))
    if found:
        call, batch = (R.geometric_mean(getattr(t, ratio) for _, t in found) for ratio in ("ratio_call", "ratio_batch"))
        notes.append(f"geometric means: one call {call:.2f}x the peer's speed, a batch on one thread {batch:.2f}x")
    slower = list(dict.fromkeys(t.algorithm for _, t in found if t.ratio_call < 1.0))
    notes += [f"slower than the peer for one call: {', '.join(slower)}"] if slower else []
    parallel = sorted({t.algorithm for _, t in found if t.means.endswith("InParallel")})
    notes += [f"the peer's batch is its parallel function on one thread for {' and '.join(parallel)}, a Python loop otherwise"
        ] if parallel else []
    columns = ("algorithm", "bodies", "states", "us a call", "peer's", "faster", "us a state", "peer's", "faster", "agrees to")
    return Table(f"{title}, beside {peer}", columns, rows, range(1, len(columns)), "; ".join(notes))


class PeerTiming(namedtuple("PeerTiming", "peer call difference means")):
    """A peer beside one row: us a call (None: not timed), the largest difference relative to its largest entry, by what."""


class ClosedRow(namedtuple("ClosedRow", "quantity call peers")):
    """One quantity of a closed robot: us a call, and the peers'."""


class ClosedBeside(namedtuple("ClosedBeside", "robot rows softness notes")):
    """A robot with its loops closed beside peers.

    `softness`: pairs of a softness of a peer's constraints (1 - impedance) and how far its accelerations then are from the rigid
    ones, relative to the largest. `notes`: why peers are missing."""


def closed_beside(model: Any, effort: runner.Effort, progress: Progress) -> ClosedBeside | None:
    """All quantities at one closed state; None for a robot without loops, or whose loops cannot be closed."""
    try:
        state = closed_state(model) if model.constraint_rows[0] else None
    except ff.linkages.LinkageError:
        state = None
    if state is None:
        return None
    peers, notes = closed_peers(model, files_of(model)[1])
    rows = []
    for quantity, evaluate in QUANTITIES.items():
        progress(0.0, f"{model.name}, loops closed: {quantity}, beside peers")
        one = partial(evaluate, model, state)
        found = [x for p in peers for x in p.compare(model, state, quantity, one())]
        ours, *theirs = R.time_interleaved([one, *(call for _, call, _, _ in found if call is not None)], effort.blocks,
            effort.block_seconds)  # fmt: skip
        taken = iter(theirs)
        rows.append(ClosedRow(quantity, ours, tuple(PeerTiming(label, None if call is None else next(taken), gap, means)
            for label, call, gap, means in found)))  # fmt: skip
    softness = tuple(pair for p in peers for pair in p.softness(model, state))
    return ClosedBeside(model.name, tuple(rows), softness, tuple(notes))


def closed_table(c: ClosedBeside) -> Table:
    """The rows, below each the functions of the peers and their differences; errors by softness in the note."""
    rows = []
    for row in c.rows:
        line = [row.quantity, us(row.call)]
        for p in row.peers:
            agrees = "-" if p.difference is None else f"{p.difference:.0e}"
            rows.append([*line, f"{p.peer}: {p.means}", us(p.call), times(p.call and p.call / row.call), agrees])
            line = ["", ""]
    notes = ["agreement at one state, relative to the largest entry", *c.notes]
    if c.softness:
        faded = ", ".join(f"{gap:.1e} at {1.0 - x:g}" for x, gap in c.softness)
        notes += [f"the equalities of a peer are soft; its accelerations miss the rigid ones by impedance: {faded}"]
    columns = ("loops closed", "us a call", "beside", "us a call", "faster", "agrees to")
    return Table(f"{c.robot}, loops closed, beside peers", columns, rows, (1, 3, 4, 5), "; ".join(notes))


class StepBeside(namedtuple("StepBeside", "robot integrator step peer peer_step")):
    """One integrator on a robot: us a step of a whole run, and of the peer's."""


def steps_beside(models: Iterable[Any], blocks: int, progress: Progress) -> tuple[StepBeside, ...]:
    """Steps of trees beside MuJoCo's, called from Python."""
    found = []
    for model in models:
        if model.constraint_rows[0]:
            continue
        progress(0.0, f"{model.name}: steps, beside MuJoCo")
        q, v = A.start_of_steps(model)
        label, theirs = mujoco_steps(model, q, v, A.DT, A.COUNT)
        for name, run in theirs.items():
            calls: list[Callable[[], object]] = [A.run_of(model, q, v, None, name), run]
            ours, other = (t / A.COUNT for t in R.time_interleaved(calls, blocks, 0.03))
            found.append(StepBeside(model.name, name, ours, label, other))
    return tuple(found)


def steps_table(steps: Sequence[StepBeside]) -> Table:
    rows = [(s.robot, s.integrator, us(s.step), us(s.peer_step), times(s.peer_step / s.step)) for s in steps]
    columns = ("robot", "integrator", "us a step", f"{steps[0].peer}'s", "faster")
    return Table("simulation: a step of whole runs, beside a peer", columns, rows, (2, 3, 4))
