"""Times of section 6 on serial arms of revolute joints: dqNE beside our RNEA and Pinocchio's, dqGP."""

from __future__ import annotations

from collections.abc import Callable

from freeflyer.analysis.checks.states import States, random_states
from freeflyer.analysis.timing.clock import time_interleaved
from freeflyer.analysis.timing.peer import NoPeerError, peer_for
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.evaluate import get_threads, set_threads
from freeflyer.formulations.methods import gauss_terms, inverse_dynamics as inverse_dynamics_by
from freeflyer.model.model import Model
from freeflyer.progress import Progress
from freeflyer_papers.dual_quaternion.arms import serial_arm
from freeflyer_papers.dual_quaternion.results import Timing

SIZES = (6, 10, 20, 50, 100)
PAPER_SIZE, PAPER_NEWTON_EULER, PAPER_GAUSS = 50, 1.9e3, 37e3  # us: the authors' estimate for C++
BLOCKS, BLOCK_SECONDS, BATCH = 15, 0.01, 4096


def timings(progress: Progress, sizes: tuple[int, ...]) -> tuple[tuple[Timing, ...], str]:
    """Medians of blocks of calls, taken in turn, one state each, on one thread; and the peer's name, or why there is none."""
    found, threads, peer = [], get_threads(), ""
    set_threads(1)
    try:
        for n in sizes:
            progress(0.0, f"times of {n} joints")
            timing, peer = _timing(serial_arm(n))
            found.append(timing)
    finally:
        set_threads(threads)
    return tuple(found), peer


def _timing(model: Model) -> tuple[Timing, str]:
    n, states = model.nv, random_states(model, BATCH, 1)
    q, v, a = states.q[0], states.v[0], states.a[0]
    calls: list[Callable[[], object]] = [
        lambda: inverse_dynamics_by(model, q, v, a, by="dual_quaternion"),
        lambda: inverse_dynamics(model, q, v, a),
        lambda: gauss_terms(model, q, v),
        lambda: inverse_dynamics_by(model, states.q, states.v, states.a, by="dual_quaternion"),
    ]
    theirs, peer = _pinocchio(model, states)
    times = time_interleaved(calls + theirs, BLOCKS, BLOCK_SECONDS)
    pinocchio = times[4] if theirs else None
    return Timing(n, times[0], times[1], pinocchio, times[2], times[3] / BATCH), peer


def _pinocchio(model: Model, states: States) -> tuple[list[Callable[[], object]], str]:
    try:
        p = peer_for(model, None, f"link_{model.nv}")
    except NoPeerError as error:
        return [], str(error)
    x, rnea = p.state(states, 0), p.pin.rnea
    return [lambda: rnea(p.model, p.data, x.q, x.v, x.a)], p.label
