"""The parts of a benchmark: the clock takes turns, means and exponents are right, large robots keep batches in memory. Recorded
hierarchies: solvers agree on what can be met, and the table says who fails."""

import freeflyer as ff
import numpy as np
import pytest
from benchmarks.hierarchies import OWN, hierarchies_table, hierarchy_times, record
from freeflyer.analysis.timing import algorithms
from freeflyer.analysis.timing.measured import robot_table
from freeflyer.analysis.timing.results import RobotTimings, Timing, geometric_mean, time_interleaved
from freeflyer.analysis.timing.runner import Effort, call_overhead, exponent, time_robot
from freeflyer.progress import no_progress
from types import SimpleNamespace


def test_takes_means_and_exponents():
    order = []
    time_interleaved([lambda: order.append("a"), lambda: order.append("b")], blocks=4, block_seconds=0.0)
    blocks = "".join(order)[-16:]  # four blocks each of one call, behind one that is not timed, after those that find their size
    assert (blocks, geometric_mean([2.0, None, 8.0])) == (4 * "aabb", pytest.approx(4.0))
    assert geometric_mean([None]) is None

    def timed(bodies, states, call, batch):
        row = Timing("x", call, None, batch, batch, None, None, None, None, None, None)
        return RobotTimings("chain", bodies, bodies, bodies, states, 1, 3, 3, (row,), None)

    points = [timed(n, 256, 2.0 * n, 0.5 * n**2) for n in (10, 100)]
    assert exponent(points, "x", "call") == pytest.approx(1.0)
    assert exponent(points, "x", "batch") == pytest.approx(2.0)
    assert exponent(points, "x", "peer_call") is None
    points = [timed(1, n, 1.0, us / n) for n, us in ((64, 5.0 + 64 * 0.5), (16, 5.0 + 16 * 0.5), (512, 999.0))]
    assert call_overhead(points, "x") == pytest.approx(5.0)
    assert call_overhead(points[:1], "x") is None
    assert call_overhead(points, "y") is None


def test_code_for_the_robot_has_columns_of_its_own():
    effort = Effort(batch=8, blocks=3, block_seconds=1e-4, threads=1, specialize=True)
    names = ("center_of_mass", "kinetic_energy")
    timed = time_robot(ff.robots.chain(2), effort=effort, algorithms=names)
    assert [t.special_call is not None for t in timed.rows] == [True, False]
    assert timed.rows[0].gain_call * timed.rows[0].special_call == pytest.approx(timed.rows[0].call)
    shown = robot_table(timed)
    assert shown.columns.count("gain") == 3
    assert all(len(row) == len(shown.columns) for row in shown.rows)


def test_records_and_solvers():
    found = {t.solver: t for t in hierarchy_times(no_progress, 20)}
    assert ((found[OWN].problems, found["daqp"].problems), found[OWN].worse) == ((20, 2), 0)
    assert all(0.0 < t.median <= t.p99 for t in found.values())
    assert len(hierarchies_table(tuple(found.values())).rows) == len(found)
    first, again = list(record(4)), list(record(4))
    assert [len(p.g) for p in first] == [51, 30, 51, 30]
    for a, b in zip(first, again):
        for one, other in zip(a.levels, b.levels, strict=True):
            np.testing.assert_array_equal(one.A, other.A)


def test_states_at_which_contacts_may_contradict_are_replaced():
    """By the first state whose rows are independent; rows of the others are equal."""
    flat = SimpleNamespace(jacobian=lambda q: np.stack([q, q * [1.0, 2.0]], axis=-2))
    bent, straight = np.array([0.3, 0.8]), np.array([1.0, 0.0])
    q, v = algorithms._regular(flat, [np.stack([straight, bent, straight]), np.arange(6.0).reshape(3, 2)])
    assert (q == bent).all()
    assert (v == [2.0, 3.0]).all()
