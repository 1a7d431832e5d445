"""The measure of closeness and the differences that other tests rely on, and the formulas of their errors."""

import numpy as np
import pytest
from closeness import (
    STEP,
    close,
    close_to_differences,
    close_to_slopes,
    distance,
    refused,
    slopes,
)
from seeds import fresh


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


def test_noise_and_the_worst_entry():
    rng = fresh()
    with pytest.raises(AssertionError, match=r"noise: differences by steps from 0\.001 down agree to"):
        close_to_differences(np.zeros(4), lambda h: rng.standard_normal(4) * 1e-6 / h, tolerance=1e-8, what="noise")
    expected = np.ones((2, 3, 3))
    found = expected.copy()
    found[1, 2, 0] += 1e-3
    with pytest.raises(AssertionError, match=r"M: relative error 0.001 at \[1, 2, 0\], 1 of 18 entries beyond 1e-06: 1.00"):
        close(found, expected, 1e-6, what="M")
    close(found, expected, 2e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_not_close(bad):
    assert distance(np.array([1.0, bad]), np.ones(2)) == np.inf
    refused(AssertionError, "relative error inf", close, np.array([1.0, bad]), np.ones(2), np.inf if np.isnan(bad) else 1e300)
