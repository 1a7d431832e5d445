"""The benchmark of control cycles: turns, counts, percentiles; the motion along which it goes; the table of inverse kinematics."""

import freeflyer as ff
import itertools
import numpy as np
import pytest
from benchmarks.peers import SOLVERS
from benchmarks.standing import REACHES, TOLERANCE, motion, own_solver, reach, reach_table, reach_times, standing_times, talos
from benchmarks.tsid_peer import tsid_contestants
from dataclasses import replace
from freeflyer.analysis.timing.control_cycles import Contestant, cycle_times, cycles_table
from freeflyer.control.limits import PositionBounds
from robots_on_disk import needs_examples


def test_turns_and_percentiles():
    seen = []
    contestants = [
        Contestant("a", lambda x: seen.append(("a", x)), [(0,), (1,), (2,)]),
        Contestant("b", lambda x, y: seen.append(("b", x + y)), [(5, 5), (6, 6), (7, 7)]),
    ]
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
