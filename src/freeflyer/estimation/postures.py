"""Postures of a closed robot that its motors can reach from where it was drawn, without jumping to another assembly."""

from __future__ import annotations

import numpy as np

from freeflyer.errors import AssemblyError, InputError, LinkageError
from freeflyer.estimation.sensing import Sensors
from freeflyer.linkages.motion import keep_closed
from freeflyer.tolerances import DEFAULT_STROKE

STEPS = 12  # a stroke is gone in so many steps


def strokes(s: Sensors) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) (n,): limits of the measured joints, a finite range about the drawn posture where there are none."""
    here = s.partition.q[s.positions]
    lower = np.where(np.isfinite(s.lower), s.lower, here - 0.5 * DEFAULT_STROKE)
    return lower, np.where(np.isfinite(s.upper), s.upper, here + 0.5 * DEFAULT_STROKE)


def reach(s: Sensors, target: np.ndarray) -> np.ndarray | None:
    """q (nq,) with the measured joints at target (n,), led there from the drawn posture; None if the linkage does not follow."""
    q = s.partition.q.copy()
    first = q[s.positions]
    inside = _is_inside(s, q)
    for k in range(1, STEPS + 1):
        q[s.positions] = first + (target - first) * k / STEPS
        try:
            q = keep_closed(s.model, q)[0]
        except (AssemblyError, LinkageError):
            return None
        if inside and not _is_inside(s, q):
            return None
    return q


def random_postures(s: Sensors, count: int, rng: np.random.Generator, share: float = 1.0) -> np.ndarray:
    """q (count, nq): strokes drawn at random from a share of their ranges, joints within their limits, loops closed."""
    lower, upper = strokes(s)
    middle, half = 0.5 * (lower + upper), 0.5 * share * (upper - lower)
    found: list[np.ndarray] = []
    for _ in range(60 * count):
        q = reach(s, rng.uniform(middle - half, middle + half))
        if q is not None:
            found.append(q)
        if len(found) == count:
            return np.array(found)
    raise InputError(
        f"of {60 * count} random strokes of {s.model.name!r} only {len(found)} can be reached with loops closed and joints within "
        f"their limits ({count} wanted): draw them from a smaller share of their ranges",
        found=len(found),
    )  # fmt: skip


def _is_inside(s: Sensors, q: np.ndarray) -> bool:
    from freeflyer.linkages.closure import position_limits

    lower, upper = position_limits(s.model)
    return bool((q >= lower - 1e-6).all() and (q <= upper + 1e-6).all())
