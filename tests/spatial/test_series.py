"""The scalar functions behind exp and log, against 60-digit arithmetic, on both sides of their switch."""

import mpmath as mp
import numpy as np
import pytest
from spatial_samples import ALL_ANGLES

from freeflyer.errors import InputError
from freeflyer.spatial import _series as series
from freeflyer.tolerances import SERIES_SWITCH

X = np.unique(np.concatenate([np.square(ALL_ANGLES), SERIES_SWITCH * (1.0 + np.array([-1e-15, 0.0, 1e-15]))]))


def sinc(x):
    return mp.sin(mp.sqrt(x)) / mp.sqrt(x)


def cosc(x):
    return (1 - mp.cos(mp.sqrt(x))) / x


def sinc3(x):
    return (1 - sinc(x)) / x


def half_cot(x):
    return mp.sqrt(x) / 2 * mp.cot(mp.sqrt(x) / 2)


def cotc(x):
    return (1 - half_cot(x)) / x


def slope(f):
    return lambda x: mp.diff(f, x, h=x * mp.mpf("1e-20"))


CASES = {
    "sinc": sinc, "cosc": cosc, "sinc3": sinc3, "half_cot": half_cot, "cotc": cotc,
    "sinc_slope": slope(sinc), "cosc_slope": slope(cosc), "sinc3_slope": slope(sinc3), "cotc_slope": slope(cotc),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_accuracy(name):
    """Relative to |f| + |x f'|, the change of f when x is rounded; zero stands for 1e-40, the same to 40 digits."""
    f = CASES[name]
    with mp.workdps(120):
        xs = [mp.mpf(float(x)) if x > 1e-40 else mp.mpf("1e-40") for x in X]
        truth = np.array([float(f(x)) for x in xs])
        scale = np.abs(truth) + np.array([float(abs(x * slope(f)(x))) for x in xs])
    error = np.abs(getattr(series, name)(X) - truth) / scale
    assert error.max() < (2e-14 if "slope" in name else 2e-15), (error.max(), np.sqrt(X[error.argmax()]))


@pytest.mark.parametrize("turns", [1, 2])
def test_full_turns_have_no_inverse_jacobian(turns):
    for f in (series.half_cot, series.cotc, series.cotc_slope):
        with pytest.raises(InputError, match="multiple of 2 pi"):
            f(np.array([1.0, (2 * np.pi * turns) ** 2]))


def test_absurd_angles_are_refused():
    with pytest.raises(InputError, match="1e154"):
        series.squared_angle(np.array([1e200, 0.0, 0.0]))
