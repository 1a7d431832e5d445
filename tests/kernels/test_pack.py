"""Parts of kernels compiled alone: operations on Packs lane by lane; sin and cos to 2 units in the last place; inverses of rows."""

import math
import mpmath
import numpy as np
import pytest
from closeness import fresh, refused
from compiled_parts import aligned, compiled, numbers, packs
from fractions import Fraction
from freeflyer.kernels.backend import LANES, all_below, fma, load, rint, select_less, sqrt, store
from freeflyer.kernels.compiler.frontend.instructions import KernelError
from freeflyer.kernels.compiler.object_code import Target, pack_lanes
from freeflyer.kernels.math import trig
from freeflyer.kernels.sim import newton

SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e308])


def pack_row(*rows):
    """A row of Packs, one for each row of eight numbers."""
    data = aligned(LANES * len(rows))
    data[:] = np.concatenate([np.asarray(r, float) for r in rows])
    return packs(data)


def applied(function, *rows):
    """The lanes of function(Pack, ...), a kernel that reads Packs 0, 1, ... and writes the last."""
    buffer = pack_row(*rows, np.full(LANES, np.nan))
    with np.errstate(all="ignore"):
        function(buffer)
    return buffer.data[-LANES:]


def packed(operate, operands: int):
    """A compiled function: the last Pack becomes operate(Pack 0, ...)."""
    if operands == 1:
        return compiled(lambda b: store(b, 1, operate(load(b, 0))))
    if operands == 2:
        return compiled(lambda b: store(b, 2, operate(load(b, 0), load(b, 1))))
    return compiled(lambda b: store(b, 3, operate(load(b, 0), load(b, 1), load(b, 2))))


@pytest.fixture(scope="module")
def rng():
    return fresh(0)


ARITHMETIC = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name, rng):
    operate = ARITHMETIC[name]
    function = packed(operate, 2)
    for a, b in [*rng.standard_normal((20, 2, LANES)), (SPECIAL, np.roll(SPECIAL, 3)), (SPECIAL, SPECIAL[::-1].copy())]:
        with np.errstate(all="ignore"):
            expected = operate(a, b)
        got = applied(function, a, b)
        # arcp lets a division be a product with the reciprocal: one rounding more
        np.testing.assert_allclose(got, expected, rtol=3e-16 if name == "div" else 0, atol=0)


def test_rounding_and_comparisons():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 4503599627370497.5, 1e300])
    np.testing.assert_array_equal(applied(packed(lambda a: rint(a), 1), x), [0, 2, 2, 0, -2, -2, 4503599627370498, 1e300])
    # In every lane; NaN and infinities are not below anything
    a = np.array([0.5, -0.5, 0.99, -0.99, 0.0, -0.0, 1e-300, 0.1])
    assert below(pack_row(a), 1.0)
    for bad in (1.0, -1.0, 2.0, -np.inf, np.inf, np.nan):
        for k in range(LANES):
            b = a.copy()
            b[k] = bad
            assert not below(pack_row(b), 1.0)
    scalar = compiled(lambda x: all_below(x, 1.0))
    assert [scalar(x) for x in (0.5, -0.5, 1.0, -1.0, np.nan, -np.inf)] == [True, True, False, False, False, False]
    for bad in (lambda a: a + "1", lambda a: a + (1.0,), lambda a: (1.0, 2.0) * a):
        refused(KernelError, "", applied, packed(bad, 1), np.zeros(LANES))


def test_fma_rounds_once_and_nan_stays_in_its_lane(rng):
    """Exactly the rounding of the exact a b + c: what the reduction of angles relies on."""
    function = packed(lambda a, b, c: fma(a, b, c), 3)
    scalar = compiled(lambda a, b, c: fma(a, b, c))
    for k in range(50):
        a, b = rng.standard_normal((2, LANES))
        c = -a * b if k % 2 else rng.standard_normal(LANES)  # what is left of a cancelled product is its rounding error
        exact = [float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in zip(a, b, c)]
        np.testing.assert_array_equal(applied(function, a, b, c), exact)
        assert [scalar(x, y, z) for x, y, z in zip(a, b, c)] == exact
        if k % 2:
            assert np.any(np.array(exact) != 0.0)
    # Fast-math keeps NaN and infinities: a check of the result finds the state
    function = packed(lambda a, b: (a * b - b) / (a + 2.0) + sqrt(a * a + 1.0), 2)
    a, b = rng.standard_normal((2, LANES))
    clean = applied(function, a, b)
    for bad in (np.nan, np.inf):
        for k in range(LANES):
            x = a.copy()
            x[k] = bad
            got = applied(function, x, b)
            assert not np.isfinite(got[k])
            rest = np.arange(LANES) != k
            np.testing.assert_array_equal(got[rest], clean[rest])


SELECTIONS = {
    "packs": (lambda a, b: select_less(a, b, a + 10.0, b - 10.0), lambda a, b: np.where(a < b, a + 10.0, b - 10.0)),
    "number left": (lambda a, b: select_less(0.5, b, a, b), lambda a, b: np.where(b > 0.5, a, b)),
    "number right": (lambda a, b: select_less(a, 1, a, b), lambda a, b: np.where(a < 1, a, b)),
    "numbers chosen": (lambda a, b: select_less(a, b, 1, -1.0), lambda a, b: np.where(a < b, 1.0, -1.0)),
    "one pack chosen": (lambda a, b: select_less(0.0, 1.0, a, 3.0), lambda a, b: a),
    "other chosen": (lambda a, b: select_less(1, 0, 2.0, b), lambda a, b: b),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_select_less(name, rng):
    """NaN is less than nothing, and nothing is less than NaN; both choices may be NaN in the lanes not chosen."""
    ours, theirs = SELECTIONS[name]
    function = packed(ours, 2)
    for a, b in [*rng.standard_normal((10, 2, LANES)), (SPECIAL, np.roll(SPECIAL, 1)), (SPECIAL, SPECIAL)]:
        with np.errstate(all="ignore"):
            expected = theirs(a, b)
        np.testing.assert_array_equal(applied(function, a, b), expected)


@compiled
def below(buffer, limit):
    return all_below(load(buffer, 0), limit)


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


def lanes_of_packs(x):
    """One joint of eight states at a time."""
    n = -(-x.size // LANES)
    work = aligned(3 * LANES * n)
    work[:] = 0.0
    work[: x.size] = x
    sincos_rows(packs(work), 0, n, 2 * n, n)
    s, c = work[LANES * n : 2 * LANES * n], work[2 * LANES * n :]
    return s[: x.size], c[: x.size]


WAYS = [floats, rows, lanes_of_packs]


def assert_within(way, x):
    """ULP units in the last place of the exact values, to 80 digits."""
    with mpmath.workdps(80):
        for got, exact in zip(way(x), ([f(float(v)) for v in x] for f in (mpmath.sin, mpmath.cos))):
            error = [abs(float(mpmath.mpf(float(g)) - e)) / np.spacing(abs(float(e))) for g, e in zip(got, exact)]
            assert np.all(np.isfinite(got))
            assert max(error) <= ULP, f"{max(error)} ulp at {x[np.argmax(error)]!r}"


def multiples(count):
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
    for other in (rows, lanes_of_packs):
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


invert_rows = compiled(lambda A, width, n, places, count: newton.invert_rows(A, width, n, places, count))


def test_rows_become_the_inverse():
    rng = fresh("inverse of rows")
    for n in range(1, 40):
        width, count = -(-n // LANES) * LANES, int(rng.integers(1, n + 1))
        places = np.sort(rng.permutation(n)[:count])
        A, M = np.zeros((n + 1, width)), np.eye(n)
        M[np.ix_(places, places)] = rng.standard_normal((count, count)) + 3.0 * np.eye(count)
        A[:n, :n] = M
        where = np.r_[places.astype(float), np.zeros(8)]
        invert_rows(numbers(A), width, n, numbers(where), count)
        np.testing.assert_allclose(A[:n, :n], np.linalg.inv(M), rtol=1e-8, atol=1e-8)


def test_lanes_are_those_of_registers():
    assert (pack_lanes(Target("haswell")), pack_lanes(Target("x86-64-v2"))) == (4, 4)
    assert (pack_lanes(Target("skylake-avx512")), pack_lanes(Target("generic", "+avx512f,+avx2"))) == (8, 8)
    assert pack_lanes(Target("generic", "-avx512f,+avx2")) == 4
