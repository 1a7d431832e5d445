"""Every operation on a Pack is the one on floats in each of its eight lanes, whatever it meets."""

import numpy as np
import operator
import pytest
from closeness import fresh, refused
from compiled_parts import aligned, compiled, packs
from fractions import Fraction
from freeflyer.kernels.backend import LANES, all_below, fma, load, rint, select_less, sqrt, store
from freeflyer.kernels.compiler.frontend.instructions import KernelError

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


ARITHMETIC = {"add": (lambda a, b: a + b, operator.add), "sub": (lambda a, b: a - b, operator.sub),
    "mul": (lambda a, b: a * b, operator.mul), "div": (lambda a, b: a / b, operator.truediv)}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name, rng):
    ours, theirs = ARITHMETIC[name]
    function = packed(ours, 2)
    for a, b in [*rng.standard_normal((20, 2, LANES)), (SPECIAL, np.roll(SPECIAL, 3)), (SPECIAL, SPECIAL[::-1].copy())]:
        with np.errstate(all="ignore"):
            expected = theirs(a, b)
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
