"""The coefficient of multiple correlation of waveforms whose sums are known in closed form."""

import numpy as np
import pytest
from closeness import close, rounding
from seeds import fresh

import freeflyer as ff

F = 360
SINE, COSINE = (f(np.linspace(0.0, 2.0 * np.pi, F, endpoint=False)) for f in (np.sin, np.cos))  # sums of squares F / 2


def cmc(*waveforms: np.ndarray) -> float:
    return float(ff.analysis.multiple_correlation(list(waveforms)))


def test_identical_waveforms_have_one():
    assert cmc(SINE, SINE) == cmc(SINE, SINE, SINE) == 1.0
    assert cmc(np.ones(4), np.ones(4)) == 1.0


@pytest.mark.parametrize("offset", [0.01, 0.3, 1.0])
def test_offsets(offset):
    """Apart by c: 2 F c^2 / 4 between, and that with F in all."""
    ratio = (offset**2 / 2.0) / ((F + F * offset**2 / 2.0) / (2 * F - 1))
    close(cmc(SINE, SINE + offset), np.sqrt(1.0 - ratio), rounding(45 * F))


@pytest.mark.parametrize("gain", [0.5, 0.9, 1.3])
def test_gains(gain):
    """(1 - g)^2 F / 4 between, (1 + g^2) F / 2 in all."""
    ratio = ((1.0 - gain) ** 2 / 4.0) / ((1.0 + gain**2) * F / 2.0 / (2 * F - 1))
    close(cmc(SINE, gain * SINE), np.sqrt(1.0 - ratio), rounding(45 * F))


@pytest.mark.parametrize("phase", [0.05, 0.7, 1.5])
def test_phases(phase):
    """|1 - e^ip|^2 / 4 between; cos(p) but for the number of samples."""
    ratio = (1.0 - np.cos(phase)) / 2.0 * (2 * F - 1) / F
    shifted = np.cos(phase) * SINE + np.sin(phase) * COSINE
    close(cmc(SINE, shifted), np.sqrt(1.0 - ratio), rounding(45 * F))
    assert cmc(SINE, shifted) ** 2 == pytest.approx(np.cos(phase), abs=1.0 / F)


def test_waveforms_with_nothing_in_common():
    assert cmc(SINE, COSINE) == pytest.approx(np.sqrt(1.0 / (2 * F)))
    assert np.isnan(cmc(SINE, -SINE))


def test_several_methods_and_motions():
    """The sums over three methods and two motions, written out; and leading axes as calls of their own."""
    Y = fresh().standard_normal((5, 2, 3, 7)) + 10.0 * np.sin(np.arange(7))
    for found, sample in zip(ff.analysis.multiple_correlation(Y), Y):
        within = total = 0.0
        for motion in sample:
            for p in range(3):
                for f in range(7):
                    within += (motion[p, f] - motion[:, f].mean()) ** 2 / (2 * 7 * 2)
                    total += (motion[p, f] - motion.mean()) ** 2 / (2 * 20)
        close(found, np.sqrt(1.0 - within / total), rounding(450))
    one = ff.analysis.multiple_correlation(Y[:, :1])
    close(one, np.array([cmc(*sample[0]) for sample in Y]), rounding(450))


def test_order_offset_and_unit_do_not_count():
    a, b, c = fresh().standard_normal((3, 40)) + 5.0 * np.sin(np.arange(40))
    close(cmc(c, a, b), cmc(a, b, c), rounding(4500))
    close(cmc(7.0 * a + 3.0, 7.0 * b + 3.0, 7.0 * c + 3.0), cmc(a, b, c), rounding(45000))


BAD = [np.zeros(5), np.zeros((1, 5)), np.zeros((2, 1)), np.zeros((0, 2, 5)), np.full((2, 5), np.nan), "waves"]


@pytest.mark.parametrize("bad", BAD)
def test_bad_input(bad):
    with pytest.raises(ff.InputError, match="waveforms"):
        ff.analysis.multiple_correlation(bad)
