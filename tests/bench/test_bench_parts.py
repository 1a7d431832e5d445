"""Parts of benchmarks: timings, their means and exponents, and cycles of control beside peers."""

import freeflyer as ff
import itertools
import numpy as np
import pytest
from benchmarks.hierarchies import OWN, hierarchies_table, hierarchy_times, record
from benchmarks.peers import SOLVERS
from benchmarks.standing import REACHES, TOLERANCE, motion, own_solver, reach, reach_table, reach_times, standing_times, talos
from benchmarks.tsid_peer import tsid_contestants
from dataclasses import replace
from freeflyer.analysis.timing import algorithms
from freeflyer.analysis.timing.control_cycles import Contestant, cycle_times, cycles_table
from freeflyer.analysis.timing.measured import robot_table
from freeflyer.analysis.timing.results import RobotTimings, Timing, geometric_mean, time_interleaved
from freeflyer.analysis.timing.runner import Effort, call_overhead, exponent, time_robot
from freeflyer.control.limits import PositionBounds
from freeflyer.progress import no_progress
from robots_on_disk import needs_examples
from types import SimpleNamespace

def test_takes_means_and_exponents():
    order = []
    time_interleaved([lambda: order.append("a"), lambda: order.append("b")], blocks=4, block_seconds=0.0)
    blocks = "".join(order)[-16:]  # four blocks each of one call, behind one that is not timed, after those that find their size
    assert (blocks, geometric_mean([2.0, None, 8.0])) == (4 * "aabb", pytest.approx(4.0))
    assert geometric_mean([None]) is None

    def timed(bodies, states, call, batch):
        row = Timing("x", call, None, batch, batch, None)
        return RobotTimings("chain", bodies, bodies, bodies, states, 1, 3, 3, (row,), None)

    points = [timed(n, 256, 2.0 * n, 0.5 * n**2) for n in (10, 100)]
    assert exponent(points, "x", "call") == pytest.approx(1.0)
    assert exponent(points, "x", "batch") == pytest.approx(2.0)
    assert exponent(points, "x", "batch_threads") is None
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


def test_turns_and_percentiles():
    seen = []
    contestants = [Contestant("a", lambda x: seen.append(("a", x)), [(0,), (1,), (2,)]),
        Contestant("b", lambda x, y: seen.append(("b", x + y)), [(5, 5), (6, 6), (7, 7)])]  # fmt: skip
    times = cycle_times(contestants, rounds=2, turn=1)
    assert seen == 3 * [("a", 0), ("b", 10), ("a", 1), ("b", 12), ("a", 2), ("b", 14)]  # the first round does not count
    assert [t.cycles for t in times] == [6, 6]
    ticks = itertools.chain.from_iterable((0.0, 1e-3 if k == 700 else 1e-6) for k in range(1000))
    (timing,) = cycle_times([Contestant("a", lambda: None, 1000 * [()])], rounds=1, clock=lambda: next(ticks))
    assert timing.median == pytest.approx(1.0)
    assert timing.slow > 1.9  # between the slowest cycle and the one before it
    assert timing.slowest == pytest.approx(1000.0)
    table = cycles_table([timing], "cycles")
    assert len(table.rows[0]) == len(table.columns)


@needs_examples
def test_the_feet_rest_along_the_motion_and_velocities_are_its_rates():
    p = talos()
    count, period = 4000, 2.0
    q, v = motion(p, count, period)
    for foot, X in zip(p.feet, p.places, strict=True):
        assert np.abs(ff.frame_pose(p.model, q, foot)[:, :3, 3] - X[:3, 3]).max() < 2e-3
        np.testing.assert_allclose(ff.frame_velocity(p.model, q[0], v[0], foot), 0.0, atol=1e-10)
    rates = ff.difference(p.model, q[:-2], q[2:]) / (2.0 * period / count)
    np.testing.assert_allclose(rates, v[1:-1], atol=1e-4)
    assert (np.abs(v[:, 6:]) < p.velocity).all()


@pytest.mark.peers
@needs_examples
def test_peers_of_inverse_kinematics():
    for times, note in (standing_times(tsid_contestants, count=3, rounds=1), reach_times([(0.02, 0.5, False)], 1, 0.0,
        SOLVERS)):
        assert all(t.name.startswith(("TSID", "pink", "mink", "freeflyer")) for t in times)
        assert note.startswith("no peer: ") or len(times) in (3, 5)  # TSID has two solvers beside our three ways
    times, note = reach_times([(0.02, 0.5, False), (0.4, 1.5, True)], 1, 0.0, SOLVERS)
    assert all(t.error <= 2.0 * TOLERANCE and 0 < t.steps < 10 and t.time > 0.0 for t in times)
    table = reach_table(times, note)
    assert all(len(row) == len(table.columns) for row in table.rows)
    # Its limits are active for peers, too: without them some joint would be beyond
    r = reach(*REACHES[1])
    q, _ = own_solver(r)()
    bounds = PositionBounds.of(r.problem.model, True)
    assert bounds.active(q)
    assert bounds.gap(q).max() <= 1e-9
    q, _ = own_solver(replace(r, limits=False))()
    assert bounds.gap(q).max() > 1e-3
