"""Recorded hierarchies: solvers agree on what can be met, and the table says who fails."""

import numpy as np

from benchmarks.hierarchies import OWN, hierarchies_table, hierarchy_times, record
from freeflyer.progress import no_progress


def test_solvers_are_timed_on_the_same_hierarchies():
    found = {t.solver: t for t in hierarchy_times(no_progress, 20)}
    assert (found[OWN].problems, found["daqp"].problems) == (20, 2)
    assert found[OWN].worse == 0
    assert all(0.0 < t.median <= t.p99 for t in found.values())
    assert len(hierarchies_table(tuple(found.values())).rows) == len(found)


def test_records_are_of_both_robots_and_repeat():
    first, again = list(record(4)), list(record(4))
    assert [len(p.g) for p in first] == [51, 30, 51, 30]
    for a, b in zip(first, again):
        for one, other in zip(a.levels, b.levels, strict=True):
            np.testing.assert_array_equal(one.A, other.A)
