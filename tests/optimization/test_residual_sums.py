"""Sums of squared residuals by compiled code, beside their definition in NumPy."""


import numpy as np
import pytest
from seeds import fresh

from freeflyer.optimization import solve_qp
from freeflyer.optimization.problem import quadratic_program, squared_residuals


@pytest.fixture
def rng():
    return fresh()


def by_numpy(p, x, y):
    """Limits, stationarity, values of the rows, sizes of the gradient's terms, objective."""
    C = p.rows()
    value, gradient = C @ x, p.H @ x
    off = np.minimum(np.maximum(value + y, p.lower), p.upper) - value
    missing = gradient + p.g + C.T @ y
    return off @ off, missing @ missing, value @ value, gradient @ gradient + p.g @ p.g, 0.5 * x @ gradient + p.g @ x


def program(rng, n, m, bounds):
    J, A = rng.standard_normal((n + 2, n)), rng.standard_normal((m, n))
    lower, upper = rng.uniform(-2.0, -1.0, m), rng.uniform(1.0, 2.0, m)
    lower[: m // 3] = upper[: m // 3]
    lower[m // 2 :] = -np.inf
    limits = (-np.ones(n), np.full(n, np.inf)) if bounds else (None, None)
    return quadratic_program(J.T @ J, rng.standard_normal(n), A, lower, upper, *limits)


@pytest.mark.parametrize("bounds", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (7, 5), (33, 48)])
def test_sums_are_their_definition(n, m, bounds, rng):
    p = program(rng, n, m, bounds)
    x, y = rng.standard_normal(n), rng.standard_normal(len(p.lower))
    for multipliers in (y, np.where(rng.random(len(y)) < 0.5, 0.0, y)):
        np.testing.assert_allclose(squared_residuals(p, x, multipliers), by_numpy(p, x, multipliers), rtol=1e-11, atol=1e-13)


def test_a_solution_has_none_and_any_error_shows(rng):
    p = program(rng, 9, 8, True)
    s = solve_qp(p.H, p.g, p.A, p.lower[9:], p.upper[9:], p.lower[:9], p.upper[:9])
    assert max(squared_residuals(p, s.x, s.dual)[:2]) < 1e-20
    for k in range(9):
        assert max(squared_residuals(p, s.x + 1e-5 * np.eye(9)[k], s.dual)[:2]) > 1e-16
    for k in range(len(s.dual)):
        assert max(squared_residuals(p, s.x, s.dual + 1e-5 * np.eye(len(s.dual))[k])[:2]) > 1e-16


def test_matrices_of_any_layout(rng):
    p = program(rng, 6, 4, False)
    x, y = rng.standard_normal(6), rng.standard_normal(4)
    turned = p._replace(H=np.asfortranarray(p.H), A=np.asfortranarray(p.A), g=np.repeat(p.g, 2)[::2])
    assert squared_residuals(turned, x, y) == squared_residuals(p, x, y)


def test_what_is_no_number_and_limits_that_cross_have_no_sums(rng):
    p = program(rng, 6, 4, False)
    x, y = rng.standard_normal(6), rng.standard_normal(4)
    assert squared_residuals(p, np.where(np.arange(6) == 2, np.nan, x), y) is None
    assert squared_residuals(p._replace(H=np.where(np.eye(6), np.inf, p.H)), x, y) is None
    assert squared_residuals(p._replace(lower=p.upper + 1.0), x, y) is None
