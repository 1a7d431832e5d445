"""Times of section 6 on serial arms of revolute joints: dqNE beside our RNEA and Pinocchio's, dqGP."""

from __future__ import annotations

from collections.abc import Callable

from freeflyer.analysis.checks.laws import States, random_states
from freeflyer.analysis.timing.clock import time_interleaved
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.evaluate import get_threads, set_threads
from freeflyer.formulations import dual_quaternion, gauss
from freeflyer.model.model import Model
from freeflyer.model.writers import to_urdf
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
        lambda: dual_quaternion.inverse_dynamics(model, q, v, a),
        lambda: inverse_dynamics(model, q, v, a),
        lambda: gauss.equations(model, q, v),
        lambda: dual_quaternion.inverse_dynamics(model, states.q, states.v, states.a),
    ]
    theirs, peer = _pinocchio(model, states)
    times = time_interleaved(calls + theirs, BLOCKS, BLOCK_SECONDS)
    pinocchio = times[4] if theirs else None
    return Timing(n, times[0], times[1], pinocchio, times[2], times[3] / BATCH), peer


def _pinocchio(model: Model, states: States) -> tuple[list[Callable[[], object]], str]:
    """RNEA on the URDF of the arm, whose joints are in one order in both."""
    try:
        import pinocchio as pin
    except ImportError:
        return [], "Pinocchio is not installed: pip install 'freeflyer[peers]'"
    theirs, q, v, a = pin.buildModelFromXML(to_urdf(model)), states.q[0], states.v[0], states.a[0]
    data = theirs.createData()
    return [lambda: pin.rnea(theirs, data, q, v, a)], f"Pinocchio {pin.__version__}"
