"""Cost against the number of bodies: the paper's tables in NumPy, the compiled derivatives, finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freeflyer.analysis.timing.clock import time_interleaved
from freeflyer.dynamics.derivatives import inverse_dynamics_derivatives
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.evaluate import get_threads, set_threads
from freeflyer.dynamics.manifold import integrate
from freeflyer.model.configuration import random_configuration
from freeflyer.model.model import Model
from freeflyer.progress import Progress
from freeflyer.robots import chain
from freeflyer_papers.linearization.results import Cost
from freeflyer_papers.printed import geometric

SIZES = (5, 10, 20, 50, 100, 200, 300)
LARGEST_TABLES = 200  # bodies: beyond, NumPy would take the reader's time and show nothing new
STEP = 1e-7
BLOCKS, BLOCK_SECONDS = 11, 0.01


def costs(progress: Progress, sizes: tuple[int, ...]) -> tuple[Cost, ...]:
    """Medians of time_interleaved blocks of calls, one state each, on chains with a floating base; on one thread."""
    found, threads = [], get_threads()
    set_threads(1)
    try:
        for n in sizes:
            progress(0.0, f"cost of all derivatives, {n} bodies")
            found.append(_cost(n))
    finally:
        set_threads(threads)
    return tuple(found)


def exponent(points: tuple[Cost, ...], field: str, smallest: int = 20) -> float | None:
    """The power of the number of bodies by which a time grows, from `smallest` bodies on."""
    pairs = [(c.bodies, getattr(c, field)) for c in points if c.bodies >= smallest and getattr(c, field) is not None]
    if len(pairs) < 2:
        return None
    n, t = np.log(np.array(pairs, float)).T
    return float(np.polyfit(n, t, 1)[0])


def _cost(n: int) -> Cost:
    model, rng = chain(n, base="free"), np.random.default_rng(n)
    q = random_configuration(model, rng)
    v, a = rng.standard_normal((2, model.nv))
    calls: list[Callable[[], object]] = [
        lambda: inverse_dynamics_derivatives(model, q, v, a),
        lambda: differences(model, q, v, a),
    ]
    if n <= LARGEST_TABLES:
        calls.append(lambda: geometric.inverse_dynamics_derivatives(model, q, v, a))
    times = time_interleaved(calls, BLOCKS, BLOCK_SECONDS)
    return Cost(n, model.nv, times[2] if len(times) > 2 else None, times[0], times[1])


def differences(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """d tau / d q, v, a by one-sided geometric differences of the compiled inverse dynamics: one batch of 3 nv states."""
    nv, moves = model.nv, STEP * np.eye(model.nv)
    Q, V, A = np.tile(q, (3 * nv, 1)), np.tile(v, (3 * nv, 1)), np.tile(a, (3 * nv, 1))
    Q[:nv], V[nv : 2 * nv], A[2 * nv :] = integrate(model, q, moves), v + moves, a + moves
    slopes = (inverse_dynamics(model, Q, V, A) - inverse_dynamics(model, q, v, a)) / STEP
    return slopes[:nv].T, slopes[nv : 2 * nv].T, slopes[2 * nv :].T
