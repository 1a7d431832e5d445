"""What a benchmark measured. Times are in microseconds; None where there is nothing to measure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """Where the timings were taken."""

    cpu: str
    cores: int
    architecture: str
    system: str
    python: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Timing:
    """One algorithm on one robot: us a call for one state, us a state in a batch; medians over interleaved blocks.

    `call` and `batch_fresh` make new arrays; `call_out` and `batch` write into given ones where there is `out=`. `batch` uses one
    thread, `batch_threads` all `threads`. `difference` is the largest difference between our result and the peer's at the same
    state, relative to the largest entry."""

    algorithm: str
    call: float
    call_out: float | None
    batch: float
    batch_fresh: float
    batch_threads: float | None
    peer: str | None
    peer_call: float | None
    peer_batch: float | None
    peer_batch_means: str | None
    difference: float | None

    @property
    def ratio_call(self) -> float | None:
        return None if self.peer_call is None else self.peer_call / self.call

    @property
    def ratio_batch(self) -> float | None:
        return None if self.peer_batch is None else self.peer_batch / self.batch

    @property
    def ratio_threads(self) -> float | None:
        return None if self.batch_threads is None else self.batch / self.batch_threads


@dataclass(frozen=True)
class PeerTiming:
    """A peer beside one row: us a call (None: not timed), the largest difference relative to its largest entry, by what."""

    peer: str
    call: float | None
    difference: float | None
    means: str


@dataclass(frozen=True)
class ClosedTiming:
    """One quantity of a closed robot: us a call, us a state in a batch on one thread; medians over interleaved blocks."""

    quantity: str
    call: float
    batch: float
    peers: tuple[PeerTiming, ...]


@dataclass(frozen=True)
class ClosedTimings:
    """A robot with its loops closed: nu independent rates, `constraints` rows of that rank, open by `residual` (m, rad).

    `softness`: pairs of a softness of a peer's constraints (1 - impedance) and how far its accelerations then are from the rigid
    ones, relative to the largest. `notes`: why peers are missing."""

    nu: int
    constraints: int
    rank: int
    residual: float
    batch_size: int
    blocks: int
    rows: tuple[ClosedTiming, ...]
    softness: tuple[tuple[float, float], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RobotTimings:
    """All algorithms on one robot; medians over so many blocks. `note`: why it has no peer."""

    robot: str
    nq: int
    nv: int
    bodies: int
    batch_size: int
    threads: int
    blocks: int
    batch_blocks: int
    rows: tuple[Timing, ...]
    note: str | None
    closed: ClosedTimings | None = None


@dataclass(frozen=True)
class BatchPoint:
    """One algorithm on a robot in batches of `states`: us a state, as in Timing."""

    robot: str
    states: int
    timing: Timing


@dataclass(frozen=True)
class ScalingPoint:
    """Inverse and forward dynamics of a chain of `bodies` bodies, us a call and us a state of a batch."""

    bodies: int
    nv: int
    algorithm: str
    call: float
    batch: float
    peer_call: float | None

    @property
    def ratio_call(self) -> float | None:
        return None if self.peer_call is None else self.peer_call / self.call


@dataclass(frozen=True)
class StepTiming:
    """One integrator on a robot: us a step of a whole run, and of the peer's."""

    robot: str
    integrator: str
    step: float
    peer: str | None
    peer_step: float | None


@dataclass(frozen=True)
class FirstCall:
    """The first call of one algorithm in a fresh process, s: compiling (`cold`) and from the cache (`cached`)."""

    algorithm: str
    cold: float
    cached: float


@dataclass(frozen=True)
class Start:
    """Seconds to `import freeflyer`: `cold` without compiled bytecode, `warm` with it; and the first calls."""

    import_cold: float
    import_warm: float
    first_calls: tuple[FirstCall, ...]


@dataclass(frozen=True)
class SolverTiming:
    """One solver on one quadratic program: us a call of the bare solver and of ours, cold and warm; the solver's iterations."""

    solver: str
    variables: int
    rows: int
    bare: float | None
    call: float
    bare_warm: float | None
    warm: float
    iterations: int

    @property
    def overhead(self) -> float | None:
        """What conversion and checks add to a cold call, us."""
        return None if self.bare is None else self.call - self.bare


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """The geometric mean of the ratios that exist."""
    logs = [math.log(r) for r in ratios if r is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None
