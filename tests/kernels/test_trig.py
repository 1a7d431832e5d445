"""sin and cos: at most 2 units in the last place up to 1e5, and right beyond, alike for floats, rows and Packs."""

import math
import mpmath
import numpy as np
import pytest
from compiled_parts import aligned, compiled, numbers, packs
from freeflyer.kernels.backend import LANES, load, store
from freeflyer.kernels.math import trig
from seeds import fresh

ULP = 2.0

sincos_rows = compiled(lambda work, angles, sines, cosines, n: trig.sincos_row(work, angles, sines, cosines, n))


@compiled
def one_by_one(x, sines, cosines, n):
    for i in range(n):
        s, c = trig.sincos(load(x, i))
        store(sines, i, s)
        store(cosines, i, c)


def floats(x):
    s, c = np.full((2, x.size), np.nan)
    one_by_one(numbers(x), numbers(s), numbers(c), x.size)
    return s, c


def rows(x):
    """Eight joints of one state at a time."""
    n = -(-x.size // LANES) * LANES
    work = np.full(3 * n, np.nan)
    work[:n] = 0.0
    work[: x.size] = x
    sincos_rows(numbers(work), 0, n, 2 * n, n)
    return work[n : n + x.size], work[2 * n : 2 * n + x.size]


def pack_lanes(x):
    """One joint of eight states at a time."""
    n = -(-x.size // LANES)
    work = aligned(3 * LANES * n)
    work[:] = 0.0
    work[: x.size] = x
    sincos_rows(packs(work), 0, n, 2 * n, n)
    s, c = work[LANES * n : 2 * LANES * n], work[2 * LANES * n :]
    return s[: x.size], c[: x.size]


WAYS = [floats, rows, pack_lanes]


def exactly(x):
    """(sin, cos) to 80 digits, as pairs of objects."""
    with mpmath.workdps(80):
        return [(mpmath.sin(float(v)), mpmath.cos(float(v))) for v in x]


def ulps(got, exact, x):
    """Largest distance in units in the last place of the exact value, and where."""
    exact = np.asarray(exact)
    unit = np.spacing(np.abs(exact.astype(float)))
    if exact.dtype == object:
        error = np.array([abs(float(mpmath.mpf(float(g)) - e)) for g, e in zip(got, exact)]) / unit
    else:
        error = (np.abs(got - exact) / unit).astype(float)
    at = int(np.argmax(error))
    return error[at], float(x[at])


def assert_within(way, x, limit=ULP, reference=None):
    s, c = way(x)
    assert np.all(np.isfinite(s))
    assert np.all(np.isfinite(c))
    if reference is None:
        pairs = exactly(x)
        reference = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    for got, exact in zip((s, c), reference):
        worst, at = ulps(got, exact, x)
        assert worst <= limit, f"{worst} ulp at {at!r}"


def multiples(count, of=np.pi / 2):
    """The doubles around the first multiples of pi/2, those next to zeros of sin and cos."""
    with mpmath.workdps(40):
        x = np.array([float(k * mpmath.pi / 2) for k in range(1, count + 1)])
    return np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, 0.0), -x])


@pytest.mark.parametrize("way", WAYS)
def test_random_angles(way):
    rng = fresh(0)
    x = np.concatenate([rng.uniform(-np.pi, np.pi, 500), rng.uniform(-1e5, 1e5, 500),
                        10.0 ** rng.uniform(-300, 5, 300) * rng.choice([-1, 1], 300), multiples(200)])  # fmt: skip
    assert_within(way, x)


@pytest.mark.parametrize("way", WAYS)
def test_large_angles(way):
    x = np.array([np.nextafter(trig.LIMIT, 0.0), trig.LIMIT, np.nextafter(trig.LIMIT, np.inf), 1.5 * trig.LIMIT])
    assert_within(way, np.concatenate([x, -x]))
    rng = fresh(3)
    assert_within(way, np.append(10.0 ** rng.uniform(5, 22, 300) * rng.choice([-1, 1], 300), 1e22))
    # Also for the double nearest to a multiple of pi/2, whose cosine the library itself misses by some ulp
    x = np.array([1e300, 1.7976931348623157e308, 6381956970095103.0 * 2.0**797])
    s, c = way(x)
    np.testing.assert_array_equal(s, [math.sin(v) for v in x])
    np.testing.assert_array_equal(c, [math.cos(v) for v in x])


@pytest.mark.parametrize("way", WAYS)
def test_a_neighbour_out_of_range_changes_no_bit(way):
    """One huge, infinite or undefined lane alone goes to the library."""
    rng = fresh(4)
    for odd in (1e10, np.inf, -np.inf, np.nan):
        x = rng.uniform(-10, 10, LANES)
        usual = way(x)
        x[3] = odd
        found, rest = way(x), np.arange(LANES) != 3
        for a, b in zip(found, usual):
            np.testing.assert_array_equal(a[rest], b[rest])
            assert np.isfinite(odd) or np.isnan(a[3])


def test_ways_agree_to_the_bit():
    """One source: what a lane holds does not depend on how it came there."""
    x = fresh(5).uniform(-1e5, 1e5, 4096)
    for other in (rows, pack_lanes):
        np.testing.assert_array_equal(floats(x), other(x))
    values = np.array([0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, np.inf, -np.inf, np.nan, 0.3, -2.5])
    y, x = (m.ravel() for m in np.meshgrid(values, values))
    out = np.full(y.size, 7.0)
    angles(numbers(y), numbers(x), numbers(out), y.size)
    np.testing.assert_array_equal(out, np.arctan2(y, x))


@compiled
def angles(y, x, out, n):
    for i in range(n):
        store(out, i, trig.atan2(load(y, i), load(x, i)))
