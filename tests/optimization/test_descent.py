"""Steps where many limits meet: the slope projected onto what limits of levels above allow, and how far it is followed."""

import numpy as np
from freeflyer.kernels import plain
from freeflyer.kernels.optimization.descent import lengthen, steepest
from scipy.optimize import nnls
from seeds import fresh

WIDTH = 8


def test_the_step_is_the_projected_slope_to_the_least_value():
    """Against non-negative least squares; squares of the level, and of its limits that are passed, are least along the step."""
    rng, descend, follow, steps = fresh(), plain.function(steepest, row_step=8), plain.function(lengthen, row_step=8), 0
    for _ in range(15):
        n, above, own = 6, int(rng.integers(1, 9)), 3
        m, ends = above + 2 * own, np.array([above, above + 2 * own])
        T, y = np.zeros((m, WIDTH)), np.zeros(WIDTH)
        T[:, :n], y[:n] = rng.standard_normal((m, n)), rng.standard_normal(n)
        sides = np.concatenate([rng.choice([-1.0, 1.0], above), np.full(own, 2.0), rng.choice([-1.0, 1.0], own)])
        residuals = np.concatenate([np.zeros(above), rng.standard_normal(own), np.zeros(own)])
        held, multipliers, d, parts = np.zeros(m), np.zeros(m), np.zeros(WIDTH), np.zeros(m + 8)
        level = descend(2, ends, held, sides, T.ravel(), residuals, y, 1e-9, m, n, WIDTH, multipliers, d, parts)
        C, slope = (sides[:, None] * T)[:above], residuals @ T
        found, left = nnls(C.T, -slope)
        if left < 1e-9:
            assert level != 1
            continue
        steps += 1
        assert level == 1
        np.testing.assert_allclose(d, -slope - found @ C, atol=1e-9)
        np.testing.assert_allclose(multipliers[:above], found * np.linalg.norm(C, axis=1), atol=1e-9)
        np.testing.assert_array_equal(held[:above] != 0.0, found > 1e-9)
        follow(2, ends, level, held, sides, T.ravel(), m, WIDTH, d)
        passed = sides * (T @ d) > 0.0
        np.testing.assert_array_equal((held != 0.0)[above + own :], passed[above + own :])
        counted = np.concatenate([np.zeros(above, bool), np.ones(own, bool), passed[above + own :]])
        assert abs(((residuals + T @ d) * (T @ d))[counted].sum()) < 1e-9
    assert steps >= 5
