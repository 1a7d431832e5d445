"""Operations of an abstract scalar; the text is their meaning for one number.

A kernel written over an abstract scalar runs on a Pack, several float64 values side by side in one SIMD register, as it runs on a
float: one instruction then computes several robot states. Constants stay scalar until they are combined with a Pack. Compiled
meanings: compiler/meanings/scalars.py.
"""

from __future__ import annotations

import math
from typing import Any

from freeflyer.kernels.marks import primitive

LANES = 8  # numbers of a row: neighbouring entries of a float buffer that are handled at once


@primitive
def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return a * b + c


@primitive
def rint(a: Any) -> Any:
    """The nearest integer, as a number."""
    return float(round(a))


@primitive
def sqrt(a: Any) -> Any:
    return math.sqrt(a)


@primitive
def select_less(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x where a < b, else y: both are computed, so that lanes may differ."""
    return x if a < b else y


@primitive
def all_below(a: Any, limit: float) -> bool:
    """Whether |a| < limit in every lane (False for NaN)."""
    return abs(a) < limit


@primitive
def times_zero(a: Any) -> Any:
    """Zero, or NaN where a is not finite. Compiled sums may multiply last: numbers whose sum overflows then give NaN, too."""
    return 0 * a


@primitive
def lane(a: Any, i: int) -> Any:
    """Entry i of a Pack; a float is its own only entry."""
    return a


@primitive
def with_lane(a: Any, i: int, x: float) -> Any:
    """The Pack a with entry i replaced by x."""
    return x


@primitive
def like(a: Any, x: Any) -> Any:
    """The number x as a scalar of a's kind."""
    return x


@primitive
def lanes(a: Any) -> int:
    """How many states a scalar holds: 1 for a number."""
    return 1
