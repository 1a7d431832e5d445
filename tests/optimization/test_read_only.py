"""Programs whose arrays nobody may write to."""

from __future__ import annotations

import numpy as np

import freeflyer as ff


def test_read_only_arrays_are_solved():
    given = [np.eye(2), np.array([-3.0, -0.5]), np.eye(2), np.zeros(2), np.ones(2)]
    for x in given:
        x.flags.writeable = False
    np.testing.assert_allclose(ff.optimization.solve_qp(*given).x, [1.0, 0.5], rtol=1e-9)
