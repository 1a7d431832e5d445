"""How far two arrays are apart; derivatives by differences and by complex steps; the errors that rounding and steps leave; calls
that are refused in words; random numbers, which FREEFLYER_TEST_SEED, printed at the end of a run, repeats."""

import numpy as np
import os
import pytest
from collections.abc import Callable
from typing import Any

# kept in the environment, so that processes of this run (workers, scripts that tests start) have the same
SEED = int(os.environ.setdefault("FREEFLYER_TEST_SEED", str(np.random.SeedSequence().entropy % 2**31)))
EPS = float(np.finfo(float).eps)
STEP = 1e-3  # of a difference along motions of order 1: its truncation and its rounding are both small there
TINY = 1e-30  # of a complex step, which loses nothing to rounding, however small
WEIGHTS = {  # of f(k h) - f(-k h), k = 1, 2, ...; the error is a constant times h^order times the derivative of order + 1
    2: ((1 / 2,), 1 / 6), 4: ((2 / 3, -1 / 12), 1 / 30), 6: ((3 / 4, -3 / 20, 1 / 60), 1 / 140),
}  # fmt: skip
UNKNOWN = 1e-5  # difference quotients of two steps that are so far apart know no derivative
Function = Callable[[np.ndarray], np.ndarray]


def fresh(*place: int | str) -> np.random.Generator:
    """A generator for this run; another for each `place`, words or numbers that tell samples apart."""
    words = (x.encode() if isinstance(x, str) else (x,) for x in place)
    return np.random.default_rng([SEED, *(k for word in words for k in word)])


def rounding(terms: float, condition: float = 1.0) -> float:
    """Bound of the relative error of sums of so many rounded terms, made worse by a condition number."""
    return terms * EPS * condition


EXACT = rounding(4500)  # both sides add a few hundred numbers in another order, each rounded some ten times


def slope_error(h: float = STEP, rate: float = 10.0, order: int = 4) -> float:
    """Error of `central`, relative to the function's size, where each derivative is at most `rate` times the one before it."""
    weights, constant = WEIGHTS[order]
    return constant * rate * (h * rate) ** order + 2.0 * sum(map(abs, weights)) * EPS / h


def distance(found: np.ndarray, expected: np.ndarray, axes: int | None = None, least: float = 1.0,
             most: float = np.inf) -> float:  # fmt: skip
    """The largest difference over the largest entry of `expected`, which counts as `least` at least and as `most` at most.

    NaN comes out as infinity. `axes` counts those of one vector or matrix: the worst of all leading ones is given. Without it
    the whole is one.
    """
    return float(np.max(_errors(np.asarray(found), np.asarray(expected), axes, least, most), initial=0.0))


def _errors(found: np.ndarray, expected: np.ndarray, axes: int | None, least: float, most: float) -> np.ndarray:
    assert found.shape == expected.shape, f"shape {found.shape} instead of {expected.shape}"
    within = tuple(range(-(found.ndim if axes is None else axes), 0))
    size = np.clip(np.abs(expected).max(axis=within, keepdims=True, initial=0.0), max(least, 1e-300), most)
    with np.errstate(invalid="ignore"):
        error = np.abs(found - expected) / size
    return np.where(np.isnan(error), np.inf, error)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = EXACT, axes: int | None = None, least: float = 1.0,
          most: float = np.inf, what: object = "") -> None:  # fmt: skip
    """Asserts that `distance` is not beyond the tolerance; the message has the worst entry."""
    found, expected = np.asarray(found), np.asarray(expected)
    error = _errors(found, expected, axes, least, most)
    worst = float(error.max(initial=0.0))
    if worst <= tolerance and worst < np.inf:
        return
    at = tuple(int(k) for k in np.unravel_index(np.argmax(error), error.shape))
    many = int((error > tolerance).sum())
    raise AssertionError(
        f"{what}: relative error {worst:.2g} at {list(at)}, {many} of {error.size} entries beyond {tolerance:.2g}: "
        f"{found[at]:.17g} instead of {expected[at]:.17g}"
    )


def central(f: Callable[[float], np.ndarray], h: float = STEP, order: int = 4) -> np.ndarray:
    """df/dt at 0 by central differences."""
    return sum(w * (f(k * h) - f(-k * h)) for k, w in enumerate(WEIGHTS[order][0], 1)) / h


def slopes(f: Function, n: int, h: float = STEP, order: int = 4) -> np.ndarray:
    """df/de (..., n) at 0 of f(e), e (n,); on the manifold f is a function of integrate(model, q, e)."""
    return np.stack([central(lambda t, e=e: np.asarray(f(t * e)), h, order) for e in np.eye(n)], axis=-1)


def slopes_at_once(f: Function, n: int, h: float = STEP, order: int = 4) -> np.ndarray:
    """The same of an f that takes a batch (n, n) of steps."""
    return np.moveaxis(central(lambda t: f(t * np.eye(n)), h, order), 0, -1)


def close_to_differences(found: np.ndarray, quotient: Callable[[float], np.ndarray], h: float = STEP, tolerance: float = EXACT,
                         axes: int | None = None, least: float = 1.0, what: object = "") -> None:  # fmt: skip
    """Asserts closeness to quotient(h), by steps h, h/2, ... until one agrees: the first that is fine enough for this function.

    Where none is, the two neighbours that agree best decide, within twice what they disagree by: truncation falls by
    2^order, so that the finer one is known better than that, and rounding at most doubles. They must agree to five digits.
    """
    last, best, doubt = np.asarray(quotient(h)), np.empty(0), np.inf
    if distance(found, last, axes, least) <= tolerance:
        return
    for k in range(1, 14):
        finer = np.asarray(quotient(h / 2.0**k))
        if distance(found, finer, axes, least) <= tolerance:
            return
        apart = distance(last, finer, axes, least)
        if apart < doubt:
            best, doubt = finer, apart
        last = finer
    assert doubt < UNKNOWN, f"{what}: differences by steps from {h} down agree to {doubt:.2g} only"
    close(found, best, max(tolerance, 2.0 * doubt), axes, least, what=what)


def close_to_rate(found: np.ndarray, f: Callable[[float], np.ndarray], h: float = STEP, tolerance: float = EXACT,
                  axes: int | None = None, least: float = 1.0, what: object = "") -> None:  # fmt: skip
    """The same of `central`."""
    close_to_differences(found, lambda x: central(f, x), h, tolerance, axes, least, what)


def close_to_slopes(found: np.ndarray, f: Function, h: float = STEP, tolerance: float = EXACT, axes: int | None = None,
                    least: float = 1.0, what: object = "") -> None:  # fmt: skip
    """The same of `slopes`; found (..., n)."""
    close_to_differences(found, lambda x: slopes(f, np.shape(found)[-1], x), h, tolerance, axes, least, what)


def complex_slopes(f: Function, n: int) -> np.ndarray:
    """df/de (..., n) at 0, of f given the imaginary steps."""
    return np.stack([f(1j * TINY * e).imag / TINY for e in np.eye(n)], axis=-1)


def refused(kind: type[BaseException], words: str, call: Callable[..., Any], /, *arguments: Any, **options: Any) -> BaseException:
    """The error of this kind, its sentence with these words, with which a call must end."""
    with pytest.raises(kind, match=words or None) as caught:
        call(*arguments, **options)
    return caught.value
