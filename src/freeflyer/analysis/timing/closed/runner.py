"""Robots with their loops closed: the state they are timed at, what is timed, beside peers if some are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from freeflyer import linkages as mechanisms
from freeflyer.analysis.timing.clock import Call, time_interleaved
from freeflyer.analysis.timing.closed.quantities import QUANTITIES
from freeflyer.analysis.timing.closed.state import ClosedState, closed_state
from freeflyer.analysis.timing.results import ClosedTiming, ClosedTimings, PeerTiming
from freeflyer.progress import Progress


class ClosedPeer(Protocol):
    """Another library that holds the same closed robot."""

    def compare(self, model: Any, s: ClosedState, quantity: str, ours: Any) -> Sequence[tuple[str, Call | None, float | None, str]]:
        """(label, a call to time, how far its answer is from ours, by which means) of each way in which it answers."""

    def softness(self, model: Any, s: ClosedState) -> tuple[tuple[float, float], ...]:
        """Pairs of a softness of its constraints and how far its accelerations then are from ours; () if they are rigid."""


# of a model and its own MJCF file; with notes on those that are missing
MakeClosedPeers = Callable[[Any, Path | None], tuple[Sequence[ClosedPeer], Sequence[str]]]


def time_closed(
    model: Any, mjcf: Path | None, make_peers: MakeClosedPeers | None, batch: int, blocks: int, block_seconds: float,
    progress: Progress,
) -> ClosedTimings:  # fmt: skip
    """All quantities at one closed state. `mjcf`: the robot's own file, if it is MJCF, which peers may read."""
    s, split = closed_state(model), mechanisms.partition(model)
    many = _states(s, batch)
    peers, notes = make_peers(model, mjcf) if make_peers else ((), ())
    rows = []
    for quantity in QUANTITIES:
        progress(0.0, f"{model.name}, loops closed: {quantity.name}")
        answer = quantity.evaluate(model, s)
        found = [x for p in peers for x in p.compare(model, s, quantity.name, answer)]
        calls = [quantity.call(model, s), *(call for _, call, _, _ in found if call is not None)]
        ours, *theirs = time_interleaved(calls, blocks, block_seconds)
        (state,) = time_interleaved([quantity.call(model, many)], max(5, blocks // 2), block_seconds)
        times = iter(theirs)
        beside = [PeerTiming(label, None if call is None else next(times), gap, means) for label, call, gap, means in found]
        rows.append(ClosedTiming(quantity.name, ours, state / batch, tuple(beside)))
    softness = tuple(pair for p in peers for pair in p.softness(model, s))
    residual = float(np.abs(mechanisms.constraint_residual(model, s.q)).max())
    return ClosedTimings(
        len(split.independent), model.constraint_rows[0], split.rank, residual, batch, blocks, tuple(rows), softness, tuple(notes)
    )  # fmt: skip


def _states(s: ClosedState, batch: int) -> ClosedState:
    """The same state many times: cost does not depend on the numbers."""
    arrays = {f.name: np.tile(getattr(s, f.name), (batch, 1)) for f in fields(s) if f.name != "closed"}
    return ClosedState(s.closed, **arrays)
