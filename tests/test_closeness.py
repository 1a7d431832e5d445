"""The measure of closeness and the differences that other tests rely on, and the formulas of their errors."""

import numpy as np
import pytest
from closeness import (
    EPS,
    STEP,
    TINY,
    central,
    close,
    close_to_differences,
    close_to_slopes,
    complex_slopes,
    distance,
    rounding,
    slope_error,
    slopes,
    slopes_at_once,
)
from seeds import fresh


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("h", [1e-1, 1e-2, STEP, 1e-4, 1e-6])
def test_differences_err_no_more_than_their_formula(h, order):
    """Of sines of rate up to 10, whose derivatives grow as the formula assumes."""
    phase = fresh(order).uniform(-1.0, 1.0, 100)
    for rate in (1.0, 10.0):
        error = np.abs(central(lambda t, rate=rate: np.sin(rate * t + phase), h, order) - rate * np.cos(phase))
        bound = slope_error(h, rate, order)
        assert error.max() < 1.01 * bound + rounding(8.0, rate)
        if rate * h < 0.5 and bound > 1e-10:
            assert error.max() > 1e-2 * bound  # nor is the formula generous


def test_derivatives_of_a_known_function():
    A = fresh().standard_normal((3, 4))
    close(slopes(lambda e: A @ np.sin(e), 4), A, slope_error(rate=1.0))
    close(slopes_at_once(lambda e: np.sin(e) @ A.T, 4), A, slope_error(rate=1.0))
    close(complex_slopes(lambda e: A @ np.sin(e), 4), A, rounding(4.0))
    close(complex_slopes(lambda u: np.sin(1.0 + u), 1), np.array([[np.cos(1.0)]]), rounding(4.0))
    assert TINY < EPS**1.8


@pytest.mark.parametrize("rate", [1.0, 30.0, 1000.0, 30000.0])
def test_steps_become_fine_enough_for_the_function(rate):
    """Whatever its rate, what is right passes and what is off by 1e-6 does not; of 3e4, steps of 1e-3 tell nothing."""
    A, phase = fresh().standard_normal((3, 4)), fresh(1).uniform(-1.0, 1.0, 4)
    exact = A * (rate * np.cos(phase))
    if rate * STEP > 0.02:
        assert distance(slopes(lambda e: A @ np.sin(rate * e + phase), 4), exact) > 1e-8
    close_to_slopes(exact, lambda e: A @ np.sin(rate * e + phase), tolerance=1e-8)
    with pytest.raises(AssertionError, match="slope: relative error"):
        close_to_slopes(exact * (1.0 + 1e-6), lambda e: A @ np.sin(rate * e + phase), tolerance=1e-8, what="slope")


def test_what_has_no_known_slope_is_not_accepted():
    rng = fresh()
    with pytest.raises(AssertionError, match=r"noise: differences by steps from 0\.001 down agree to"):
        close_to_differences(np.zeros(4), lambda h: rng.standard_normal(4) * 1e-6 / h, tolerance=1e-8, what="noise")


def test_the_worst_entry_is_named():
    expected = np.ones((2, 3, 3))
    found = expected.copy()
    found[1, 2, 0] += 1e-3
    with pytest.raises(AssertionError, match=r"M: relative error 0.001 at \[1, 2, 0\], 1 of 18 entries beyond 1e-06: 1.00"):
        close(found, expected, 1e-6, what="M")
    close(found, expected, 2e-3)


def test_each_of_a_batch_is_held_against_its_own_size():
    expected = np.array([[1e6, 1.0], [1e-3, 0.0]])
    found = expected + np.array([[0.0, 0.0], [0.0, 1e-4]])
    assert distance(found, expected) == pytest.approx(1e-10)
    assert distance(found, expected, 1) == pytest.approx(1e-4)
    assert distance(found, expected, 1, least=0.0) == pytest.approx(0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_not_close(bad):
    assert distance(np.array([1.0, bad]), np.ones(2)) == np.inf
    with pytest.raises(AssertionError, match="relative error inf"):
        close(np.array([1.0, bad]), np.ones(2), np.inf if np.isnan(bad) else 1e300)


def test_shapes_and_empty_arrays():
    with pytest.raises(AssertionError, match=r"shape \(2,\) instead of \(1, 2\)"):
        close(np.ones(2), np.ones((1, 2)), 1.0)
    close(np.empty((0, 3)), np.empty((0, 3)), 1e-16, axes=1)
    assert distance(np.empty((2, 0, 3)), np.empty((2, 0, 3)), 2) == 0.0
