"""How the cost of inverse and forward dynamics grows with the number of bodies of a chain."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from freeflyer import robots
from freeflyer.analysis.timing.results import ScalingPoint
from freeflyer.analysis.timing.runner import Effort, MakePeer, time_robot
from freeflyer.progress import Progress

SIZES = (10, 20, 50, 100, 200, 500, 1000)
ALGORITHMS = ("inverse_dynamics", "forward_dynamics")


def scaling(sizes: Iterable[int], make_peer: MakePeer | None, progress: Progress) -> tuple[ScalingPoint, ...]:
    """Time chains of the given numbers of bodies, interleaved with the peer's."""
    points = []
    for n in sizes:
        effort = Effort(batch=256, blocks=9, threads=1)
        timed = time_robot(
            robots.chain(n), make_peer=make_peer, effort=effort, algorithms=ALGORITHMS, progress=progress
        )
        points += [ScalingPoint(n, timed.nv, r.algorithm, r.call, r.batch, r.peer_call) for r in timed.rows]
    return tuple(points)


def exponent(points: Iterable[ScalingPoint], algorithm: str, field: str = "batch") -> float | None:
    """The power of the number of bodies by which a time grows: 1 is linear; None with fewer than two sizes."""
    pairs = [
        (p.bodies, getattr(p, field)) for p in points if p.algorithm == algorithm and getattr(p, field) is not None
    ]
    if len(pairs) < 2:
        return None
    n, t = np.log(np.array(pairs, dtype=float)).T
    return float(np.polyfit(n, t, 1)[0])
