"""The parts of a benchmark: the clock takes turns, means and exponents are right, large robots keep batches in memory."""

from __future__ import annotations

import numpy as np
import pytest

from freeflyer import robots
from freeflyer.analysis.checks.laws import random_states
from freeflyer.analysis.timing import measured
from freeflyer.analysis.timing.algorithms import ALGORITHMS, batch_call, outermost_frame, single_call
from freeflyer.analysis.timing.results import BatchPoint, ScalingPoint, Timing, geometric_mean, time_interleaved
from freeflyer.analysis.timing.runner import Effort, call_overhead, exponent, largest_batch, parts, scaling, time_robot
from freeflyer.errors import FreeflyerError
from freeflyer.progress import no_progress


def test_contestants_take_turns():
    order = []
    time_interleaved([lambda: order.append("a"), lambda: order.append("b")], blocks=4, block_seconds=0.0)
    blocks = "".join(order)[-16:]  # four blocks each of one call, behind one that is not timed, after those that find their size
    assert blocks == 4 * "aabb"


def test_garbage_collection_is_restored():
    import gc

    with pytest.raises(ZeroDivisionError):
        time_interleaved([_fails_at(12)], blocks=20, block_seconds=0.0)
    assert gc.isenabled()


def _fails_at(n):
    left = iter(range(n))
    return lambda: next(left, None) is None and 1 / 0


def test_the_mean_is_geometric_and_skips_what_is_missing():
    assert geometric_mean([2.0, None, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([None]) is None


def test_exponents():
    points = [ScalingPoint(n, n, "x", 2.0 * n, 0.5 * n**2, None) for n in (10, 100)]
    assert exponent(points, "x", "call") == pytest.approx(1.0)
    assert exponent(points, "x", "batch") == pytest.approx(2.0)
    assert exponent(points, "x", "peer_call") is None


def test_the_price_of_a_call_is_where_the_line_begins():
    def point(n, us):
        return BatchPoint("x", n, Timing("a", 1.0, None, us / n, us / n, None, None, None, None, None, None))

    points = [point(64, 5.0 + 64 * 0.5), point(16, 5.0 + 16 * 0.5), point(512, 999.0)]
    assert call_overhead(points, "x", "a") == pytest.approx(5.0)
    assert call_overhead([point(16, 1.0)], "x", "a") is None


def test_scaling_times_each_size():
    points = scaling((2, 4), None, no_progress)
    assert [(p.bodies, p.algorithm) for p in points] == [
        (n, a) for n in (2, 4) for a in ("inverse_dynamics", "forward_dynamics")
    ]
    assert all(p.call > 0 and p.batch > 0 for p in points)


def test_batches_of_large_robots_fit_into_memory():
    assert largest_batch(39) > 4096
    assert largest_batch(1000) == 64
    assert largest_batch(10**6) == 8
    timed = time_robot(
        robots.chain(2), effort=Effort(batch=16, blocks=3, block_seconds=0.0), algorithms=("mass_matrix",)
    )
    assert timed.batch_size == 16


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_one_state_and_the_batch_give_the_same(algorithm):
    model = robots.chain(4, base="free")
    x, frame = random_states(model, 9), outermost_frame(model)
    one = parts(single_call(model, algorithm, x, frame)(), algorithm.axes)
    many = parts(batch_call(model, algorithm, x, frame)(), algorithm.axes)
    for (single, _), (states, _) in zip(one, many, strict=True):
        np.testing.assert_allclose(states[0], single, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(single).max()))


def test_the_outermost_frame_is_the_deepest_link():
    assert outermost_frame(robots.chain(5)) == "link_5"


def test_imports_are_timed_in_fresh_processes(monkeypatch):
    monkeypatch.setattr(measured, "REPEATS", 1)
    said = []
    result = measured.start_times((), lambda _, what: said.append(what))
    assert result.import_warm > 0
    assert result.import_cold > 0
    assert len(said) == 2


def test_a_process_that_fails_is_reported():
    with pytest.raises(FreeflyerError, match="ended with code 1: ValueError: no luck"):
        measured._run("raise ValueError('no luck')")
