"""Cost against the number of bodies: the paper's tables in NumPy, the compiled derivatives, finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freeflyer.analysis.timing.results import power, threads, time_interleaved
from freeflyer.dynamics.derivatives import inverse_dynamics_derivatives
from freeflyer.dynamics.equations import inverse_dynamics
from freeflyer.dynamics.manifold import integrate
from freeflyer.kernels.counting import CountingScalar, Operations
from freeflyer.model.configuration import random_configuration
from freeflyer.model.model import Model
from freeflyer.progress import Progress
from freeflyer.robots import chain
from freeflyer_papers.linearization.robot import Check, Cost, Counts
from freeflyer_papers.printed import geometric

SIZES = (5, 10, 20, 50, 100, 200, 300)
LARGEST_TABLES = 200  # bodies: beyond, NumPy would take the reader's time and show nothing new
STEP = 1e-7
BLOCKS, BLOCK_SECONDS = 11, 0.01


def costs(progress: Progress, sizes: tuple[int, ...]) -> tuple[Cost, ...]:
    """Medians of time_interleaved blocks of calls, one state each, on chains with a floating base; on one thread."""
    found = []
    with threads(1):
        for n in sizes:
            progress(0.0, f"cost of all derivatives, {n} bodies")
            found.append(_cost(n))
    return tuple(found)


def exponent(points: tuple[Cost, ...], field: str, smallest: int = 20) -> float | None:
    """The power of the number of bodies by which a time grows, from `smallest` bodies on."""
    return power([(c.bodies, getattr(c, field)) for c in points if c.bodies >= smallest])


def _cost(n: int) -> Cost:
    model, rng = chain(n, base="free"), np.random.default_rng(n)
    q = random_configuration(model, rng)
    v, a = rng.standard_normal((2, model.nv))
    calls: list[Callable[[], object]] = [lambda: inverse_dynamics_derivatives(model, q, v, a),
        lambda: differences(model, q, v, a)]  # fmt: skip
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


COUNTED_SIZES = (8, 16, 24, 32)  # equally spaced, so that differences show the degree of a polynomial


def count_operations(sizes: tuple[int, ...]) -> tuple[Counts, ...]:
    """Multiplications and additions of Tables 4 to 8 on chains with a floating base."""
    return tuple(_count(n) for n in sizes)


def recursive(counts: tuple[Counts, ...]) -> tuple[Check, ...]:
    """To the last operation, Table 4 is linear in the number of bodies, and Tables 5 to 8 are quadratic, as their entries are.

    So every further entry costs the same. A chain is the worst case: its depth is its number of bodies. As printed, Table 4 also
    fills a table of wrenches, one for each pair of a body and one on its way to the base, which is quadratic on a chain; its
    results do not need it, and Table 6 as printed does."""
    table_4 = np.diff([c.eidamb for c in counts], 2)
    tables_5_to_8 = np.diff([c.derivatives for c in counts], 3)
    as_printed = np.diff([c.eidamb_as_printed for c in counts], 2)
    printed = np.diff([c.by_shape_through_wrenches for c in counts], 3)
    step = counts[1].bodies - counts[0].bodies
    return (Check("RF", "Table 4 without its table of wrenches F: second difference of its operations", _largest(table_4),
        0.0), Check("RF", "Table 4 as printed: operations times bodies^2, on a chain", _largest(as_printed) / (2.0 * step**2),
        None), Check("RF", "Tables 5-8: third difference of theirs", _largest(tables_5_to_8), 0.0),
        Check("RF", "Table 6 with lines 32-48 as printed: operations times bodies^3", _largest(printed) / (6.0 * step**3),
        None))  # fmt: skip


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x).max())


def _count(n: int) -> Counts:
    model = chain(n, base="free")
    tree, joints = geometric.tree_of(model), n
    operations = Operations()
    x = CountingScalar(operations)

    def scalars(*shape: int) -> np.ndarray:
        return np.full(shape, x, object)

    def spent(f: Callable[[], Any]) -> tuple[int, Any]:
        before = operations.multiplications + operations.additions
        made = f()
        return operations.multiplications + operations.additions - before, made

    inputs = (scalars(model.nq), scalars(joints), scalars(joints), scalars(4, 4), scalars(6), scalars(6))
    eidamb, _ = spent(lambda: geometric.eidamb(tree, *inputs, wrenches=False))
    printed, e = spent(lambda: geometric.eidamb(tree, *inputs))
    return Counts(bodies=n, entries=(6 + n) * (6 + n + 6 + n), eidamb=eidamb, eidamb_as_printed=printed,
        by_pose=spent(lambda: geometric.derivative_by_pose(e))[0],
        by_shape=spent(lambda: geometric.derivative_by_shape(e, through_wrenches=False))[0],
        by_shape_through_wrenches=spent(lambda: geometric.derivative_by_shape(e))[0],
        by_base_velocity=spent(lambda: geometric.derivative_by_base_velocity(e))[0],
        by_joint_velocity=spent(lambda: geometric.derivative_by_joint_velocity(e))[0])  # fmt: skip
